"""The real Codex, run offline: a scripted model, a private network, and a home of its own per test."""

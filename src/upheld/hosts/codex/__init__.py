"""The adapter for Codex: what it sends, what it is answered, and how it is wired to us and unwired."""

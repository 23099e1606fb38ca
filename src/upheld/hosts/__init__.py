"""One adapter per host: its payloads become our events, our answers its output; and how it is wired to us."""

"""Text in and out: JSON without its package, words for search, and the one safe way to quote data."""

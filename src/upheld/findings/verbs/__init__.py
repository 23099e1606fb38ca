"""One verb per file: what the operations do. Each takes the findings it works on first; `operations.py` lists them."""

"""Takes secrets and private paths out of what is going to be stored; nothing else is decided here."""

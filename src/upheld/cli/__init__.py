"""The command line: options, one service call, its rendering. No rule and no SQL lives here."""

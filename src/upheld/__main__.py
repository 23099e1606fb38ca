"""The entry point: `mcp` goes straight to the server, everything else to the command line.

Hooks do not come here; they start as a file (`hosts/hook_file.py`).
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command in `sys.argv` and return its exit status."""
    if sys.argv[1:2] == ["mcp"] and len(sys.argv) == 2:
        from upheld.mcp.main import main as serve

        return serve()
    from upheld.cli.main import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())

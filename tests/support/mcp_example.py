"""A server with the test tools, started as a process of its own: `python -I tests/support/mcp_example.py`."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from support.mcp_tools import TOOLS
from upheld.mcp.server import serve
from upheld.mcp.stdio import take_stdio

if __name__ == "__main__":
    lines_in, lines_out = take_stdio()
    serve(
        TOOLS,
        name="upheld-example",
        version="1.0",
        instructions="Tools for tests.",
        lines_in=lines_in,
        lines_out=lines_out,
        session=os.environ.get("CLAUDE_CODE_SESSION_ID"),
    )

"""`upheld mcp`: the MCP server of one session, over stdio. It also answers the hooks that reach its socket."""

from __future__ import annotations

import os

from upheld import __version__
from upheld.api import find_cwd
from upheld.findings.ledger import Ledger
from upheld.hosts.instructions import TEXTS
from upheld.hosts.server_socket import HookSocket
from upheld.mcp.server import serve
from upheld.mcp.stdio import take_stdio
from upheld.mcp.tools import Tools, render
from upheld.storage.places import find_places


def main() -> int:
    """Serve until the host closes its end. Returns the exit status."""
    lines_in, lines_out = take_stdio()
    environ = dict(os.environ)
    places = find_places(environ)
    HookSocket(places, __version__, environ).start()
    serve(
        Tools(Ledger(places), find_cwd(), environ).build(),
        name="upheld",
        version=__version__,
        instructions=TEXTS["en"],
        lines_in=lines_in,
        lines_out=lines_out,
        render=render,
        session=environ.get("CLAUDE_CODE_SESSION_ID"),
    )
    return 0

"""The file that a host starts for each hook event.

Install writes it once into our data directory, so that the command which the host calls, and which
its user trusts, stays the same through every upgrade. Its body is rendered here; what a hook does is
`upheld.hosts.relay`'s and `upheld.hosts.answer`'s business.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

import upheld

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "# Written by `upheld install`; removed by `upheld uninstall`."
"""The first line of every hook file of ours: what tells it from somebody else's."""


def render_hook(roots: Sequence[str], version: str) -> str:
    """Return the text of the hook file.

    Args:
        roots: The directories to import upheld and apsw from, absolute, in this order: the hook runs
            without `site`, so nothing else is on its path.
        version: The version of upheld that writes it, compared with that of a running server.
    """
    return (
        f"{MARK}\n"
        "import sys\n"
        f"ROOTS = {list(roots)!r}\n"
        f"VERSION = {version!r}\n"
        "sys.path[:0] = ROOTS\n"
        "try:\n"
        "    from upheld.hosts.relay import main\n"
        "except BaseException:  # upheld is gone or broken: the host goes on\n"
        "    sys.exit(0)\n"
        "main(sys.argv[1:], VERSION)\n"
    )


def find_roots() -> list[str]:
    """Return the directories that this interpreter imports upheld and apsw from, in that order."""
    files = (upheld.__file__, apsw.__file__)
    return list(dict.fromkeys(os.path.dirname(os.path.dirname(os.path.abspath(file))) for file in files))

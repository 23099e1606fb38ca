"""Where our directories are: `data`, `state` and `cache`.

`UPHELD_HOME` puts all three under one directory. Otherwise they are what platformdirs gives on this
system; the hook cannot afford to import it, so its rules for Linux and macOS are written out here
and compared with it in the tests.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Places:
    """The three directories of one installation, as absolute paths.

    Args:
        data: Precious: the ledger.
        state: Harmless if lost: what was injected where; also the chain's key and head, locks and sockets.
        cache: Rebuilt when missing.
    """

    __slots__ = ("cache", "data", "state")

    def __init__(self, data: str, state: str, cache: str) -> None:
        self.data = data
        self.state = state
        self.cache = cache

    @property
    def ledger(self) -> str:
        """The path of the ledger database."""
        return self.data + "/ledger.db"

    @property
    def conversations(self) -> str:
        """The path of the database of conversations."""
        return self.state + "/conversations.db"


def find_places(environ: Mapping[str, str]) -> Places:
    """Return the directories that this environment asks for. Creates nothing."""
    home = environ.get("UPHELD_HOME", "").strip()
    if home:
        home = os.path.abspath(os.path.expanduser(home))
        return Places(home + "/data", home + "/state", home + "/cache")
    user = os.path.expanduser("~")
    if sys.platform == "darwin":
        support = user + "/Library/Application Support/upheld"
        return Places(support, support, user + "/Library/Caches/upheld")

    def directory(variable: str, default: str) -> str:
        base = environ.get(variable, "").strip()
        return (base if os.path.isabs(base) else user + default) + "/upheld"

    return Places(
        directory("XDG_DATA_HOME", "/.local/share"),
        directory("XDG_STATE_HOME", "/.local/state"),
        directory("XDG_CACHE_HOME", "/.cache"),
    )

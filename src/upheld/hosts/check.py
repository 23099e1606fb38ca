"""One thing looked at in a host's wiring, and what to do about it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Check(NamedTuple):
    """What was looked at and what was seen.

    Args:
        name: A few words, the same on every run.
        ok: True: as it should be. False: something is to be done. None: could not be told, or only named.
        what: What was seen, one sentence. No secret, and no path outside the home directory.
        do: What to do about it; empty where there is nothing to do.
    """

    name: str
    ok: bool | None
    what: str
    do: str = ""


def shorten(path: str, environ: Mapping[str, str]) -> str:
    """Return a path as it may be shown: below the home directory with `~`, elsewhere only its last part."""
    home = environ.get("HOME", "").rstrip("/")
    if home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return ".../" + os.path.basename(path.rstrip("/"))

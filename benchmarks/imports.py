"""What an import costs a new process, beside the bare interpreter of the same run.

This is why the hook path has its own small JSON and plain classes: docs/decisions/0001-the-house.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import apsw

PREFIX = "house.import"
ROUNDS = 15
BARE = "pass"
MODULES = (
    "os", "_json", "apsw", "upheld.text.jsontext", "collections", "re", "json", "enum", "typing",
    "dataclasses", "subprocess", "hashlib", "pathlib", "sqlite3", "argparse", "click",
)  # fmt: skip


def _seconds(code: str) -> float:
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, env={})
    return time.perf_counter() - begin


def rows() -> list[dict[str, Any]]:
    """Return the fastest of 15 starts per module; rounds are interleaved so that load hits all alike."""
    import upheld

    paths = [os.path.dirname(os.path.dirname(found.__file__ or "")) for found in (apsw, upheld)]
    codes = {name: f"import sys; sys.path += {paths!r}; import {name}" for name in MODULES}
    codes["bare"] = BARE
    best = dict.fromkeys(codes, float("inf"))
    for _ in range(ROUNDS):
        for name, code in codes.items():
            best[name] = min(best[name], _seconds(code))
    bare = best.pop("bare")
    return [
        {"name": f"{PREFIX}.{name}", "value": value * 1000, "unit": "ms", "limit": bare * 1000}
        for name, value in best.items()
    ]

"""Where the npm packages that some tests run are, and why they are not there.

`make node` installs what `tests/node/package-lock.json` names into `build/node`.
"""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULES = os.path.join(ROOT, "build", "node", "node_modules")
GLOB_SYNC = os.path.join(ROOT, "tests", "node", "glob_sync.mjs")


def find_node() -> str | None:
    """Return the path of the `node` command, if there is one."""
    return shutil.which("node")


def find_package(name: str) -> str | None:
    """Return the folder of an installed npm package, if it is there."""
    folder = os.path.join(MODULES, *name.split("/"))
    return folder if os.path.isfile(os.path.join(folder, "package.json")) else None


def why_missing(name: str) -> str:
    """Return the sentence with which a test that needs the package is skipped."""
    if find_node() is None:
        return f"{name} needs node, which is not installed"
    if shutil.which("npm") is None:
        return f"{name} needs npm, which is not installed"
    reached = subprocess.run(["npm", "ping"], capture_output=True, timeout=60, check=False).returncode == 0
    if reached:
        return f"{name} is not in build/node: run `make node`"
    return f"{name} is not in build/node, and npm cannot reach its registry to install it"


def require_package(name: str) -> str:
    """Return the folder of an installed npm package, or skip the test with the reason."""
    folder = find_package(name)
    if find_node() is None or folder is None:
        pytest.skip(why_missing(name))
    return folder

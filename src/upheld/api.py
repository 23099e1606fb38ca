"""The public Python API: one object for one working directory, with an attribute for each system.

    with Upheld("path/to/repository") as upheld:
        upheld.findings.log_finding(claim="...", claim_kind="observation")

Every face is built on it: the CLI, the MCP server and the hooks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from upheld.context.marks import read_marks
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.place import Place
from upheld.findings.service import Findings
from upheld.findings.status import read_status
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any, Self


class Upheld:
    """The ledger as seen from one working directory by one caller.

    Args:
        cwd: Which project is meant: any directory in it. The present one unless given.
        caller: Who asks; a person unless given.
        environ: Where `UPHELD_HOME`, git and declared facts are looked up; the process's own unless given.
        ledger: An open ledger to share; opened from `environ` unless given.
    """

    def __init__(
        self,
        cwd: str | None = None,
        *,
        caller: Caller | None = None,
        environ: Mapping[str, str] | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        environ = os.environ if environ is None else environ
        self.place = Place(
            read_marks(os.getcwd() if cwd is None else cwd, environ=environ),
            environ,
            environ.get("HOME", "") or os.path.expanduser("~"),
        )
        self.ledger = Ledger(find_places(environ)) if ledger is None else ledger
        self.findings = Findings(self.ledger, self.place, caller or Caller("user"))

    def status(self) -> dict[str, Any]:
        """Return what there is here and what was injected: the answer to "why did nothing appear?"."""
        return read_status(self.ledger, self.place)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the ledger."""
        self.close()

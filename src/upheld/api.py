"""The public Python API: one object for one working directory.

    with Upheld("path/to/repository") as upheld:
        upheld.log_finding(claim="...", claim_kind="observation", scope={"everywhere": True})

Every face is built on it, so arguments, answers and refusals are the same everywhere.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from upheld.calls import Calls
from upheld.context.marks import read_marks, read_root_commits
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.operations import get_operation
from upheld.findings.place import Place
from upheld.findings.service import Findings
from upheld.findings.status import read_status
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any, Self

    from upheld.context.confirming import Declared
    from upheld.findings.check import Report
    from upheld.findings.service import Answer


class Upheld(Calls):
    """The ledger as seen from one working directory by one caller.

    The operations take plain values under the names that the CLI and the tools use (`finding_id="F-12"`,
    `scope={"paths": ["src/model.py"]}`, `evidence=[{"source_kind": "test_run", "source_ref": "run-4472"}]`), check them
    and answer with `data` and `warnings`. Each is a method, typed in `calls.py`. What is wrong raises
    `UpheldError`, and nothing was written.

    Args:
        cwd: Which project is meant: any directory in it. The present one unless given.
        caller: Who asks; a person unless given.
        environ: Where `UPHELD_HOME`, git and declared facts are looked up; the process's own unless given.
        ledger: An open ledger to share; opened from `environ` unless given.

    Attributes:
        place: Where the caller is.
        ledger: Where the findings are kept.
        caller: Who asks.
        findings: The service, which takes values that are already checked.
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
            read_marks(find_cwd() if cwd is None else cwd, environ=environ),
            environ,
            environ.get("HOME", "") or os.path.expanduser("~"),
        )
        self.ledger = Ledger(find_places(environ)) if ledger is None else ledger
        self.caller = caller or Caller("user")
        self.findings = Findings(self.ledger, self.place, self.caller)

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Answer:
        """Run an operation by its name: what the faces do."""
        return get_operation(operation).run(self.findings, arguments)

    def status(self) -> dict[str, Any]:
        """Return what there is here and what was injected: the answer to "why did nothing appear?"."""
        return read_status(self.ledger, self.place)

    def show_project(self) -> dict[str, Any]:
        """Return which project this is, by which marks, what git says, and what its files declare."""
        from upheld.context.confirming import describe_project

        place = self.place
        return describe_project(self.ledger.read(), place.marks, root_commits=self._root_commits, home=place.home)

    def read_declared(self) -> Declared:
        """Return what the project's files declare, and whether a person confirmed it for this clone."""
        from upheld.context.confirming import read_declared

        return read_declared(self.ledger.read(), self.place.marks)

    def confirm_declared(self, seen: Declared) -> dict[str, Any]:
        """Accept exactly what a person saw of the project's files; returns the project and what counts now.

        Args:
            seen: What `read_declared` returned and a person was shown.

        Raises:
            UpheldError: Nothing is declared, or git refused to answer; nothing was written.
        """
        from upheld.context.confirming import confirm_declared

        with self.ledger.write(self.caller) as write:
            project = confirm_declared(
                write.db,
                self.place.marks,
                seen,
                root_commits=self._root_commits,
                now=write.now,
                new_uid=write.new_uid,
            )
        return {"project": {"name": project.name, "uid": project.uid}, "declared": self.read_declared().as_data()}

    def check(self) -> Report:
        """Say what in the whole ledger is not as it was written. Changes nothing."""
        from upheld.findings.check import check_ledger

        return check_ledger(self.ledger)

    def accept_ledger(self, reason: str) -> Report:
        """Take the ledger as it is after its key was lost or its chain broken, and say what is still amiss.

        Args:
            reason: Why, kept beside the new key.

        Raises:
            UpheldError: An agent asks, or there is nothing that could be accepted.
        """
        from upheld.findings.check import accept_ledger

        return accept_ledger(self.ledger, self.caller, reason, home=self.place.home)

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def _root_commits(self) -> tuple[str, ...]:
        return read_root_commits(self.place.marks, environ=self.place.environ)

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the ledger."""
        self.close()


def find_cwd() -> str:
    """Return the working directory; for one that was deleted a path that is no directory, so that git refuses."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.devnull

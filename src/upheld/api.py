"""The public Python API: one object for one working directory.

    with Upheld("path/to/repository") as upheld:
        upheld.log_finding(claim="...", claim_kind="observation", scope={"everywhere": True})

Every face is built on it, so arguments, answers and refusals are the same everywhere.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from upheld.calls import Calls
from upheld.context.marks import read_marks, read_root_commits
from upheld.context.projects import find_project
from upheld.errors import InvalidArgumentError
from upheld.findings.ledger import Caller, Ledger
from upheld.findings.operations import get_operation
from upheld.findings.place import Place
from upheld.findings.refusals import PersonRequiredError
from upheld.findings.service import Findings
from upheld.findings.status import read_status
from upheld.storage.places import find_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType
    from typing import Any, Self

    from upheld.context.confirming import Declared
    from upheld.findings.check import Report
    from upheld.findings.ledger import Write
    from upheld.findings.service import Answer
    from upheld.storage.backup import Backup

    Progress = Callable[[str, int, int], None]


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

    def settings(self) -> dict[str, Any]:
        """Return every setting with what counts here, as `settings`, and until when it is paused, as `paused_until`.

        Each has `name`, `value` (None: what the host allows), `default`, `origin` (`default`, `everywhere` or
        `project`), `kind`, `right` (what it takes) and `doc`.
        """
        from upheld.findings.configuring import list_settings

        return list_settings(self.ledger, self.place)

    def set_setting(self, name: str, value: str | int, *, everywhere: bool = False) -> None:
        """Set one for this project, or everywhere; what is set for a project goes before that.

        Raises:
            UpheldError: An agent asks, there is no such setting, or it takes another value; nothing was written.
        """
        from upheld.findings.configuring import set_setting

        set_setting(self.ledger, self.place, self.caller, name, value, everywhere=everywhere)

    def unset_setting(self, name: str, *, everywhere: bool = False) -> bool:
        """Take back what was set for this project, or everywhere; False if nothing was.

        Raises:
            UpheldError: An agent asks, or there is no such setting; nothing was written.
        """
        from upheld.findings.configuring import unset_setting

        return unset_setting(self.ledger, self.place, self.caller, name, everywhere=everywhere)

    def pause(self, until: str | None, *, everywhere: bool = False) -> None:
        """Hand out nothing here, or anywhere, until then; hosts are answered with silence.

        Args:
            until: `2h`, `3d`, an ISO 8601 time, `forever` for until it is ended, or None to end it.
            everywhere: In every project.

        Raises:
            UpheldError: An agent asks, or it is no time; nothing was written.
        """
        from upheld.findings.configuring import pause

        pause(self.ledger, self.place, self.caller, until, everywhere=everywhere)

    def show_project(self) -> dict[str, Any]:
        """Return which project this is, by which marks, what git says, and what its files declare."""
        from upheld.context.confirming import describe_project

        place = self.place
        return describe_project(self.ledger.read(), place.marks, root_commits=self._root_commits, home=place.home)

    def list_projects(self) -> list[dict[str, Any]]:
        """Return every project of the ledger: uid, name, findings, when the last changed, and which one is here."""
        from upheld.context import store
        from upheld.findings.store import holdings

        db = self.ledger.read()
        if db is None:
            return []
        here = find_project(db, self.place.marks, root_commits=self._root_commits)
        counts = holdings.count_by_project(db)
        return [
            {
                "uid": project.uid,
                "name": project.name,
                "findings": counts.get(project.id, (0, ""))[0],
                "changed_at": counts.get(project.id, (0, ""))[1],
                "here": project == here,
            }
            for project in store.find_all(db)
        ]

    def rename_project(self, project: str, name: str) -> dict[str, str]:
        """Give a project, named by uid or name, another name."""
        from upheld.context import arranging

        with self._arrange("Renaming a project") as write:
            renamed = arranging.rename_project(write.db, arranging.choose_project(write.db, project), name)
        return {"uid": renamed.uid, "name": renamed.name}

    def link_project(self, project: str) -> dict[str, str]:
        """Join the clone here to a project, named by uid or name. Findings stay where they are."""
        from upheld.context import arranging

        with self._arrange("Joining a clone to a project") as write:
            chosen = arranging.choose_project(write.db, project)
            arranging.link_here(write.db, self.place.marks, chosen, root_commits=self._root_commits, now=write.now)
        return {"uid": chosen.uid, "name": chosen.name}

    def forget_project(self, project: str) -> dict[str, str]:
        """Forget a project, named by uid or name, that holds no findings, or only purged ones."""
        from upheld.context import arranging
        from upheld.findings.store import holdings

        with self._arrange("Forgetting a project") as write:
            chosen = arranging.choose_project(write.db, project)
            kept, rows = holdings.count_rows(write.db, chosen.id)
            holdings.clear(write.db, chosen.id)
            arranging.forget_project(write.db, chosen, kept=kept, rows=rows)
        return {"uid": chosen.uid, "name": chosen.name}

    @contextmanager
    def _arrange(self, what: str) -> Iterator[Write]:
        if self.caller.actor != "user":
            raise PersonRequiredError(what)
        with self.ledger.write(self.caller) as write:
            yield write

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

    def check(self, *, progress: Progress | None = None) -> Report:
        """Say what in the whole ledger is not as it was written. Changes nothing.

        Args:
            progress: Told a step, how much of it is done and how much there is.
        """
        from upheld.findings.check import check_ledger

        return check_ledger(self.ledger, progress=progress)

    def accept_ledger(self, reason: str) -> Report:
        """Take the ledger as it is after its key was lost or its chain broken, and say what is still amiss.

        Args:
            reason: Why, kept beside the new key.

        Raises:
            UpheldError: An agent asks, or there is nothing that could be accepted.
        """
        from upheld.findings.check import accept_ledger

        return accept_ledger(self.ledger, self.caller, reason, home=self.place.home)

    def export_findings(self, write: Callable[[bytes], object], *, progress: Progress | None = None) -> dict[str, int]:
        """Write the findings of the project here as JSON lines; return how many, and how many purged were left out.

        Args:
            write: Takes the bytes of one line at a time.
            progress: Told a step, how much of it is done and how much there is.
        """
        from upheld.findings.exporting import export_findings

        return export_findings(self.findings, write, progress=progress)

    def export_to_file(self, path: str, *, progress: Progress | None = None) -> dict[str, int]:
        """The same into a file, which appears whole or not at all; only its owner may read it.

        Raises:
            UpheldError: There is nothing to export, or the file can't be written.
        """
        beside = f"{path}.{os.urandom(4).hex()}.new"
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            try:
                with open(descriptor, "wb") as file:
                    counts = self.export_findings(file.write, progress=progress)
                os.replace(beside, path)
            finally:
                if os.path.exists(beside):
                    os.unlink(beside)
        except OSError as error:
            problem = f"can't be written ({(error.strerror or 'the system refused').lower()})"
            raise InvalidArgumentError("file", problem, "Name a file in a directory of yours.") from error
        return counts

    def import_findings(
        self, path: str, *, into_this_project: bool = False, progress: Progress | None = None
    ) -> dict[str, Any]:
        """Import an export: all of it or nothing. Returns `imported`, `known` and `warnings`.

        Args:
            path: The file.
            into_this_project: Even if it is of a project that shares no mark with the one here.
            progress: Told a step, how much of it is done and how much there is.

        Raises:
            UpheldError: An agent asks, or the file is cut, changed, newer or another project's; nothing was written.
        """
        from upheld.findings.importing import import_findings

        try:
            with open(path, "rb") as file:
                return import_findings(self.findings, file, into_this_project=into_this_project, progress=progress)
        except OSError as error:
            problem = f"can't be read ({(error.strerror or 'the system refused').lower()})"
            raise InvalidArgumentError("file", problem, "Name a file from `upheld export`.") from error

    def purge_finding(self, finding_id: str | int, reason: str, *, cited: bool = False) -> dict[str, Any]:
        """Delete what a finding says from everywhere we keep it; that it was purged, when and why, stays on record.

        Raises:
            UpheldError: An agent asks, or other findings cite it and `cited` is not said; nothing was written.
        """
        from upheld.findings.arguments import parse_finding
        from upheld.findings.purging import purge_finding

        return purge_finding(self.findings, parse_finding("finding", finding_id), reason, cited=cited)

    def backup(self, *, keep: int = 7, progress: Progress | None = None) -> Backup:
        """Copy the ledger while it is in use, and delete the oldest copies beyond `keep`."""
        from upheld.storage.backup import make_backup

        return make_backup(self.ledger.places, self.ledger.now(), keep=keep, progress=progress)

    def list_backups(self) -> list[Backup]:
        """Return the backups of the ledger, newest first."""
        from upheld.storage.backup import list_backups

        return list_backups(self.ledger.places)

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

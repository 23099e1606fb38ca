"""The task context: where a task runs, for which project, under which facts. A value; others read its parts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.context.facts import Fact
    from upheld.context.marks import Marks
    from upheld.context.store import Project


class TaskContext:
    """What applicability is judged against.

    Args:
        marks: The marks of the place.
        project: The project, or None where the ledger knows none or its identity is unknown.
        facts: Facts by name, those that were asked for.
        problems: What could not be read or used, as sentences for people.
    """

    __slots__ = ("facts", "marks", "problems", "project")

    def __init__(
        self,
        *,
        marks: Marks,
        project: Project | None,
        facts: Mapping[str, Fact],
        problems: tuple[str, ...] = (),
    ) -> None:
        self.marks = marks
        self.project = project
        self.facts = facts
        self.problems = problems

    @property
    def cwd(self) -> str:
        """The canonical directory that the task runs in."""
        return self.marks.cwd

    @property
    def root(self) -> str:
        """The canonical top directory of the project."""
        return self.marks.root

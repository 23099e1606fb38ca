"""What findings are judged against: the facts and the code of one task context, read when first asked for."""

from __future__ import annotations

from upheld.context.code import read_code
from upheld.context.facts import gather_declared, read_confirmed, read_facts
from upheld.context.marks import PRESENT
from upheld.findings.applicability import judge_best
from upheld.findings.model import KnownContext
from upheld.findings.store import reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from upheld.context.facts import Fact
    from upheld.context.marks import Marks
    from upheld.findings.applicability import Judgement
    from upheld.findings.model import Finding

NOWHERE = KnownContext({}, {})
"""The context of a finding that was never anchored."""


class Surroundings:
    """Facts and code of one place, each read once, and only those that a scope asks for.

    Args:
        db: The ledger, for the declared facts that a person confirmed; None while there is none.
        marks: Where we are, from `read_marks`.
        declared: Facts given with this very call.
        environ: Of the process that asked: where git is, and `UPHELD_FACTS`.
        host: Facts that only the host knows: `session`, `task`.
    """

    def __init__(
        self,
        db: apsw.Connection | None,
        marks: Marks,
        *,
        declared: Mapping[str, str],
        environ: Mapping[str, str],
        host: Mapping[str, str],
    ) -> None:
        self.marks = marks
        self._db = db
        self._arguments = declared
        self._environ = environ
        self._host = host
        self._declared: Mapping[str, Fact] | None = None
        self._facts: dict[str, Fact] = {}
        self._code: dict[str, str | None] = {}
        self._empty: set[str] = set()
        self.problems: list[str] = []
        """What could not be read or used so far, as sentences for people."""

    def facts(self, names: Iterable[str]) -> dict[str, Fact]:
        """Return the facts read so far, among them these; one that nobody can supply has the value None."""
        missing = [name for name in dict.fromkeys(names) if name not in self._facts]
        if missing:
            if self._declared is None:
                confirmed = None if self._db is None else read_confirmed(self._db, self.marks)
                declared = gather_declared(self._arguments, environ=self._environ, confirmed=confirmed)
                self._declared = declared.facts
                self.problems += declared.problems
            self._facts.update(
                read_facts(self.marks, missing, declared=self._declared, environ=self._environ, host=self._host)
            )
        return self._facts

    def declared_names(self) -> list[str]:
        """Return the names of the facts that somebody declared here."""
        self.facts(("task",))
        return sorted(self._declared or ())

    def code(self, patterns: Iterable[str]) -> dict[str, str | None]:
        """Return the content digest of each pattern now; None where it could not be read."""
        missing = [pattern for pattern in dict.fromkeys(patterns) if pattern not in self._code]
        if missing:
            git = self.marks.state == PRESENT and not self.marks.bare
            for pattern, state in read_code(self.marks.root, missing, git=git, environ=self._environ).items():
                self._code[pattern] = state.digest
                if not state.files:
                    self._empty.add(pattern)
                if state.problem:
                    self.problems.append(f"paths {pattern}: {state.problem}")
        return self._code

    def empty_patterns(self, patterns: Iterable[str]) -> list[str]:
        """Return those of the patterns that match no file."""
        self.code(patterns)
        return [pattern for pattern in patterns if pattern in self._empty]


def judge_all(db: apsw.Connection, findings: list[Finding], surroundings: Surroundings) -> dict[int, Judgement]:
    """Return the applicability of each finding here and now."""
    names = {name for finding in findings for name in finding.scope.fact_names()}
    facts = {name: fact.value for name, fact in surroundings.facts(sorted(names)).items()}
    code = surroundings.code(sorted({pattern for finding in findings for pattern in finding.scope.paths}))
    known = reading.find_known_contexts(db, [finding.id for finding in findings])
    return {
        finding.id: judge_best(finding.scope, facts, known.get(finding.id) or [NOWHERE], code) for finding in findings
    }

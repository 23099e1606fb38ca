"""What findings are judged against: the facts and the code of one task context, read when first asked for."""

from __future__ import annotations

from upheld.context.code import read_code, read_digests, read_pieces
from upheld.context.facts import gather_declared, read_confirmed, read_facts
from upheld.context.git import find_commits
from upheld.context.marks import PRESENT
from upheld.findings.applicability import NOTHING_ELSE, Source, Standing, judge_best
from upheld.findings.model import KnownContext
from upheld.findings.store import reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from upheld.context.facts import Fact
    from upheld.context.marks import Marks
    from upheld.findings.applicability import Judgement
    from upheld.findings.model import Finding, Scope

SOURCES_MS = 1000

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
        self._pieces: dict[tuple[str, str], bool | None] = {}
        self._sources: dict[tuple[str, str], str | None] = {}
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
            read = read_code(self.marks.root, missing, git=self._has_git(), environ=self._environ)
            for pattern, state in read.items():
                self._code[pattern] = state.digest
                if not state.files:
                    self._empty.add(pattern)
                if state.problem:
                    self.problems.append(f"paths {pattern}: {state.problem}")
        return self._code

    def code_of(self, scope: Scope) -> dict[str, str | None]:
        """Return what each path of a scope holds now: its digest, or the quoted piece that stands there.

        "" where the piece is gone; None where it could not be read.
        """
        pieces = self._read_pieces(scope.quotes.items())
        code = self.code(pattern for pattern in scope.paths if pattern not in scope.quotes)
        found: dict[str, str | None] = {}
        for pattern in scope.paths:
            if pattern in scope.quotes:
                stands = pieces[pattern, scope.quotes[pattern]]
                found[pattern] = None if stands is None else scope.quotes[pattern] if stands else ""
            else:
                found[pattern] = code[pattern]
        return found

    def read_ahead(self, scopes: Iterable[Scope]) -> None:
        """Read the code of many scopes at once, so that git is asked once."""
        listed = list(scopes)
        self._read_pieces(pair for scope in listed for pair in scope.quotes.items())
        self.code(pattern for scope in listed for pattern in scope.paths if pattern not in scope.quotes)

    def _read_pieces(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bool | None]:
        missing = sorted({pair for pair in pairs if pair not in self._pieces})
        if missing:
            self._pieces.update(read_pieces(self.marks.root, missing, git=self._has_git(), environ=self._environ))
        return self._pieces

    def sources(self, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str | None]:
        """Return the content of sources now, each named by kind and reference.

        A file's digest or a commit's id; "" when it is gone, None where it could not be read.
        """
        missing = sorted({source for source in wanted if source not in self._sources})
        files = [ref for kind, ref in missing if kind == "file"]
        commits = [ref for kind, ref in missing if kind == "git_commit"]
        if files:
            for name, digest in read_digests(self.marks.root, files, deadline_ms=SOURCES_MS).items():
                self._sources["file", name] = digest
        if commits:
            known = (
                find_commits(self.marks.root, commits, SOURCES_MS, environ=self._environ) if self._has_git() else None
            )
            for ref in commits:
                self._sources["git_commit", ref] = None if known is None else ref if ref in known else ""
        return self._sources

    def holds(self, path: str, excerpt: str) -> bool:
        """Say whether a file of the project holds an excerpt now."""
        return bool(excerpt) and self._read_pieces([(path, excerpt)])[path, excerpt] is True

    def _has_git(self) -> bool:
        return self.marks.state == PRESENT and not self.marks.bare

    def empty_patterns(self, patterns: Iterable[str]) -> list[str]:
        """Return those of the patterns that match no file."""
        self.code(patterns)
        return [pattern for pattern in patterns if pattern in self._empty]


def judge_all(db: apsw.Connection, findings: list[Finding], surroundings: Surroundings) -> dict[int, Judgement]:
    """Return the applicability of each finding here and now."""
    names = {name for finding in findings for name in finding.scope.fact_names()}
    facts = {name: fact.value for name, fact in surroundings.facts(sorted(names)).items()}
    surroundings.read_ahead(finding.scope for finding in findings)
    ids = [finding.id for finding in findings]
    known = reading.find_known_contexts(db, ids)
    standing = find_standing(db, ids, surroundings)
    return {
        finding.id: judge_best(
            finding.scope,
            facts,
            [one for one in known.get(finding.id, ()) if one.counts_for(finding.epistemic_state)] or [NOWHERE],
            surroundings.code_of(finding.scope),
            standing.get(finding.id, NOTHING_ELSE),
        )
        for finding in findings
    }


def find_standing(db: apsw.Connection, finding_ids: list[int], surroundings: Surroundings) -> dict[int, Standing]:
    """Return the sources of each finding as they are now, and what it is derived from and has fallen."""
    fallen = reading.find_fallen_bases(db, finding_ids)
    rows = reading.find_checkable_sources(db, finding_ids)
    # A commit was kept under the name that somebody gave it, and its id as its content.
    named = {
        evidence_id: (kind, recorded if kind == "git_commit" else ref)
        for _, evidence_id, kind, ref, recorded, _ in rows
    }
    now = surroundings.sources(named.values())
    sources: dict[int, list[Source]] = {}
    for finding_id, evidence_id, kind, ref, recorded, excerpt in rows:
        found = now[named[evidence_id]]
        changed = kind == "file" and found not in (None, "", recorded)
        quoted = changed and surroundings.holds(ref, excerpt)
        sources.setdefault(finding_id, []).append(Source(evidence_id, ref, recorded, found, quoted=quoted))
    return {
        finding_id: Standing(sources.get(finding_id, ()), fallen.get(finding_id, ()))
        for finding_id in sources.keys() | fallen.keys()
    }

"""The findings of one project as one caller sees them: what every verb in `verbs/` is made of.

What a model or a person says never changes a state by its wording: only verbs do, each write in one transaction with
its events, and only as the rules allow. Faces hold no rule; they run operations.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from upheld.context.marks import REFUSED, read_root_commits
from upheld.context.projects import IdentityUnknownError, ensure_project, find_project
from upheld.findings.anchoring import anchor_scope
from upheld.findings.refusals import OtherArgumentsError, OtherProjectError, UnknownFindingError
from upheld.findings.store import reading, writing
from upheld.findings.surroundings import Surroundings
from upheld.findings.work import Work
from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import apsw

    from upheld.context.store import Project
    from upheld.findings.cleaning import Cleaner
    from upheld.findings.drafts import Draft
    from upheld.findings.ledger import Caller, Ledger, Write
    from upheld.findings.model import Finding
    from upheld.findings.place import Place

MADE_BEFORE = "This call was made before; here is its first answer."
NOTHING_HERE = "The ledger knows nothing of this project yet; the first log_finding begins it."


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation returns: plain data, and warnings for the caller."""

    data: dict[str, Any]
    warnings: tuple[str, ...] = ()


class Findings:
    """The findings of one project, as one caller sees them.

    Args:
        ledger: Where they are kept.
        place: Where the caller is.
        caller: Who asks.
    """

    def __init__(self, ledger: Ledger, place: Place, caller: Caller) -> None:
        self.ledger = ledger
        self.place = place
        self.caller = caller

    def write(
        self,
        tool: str,
        do: Callable[[Work], tuple[int, dict[str, Any]]],
        *,
        arguments: Mapping[str, object],
        cleaner: Cleaner,
        idempotency_key: str | None = None,
        warnings: tuple[str, ...] = (),
    ) -> Answer:
        """Run one write of this project; a retried call gets its first answer.

        Args:
            tool: The operation's name, for the key.
            do: Makes the changes; returns the finding whose life the key shares, and the data of the answer.
            arguments: What makes two calls the same.
            cleaner: Whose redactions are told.
            idempotency_key: Of the caller, None for none.
            warnings: To be told besides.

        Raises:
            OtherArgumentsError: The key was used for another call.
        """
        digest = _digest(jsontext.dumps_canonical(arguments))
        # Whatever a caller takes as a key is kept as a digest: it is only ever compared.
        key = None if idempotency_key is None else _digest(idempotency_key)
        with self.ledger.write(self.caller) as write:
            project = self.project_of(write)
            if key is not None:
                earlier = writing.find_answer(write.db, project.id, tool, key)
                if earlier is not None:
                    if earlier[0] != digest:
                        raise OtherArgumentsError
                    return Answer(jsontext.loads(earlier[1]), (MADE_BEFORE,))
            work = Work(write, project)
            finding_id, data = do(work)
            if key is not None:
                writing.keep_answer(
                    write.db,
                    project.id,
                    tool,
                    key,
                    arguments_hash=digest,
                    finding_id=finding_id,
                    answer=jsontext.dumps(data),
                )
        return Answer(data, (*warnings, *cleaner.warnings(), *write.warnings))

    def read(self) -> tuple[apsw.Connection | None, Project | None]:
        """Return the ledger and the project; a refusing git is an error, an unknown project is not."""
        if self.place.marks.state == REFUSED:
            raise IdentityUnknownError(self.place.marks.problem)
        db = self.ledger.read()
        if db is None:
            return None, None
        return db, find_project(db, self.place.marks, root_commits=self.root_commits)

    def find(self, finding_id: int) -> tuple[apsw.Connection, Finding]:
        """Return the ledger and a finding of this project.

        Raises:
            UnknownFindingError: There is none.
            OtherProjectError: It is another project's.
        """
        db, project = self.read()
        if db is not None:
            found = [] if project is None else reading.find_findings(db, project.id, [finding_id])
            if found:
                return db, found[0]
            if reading.find_project_of(db, finding_id) is not None:
                raise OtherProjectError(finding_id)
        raise UnknownFindingError(finding_id)

    def project_of(self, write: Write) -> Project:
        """Return the project here inside an open write, beginning it if the ledger does not know it."""
        return ensure_project(
            write.db, self.place.marks, root_commits=self.root_commits, now=write.now, new_uid=write.new_uid
        )

    def root_commits(self) -> tuple[str, ...]:
        """Return the root commits of the repository here, where a rule needs them."""
        return read_root_commits(self.place.marks, environ=self.place.environ)

    def surroundings(self, db: apsw.Connection | None, facts: Mapping[str, str] | None) -> Surroundings:
        """Return the facts and the code of the caller's place, with those that it declares."""
        caller = self.caller
        host = {"session": f"{caller.host}:{caller.session}"} if caller.session else {}
        return Surroundings(db, self.place.marks, declared=facts or {}, environ=self.place.environ, host=host)

    def limit_policy(self, draft: Draft, *, granted: bool) -> Draft:
        """An agent may propose `always`; a person grants it."""
        if draft.retrieval_policy != "always" or granted or self.caller.actor == "user":
            return draft
        return replace(
            draft,
            retrieval_policy="relevant",
            warnings=(*draft.warnings, "retrieval_policy always is granted by a person; it was logged as relevant."),
        )

    def anchor(self, draft: Draft, facts: Mapping[str, str] | None, cleaner: Cleaner) -> Draft:
        """Return a draft with the context in which its claim holds now, and what there is to say about that."""
        known, warnings = anchor_scope(self.surroundings(self.ledger.read(), facts), draft.scope, cleaner)
        return replace(draft, known=known, warnings=(*draft.warnings, *warnings))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()

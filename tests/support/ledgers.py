"""Ledgers for benchmarks and big tests: straight through the stores, since their writing is not what counts there."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import apsw

from upheld.context.store import add_project
from upheld.findings.drafts import Draft
from upheld.findings.model import Finding, KnownContext, Scope
from upheld.findings.store import writing
from upheld.findings.work import index_words
from upheld.storage import database
from upheld.text.words import fold, spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from upheld.context.store import Project

NOW = "2026-11-30T12:00:00.000Z"
EVERYWHERE = Scope(match={}, context={}, revalidate_on=None, paths=(), everywhere=True)


def open_ledger(path: str = ":memory:") -> apsw.Connection:
    db = apsw.Connection(path)
    database.migrate(db, database.LEDGER)
    return db


def new_project(db: apsw.Connection, name: str) -> Project:
    return add_project(db, uid=name, name=name, now=NOW)


def put(
    db: apsw.Connection,
    project: Project,
    claim: str,
    *,
    aliases: tuple[str, ...] = (),
    scope: Scope = EVERYWHERE,
    lifecycle: str = "current",
    policy: str = "relevant",
    kind: str = "observation",
) -> int:
    """Store one finding as the service would, without event and evidence."""
    state = "not_applicable" if kind == "constraint" else "unassessed"
    known = KnownContext({}, {})
    draft = Draft(claim, kind, state, False, policy, scope, (), aliases, "", (), known)
    finding = Finding(
        id=0,
        uid=f"{project.uid}-{random.getrandbits(64):016x}",
        project_id=project.id,
        claim=claim,
        claim_kind=kind,
        epistemic_state=state,
        lifecycle_state=lifecycle,
        retrieval_policy=policy,
        scope=scope,
        tags=(),
        aliases=aliases,
        task="",
        promotion_state="none",
        version=1,
        decided_event=0,
        created_at=NOW,
        updated_at=NOW,
        actor="agent",
        host="",
        session="",
    )
    finding_id = writing.add_finding(db, finding)
    writing.add_known_context(db, finding_id, known, NOW)
    writing.add_words(db, project.id, finding_id, index_words(draft))
    return finding_id


def index_texts(db: apsw.Connection) -> None:
    """Fill the full-text indexes at once, as a migration does: one by one it takes many times as long."""
    db.create_scalar_function("spell", lambda *texts: spell(str(texts[0])), 1)
    db.create_scalar_function("fold", lambda *texts: fold(str(texts[0])), 1)
    db.execute(
        """insert into finding_texts (rowid, claim, names, evidence)
           select id, spell(claim), spell(names), spell(evidence) from finding_says;
           insert into finding_pieces (rowid, says)
           select id, fold(claim || char(10) || names || char(10) || evidence) from finding_says"""
    )


class Zipf:
    """Words as in real text: the n-th most common stands in for 1/n of the first. The same seed, the same words."""

    def __init__(self, seed: int, vocabulary: int = 30_000) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a benchmark's words
        self.words = [_spell(number) for number in range(vocabulary)]
        total, self._cumulative = 0.0, []
        for rank in range(1, vocabulary + 1):
            total += 1 / rank
            self._cumulative.append(total)

    def draw(self, count: int) -> list[str]:
        return self._random.choices(self.words, cum_weights=self._cumulative, k=count)

    def claims(self, count: int, length: int = 14) -> Iterator[str]:
        for _ in range(count):
            yield " ".join(self.draw(length))


def _spell(number: int) -> str:
    """Return a word that no stop list, plural or identifier rule touches."""
    syllables = ("ba", "ke", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "ta", "ve", "wi", "xo", "zu", "ca")
    word = ""
    for _ in range(4):
        word += syllables[number % 16]
        number //= 16
    return word + "n"

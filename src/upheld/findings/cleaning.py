"""Take secrets and private paths out of everything a caller gives, before it is written anywhere.

Rows are append-only, so this comes first. What was taken out is counted and named by rule, never shown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from upheld.errors import InvalidArgumentError
from upheld.findings.model import Scope
from upheld.redaction.redact import redact, redact_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from upheld.findings.arguments import EvidenceInput


class Cleaner:
    """Redacts the texts of one call and counts what it took out, by rule.

    Args:
        home: The user's home directory, which becomes `~`.
    """

    def __init__(self, home: str) -> None:
        self._home = home
        self._counts: dict[str, int] = {}

    def text(self, text: str) -> str:
        """Return a text without secrets and private paths."""
        cleaned = redact(text, home=self._home)
        self._count(cleaned.counts)
        return cleaned.text

    def texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return each text cleaned."""
        return tuple(map(self.text, texts))

    def fact(self, name: str, value: str) -> str:
        """Return the value of a fact cleaned; a name like `password` tells what its value is."""
        cleaned = redact_value({name: value}, home=self._home)
        self._count(cleaned.counts)
        return str(next(iter(cleaned.value.values()))) if isinstance(cleaned.value, dict) else value

    def scope(self, scope: Scope) -> Scope:
        """Return a scope whose names, values and paths are cleaned."""

        def conditions(entries: Mapping[str, str | tuple[str, ...]]) -> dict[str, str | tuple[str, ...]]:
            return {
                self.text(name): tuple(self.fact(name, one) for one in value)
                if isinstance(value, tuple)
                else self.fact(name, value)
                for name, value in entries.items()
            }

        return Scope(
            match=conditions(scope.match),
            context=conditions(scope.context),
            revalidate_on=None if scope.revalidate_on is None else self.texts(scope.revalidate_on),
            paths=self.texts(scope.paths),
            quotes={self.text(path): self._quote(quote) for path, quote in scope.quotes.items()},
            everywhere=scope.everywhere,
        )

    def _quote(self, quote: str) -> str:
        if self.text(quote) != quote:
            # With the secret taken out it would never be found again.
            raise InvalidArgumentError("scope.paths", "quotes a secret or a private path", "Quote another piece.")
        return quote

    def evidence(self, piece: EvidenceInput) -> EvidenceInput:
        """Return evidence with every free text cleaned."""
        return replace(
            piece,
            source_ref=self.text(piece.source_ref),
            locator=self.text(piece.locator),
            revision=self.text(piece.revision),
            excerpt=self.text(piece.excerpt),
            rationale=self.text(piece.rationale),
            observed_at=self.text(piece.observed_at),
        )

    def _count(self, counts: Mapping[str, int]) -> None:
        for rule, count in counts.items():
            self._counts[rule] = self._counts.get(rule, 0) + count

    def warnings(self) -> list[str]:
        """Return one sentence for each rule that took something out."""
        return [
            f"Taken out before writing: {count} x {rule}. Nothing of it was kept."
            for rule, count in sorted(self._counts.items())
        ]

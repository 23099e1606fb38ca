"""Read the words of stored claims out of the word index: cheaper than taking the claims apart again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from upheld.text import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw


def find_claim_words(db: apsw.Connection, finding_ids: Iterable[int]) -> dict[int, list[str]]:
    """Return by finding the words of its claim, in order of the alphabet; a finding without words is not there."""
    found: dict[int, list[str]] = {}
    for finding_id, word in db.execute(
        """select finding_id, word from finding_words
           where part = 'c' and finding_id in (select value from json_each(?)) order by finding_id, word""",
        (jsontext.dumps(list(finding_ids)),),
    ):
        found.setdefault(finding_id, []).append(word)
    return found

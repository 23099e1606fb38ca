"""Look up the words of tags and aliases by a spelling with one letter left out.

The rows come and go with `finding_words`, by triggers of the schema. Which of the words that share a form are
really one slip apart is decided in `findings/candidates.py`.
"""

from __future__ import annotations

from upheld.text import jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw


def find_spelled(
    db: apsw.Connection, project_id: int, spellings: Iterable[str], limit: int
) -> list[tuple[str, str, int]]:
    """Return (spelling, word, phrases that hold the word) for words of a project's tags and aliases; by spelling."""
    rows = db.execute(
        """select spelling, word, phrases from phrase_spellings
           where project_id = ? and spelling in (select value from json_each(?))
           order by spelling, word limit ?""",
        (project_id, jsontext.dumps(list(spellings)), limit),
    )
    return [(row[0], row[1], row[2]) for row in rows]

"""Where a caller is: what identifies its project and what its facts are read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from upheld.context.marks import Marks


@dataclass(frozen=True, slots=True)
class Place:
    """Where a caller is.

    Args:
        marks: Of its working directory.
        environ: Of its process.
        home: The user's home directory, which is hidden as `~` in what is stored.
    """

    marks: Marks
    environ: Mapping[str, str]
    home: str

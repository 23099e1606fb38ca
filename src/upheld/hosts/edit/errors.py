"""The refusals of editing somebody else's file. Nothing has been written when one is raised."""

from __future__ import annotations

from upheld.errors import CONCURRENT_MODIFICATION, UpheldError

EDIT_REFUSED = "EDIT_REFUSED"


class EditRefusedError(UpheldError):
    """A file that cannot be edited without risk to what others wrote in it.

    Args:
        name: The file as the user knows it, without its directory.
        problem: What is wrong with it, continuing the sentence "NAME ...".
        right: What to do about it, a sentence of its own.
    """

    def __init__(self, name: str, problem: str, right: str) -> None:
        super().__init__(f"{name} {problem}. {right} Nothing was written.", code=EDIT_REFUSED, argument=name)


class FileChangedError(UpheldError):
    """Somebody wrote the file between the plan and its application.

    Args:
        name: The file as the user knows it, without its directory.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} was changed by another program since the change was planned. It was left as it is; "
            "run the command again.",
            code=CONCURRENT_MODIFICATION,
            argument=name,
        )

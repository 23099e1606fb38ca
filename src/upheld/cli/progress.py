"""Progress of long work on standard error: a bar on a terminal, after a second; nothing anywhere else."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import TaskID

    Progress = Callable[[str, int, int], None]

AFTER_SECONDS = 1.0


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Give a function that is told a step, how much of it is done and how much there is."""
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    begin = time.monotonic()
    tasks: dict[str, TaskID] = {}
    with Bars(console=Console(stderr=True), transient=True) as bars:

        def tell(step: str, done: int, total: int) -> None:
            if step not in tasks and time.monotonic() - begin > AFTER_SECONDS:
                tasks[step] = bars.add_task(step, total=total)
            if step in tasks and (done % 100 == 0 or done == total):
                bars.update(tasks[step], completed=done, total=total)

        yield tell


def _say_nothing(_step: str, _done: int, _total: int) -> None:
    pass

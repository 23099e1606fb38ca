"""Progress of long work on standard error: a bar on a terminal, after a second; nothing anywhere else."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    Progress = Callable[[str, int, int], None]

AFTER_SECONDS = 1.0


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Give a function that is told a step, how much of it is done and how much there is."""
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    shown = _Bars()
    try:
        yield shown.tell
    finally:
        shown.stop()


class _Bars:
    """Bars that appear only once the work has lasted: quick work leaves no trace on the terminal."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bars: Bars | None = None
        self._tasks: dict[str, TaskID] = {}

    def tell(self, step: str, done: int, total: int) -> None:
        if self._bars is None:
            if time.monotonic() - self._begin < AFTER_SECONDS:
                return
            from rich.console import Console
            from rich.progress import Progress as Bars

            self._bars = Bars(console=Console(stderr=True), transient=True)
            self._bars.start()
        if step not in self._tasks:
            self._tasks[step] = self._bars.add_task(step, total=total)
        if done % 100 == 0 or done == total:
            self._bars.update(self._tasks[step], completed=done, total=total)

    def stop(self) -> None:
        if self._bars is not None:
            self._bars.stop()


def _say_nothing(_step: str, _done: int, _total: int) -> None:
    pass

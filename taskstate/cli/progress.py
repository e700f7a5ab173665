"""How far a long run has come: a bar on standard error, for people at a terminal.

A run that is over within a second shows none, and loads nothing for it.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from taskstate.cli.terminal import is_terminal

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID

PATIENCE = 1.0  # seconds without a bar


class Bar:
    """Is called with how much is done and how much there is; the bar disappears when the `with` block ends."""

    def __init__(self, what: str, *, wanted: bool = True, no_color: bool = False) -> None:
        self._what = what
        self._wanted = wanted and is_terminal(sys.stderr)
        self._no_color = no_color
        self._begin = time.monotonic()
        self._shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._shown[0].stop()
            self._shown = None

    def __call__(self, done: int, total: int) -> None:
        """Show how far it is."""
        if not self._wanted or time.monotonic() - self._begin < PATIENCE:
            return
        if not self._shown:
            self._shown = self._show(total)
        progress, task = self._shown
        progress.update(task, completed=done, total=total)

    def _show(self, total: int) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True, no_color=self._no_color or None)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        progress = Progress(*columns, console=console, transient=True)
        progress.start()
        return progress, progress.add_task(self._what, total=total)

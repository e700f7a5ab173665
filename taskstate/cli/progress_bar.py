"""A progress bar on standard error, for long runs on a terminal.

Runs shorter than a second show no bar, and do not import `rich`.
"""

from __future__ import annotations

import sys
import time

from taskstate.cli.terminal import is_terminal
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from rich.progress import Progress, TaskID

PATIENCE = 1.0  # seconds without a bar


class Bar:
    """A callable that shows the progress; the bar disappears at the end of the `with` block."""

    def __init__(self, description: str, *, enabled: bool = True, no_color: bool = False) -> None:
        self._description = description
        self._enabled = enabled and is_terminal(sys.stderr)
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
        """Show that `done` of `total` steps are done."""
        if not self._enabled or time.monotonic() - self._begin < PATIENCE:
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
        return progress, progress.add_task(self._description, total=total)

"""Shows on standard error that a long run goes on, on a terminal: a bar, or the last line that a command printed.

Runs shorter than a second show nothing, and do not import `rich`; nothing of what is shown stays.
"""

from __future__ import annotations

import sys
import time

from taskstate.cli.terminal import is_terminal
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from rich.progress import Progress, ProgressColumn, TaskID

PATIENCE = 1.0  # seconds without a bar
_PAUSE = 0.2  # seconds between two lines: a command that prints much is not to wait for them
_TAIL = 32 * 1024  # bytes of the output that are looked at: more than a private key has, of which no line is shown


class _Shown:
    """What is shown until the end of the `with` block, and disappears then."""

    _shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._shown[0].stop()
            self._shown = None


class Bar(_Shown):
    """A callable that shows the progress; the bar disappears at the end of the `with` block."""

    def __init__(self, description: str, *, enabled: bool = True, no_color: bool = False) -> None:
        self._description = description
        self._enabled = enabled and is_terminal(sys.stderr)
        self._no_color = no_color
        self._begin = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` steps are done."""
        if not self._enabled or time.monotonic() - self._begin < PATIENCE:
            return
        if not self._shown:
            self._shown = self._show(total)
        progress, task = self._shown
        progress.update(task, completed=done, total=total)

    def _show(self, total: int) -> tuple[Progress, TaskID]:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        return _shown(columns, self._description, total, no_color=self._no_color)


class LastLine(_Shown):
    """How long a command has run, and the last line that it printed: told piece by piece what it prints."""

    def __init__(self, *, allow: tuple[str, ...] = (), no_color: bool = False) -> None:
        self._allow = allow
        self._no_color = no_color
        self._begin = time.monotonic()
        self._next = self._begin + PATIENCE  # when something is drawn again
        self._is_new = True
        self._tail = b""

    def __call__(self, piece: bytes) -> None:
        """Take a piece of the output, which may be empty; show the last whole line of it all."""
        self._tail = (self._tail + piece)[-_TAIL:]
        self._is_new = self._is_new or bool(piece)
        now = time.monotonic()
        if not self._is_new or now < self._next:
            return
        self._is_new, self._next = False, now + _PAUSE
        if self._shown:
            progress, task = self._shown
            progress.update(task, description=self._line())
        else:
            self._shown = self._show()

    def _line(self) -> str:
        """Return the last line that is whole, fit to be shown: half a line could be half of a credential."""
        from taskstate.qa.log_parser import text_chunks
        from taskstate.secrets.mask import masked
        from taskstate.syntax.spans import one_line

        whole = self._tail.replace(b"\r", b"\n").rpartition(b"\n")[0]
        if len(self._tail) == _TAIL:
            whole = whole.partition(b"\n")[2]
        text = masked("".join(text_chunks(whole)), self._allow)
        return one_line(text.rstrip().rpartition("\n")[2].strip())

    def _show(self) -> tuple[Progress, TaskID]:
        from rich.progress import TextColumn, TimeElapsedColumn
        from rich.table import Column

        column = Column(no_wrap=True, overflow="ellipsis")
        text = TextColumn("{task.description}", style="none", markup=False, table_column=column)
        elapsed = TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=len("0:00:00")))
        progress, task = _shown((elapsed, text), self._line(), None, no_color=self._no_color)
        progress.tasks[0].start_time = self._begin
        return progress, task


def _shown(
    columns: tuple[ProgressColumn, ...], description: str, total: int | None, *, no_color: bool
) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import Progress

    progress = Progress(*columns, console=Console(stderr=True, no_color=no_color or None), transient=True)
    task = progress.add_task(description, total=total)
    progress.start()
    return progress, task

"""Shows on standard error that a long run goes on, on a terminal: how far it is, or what a command printed last.

Runs shorter than a second show nothing; nothing of what is shown stays.
"""

from __future__ import annotations

import sys
import time

from taskstate.cli.terminal import is_terminal, size
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

PATIENCE = 1.0  # seconds without a line
_PAUSE = 0.2  # seconds between two: what is done is not to wait for them
_TAIL = 32 * 1024  # bytes of the output that are looked at: more than a private key has, of which no line is shown
_CLEAR = "\r\x1b[2K"


class _Shown:
    """A line that is drawn anew until the end of the `with` block, and disappears then."""

    def __init__(self, *, enabled: bool = True, begin: float | None = None) -> None:
        self._begin = time.monotonic() if begin is None else begin
        self._next = self._begin + PATIENCE if enabled and is_terminal(sys.stderr) else float("inf")
        self._clear = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Take back what is shown, if anything is; the next step shows it again."""
        sys.stderr.write(self._clear)
        sys.stderr.flush()
        self._clear = ""

    @property
    def _is_due(self) -> bool:
        return time.monotonic() >= self._next

    def _draw(self, text: str) -> None:
        from taskstate.views.layout import fit

        now, self._clear = time.monotonic(), _CLEAR
        self._next, seconds = now + _PAUSE, int(now - self._begin)
        line = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02} {text}"
        sys.stderr.write(_CLEAR + fit(line, (size(sys.stderr)[0] or 80) - 1).rstrip())
        sys.stderr.flush()


class Bar(_Shown):
    """How far a run is, which may have begun before: called with how many steps are done, and of how many."""

    def __init__(self, description: str, *, enabled: bool = True, begin: float | None = None) -> None:
        super().__init__(enabled=enabled, begin=begin)
        self._description = description

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` steps are done."""
        if self._is_due:
            from taskstate.views.layout import Screen

            self._draw(f"{self._description} {Screen('', is_live=True).bar(done, total)} {done}/{total}")


class LastLine(_Shown):
    """How long a command has run, and the last line that it printed: told piece by piece what it prints."""

    def __init__(self, *, allow: tuple[str, ...] = ()) -> None:
        super().__init__()
        self._allow = allow
        self._tail = b""

    def __call__(self, piece: bytes) -> None:
        """Take a piece of the output, which may be empty; show the last whole line of it all."""
        self._tail = (self._tail + piece)[-_TAIL:]
        if self._is_due:
            self._draw(self._line())

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

"""Signals that ask this process to end: the exception and the exit status that they become, and how they are held."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Self

_INTERRUPTED = 130  # the exit status after Ctrl-C


class Ended(KeyboardInterrupt):
    """The system tells this process to end: handled wherever Ctrl-C is, so that nothing stays that was for a while."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


def end(number: int, _frame: object) -> None:
    """Handle a signal that asks this process to end; the next one ends it at once."""
    import _signal  # type: ignore[import-not-found]  # as in `__main__`

    _signal.signal(number, _signal.SIG_DFL)
    raise Ended(number)


def interrupted_status(error: BaseException | None) -> int:
    """Return the exit status for an error that comes of Ctrl-C or another signal that ends us, 0 for any other error.

    Python makes another error of it while it builds a class, for example.
    """
    while error and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    if isinstance(error, Ended):
        return error.status
    return _INTERRUPTED if error else 0


class Held:
    """Holds the signals that ask this process to end: they are obeyed at the end of the `with` block.

    An exception in the wrong moment would leave behind what nobody knows of yet, or any more: a program, a temporary
    file, one of several files. Within the block `release` has them obeyed as they come, and `hold` holds them again; of
    blocks within each other all have to be released. Only signals that nobody else handles, and only in the main
    thread, where alone Python allows it.
    """

    def __init__(self) -> None:
        self._is_released = False
        self._before: dict[int, Any] = {}  # what handled each signal
        self._number = 0  # of the signal that was held

    def __enter__(self) -> Self:
        """Hold the signals from now on."""
        import _signal  # as in `end`

        usual = (_signal.default_int_handler, _signal.SIG_DFL, end)
        ending = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
        handlers = {number: _signal.getsignal(number) for number in ending}
        self._before = {n: each for n, each in handlers.items() if each in usual or isinstance(each, Held)}
        try:
            for number in self._before:
                _signal.signal(number, self)
        except ValueError:  # this is not the main thread
            self._before = {}
        return self

    def __exit__(self, *_: object) -> None:
        """Obey a signal that came, and have all handled as before."""
        import _signal

        self._is_released = True
        for number, handler in self._before.items():
            _signal.signal(number, handler)
        self._obey()

    def __call__(self, number: int, _frame: object) -> None:
        """Handle a signal."""
        self._number = number
        if self._is_released:
            self._obey()

    def release(self) -> None:
        """Obey from now on, also a signal that came before."""
        self._is_released = True
        self._obey()

    def hold(self) -> None:
        """Only remember from now on."""
        self._is_released = False

    def _obey(self) -> None:
        """Leave as the signal that came demands, if there was one."""
        number, self._number = self._number, 0
        handler = self._before.get(number)
        if callable(handler):  # it raises, unless it is one that holds them around this one
            handler(number, None)
        elif number:
            raise SystemExit(128 + number)

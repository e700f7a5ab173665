"""Kills a writer at any of its system calls that touch the disk: a real process, a real SIGKILL.

The shim wraps the calls of the operating system in the process that is to die, and nowhere else; the product knows
nothing of it.
"""

from __future__ import annotations

import os
import signal
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.storage import journal
from taskstate.storage.signals import end

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taskstate.storage.private import Private
    from taskstate.storage.transaction import Plan

# Everything that changes the disk, or makes it durable; `open` only where it is for writing.
CALLS = ("open", "write", "fsync", "replace", "rename", "link", "unlink", "ftruncate", "mkdir", "rmdir", "utime")

KILL_EVERY = int(os.environ.get("KILL_EVERY", "23"))  # tests kill at one change in so many; `make torture` at each
KILL_EVERY_FEW = max(KILL_EVERY // 3, 1)  # what has few steps; odd, so that every other write is torn

forks = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # a test runner has threads, the child none


def die_at(number: int, *, torn: bool) -> None:
    """Make this process die at its `number`-th change of the disk; `torn`: half of a write is made first."""

    def die(call: str, really: Callable[..., object], args: tuple[Any, ...]) -> None:
        if torn and call == "write":
            really(args[0], args[1][: len(args[1]) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    for call, shim in shims(number, die).items():
        setattr(os, call, shim)


def fail_from(number: int, code: int, patch: pytest.MonkeyPatch) -> None:
    """Make the `number`-th change of the disk, and every later one that takes space, fail with the error `code`."""

    def fail(call: str, *_: object) -> None:
        if call not in {"unlink", "rmdir", "ftruncate"}:  # what gives space back works on
            raise OSError(code, os.strerror(code))

    for call, shim in shims(number, fail, for_ever=("open", "write", "fsync", "link", "mkdir")).items():
        patch.setattr(os, call, shim)


def shims(
    number: int, act: Callable[[str, Callable[..., object], tuple[Any, ...]], None], *, for_ever: tuple[str, ...] = ()
) -> dict[str, Callable[..., object]]:
    """Return replacements for the system calls, which call `act` at the `number`-th change of the disk and then go on.

    Those named in `for_ever` act at every later one too.
    """
    count = 0

    def shim(call: str, really: Callable[..., object]) -> Callable[..., object]:
        def counted(*args: Any, **options: Any) -> object:  # noqa: ANN401 - handed on as they come
            nonlocal count
            if _counts(call, args):
                count += 1
                if count == number or (count > number and call in for_ever):
                    act(call, really, args)
            return really(*args, **options)

        return counted

    return {call: shim(call, getattr(os, call)) for call in CALLS}


def _counts(call: str, args: tuple[Any, ...]) -> bool:
    """Return whether a call can change the disk: writing to a terminal or a pipe does not."""
    if call == "open":
        return len(args) > 1 and bool(args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    return call != "write" or args[0] > 2


def killed(work: Callable[[], object], number: int, *, torn: bool = False) -> bool:
    """Do `work` in a child process that dies at its `number`-th change of the disk, and return whether it died."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            die_at(number, torn=torn)
            work()
            status = 0
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    assert os.WIFSIGNALED(ended) or os.WEXITSTATUS(ended) == 0
    return os.WIFSIGNALED(ended)


def killed_at_step(work: Callable[[], object], number: int) -> bool:
    """Do `work` in a child process that dies before the `number`-th step of its plan, or when all of them are done."""

    def work_until_then() -> None:
        carry_out, end, steps = journal._carry_out, journal._end, 0  # noqa: SLF001 - the steps that a kill comes between

        def counted(really: Callable[..., None], *args: Any, **options: Any) -> None:  # noqa: ANN401 - handed on
            nonlocal steps
            steps += 1
            if steps == number:
                os.kill(os.getpid(), signal.SIGKILL)
            really(*args, **options)

        journal._carry_out, journal._end = partial(counted, carry_out), partial(counted, end)  # noqa: SLF001
        work()

    return killed(work_until_then, 0)


def told_to_end(work: Callable[[], int], number: int) -> int:
    """Do `work` in a child process that is told to end at its `number`-th change of the disk; return its exit status.

    The signal comes right before the change, as far as the process can tell: Python obeys it between two steps.
    """
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGTERM, end)
            for call, shim in shims(number, lambda *_: os.kill(os.getpid(), signal.SIGTERM)).items():
                setattr(os, call, shim)
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def leave_plan(private: Private, plan: Plan, before: Mapping[str, bytes] | None = None) -> None:
    """Leave a recorded plan of which nothing was carried out, as a killed writer does."""
    journal._record(private, plan, None, before)  # noqa: SLF001 - what a killed writer leaves

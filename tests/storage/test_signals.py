"""Signals that ask the process to end are held where an exception would leave something behind."""

from __future__ import annotations

import signal
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from taskstate.storage.signals import Ended, Held, end

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Let SIGTERM be handled as in a process of its own, and put back what handled it before."""
    before = signal.signal(signal.SIGTERM, end)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_signal_is_obeyed_at_the_end_of_the_block() -> None:
    """What the block does is done whole, and the handlers are as before."""
    done = []

    def work() -> None:
        with Held():
            signal.raise_signal(signal.SIGTERM)
            done.append("all")

    with pytest.raises(Ended) as ended:
        work()
    assert (done, ended.value.status) == (["all"], 143)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("released_first", [True, False])
def test_a_released_block_obeys_at_once(*, released_first: bool) -> None:
    """Also a signal that came before that."""
    done = []

    def work() -> None:
        with Held() as held:
            for step in (held.release, interrupt)[:: 1 if released_first else -1]:
                step()
            done.append("more")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not done


@pytest.mark.parametrize("outer_released", [True, False])
def test_of_blocks_within_each_other_all_have_to_be_released(*, outer_released: bool) -> None:
    """A block holds the signals within one that is released, and obeys none within one that is not."""
    done = []

    def work() -> None:
        with Held() as outer:
            if outer_released:
                outer.release()
            with Held() as inner:
                if not outer_released:
                    inner.release()
                interrupt()
                done.append("inner")
            done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == (["inner"] if outer_released else ["inner", "outer"])


def test_a_signal_that_nobody_handles_ends_with_its_status() -> None:
    """As where the Python API is used by a program of somebody else."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with pytest.raises(SystemExit) as ended, Held():
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 143


def interrupt() -> None:
    """Press Ctrl-C."""
    signal.raise_signal(signal.SIGINT)


def test_another_thread_holds_nothing() -> None:
    """Python hands signals to the main thread alone."""
    done = []

    def work() -> None:
        with Held() as held:
            held.release()
            done.append(signal.getsignal(signal.SIGTERM))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert done == [end]

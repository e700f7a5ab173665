"""Work is shared with forked processes, and is done whatever becomes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.archive import external_summarizer
from taskstate.archive.external_summarizer import Summarizer
from taskstate.storage import programs
from taskstate.storage.git import client as git
from tests.support.processes import is_gone

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere forking is not safe")

# In a process of its own, since tests run beside threads.
_CODE = """
import json, os, signal, sys, threading
from taskstate.storage import programs
programs.cores = lambda: 3
here = os.getpid()
def refuse():
    raise BlockingIOError
def work(items):
    {work}
    return [os.getpid() == here, [item + 1 for item in items]]
{before}
try:
    print(json.dumps(programs.in_parts(work, range({count}), 2)))
except ArithmeticError as error:
    print(json.dumps(str(error)))
assert len(os.listdir("/proc/self/fd")) == 4, "a pipe is left open"
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    os._exit(0)
sys.exit("a process is left")
"""
_ALL = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
_PARTS = [_ALL[:4], _ALL[4:8], _ALL[8:]]


def in_parts(work: str = "pass", before: str = "pass", count: int = 10) -> object:
    """Return what `in_parts` returns: of each part whether it was worked on in the same process, and its result."""
    code = _CODE.format(work=work, before=before, count=count)
    done = subprocess.run([sys.executable, "-u", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("work", "here"),
    [
        ("pass", [True, False, False]),
        ("if os.getpid() != here and 5 in items: raise OSError", [True, True, False]),
        ("if os.getpid() != here: os.kill(os.getpid(), signal.SIGKILL)", [True, True, True]),
        ("if os.getpid() != here and 9 in items: return {1, 2}", [True, False, True]),
        ("if os.getpid() != here: sys.exit('no')", [True, True, True]),
    ],
    ids=["well", "fault", "killed", "no JSON", "exit"],
)
def test_what_another_process_does_not_send_is_done_here(work: str, here: list[bool]) -> None:
    """The results come in the order of the parts; a process that fails says nothing itself."""
    assert in_parts(work) == [[own, part] for own, part in zip(here, _PARTS, strict=True)]


@pytest.mark.parametrize(
    "before",
    [
        "programs.cores = lambda: 1",
        "threading.Thread(target=threading.Event().wait, daemon=True).start()",
    ],
)
def test_one_core_or_another_thread_forks_nothing(before: str) -> None:
    """A fork beside another thread may hang on what that thread has locked."""
    assert in_parts(before=before) == [[True, _ALL]]


def test_a_system_that_starts_no_process_slows_down_only() -> None:
    """As where a user has too many already."""
    assert in_parts(before="os.fork = refuse") == [[True, part] for part in _PARTS]


@pytest.mark.parametrize(("count", "parts"), [(0, [0]), (3, [3]), (4, [2, 2]), (7, [3, 3, 1])])
def test_small_parts_are_not_worth_a_process(count: int, parts: list[int]) -> None:
    """Nothing at all is one part, too."""
    done = in_parts(count=count)
    assert isinstance(done, list)
    assert [len(items) for _, items in done] == parts


def test_a_fault_of_the_work_is_raised_and_ends_the_others() -> None:
    """Nobody waits for a process that works for nothing."""
    assert in_parts("if os.getpid() != here: signal.pause()\n    raise ArithmeticError('wrong')") == "wrong"


def test_workers_end_with_the_process_that_is_killed(tmp_path: Path) -> None:
    """A killed command leaves no worker process that waits for work for ever."""
    code = (
        "import os, signal, time; from taskstate.storage import programs\n"
        "with programs.workers(2, len, ([],)) as pool:\n"
        "    print(*{pool.submit(os.getpid).result() for _ in range(20)}, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    workers = [int(number) for number in done.stdout.split()]
    assert workers
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{number}").exists() for number in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not [number for number in workers if Path(f"/proc/{number}").exists()]


@pytest.mark.parametrize(
    "begin",
    [
        lambda _root: programs.run(("sleep", "60"), stdin=b"", timeout=50),
        lambda root: programs.run_step(("sleep", "60"), root, os.environ),
        lambda root: programs.attended(partial(programs.start_in_shell, "sleep 60", root), wait),
        lambda root: external_summarizer._run(Summarizer("sleep 60", root), b"{}"),  # noqa: SLF001 - without its cache
        lambda root: git.run(["hash-object", "--stdin"], root),
    ],
    ids=["run", "step", "shell", "summarizer", "git"],
)
def test_interrupt_in_the_moment_of_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: Callable[[Path], object]
) -> None:
    """Ctrl-C while the system starts a program is obeyed when it has: nothing is left that nobody knows of."""
    started: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - whatever it takes
            super().__init__(*args, **options)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path)
    assert started[0].returncode == -signal.SIGKILL


def wait(process: subprocess.Popen[Any]) -> int:
    """Wait for a process that nobody ends."""
    return process.wait(50)


def test_a_program_that_fails_to_be_followed_is_ended(tmp_path: Path) -> None:
    """With what it has started, also if that ignores what asks it to end."""
    command = "trap '' INT TERM HUP; sleep 60 & echo $! > child; echo; sleep 61"

    def follow(process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        process.stdout.readline()
        raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        programs.attended(partial(programs.start_in_shell, command, tmp_path), follow)
    assert is_gone(int((tmp_path / "child").read_text()))

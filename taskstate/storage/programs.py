"""Starts every program but git, which `git.program` starts: nothing else in taskstate starts one.

What may be started is decided by the callers: the command line of an argument, one that was allowed with
`taskstate trust`, this Python for filling in a template, as worker processes and for parts of an index, the `taskstate`
of the PATH, for its version and whether it starts, `ps` where nothing else tells of processes, and the demo's own
steps. No word of a file is ever part of the text that a shell reads.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from taskstate.storage.signals import Held
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path
    from typing import IO, Any, NoReturn, TypeVar

    Item = TypeVar("Item")
    Result = TypeVar("Result")

# A forked process has all modules and what was read already. Forking is safe only while no other thread runs: true
# here on Linux, while on macOS the system's libraries start threads, and Windows has no fork.
_METHOD = "fork" if sys.platform == "linux" else "spawn"
_SAFE_PATH = "PYTHONSAFEPATH"


def start(words: Sequence[str], root: Path, *, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program in `root`, without a shell, with pipes for its output and its errors; for `attended`.

    Raises:
        OSError, ValueError: the system cannot start it.
    """
    import subprocess

    return subprocess.Popen(
        words,
        cwd=root,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def start_in_shell(command: str, root: Path) -> subprocess.Popen[bytes]:
    """Start a command line in a shell, with an empty input and one pipe for all that it prints; for `attended`.

    Raises:
        OSError, ValueError: the system cannot start it.
    """
    import subprocess

    return subprocess.Popen(  # noqa: S602 - running the caller's own command line is what is asked for
        f" {command}",  # a dash at its beginning would make an option for the shell of it
        shell=True,
        cwd=root,
        stdin=subprocess.DEVNULL,  # no terminal: it could not be answered
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def start_module(name: str, root: Path) -> subprocess.Popen[bytes]:
    """Start a module of this program as a process of its own, the leader of a session, with pipes for all streams.

    No variable of git's reaches it: it says itself where git works.
    """
    import subprocess

    around = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    pipe, words = subprocess.PIPE, (sys.executable, "-P", "-m", name)
    return subprocess.Popen(
        words, cwd=root, env=around, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, bufsize=0
    )


def attended(begin: Callable[[], subprocess.Popen[Any]], follow: Callable[[subprocess.Popen[Any]], Result]) -> Result:
    """Return what `follow` makes of the program that `begin` starts; however it ends, the program has ended with it.

    So have those that it started, if it does not end itself: it leads a process group of its own (`start_new_session`).
    A signal that comes in the instant of the start, when nobody knows of the program yet, is obeyed when it has begun.
    """
    with Held() as held, begin() as process:
        try:
            held.release()
            return follow(process)
        finally:
            held.hold()
            end(process)


def end(process: subprocess.Popen[Any]) -> None:
    """Kill a process that is not reaped yet, with its whole process group."""
    import signal

    if process.returncode is None:  # not reaped, so the process id is still its own even if it has ended
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses where only zombies are left
            os.killpg(process.pid, signal.SIGKILL)


def run(words: Sequence[str], *, stdin: bytes, timeout: float) -> subprocess.CompletedProcess[bytes]:
    """Run a program with this input until it ends, or kill it after `timeout` seconds.

    Raises:
        OSError: the system cannot start it.
        TimeoutError: it took too long.
    """
    import subprocess

    pipe = subprocess.PIPE
    begin = partial(subprocess.Popen[bytes], words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)

    def follow(process: subprocess.Popen[bytes]) -> subprocess.CompletedProcess[bytes]:
        output, errors = process.communicate(stdin, timeout)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    try:
        return attended(begin, follow)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error


def run_step(words: Sequence[str], root: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step of the demo, and return its output with its errors as text."""
    import subprocess

    begin = partial(
        subprocess.Popen[str],
        words,
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )

    def follow(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
        output, _ = process.communicate()
        return subprocess.CompletedProcess(words, process.returncode, output)

    return attended(begin, follow)


@contextmanager
def workers(
    number: int, initialize: Callable[..., None] | None = None, arguments: tuple[object, ...] = ()
) -> Iterator[Executor]:
    """Yield a pool of `number` processes of this program, in each of which `initialize` is called first, if given."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context, initialize_with = multiprocessing.get_context(_METHOD), (initialize, arguments)
    before = os.environ.get(_SAFE_PATH)
    # Where it is not forked, Python starts them as `python -c`, which looks for modules in the current folder first: in
    # a stranger's repository a file `multiprocessing.py` would run.
    os.environ[_SAFE_PATH] = "1"
    try:
        with ProcessPoolExecutor(number, mp_context=context, initializer=_begin, initargs=initialize_with) as pool:
            try:
                yield pool
            except BaseException:  # an interrupted command waits for nobody
                for process in [*(pool._processes or {}).values()]:  # noqa: SLF001 - `kill_workers` came with 3.14
                    process.kill()
                raise
    finally:
        del os.environ[_SAFE_PATH]
        if before is not None:
            os.environ[_SAFE_PATH] = before


def _begin(initialize: Callable[..., None] | None, arguments: tuple[object, ...]) -> None:
    """Prepare a worker process: it leaves signals to the process that started it, and ends with it.

    Otherwise it would wait for work for ever, since it holds both ends of the pipe through which that would come.
    """
    import signal
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()
    if initialize:
        initialize(*arguments)


def _end_with_parent() -> None:
    import multiprocessing

    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def in_parts(
    work: Callable[[Iterable[Item]], Any],
    items: Sequence[Item],
    least: int,
    show: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[Any]:
    """Return what `work` returns for each part of `items`: a part for each core, where each has about `least` of them.

    For short work, compared with which `workers` take long to start. All parts but the first are done by forked
    processes, which send their result as JSON; what one does not send is done here.

    `show` is told how many are done: of its own this process knows it, and the others are as far.
    """
    number = min(cores(), len(items) // least) if _may_fork() else 1
    size = -(-len(items) // number) if number > 1 else len(items)
    others = [items[at : at + size] for at in range(size, len(items), size)] if size else []
    with ExitStack() as stack:
        pipes = [stack.enter_context(_forked(work, part)) for part in others]
        own = work(_counted(items[:size], number, len(items), show))
        return [own, *(_sent(pipe, work, part) for pipe, part in zip(pipes, others, strict=True))]


def _counted(own: Sequence[Item], number: int, every: int, show: Callable[[int, int], None]) -> Iterator[Item]:
    for done, each in enumerate(own):
        show(done * max(number, 1), every)
        yield each


def cores() -> int:
    """Return how many processes can run at the same time."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _may_fork() -> bool:
    import threading

    return _METHOD == "fork" and threading.active_count() == 1


@contextmanager
def _forked(work: Callable[[Iterable[Item]], Any], part: Sequence[Item]) -> Iterator[IO[bytes]]:
    """Begin a part in a forked process, and yield the pipe through which it sends the result; end it afterwards."""
    import signal

    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        try:
            process = os.fork()
        except OSError:  # there are too many processes: nothing will be sent
            os.close(writing)
            yield pipe
            return
        if process == 0:
            _send(writing, work, part)
        os.close(writing)
        try:
            yield pipe
        finally:
            os.kill(process, signal.SIGKILL)  # an interrupted command waits for nobody
            os.waitpid(process, 0)


def _send(writing: int, work: Callable[[Iterable[Item]], Any], part: Sequence[Item]) -> NoReturn:
    """Send the result of a part as JSON, and end this process, with nothing of what it has inherited."""
    import json

    try:
        with os.fdopen(writing, "wb") as stream:
            stream.write(json.dumps(work(part)).encode())
    finally:  # a fault is met, and told, by the other process
        os._exit(0)


def _sent(pipe: IO[bytes], work: Callable[[Iterable[Item]], Any], part: Sequence[Item]) -> Any:  # noqa: ANN401 - JSON
    import json

    try:
        return json.loads(pipe.read())
    except ValueError:
        return work(part)

"""Has a bucket done by child processes, one after the other, and tells which repository breaks them.

A child says which repository it begins. One that ends early, or says nothing for too long, is tried once more with that
repository as the first; where it breaks again, the next child passes it over, and its row says why. So a bucket always
gets done, whatever is in it, by this process or by a worker of a scheduler.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from taskstate.errors import TaskstateError
from taskstate.fleet.part import OUT_OF_MEMORY
from taskstate.fleet.parts import Done
from taskstate.storage import programs
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping
    from concurrent.futures import Future
    from typing import TypeAlias

    Submit: TypeAlias = Callable[[Mapping[str, Any]], Future[Done]]

_PROGRAM = "taskstate.fleet.part"
_TRIES = 2
_CHUNK = 64 * 1024
_MOST_SAID = 300  # characters of what a child said at its end


class Stopped(Exception):
    """Nobody waits for the bucket any more."""


class Children:
    """The children that are at work; after `stop` there are none, and none begins."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False

    def start(self, folder: Path) -> subprocess.Popen[bytes]:
        """Start a child in a folder.

        Raises:
            Stopped: the command is ending.
        """
        with self._lock:
            if self._is_stopped:
                raise Stopped
            child = programs.start_module(_PROGRAM, folder)
            self._running.add(child)
            return child

    def end(self, child: subprocess.Popen[bytes]) -> int:
        """End a child, with what it started, and return its exit status; below 0 it is a signal."""
        with self._lock:
            self._running.discard(child)
            programs.end(child)  # also one that has ended: git that it started may wait for ever
            status = child.wait()
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream:
                stream.close()
        return status

    def stop(self) -> None:
        """End all children."""
        with self._lock:
            self._is_stopped = True
            for child in self._running:
                programs.end(child)


@contextmanager
def local(number: int) -> Iterator[Submit]:
    """Yield what has a bucket done by a child of this process, so many at a time; at the end all have ended."""
    children = Children()
    with ThreadPoolExecutor(number) as pool:
        try:
            yield lambda job: pool.submit(done_bucket, job, children)
        finally:
            children.stop()
            pool.shutdown(cancel_futures=True)


class End(NamedTuple):
    """How a child ended: what it made, or the repository that it was at, and why it broke."""

    done: Done | None = None
    at: str = ""
    why: str = ""


def done_bucket(job: Mapping[str, Any], children: Children) -> Done:
    """Return what the part of a job holds, when it is done.

    Raises:
        TaskstateError: the part cannot be made, whatever is in it.
        Stopped: the command is ending.
    """
    crashed: dict[str, str] = {}
    broke, first = Counter[str](), ""
    while True:
        end = tried({**job, "crashed": crashed, "first": first}, children)
        if end.done:
            return end.done
        broke[end.at] += 1
        first = end.at
        if broke[end.at] >= _TRIES:
            if not end.at or end.at in crashed:
                help_ = "run it again; if that does not help, give `worker-mb` of `[fleet]` a larger number"
                raise TaskstateError(f"a part cannot be made: {end.why}", help=help_, code="command-failed")
            crashed[end.at] = end.why


def tried(job: Mapping[str, Any], children: Children) -> End:
    """Return how one child ends that is given a job.

    Raises:
        TaskstateError: it refuses to do it.
        Stopped: the command is ending.
    """
    child, at, doing = children.start(Path(job["out"])), "", ""
    said = b""
    why = ""
    try:
        _send(child, job)
        end = time.monotonic() + job["repository_seconds"]
        while True:
            piece = _heard(child, end - time.monotonic())
            if piece is None:
                why = f"it took longer than {job['repository_seconds']} s"
                break
            if not piece:
                break
            *lines, said = (said + piece).split(b"\n")
            for line in lines:
                told = json.loads(line)
                if "refused" in told:
                    raise TaskstateError(told["refused"], help="nothing of it is in the index", code="command-failed")
                if "done" in told:
                    return End(Done(**told["done"]))
                at, end = told["at"], time.monotonic() + job["repository_seconds"]
                doing = told.get("while", "")
    finally:
        last = _last_words(child) if not why else ""
        status = children.end(child)
    return End(at=at, why=doing + (why or _reason(status, last, job)))


def _send(child: subprocess.Popen[bytes], job: Mapping[str, Any]) -> None:
    if child.stdin:
        try:
            child.stdin.write(json.dumps(job).encode("ascii") + b"\n")
        except BrokenPipeError:  # its end says why
            return


def _heard(child: subprocess.Popen[bytes], seconds: float) -> bytes | None:
    """Return what a child says next: nothing at its end, None where it says nothing for so long."""
    if child.stdout is None or not select.select([child.stdout], [], [], max(seconds, 0))[0]:
        return None
    return os.read(child.stdout.fileno(), _CHUNK)


def _last_words(child: subprocess.Popen[bytes]) -> str:
    """Return the last line that a child which has ended wrote on standard error."""
    if child.stderr is None or not select.select([child.stderr], [], [], 0)[0]:
        return ""
    lines = os.read(child.stderr.fileno(), _CHUNK).decode("utf-8", "replace").split("\n")
    return next((one_line(each)[:_MOST_SAID] for each in reversed(lines) if each.strip()), "")


def _reason(status: int, last: str, job: Mapping[str, Any]) -> str:
    if status == OUT_OF_MEMORY:
        return f"it takes more than {job['worker_mb']} MB of memory"
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return f"{how}: {last}" if last else how

"""Runs by a real Dask scheduler with real workers on loopback: the same bytes, whatever is killed; `make fleet`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.fleet import manifest, parts, scheduler
from taskstate.storage import files, installed
from tests.fleet.test_runs import bytes_of, mirrors, serial
from tests.support.place import refusal
from tests.support.processes import is_gone

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["mirrors", "serial"]

by_request = pytest.mark.skipif("FLEET" not in os.environ, reason="`make fleet` runs it")
_PATIENCE = 60  # seconds
_PROGRAM = "import sys; from dask.__main__ import main; sys.argv[0] = 'dask'; main()"


class Cluster:
    """A scheduler on a port of its own, and the workers that a test starts; at the end all are gone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = ExitStack()
        self._started = 0
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", "where")
        where = folder / "where"
        _until(lambda: where.exists() and where.stat().st_size > 0)
        self.address: str = json.loads(where.read_text("utf-8"))["address"]

    def worker(self, before: str = "") -> subprocess.Popen[bytes]:
        """Start a worker, which runs a line of Python before, and wait until the scheduler knows of it."""
        self._started += 1
        words = ("--no-nanny", "--nthreads", "1", "--local-directory", str(self.folder))
        started = self._start("worker", self.address, *words, before=before)
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(self._started, timeout=_PATIENCE)
        return started

    def _start(self, *words: str, before: str = "") -> subprocess.Popen[bytes]:
        program = [sys.executable, "-c", f"{before}\n{_PROGRAM}", *words, "--no-dashboard"]
        with Path(self.folder, "log").open("ab") as log:
            started = subprocess.Popen(program, cwd=self.folder, stdout=log, stderr=log)
        self._stack.callback(started.wait)
        self._stack.callback(started.kill)
        return started

    def close(self) -> None:
        """End all of it."""
        self._stack.close()


def _until(is_so: object) -> None:
    assert callable(is_so)
    end = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Return a scheduler without workers."""
    with closing(Cluster(tmp_path)) as made:
        yield made


def _client(cluster: Cluster, mirrors: Path, out: Path, buckets: int = 2) -> subprocess.Popen[bytes]:
    if not out.exists():
        out.mkdir(mode=0o700)
        manifest.begin(out, buckets)
    words = ["fleet", "index", str(mirrors), "--out", str(out), "--scheduler", cluster.address]
    program = [sys.executable, "-m", "taskstate", *words]
    return subprocess.Popen(program, cwd=cluster.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _said(client: subprocess.Popen[bytes]) -> tuple[int, str]:
    with client:
        try:
            said = client.communicate(timeout=2 * _PATIENCE)[1].decode()
        finally:
            client.kill()
    return client.returncode, said


def _child_of(worker: subprocess.Popen[bytes]) -> int:
    """Wait until a worker has begun a part, and return the process that makes it."""
    found = Path(f"/proc/{worker.pid}/task")

    def children() -> list[int]:
        return [int(each) for task in found.iterdir() for each in (task / "children").read_text("utf-8").split()]

    _until(lambda: any(map(_makes_part, children())))
    return next(filter(_makes_part, children()))


def _makes_part(process: int) -> bool:
    return b"taskstate.fleet.part" in Path(f"/proc/{process}/cmdline").read_bytes()


@by_request
@pytest.mark.slow
def test_workers_make_the_same_bytes(cluster: Cluster, mirrors: Path, serial: Path, tmp_path: Path) -> None:
    """What two workers make is what one child makes, to the byte; and again nothing is read."""
    cluster.worker()
    cluster.worker()
    assert _said(_client(cluster, mirrors, tmp_path / "out")) == (0, "")
    assert bytes_of(tmp_path / "out") == bytes_of(serial)
    cluster.scheduler.kill()  # what has not changed needs nobody
    assert _said(_client(cluster, mirrors, tmp_path / "out")) == (0, "")


@by_request
@pytest.mark.slow
def test_a_killed_worker_changes_nothing(cluster: Cluster, mirrors: Path, serial: Path, tmp_path: Path) -> None:
    """Its bucket is done by another one; its child ends with it, and leaves nothing."""
    first, _ = cluster.worker(), cluster.worker()
    client = _client(cluster, mirrors, tmp_path / "out")
    child = _child_of(first)
    first.kill()
    assert _said(client) == (0, "")
    assert is_gone(child)
    assert bytes_of(tmp_path / "out") == bytes_of(serial)


@by_request
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_after_a_killed_client_the_same_command_goes_on(
    cluster: Cluster, mirrors: Path, serial: Path, tmp_path: Path, number: int
) -> None:
    """Its children end soon, and run again it makes the same bytes, without anything left of before."""
    worker = cluster.worker()
    client = _client(cluster, mirrors, tmp_path / "out")
    child = _child_of(worker)
    os.kill(client.pid, number)
    assert _said(client)[0] != 0
    assert _said(_client(cluster, mirrors, tmp_path / "out")) == (0, "")
    assert is_gone(child)
    assert bytes_of(tmp_path / "out") == bytes_of(serial)


@by_request
@pytest.mark.slow
def test_a_lost_scheduler_ends_the_run(cluster: Cluster, mirrors: Path, serial: Path, tmp_path: Path) -> None:
    """It is told in one line, how far the run came too, and another scheduler goes on."""
    worker = cluster.worker()
    client = _client(cluster, mirrors, tmp_path / "out")
    child = _child_of(worker)
    cluster.scheduler.kill()
    status, said = _said(client)
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith(f"taskstate: the scheduler at {cluster.address} is gone: start it again; 0 of 2 buckets are")
    assert manifest.newest(tmp_path / "out") is None
    other = tmp_path / "other"
    other.mkdir()
    with closing(Cluster(other)) as again:
        again.worker()
        assert _said(_client(again, mirrors, tmp_path / "out")) == (0, "")
    assert bytes_of(tmp_path / "out") == bytes_of(serial)
    _until(lambda: is_gone(child))


@by_request
@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "says"),
    [
        ("import taskstate.version; taskstate.version.VERSION = '0.0.1'", "taskstate 0.0.1, not "),
        ("import sys; sys.modules['taskstate'] = None", "taskstate"),
        ("import os; os.environ['PATH'] = '/nowhere'", "git was not found"),
    ],
)
def test_a_worker_that_cannot_do_it_is_named_before_work(
    cluster: Cluster, mirrors: Path, tmp_path: Path, before: str, says: str
) -> None:
    """It would leave out what it cannot read, or write it elsewhere: nothing is begun."""
    cluster.worker()
    cluster.worker(before)
    status, said = _said(_client(cluster, mirrors, tmp_path / "out"))
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith("taskstate: the worker tcp://127.0.0.1:")
    assert says in said
    assert [*(tmp_path / "out" / parts.FOLDER).iterdir()] == []


@by_request
@pytest.mark.slow
def test_who_is_not_there_is_told(cluster: Cluster, mirrors: Path, tmp_path: Path) -> None:
    """A scheduler without workers, and an address where none is, are each told with what starts one."""
    status, said = _said(_client(cluster, mirrors, tmp_path / "out"))
    assert (status, f"has no worker: start one: `dask worker {cluster.address}`" in said) == (2, True)
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    status, said = _said(_client(cluster, mirrors, tmp_path / "out"))
    assert (status, said.count("\n")) == (2, 1)
    assert f"there is no scheduler at {cluster.address}: start it: `dask scheduler`" in said


@by_request
@pytest.mark.slow
def test_a_bucket_that_ends_its_workers_is_told(cluster: Cluster, mirrors: Path, tmp_path: Path) -> None:
    """After so many workers as Dask allows the run ends, and says what helps."""
    for _ in range(4):
        cluster.worker("import os, taskstate.fleet.scheduler as it; it.done_bucket = lambda *_: os._exit(1)")
    status, said = _said(_client(cluster, mirrors, tmp_path / "out", buckets=1))
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith("taskstate: a bucket ended 4 workers, the last one at tcp://127.0.0.1:")
    assert "0 of 1 bucket are done: run it again" in said


@by_request
def test_what_lacks_certificates_is_told() -> None:
    """Dask says of a `tls://` without them that an argument is missing."""
    told = refusal(lambda: scheduler.remote("tls://127.0.0.1:1", {}).__enter__())
    assert told.message.startswith("the scheduler at tls://127.0.0.1:1 cannot be asked: ")
    assert "`distributed.comm.tls`" in told.help


# Without a scheduler


def test_a_worker_says_what_is_in_its_way(tmp_path: Path) -> None:
    """It has to be of the same version, see the folder of this run and the sources, and be able to write."""
    there, gone = {"place": str(tmp_path), "status": "ok"}, {"place": str(tmp_path / "none"), "status": "error"}
    job = {"out": str(tmp_path), "nonce": "n", "versions": parts.versions(), "repositories": [gone, there]}
    assert "does not see the folder of the run" in scheduler.hindrance(job)
    (tmp_path / parts.PROBE).write_text("n", "utf-8")
    assert scheduler.hindrance(job) == ""
    assert files.names(tmp_path) == (parts.PROBE,)
    assert "taskstate 0" in scheduler.hindrance(job | {"versions": {"taskstate": "9"}})
    job["repositories"] = [gone | {"status": "ok"}]
    assert scheduler.hindrance(job) == f"it does not see {tmp_path}/none"


@pytest.mark.parametrize(
    ("address", "full"),
    [
        ("localhost:8786", "tcp://localhost:8786"),
        ("127.0.0.9:1", "tcp://127.0.0.9:1"),
        ("tcp://[::1]:8786", "tcp://[::1]:8786"),
        ("tls://dask.example:8786", "tls://dask.example:8786"),
    ],
)
def test_an_address_that_nobody_else_reaches_is_taken(address: str, full: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On this machine, or with certificates."""
    monkeypatch.setattr(installed, "lacks", lambda _: False)
    assert scheduler.require_usable(address, insecure=False) == full
    assert scheduler.require_usable("tcp://10.0.0.1:1", insecure=True) == "tcp://10.0.0.1:1"


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("10.0.0.1:8786", "whoever can reach tcp://10.0.0.1:8786, or listens on the way"),
        ("tcp://localhost.example:8786", "can run programs on all workers"),
        ("tcp://0.0.0.0:8786", "can run programs on all workers"),
        ("dask.example", "takes the address of a Dask scheduler"),
        ("http://127.0.0.1:8786", "takes the address of a Dask scheduler"),
        ("tcp://ann:pa55@127.0.0.1:8786", "takes the address of a Dask scheduler"),
        ("tcp://127.0.0.1:99999", "takes the address of a Dask scheduler"),
        ("tcp://[::1:8786", "takes the address of a Dask scheduler"),
        ("127.0.0.1:8786", "--scheduler needs the package distributed: run `"),
    ],
)
def test_other_addresses_are_refused(address: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line that says why, without what may be a password."""
    monkeypatch.setattr(installed, "lacks", lambda _: True)
    told = str(refusal(lambda: scheduler.require_usable(address, insecure=False)))
    assert says in told
    assert "pa55" not in told

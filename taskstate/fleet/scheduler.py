"""Has buckets done by the workers of a Dask scheduler: each starts the same child as one would here, and waits.

A task may be done twice, by a worker that was only thought lost; it returns what its part says of itself, and the rows
are in the folder of the index, which all workers see. Scheduler and workers exchange pickles, so whoever reaches the
port of one runs code as its user.
"""

from __future__ import annotations

import secrets
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.fleet import heads, parts, stores
from taskstate.fleet.workers import Children, done_bucket
from taskstate.storage import files, folders, installed
from taskstate.storage.git import client as git
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from distributed import Client

    from taskstate.fleet.parts import Done
    from taskstate.fleet.workers import Submit

_PATIENCE = 10  # seconds for a scheduler to answer, and for a worker to be there
_RETRIES = 2  # of a task that failed on one machine
_SECURE, _PLAIN = "tls", "tcp"


def require_usable(address: str, *, insecure: bool) -> str:
    """Return the address of a scheduler with its protocol.

    Raises:
        TaskstateError: code "usage": it is none, or anybody between here and there could run code; "missing-extra".
    """
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    full = address if "://" in address else f"{_PLAIN}://{address}"
    try:
        parsed = urlsplit(full)
        host, is_complete = parsed.hostname or "", bool(parsed.port)
    except ValueError:
        host, is_complete, parsed = "", False, urlsplit("")
    is_complete = is_complete and parsed.netloc == full.partition("://")[2] and "@" not in parsed.netloc
    if parsed.scheme not in {_SECURE, _PLAIN} or not (host and is_complete):
        help_ = "such as tls://HOST:8786, or tcp://127.0.0.1:8786"
        raise TaskstateError("--scheduler takes the address of a Dask scheduler", help=help_, code="usage")
    try:
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if parsed.scheme == _PLAIN and not (is_here or insecure):
        message = f"whoever can reach {files.shown(full)}, or listens on the way, can run programs on all workers"
        help_ = (
            "use tls:// with the certificates of Dask's configuration, or say --insecure-scheduler in a closed network"
        )
        raise TaskstateError(message, help=help_, code="usage")
    if installed.lacks("fleet"):
        help_ = f"run `{installed.adding('fleet')}`"
        raise TaskstateError("--scheduler needs the package distributed", help=help_, code="missing-extra")
    return full


@contextmanager
def remote(address: str, job: Mapping[str, Any]) -> Iterator[Submit]:
    """Yield what has a bucket done by some worker; `job` is one of those to come, by which each worker is tried.

    Raises:
        TaskstateError: the scheduler cannot be reached, or no more; a worker cannot do the job.
    """
    import dask

    # Its own lines about a lost connection, with a traceback, would stand beside ours.
    with dask.config.set({"logging": dict.fromkeys(("distributed", "distributed.client", "tornado"), "critical")}):
        from distributed import Client, KilledWorker
    shown = files.shown(address)
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except OSError as error:
        message = f"there is no scheduler at {shown}"
        raise TaskstateError(message, help="start it: `dask scheduler`", code="scheduler") from error
    except (TypeError, ValueError, RuntimeError) as error:
        message = one_line(f"the scheduler at {shown} cannot be asked: {error}")
        help_ = "for tls:// name the certificates: `distributed.comm.tls` in Dask's configuration"
        raise TaskstateError(message, help=help_, code="scheduler") from error
    try:
        with client:
            _require_able(client, shown, job)
            pool = client.get_executor(pure=False, retries=_RETRIES)
            try:
                yield lambda job: pool.submit(done, job)
            finally:
                pool.shutdown(wait=False)
    except CancelledError as error:
        message = f"the scheduler at {shown} is gone"
        raise TaskstateError(message, help="start it again", code="scheduler") from error
    except KilledWorker as error:
        message = f"a bucket ended {error.allowed_failures + 1} workers, the last one at {error.last_worker.address}"
        help_ = "give the workers more memory than `worker-mb` of `[fleet]` for each of their threads"
        raise TaskstateError(message, help=help_, code="scheduler") from error


def done(job: Mapping[str, Any]) -> Done:
    """Do a bucket: the task that a worker gets."""
    return done_bucket(job, Children())


def _require_able(client: Client, shown: str, job: Mapping[str, Any]) -> None:
    """Refuse to begin where a worker could not do its work; what it would leave out was not missing."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
        told = client.run(hindrance, job, on_error="return")
    except TimeoutError as error:
        message = f"the scheduler at {shown} has no worker"
        raise TaskstateError(message, help=f"start one: `dask worker {shown}`", code="scheduler") from error
    except OSError as error:
        raise TaskstateError(f"the scheduler at {shown} is gone", help="start it again", code="scheduler") from error
    for worker, why in sorted(told.items()):
        if why:
            named = one_line(f"the worker {worker} cannot do it: {why}")
            raise TaskstateError(named, help="fix that, or end the worker", code="scheduler")


def _unseen(place: str) -> str:
    """Return why a repository cannot be read here; empty if it can.

    Raises:
        TaskstateError: why one in a store cannot.
    """
    if stores.is_address(place):
        stores.listed(stores.checked(place))
        return ""
    return "" if folders.exists(place) else f"it does not see {files.shown(place)}"


def hindrance(job: Mapping[str, Any]) -> str:
    """Return why a worker cannot do a job; empty if it can."""
    out = Path(job["out"])
    written = out / f"{parts.PROBE}-{secrets.token_hex(8)}"
    try:
        parts.require_same(job)
        git.require_version()
        files.create(written, b"")
        files.delete(written)
        for each in job["repositories"]:
            if each["status"] == heads.OK:
                return _unseen(each["place"])
    except TaskstateError as error:
        return str(error)
    return ""

"""The folder of an index: what it was made with, and the manifests, of which the newest says what belongs together.

A manifest is written last. Who reads takes the newest one that is whole, and sees one run, never half of another.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from pathlib import Path

from taskstate.errors import LockTimeout, TaskstateError
from taskstate.fleet import parts
from taskstate.messages import counted, quoted
from taskstate.query import engine
from taskstate.storage import files, folders, lock
from taskstate.storage.paths import real
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from taskstate.query.engine import Bounds

_MADE_WITH, _LOCK = "fleet.json", "lock"
_FIRST = {_LOCK, parts.FOLDER, parts.PROBE}  # what a run that was killed at its beginning leaves
_NAME = re.compile(r"manifest-(\d{1,9})\.json")
_PART = re.compile(r"\d{5}-[0-9a-f]{32}(?:-\d{1,9})?")
_MOST = 256 * 1024**2
_LAYOUT = 1


class Manifest(NamedTuple):
    """One run: its number and time, the versions, the names of the parts, and how many repositories it covers."""

    number: int
    at: str
    versions: Mapping[str, str]
    parts: Sequence[str]
    repositories: int
    rows: Mapping[str, int]
    errors: int


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Hold the folder of an index, which is made if it is not there.

    Raises:
        TaskstateError: code "lock-timeout": another run is at it; "usage": something else is in it; or it cannot be
            written.
    """
    if not engine.is_unicode(str(out)):
        raise TaskstateError(f"{files.shown(out)} is not UTF-8", help="give the folder another name", code="bad-name")
    try:
        others = files.names(out)
        if _MADE_WITH not in others and not all(each in _FIRST or files.is_temporary(each) for each in others):
            message = f"{files.shown(out)} is not an index, and not empty"
            raise TaskstateError(message, help="name a folder that is not there yet", code="usage")
        with files.os_errors("write", out):
            files.make_folder(out, 0o700)
            files.make_folder(out / parts.FOLDER, 0o700)
        with lock.locked(out / _LOCK, timeout=0):
            parts.sweep(out)
            try:
                yield
            finally:
                parts.sweep(out)
    except LockTimeout as error:
        message = f"another run is writing {files.shown(out)}, by {lock.holder(out / _LOCK) or 'somebody'}"
        raise TaskstateError(
            message, help="wait until it has ended, then run this again", code="lock-timeout"
        ) from error


def is_at_work(out: Path) -> bool:
    """Return whether a run is writing the index at this moment."""
    try:
        return folders.exists(out / _LOCK) and not lock.is_free(out / _LOCK)
    except TaskstateError:  # who may only read the index does not learn it
        return False


def repositories(number: int) -> str:
    """Return a number of repositories in words."""
    return f"{number} repositor{'y' if number == 1 else 'ies'}"


def told(manifest: Manifest) -> str:
    """Return in words how much a run covers."""
    return f"{repositories(manifest.repositories)}, {counted(manifest.rows.get('files', 0), 'file')}"


def buckets(out: Path) -> int | None:
    """Return the number of buckets that an index was made with; None for a new one."""
    with suppress(TaskstateError, ValueError, KeyError, TypeError):
        number = json.loads(files.read(out / _MADE_WITH))["buckets"]
        if isinstance(number, int) and 1 <= number <= parts.MOST_BUCKETS:
            return number
    return None


def begin(out: Path, number: int) -> None:
    """Write down the number of buckets of a new index."""
    files.replace(out / _MADE_WITH, _json({"layout": _LAYOUT, "buckets": number}))


def newest(out: Path) -> Manifest | None:
    """Return the newest manifest that is whole."""
    return next(_listed(out), None)


def required(out: str) -> tuple[Path, Manifest]:
    """Return the folder of an index with its newest manifest.

    Raises:
        TaskstateError: code "not-found": there is none.
    """
    folder = Path(real(out))
    found = newest(folder)
    if found is None:
        message = f"there is no index in {files.shown(folder)}"
        help_ = f"make it: `taskstate fleet index SOURCE --out {quoted(files.shown(out))}`"
        raise TaskstateError(message, help=help_, code="not-found")
    return folder, found


def named_parts(out: Path) -> set[str]:
    """Return the names of all parts that some manifest names."""
    return {name for each in _listed(out) for name in each.parts}


def next_number(out: Path) -> int:
    """Return the number of the next run, above that of every manifest, whole or not."""
    return max(_numbers(out), default=0) + 1


def write(out: Path, manifest: Manifest) -> None:
    """Write a manifest."""
    files.replace(out / f"manifest-{manifest.number}.json", _json(manifest._asdict()))


def dones(out: Path, manifest: Manifest) -> list[parts.Done]:
    """Return what the parts of a manifest say of themselves.

    Raises:
        TaskstateError: code "not-found": one is lost.
    """
    found = []
    for name in manifest.parts:
        done = parts.read_done(out / parts.FOLDER / name)
        if done is None:
            message = f"the index lacks a part: {files.shown(out / parts.FOLDER / name)}"
            raise TaskstateError(message, help="index the same sources again", code="not-found")
        found.append(done)
    return found


@contextmanager
def asking(out: str, bounds: Bounds) -> Iterator[DuckDBPyConnection]:
    """Yield a connection to an index that can only be asked.

    Raises:
        TaskstateError: there is no index, or a part of it is lost.
    """
    folder, found = required(out)
    tables = parts.tables_of(folder, found.parts, dones(folder, found))
    with engine.locked_parquet(folder / parts.FOLDER, tables, bounds) as connection:
        yield connection


def clean(out: Path, keep: int) -> tuple[int, int]:
    """Delete all manifests but the newest ones, and the parts that none of these names; return how many of both."""
    kept = [each for each, _ in zip(_listed(out), range(keep), strict=False)]
    numbers, names = {each.number for each in kept}, {name for each in kept for name in each.parts}
    old = [number for number in _numbers(out) if number not in numbers]
    for number in old:
        files.delete(out / f"manifest-{number}.json")
    unused = [name for name in files.names(out / parts.FOLDER) if _PART.fullmatch(name) and name not in names]
    for name in unused:
        parts.remove(out / parts.FOLDER / name)
    return len(old), len(unused)


def _numbers(out: Path) -> list[int]:
    found = (_NAME.fullmatch(name) for name in files.names(out))
    return sorted((int(each[1]) for each in found if each), reverse=True)


def _listed(out: Path) -> Iterator[Manifest]:
    for number in _numbers(out):
        with suppress(TaskstateError, ValueError, TypeError):
            found = Manifest(**json.loads(files.read(out / f"manifest-{number}.json", _MOST)))
            is_whole = "taskstate" in found.versions and isinstance(found.rows, dict)
            if is_whole and all(_PART.fullmatch(each) for each in found.parts):
                yield found


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode("ascii")

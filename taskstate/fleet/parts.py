"""The parts of an index: a folder of Parquet files for each bucket of repositories, which is complete or not there.

A part is made beside its place and gets its name last, when all of it is on the disk. Its name says what it was made
of, so that whoever needs the same again takes it as it is.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from math import ceil
from pathlib import Path

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.query import engine, tables
from taskstate.query.rows import ndjson
from taskstate.storage import durable, files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from taskstate.fleet.heads import Head
    from taskstate.query.tables import Row

FOLDER, DONE, UNFINISHED = "parts", "done.json", ".tmp"
PROBE = "probe"  # the file by which a worker knows that it sees the folder of the index
_MOST_DONE = 64 * 1024**2
MOST_BUCKETS = 16_384
_A_BUCKET = 32  # repositories, at most, on average


class Done(NamedTuple):
    """What a finished part says of itself: `rows`, `bytes` and `sha256` by table, and repositories not read.

    `settings` and `keys`, by repository, say what its rows follow from; those of what `rests_on_clock` hold findings
    that go away by themselves.
    """

    rows: Mapping[str, int]
    bytes: Mapping[str, int]
    sha256: Mapping[str, str]
    repositories: int
    errors: Sequence[Mapping[str, str]]
    rests_on_clock: Sequence[str]
    settings: str
    keys: Mapping[str, str]


def bucket_of(name: str, buckets: int) -> int:
    """Return the bucket of a repository: the same in every run."""
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest()[:8]) % buckets


def number_of_buckets(heads: Iterable[Head], bucket_mb: int) -> int:
    """Return how many buckets an index of repositories gets, by how many and how large they are."""
    objects = [each.objects for each in heads if each.objects]
    needed = max(len(objects) / _A_BUCKET, sum(map(_size, objects)) / (bucket_mb * 1024**2), 1)
    return min(1 << (ceil(needed) - 1).bit_length(), MOST_BUCKETS)


def _size(objects: str) -> int:
    """Return the size of a repository's packs."""
    with suppress(OSError):
        return sum(status.st_size for _, status in folders.walked_statuses(folders.walk(f"{objects}/pack")))
    return 0


def versions() -> dict[str, str]:
    """Return what the bytes of a part depend on besides the repositories."""
    own = {"taskstate": VERSION, "code": resources.digest()[:12], "tables": str(tables.version())}
    return own | {"duckdb": engine.version()}


def require_same(job: Mapping[str, Any]) -> None:
    """Refuse to work where the run that a job is of has another version, or means another folder.

    Raises:
        TaskstateError: code "version", or as `require_at_work`.
    """
    ours = versions()
    if ours != job["versions"]:
        others = {name: job["versions"].get(name) for name in ours}
        told = ", ".join(f"{name} {ours[name]}, not {others[name]}" for name in ours if ours[name] != others[name])
        help_ = "install the same versions on all machines"
        raise TaskstateError(f"a worker has other versions: {told}", help=help_, code="version")
    require_at_work(job)


def require_at_work(job: Mapping[str, Any]) -> None:
    """Refuse to go on when the run that a job is of is over, or to begin in another folder than its own.

    Raises:
        TaskstateError: code "path".
    """
    probe = Path(job["out"]) / PROBE
    with suppress(OSError, TaskstateError):
        if files.read(probe) == job["nonce"].encode("ascii"):
            return
    message = f"a worker does not see the folder of the run at {files.shown(probe.parent)}"
    raise TaskstateError(message, help="name one that all share: --out FOLDER", code="path")


def digest_of(settings: Mapping[str, object]) -> str:
    """Return the digest of what the rows of every repository follow from, but for itself and the clock."""
    return _digest(settings)


def key_of(head: Head) -> str:
    """Return the digest of what the rows of a repository follow from besides."""
    return _digest([head.status, head.ref, head.commit, head.error])


def name_of(bucket: int, settings: str, keys: Mapping[str, str]) -> str:
    """Return the name of the part of a bucket with these repositories."""
    return f"{bucket:05}-{_digest([settings, sorted(keys.items())])}"


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def read_done(folder: Path) -> Done | None:
    """Return what a part says of itself; None where it is not complete."""
    try:
        done = Done(**json.loads(files.read(folder / DONE, _MOST_DONE)))
        sizes = {name: folders.status(folder / f"{name}.parquet").st_size for name in done.bytes}
    except (OSError, ValueError, TypeError, TaskstateError):
        return None
    return done if sizes == dict(done.bytes) else None


def is_intact(folder: Path, done: Done) -> bool:
    """Return whether the files of a part still have the content that they were made with."""
    try:
        found = {name: durable.digest(folder / f"{name}.parquet") for name in done.sha256}
    except OSError:
        return False
    return found == dict(done.sha256)


class Rows:
    """Rows on their way into a part: files of NDJSON in a folder, one a table, that can be taken back to a mark."""

    def __init__(self, folder: Path) -> None:
        """Make the files in a folder that is there."""
        self._folder = folder
        self._streams = {name: durable.stream(folder / f"{name}.ndjson") for name in tables.tables()}
        self.count = dict.fromkeys(self._streams, 0)

    def add(self, name: str, rows: Sequence[Row]) -> None:
        """Add rows to a table."""
        if rows:
            self._streams[name].write(ndjson(rows))
            self.count[name] += len(rows)

    def length(self) -> int:
        """Return how many bytes there are."""
        return sum(stream.tell() for stream in self._streams.values())

    def mark(self) -> dict[str, tuple[int, int]]:
        """Return how far all tables are."""
        return {name: (stream.tell(), self.count[name]) for name, stream in self._streams.items()}

    def back(self, mark: Mapping[str, tuple[int, int]]) -> None:
        """Take away what was added since a mark."""
        for name, (size, count) in mark.items():
            self._streams[name].seek(size)
            self._streams[name].truncate()
            self.count[name] = count

    def as_parquet(self, folder: Path, memory_mb: int, old: Path | None, kept: Sequence[str]) -> dict[str, int]:
        """Write all rows, with those that an old part has of some repositories, and return how many a table has."""
        found = {}
        for stream in self._streams.values():
            stream.close()
        for name in self._streams:
            before = old / f"{name}.parquet" if old and folders.exists(old / f"{name}.parquet") else None
            rows = engine.TableRows(tables.types(name), self._folder / f"{name}.ndjson", before, kept)
            if not self.count[name] and before is None:
                continue
            found[name] = engine.sorted_parquet(rows, folder / f"{name}.parquet", memory_mb)
        return {name: count for name, count in found.items() if count}


def finish(made: Path, target: Path, about: Mapping[str, Any]) -> Done:
    """Make what stands in the folder `made` durable, and give it its name; who finds that taken discards his own."""
    names = sorted(files.names(made))
    done = Done(
        bytes={name.removesuffix(".parquet"): folders.status(made / name).st_size for name in names},
        sha256={name.removesuffix(".parquet"): durable.digest(made / name) for name in names},
        **about,
    )
    for name in names:
        durable.sync(made / name)
    text = json.dumps(done._asdict(), ensure_ascii=True, indent=1, sort_keys=True) + "\n"
    files.create(made / DONE, text.encode("ascii"))
    folders.sync(made)
    if folders.exists(target) and read_done(target) is None:
        folders.remove_all(target)
    try:
        folders.rename(made, target)
    except OSError:
        there = read_done(target)
        if there is None:
            raise
        folders.remove_all(made)
        return there
    folders.sync(target.parent)
    return done


def remove(folder: Path) -> None:
    """Delete a part, or what was to become one.

    Raises:
        TaskstateError: the system refuses.
    """
    with files.os_errors("delete", folder):
        folders.remove_all(folder)


def sweep(out: Path) -> None:
    """Delete what killed runs left; the caller holds the lock."""
    folder = out / FOLDER
    for name in files.names(folder):
        if name.endswith(UNFINISHED):
            with suppress(TaskstateError):  # a worker that was thought lost may be writing it; the next run sweeps, too
                remove(folder / name)
    files.sweep(out)


def tables_of(out: Path, names: Iterable[str], dones: Iterable[Done]) -> dict[str, list[Path]]:
    """Return the files of each table, by the parts that hold rows of it."""
    found: dict[str, list[Path]] = {name: [] for name in tables.tables()}
    listed = ((table, out / FOLDER / name) for name, done in zip(names, dones, strict=True) for table in done.bytes)
    for table, folder in listed:
        found[table].append(folder / f"{table}.parquet")
    return found

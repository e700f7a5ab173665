"""The index of one repository: what its files say, kept in one file of the private cache from run to run.

The file is a database of DuckDB that nobody changes: an index with what has changed is made beside it and put in its
place, so that a question never sees half of a change, and a killed run leaves the old one. It may be lost at any time.
"""

from __future__ import annotations

import os
import time
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.query import engine, rows, tables
from taskstate.query.rows import FileText, ndjson, rows_of
from taskstate.storage import folders, temporary
from taskstate.storage.file_sources import mark_of, settled_before
from taskstate.storage.git import client as git
from taskstate.storage.private import make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import VERSION
from taskstate.workspace import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from taskstate.query.tables import Row
    from taskstate.workspace.workspace import Workspace

FOLDER, _FILE, _NEW = "index", "index.duckdb", "new-"
_MARKS, _RESTS_ON = {"path": "VARCHAR", "mark": "VARCHAR"}, {"rests_on": "VARCHAR"}
_SHARE = 16  # files that a process reads at a time
_LEFT_FOR = 3600  # seconds after which nobody works in the folder of a run any more
_FEW = 64  # files to read for which no process is started


class Index(NamedTuple):
    """An index that is up to date: its file, and how many files were read for it, of how many."""

    path: Path
    read: int
    files: int


@contextmanager
def up_to_date(workspace: Workspace, *, rebuild: bool = False) -> Iterator[Index]:
    """Yield the index of a repository after reading what has changed; with `rebuild` all is read.

    Where nothing private can be written, or DuckDB cannot open it, it is made for this one time.
    """
    kept = workspace.private.cache(FOLDER)
    if kept and not engine.is_unicode(str(kept)):
        kept = None
    if kept:
        try:
            make_folder(kept)
        except TaskstateError:
            kept = None
    with temporary.folder(_NEW, kept) as made:
        if kept:
            _sweep(kept, made)
        old = kept / _FILE if kept and not rebuild and folders.is_file(kept / _FILE) else None
        index = _updated(workspace, old, made)
        if kept and index.path.parent == made:
            if folders.is_folder(kept / _FILE):  # a rename replaces everything else
                folders.remove_all(kept / _FILE)
            folders.rename(index.path, kept / _FILE)
            index = index._replace(path=kept / _FILE)
        yield index


def _sweep(kept: Path, made: Path) -> None:
    """Delete what killed runs left, long before this one began."""
    begun = folders.status(made).st_mtime
    for name in folders.names(kept):
        with suppress(OSError):  # another run has just done so
            if name.startswith(_NEW) and folders.status(kept / name).st_mtime < begun - _LEFT_FOR:
                folders.remove_all(kept / name)


def repository_name(workspace: Workspace) -> str:
    """Return the name that the repository has in all tables."""
    return os.path.basename(workspace.root) or "/"


def _updated(workspace: Workspace, old: Path | None, made: Path) -> Index:
    """Return the old index where nothing has changed since, else a new one in the folder `made`."""
    marks, rests_on = _marks(workspace), _rests_on(workspace)
    known = _known(old, rests_on) if old else None
    stale = [path for path, mark in marks.items() if known is None or not mark or known.get(path) != mark]
    gone = [path for path in known or () if path not in marks]
    if old and known is not None and not stale and not gone:
        return Index(old, 0, len(marks))
    new = made / _FILE
    with engine.filling(new) as connection:
        _create(connection)
        if old and known is not None and not _is_copied(connection, old, [*stale, *gone]):
            stale = [*marks]
        engine.load(connection, "rests_on", written(made, "rests_on", [{"rests_on": rests_on}]), _RESTS_ON)
        found: dict[str, list[Row]] = {name: [] for name in tables.of_files()}
        for each in _read_all(workspace, stale):
            for name, listed in each.items():
                found[name] += listed
        for name, listed in found.items():
            if listed:
                engine.load(connection, name, written(made, name, listed), tables.types(name))
        listed = [{"path": path, "mark": marks[path]} for path in stale]
        engine.load(connection, "marks", written(made, "marks", listed), _MARKS)
    return Index(new, len(stale), len(marks))


def _marks(workspace: Workspace) -> dict[str, str]:
    """Return the mark of each of our own files by its path; empty where it may change without getting another one."""
    settled, root = settled_before(time.time_ns()), workspace.root
    found: dict[str, str] = {}
    listed = listing.own_statuses(
        root, workspace.state_root, listing.is_own, git.OWN_PATTERNS, deep=workspace.is_repository
    )
    for path, status in listed:
        if not workspace.config.exclude or not workspace.excludes(root / path):
            is_settled = max(status.st_mtime_ns, status.st_ctime_ns) <= settled
            found[path] = mark_of(status) if is_settled else ""
    return dict(sorted(found.items()))


def _rests_on(workspace: Workspace) -> str:
    """Return all that rows depend on besides their files."""
    config = workspace.config
    parts = (VERSION, tables.version(), resources.fingerprint(), config.secrets, workspace.kinds)
    return "\n".join(map(str, (*parts, repository_name(workspace))))


def _known(path: Path, rests_on: str) -> dict[str, str] | None:
    """Return the marks of the files in an index; None where it rests on something else, or cannot be read."""
    with suppress(engine.error()), engine.reading(path) as connection:
        if connection.execute("SELECT rests_on FROM rests_on").fetchall() == [(rests_on,)]:
            return dict(connection.execute("SELECT path, mark FROM marks").fetchall())
    return None


def _create(connection: DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE rests_on (rests_on VARCHAR)")
    connection.execute("CREATE TABLE marks (path VARCHAR, mark VARCHAR)")
    for name in tables.of_files():
        connection.execute(tables.create(name))


def _is_copied(connection: DuckDBPyConnection, old: Path, without: list[str]) -> bool:
    """Copy the rows of the old index but for those of some paths; none, and False, where it is damaged."""
    connection.begin()
    try:
        for name in ("marks", *tables.of_files()):
            engine.copy(connection, old, name, without)
    except engine.error():  # a full disk is told when the files are read
        connection.rollback()
        return False
    connection.commit()
    return True


def written(folder: Path, name: str, listed: Iterable[Row]) -> Path:
    """Write rows into a file of NDJSON in a folder of ours, and return its path."""
    path = folder / f"{name}.ndjson"
    temporary.scratch_file(path, ndjson(listed))
    return path


def _read_all(workspace: Workspace, paths: list[str]) -> Iterator[rows.Rows]:
    """Yield the rows of files, in any order; in several processes where they are many."""
    from taskstate.storage import programs

    jobs = min(programs.cores(), len(paths) // _FEW)
    if jobs < 2:  # noqa: PLR2004 - one process is this one
        yield from _rows_of(workspace, workspace.counted("reading files", paths))
        return
    shares = [paths[at : at + _SHARE] for at in range(0, len(paths), _SHARE)]
    plain = type(workspace)(*workspace)  # without what it has looked up, and without the bar of this terminal
    with programs.workers(jobs, _begin, ()) as pool, workspace.bar("reading files") as show:
        for done, share in enumerate(pool.map(partial(_rows_of_share, plain), shares)):
            show(done * _SHARE, len(paths))
            yield from share


def _begin() -> None:
    """Begin a worker process: what it works on comes with each share."""


def _rows_of_share(workspace: Workspace, paths: list[str]) -> list[rows.Rows]:
    return [*_rows_of(workspace, paths)]


def _rows_of(workspace: Workspace, paths: Iterable[str]) -> Iterator[rows.Rows]:
    with closing(folders.Lookout()) as lookout:
        for path in paths:
            yield rows_of(_file(workspace, path, lookout))


def _file(workspace: Workspace, path: str, lookout: folders.Lookout) -> FileText:
    data, unread = b"", ""
    try:
        data = workspace.read(workspace.root / path, lookout)
    except TaskstateError as error:
        unread = error.code
    allow = workspace.config.secrets.allow
    return FileText(repository_name(workspace), path, data, unread, allow, workspace.kinds)


# Tables that rest on more than the files


def of_repository(workspace: Workspace, sql: str, folder: Path, now: str) -> dict[str, Path]:
    """Return the tables that SQL may name and that no index holds, as files of NDJSON in a folder of ours."""
    named = sql.casefold()
    found = {}
    if "repos" in named:
        found["repos"] = written(folder, "repos", [_repository(workspace)])
    if "lint" in named:
        found["lint"] = written(folder, "lint", _lint(workspace, now))
    return found


def _repository(workspace: Workspace) -> Row:
    from taskstate.syntax.hashes import sha256

    statuses = [status.st_size for _, status in folders.statuses(map(str, workspace.own_files()))]
    head = git.head(workspace.root)
    told = git.run(["show", "--no-patch", "--format=%T %cI", head], workspace.root).split() if head else [b"", b""]
    row = {
        "repo": repository_name(workspace),
        "ref": git.branch(workspace.root),
        "head": head,
        "tree": told[0].decode() or None,
        "committed_at": told[1].decode() or None,
        "scope": "worktree",
        "files": len(statuses),
        "bytes": sum(statuses),
        "status": rows.OK if head else "empty",
        "error": None,
        "config_sha": sha256(repr(workspace.config).encode("utf-8", "surrogateescape")),
        "taskstate_pinned": workspace.config.required_version,
    }
    return rows.sound(row)


def _lint(workspace: Workspace, now: str) -> list[Row]:
    """Return the findings of the linter, whose own cache spares it files that have not changed."""
    from itertools import groupby

    from taskstate.lint.runner import LintRequest, check_files, open_run

    run, _ = open_run(workspace, workspace.config, LintRequest(now=now))
    try:
        found = check_files(workspace.own_files(), run).findings
        if run.cache:
            run.cache.save()
    finally:
        run.repository.close()
    by_file = groupby(found, lambda each: each.path)
    return list(chain.from_iterable(rows.lint_rows(repository_name(workspace), [*each]) for _, each in by_file))

"""The index of one repository: what its files say, kept in one file of the private cache from run to run.

The file is a database of DuckDB that nobody changes: an index with what has changed is made beside it and put in its
place, so that a question never sees half of a change, and a killed run leaves the old one. It may be lost at any time.
"""

from __future__ import annotations

import os
import re
import time
from collections import deque
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from itertools import chain

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.query import engine, rows, tables
from taskstate.query.rows import FileText, ndjson, rows_of
from taskstate.storage import durable, files, folders, temporary
from taskstate.storage.file_sources import mark_of, settled_before
from taskstate.storage.git import client as git
from taskstate.storage.private import make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import VERSION
from taskstate.workspace import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

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
    kept = _kept(workspace)
    with temporary.folder(_NEW, kept) as made:
        if kept:
            _sweep(kept, made)
        old = kept / _FILE if kept and not rebuild and folders.is_file(kept / _FILE) else None
        try:
            index = _updated(workspace, old, made)
        except engine.error() as error:
            raise engine.refused(error) from error
        if kept and index.path.parent == made:
            with files.os_errors("write", kept / _FILE):
                if folders.is_folder(kept / _FILE):  # a rename replaces everything else
                    folders.remove_all(kept / _FILE)
                folders.rename(index.path, kept / _FILE)
            index = index._replace(path=kept / _FILE)
        yield index


def _kept(workspace: Workspace) -> Path | None:
    """Return the folder in which the index stays."""
    kept = workspace.private.cache(FOLDER)
    if kept is None or not engine.is_unicode(str(kept)):
        return None
    try:
        make_folder(kept)
    except TaskstateError:
        return None
    return kept


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
    new, query = made / _FILE, workspace.config.query
    with engine.filling(new, **engine.Bounds(query.memory_mb, query.threads).settings) as connection:
        types = {"rests_on": _RESTS_ON, "marks": _MARKS, **{name: tables.types(name) for name in tables.of_files()}}
        for name, columns in types.items():
            connection.execute(tables.create(name, columns))
        if old and known and not engine.is_copied(connection, old, ("marks", *tables.of_files()), [*stale, *gone]):
            stale = [*marks]
        with ExitStack() as stack:
            streams = {name: stack.enter_context(durable.stream(made / f"{name}.ndjson")) for name in types}
            streams["rests_on"].write(ndjson([{"rests_on": rests_on}]))
            streams["marks"].write(ndjson({"path": path, "mark": marks[path]} for path in stale))
            for each in _read_all(workspace, stale):
                for name, listed in each.items():
                    streams[name].write(ndjson(listed))
        for name, columns in types.items():
            engine.load(connection, name, made / f"{name}.ndjson", columns)
    return Index(new, len(stale), len(marks))


def _marks(workspace: Workspace) -> dict[str, str]:
    """Return the mark of each of our own files by its path; empty where it may change without getting another one."""
    settled, root = settled_before(time.time_ns()), workspace.root
    listed = listing.own_statuses(
        root, workspace.state_root, listing.is_own, git.OWN_PATTERNS, deep=workspace.is_repository
    )
    kept = (each for each in listed if not workspace.config.exclude or not workspace.excludes(root / each[0]))
    return {
        path: mark_of(status) if max(status.st_mtime_ns, status.st_ctime_ns) <= settled else ""
        for path, status in sorted(kept)
    }


def _rests_on(workspace: Workspace) -> str:
    """Return all that rows depend on besides their files."""
    config = workspace.config
    parts = (VERSION, tables.version(), resources.fingerprint(), config.secrets, workspace.kinds)
    return "\n".join(map(str, (*parts, repository_name(workspace))))


def _known(path: Path, rests_on: str) -> dict[str, str] | None:
    """Return the marks of the files in an index; None where it rests on something else, or cannot be read."""
    with suppress(engine.error()), engine.reading(path) as connection:
        if connection.execute("FROM rests_on").fetchall() == [(rests_on,)]:
            return dict(connection.execute("SELECT path, mark FROM marks").fetchall())
    return None


def written(folder: Path, name: str, listed: Iterable[Row]) -> Path:
    """Write rows into a file of NDJSON in a folder of ours, and return its path."""
    path = folder / f"{name}.ndjson"
    temporary.scratch_file(path, ndjson(listed))
    return path


def _read_all(workspace: Workspace, paths: list[str]) -> Iterator[rows.Rows]:
    """Yield the rows of files, in any order; in several processes where they are many."""
    from taskstate.storage import programs

    jobs = min(programs.cores(), len(paths) // _FEW)
    shares = [paths[at : at + _SHARE] for at in range(0, len(paths), _SHARE)]
    plain = type(workspace)(*workspace)  # without what it has looked up, and without the bar of this terminal
    with workspace.bar("reading files") as show, ExitStack() as stack:
        found: Iterator[list[rows.Rows]] = map(partial(_rows_of, plain), shares)
        if jobs > 1:
            pool = stack.enter_context(programs.workers(jobs))
            # Not its `map`: that cancels what is left, for which a thread of the pool leaves a trace after Ctrl-C.
            waiting = deque(pool.submit(_rows_of, plain, share) for share in shares)
            found = (waiting.popleft().result() for _ in shares)
        for done, share in enumerate(found):
            show(done * _SHARE, len(paths))
            yield from share


def _rows_of(workspace: Workspace, paths: list[str]) -> list[rows.Rows]:
    found = []
    with closing(folders.Lookout()) as lookout:
        for path in paths:
            data, unread = b"", ""
            try:
                data = workspace.read(workspace.root / path, lookout)
            except TaskstateError as error:
                unread = error.code
            allow = workspace.config.secrets.allow
            found.append(rows_of(FileText(repository_name(workspace), path, data, unread, allow, workspace.kinds)))
    return found


# Tables that rest on more than the files


def of_repository(workspace: Workspace, sql: str, folder: Path, now: str) -> dict[str, Path]:
    """Return the tables that SQL may name and that no index holds, as files of NDJSON in a folder of ours."""
    named, found = set(re.findall(r"\w+", sql.casefold())), {}
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

    from taskstate.lint.paths import lint_paths
    from taskstate.lint.runner import LintRequest

    found = lint_paths(workspace, (), LintRequest(now=now)).findings
    by_file = groupby(found, lambda each: each.path)
    return list(chain.from_iterable(rows.lint_rows(repository_name(workspace), [*each]) for _, each in by_file))

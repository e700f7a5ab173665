"""Lints files: reads them, asks the rules, and remembers what they said.

The linter itself knows only texts; here they are read. Nothing is skipped silently: what cannot be read is told. What
the fixes make of a file is written by `mend`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.lint.cache import CachedResult, freeze, open_cache, thaw
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.model import names
from taskstate.storage import files
from taskstate.storage.file_sources import Index
from taskstate.storage.git import client as git
from taskstate.workspace.run_cache import open_dependency_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.queries.repository import Repository
    from taskstate.model.config import Config
    from taskstate.storage.cache import Cache
    from taskstate.workspace.workspace import Workspace

_BYTES_PER_PROCESS = 1_000_000  # bytes to be read: below that another process costs more than it saves
_BATCH = 16  # files that a process takes at a time


class Report(NamedTuple):
    """What linting found: `files` counts those that were read, `unreadable` says why the others were not."""

    files: int
    findings: tuple[Finding, ...]
    unreadable: tuple[str, ...]


class LintRun(NamedTuple):
    """How files are checked: in which repository, what is remembered, and on how many cores (0: all)."""

    repository: Repository
    config: Config
    cache: Cache[CachedResult] | None = None
    jobs: int = 0
    staged: bool = False

    def name(self, path: Path) -> str:
        """Return a file's path from the repository's root; what lies outside of it keeps its own."""
        root, whole = f"{self.repository.workspace.root}{os.sep}", str(path)  # ten times as fast as `relative_to`
        return whole.removeprefix(root).replace(os.sep, "/")


class _FileResult(NamedTuple):
    """What checking one file came to: an entry to remember, or why it cannot be read."""

    entry: CachedResult | None
    error: str = ""


class LintRequest(NamedTuple):
    """What a run was asked for: the compared revision, and whether the index is checked and not the disk.

    `now` is a timestamp (`YYYY-MM-DDTHH:MM:SSZ`).
    """

    now: str
    against: str = ""
    staged: bool = False
    remember: bool = True
    jobs: int = 0


def open_run(workspace: Workspace, config: Config, wanted: LintRequest) -> tuple[LintRun, tuple[str, ...]]:
    """Return how files are checked, and a remark for what was asked for and cannot be known here.

    Raises:
        TaskstateError: what is staged was asked for, and there is no git repository.
    """
    from taskstate.lint.queries.repository import Repository

    repository = Repository(workspace, now=wanted.now)
    told: tuple[str, ...] = ()
    if wanted.staged and git.toplevel(workspace.root) is None:
        what = f"nothing is staged: {files.shown(workspace.root)} is in no git repository"
        raise TaskstateError(what, help="leave out --staged", code="no-git")
    if wanted.staged:
        repository.source = Index(workspace.root, repository.objects)
    if wanted.against:
        from taskstate.lint.compared_revision import open_revision

        history = open_revision(workspace.root, wanted.against, repository.objects, staged=wanted.staged)
        if isinstance(history, str):
            told = (history,)
        else:
            repository.history = history
    cache = _open_cache(repository, config, wanted) if wanted.remember else None
    if cache:
        repository.dependency_cache = open_dependency_cache(workspace)
    return LintRun(repository, config, cache, wanted.jobs, wanted.staged), told


def _open_cache(repository: Repository, config: Config, wanted: LintRequest) -> Cache[CachedResult] | None:
    """Return what is remembered for these settings; where nothing is set up, nothing is written."""
    if not repository.workspace.state_root.is_dir():
        return None
    settings = {"config": config, "answerable": sorted(repository.answerable), "staged": wanted.staged}
    return open_cache(repository.workspace.state_root / "cache", settings)


def own_files_in(workspace: Workspace, paths: Iterable[Path]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return our own files among `paths` and in the folders among them, and a line for each named file that is none.

    Raises:
        TaskstateError: code "not-found": a path does not exist.
    """
    found: dict[Path, None] = {}
    others = []
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(workspace.own_files(under=path)))
        elif not os.path.lexists(path):
            raise TaskstateError(f"{files.shown(path)} does not exist", help="check the path", code="not-found")
        elif names.own_file(path.as_posix()) is None:
            others.append(f"{files.shown(path)} was not checked: by its name it is none of taskstate's own files")
        elif not workspace.excludes(path):
            found[path] = None
    return tuple(found), tuple(others)


def check_files(
    paths: Sequence[Path],
    checking: LintRun,
    name_of: Callable[[Path], str],
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Lint the files at `paths`; `name_of` says how a path is to be shown, `progress` is told how many are done."""
    findings: list[Finding] = []
    unreadable: list[str] = []
    remembered = {path: entry for path in paths if (entry := _cached_result(path, checking))}
    anew = [path for path in paths if path not in remembered]
    checked: dict[Path, _FileResult] = {}
    for path, result in _check_all(anew, checking):
        checked[path] = result
        if progress:
            progress(len(remembered) + len(checked), len(paths))
    for path in paths:
        result = checked[path] if path in checked else _FileResult(remembered[path])
        if result.entry is None:
            unreadable.append(result.error)
            continue
        findings += thaw(result.entry.findings, name_of(path)) if result.entry.findings else ()
        if checking.cache and path in checked:
            checking.cache.put(checking.name(path), result.entry)
    return Report(files=len(paths) - len(unreadable), findings=tuple(findings), unreadable=tuple(unreadable))


def _cached_result(path: Path, checking: LintRun) -> CachedResult | None:
    """Return what is remembered of a file, if all that it rests on is the same."""
    entry = checking.cache.get(checking.name(path)) if checking.cache else None
    if entry is None:
        return None
    repository = checking.repository
    mark = repository.source.mark(path)
    if not mark or (mark != entry.mark and not _same_bytes(path, entry, checking)):
        return None
    if entry.recorded:
        queries = RepositoryQueries(repository, path)
        if any(queries.mark(question) != before for question, before in entry.recorded):
            return None
    if mark != entry.mark and checking.cache:
        checking.cache.put(checking.name(path), entry._replace(mark=mark))
    return entry


def _same_bytes(path: Path, entry: CachedResult, checking: LintRun) -> bool:
    """Return whether a file that was written anew (by a checkout, say) still holds the same."""
    try:
        return files.digest(checking.repository.source.read(path)) == entry.digest
    except TaskstateError:
        return False


def _check_all(paths: Sequence[Path], checking: LintRun) -> Iterator[tuple[Path, _FileResult]]:
    """Yield the files with what checking them came to, in any order; on several cores where that is worth it."""
    jobs = min(checking.jobs or _cores(), _useful_processes(paths))
    if jobs > 1:
        yield from _check_in_processes(paths, checking, jobs)
    else:
        for path in paths:
            yield path, _check(path, checking)


def _cores() -> int:
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _useful_processes(paths: Sequence[Path]) -> int:
    """Return how many processes these files keep busy."""
    total = 0
    for path in paths:
        try:
            total += os.stat(path).st_size
        except OSError:  # told where it is read
            continue
    return min(total // _BYTES_PER_PROCESS, len(paths) // _BATCH)


def _check_in_processes(paths: Sequence[Path], checking: LintRun, jobs: int) -> Iterator[tuple[Path, _FileResult]]:
    import multiprocessing
    import sys
    from concurrent.futures import ProcessPoolExecutor, as_completed

    checking.repository.prepare()
    # A fork has read and imported everything already; it is safe here, where no other thread runs yet.
    method = "fork" if sys.platform == "linux" else "spawn"
    context = multiprocessing.get_context(method)
    told = (checking._replace(cache=None),)
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_init_worker, initargs=told) as pool:
        batches = [paths[at : at + _BATCH] for at in range(0, len(paths), _BATCH)]
        for future in as_completed([pool.submit(_check_batch, batch) for batch in batches]):
            yield from future.result()


_checking: LintRun  # of a process that checks for another one


def _init_worker(checking: LintRun) -> None:
    global _checking  # noqa: PLW0603 - the way of a pool to hand over what all its tasks share
    _checking = checking


def _check_batch(paths: Sequence[Path]) -> list[tuple[Path, _FileResult]]:
    return [(path, _check(path, _checking)) for path in paths]


def _check(path: Path, checking: LintRun) -> _FileResult:
    """Check one file; its mark is taken before its bytes, so that a change in between is seen the next time."""
    from taskstate.lint import engine

    source, queries = checking.repository.source, RepositoryQueries(checking.repository, path)
    mark = source.mark(path)
    try:
        if os.path.islink(path):
            files.inside(checking.repository.workspace.root, checking.name(path))  # one that leads outside is not read
        data = source.read(path)
    except TaskstateError as error:
        return _FileResult(None, str(error))
    found = engine.findings(data, checking.name(path), checking.config, queries)
    return _FileResult(CachedResult(mark, files.digest(data), tuple(queries.recorded.items()), freeze(found)))


def with_removed(report: Report, checking: LintRun, under: Sequence[Path], name_of: Callable[[Path], str]) -> Report:
    """Return the report with what is to be said of state files that are gone since the compared revision.

    `under` are the files and folders that are checked. What is staged is checked as a whole: a hook is told of the
    files that are there alone.
    """
    history = checking.repository.history
    gone_files = [
        gone
        for gone in (history.removed if history else ())
        if checking.staged or any(gone.path.is_relative_to(folder) for folder in under)
        if not checking.repository.workspace.excludes(gone.path)
    ]
    if not gone_files:
        return report
    from taskstate.lint import engine

    found = [
        finding._replace(path=name_of(gone.path))
        for gone in gone_files
        for finding in engine.findings_of_removed(
            gone.document, gone.name, checking.config, RepositoryQueries(checking.repository, gone.path)
        )
    ]
    return report._replace(findings=(*report.findings, *found))

"""Checks many files: finds and reads them, has `engine` check each, and caches the results from run to run.

`engine` knows only texts; reading from disk or the git index, the cache and the worker processes are here. No file is
skipped silently: the report names each one that could not be read. Fixed files are written by `fixer`.
"""

from __future__ import annotations

import os

from taskstate.errors import TaskstateError
from taskstate.lint.cache import CachedResult, freeze, open_cache, thaw
from taskstate.lint.queries.answers import DEPENDENCY_PATH, RepositoryQueries
from taskstate.model import names
from taskstate.storage import files, folders
from taskstate.storage.file_sources import Disk, GitFiles
from taskstate.storage.git import client as git
from taskstate.storage.git.client import DISK, INDEX
from taskstate.syntax import hashes
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.run_cache import CachedDependencies, open_dependency_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.queries.repository import Repository
    from taskstate.model.config import Config
    from taskstate.storage.cache import Cache
    from taskstate.storage.file_sources import Files
    from taskstate.workspace.workspace import Workspace

_BYTES_PER_PROCESS = 1_000_000  # with fewer bytes to read, starting another process costs more than it saves
_BATCH = 16  # files that a process checks at a time


class Report(NamedTuple):
    """The result of a run: `files` counts the files that were read, `unreadable` says why others were not."""

    files: int
    findings: tuple[Finding, ...]
    unreadable: tuple[str, ...]


class LintRun(NamedTuple):
    """What all files of a run share: the repository, the configuration, the cache, and the number of processes.

    `jobs` is 0 for one process on each core; `place` says where the files are read (see `LintRequest`).
    """

    repository: Repository
    config: Config
    cache: Cache[CachedResult] | None = None
    jobs: int = 0
    place: str = DISK

    # Called for every file of a run: cutting the prefix off is ten times as fast as `Path.relative_to`.
    def name(self, path: Path) -> str:
        """Return a file's path from the repository's root; the path of a file outside stays as it is."""
        root = f"{self.repository.workspace.root}{os.sep}"
        return str(path).removeprefix(root).replace(os.sep, "/")


class _FileResult(NamedTuple):
    """The findings in one file with an entry for the cache, in which they are not yet, or why it cannot be read.

    `depends_on` are the ids that it depends on, None where they are not known.
    """

    entry: CachedResult | None
    findings: tuple[Finding, ...] = ()
    error: str = ""
    depends_on: tuple[str, ...] | None = None


class LintRequest(NamedTuple):
    """The options of a run.

    `now` is a timestamp (`YYYY-MM-DDTHH:MM:SSZ`). `against` is the revision to compare with (empty: none; None: what
    the configuration protects). `place` says where the files are read: on disk, in the index, or in the commit that it
    names. With `last_commit` the last commit is checked where nothing of ours is staged. With `remember` results are
    cached; with `fresh` none is looked up, since the files have just been written.
    """

    now: str
    against: str | None = ""
    place: str = DISK
    last_commit: bool = False
    remember: bool = True
    jobs: int = 0
    fresh: bool = False


def open_run(workspace: Workspace, config: Config, request: LintRequest) -> tuple[LintRun, tuple[str, ...]]:
    """Return the run that files are checked in, and a remark where the revision cannot be compared with.

    Raises:
        TaskstateError: code "no-git": the index or a commit is to be checked, and there is no git repository; code
        "no-commit": there is no such commit.
    """
    from taskstate.lint.queries.repository import Repository

    repository = Repository(workspace, now=request.now)
    if request.place and not git.is_repository(workspace.root):
        message = f"nothing is staged: {files.shown(workspace.root)} is in no git repository"
        raise TaskstateError(message, help="leave out --staged", code="no-git")
    remarks = _open_git(repository, config, request) if request.place or request.against != "" else ()
    remember = request.remember and not request.fresh and workspace.is_on_disk
    cache = _open_cache(repository, config, request) if remember else None
    if cache:
        repository.dependency_cache = open_dependency_cache(workspace)
    return LintRun(repository, config, cache, request.jobs, request.place), remarks


def _open_git(repository: Repository, config: Config, request: LintRequest) -> tuple[str, ...]:
    """Open the index or commit that is checked, and the history; return a remark where that cannot be compared with."""
    from taskstate.lint.compared_commits import Trees, Wanted, open_history
    from taskstate.lint.compared_revision import CurrentFiles
    from taskstate.workspace.git_past import top_of, within_top

    workspace = repository.workspace
    place = request.place
    remember = request.remember and workspace.is_on_disk and folders.is_folder(workspace.state_root)
    cache = workspace.private.cache("trees.json") if remember else None
    trees = Trees(top_of(workspace), cache, within_top(workspace))
    if not isinstance(workspace.source, Disk):
        place = workspace.source.commit
    elif place not in {DISK, INDEX}:
        place = git.resolve_commit(workspace.root, place)
    ids = trees.at(place)
    if request.place:
        repository.source = GitFiles(workspace.root, repository.objects, ids)
    if request.against == "":
        return ()
    now = CurrentFiles(workspace, repository.objects, place, ids)
    wanted = Wanted(request.against, config.lint.append_only, request.last_commit)
    history = open_history(now, trees, wanted)
    if isinstance(history, str):
        return (history,)
    repository.history = history
    return ()


def _open_cache(repository: Repository, config: Config, request: LintRequest) -> Cache[CachedResult] | None:
    """Return the cache for these settings; None where there is no state folder, since none is created here."""
    if not folders.is_folder(repository.workspace.state_root):
        return None
    settings = {
        "config": config,
        "kinds": repository.workspace.kinds,
        "answerable": sorted(repository.answerable),
        "on disk": not request.place,
    }
    return open_cache(repository.workspace.private.cache("lint.json"), settings)


def own_files_in(workspace: Workspace, paths: Iterable[Path]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return our own files among `paths` and in the folders among them, and a remark for each other file named there.

    Raises:
        TaskstateError: code "not-found": a path does not exist.
    """
    own: dict[Path, None] = {}
    remarks = []
    for path in paths:
        if workspace.source.is_folder(path):
            own.update(dict.fromkeys(workspace.own_files(under=path)))
        elif not workspace.source.exists(path):
            raise TaskstateError(f"{files.shown(path)} does not exist", help="check the path", code="not-found")
        elif names.own_file(path.as_posix()) is None:
            remarks.append(f"{files.shown(path)} was not checked: its name is not that of a taskstate file")
        elif not workspace.excludes(path):
            own[path] = None
    return tuple(own), tuple(remarks)


def check_files(paths: Sequence[Path], run: LintRun, progress: Callable[[int, int], None] | None = None) -> Report:
    """Lint the files at `paths`, and cache the results.

    Findings show paths from the repository's root, wherever the command was run. `progress` is called with the number
    of files done and of all files.
    """
    findings: list[Finding] = []
    unreadable: list[str] = []
    cached = [_cached_result(path, run) for path in paths]
    stale = [path for path, entry in zip(paths, cached, strict=True) if entry is None]
    checked: dict[Path, _FileResult] = {}
    for path, result in _check_all(stale, run):
        checked[path] = result
        if progress:
            progress(len(paths) - len(stale) + len(checked), len(paths))
    for path, known in zip(paths, cached, strict=True):
        if known:
            findings += thaw(known.findings, run.name(path)) if known.findings else ()
            continue
        result = checked[path]
        if result.entry is None:
            unreadable.append(result.error)
            continue
        findings += result.findings
        if run.cache:
            run.cache.put(run.name(path), result.entry._replace(findings=freeze(result.findings)))
    return Report(files=len(paths) - len(unreadable), findings=tuple(findings), unreadable=tuple(unreadable))


def _cached_result(path: Path, run: LintRun) -> CachedResult | None:
    """Return the cached result for a file, or None where the file or an answer that it depends on has changed."""
    entry = run.cache.get(run.name(path)) if run.cache else None
    if entry is None:
        return None
    repository = run.repository
    mark = repository.source.mark(path)
    if not mark or (mark != entry.mark and not _same_bytes(path, entry, run)):
        return None
    if entry.recorded:
        queries = RepositoryQueries(repository, path)
        if any(queries.mark(question) != recorded for question, recorded in entry.recorded):
            return None
    if mark != entry.mark and run.cache:
        run.cache.put(run.name(path), entry._replace(mark=mark))
    return entry


def _same_bytes(path: Path, entry: CachedResult, run: LintRun) -> bool:
    """Return whether a file with a new modification time (from a checkout, say) still has the same content."""
    try:
        return hashes.fingerprint(run.repository.source.read(path)) == entry.digest
    except TaskstateError:
        return False


def _check_all(paths: Sequence[Path], run: LintRun) -> Iterator[tuple[Path, _FileResult]]:
    """Yield the files with their results, in any order; in several processes where that is faster."""
    jobs = _useful_processes(paths, run.repository.workspace.source)
    if jobs > 1:
        from taskstate.storage import programs

        jobs = min(run.jobs or programs.cores(), jobs)
    if jobs > 1:
        yield from _check_in_processes(paths, run, jobs)
    else:
        for path in paths:
            yield path, _check(path, run)


def _useful_processes(paths: Sequence[Path], source: Files) -> int:
    """Return how many processes are worth starting for these files."""
    if isinstance(source, Disk):  # a missing one is reported later
        total = sum(status.st_size for _, status in folders.statuses(map(str, paths)))
    else:
        total = sum(map(source.length, paths))
    return min(total // _BYTES_PER_PROCESS, len(paths) // _BATCH)


def _check_in_processes(paths: Sequence[Path], run: LintRun, jobs: int) -> Iterator[tuple[Path, _FileResult]]:
    """Yield the files with their results; a file on a cycle of dependencies twice, the second time with its findings.

    To find cycles, each process would have to read what all others check.
    """
    from concurrent.futures import as_completed

    from taskstate.storage import programs

    run.repository.prepare()
    with programs.workers(jobs, _init_worker, (run._replace(cache=None),)) as pool:
        batches = [paths[at : at + _BATCH] for at in range(0, len(paths), _BATCH)]
        results: dict[Path, _FileResult] = {}
        for future in as_completed([pool.submit(_check_batch, batch) for batch in batches]):
            results.update(future.result())
            yield from future.result()
    for path, result in results.items():
        if result.entry and result.depends_on is not None:
            run.repository.know_dependencies(path, CachedDependencies(result.entry.mark, result.depends_on))
    for path, result in results.items():
        if result.entry and _is_on_cycle(path, result.entry, run):
            yield path, _check(path, run)


def _is_on_cycle(path: Path, entry: CachedResult, run: LintRun) -> bool:
    """Return whether a file depends on itself, which was deferred when it was checked."""
    queries = RepositoryQueries(run.repository, path)
    return any(question[0] == DEPENDENCY_PATH and queries.mark(question) != mark for question, mark in entry.recorded)


_lint_run: LintRun  # set in a worker process


def _init_worker(run: LintRun) -> None:
    global _lint_run  # noqa: PLW0603 - a pool passes what its tasks share to an initializer
    _lint_run = run
    run.repository.defers_cycles = True


def _check_batch(paths: Sequence[Path]) -> list[tuple[Path, _FileResult]]:
    return [(path, _check(path, _lint_run)) for path in paths]


def _check(path: Path, run: LintRun) -> _FileResult:
    """Check one file; its mark is taken before its bytes, so that a change in between is noticed by the next run."""
    from taskstate.lint import engine

    source, queries = run.repository.source, RepositoryQueries(run.repository, path)
    mark = source.mark(path)
    try:
        data = source.read(path)
    except TaskstateError as error:
        if error.code == "not-found" and not source.exists(path):  # a command has removed it since it was listed
            return _FileResult(CachedResult("", "", (), ()))
        return _FileResult(None, error=str(error))
    findings = engine.findings(data, run.name(path), run.config, queries)
    entry = CachedResult(mark, hashes.fingerprint(data), tuple(queries.recorded.items()), ())
    return _FileResult(entry, findings, depends_on=run.repository.checked_dependencies(path))


def own_files_in_git(run: LintRun, *, changed: bool) -> tuple[Path, ...]:
    """Return our own files in the index or commit that is checked; with `changed` those that differ from the history.

    The state file of a task differs as soon as another file of the task does, since rules compare the two. Where there
    is no history all files differ.
    """
    source, workspace, history = run.repository.source, run.repository.workspace, run.repository.history
    ids = source.ids if isinstance(source, GitFiles) else ()
    found = tuple(name for name in sorted(ids) if workspace.lists(name))
    if changed and history and history.has_commits:
        paths = history.touched_paths
        tasks = {names.own_id(name) for name in paths} - {""}
        found = tuple(
            name
            for name in found
            if name in paths or (tasks and names.own_type(name) == "state" and names.own_id(name) in tasks)
        )
    return tuple(workspace.root / name for name in found)

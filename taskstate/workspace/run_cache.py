"""Reads documents, upstream tasks, dependencies and git objects of a repository at most once in a run.

The dependencies of state files are also cached from run to run, as long as a file keeps its size and times, so that
finding cycles need not read every file again.
"""

from __future__ import annotations

import os
from functools import cached_property

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.model.algorithms import DependencyGraph
from taskstate.model.names import HANDOFF_FOLDER
from taskstate.storage.cache import Cache
from taskstate.storage.file_sources import Disk, DiskInRun
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from taskstate.model.chain_quotes import Upstream
    from taskstate.storage.file_sources import Files
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace


class CachedDependencies(NamedTuple):
    """The dependencies of a state file that has this mark."""

    mark: str
    depends_on: tuple[str, ...]


def open_dependency_cache(workspace: Workspace) -> Cache[CachedDependencies]:
    """Open the cache of dependencies, by path."""
    return Cache(workspace.private.cache("depends-on.json"), _read_dependencies)


def _read_dependencies(values: Any) -> CachedDependencies:  # noqa: ANN401 - whatever the file holds
    mark, depends_on = values
    return CachedDependencies(str(mark), tuple(map(str, depends_on)))


class RunCache:
    """What was listed, read and parsed of a repository during one run; files are assumed not to change meanwhile."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._disk = DiskInRun()
        self.source: Files = self._disk if workspace.is_on_disk else workspace.source
        self.all_files: tuple[Path, ...] | None = None  # all our own files of the repository, if they are listed anyway
        self.objects = git.Objects(workspace.root) if isinstance(self.source, Disk) else self.source.objects
        self.memo: dict[tuple[str, ...], Any] = {}  # answers that lint's queries have computed already
        self.checked: tuple[Path, Document] | None = None  # the file that is being checked: nobody parses it again
        self._documents: dict[Path, Document | None] = {}
        self._upstreams: dict[Path, Upstream | None] = {}
        self._known_dependencies: dict[Path, tuple[str, ...]] = {}  # of files that another process has read
        self.dependencies = DependencyGraph(self._depends_on)
        self.dependency_cache: Cache[CachedDependencies] | None = None

    def prepare(self) -> None:
        """List the state files now, before the run forks: otherwise each process would do it."""
        _ = self._usual, self._all

    def forget_file(self, path: Path) -> None:
        """Forget what was read of one file, which has been written since."""
        self._disk.forget_file(path)
        self._documents.pop(path, None)
        self._upstreams.pop(path, None)
        self._known_dependencies.pop(path, None)

    def forget(self) -> None:
        """Forget all that was read, since files have been written."""
        self.memo.clear()
        self._documents.clear()
        self._upstreams.clear()
        self._known_dependencies.clear()
        self._disk.close()
        self.dependencies = DependencyGraph(self._depends_on)

    def close(self) -> None:
        """End the processes of git, let go of what is held open, and save the dependency cache."""
        self.objects.close()
        self._disk.close()
        if self.dependency_cache:
            self.dependency_cache.save()

    @cached_property
    def tasks_with_handoffs(self) -> frozenset[str]:
        """The folder names of the tasks that have handoff documents."""
        return frozenset(self.workspace.source.names(self.workspace.state_root / HANDOFF_FOLDER))

    @cached_property
    def real_root(self) -> str:
        """The repository's root with links resolved."""
        return self.workspace.source.real(str(self.workspace.root))

    def state_files(self, task_id: str) -> tuple[Path, ...]:
        """Return the state files of the task with this case-folded id.

        If only some files are checked, the whole repository is searched only for a task that has no file in the usual
        folder: a hook or an editor checks files thousands of times a day, and a search takes longer the larger the
        repository is.
        """
        found: tuple[Path, ...] = ()
        if self.all_files is None:
            similar = (name for name, folded in self._usual.items() if task_id in folded)
            found = _by_id(self.workspace.tasks / name for name in similar).get(task_id, ())
        return found or self._all.get(task_id, ()) or self._left_out.get(task_id, ())

    @cached_property
    def _usual(self) -> Mapping[str, str]:
        return {name: name.casefold() for name in self.workspace.source.names(self.workspace.tasks)}

    @cached_property
    def _all(self) -> Mapping[str, tuple[Path, ...]]:
        return _by_id(self.workspace.own_files() if self.all_files is None else self.all_files)

    @cached_property
    def _left_out(self) -> Mapping[str, tuple[Path, ...]]:
        return _by_id(self._ids_left_out)

    @cached_property
    def _ids_left_out(self) -> Mapping[Path, str]:
        """The object ids of the files that a sparse checkout leaves out."""
        return {self.workspace.root / name: each for name, each in self.workspace.left_out.items()}

    def mark(self, path: Path) -> str:
        """Return a text that changes whenever a file does, also one that a sparse checkout leaves out."""
        return self.source.mark(path) or self._ids_left_out.get(path, "")

    def document(self, path: Path) -> Document | None:
        """Return one of our own files parsed, or None if it does not exist or cannot be read."""
        if path not in self._documents:
            self._documents[path] = self._read(path)
        return self._documents[path]

    def upstream(self, path: Path) -> Upstream | None:
        """Return a state file as an upstream task, or None if it cannot be read."""
        if path not in self._upstreams:
            self._upstreams[path] = self._read_upstream(path)
        return self._upstreams[path]

    def upstreams_now(self, task_id: str) -> tuple[Upstream, ...]:
        """Return the state files of a task as upstream tasks, read anew: for callers that hold the lock."""
        upstreams = (self._read_upstream(path) for path in self.state_files(task_id.casefold()))
        return tuple(upstream for upstream in upstreams if upstream)

    def _read_upstream(self, path: Path) -> Upstream | None:
        """Read a state file as an upstream task; of one that is not complete only the front matter, which is enough."""
        from taskstate.model.chain import is_complete, read_upstream
        from taskstate.syntax.document import parse, parse_head

        if self.checked and self.checked[0] == path:
            return read_upstream(self.checked[1], self.workspace.relative(path))
        text = self._text(path)
        if text is None:
            return None
        head = parse_head(text, self.workspace.kinds)
        document = parse(text, self.workspace.kinds) if is_complete(head) else head
        upstream = read_upstream(document, self.workspace.relative(path))
        document.forget_derived()
        return upstream

    def _depends_on(self, task_id: str) -> tuple[str, ...]:
        """Return the ids that a task depends on; none if it does not exist or cannot be read."""
        return tuple(each for path in self.state_files(task_id) for each in self._dependencies_of(path))

    def checked_dependencies(self, path: Path) -> tuple[str, ...] | None:
        """Return the ids that a state file depends on that was just checked; None where another file or none was."""
        from taskstate.model.task_state import depends_on

        is_checked = self.checked is not None and self.checked[0] == path and names.own_type(path.name) == "state"
        return depends_on(self.checked[1]) if self.checked and is_checked else None

    def know_dependencies(self, path: Path, found: CachedDependencies) -> None:
        """Keep the ids that a state file depends on, as another process has read them: nobody reads it again."""
        self._known_dependencies[path] = found.depends_on
        if self.dependency_cache and found.mark:
            self.dependency_cache.put(os.fspath(path), found)

    def _dependencies_of(self, path: Path) -> tuple[str, ...]:
        """Return the ids that a state file depends on, from the cache if the file has not changed."""
        if path in self._known_dependencies:
            return self._known_dependencies[path]
        cache = self.dependency_cache
        if cache is None:
            return self._dependencies_now(path)
        name, mark = os.fspath(path), self.source.mark(path)
        cached = cache.get(name)
        if cached is None or not mark or cached.mark != mark:
            cached = CachedDependencies(mark, self._dependencies_now(path))
            if mark:
                cache.put(name, cached)
        return cached.depends_on

    def _dependencies_now(self, path: Path) -> tuple[str, ...]:
        upstream = self.upstream(path)
        return upstream.depends_on if upstream else ()

    def _read(self, path: Path) -> Document | None:
        from taskstate.syntax.document import parse

        text = self._text(path)
        return None if text is None else parse(text, self.workspace.kinds)

    def _text(self, path: Path) -> str | None:
        try:
            return self._bytes(path).decode("utf-8")
        except (TaskstateError, UnicodeDecodeError):
            return None

    def _bytes(self, path: Path) -> bytes:
        try:
            return self.source.read(path)
        except TaskstateError:
            if path not in self._ids_left_out:
                raise
            return git.run(["cat-file", "blob", self._ids_left_out[path]], self.workspace.root)


def _by_id(paths: Iterable[Path]) -> Mapping[str, tuple[Path, ...]]:
    """Group the state files among `paths` by case-folded id."""
    by_id: dict[str, list[Path]] = {}
    for path in paths:
        own = names.own_file(path.name)
        if own and own.type == "state" and own.id:
            by_id.setdefault(own.id.casefold(), []).append(path)
    return {task_id: tuple(paths) for task_id, paths in by_id.items()}

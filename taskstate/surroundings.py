"""Answers what the rules ask about one file's surroundings, from the disk and from git.

What is asked is noted with a mark of the answer, so that a cache can tell whether the same questions would be answered
in the same way: a mark is cheap, an answer may need another file to be read and parsed.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from taskstate.errors import GitFailed, TaskstateError
from taskstate.lint.around import ARCHIVE, CLOCK, GIT, HISTORY, REPOSITORY, UPSTREAM
from taskstate.model import names
from taskstate.model.algorithms import Dependencies
from taskstate.storage import files
from taskstate.storage.file_sources import Disk
from taskstate.storage.git import client as git
from taskstate.surroundings_artifacts import ArtifactAnswers
from taskstate.surroundings_context import ContextAnswers
from taskstate.surroundings_handoffs import HandoffAnswers, handed_over

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from taskstate.heads import Heads
    from taskstate.history import History
    from taskstate.model.chain_quotes import Upstream
    from taskstate.storage.file_sources import Index
    from taskstate.syntax.document import Document
    from taskstate.workspace import Workspace

_EVERYWHERE = frozenset({ARCHIVE, CLOCK, REPOSITORY, UPSTREAM})


class Repository:
    """What all files of one run share: what was listed, read and parsed stays so for its duration.

    `now` is a timestamp (`YYYY-MM-DDTHH:MM:SSZ`); `history` is the compared revision, or None.
    """

    def __init__(
        self, workspace: Workspace, *, now: str, source: Disk | Index | None = None, history: History | None = None
    ) -> None:
        self.workspace = workspace
        self.source = source or Disk()
        self.now = now
        self.listed: tuple[Path, ...] | None = None  # all files of the repository, where they are known anyway
        self.history = history
        self.objects = git.Objects(workspace.root)
        self.memo: dict[tuple[str, ...], Any] = {}  # what the answers about other sources found out already
        self._documents: dict[Path, Document | None] = {}
        self._upstreams: dict[Path, Upstream | None] = {}
        self.dependencies = Dependencies(self._depends_on)
        self.heads: Heads | None = None  # what files depend on, from run to run

    def prepare(self) -> None:
        """Find out now what several processes would each find out for themselves."""
        _ = self.known, self._usual, self._all
        if self.history:
            self.history.prepare()

    def forget_file(self, path: Path) -> None:
        """Forget what was read of one file: it has been written since."""
        self._documents.pop(path, None)
        self._upstreams.pop(path, None)

    def forget(self) -> None:
        """Forget what was read: files have been written since."""
        self.memo.clear()
        self._documents.clear()
        self._upstreams.clear()
        self.dependencies = Dependencies(self._depends_on)

    def close(self) -> None:
        """End the processes of git, and write down what another run need not find out again."""
        self.objects.close()
        if self.heads:
            self.heads.save()

    def around(self, path: Path) -> Surroundings:
        """Return what lies around the file at `path`."""
        return Surroundings(self, path)

    @cached_property
    def known(self) -> frozenset[str]:
        """What can be answered at all."""
        known = {HISTORY} if self.history else set[str]()
        if git.toplevel(self.workspace.root) and not git.is_shallow(self.workspace.root):
            known.add(GIT)
        return _EVERYWHERE | known

    @cached_property
    def handed_over(self) -> frozenset[str]:
        """The names of the folders of tasks that have handoff documents."""
        return handed_over(self.workspace.state_root)

    @cached_property
    def real_root(self) -> str:
        """The repository's root, links followed."""
        return os.path.realpath(self.workspace.root)

    def state_files(self, task_id: str) -> tuple[Path, ...]:
        """Return the state files of a task, by its case-folded id.

        Where only some files are checked, the whole repository is searched only for a task that has none in the usual
        folder: a hook or an editor asks thousands of times a day, and a search takes as long as the repository is big.
        """
        if self.listed is None and task_id in self._usual:
            return self._usual[task_id]
        return self._all.get(task_id, ())

    @cached_property
    def _usual(self) -> Mapping[str, tuple[Path, ...]]:
        folder = self.workspace.tasks
        return _by_id(folder / name for name in files.names(folder))

    @cached_property
    def _all(self) -> Mapping[str, tuple[Path, ...]]:
        return _by_id(self.workspace.own_files() if self.listed is None else self.listed)

    def document(self, path: Path) -> Document | None:
        """Return another file of ours, or None where it is not there or cannot be read."""
        if path not in self._documents:
            self._documents[path] = self._read(path)
        return self._documents[path]

    def upstream(self, path: Path) -> Upstream | None:
        """Return what a state file says to those that build on it, or None where it cannot be read."""
        if path not in self._upstreams:
            self._upstreams[path] = self._read_upstream(path)
        return self._upstreams[path]

    def upstreams_now(self, task_id: str) -> tuple[Upstream, ...]:
        """Return what the state files of a task say at this moment, for those who hold the lock."""
        found = (self._read_upstream(path) for path in self.state_files(task_id.casefold()))
        return tuple(upstream for upstream in found if upstream)

    def _read_upstream(self, path: Path) -> Upstream | None:
        """Read what others build on; of a task that is not complete the front matter says it all."""
        from taskstate.model.chain import is_complete, read_upstream
        from taskstate.syntax.document import parse, parse_head

        text = self._text(path)
        if text is None:
            return None
        head = parse_head(text)
        return read_upstream(parse(text) if is_complete(head) else head, self.workspace.relative(path))

    def _depends_on(self, task_id: str) -> tuple[str, ...]:
        """Return what a task depends on; nothing where there is no such task, or its file cannot be read."""
        return tuple(each for path in self.state_files(task_id) for each in self._head(path))

    def _head(self, path: Path) -> tuple[str, ...]:
        """Return what a state file depends on, remembered from another run where it has not changed since."""
        name, mark = os.fspath(path), self.source.mark(path) if self.heads else ""
        known = self.heads.get(name, mark) if self.heads else None
        if known is None:
            upstream = self.upstream(path)
            known = upstream.depends_on if upstream else ()
            if self.heads and mark:
                self.heads.put(name, mark, known)
        return known

    def _read(self, path: Path) -> Document | None:
        from taskstate.syntax.document import parse

        text = self._text(path)
        return None if text is None else parse(text)

    def _text(self, path: Path) -> str | None:
        try:
            return self.source.read(path).decode("utf-8")
        except (TaskstateError, UnicodeDecodeError):
            return None


def _by_id(paths: Iterable[Path]) -> Mapping[str, tuple[Path, ...]]:
    """Return the state files among `paths`, by case-folded id."""
    found: dict[str, list[Path]] = {}
    for path in paths:
        own = names.own_file(path.name)
        if own and own.type == "state" and own.id:
            found.setdefault(own.id.casefold(), []).append(path)
    return {task_id: tuple(paths) for task_id, paths in found.items()}


class Surroundings(ArtifactAnswers, HandoffAnswers, ContextAnswers):
    """The answers about one file."""

    def is_future(self, moment: str) -> bool | None:
        """Return whether a timestamp has not come yet."""
        return self._ask("is_future", moment) == "yes"

    def _is_future_mark(self, moment: str) -> str:
        return "yes" if moment > self.repository.now else "no"

    def archive(self) -> tuple[Document, ...] | None:
        """Return the archive file of the task."""
        path = self._archive_path
        if path is None:
            return None
        self._ask("archive")
        if not self.repository.source.exists(path):
            return ()
        found = self.repository.document(path)
        return (found,) if found else None  # one that cannot be read is told where it is linted itself

    @cached_property
    def _archive_path(self) -> Path | None:
        own = names.own_file(self.path.name)
        workspace = self.repository.workspace
        return workspace.state_root / workspace.archive_path(own.id) if own and own.id else None

    def _archive_mark(self) -> str:
        return self.repository.source.mark(self._archive_path) if self._archive_path else ""

    def same_id(self) -> tuple[str, ...] | None:
        """Return the other state files that have this file's id."""
        own = names.own_file(self.path.name)
        if own is None or not own.id:
            return None
        told = self._ask("same_id", own.id.casefold())
        return tuple(told.split("\n")) if told else ()

    def _same_id_mark(self, task_id: str) -> str:
        others = (
            path for path in self.repository.state_files(task_id) if path != self.path and not self._is_itself(path)
        )
        return "\n".join(files.shown(self.repository.workspace.relative(path)) for path in others)

    def _is_itself(self, path: Path) -> bool:
        """Return whether a path leads to this very file, be it through a link on the way."""
        return path == self.path or os.path.realpath(path) == os.path.realpath(self.path)

    def leaves(self, path: str) -> bool | None:
        """Return whether a path goes through a link that leads outside."""
        return self._ask("leaves", path) == "yes"

    def _leaves_mark(self, path: str) -> str:
        root = self.repository.real_root
        try:
            real = os.path.realpath(os.path.join(root, path))
        except (OSError, ValueError):
            return "no"
        return "no" if real == root or real.startswith(root + os.sep) else "yes"

    def missing_commits(self, ids: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return which of these commits the repository does not have."""
        told = self._ask("missing_commits", *ids)
        return tuple(told.split()) if told != "?" else None

    def _missing_commits_mark(self, *ids: str) -> str:
        try:
            kinds_of = self.repository.objects.kinds
            found = kinds_of([f"{each}^{{commit}}" for each in ids])
            missing = [each for each, kind in zip(ids, found, strict=True) if kind is None]
            # Git calls an id missing too that is cut so short that several commits have it; by itself it says why.
            why = kinds_of(missing)
            return " ".join(each for each, kind in zip(missing, why, strict=True) if kind != "ambiguous")
        except GitFailed:
            return "?"

    def upstream(self, task_id: str) -> tuple[Upstream, ...] | None:
        """Return what the state files of another task say."""
        self._ask("upstream", task_id.casefold())
        paths = self.repository.state_files(task_id.casefold())
        found = tuple(found for path in paths if (found := self.repository.upstream(path)))
        return found if found or not paths else None  # it is there, and what it says nobody can tell

    def _upstream_mark(self, task_id: str) -> str:
        paths = self.repository.state_files(task_id)
        return " ".join(f"{path.name}:{self.repository.source.mark(path)}" for path in paths)

    def way_back(self, task_id: str) -> tuple[str, ...] | None:
        """Return the ids on a shortest way along `depends_on` from a task back to this file's."""
        own = names.own_file(self.path.name)
        if own is None or not own.id:
            return None
        return tuple(self._ask("way_back", task_id.casefold(), own.id.casefold()).split())

    def _way_back_mark(self, task_id: str, own_id: str) -> str:
        return " ".join(self.repository.dependencies.way(task_id, own_id))

    def earlier(self) -> tuple[Document, ...] | None:
        """Return the file as it was at the compared revision."""
        return self._compared("earlier", self.path)

    def earlier_names(self) -> tuple[str, ...] | None:
        """Return how git calls the file as it was; its mark is that of the file as it was."""
        history = self.repository.history
        if history is None:
            return None
        self._ask("earlier")
        return history.names(self.path)

    def earlier_archive(self) -> tuple[Document, ...] | None:
        """Return the task's archive file as it was at the compared revision."""
        return self._compared("earlier_archive", self._archive_path)

    def _compared(self, question: str, path: Path | None) -> tuple[Document, ...] | None:
        history = self.repository.history
        if history is None or path is None:
            return None
        self._ask(question)
        return history.documents(path)

    def _earlier_mark(self) -> str:
        return self.repository.history.mark(self.path) if self.repository.history else ""

    def _earlier_archive_mark(self) -> str:
        history = self.repository.history
        return history.mark(self._archive_path) if history and self._archive_path else ""

    def changed_paths(self) -> tuple[str, ...] | None:
        """Return the files of the repository that differ from the compared revision."""
        history = self.repository.history
        if history is None:
            return None
        self._ask("changed_paths")
        return history.changed_paths

    def _changed_paths_mark(self) -> str:
        history = self.repository.history
        return files.digest("\0".join(history.changed_paths).encode("utf-8", "replace")) if history else ""

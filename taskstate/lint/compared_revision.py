"""Reads our files as they were at the revision that lint compares with (`--against`), following renames.

Git's own rename detection is not enough: it ignores untracked files, and two tasks made from one template look alike to
it. So it is combined with the id of a task and with its time of creation, to the second.
"""

from __future__ import annotations

import os
import posixpath
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import names
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import index as git_index
from taskstate.syntax.document import Document, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


_SHORT = 12  # characters of a commit id: short enough to read, long enough to be unique
_CACHED_DOCUMENTS = 8  # enough for the queries about one file, during a merge too; more would only cost memory


class RemovedFile(NamedTuple):
    """A state file of the compared revision that was removed; `name` is its path from the repository's root."""

    path: Path
    name: str
    document: Document


class _CurrentFiles:
    """The current files in the folder `root`: on disk, or with `staged` in the index."""

    def __init__(self, root: Path, objects: git.Objects, *, staged: bool) -> None:
        self.root = root
        self.objects = objects
        self.staged = staged

    @cached_property
    def untracked(self) -> frozenset[str]:
        """The files that git does not track."""
        return frozenset() if self.staged else frozenset(git_index.untracked(self.root))

    def has(self, name: str) -> bool:
        """Return whether a file that git lists as deleted exists on disk, as after `git rm --cached`."""
        return not self.staged and os.path.lexists(self.root / name)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None where it cannot be read."""
        if self.staged:
            return self.objects.read(f":./{name}")
        try:
            return files.read(self.root / name)
        except TaskstateError:
            return None


class _ComparedCommit:
    """A commit to compare with: our own files in it, and how the current files differ from them."""

    def __init__(self, revision: str, commit: str, now: _CurrentFiles) -> None:
        self.revision = revision
        self.commit = commit
        self.now = now
        self.tree: Mapping[str, str] = git_index.blobs_in_commit(now.root, commit)

    @cached_property
    def _changes(self) -> tuple[git_index.ChangedFile, ...]:
        return git_index.changes(self.now.root, self.commit, staged=self.now.staged)

    @cached_property
    def changed(self) -> frozenset[str]:
        """The paths that differ, removed ones included."""
        names = {name for each in self._changes for name in (each.path, each.origin) if name}
        return frozenset(names | self.now.untracked)

    @cached_property
    def removed(self) -> frozenset[str]:
        """The names of our own files that do not exist any more, renamed ones included."""
        names = {each.origin for each in self._changes} | {each.path for each in self._changes if each.status == "D"}
        return frozenset(name for name in names if name in self.tree and not self.now.has(name))

    @cached_property
    def renames(self) -> Mapping[str, str]:
        """The former name of each renamed file, by its current name."""
        added = {each.path for each in self._changes if each.status in {"A", "R", "C"}} | self.now.untracked
        evidence = RenameEvidence(
            removed=tuple(sorted(self.removed)),
            added=tuple(sorted(name for name in added - self.tree.keys() if own_type(name))),
            git_renames={each.path: each.origin for each in self._changes if each.origin},
            created_before=lambda name: _created_at(self.now.objects.read(self.tree[name])),
            created_now=lambda name: _created_at(self.now.read(name)),
        )
        return find_renames(evidence)


class ComparedRevision:
    """Our files at the compared revision, next to the current ones; while merging, at every parent.

    Before the first commit there is nothing to compare with: every file is new.
    """

    def __init__(self, now: _CurrentFiles, compared: tuple[_ComparedCommit, ...]) -> None:
        self._now = now
        self._compared = compared
        self._documents: dict[str, Document | None] = {}

    def prepare(self) -> None:
        """Compute now what otherwise every worker process would compute for itself."""
        _ = self.changed_paths, self.removed, self._prefix

    def documents(self, path: Path) -> tuple[Document, ...]:
        """Return the earlier versions of a file: one, while merging one for each parent; none for a new file."""
        documents = (self._document(object_id) for object_id, _ in self._versions(path))
        return tuple(document for document in documents if document)

    def names(self, path: Path) -> tuple[str, ...]:
        """Return the names that git has for the results of `documents`: `REV:path`."""
        return tuple(name for object_id, name in self._versions(path) if self._document(object_id))

    def _versions(self, path: Path) -> Iterator[tuple[str, str]]:
        """Yield object id and git's name of each earlier version of a file, but for one that another parent has too."""
        seen = set()
        for then, name in self._places(path):
            if then.tree[name] not in seen:
                seen.add(then.tree[name])
                yield then.tree[name], f"{then.revision}:{self._prefix}{name}"

    def mark(self, path: Path) -> str:
        """Return a text that changes whenever the earlier versions of a file change: the mark for the cache."""
        return "\0".join(f"{then.revision}:{name} {then.tree[name]}" for then, name in self._places(path))

    @cached_property
    def changed_paths(self) -> tuple[str, ...]:
        """The files under the root that differ from the compared revision; while merging, from every parent."""
        changed = [then.changed for then in self._compared]
        return tuple(sorted(changed[0].intersection(*changed[1:]))) if changed else ()

    @cached_property
    def removed(self) -> tuple[RemovedFile, ...]:
        """The removed state files, without renamed ones; while merging, those of every parent."""
        removed = [then.removed - set(then.renames.values()) for then in self._compared]
        names = sorted(removed[0].intersection(*removed[1:])) if removed else []
        states = (name for name in names if own_type(name) == "state")
        documents = ((name, self._document(self._compared[0].tree[name])) for name in states)
        return tuple(RemovedFile(self._now.root / name, name, document) for name, document in documents if document)

    @cached_property
    def _prefix(self) -> str:
        """The path of the root from the top of the working tree, with a final slash: `REV:path` begins at the top."""
        root = os.path.realpath(self._now.root)
        prefix = os.path.relpath(root, os.path.realpath(git.toplevel(self._now.root) or root)).replace(os.sep, "/")
        return "" if prefix == "." else f"{prefix}/"

    def _places(self, path: Path) -> Iterator[tuple[_ComparedCommit, str]]:
        """Yield the compared commits that have a file, each with the file's name in it."""
        if not path.is_relative_to(self._now.root):
            return
        name = path.relative_to(self._now.root).as_posix()
        for then in self._compared:
            old = name if name in then.tree else then.renames.get(name)
            if old:
                yield then, old

    def _document(self, object_id: str) -> Document | None:
        """Return the document in a git object, or None where it cannot be read."""
        if object_id not in self._documents:
            if len(self._documents) >= _CACHED_DOCUMENTS:
                del self._documents[next(iter(self._documents))]
            self._documents[object_id] = _parsed(self._now.objects.read(object_id))
        return self._documents[object_id]


def open_revision(root: Path, revision: str, objects: git.Objects, *, staged: bool = False) -> ComparedRevision | str:
    """Return the revision to compare the files under `root` with, or a message why that is impossible.

    With `staged` the index is compared with it instead of the disk.
    """
    shown = git.printable(revision)
    if git.toplevel(root) is None:
        return f"not compared with {shown}: {files.shown(root)} is in no git repository"
    now = _CurrentFiles(root, objects, staged=staged)
    try:
        head = git.head(root)
        if head is None and revision in {"HEAD", "@"} and git.version():
            return ComparedRevision(now, ())  # there is no commit yet
        commit = git.resolve_commit(root, revision)
        merged = git.merge_heads(root) if commit == head else ()
        parents = [(each[:_SHORT], each) for each in merged]
        compared = tuple(_ComparedCommit(name, each, now) for name, each in [(revision, commit), *parents])
    except GitFailed as error:
        return f"not compared with {shown}: {_failure_reason(root, error)}"
    return ComparedRevision(now, compared)


def _failure_reason(root: Path, error: GitFailed) -> str:
    if error.code != "no-commit":
        return str(error)
    if git.is_shallow(root):
        return "this clone is shallow and lacks it; `git fetch --unshallow` brings it"
    return "there is no such commit here; name another one, or fetch it first"


def _parsed(data: bytes | None) -> Document | None:
    try:
        return None if data is None else parse(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None


def _created_at(data: bytes | None) -> str:
    """Return the `created_at` of a state file; empty where it has none."""
    document = _parsed(data)
    created_at = document.front_matter.get("created_at") if document else None
    return created_at if isinstance(created_at, str) else ""


class RenameEvidence(NamedTuple):
    """The evidence of renames: our removed and added files, and git's renames (old name by new name).

    `created_before` and `created_now` return the `created_at` of a removed or added state file, or an empty text.
    """

    removed: tuple[str, ...]
    added: tuple[str, ...]
    git_renames: Mapping[str, str]
    created_before: Callable[[str], str]
    created_now: Callable[[str], str]


def find_renames(evidence: RenameEvidence) -> Mapping[str, str]:
    """Return the old name of each renamed file by its new name; the most reliable criterion decides first."""
    if not evidence.removed or not evidence.added:
        return {}
    renames: dict[str, str] = {}
    for matches in (_is_git_rename, _has_same_name, _has_same_id, _is_renumbered, _follows_state_file):
        for new in evidence.added:
            if new not in renames:
                left = (
                    old for old in evidence.removed if old not in renames.values() and own_type(old) == own_type(new)
                )
                old = next((old for old in left if matches(evidence, renames, old, new)), "")
                if old:
                    renames[new] = old
    return renames


def own_type(name: str) -> str:
    """Return the type of own file that a path names; empty for other files."""
    own = names.own_file(name)
    return own.type if own else ""


def own_id(name: str) -> str:
    """Return the case-folded id of the task whose file a path names; empty for other files."""
    own = names.own_file(name)
    return (own.id or "").casefold() if own else ""


def _is_git_rename(evidence: RenameEvidence, renames: Mapping[str, str], old: str, new: str) -> bool:
    return evidence.git_renames.get(new) == old and _has_same_name(evidence, renames, old, new)


def _has_same_name(_evidence: RenameEvidence, _renames: Mapping[str, str], old: str, new: str) -> bool:
    return posixpath.basename(old) == posixpath.basename(new) and own_id(old) == own_id(new)


def _has_same_id(_evidence: RenameEvidence, _renames: Mapping[str, str], old: str, new: str) -> bool:
    return own_type(new) != "handoff" and own_id(old) == own_id(new)  # a task has many handoffs


def _is_renumbered(evidence: RenameEvidence, _renames: Mapping[str, str], old: str, new: str) -> bool:
    """Return whether a task got another id: its time of creation is still the same."""
    if own_type(new) != "state":
        return False
    then, now = evidence.created_before(old), evidence.created_now(new)
    return then == now if then and now else evidence.git_renames.get(new) == old


def _follows_state_file(evidence: RenameEvidence, renames: Mapping[str, str], old: str, new: str) -> bool:
    """Return whether a file belongs to a task that got another id, and was renamed with its state file."""
    if own_type(new) == "state":
        return False
    renumbered = {(own_id(then), own_id(now)) for now, then in renames.items() if own_type(now) == "state"}
    if (own_id(old), own_id(new)) in renumbered:
        return own_type(new) != "handoff" or posixpath.basename(old) == posixpath.basename(new)
    return evidence.git_renames.get(new) == old

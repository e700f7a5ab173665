"""The files as they were at the revision that lint compares with, renamed ones found again.

Git alone cannot tell a rename: it does not see files that are not added, and two new tasks look alike since they come
from one template. So its answer counts together with a task's id and the second of its creation.
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


_SHORT = 12  # characters of a commit id: for a person, and unambiguous
_CACHED_DOCUMENTS = 8  # documents: what the rules ask for about one file, the parents of a merge included


class RemovedFile(NamedTuple):
    """A state file of the compared revision that is there no more; `name` is its path from the repository's root."""

    path: Path
    name: str
    document: Document


class _CurrentFiles:
    """What there is now in the folder `root`: on disk, or with `staged` in the index."""

    def __init__(self, root: Path, objects: git.Objects, *, staged: bool) -> None:
        self.root = root
        self.objects = objects
        self.staged = staged

    @cached_property
    def untracked(self) -> frozenset[str]:
        """The files that git does not know yet."""
        return frozenset() if self.staged else frozenset(git_index.untracked(self.root))

    def has(self, name: str) -> bool:
        """Return whether a file that git calls deleted is there all the same."""
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
    """A compared commit: how git calls it, our own files in it, and what became of them since."""

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
        """The paths that differ, those that are gone included."""
        names = {name for each in self._changes for name in (each.path, each.origin) if name}
        return frozenset(names | self.now.untracked)

    @cached_property
    def gone(self) -> frozenset[str]:
        """Our own files that are there no more, under their names."""
        went = {each.origin for each in self._changes} | {each.path for each in self._changes if each.status == "D"}
        return frozenset(name for name in went if name in self.tree and not self.now.has(name))

    @cached_property
    def renames(self) -> Mapping[str, str]:
        """What the files that were renamed were called."""
        came = {each.path for each in self._changes if each.status in {"A", "R", "C"}} | self.now.untracked
        moves = RenameEvidence(
            gone=tuple(sorted(self.gone)),
            new=tuple(sorted(name for name in came - self.tree.keys() if own_type(name))),
            git={each.path: each.origin for each in self._changes if each.origin},
            created_then=lambda name: _created_at(self.now.objects.read(self.tree[name])),
            created_now=lambda name: _created_at(self.now.read(name)),
        )
        return find_renames(moves)


class ComparedRevision:
    """The repository in the folder `root` at a compared revision, against what there is now.

    Before the first commit nothing is compared: every file is new.
    """

    def __init__(self, now: _CurrentFiles, compared: tuple[_ComparedCommit, ...]) -> None:
        self._now = now
        self._compared = compared
        self._documents: dict[str, Document | None] = {}

    def prepare(self) -> None:
        """Find out now what several processes would each find out for themselves."""
        _ = self.changed_paths, self.removed, self._below

    def documents(self, path: Path) -> tuple[Document, ...]:
        """Return a file as it was: one document, while merging one for each parent; empty where it is new."""
        found = (self._document(object_id) for object_id, _ in self._past(path))
        return tuple(document for document in found if document)

    def names(self, path: Path) -> tuple[str, ...]:
        """Return how git calls what `documents` gives: `REV:path`."""
        return tuple(name for object_id, name in self._past(path) if self._document(object_id))

    def _past(self, path: Path) -> Iterator[tuple[str, str]]:
        """Yield the id of each object that a file was, and how git calls it; parents may have the same one."""
        seen = set()
        for then, name in self._places(path):
            if then.tree[name] not in seen:
                seen.add(then.tree[name])
                yield then.tree[name], f"{then.revision}:{self._below}{name}"

    def mark(self, path: Path) -> str:
        """Return what tells one state of the answers about a file from another."""
        return "\0".join(f"{then.revision}:{name} {then.tree[name]}" for then, name in self._places(path))

    @cached_property
    def changed_paths(self) -> tuple[str, ...]:
        """The files under the root that differ from the compared revision, while merging from every parent."""
        changed = [then.changed for then in self._compared]
        return tuple(sorted(changed[0].intersection(*changed[1:]))) if changed else ()

    @cached_property
    def removed(self) -> tuple[RemovedFile, ...]:
        """The state files that are there no more, under no other name either; while merging, of every parent."""
        gone = [then.gone - set(then.renames.values()) for then in self._compared]
        names = sorted(gone[0].intersection(*gone[1:])) if gone else []
        states = (name for name in names if own_type(name) == "state")
        found = ((name, self._document(self._compared[0].tree[name])) for name in states)
        return tuple(RemovedFile(self._now.root / name, name, document) for name, document in found if document)

    @cached_property
    def _below(self) -> str:
        """The path of the root from the top of the working tree, as `REV:path` needs it."""
        root = os.path.realpath(self._now.root)
        below = os.path.relpath(root, os.path.realpath(git.toplevel(self._now.root) or root)).replace(os.sep, "/")
        return "" if below == "." else f"{below}/"

    def _places(self, path: Path) -> Iterator[tuple[_ComparedCommit, str]]:
        """Yield the compared commits that have a file, and where it stood in each."""
        if not path.is_relative_to(self._now.root):
            return
        name = path.relative_to(self._now.root).as_posix()
        for then in self._compared:
            old = name if name in then.tree else then.renames.get(name)
            if old:
                yield then, old

    def _document(self, object_id: str) -> Document | None:
        """Return the document that an object holds, or None where it cannot be read."""
        if object_id not in self._documents:
            if len(self._documents) >= _CACHED_DOCUMENTS:
                del self._documents[next(iter(self._documents))]
            self._documents[object_id] = _parsed(self._now.objects.read(object_id))
        return self._documents[object_id]


def open_revision(root: Path, revision: str, objects: git.Objects, *, staged: bool = False) -> ComparedRevision | str:
    """Return the repository around `root` as it was at a revision, or a line that says why nothing can be compared.

    `staged` compares what is in the index, and not what is on disk.
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
    """Return when the task of a state file was created, or nothing where it does not tell."""
    document = _parsed(data)
    told = document.front_matter.get("created_at") if document else None
    return told if isinstance(told, str) else ""


class RenameEvidence(NamedTuple):
    """What went and what came, our own files alone, and the renamings that git sees: a new name, and the old one.

    `created_then` and `created_now` say when the task of a state file was created, or nothing.
    """

    gone: tuple[str, ...]
    new: tuple[str, ...]
    git: Mapping[str, str]
    created_then: Callable[[str], str]
    created_now: Callable[[str], str]


def find_renames(moves: RenameEvidence) -> Mapping[str, str]:
    """Return for each file that was renamed what it was called; the surest signs are followed first."""
    if not moves.gone or not moves.new:
        return {}
    found: dict[str, str] = {}
    for sign in (_is_git_rename, _has_same_name, _has_same_id, _is_renumbered, _follows_state_file):
        for new in moves.new:
            if new not in found:
                left = (old for old in moves.gone if old not in found.values() and own_type(old) == own_type(new))
                old = next((old for old in left if sign(moves, found, old, new)), "")
                if old:
                    found[new] = old
    return found


def own_type(name: str) -> str:
    """Return which type of own file a path names, or nothing."""
    own = names.own_file(name)
    return own.type if own else ""


def own_id(name: str) -> str:
    """Return the case-folded id of the task whose file a path names, or nothing."""
    own = names.own_file(name)
    return (own.id or "").casefold() if own else ""


def _is_git_rename(moves: RenameEvidence, found: Mapping[str, str], old: str, new: str) -> bool:
    return moves.git.get(new) == old and _has_same_name(moves, found, old, new)


def _has_same_name(_moves: RenameEvidence, _found: Mapping[str, str], old: str, new: str) -> bool:
    return posixpath.basename(old) == posixpath.basename(new) and own_id(old) == own_id(new)


def _has_same_id(_moves: RenameEvidence, _found: Mapping[str, str], old: str, new: str) -> bool:
    return own_type(new) != "handoff" and own_id(old) == own_id(new)  # a task has many handoffs


def _is_renumbered(moves: RenameEvidence, _found: Mapping[str, str], old: str, new: str) -> bool:
    """Return whether a task got another id: then it keeps the second of its creation."""
    if own_type(new) != "state":
        return False
    then, now = moves.created_then(old), moves.created_now(new)
    return then == now if then and now else moves.git.get(new) == old


def _follows_state_file(moves: RenameEvidence, found: Mapping[str, str], old: str, new: str) -> bool:
    """Return whether a file goes along with the state file of its task, which got another id."""
    if own_type(new) == "state":
        return False
    renumbered = {(own_id(then), own_id(now)) for now, then in found.items() if own_type(now) == "state"}
    if (own_id(old), own_id(new)) in renumbered:
        return own_type(new) != "handoff" or posixpath.basename(old) == posixpath.basename(new)
    return moves.git.get(new) == old

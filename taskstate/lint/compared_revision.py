"""Reads our files as they were at the revision that lint compares with (`--against`), following renames.

Git's own rename detection is not enough: it ignores untracked files, and two tasks made from one template look alike to
it. So it is combined with the id of a task and with its time of creation, to the second.
"""

from __future__ import annotations

import os
import posixpath
from functools import cached_property

from taskstate.errors import TaskstateError
from taskstate.model.names import own_id, own_type
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import index as git_index
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.git_past import top_of, within_top

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from taskstate.model.document_kinds import Kinds
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace

_SHA1 = 40  # digits of an object id in a repository that uses SHA-1
_CACHED_DOCUMENTS = 8  # enough for the queries about one file, during a merge too; more would only cost memory


class RemovedFile(NamedTuple):
    """A state file or archive of the compared revision that was removed; `name` is its path from the root."""

    path: Path
    name: str
    document: Document


class CurrentFiles:
    """The current files of a workspace: on disk, in the index, or in a commit (`place` says which).

    `ids` are the object ids of our own files in the index or the commit.
    """

    def __init__(self, workspace: Workspace, objects: git.Objects, place: str, ids: Mapping[str, str]) -> None:
        self.workspace = workspace
        self.root = workspace.root
        self.top, self.within = top_of(workspace), within_top(workspace)
        self.objects = objects
        self.place = place
        self.ids = ids
        self._waiting: Callable[[], frozenset[str]] | None = None

    @cached_property
    def untracked(self) -> frozenset[str]:
        """The files that git does not track."""
        return frozenset() if self.place else frozenset(git_index.untracked(self.root))

    @cached_property
    def prefix(self) -> str:
        """The path of the root from the top of the working tree, with a final slash: `REV:path` begins at the top."""
        if not self.workspace.is_on_disk:
            return self.within
        root = os.path.realpath(self.root)
        prefix = os.path.relpath(root, os.path.realpath(git.toplevel(self.root) or root)).replace(os.sep, "/")
        return "" if prefix == "." else f"{prefix}/"

    def start(self) -> None:
        """Have git look already for what has changed since HEAD, while other things are done."""
        if not self.place and self._waiting is None:
            self._waiting = git_index.start_changes_since_head(self.root, self.prefix)

    @cached_property
    def changed_since_head(self) -> frozenset[str]:
        """The files on disk that differ from HEAD, untracked ones included."""
        self.start()
        waiting, self._waiting = self._waiting, None
        return waiting() if waiting else frozenset()

    def without(self, names: Collection[str]) -> frozenset[str]:
        """Return those of these files that do not exist now."""
        if self.place:
            return frozenset(name for name in names if name not in self.ids)
        # Folders are listed: to look for each file by itself takes longer, since all folders above it are opened.
        above = {posixpath.dirname(name) for name in names}
        return frozenset(names) - {posixpath.join(each, own) for each in above for own in self._names_in(each)}

    def _names_in(self, folder: str) -> tuple[str, ...]:
        try:
            return files.names(self.root / folder)
        except TaskstateError:  # it became a link, or may not be read
            return ()

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None where it cannot be read."""
        if self.place:
            return self.objects.read(self.ids[name]) if name in self.ids else None
        try:
            return files.read(self.root / name)
        except TaskstateError:
            return None


class ComparedCommit:
    """A commit to compare with: our own files in it, and how the current files differ from them."""

    def __init__(self, revision: str, commit: str, tree: Mapping[str, str], now: CurrentFiles) -> None:
        self.revision = revision
        self.commit = commit
        self.tree = tree
        self.now = now

    @cached_property
    def _changes(self) -> tuple[git_index.ChangedFile, ...]:
        return git_index.changes(self.now.top, self.commit, self.now.place, self.now.within)

    @cached_property
    def is_head(self) -> bool:
        """Whether the files on disk are compared with HEAD, which is the fastest."""
        return not self.now.place and self.commit == git.head(self.now.root)

    @cached_property
    def changed(self) -> frozenset[str]:
        """The paths that differ, removed ones included; of HEAD a single look at git tells them."""
        if self.is_head:
            return self.now.changed_since_head
        names = {name for each in self._changes for name in (each.path, each.origin) if name}
        return frozenset(names | self.now.untracked)

    @cached_property
    def removed(self) -> frozenset[str]:
        """The names of our own files that do not exist any more, renamed ones included.

        Git is asked only where one does not exist: a sparse checkout leaves files out that were not removed.
        """
        absent = self.now.without(self.tree)
        if not absent:
            return absent
        return absent & ({each.origin for each in self._changes} | {e.path for e in self._changes if e.status == "D"})

    @property
    def removed_for_good(self) -> Iterator[str]:
        """The removed state files, without those that moved, and all removed archives: each has one place."""
        for name in self.removed:
            if own_type(name) == "archive" or (own_type(name) == "state" and name not in self.renames.values()):
                yield name

    @cached_property
    def renames(self) -> Mapping[str, str]:
        """The former name of each renamed file, by its current name."""
        if not self.removed:
            return {}
        added = {each.path for each in self._changes if each.status in {"A", "R", "C"}} | self.now.untracked
        evidence = RenameEvidence(
            removed=tuple(sorted(self.removed)),
            added=tuple(sorted(name for name in added - self.tree.keys() if self.now.workspace.lists(name))),
            git_renames={each.path: each.origin for each in self._changes if each.origin},
            created_before=lambda name: _created_at(self.now.objects.read(self.tree[name])),
            created_now=lambda name: _created_at(self.now.read(name)),
        )
        return find_renames(evidence)


class ComparedRevision:
    """Our files at the compared revision, next to the current ones; while merging, at every parent.

    Before the first commit there is nothing to compare with: every file is new.
    """

    def __init__(self, now: CurrentFiles, compared: tuple[ComparedCommit, ...]) -> None:
        self._now = now
        self._compared = compared
        self._documents: dict[str, Document | None] = {}
        self._root = f"{now.root}{os.sep}"

    def start(self) -> None:
        """Start what a run over all files needs."""
        if any(then.is_head for then in self._compared):
            self._now.start()

    @property
    def has_commits(self) -> bool:
        """Whether there is anything to compare with."""
        return bool(self._compared)

    def prepare(self) -> None:
        """Compute now what otherwise every worker process would compute for itself."""
        _ = self.changed_paths, self.removed, self._now.prefix

    def documents(self, path: Path, now: Document | None = None) -> tuple[Document, ...]:
        """Return the earlier versions of a file: one, while merging one for each parent; none for a new file.

        A version with the same content as `now`, the file as it is, is not read from git: `now` is returned for it.
        """
        versions = [then.tree[name] for then, name in self._versions(path)]
        same = _object_id(now.text, versions[0]) if now and versions else ""
        documents = (now if object_id == same else self._document(object_id) for object_id in versions)
        return tuple(document for document in documents if document)

    def names(self, path: Path) -> tuple[str, ...]:
        """Return the names that git has for the results of `documents`: `REV:path`."""
        versions = ((then, name) for then, name in self._versions(path) if self._document(then.tree[name]))
        return tuple(f"{then.revision}:{self._now.prefix}{name}" for then, name in versions)

    def place(self, path: Path) -> tuple[str, ...]:
        """Return the revision that has a file, and the file's path there from the top; empty where none has it."""
        found = next(self._places(path), None)
        return (found[0].revision, f"{self._now.prefix}{found[1]}") if found else ()

    def _versions(self, path: Path) -> Iterator[tuple[ComparedCommit, str]]:
        """Yield the compared commits with a file's name in each, but for one whose version another one has too."""
        seen = set()
        for then, name in self._places(path):
            if then.tree[name] not in seen:
                seen.add(then.tree[name])
                yield then, name

    def versions_before(self, path: Path, parent: int) -> Iterator[Document]:
        """Yield the versions of a file that lead to a result of `documents`, oldest first.

        None in a shallow clone: its oldest version is not the first.
        """
        from taskstate.workspace.git_past import versions_before

        places = [(then, name) for then, name in self._versions(path) if self._document(then.tree[name])]
        if git.is_shallow(self._now.top):
            return
        then, name = places[parent]
        found = versions_before(self._now.workspace, name, then.commit)
        for data in reversed(found):
            document = _parsed(data, self._now.workspace.kinds)
            if document:
                yield document

    def mark_before(self, path: Path) -> str:
        """Return a text that changes whenever the answers of `versions_before` do: the mark for the cache."""
        return "shallow" if git.is_shallow(self._now.top) else " ".join(then.commit for then, _ in self._places(path))

    def mark(self, path: Path) -> str:
        """Return a text that changes whenever the earlier versions of a file change: the mark for the cache."""
        return "\0".join(f"{then.revision}:{name} {then.tree[name]}" for then, name in self._places(path))

    @cached_property
    def changed_paths(self) -> tuple[str, ...]:
        """The files under the root that differ from the compared revision; while merging, from every parent."""
        changed = [then.changed for then in self._compared]
        return tuple(sorted(changed[0].intersection(*changed[1:]))) if changed else ()

    @cached_property
    def touched_paths(self) -> frozenset[str]:
        """The files under the root that differ from a compared commit; while merging, from any parent."""
        return frozenset[str]().union(*(then.changed for then in self._compared))

    @cached_property
    def changed_digest(self) -> str:
        """A hash of `changed_paths`: the mark for the cache."""
        return files.digest("\0".join(self.changed_paths).encode("utf-8", "replace"))

    @cached_property
    def removed(self) -> tuple[RemovedFile, ...]:
        """The removed state files and archives, without files that moved; while merging, those of every parent."""
        removed = [frozenset(then.removed_for_good) for then in self._compared]
        names = sorted(removed[0].intersection(*removed[1:])) if removed else []
        documents = ((name, self._document(self._compared[0].tree[name])) for name in names)
        return tuple(RemovedFile(self._now.root / name, name, document) for name, document in documents if document)

    def _places(self, path: Path) -> Iterator[tuple[ComparedCommit, str]]:
        """Yield the compared commits that have a file, each with the file's name in it."""
        # Called for every file of a run: cutting the prefix off is ten times as fast as `Path.relative_to`.
        full = str(path)
        if not full.startswith(self._root):
            return
        name = full.removeprefix(self._root).replace(os.sep, "/")
        for then in self._compared:
            old = name if name in then.tree else then.renames.get(name)
            if old:
                yield then, old

    def _document(self, object_id: str) -> Document | None:
        """Return the document in a git object, or None where it cannot be read."""
        if object_id not in self._documents:
            if len(self._documents) >= _CACHED_DOCUMENTS:
                del self._documents[next(iter(self._documents))]
            self._documents[object_id] = _parsed(self._now.objects.read(object_id), self._now.workspace.kinds)
        return self._documents[object_id]


def _object_id(text: str, like: str) -> str:
    """Return the id that git gives a file with this text, by the hash with which the id `like` was made."""
    import hashlib

    data = text.encode()
    made = hashlib.sha1(usedforsecurity=False) if len(like) == _SHA1 else hashlib.sha256()
    made.update(b"blob %d\0" % len(data) + data)
    return made.hexdigest()


def _parsed(data: bytes | None, kinds: Kinds = ()) -> Document | None:
    from taskstate.syntax.document import parse

    try:
        return None if data is None else parse(data.decode("utf-8"), kinds)
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

"""Chooses the commits that a lint run compares the files with, and opens them.

Without `--against` that is HEAD, while merging every parent; or what was pushed, where `append-only` says so. A commit
that is named counts from the place where the present left it: a branch that has gone on meanwhile is no measure.
"""

from __future__ import annotations

from taskstate.errors import GitFailed
from taskstate.lint.compared_revision import ComparedCommit, ComparedRevision, CurrentFiles
from taskstate.model.config import COMMITTED, PUSHED
from taskstate.storage import files
from taskstate.storage.cache import Cache
from taskstate.storage.git import client as git
from taskstate.storage.git.client import DISK, INDEX
from taskstate.storage.git.index import blobs_in_commit, blobs_in_index
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from taskstate.error_codes import ErrorCode

_TREES = 4  # commits whose files are cached: HEAD, the one before, and those of a merge
_NOT_THERE: frozenset[ErrorCode] = frozenset({"no-commit", "no-base"})  # what git fails with where there is none
_NO_COMMIT = "0" * 40  # what services name as the commit before a new branch


class NamedCommit(NamedTuple):
    """A commit to compare with, and its name in messages."""

    name: str
    id: str


class Trees:
    """The object ids of our own files in commits, cached from run to run: the files of a commit never change."""

    def __init__(self, root: Path, cache: Path | None = None, within: str = "") -> None:
        """Take the folder where git works; the paths are those `within` a folder of it, which ends with a slash."""
        self._root = root
        self._within = within
        self._cache = Cache[dict[str, str]](cache, _tree, rests_on=str(root), max_entries=_TREES)

    def of(self, commit: str) -> Mapping[str, str]:
        """Return the object ids of our own files in a commit, by path from the root.

        Raises:
            GitFailed: git refuses, or is missing.
        """
        tree = self._cache.get(commit)
        if tree is None:
            tree = blobs_in_commit(self._root, commit, self._within)
            self._cache.put(commit, tree)
            self._cache.save()
        return tree

    def at(self, place: str) -> Mapping[str, str]:
        """Return the object ids of our own files in the index or in a commit; none for the disk.

        Raises:
            GitFailed: git refuses, or is missing.
        """
        if place == DISK:
            return {}
        return blobs_in_index(self._root) if place == INDEX else self.of(place)


def _tree(values: Any) -> dict[str, str]:  # noqa: ANN401 - whatever the file holds
    return {str(name): str(object_id) for name, object_id in values.items()}


class Wanted(NamedTuple):
    """What to compare with: the commit that `against` names, or where it is None what `append_only` protects.

    With `last_commit`, where the index has nothing of ours that HEAD has not, HEAD is compared with its parents.
    """

    against: str | None
    append_only: str = COMMITTED
    last_commit: bool = False


def open_history(now: CurrentFiles, trees: Trees, wanted: Wanted) -> ComparedRevision | str | None:
    """Return the opened commits to compare with, a message why that is impossible, or None: nothing is compared."""
    against = wanted.against
    if not git.is_repository(now.top):
        return (
            f"{_not_compared(against)}: {files.shown(now.root)} is in no git repository"
            if against is not None
            else None
        )
    try:
        tip = now.place if now.place not in {DISK, INDEX} else git.head(now.top)
        if tip is None and against is None:
            return None
        if tip is None and against in {"HEAD", "@"} and git.version():
            return ComparedRevision(now, ())  # there is no commit yet
        if against is not None:
            chosen = _named(now, against, tip)
        elif wanted.last_commit and now.ids == trees.of(tip or "") and not git.merge_heads(now.top):
            chosen = _parents(now.top, tip or "")
        else:
            chosen = _protected(now, tip or "", wanted.append_only)
        return ComparedRevision(now, tuple(ComparedCommit(name, each, trees.of(each), now) for name, each in chosen))
    except GitFailed as error:
        if against is None and git.version() is None:
            return None  # without git there is nothing to compare with, as outside of a repository
        return f"{_not_compared(against)}: {_failure_reason(now.top, against, error)}"


def _parents(root: Path, head: str) -> tuple[NamedCommit, ...]:
    """Return the parents of HEAD; none of the first commit.

    Raises:
        GitFailed: code "no-commit": a shallow clone lacks them.
    """
    from taskstate.storage.git import bases

    parents = bases.parents(root, head)
    if not parents and git.is_shallow(root):
        raise GitFailed("there is no parent of HEAD", code="no-commit")
    return tuple(map(_unnamed, parents))


def _protected(now: CurrentFiles, head: str, append_only: str) -> tuple[NamedCommit, ...]:
    """Return the commits whose records may not be rewritten: HEAD and what is merged into it, or what was pushed.

    A commit that is checked alone is compared as in a new clone: with itself.
    """
    from taskstate.storage.git import bases

    root = now.top
    if not now.workspace.is_on_disk:
        return (NamedCommit("HEAD", head),)
    heads = (head, *git.merge_heads(root))
    if append_only == PUSHED:
        commits = dict.fromkeys(commit for each in heads for commit in bases.pushed(root, each))
        return tuple(_unnamed(each) for each in commits)
    return (NamedCommit("HEAD", head), *map(_unnamed, heads[1:]))


def _named(now: CurrentFiles, revision: str, tip: str | None) -> tuple[NamedCommit, ...]:
    """Return the place where the present left a revision; while merging, for HEAD, every parent.

    Raises:
        GitFailed: code "no-commit" or "no-base": there is none.
    """
    root = now.top
    commit = git.resolve_commit(root, revision)
    if tip is None or commit == tip:
        merged = git.merge_heads(root) if commit == git.head(root) and now.workspace.is_on_disk else ()
        return (NamedCommit(revision, commit), *map(_unnamed, merged))
    from taskstate.storage.git import bases

    base = bases.base_of(root, commit, tip)
    if base is None:
        raise GitFailed("it has no commit in common with what is checked", code="no-base")
    return (NamedCommit(revision, commit) if base == commit else _unnamed(base),)


def _unnamed(commit: str) -> NamedCommit:
    return NamedCommit(commit[: git.SHORT], commit)


def _not_compared(against: str | None) -> str:
    return f"not compared with {git.printable('HEAD' if against is None else against)}"


def _failure_reason(root: Path, against: str | None, error: GitFailed) -> str:
    if error.code not in _NOT_THERE:
        return str(error)
    if against == _NO_COMMIT:
        return "that is the id of no commit; a branch that is new is compared with the one that it left"
    if git.is_shallow(root):
        return "this clone is shallow and lacks it; `git fetch --unshallow` brings it"
    if error.code == "no-base":
        return str(error)
    return "there is no such commit here; name another one, or fetch it first"

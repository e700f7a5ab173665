"""A model of what is drift, from its definition alone: content that differs and that no commit explains.

Files are known from `WorkingTree`. Of git's history the model asks for the commits on either side, and compares their
patches by itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tests.support.working_tree import Entry, WorkingTree

_LEFT_OUT = re.compile(r"(?:index|old mode|new mode) ")
_HUNK = re.compile(r"@@ .*? @@.*")


class Left(NamedTuple):
    """What a role left: the files, the commit that was checked out, and the paths that it changed since the base."""

    entries: dict[str, Entry]
    head: str
    changed: frozenset[str]


def differing(left: Left, now: Mapping[str, Entry]) -> set[str]:
    """Return the paths that differ from what was left."""
    return {path for path in {*left.entries, *now} if left.entries.get(path) != now.get(path)}


def changed_between(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return the paths that differ between two trees, given as the object of each path."""
    return frozenset(path for path in {*before, *after} if before.get(path) != after.get(path))


def explained(tree: WorkingTree, left: Left, own: Collection[str]) -> set[str]:
    """Return the paths that differ from what was left because of commits that came since.

    Each commit that left has an equal one among those that came; a commit that came touched the path; it is as HEAD has
    it; and `own`, what snapshots of the task changed, does not have it.
    """
    came, lost = _only(tree, "HEAD", left.head), _only(tree, left.head, "HEAD")
    patches = {each: _patch(tree, each) for each in (*came, *lost)}
    if any(not _is_plain_merge(tree, each) and patches[each] not in [patches[new] for new in came] for each in lost):
        return set()
    old = [patches[each] for each in lost]
    new = (each for each in came if patches[each] not in old or _parents(tree, each)[1:])
    touched = {path for each in new for path in _paths(tree, each)}
    now = tree.entries()
    at_head, here = tree.committed("HEAD"), tree.as_committed(now)
    return {path for path in differing(left, now) & touched - {*own} if at_head.get(path) == here.get(path)}


def _only(tree: WorkingTree, wanted: str, other: str) -> list[str]:
    """Return the commits of one side that changed more than taskstate's own files."""
    listed = tree.git("rev-list", wanted, f"^{other}", "--").split()
    return [each for each in listed if _paths(tree, each)]


def _parents(tree: WorkingTree, commit: str) -> list[str]:
    return tree.git("rev-parse", f"{commit}^@").split()


def _paths(tree: WorkingTree, commit: str) -> set[str]:
    """Return the paths in which a commit differs from all of its parents, without taskstate's own."""
    after, parents = tree.committed(commit), _parents(tree, commit)
    sides = [changed_between(tree.committed(parent), after) for parent in parents] or [changed_between({}, after)]
    return {*sides[0].intersection(*sides[1:])}


def _is_plain_merge(tree: WorkingTree, commit: str) -> bool:
    """Return whether a commit is the merge that git makes of its parents by itself."""
    parents = _parents(tree, commit)
    if len(parents) < 2:
        return False
    merged = tree.git("merge-tree", "--write-tree", *parents).split("\n")[0]
    return merged == tree.git("rev-parse", f"{commit}^{{tree}}").strip()


def _patch(tree: WorkingTree, commit: str) -> str:
    """Return a commit's patch without line numbers, object ids, modes and blanks; of a merge its own id."""
    if len(_parents(tree, commit)) > 1:
        return commit
    text = tree.git("diff-tree", "-p", "--root", "--full-index", "--no-renames", "--no-commit-id", commit, "--")
    parts = []
    for file in text.split("\ndiff --git "):
        is_binary = "\nBinary files " in file
        lines = (line for line in file.split("\n") if is_binary or not _LEFT_OUT.match(line))
        parts.append("".join(_HUNK.sub("@@", line) for line in lines))
    return "".join("\n".join(parts).split(" ")).replace("\t", "").replace("\r", "")

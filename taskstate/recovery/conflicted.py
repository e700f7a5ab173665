"""Settles the conflicts that a merge left in a state file: both sides are merged by meaning, or nothing is chosen.

git keeps both sides in its index until the conflict is resolved. Where it has them no more, only a text that has every
line of both sides takes the place of the file.
"""

from __future__ import annotations

import re
from contextlib import closing, suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.merge.linked_maps import with_merged_links
from taskstate.merge.merge_files import merge_files
from taskstate.recovery.conservation import lost_sessions, without_archived
from taskstate.storage.git import client as git
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.typed import TYPE_CHECKING
from taskstate.units.three_way import Versions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BASE, _DIVIDER = "|||||||", "======="
_MARKERS = ("<<<<<<<", _BASE, _DIVIDER, ">>>>>>>")
# What every write sets anew: it differs on both sides, and says nothing of what they hold.
_WRITTEN = re.compile(r"\s*(updated_at|updated_by|revision|update_count|git_head|seal|sessions|file_size_kb): ")


def merged_again(root: Path, path: str, data: bytes) -> bytes | None:
    """Return what the merge driver makes of both sides of a file in conflict; None where something has to be decided.

    None as well where git's index does not have both sides, or somebody has edited the file since.
    """
    with suppress(GitFailed), closing(git.Objects(root)) as objects:
        base, ours, theirs = (objects.read(f":{stage}:./{path}") for stage in (1, 2, 3))
        if ours is None or theirs is None:
            return None
        versions = Versions(base or b"", ours, theirs)
        sides = without_archived(with_merged_links(versions, path, root), path, root)
        merged = merge_files(sides, path)
        known = {line for text in (*versions, merged.data) for line in text.splitlines()}
        markers = tuple(each.encode() for each in _MARKERS)
        is_edited = any(line not in known and not line.startswith(markers) for line in data.splitlines())
        if not (merged.conflicts or is_edited or lost_sessions(sides, merged.data, path, root)):
            return merged.data
    return None


def undecided(line: int) -> TaskstateError:
    """Return the error that a person has to choose a side of the conflict that begins in a line."""
    message = f"line {line}: which side of the conflict is right is not known"
    return TaskstateError(f"{message}: keep the right lines, and delete its markers", code="unsafe")


def require_both_sides(before: str, after: str) -> None:
    """Refuse a text that lacks a line of a side of a conflict.

    Raises:
        TaskstateError: code "unsafe".
    """
    held = {each.strip() for each in after.splitlines()}
    if not held.issuperset(_lines_of_sides(before)):
        raise TaskstateError("a side of the conflict would get lost", code="unsafe")


def _lines_of_sides(text: str) -> Iterator[str]:
    for conflict in find_conflicts(text):
        is_base = False
        for line in conflict.span.of(text).splitlines():
            is_base = line.startswith(_BASE) or (is_base and not line.startswith(_DIVIDER))
            if line.strip() and not is_base and not line.startswith(_MARKERS) and not _WRITTEN.match(line):
                yield line.strip()

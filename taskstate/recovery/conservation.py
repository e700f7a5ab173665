"""Checks what a merge takes out of a state file: a session that one side archived must stand in an archive.

The merge itself sees one file at a time, and takes a session that one side lacks for archived there.
"""

from __future__ import annotations

import posixpath
from contextlib import closing, suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model.names import own_file
from taskstate.model.task_state import read_state
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING
from taskstate.units.items import archive_items, entry_item

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.model.progress_log import Session
    from taskstate.units.three_way import Versions

# The commits whose archives a merge, a cherry-pick or a rebase brings together.
_HEADS = ("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")


def lost_sessions(versions: Versions[bytes], merged: bytes, name: str, top: Path) -> tuple[int, ...]:
    """Return the numbers of sessions that a side has and neither the merged state file nor any archive holds.

    `name` is the path of the state file from `top`, the root of the working tree.
    """
    own = own_file(name)
    if own is None or own.type != "state":
        return ()
    base, ours, theirs = (_sessions(data) for data in versions)
    after = _sessions(merged)
    present, before = ({entry_item(each.entry) for each in side} for side in (after, base))
    edited = {each.time for each in after if entry_item(each.entry) not in before}
    gone = [each for each in (*ours, *theirs) if entry_item(each.entry) not in present and each.time not in edited]
    if not gone:
        return ()
    path = posixpath.join(posixpath.dirname(posixpath.dirname(name)), f"archives/task-{own.id}-archive.md")
    for text in _archives(top, path):
        archived = archive_items(text)
        gone = [each for each in gone if not archived[entry_item(each.entry)]]
    return tuple(sorted({each.number for each in gone}))


def _sessions(data: bytes) -> tuple[Session, ...]:
    return read_state(parse(data.decode("utf-8", "replace"))).sessions


def _archives(top: Path, path: str) -> Iterator[str]:
    """Yield the texts of an archive file: as it is here, and in the commits that are merged."""
    with suppress(TaskstateError):
        if files.size(top / path):
            yield files.read(top / path).decode("utf-8", "replace")
    with suppress(GitFailed), closing(git.Objects(top)) as objects:
        for head in (*_HEADS, *git.merge_heads(top)):
            data = objects.read(f"{head}:{path}")
            if data:
                yield data.decode("utf-8", "replace")

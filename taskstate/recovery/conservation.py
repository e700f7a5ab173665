"""Holds what a merge makes of a state file against the archives: a session must stand in one of the two, once.

The merge itself sees one file at a time: it takes a session that one side lacks for archived there, and one that one
side adds for new.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from contextlib import closing, suppress
from functools import reduce
from operator import or_

from taskstate.errors import GitFailed, TaskstateError
from taskstate.merge.three_way import Versions
from taskstate.model.archive_format import batch_contents
from taskstate.model.items import Item, archive_items, entry_item, session_item
from taskstate.model.names import own_file
from taskstate.model.session_words import session_words
from taskstate.model.task_state import read_state
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.model.progress_log import Session
from taskstate.model.task_state import TaskState

# The commits whose archives a merge, a cherry-pick or a rebase brings together.
_HEADS = ("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")


def without_archived(versions: Versions[bytes], name: str, top: Path) -> Versions[bytes]:
    """Return the versions of a state file without what one side adds and an archive holds, whatever its number there.

    So it is after a squash or a cherry-pick, where the other side has archived what it took over. What a side took back
    out of the archive stays. `name` is the path of the state file from `top`, the root of the working tree.
    """
    own = own_file(name)
    if own is None or own.type != "state":
        return versions
    try:
        states = versions.each(lambda data: read_state(parse(data.decode("utf-8"))))
    except UnicodeDecodeError:
        return versions
    held = states.each(lambda state: {session_item(each) for each in state.sessions})
    if not (held.ours ^ held.theirs) - held.base:
        return versions
    archives = [_Archive.of(text) for text in _archives(top, _archive_of(name, own.id))]
    ours = _without(states.ours, states.base, held.ours - held.base - held.theirs, archives)
    theirs = _without(states.theirs, states.base, held.theirs - held.base - held.ours, archives[::-1])
    return Versions(versions.base, ours.encode(), theirs.encode())


def _without(side: TaskState, base: TaskState, added: set[Item], archives: list[_Archive]) -> str:
    """Return the text of a side without those of the added sessions of which an archive holds more than its own does.

    Its own is the first of the `archives` that ends where its summary does.
    """
    text = side.document.text
    if side.archived < base.archived:  # taken back out of the archive, which the other side still has
        return text
    own = next((each.words for each in archives if each.last == side.archived > 0), Counter[str]())
    elsewhere = reduce(or_, (each.words for each in archives), Counter[str]()) - own
    edits = []
    for session in side.sessions:
        words = session_words(session.entry) if session_item(session) in added else ""
        if elsewhere[words]:  # the same words twice are two sessions
            elsewhere[words] -= 1
            edits.append(Edit(*session.section.span, ""))
    return apply(text, edits)


class _Archive(NamedTuple):
    """What the sessions of an archive say, and the number of its last one."""

    words: Counter[str]
    last: int

    @classmethod
    def of(cls, text: str) -> _Archive:
        """Return what the text of an archive holds."""
        entries = [entry for batch in batch_contents(text) for entry in batch.entries]
        words = Counter(session_words(text[each.start : each.end]) for each in entries)
        return cls(words, max((each.number for each in entries), default=0))


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
    for text in _archives(top, _archive_of(name, own.id)):
        archived = archive_items(text)
        gone = [each for each in gone if not archived[entry_item(each.entry)]]
    return tuple(sorted({each.number for each in gone}))


def _sessions(data: bytes) -> tuple[Session, ...]:
    return read_state(parse(data.decode("utf-8", "replace"))).sessions


def _archive_of(name: str, task_id: str | None) -> str:
    """Return the path of the archive that belongs to a state file, from the same root."""
    return posixpath.join(posixpath.dirname(posixpath.dirname(name)), f"archives/task-{task_id}-archive.md")


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

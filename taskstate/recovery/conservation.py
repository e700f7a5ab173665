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
from taskstate.model.archive_format import batch_contents
from taskstate.model.names import own_file
from taskstate.model.session_words import session_words
from taskstate.model.task_state import read_state
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import Item, archive_items, entry_item, session_item
from taskstate.units.three_way import Versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import TaskState

# The commits whose archives a merge, a cherry-pick or a rebase brings together.
_OURS = ("", "HEAD")  # the first is the file as it is here
_THEIRS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")


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
    path, last = _archive_of(name, own.id), states.base.archived
    ours, theirs = ([*map(_entries, _archives(top, path, heads))] for heads in (_OURS, _theirs(top)))
    # What the base had archived, too, comes into the merged archive from our side alone.
    come = [[each for each in archive if each.number > last] for archive in theirs]
    added = held.ours - held.base - held.theirs, held.theirs - held.base - held.ours
    our_text = _without(states.ours, added[0], [*ours, *theirs], come)
    is_restored = states.theirs.archived < last
    their_text = _without(states.theirs, added[1], [*theirs, *ours], [] if is_restored else ours)
    return Versions(versions.base, our_text.encode(), their_text.encode())


class _Entry(NamedTuple):
    """A session in an archive: its number, and what it says."""

    number: int
    words: str


def _entries(archive: str) -> list[_Entry]:
    found = (entry for batch in batch_contents(archive) for entry in batch.entries)
    return [_Entry(each.number, session_words(archive[each.start : each.end])) for each in found]


def _without(side: TaskState, added: set[Item], own: list[list[_Entry]], others: list[list[_Entry]]) -> str:
    """Return the text of a side without those of the added sessions of which other archives hold more than its own.

    Its own is the first of `own` that ends where its summary does.
    """
    counts = [Counter(each.words for each in archive) for archive in others]
    ended = (archive for archive in own if archive and archive[-1].number == side.archived)
    elsewhere = reduce(or_, counts, Counter[str]()) - Counter(each.words for each in next(ended, []))
    edits = []
    for session in side.sessions:
        words = session_words(session.entry) if session_item(session) in added else ""
        if elsewhere[words]:  # the same words twice are two sessions
            elsewhere[words] -= 1
            edits.append(Edit(*session.section.span, ""))
    return apply(side.document.text, edits)


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
    for text in _archives(top, _archive_of(name, own.id), (*_OURS, *_theirs(top))):
        archived = archive_items(text)
        gone = [each for each in gone if not archived[entry_item(each.entry)]]
    return tuple(sorted({each.number for each in gone}))


def _sessions(data: bytes) -> tuple[Session, ...]:
    return read_state(parse(data.decode("utf-8", "replace"))).sessions


def _archive_of(name: str, task_id: str | None) -> str:
    """Return the path of the archive that belongs to a state file, from the same root."""
    return posixpath.join(posixpath.dirname(posixpath.dirname(name)), f"archives/task-{task_id}-archive.md")


def _theirs(top: Path) -> tuple[str, ...]:
    return (*_THEIRS, *git.merge_heads(top))


def _archives(top: Path, path: str, heads: Iterable[str]) -> Iterator[str]:
    """Yield the texts of an archive file in these commits, "" for the working tree."""
    with suppress(GitFailed), closing(git.Objects(top)) as objects:
        for head in heads:
            data = objects.read(f"{head}:{path}") if head else _read(top / path)
            if data:
                yield data.decode("utf-8", "replace")


def _read(path: Path) -> bytes | None:
    with suppress(TaskstateError):
        return files.read(path) if files.size(path) else None
    return None

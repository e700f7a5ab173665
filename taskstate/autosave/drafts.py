"""Makes drafts of what a session did, and keeps them in the private folder until a session tells of it.

They are made before a compaction, at an ending, or late, when the next turn begins. One is created once and never
changed. What a session of the state file tells, or is a month old, leaves first when they become many.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from contextlib import suppress

from taskstate.autosave import tree_marks
from taskstate.autosave.draft import Circumstances, Draft, draft_of, ending
from taskstate.autosave.notes import all_notes, delete
from taskstate.autosave.present import present
from taskstate.autosave.work import edited, inside, work_of
from taskstate.errors import GitFailed, TaskstateError
from taskstate.model.config import validation_commands
from taskstate.model.session_texts import AUTOSAVED
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.private import make_folder
from taskstate.transcripts.events import FileEdit, Prompt
from taskstate.transcripts.reading import Reading, Transcript, read
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from taskstate.autosave.notes import SessionNote, TreeMark
    from taskstate.model.task_state import TaskState
    from taskstate.storage.private import Private
    from taskstate.transcripts.events import Event
    from taskstate.workspace.workspace import Workspace

FOLDER = "drafts"  # in the private folder
_DIGITS = 8  # of the hash, in an id
_LARGEST = 64 * 1024  # bytes of a file that is read
LAST = "last"  # in the place of an id: the newest
_OF_SESSION, _SESSIONS, _DAYS = 8, 64, 30  # drafts of told work that stay, and how long anything does
COMPACTION, ENDING, LATE, ASKED = "compaction", "ending", "late", "asked"  # why one is made
_WHY = {COMPACTION: "was compacted", LATE: "ended without a word", ASKED: "goes on"}


class KeptDraft(NamedTuple):
    """A draft that is kept: its id, the session and the task that it is of, why and when it was made, what it tells.

    `part` names the stretch of the session that it tells of: all drafts of a stretch tell the same work. Without
    `has_work` it holds words alone.
    """

    id: str
    client: str
    session: str
    task: str
    reason: str
    at: str
    part: str
    has_work: bool
    draft: Draft

    @property
    def source(self) -> str:
        """The session in two words."""
        return f"{self.client} {re.sub(r'[^A-Za-z0-9._-]', '', self.session)[:_DIGITS]}"


def part_of(note: SessionNote) -> str:
    """Return the name of the stretch of a session that no session of the state file tells yet."""
    return files.digest(f"{note.name} {note.stretch}".encode())[:_DIGITS]


def make(
    workspace: Workspace, note: SessionNote, reason: str, now: str, *, is_kept: bool = True
) -> tuple[KeptDraft | None, Reading]:
    """Make a draft of what a session did since it was told of last, and keep it; None where there is nothing to say.

    What was read of its transcript for that comes beside it.

    Raises:
        TaskstateError: the state file cannot be read, or the draft cannot be kept.
    """
    reading, events = _heard(workspace, note)
    after = note.after or _mark_now(workspace)
    changed, commits = _changed(workspace, note, events, after), _commits(workspace, note, after)
    state = workspace.load(workspace.locate(note.task)).state if note.task else None
    checks = validation_commands(workspace.config, (state and state.text("area")) or "")[1]
    work = work_of(events, changed, workspace.root, checks)
    known = _circumstances(note, state, reason)._replace(
        branch=(git.branch(workspace.root) or "") if after else "",
        commits=commits,
        unread=reading.unread,
        allow=workspace.config.secrets.allow,
    )
    draft = draft_of(work, events, known)
    has_work = work.is_told or bool(commits)
    if not (has_work or draft.words):
        return None, reading
    made = KeptDraft("", note.client, note.session, note.task, reason, now, part_of(note), has_work, draft)
    return (keep(workspace.private, made) if is_kept else made), reading


def _heard(workspace: Workspace, note: SessionNote) -> tuple[Reading, Sequence[Event]]:
    """Return what was read of a session's transcript since it was told of last, and what of it is to be told."""
    reading = Reading(offset=note.offset, identity=note.identity)
    if note.transcript:
        transcript = Transcript(note.client, note.session, note.transcript, str(workspace.root))
        reading = read(transcript, note.offset, identity=note.identity)
    said = (each for each in (*reading.events, *reading.running) if not _is_ours(workspace, each))
    # A file that was replaced is read anew: what it says of the time before is told.
    return reading, [each for each in said if not (reading.is_anew and each.at and each.at < note.began)]


def _circumstances(note: SessionNote, state: TaskState | None, reason: str) -> Circumstances:
    """Return what the note of a session and its task's file say of the time of a draft."""
    own = next((each for each in reversed(state.sessions) if not each.is_autosaved), None) if state else None
    return Circumstances(
        client=note.client,
        ended=_WHY.get(reason) or ending(note.ended),
        began=note.began,
        at=note.at,
        is_inferred=reason == LATE,
        steps=own.next if own else (),
        steps_of=own.number if own else 0,
        last_words=note.last_words,
    )


def _is_ours(workspace: Workspace, event: Event) -> bool:
    """Return whether an event is no work: an edit of our own files, or what our hook said at a stop to Gemini CLI."""
    if isinstance(event, FileEdit):
        return workspace.is_ours(inside(event.path, workspace.root) or "")
    return isinstance(event, Prompt) and bool(re.match(r"The turn on task \S+ is open and its work in ", event.text))


def _mark_now(workspace: Workspace) -> TreeMark | None:
    with suppress(GitFailed):  # what its transcript says is told all the same
        return tree_marks.mark_now(workspace)
    return None


def _commits(workspace: Workspace, note: SessionNote, after: TreeMark | None) -> tuple[str, ...]:
    """Return the commits that were made here from the beginning of a stretch to its end, the oldest first."""
    if note.before is None or not note.before.head or after is None or after.head == note.before.head:
        return ()
    with suppress(GitFailed):  # a commit of its beginning is gone
        own = {each.id for each in git_log.with_paths(workspace.root, f"{note.before.head}..{after.head}")}
        made = git_log.made_since(workspace.root, note.before.head, note.began)
        return tuple(each.short for each in made if each.id in own)
    return ()


def _changed(
    workspace: Workspace, note: SessionNote, events: Sequence[Event], after: TreeMark | None
) -> Mapping[str, str]:
    """Return how each file was left that the session changed: by git, else, where it cannot say, by its tools."""
    if note.before and after:
        with suppress(GitFailed):  # a commit of its beginning is gone
            return {each.path: each.kind for each in tree_marks.changes(workspace, note.before, after)}
    return edited(events, workspace.root)


# What is kept


def keep(private: Private, draft: KeptDraft) -> KeptDraft:
    """Keep a draft, unless one that says the same is kept, and return it with its id."""
    body = {**draft._asdict(), "draft": draft.draft._asdict()}
    said = {key: value for key, value in body.items() if key not in {"id", "at", "reason"}}
    own_id = files.digest(json.dumps(said, sort_keys=True).encode("utf-8", "surrogatepass"))[:_DIGITS]
    draft = draft._replace(id=own_id)
    if private.write and all(each.id != own_id for each in kept(private)):
        folder = private.write / FOLDER
        make_folder(folder)
        try:
            files.create(folder / f"{own_id}.json", json.dumps(body).encode("utf-8", "surrogatepass"), mode=0o600)
        except TaskstateError as error:
            if error.code != "exists":  # another hook of the same session was faster
                raise
        prune(private, draft.at)
    return draft


def kept(private: Private, *, session: str = "", task: str = "") -> tuple[KeptDraft, ...]:
    """Return the drafts that are kept, the oldest first: all, or those of a session or of a task."""
    found = (_read(path) for path in private.files(FOLDER) if re.fullmatch(r"[0-9a-f]{8}\.json", path.name))
    wanted = (
        each
        for each in found
        if each and session in {"", each.session} and task.casefold() in {"", each.task.casefold()}
    )
    return tuple(sorted(wanted, key=lambda each: (each.at, each.id)))


def find(private: Private, own_id: str, *, task: str = "") -> KeptDraft:
    """Return the draft with an id, or the newest of the stretch that an autosaved session names; of a task, if given.

    Raises:
        TaskstateError: code "not-found".
    """
    found = [each for each in kept(private) if own_id in {each.id, each.part}]
    if found and task.casefold() in {"", found[-1].task.casefold()}:
        return found[-1]
    whose = f"draft {own_id} is of task {found[-1].task}" if found and found[-1].task else ""
    message = whose or f"no draft is kept as {files.shown(own_id)!r}"
    raise TaskstateError(message, help="`taskstate autosave list` shows what is kept", code="not-found")


def discard(private: Private, drafts: Iterable[KeptDraft]) -> None:
    """Delete drafts.

    Raises:
        TaskstateError: one cannot be deleted.
    """
    private.discard(FOLDER, {f"{each.id}.json" for each in drafts})


def _read(path: Path) -> KeptDraft | None:
    """Return the draft in a file, or None where it is none of ours."""
    with suppress(TaskstateError, ValueError, TypeError, KeyError, AttributeError):
        values: dict[str, Any] = json.loads(files.read(path, _LARGEST))
        parts = (values["draft"][name] for name in ("facts", "words"))
        facts, words = ({str(key): tuple(map(str, each)) for key, each in part.items()} for part in parts)
        client, session, task, reason, at, part = (str(values[key]) for key in KeptDraft._fields[1:7])
        has_work = values["has_work"] is True
        return KeptDraft(path.stem, client, session, task, reason, at, part, has_work, Draft(facts, words))
    return None


def prune(private: Private, now: str) -> None:
    """Delete what is a month old, notes beyond the newest 64, and of told work all but a session's newest 8 drafts."""
    from datetime import datetime, timedelta

    oldest = f"{datetime.fromisoformat(now.removesuffix('Z')) - timedelta(days=_DAYS):%Y-%m-%dT%H:%M:%SZ}"
    standing = sorted(all_notes(private), key=lambda each: each.at)
    gone = [each for each in standing[:-_SESSIONS] if each.is_told or not each.task]
    for note in {each.name: each for each in (*gone, *(old for old in standing if old.at < oldest))}.values():
        delete(private, note)
    untold, all_kept = {part_of(each) for each in standing if not each.is_told}, kept(private)
    told = defaultdict[str, list[KeptDraft]](list)
    for each in all_kept:
        told[each.session] += [each] if each.part not in untold else []
    discard(private, [each for drafts in told.values() for each in drafts[:-_OF_SESSION]])
    discard(private, [each for each in all_kept if each.at < oldest])


def taken_over(workspace: Workspace, task: str, wanted: str, now: str, *, is_kept: bool = True) -> KeptDraft:
    """Return a draft of a task that an agent records as its own: by its id, or `LAST` for what is not told yet.

    The last one is made now where this command runs in a session that works on the task.

    Raises:
        TaskstateError: code "not-found": there is none.
    """
    if wanted != LAST:
        return find(workspace.private, wanted, task=task)
    note = present(workspace)
    if note and note.task.casefold() == task.casefold():
        found, _ = make(workspace, note, ASKED, now, is_kept=is_kept)
    else:
        untold = {part_of(each) for each in all_notes(workspace.private) if not each.is_told}
        found = next((each for each in reversed(kept(workspace.private, task=task)) if each.part in untold), None)
    if found is None:
        message = f"there is nothing of task {task} that is not told"
        raise TaskstateError(message, help="say what was done: --did, --state and --next", code="not-found")
    return found


def outcome_of(part: str) -> str:
    """Return what the session of the log that tells a stretch says of itself."""
    return f"{AUTOSAVED} as {part}"

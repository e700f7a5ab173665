"""Brings single sessions back into the Progress Log, as a revision of git holds them.

A session that was removed comes back at its place. One that was reworded makes way for what was committed, and its
words are kept. Whole files come back by `recovery.bring_back`, archived sessions by `archive.restore`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import counted, decoded, typed_path
from taskstate.model import names
from taskstate.model.session_references import identity
from taskstate.model.task_state import read_state
from taskstate.recovery.added_items import with_items
from taskstate.storage import files
from taskstate.storage.git import bases
from taskstate.storage.git import client as git
from taskstate.storage.git.index import blobs_in_commit
from taskstate.storage.replaced_texts import ReplacedText
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import with_newlines
from taskstate.tasks.sessions import require_none_misplaced
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import require_conserved, session_item, state_items
from taskstate.workspace.archive_file import read_archive
from taskstate.writing import damage, preconditions
from taskstate.writing.change import Change
from taskstate.writing.writer import change_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import TaskState
    from taskstate.units.items import Item
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request


class _Earlier(NamedTuple):
    """The state file at a revision: its name for messages, its bytes, and what it says.

    `committed` are the sessions that count as they stand: those of the revision, and those of other branches that it is
    no part of, as while merging.
    """

    name: str
    data: bytes
    state: TaskState
    committed: frozenset[Item]


def restore(workspace: Workspace, task_id: str, numbers: Sequence[int], revision: str, request: Request) -> Outcome:
    """Put the sessions with these numbers back into the log, byte for byte as `revision` holds them.

    `revision` names a commit, or `COMMIT:PATH` where the state file had another path then.

    Raises:
        TaskstateError: code "no-git" or "no-commit": there is no such revision; "not-found": it has no such session;
            "archived": the session is in the archive; "unchanged": it stands there as it was; "damaged", "unreadable"
            or "unsafe": the file as it is cannot take it.
    """
    path = workspace.locate(task_id)

    def job(loaded: Loaded) -> Change:
        _require_readable(workspace, loaded)
        earlier = _earlier(workspace, loaded, revision)
        sessions = [each for number in dict.fromkeys(numbers) for each in _wanted(workspace, loaded, earlier, number)]
        replaced = _reworded(loaded.state, earlier, sessions)
        text = _with_sessions(loaded, earlier, sessions, replaced)
        _require_whole_with(workspace, loaded, text)
        named = " and ".join(f"session {each.number}" for each in sessions)
        notes = [f"{named} {'is' if len(sessions) == 1 else 'are'} back as in {earlier.name}"]
        notes += _renumbered(text, sessions)
        kept = tuple(ReplacedText(loaded.relative, each.entry.encode(), "session restore") for each in replaced)
        return Change(text=text, notes=tuple(notes), replaced=kept)

    # Not `change`: a file that holds fewer sessions than it counts is what this mends.
    return change_at(workspace, path, job, request)


def _require_readable(workspace: Workspace, loaded: Loaded) -> None:
    """Refuse a file of which a part does not parse: what stands in it is not known.

    Raises:
        TaskstateError: code "damaged", "unreadable", "file-name", "section-missing" or "session-misplaced".
    """
    damage.require_readable(workspace, loaded)
    preconditions.require_whole(loaded)
    problem = damage.unread_part(loaded)
    if problem:
        raise TaskstateError(problem, code="unreadable")
    if loaded.state.section("Progress Log") is None:
        message = f"task {loaded.state.id} has no section Progress Log"
        raise TaskstateError(message, help="`taskstate lint` says where it is", code="section-missing")
    require_none_misplaced(loaded.state)


# What the revision holds


def _earlier(workspace: Workspace, loaded: Loaded, revision: str) -> _Earlier:
    """Return the state file at a revision.

    Raises:
        TaskstateError: code "no-git", "no-commit", "not-found" or "not-utf8".
    """
    root = workspace.root
    if git.toplevel(root) is None:
        message = f"there is no revision: {files.shown(root)} is in no git repository"
        raise TaskstateError(message, help="`taskstate doctor --fix` brings back what is kept", code="no-git")
    commit, path = _commit_and_path(workspace, revision)
    own = path or _path_in(workspace, loaded, commit)
    with closing(git.Objects(root)) as objects:
        data = objects.read(f"{commit}:{own}")
    if data is None:
        message = f"{git.printable(revision)} has no state file of task {loaded.state.id}"
        help_ = f"name a commit that `git log -- {typed_path(loaded.relative)}` shows, or `COMMIT:PATH`"
        raise TaskstateError(message, help=help_, code="not-found")
    name = commit[: git.SHORT]
    text = decoded(data, f"{git.printable(own)} of {name}", advice="name another commit")
    state = read_state(parse(with_newlines(text, "\n")))
    return _Earlier(name, data, state, _sessions_of(state) | _of_other_sides(root, commit, own))


def _of_other_sides(root: Path, commit: str, path: str) -> frozenset[Item]:
    """Return the sessions of what is being merged, and of HEAD where a commit is no earlier state of it.

    Not those that a side has in the place of one that it had before: these it has rewritten.
    """
    head = git.head(root)
    sides = [*git.merge_heads(root)]
    if head and bases.base_of(root, commit, head) != commit:
        sides.append(head)
    found: set[Item] = set()
    with closing(git.Objects(root)) as objects:
        for side in sides:
            base = bases.base_of(root, commit, side)
            texts = ((objects.read(f"{each}:{path}") or b"").decode("utf-8", "replace") for each in (base, side))
            before, state = (read_state(parse(text)) for text in texts)
            kept = _sessions_of(state)
            rewritten = {(each.number, each.time) for each in before.sessions if session_item(each) not in kept}
            found |= {session_item(each) for each in state.sessions if (each.number, each.time) not in rewritten}
    return frozenset(found)


def _sessions_of(state: TaskState) -> frozenset[Item]:
    return frozenset(map(session_item, state.sessions))


def _commit_and_path(workspace: Workspace, revision: str) -> tuple[str, str]:
    """Return the id of the commit that a revision names, and the path behind it or "".

    Raises:
        TaskstateError: code "no-commit".
    """
    try:
        return git.resolve_commit(workspace.root, revision), ""
    except GitFailed as error:
        name, colon, path = revision.partition(":")
        if error.code != "no-commit" or not (name and colon and path):
            raise
    return git.resolve_commit(workspace.root, name), path


def _path_in(workspace: Workspace, loaded: Loaded, commit: str) -> str:
    """Return how git names the state file in a commit; it may have stood in another folder then."""
    tree = blobs_in_commit(workspace.root, commit)
    own = names.own_file(loaded.relative)
    task_id = ((own and own.id) or "").casefold()
    paths = [path for path in tree if names.own_type(path) == "state" and names.own_id(path).casefold() == task_id]
    return f"./{loaded.relative if loaded.relative in tree or not paths else paths[0]}"


def _wanted(workspace: Workspace, loaded: Loaded, earlier: _Earlier, number: int) -> list[Session]:
    """Return the sessions with a number at the revision that do not stand in the log now.

    Raises:
        TaskstateError: code "not-found", "archived" or "unchanged".
    """
    state = loaded.state
    then = [each for each in earlier.state.sessions if each.number == number]
    if number <= max(state.archived, read_archive(workspace, state.id).last):
        message = f"session {number} of task {state.id} is archived"
        help_ = f"`taskstate archive restore {state.id}` moves archived sessions back into the log"
        raise TaskstateError(message, help=help_, code="archived")
    if not then or any(find_conflicts(each.entry) for each in then):
        what = "no session" if not then else "a conflict in session"
        held = [each.number for each in earlier.state.sessions]
        help_ = f"its log has {counted(len(held), 'session')}" + (f", {held[0]} to {held[-1]}" if held else "")
        raise TaskstateError(f"{earlier.name} has {what} {number} of task {state.id}", help=help_, code="not-found")
    standing = {session_item(each): each.number for each in state.sessions}
    missing = [each for each in then if session_item(each) not in standing]
    if not missing:
        now = standing[session_item(then[0])]
        message = f"session {number} is already as in {earlier.name}" + (f", as {now}" if now != number else "")
        raise TaskstateError(message, help="there is nothing to restore", code="unchanged")
    return missing


# What becomes of the file


def _reworded(now: TaskState, earlier: _Earlier, sessions: Sequence[Session]) -> list[Session]:
    """Return the sessions of the log that are another form of one that comes back, and are not committed themselves."""
    return [
        each
        for each in now.sessions
        if session_item(each) not in earlier.committed and any(_is_form_of(each, one) for one in sessions)
    ]


def _is_form_of(now: Session, then: Session) -> bool:
    return _body(now) == _body(then) or (now.number == then.number and now.time == then.time)


def _body(session: Session) -> str:
    return identity(with_newlines(session.entry, "\n").partition("\n")[2].strip())


def _with_sessions(loaded: Loaded, earlier: _Earlier, sessions: Sequence[Session], replaced: Sequence[Session]) -> str:
    """Return the text with the sessions in the log, and without those that they replace.

    Raises:
        TaskstateError: code "unsafe".
    """
    before, wanted = loaded.state, dict.fromkeys(map(session_item, sessions))
    ours = apply(loaded.document.text, [Edit(*each.section.span, "") for each in replaced])
    text = with_items(ours.encode(), earlier.data, wanted, loaded.relative, loaded.document.kinds).decode()
    after = read_state(loaded.document.with_text(text))
    needed = state_items(before) - Counter(map(session_item, replaced)) + Counter(dict.fromkeys(wanted, 1))
    require_conserved(needed, state_items(after), f"task {before.id}")
    return text


def _require_whole_with(workspace: Workspace, loaded: Loaded, text: str) -> None:
    """Refuse a file that is damaged even with the sessions: a write would lower the count that says what is missing.

    Raises:
        TaskstateError: code "damaged".
    """
    counted_before = loaded.document.text[: loaded.document.front_matter.content.end]
    body = text[parse(text).front_matter.content.end :]
    if damage.damage_of(workspace, loaded.with_text(counted_before + body)):
        damage.require_undamaged(workspace, loaded)


def _renumbered(text: str, sessions: Sequence[Session]) -> Iterator[str]:
    """Yield a note for each session that another one kept from its number, as after a merge."""
    placed = {session_item(each): each.number for each in read_state(parse(text)).sessions}
    for each in sessions:
        if placed[session_item(each)] != each.number:
            yield f"session {each.number} is now session {placed[session_item(each)]}: another one has its number"

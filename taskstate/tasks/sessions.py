"""Appends sessions to the Progress Log, and reads them back, archived ones included."""

from __future__ import annotations

import json
from datetime import timedelta

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model.derived_values import is_too_large
from taskstate.model.document_kinds import kind_of, placeholder_above, section_key
from taskstate.model.misplaced_sessions import misplaced_sessions
from taskstate.model.progress_log import session_number
from taskstate.model.session_texts import COMMITS, ENTRY_FORM, OUTCOME, tells_more
from taskstate.model.start_of_work import start_of_work
from taskstate.model.statuses import DROPPED
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import with_write_metadata
from taskstate.secrets import scan
from taskstate.storage.git import client as git
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span, end_of_content, with_newlines
from taskstate.tasks.new_session import entry_of
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts
from taskstate.workspace.archive_file import read_archive
from taskstate.writing import damage, ledger, preconditions
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from taskstate.error_codes import ErrorCode
    from taskstate.model.progress_log import Session
    from taskstate.syntax.document import Document, Section
    from taskstate.tasks.new_session import NewSession
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request


_LOG, _LOG_LEVEL = "progress log", 2
_TIME = "%Y-%m-%d %H:%M"
JUST_NOW, ONCE = -1, -2
_MOMENT = timedelta(minutes=10)  # within which the same words are the same command, given again
# Errors of a file that cannot take a session: what was to be recorded is kept for when it can.
KEPT_REFUSALS: frozenset[ErrorCode] = damage.CODES | {
    *(
        "section-missing",
        "seal-broken",
        "unsafe",
        "unreadable",
        "newer-format",
        "pending",
        "file-name",
        "session-misplaced",
    )
}


class SearchHit(NamedTuple):
    """A line of a session that contains the searched text."""

    number: int
    time: str | None
    line: str
    archived: bool


def add(
    workspace: Workspace, task_id: str, entry: NewSession, request: Request, *, since: int | None = None
) -> Outcome:
    """Append the next session to a task's Progress Log; archive older ones where the file exceeds its limit.

    Where a session with a number above `since` says the same already, or did before it was edited by hand, nothing is
    added; with `JUST_NOW`, where the newest session does and is only minutes old: the same command was given again.
    With `ONCE` nothing is added where any session has the same outcome, archived ones included; and what is refused is
    not kept, since it can be made again.

    Raises:
        TaskstateError: code "no-commit": a commit of the session does not exist here; or as `plan_add` does.
    """
    given = entry
    entry, commit_notes = _with_known_commits(workspace, given)

    def job(loaded: Loaded) -> Change:
        preconditions.require_work(
            loaded.state,
            "Progress Log",
            "`taskstate permanent update --section S --from FILE` records what changed in it",
        )
        if since == ONCE and any(each.texts[OUTCOME.key] == entry.outcome for each in sessions_of(workspace, loaded)):
            return Change(text=loaded.document.text)
        again = _said_now(loaded.state, entry, request.metadata.now) if since == JUST_NOW else ""
        if again or (since not in {None, JUST_NOW, ONCE} and _was_said(workspace, loaded, entry, since or 0)):
            return Change(text=loaded.document.text, notes=(again,) if again else ())
        last_archived = read_archive(workspace, loaded.state.id).last
        new_session = _with_takeover_note(workspace, loaded, entry, request.metadata.actor)
        appended, notes = plan_add(loaded.state, new_session, now=request.metadata.now, archived=last_archived)
        text = appended.document.text
        finished = with_write_metadata(text, request.metadata, revision=loaded.state.revision + 1, state=appended)
        if not is_too_large(finished, workspace.config.size):
            return Change(text=text, notes=(*commit_notes, *notes), state=appended, final_text=finished)
        archived = with_archived_sessions(workspace, loaded.relative, text, request)
        return archived._replace(notes=(*commit_notes, *notes, *archived.notes))

    if workspace.config.archive.summarizer:
        from taskstate.archive import archiver

        archiver.rehearse(workspace, task_id, job)
    try:
        outcome = change(workspace, task_id, job, request._replace(even_dropped=True))
    except TaskstateError as error:
        if since == ONCE or error.code not in KEPT_REFUSALS or request.dry_run:
            raise
        raise with_kept_input(workspace, task_id, entry, error, force=request.force_secrets) from error
    if not request.dry_run and artifacts.has_any(workspace, task_id):  # it may have been refused before
        artifacts.delete(workspace, task_id, {_refused(task_id, each).path for each in (given, entry)})
    return outcome


def _with_known_commits(workspace: Workspace, entry: NewSession) -> tuple[NewSession, tuple[str, ...]]:
    """Return the session with the ids of its commits in one length, and a note where git cannot look them up.

    Recording work is not refused for want of git: outside a repository commits are recorded as they were given, and in
    a shallow clone those that it may lack.

    Raises:
        TaskstateError: code "no-commit".
    """
    if not entry.commits:
        return entry, ()
    commits = tuple(escaping.one_line(each, what=COMMITS.what) for each in entry.commits)
    root = workspace.root
    if git.toplevel(root) is None:
        note = "there is no git repository here, so the commits are recorded as given"
        return entry._replace(commits=commits), (note,)
    ids = {each: _full_id(root, each) for each in commits}
    unknown = ", ".join(each for each, commit_id in ids.items() if commit_id is None)
    if unknown and not git.is_shallow(root):
        message = f"there is no commit {unknown} here, so the session is not recorded"
        raise TaskstateError(message, help="name one that `git log` shows, or leave it out", code="no-commit")
    notes = (f"this clone is shallow: {unknown} cannot be looked up, and is recorded as given",) if unknown else ()
    shown = dict.fromkeys(each if found is None else found[: git.SHORT] for each, found in ids.items())
    return entry._replace(commits=tuple(shown)), notes


def _full_id(root: Path, name: str) -> str | None:
    try:
        return git.resolve_commit(root, name)
    except GitFailed as error:
        if error.code != "no-commit":
            raise
        return None


def with_kept_input(
    workspace: Workspace, task_id: str, entry: NewSession, error: TaskstateError, *, force: bool
) -> TaskstateError:
    """Keep a session that cannot be recorded now in a file, and return the error with the command that records it."""
    path = kept_input(workspace, task_id, entry, force=force)
    if not path:
        return error
    command = artifacts.recording_command(workspace, task_id, path)
    help_ = f"{error.help}; the session is kept: `{command}` records it afterwards"
    return TaskstateError(error.message, help=help_, code=error.code)


def kept_input(workspace: Workspace, task_id: str, entry: NewSession, *, force: bool) -> str:
    """Keep a session that cannot be recorded now in a file; return its path, empty where it holds a secret."""
    kept = _refused(task_id, entry)
    if scan.find(kept.data.decode()) and not force:
        return ""
    artifacts.write_all(workspace, (kept,))
    return kept.path


def _refused(task_id: str, entry: NewSession) -> artifacts.Artifact:
    # The name is that of the words alone: whoever records them, the file goes then.
    plain, text = (
        json.dumps({key: value for key, value in each.values.items() if value}, ensure_ascii=False, indent=1)
        for each in (entry._replace(agent=""), entry)
    )
    return artifacts.refused_session(task_id, plain)._replace(data=text.encode())


def with_archived_sessions(workspace: Workspace, relative: str, text: str, request: Request) -> Change:
    """Return the change that writes the state file `text` and archives its older sessions, if they can be archived."""
    from taskstate.archive import archiver  # most writes archive nothing

    config = workspace.config
    keep, reason = config.size.keep_sessions, archiver.limit_reason(config)
    program = archiver.configured_summarizing(workspace, dry_run=request.dry_run)
    try:
        return archiver.plan_archive(workspace, relative, text, request, keep=keep, reason=reason, summarizing=program)
    except TaskstateError as error:
        if error.code not in archiver.NOT_ARCHIVABLE:
            raise
        return Change(text=text, notes=(f"not archived: {error}",))  # the text is written even if archiving fails


def says_already(state: TaskState, entry: NewSession, since: int) -> bool:
    """Return whether a session of the log with a number above `since` says the same as a new one, whoever wrote it."""
    return any(_says(session, entry) for session in state.sessions if session.number > since)


def _says(session: Session, entry: NewSession) -> bool:
    own = entry_of(entry._replace(agent=""), session.number, session.time or "")
    return tells_more(with_newlines(session.entry, "\n"), own)


def _was_said(workspace: Workspace, loaded: Loaded, entry: NewSession, since: int) -> bool:
    """Return whether a session above `since` says the same as a new one, or did so as a command left it."""
    now = {(each.number, each.time): each.entry for each in loaded.state.sessions if each.number > since}
    if not now or says_already(loaded.state, entry, since):
        return bool(now)
    for text in ledger.kept_texts(workspace, loaded.relative):
        then = read_state(parse(text.decode("utf-8", "replace")))
        known = [(each, now[each.number, each.time]) for each in then.sessions if (each.number, each.time) in now]
        if not known or any(_says(each, entry) and ledger.are_alike(each.entry, edited) for each, edited in known):
            return bool(known)
    return False


def _said_now(state: TaskState, entry: NewSession, now: datetime) -> str:
    """Return a note where the newest session says the same as a new one and is only minutes old; else nothing."""
    newest = state.sessions[-1] if state.sessions else None
    if newest is None or not says_already(state, entry, newest.number - 1):
        return ""
    is_of_another = entry.agent and not newest.agent.startswith(entry.agent)
    if is_of_another or not (now - _MOMENT).strftime(_TIME) <= (newest.time or "") <= now.strftime(_TIME):
        return ""
    return f"session {newest.number} says this already, so nothing is added"


def _with_takeover_note(workspace: Workspace, loaded: Loaded, entry: NewSession, actor: str) -> NewSession:
    """Return the session, whose agent gets a note where it is the first one after an accepted handoff."""
    if "handoffs" not in loaded.document.front_matter:
        return entry
    from taskstate.handoff.accept import accepted_note

    note = accepted_note(workspace, loaded.state)
    return entry._replace(agent=f"{entry.agent or actor}, {note}") if note else entry


def plan_add(state: TaskState, entry: NewSession, *, now: datetime, archived: int) -> tuple[TaskState, tuple[str, ...]]:
    """Return the state with the next session appended, and notes; `archived` is the archive's highest session number.

    Raises:
        TaskstateError: there is no Progress Log, something unclosed in it would swallow the new session, or an earlier
            session is misplaced.
    """
    document = state.document
    log = state.section("Progress Log")
    if log is None:
        raise TaskstateError(
            f"task {state.id} has no section Progress Log", help="add `## 4. Progress Log`", code="section-missing"
        )
    # Never count + 1: after archiving, or with a gap in the numbers, that would repeat a number.
    number = max(archived, state.archived, _highest(document)) + 1
    require_none_misplaced(state)
    nl = document.newline
    text = with_newlines(entry_of(entry, number, now.strftime(_TIME)), nl)
    end = end_of_content(document.text, log.span)
    form = len(Span(log.body.start, end).of(document.text).lstrip()) if _is_form(document, log) else 0
    edit = Edit(end - form, end, ("" if form else nl * 2) + text + ("" if end < len(document.text) else nl))
    begun = start_of_work(state)
    edits = (edit, *begun.edits, *(() if form else placeholder_above(document, log)))
    appended = read_state(document.with_text(apply(document.text, edits)))
    # An unclosed fence or comment makes the new session part of the previous one.
    written = [session.entry for session in appended.sessions]
    if written != [*(session.entry for session in state.sessions), text]:
        message = f"task {state.id}: a session cannot be appended, since something in the Progress Log never closes"
        help_ = "run `taskstate lint` and fix the fence or comment that it names"
        raise TaskstateError(message, help=help_, code="unsafe")
    dropped = f'the task is dropped: `taskstate reopen {state.id} --note "WHY"` reopens it'
    notes = (dropped,) if state.status == DROPPED else begun.notes
    return appended, (f"session {number} recorded", *notes)


def _is_form(document: Document, log: Section) -> bool:
    """Return whether a log holds nothing but the comment that a new file has there, or a placeholder."""
    text = with_newlines(log.body.of(document.text), "\n").strip()
    return text == ENTRY_FORM or kind_of(document).is_placeholder(text)


def require_none_misplaced(state: TaskState) -> None:
    """Refuse to add a session while one is where no number is looked for: the new one could get the same.

    Raises:
        TaskstateError: code "session-misplaced".
    """
    misplaced = misplaced_sessions(state.document, kind_of(state.document))
    if misplaced:
        first = misplaced[0]
        line = state.document.position(first.span.start).line + 1
        message = f"task {state.id}: session {first.number} in line {line} is not in the Progress Log at level 3"
        is_taken = first.number in {0, *(session.number for session in state.sessions)}
        unsafe = " --unsafe-fixes" if is_taken or first.number <= state.archived else ""
        help_ = f"run `taskstate lint --fix{unsafe}`, which moves it there"
        raise TaskstateError(message, help=help_, code="session-misplaced")


def _highest(document: Document) -> int:
    """Return the highest session number in the document, a second Progress Log included; 0 if there is none."""
    logs = (part for part in document.sections if part.level == _LOG_LEVEL and section_key(part.title) == _LOG)
    titles = (child.title for log in logs for child in document.children(log, _LOG_LEVEL + 1))
    return max((session_number(title) or 0 for title in titles), default=0)


class SessionView(NamedTuple):
    """A session for display, from the state file or the archive, with its texts by the keys of their table.

    A list is empty where its field says `None`.
    """

    number: int
    time: str | None
    texts: Mapping[str, str | tuple[str, ...]]
    entry: str
    archived: bool


def all_sessions(workspace: Workspace, task_id: str) -> tuple[SessionView, ...]:
    """Return all sessions of a task, archived ones first."""
    return sessions_of(workspace, workspace.load(workspace.locate(task_id)))


def sessions_of(workspace: Workspace, loaded: Loaded) -> tuple[SessionView, ...]:
    """Return all sessions of a task that was read, archived ones first."""
    from taskstate.archive import archiver

    state = loaded.state
    archived = archiver.archived_sessions(workspace, state.id)
    return (
        *(_view(session, archived=True) for session in archived),
        *(_view(session, archived=False) for session in state.sessions),
    )


def find_session(workspace: Workspace, task_id: str, number: int) -> SessionView:
    """Return a session of a task, from the state file or its archive.

    Raises:
        TaskstateError: code "not-found".
    """
    state = workspace.load(workspace.locate(task_id)).state
    for session in state.sessions:
        if session.number == number:
            return _view(session, archived=False)
    from taskstate.archive import archiver

    for session in archiver.archived_sessions(workspace, state.id):
        if session.number == number:
            return _view(session, archived=True)
    message = f"task {state.id} has no session {number}"
    raise TaskstateError(message, help=f"`taskstate session list {state.id}` lists them", code="not-found")


def search(workspace: Workspace, task_id: str, text: str) -> tuple[SearchHit, ...]:
    """Return each line of a task's sessions that contains `text`, ignoring case; archived ones come first."""
    needle = " ".join(text.split()).casefold()
    return tuple(
        SearchHit(session.number, session.time, line.strip(), session.archived)
        for session in all_sessions(workspace, task_id)
        for line in with_newlines(session.entry, "\n").split("\n")
        if needle in " ".join(line.split()).casefold()
    )


def _view(session: Session, *, archived: bool) -> SessionView:
    return SessionView(
        number=session.number,
        time=session.time,
        texts={key: _listed(value) for key, value in session.texts().items()},
        # The archive keeps sessions one heading level higher than the log.
        entry=session.entry.replace("##", "###", 1) if archived else session.entry,
        archived=archived,
    )


def _listed(said: str | tuple[str, ...]) -> str | tuple[str, ...]:
    return said if isinstance(said, str) or not all(map(escaping.is_none, said)) else ()

"""Fills the Git History of a task with its commits; the newest stay, older ones go into the archive.

A commit names task 101 by `Task: 101`, `TASK-101` or `task 101` in its subject or a trailer; those made in a turn count
without. `#101` alone is a pull request's number. Items that somebody added to the section by hand stay, and no commit
is listed twice, in the state file or the archive.
"""

from __future__ import annotations

import re
from contextlib import suppress

from taskstate.archive.verify import archive_text
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import counted
from taskstate.model.archive_format import rolled_items
from taskstate.model.document_kinds import kind_of
from taskstate.model.names import ID_PATTERN, parse_task_id
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.secrets.mask import masked
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.git import movement
from taskstate.storage.git.log import Commit
from taskstate.syntax import escaping
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.event_log import with_oldest_moved
from taskstate.writing.preconditions import require_work
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request, Step

MAX_LISTED = 20  # commits that stay in the state file
_TITLE, _BEFORE = "Git History", "Chain Output"
_LISTED = re.compile(r"`([0-9a-fA-F]{4,64})`[ \t]+-[ \t][^\r\n]*")
_NAMED = re.compile(r"`([0-9a-fA-F]{4,64})`")
_LINE = r"(?im)^tasks?:[ \t]*(.+)$"
_TRAILER = r"(?m)^[A-Za-z0-9-]+:[ \t].*$"
_BETWEEN = r"(?i)[ \t]?[,;&+][ \t]?|[ \t]and[ \t]"
_WORDS = (
    r"(?i)(?<!\w)(?<!\w[._-])tasks?(?:(?P<dash>-)|[ \t]*:[ \t]*|[ \t]+)"
    rf"(?P<ids>(?:#|task-)?{ID_PATTERN}(?:(?:{_BETWEEN[4:]})(?:#|task-)?{ID_PATTERN})*+)(?!\w)"
)


class _Line(NamedTuple):
    """An item of the section in the form that is written here: its line, and the commit that it names."""

    span: Span
    text: str
    sha: str


def sync(workspace: Workspace, task_id: str, request: Request, *, since: str = "") -> Outcome:
    """List the commits that name a task since it was created, or since the revision `since`.

    Raises:
        TaskstateError: there is no git repository, no such revision, or no section for the list.
    """
    if git.toplevel(workspace.root) is None:
        message = f"{workspace.root} is in no git repository"
        raise TaskstateError(message, help="run this where the task's commits are", code="no-git")

    def job(loaded: Loaded) -> Change:
        state = loaded.state
        require_work(state, f"section {_TITLE}")
        created = "" if since else state.text("created_at") or ""
        commits = git_log.log(workspace.root, since=since, after=created)
        listed, count = _with_commits(workspace, state, commits_of(commits, state.id))
        change = _with_older_moved(workspace, listed, commits)
        if change.text == loaded.document.text:
            return change._replace(notes=("no commit that is not listed names the task",))
        return change._replace(notes=(f"{counted(count, 'commit')} listed", *change.notes))

    return change(workspace, task_id, job, request)


def listing(workspace: Workspace, loaded: Loaded) -> tuple[Step, tuple[Commit, ...]]:
    """Return the step that lists the commits of a task since the base of its work, and those made in its open turn.

    Both come from one look at git, which is asked now, and not under the lock; the turn's are the oldest first. Where
    git has no such base, as in a shallow clone, nothing is listed.
    """
    delta, commits = blocks_of(loaded.document).delta, tuple[Commit, ...]()
    turn = delta.turn
    if delta.base_commit and delta.base_commit != git.head(workspace.root):
        with suppress(GitFailed):
            commits = git_log.log(workspace.root, since=delta.base_commit)
    here = frozenset[str]()
    if turn and commits:
        here = movement.made_here(workspace.root, turn.started_at or "", turn.head or "")
    made = tuple(each for each in reversed(commits) if each.id in here)
    if turn and turn.head and turn.head not in {delta.base_commit, *(each.id for each in commits)}:  # as after a rebase
        made = git_log.made_since(workspace.root, turn.head, turn.started_at or "")
    found = commits_of(commits, loaded.state.id, here)
    made = tuple(commits_of(made, loaded.state.id, here))

    def step(now: Loaded) -> Change:
        has_place = now.state.section(_TITLE) or now.state.section(_BEFORE)
        return Change(_with_commits(workspace, now.state, found if has_place else ())[0].document.text)

    return step, made


def moving_older(workspace: Workspace) -> Step:
    """Return the step that moves the oldest commits and events to the archive, for the end of a change."""
    return lambda now: _with_older_moved(workspace, now.state)._replace(notes=())


def commits_of(commits: Iterable[Commit], task_id: str, made: Collection[str] = ()) -> list[Commit]:
    """Return those of `commits` that name the task, and those `made` in its turn that are no other task's by a line."""
    key = task_id.casefold()
    return [each for each in commits if key in ids_named(each) or (each.id in made and not _by_line(each.message))]


def ids_named(commit: Commit) -> set[str]:
    """Return the ids, in lower case, of the tasks that a commit names."""
    return _by_line(commit.message) | _by_words(commit)


def _by_line(message: str) -> set[str]:
    """Return the ids, in lower case, of lines such as `Task: 101, 102`."""
    return _ids(each for line in compiled(_LINE).findall(message) for each in re.split(r"[\s,;]+", line))


def _by_words(commit: Commit) -> set[str]:
    """Return the ids, in lower case, that the subject or a trailer names, as in `Slugs for tasks 101 and 102`."""
    *above, last = re.split(r"\n[ \t]*\n", commit.message.strip())
    trailers = compiled(_TRAILER).findall(last) if above else ()
    found = (match for text in (commit.subject, *trailers) for match in compiled(_WORDS).finditer(text))
    # `task list` names none, but `TASK-list` does.
    ids = (
        each for match in found for each in re.split(_BETWEEN, match["ids"]) if match["dash"] or re.search(r"\d", each)
    )
    return _ids(ids)


def _ids(texts: Iterable[str]) -> set[str]:
    return {task.casefold() for each in texts if (task := _id(each))}


def _id(text: str) -> str:
    try:
        return parse_task_id(text) if text else ""
    except TaskstateError:
        return ""


def _with_commits(workspace: Workspace, state: TaskState, commits: Sequence[Commit]) -> tuple[TaskState, int]:
    """Return the state with those of `commits` at the top of the list that are not listed, and how many they are."""
    if not commits:
        return state, 0
    archived = rolled_items(archive_text(workspace, state.id) or "", _TITLE)
    ids = [*_listed(state)[1], *(sha for item in archived for sha in _NAMED.findall(item)[:1])]
    new = [commit for commit in commits if not any(commit.id.startswith(sha.lower()) for sha in ids)]
    if not new:
        return state, 0
    state = _with_section(state)
    section = state.section(_TITLE)
    listed = "".join(_item(commit) + state.document.newline for commit in new)
    text = apply(state.document.text, (_insertion(state, section.body, listed),)) if section else state.document.text
    return read_state(state.document.with_text(text), state.id), len(new)


def _with_older_moved(workspace: Workspace, state: TaskState, commits: Sequence[Commit] = ()) -> Change:
    """Return the change that moves all but the newest commits and events to the archive."""
    lines = sorted(_listed(state)[0], key=lambda line: (_rank(line.sha, commits), line.span.start))
    older = lines[MAX_LISTED:]
    text = apply(state.document.text, [Edit(*line.span, "") for line in older])
    rolled = (_TITLE, [line.text for line in older])
    text, before = with_oldest_moved(workspace, state.document.with_text(text), rolled)
    where = workspace.archive_path(state.id)
    notes = (f"{len(older)} of the older ones went into {where}",) if older else ()
    return Change(text=text, before=before, notes=notes)


def _rank(sha: str, commits: Sequence[Commit]) -> int:
    """Return the position of a commit in the history, newest first; one that is not in it counts as the oldest."""
    return next((index for index, commit in enumerate(commits) if commit.id.startswith(sha)), len(commits))


def _item(commit: Commit) -> str:
    # A subject with `<!--` would open a comment that hides the rest of the file.
    subject = masked(git.printable(commit.subject)).replace("<!--", "<\\!--") or "(no subject)"
    return escaping.item(f"`{commit.short}` - {subject}")


def _with_section(state: TaskState) -> TaskState:
    """Return the state with a Git History section, which a handwritten file may lack."""
    if state.section(_TITLE):
        return state
    next_section = state.section(_BEFORE)
    spec = kind_of(state.document).section(_TITLE)
    if next_section is None or spec is None:
        message = f"task {state.id} has no section {_TITLE}"
        raise TaskstateError(message, help=f"add `## 5. {_TITLE}`", code="section-missing")
    nl = state.document.newline
    edit = Edit(next_section.span.start, next_section.span.start, f"## {spec.number}. {_TITLE}{nl}{nl}")
    return read_state(state.document.with_text(apply(state.document.text, (edit,))))


def _listed(state: TaskState) -> tuple[list[_Line], list[str]]:
    """Return the items in our form, and the ids of all commits that any item names."""
    document, section = state.document, state.section(_TITLE)
    lines, ids = [], []
    for item in document.items(section.body) if section else ():
        text = item.content.of(document.text).rstrip()
        ids += _NAMED.findall(text)
        match = _LISTED.fullmatch(text)
        if match and document.text[item.span.start] == "-":
            end = _line_end(document.text, item.content.start + len(text))
            lines.append(_Line(Span(item.span.start, end), f"- {text}", match[1].lower()))
    return lines, ids


def _line_end(text: str, at: int) -> int:
    """Return the end of the line that contains `at`, its line end included."""
    match = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)").match(text, at)
    return match.end() if match else at


def _insertion(state: TaskState, body: Span, listed: str) -> Edit:
    text, nl = state.document.text, state.document.newline
    present = [item for item in state.document.items(body) if text[item.span.start] == "-"]
    if present:
        return Edit(present[0].span.start, present[0].span.start, listed)
    content = body.of(text)
    stripped = content.strip()
    if not stripped or kind_of(state.document).is_placeholder(stripped):
        tail = nl if body.end < len(text) else ""
        return Edit(body.start, body.end, nl + listed + tail)
    end = body.start + len(content.rstrip())
    return Edit(end, body.end, nl * 2 + listed + (nl if body.end < len(text) else ""))

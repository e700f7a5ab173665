"""Fills the Git History of a task with the commits that name it; the newest stay, older ones go into the archive.

A commit names task 101 by a line `Task: 101`, or by the word `#101` or `TASK-101`. Items that somebody added to the
section by hand stay, and no commit is listed twice, in the state file or the archive.
"""

from __future__ import annotations

import re

from taskstate.archive.verify import archive_text
from taskstate.errors import TaskstateError
from taskstate.model.archive_format import rolled_items
from taskstate.model.document_kinds import kind_of
from taskstate.model.names import parse_task_id
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter
from taskstate.secrets.mask import masked
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.syntax import escaping
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.event_log import append_to_archive
from taskstate.writing.preconditions import require_work
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.storage.git.log import Commit
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

MAX_LISTED = 20  # commits that stay in the state file
_TITLE, _BEFORE = "Git History", "Chain Output"
_LISTED = re.compile(r"`([0-9a-fA-F]{4,64})`[ \t]+-[ \t][^\r\n]*")
_NAMED = re.compile(r"`([0-9a-fA-F]{4,64})`")
_TRAILER = re.compile(r"^tasks?:[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE)


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
        archive = archive_text(workspace, state.id) or ""
        return _plan(workspace, state, commits_naming(commits, state.id), rolled_items(archive, _TITLE))

    return change(workspace, task_id, job, request)


def commits_naming(commits: Iterable[Commit], task_id: str) -> list[Commit]:
    """Return those of `commits` whose messages name the task."""
    id_end = r"(?!\w|[._-]\w)"
    word = re.compile(rf"(?i)(?<!\w)(?:#|(?<!\w[._-])TASK-){re.escape(task_id)}{id_end}")
    key = task_id.casefold()
    return [each for each in commits if word.search(each.message) or key in _trailers(each.message)]


def _trailers(message: str) -> set[str]:
    """Return the ids, in lower case, of lines such as `Task: 101, 102`."""
    return {
        task.casefold()
        for line in _TRAILER.findall(message)
        for each in re.split(r"[\s,;]+", line)
        if (task := _id(each))
    }


def _id(text: str) -> str:
    try:
        return parse_task_id(text) if text else ""
    except TaskstateError:
        return ""


def _plan(workspace: Workspace, state: TaskState, commits: Sequence[Commit], archived: Sequence[str]) -> Change:
    before, state = state, _with_section(state)
    lines, listed_ids = _listed(state)
    listed_ids += [sha for item in archived for sha in _NAMED.findall(item)[:1]]
    new = [commit for commit in commits if not any(commit.id.startswith(sha.lower()) for sha in listed_ids)]
    items = [_item(commit) for commit in new]
    newest_first = sorted(lines, key=lambda line: (_rank(line.sha, commits), line.span.start))
    removed = newest_first[max(MAX_LISTED - len(items), 0) :]
    text = _changed(state, items[:MAX_LISTED], removed)
    archived_items = [*items[MAX_LISTED:], *(line.text for line in removed)]
    if not items and not archived_items:
        return Change(text=before.document.text, notes=("no commit that is not listed names the task",))
    note = f"{len(items)} commit{'' if len(items) == 1 else 's'} listed"
    if not archived_items:
        return Change(text=text, notes=(note,))
    operation, path = append_to_archive(workspace, state, _TITLE, archived_items), workspace.archive_path(state.id)
    text = apply(text, set_front_matter(state.document.with_text(text), "archive_path", path))
    notes = (note, f"{len(archived_items)} of the older ones went into {path}")
    return Change(text=text, before=(operation,), notes=notes)


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


def _changed(state: TaskState, items: list[str], removed: list[_Line]) -> str:
    """Return the state file with `items` at the top of the list, without the `removed` lines."""
    text, nl, section = state.document.text, state.document.newline, state.section(_TITLE)
    edits = [Edit(line.span.start, line.span.end, "") for line in removed]
    if items and section:
        edits.append(_insertion(state, section.body, "".join(item + nl for item in items)))
    return apply(text, edits) if edits else text


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

"""Fills the Git History of a task with the commits that name it; the newest stay, older ones go into the archive.

A commit names task 101 by a line `Task: 101`, or by `#101` or `TASK-101` as a word of its own. What somebody wrote into
the section by hand stays, and no commit is listed twice, wherever it stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.archive.verify import archive_text
from taskstate.errors import TaskstateError
from taskstate.model.archive_format import rolled_items
from taskstate.model.document_kinds import kind
from taskstate.model.names import parse_task_id
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span
from taskstate.validation.secrets import masked
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import roll
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.storage.git.log import Commit
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace

MAX_LISTED = 20  # commits that stay in the state file
_TITLE, _BEFORE = "Git History", "Chain Output"
_ID = 10  # digits of a commit's id at least
_LISTED = re.compile(r"`([0-9a-fA-F]{4,64})`[ \t]+-[ \t][^\r\n]*")
_NAMED = re.compile(r"`([0-9a-fA-F]{4,64})`")
_TRAILER = re.compile(r"^tasks?:[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE)
_SECTION = 2


class _Line(NamedTuple):
    """An item of the section that has the form which is written here: its lines, and the commit that it names."""

    span: Span
    text: str
    sha: str


def sync(workspace: Workspace, task_id: str, request: Request, *, since: str = "") -> Outcome:
    """List the commits that name a task since it was created, or since the revision `since`.

    Raises:
        TaskstateError: there is no git repository, no such revision, or no place for the list.
    """
    if git.toplevel(workspace.root) is None:
        what = f"{workspace.root} is in no git repository"
        raise TaskstateError(what, help="run this where the task's commits are", code="no-git")

    def job(loaded: Loaded) -> Change:
        state = loaded.state
        created = "" if since else state.text("created_at") or ""
        commits = git_log.log(workspace.root, since=since, after=created, digits=_ID)
        archived = archive_text(workspace, state.id) or ""
        return _plan(workspace, state, commits_naming(commits, state.id), rolled_items(archived, _TITLE))

    return change(workspace, task_id, job, request)


def commits_naming(commits: Iterable[Commit], task_id: str) -> list[Commit]:
    """Return those of `commits` whose messages name the task."""
    end = r"(?!\w|[._-]\w)"
    word = re.compile(
        rf"(?<!\w)#{re.escape(task_id)}{end}|(?<!\w)(?<!\w[._-])TASK-{re.escape(task_id)}{end}", re.IGNORECASE
    )
    return [
        commit for commit in commits if word.search(commit.message) or task_id.casefold() in _trailers(commit.message)
    ]


def _trailers(message: str) -> set[str]:
    """Return the ids, in lower case, that lines such as `Task: 101, 102` name."""
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
    lines, known = _listed(state)
    known += [sha for item in archived for sha in _NAMED.findall(item)[:1]]
    new = [commit for commit in commits if not any(commit.id.startswith(sha.lower()) for sha in known)]
    items = [_item(commit) for commit in new]
    rank = {line.sha: _rank(line.sha, commits) for line in lines}
    older = sorted(lines, key=lambda line: (rank[line.sha], line.span.start))
    kept = max(MAX_LISTED - len(items), 0)
    going = older[kept:] if len(items) + len(lines) > MAX_LISTED else []
    text = _changed(state, items[:MAX_LISTED], going)
    rest = [*items[MAX_LISTED:], *(line.text for line in going)]
    if not items and not rest:
        return Change(text=before.document.text, notes=("no commit that is not listed names the task",))
    told = f"{len(items)} commit{'' if len(items) == 1 else 's'} listed"
    if not rest:
        return Change(text=text, notes=(told,))
    operation, path = roll(workspace, state, _TITLE, rest), workspace.archive_path(state.id)
    document = parse(text)
    text = apply(text, set_front_matter(document, "archive_path", workspace.archive_path(state.id)))
    return Change(text=text, before=(operation,), notes=(told, f"{len(rest)} of the older ones went into {path}"))


def _rank(sha: str, commits: Sequence[Commit]) -> int:
    """Return the place of a commit in the history, newest first; one that is not in it counts as the oldest."""
    return next((at for at, commit in enumerate(commits) if commit.id.startswith(sha)), len(commits))


def _item(commit: Commit) -> str:
    subject = masked(git.printable(commit.subject)).replace("<!--", "<\\!--") or "(no subject)"
    return escaping.item(f"`{commit.short}` - {subject}")


def _with_section(state: TaskState) -> TaskState:
    """Return the state with a section Git History, which a file made by hand may lack."""
    if state.section(_TITLE):
        return state
    following = state.section(_BEFORE)
    spec = kind(state.kind).section(_TITLE)
    if following is None or spec is None:
        what = f"task {state.id} has no section {_TITLE}"
        raise TaskstateError(what, help=f"add `## 5. {_TITLE}`", code="section-missing")
    nl = state.document.newline
    edit = Edit(following.span.start, following.span.start, f"## {spec.number}. {_TITLE}{nl}{nl}")
    return read_state(parse(apply(state.document.text, (edit,))))


def _listed(state: TaskState) -> tuple[list[_Line], list[str]]:
    """Return the items that have our form, and the commits that any item names."""
    document, section = state.document, state.section(_TITLE)
    lines, known = [], []
    for item in document.items(section.body) if section else ():
        text = item.content.of(document.text).rstrip()
        known += _NAMED.findall(text)
        match = _LISTED.fullmatch(text)
        if match and document.text[item.span.start] == "-":
            end = _line_end(document.text, item.content.start + len(text))
            lines.append(_Line(Span(item.span.start, end), f"- {text}", match[1].lower()))
    return lines, known


def _line_end(text: str, at: int) -> int:
    """Return where the line ends that `at` stands in, its line end included."""
    found = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)").match(text, at)
    return found.end() if found else at


def _changed(state: TaskState, items: list[str], going: list[_Line]) -> str:
    """Return the state file with `items` at the head of the list, and without the lines that go."""
    text, nl, section = state.document.text, state.document.newline, state.section(_TITLE)
    edits = [Edit(line.span.start, line.span.end, "") for line in going]
    if items and section:
        edits.append(_insertion(state, section.body, "".join(item + nl for item in items)))
    return apply(text, edits) if edits else text


def _insertion(state: TaskState, body: Span, listed: str) -> Edit:
    text, nl = state.document.text, state.document.newline
    there = [item for item in state.document.items(body) if text[item.span.start] == "-"]
    if there:
        return Edit(there[0].span.start, there[0].span.start, listed)
    said = body.of(text)
    bare = said.strip()
    if not bare or kind(state.kind).is_placeholder(bare):
        behind = nl if body.end < len(text) else ""
        return Edit(body.start, body.end, nl + listed + behind)
    end = body.start + len(said.rstrip())
    return Edit(end, body.end, nl * 2 + listed + (nl if body.end < len(text) else ""))

"""Writes a planned task as a state file: its values in our keys, and all else as text that cannot become structure."""

from __future__ import annotations

import re
from itertools import accumulate

from taskstate.formatting.formatter import format_text
from taskstate.importing.planning.tasks import closing_event
from taskstate.importing.records import Note
from taskstate.model.session_texts import ENTRY_FORM
from taskstate.model.statuses import COMPLETE, CREATED
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import timestamp, with_write_metadata
from taskstate.syntax import escaping, hashes
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.spans import size_in_bytes, with_newlines
from taskstate.syntax.yaml_emitter import OneLine, yaml_block
from taskstate.tasks.new_session import NewSession, entry_of
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import FORMAT
from taskstate.workspace.templates import completed, fill

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from taskstate.importing.planning.tasks import Task
    from taskstate.importing.records import Part
    from taskstate.syntax.document import Section
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request

FOLDER = "imports"  # in the state folder
_KB = 1024
_MOST_NOTES, _MOST_DESCRIPTION, _FIRST_PARAGRAPHS, _MOST_FILE = 16 * _KB, 16 * _KB, 4 * _KB, 60 * _KB
_SHORT_NOTES = 300  # characters of a feature's notes, in a checklist that would be too long
_MOST_CHECKLIST = 40 * _KB
_LEAST, _DEEPEST = 4, 6  # levels of the headings that a text of the source may have
_TEMPLATE = "task-state.md.j2"
_TOKEN = re.compile("\ue000(\\w+)\ue001")
_PROOF = "as imported from {}, not run here"
_DOUBLE_QUOTED = r'"((?:[^"\\\n]|\\.)*)"'
_OWN_COMMENT = re.compile(r"(?i)<!--\s{0,99}(?:taskstate|markdownlint)")
_SESSION = re.compile(r"(?i)(?:archived summary\b|session\s{1,9}#?\d)")
_NOTHING_NEXT = "the source names none"


class Written(NamedTuple):
    """A state file to create: its path from the root, its text, and path and text of the task's other files, if any.

    One that was too long for all that it was to hold has another file beside it.
    """

    path: str
    text: str
    others: tuple[tuple[str, str], ...] = ()

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """Path and text of every file to create, the state file last: it names the others."""
        return (*self.others, (self.path, self.text))


class Style(NamedTuple):
    """What all files of a run share; `shapes` are bodies of new files in which the places of texts are marked."""

    workspace: Workspace
    request: Request
    system: str
    shapes: dict[tuple[bool, bool], str]
    source: str = ""

    @property
    def now(self) -> str:
        """The time of the run."""
        return timestamp(self.request.metadata.now)


def written(style: Style, task: Task, source: str) -> Written:
    """Return the state file of a planned task; what is too long for it goes into a file beside it.

    Raises:
        TaskstateError: a text holds what no file may hold, as control characters.
    """
    style = style._replace(source=source)
    notes, checklist = _notes(task, style), json_text(_checklist(task, style))
    is_long = size_in_bytes(task.description) > _MOST_DESCRIPTION
    is_wide = size_in_bytes(checklist) > _MOST_CHECKLIST
    if not (is_long or is_wide or size_in_bytes(notes) > _MOST_NOTES):
        result = _file(task, style, notes, checklist)
        if size_in_bytes(result.text) <= _MOST_FILE:
            return result
    for long, wide in ((is_long, is_wide), (True, is_wide)):  # as much as is needed
        result = _with_attachment(task, style, notes, is_long=long, is_wide=wide)
        if size_in_bytes(result.text) <= _MOST_FILE:
            return result
    return _with_attachment(task, style, notes, is_long=True, is_wide=True)


def _with_attachment(task: Task, style: Style, notes: str, *, is_long: bool, is_wide: bool) -> Written:
    """Return the files of a task of which the notes, and what else is too long, stand in a file of their own."""
    workspace, parts = style.workspace, [f"# Imported from {style.system}: {task.record.id}"]
    if is_long:
        parts.append(f"## Task Description\n\n{task.description}")
        task = task._replace(description=_beginning(task.description))
    if is_wide:
        long = (each for each in task.features if len(each.notes) > _SHORT_NOTES)
        parts.append("## Notes of features\n\n" + "\n\n".join(f"### {each.id}\n\n{each.notes}" for each in long))
        task = task._replace(features=tuple(map(_short, task.features)))
    attached = "\n\n".join((*parts, notes)) + "\n"
    path = f"{workspace.config.root}/{FOLDER}/{task.id}.md"
    link = f"### {_heading(task, style)}\n\nWhat is too long for this file stands in `{path}`, as the source has it."
    return _file(task, style, link, json_text(_checklist(task, style)), ((path, attached),))


def _beginning(text: str) -> str:
    """Return the first paragraphs of a text, up to the limit, and where the rest is."""
    parts = text.split("\n\n")
    sizes = accumulate(size_in_bytes(each) + 2 for each in parts)
    most = max(sum(size <= _FIRST_PARAGRAPHS for size in sizes), 1)
    kept = (each[:_FIRST_PARAGRAPHS] for each in parts[:most])
    return "\n\n".join((*kept, "The rest stands in the file that the Notes name."))


def _short(part: Part) -> Part:
    notes = part.notes
    return part._replace(notes=f"{notes[: _SHORT_NOTES - 1]}\u2026") if len(notes) > _SHORT_NOTES else part


def _file(task: Task, style: Style, notes: str, checklist: str, others: tuple[tuple[str, str], ...] = ()) -> Written:
    workspace = style.workspace
    texts = {
        "id": task.id,
        "title": task.title,
        "description": embedded(task.description),
        "criteria": "\n".join(
            escaping.item(each.text, marker=f"- [{'x' if each.done else ' '}] ") for each in task.criteria
        ),
        "checklist": checklist,
        "log": "\n\n".join(_entries(task)) or ENTRY_FORM,
        "summary": embedded(task.record.summary) or "*To be completed.*",
    }
    form = bool(texts["description"]), bool(texts["criteria"])
    if form not in style.shapes:
        style.shapes[form] = _shape(workspace, is_described=form[0], has_criteria=form[1])
    body = _TOKEN.sub(lambda match: texts[match[1]], style.shapes[form])
    head = "\n".join(yaml_block(_front_matter(task, style, others), 0))
    relative = workspace.relative(workspace.tasks / f"task-{task.id}-state.md")
    text = f"---\n{head}\n---\n\n{body.rstrip()}\n\n## Notes\n\n{notes}\n"
    text = format_text(text, relative, workspace.kinds)
    return Written(relative, with_write_metadata(text, style.request.metadata, revision=1), others)


def _shape(workspace: Workspace, *, is_described: bool, has_criteria: bool) -> str:
    """Return the body of a new state file with a mark at each place that a task fills: the template is run once."""
    place = "\ue000{}\ue001".format
    parts: dict[str, Any] = {
        "task_id": place("id"),
        "title": place("title"),
        "description": place("description") if is_described else "",
        "criteria": [place("criteria")] if has_criteria else [],
        "checklist_json": place("checklist"),
        "entry_form": place("log"),
    }
    parts |= {key: [] for key in ("scope_in", "scope_out", "repository_paths")}
    parts |= dict.fromkeys(("chain_inputs", "standards_json", "validation_json"), "")
    text = completed(workspace, _TEMPLATE, fill(workspace, _TEMPLATE, parts))
    summary = read_state(parse(text, workspace.kinds)).subsection("Chain Output", "Summary")
    if summary:
        text = f"{text[: summary.body.start].rstrip()}\n\n{place('summary')}\n\n{text[summary.span.end :].lstrip()}"
    return text


def _front_matter(task: Task, style: Style, others: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    origin = {"system": style.system, "id": task.record.id, "source": style.source, "sha": task.sha}
    if others:
        origin["attached"] = hashes.sha256(others[0][1].encode())
    event = closing_event(task, style.system, style.now, style.request.metadata.actor)
    values = {
        "taskstate": FORMAT,
        "task_id": task.id,
        "title": task.title,
        "status": task.status or CREATED,
        **task.values,
        "depends_on": [*task.depends_on],
        "parent": task.parent,
        "subtasks": [*task.subtasks],
        "origin": OneLine(origin),
        "created_at": task.created_at or style.now,
        "sessions": {"total": 0, "archived": 0, "recent": 0},
        "file_size_kb": 1,
        "audit": {"events": [event]} if event else "",
    }
    return {key: value for key, value in values.items() if value not in ("", [])}


def _checklist(task: Task, style: Style) -> dict[str, Any]:
    return {"features": [feature_of(each, task, style) for each in task.features], "overall_progress": "0%"}


def feature_of(part: Part, task: Task, style: Style) -> dict[str, Any]:
    """Return a feature of the source as the checklist stores it; one that is done there passes, and says so."""
    proof = _PROOF.format(style.source.rpartition("/")[2] or style.system)
    tested = (part.time or (task.closed_at if task.status == COMPLETE else "") or style.now) if part.done else None
    values: dict[str, Any] = {"id": part.id, "description": part.text, "passes": part.done, "tested_at": tested}
    return values | ({"evidence": proof} if part.done else {}) | ({"notes": part.notes} if part.notes else {})


def _entries(task: Task) -> Iterable[str]:
    for number, (time, each) in enumerate(task.sessions, 1):
        session = NewSession(
            did=each.did or (each.state or task.title,),
            issues=each.issues,
            state=each.state or f"as the source left it at {time[:10]}",
            next=each.next or (_NOTHING_NEXT,),
        )
        yield entry_of(session, number, f"{time[:10]} {time[11:16]}")


# What has no place of its own


def _heading(task: Task, style: Style) -> str:
    return f"Imported from {style.system}: {' '.join(task.record.id.split())}"


def _notes(task: Task, style: Style) -> str:
    parts = [f"### {_heading(task, style)}"]
    if task.fields:
        values = re.sub(_DOUBLE_QUOTED, _in_single_quotes, "\n".join(yaml_block(task.fields, 0)))
        longest = max(map(len, re.findall(r"`{3,}", values)), default=2)
        fence = "`" * (longest + 1)
        parts.append(f"{fence}yaml\n{values}\n{fence}")
    for each in (*task.notes, *_criteria_notes(task)):
        text = embedded(each.text, least=_LEAST + 1)
        parts += [f"#### {_one_line(each.title)}", text] if text else []
    return "\n\n".join(parts)


def _criteria_notes(task: Task) -> tuple[Note, ...]:
    """Return what criteria say besides their text and their heading, which a criterion has no place for."""
    lines = [
        f"- {each.text}\n\n  {each.notes.replace(chr(10), chr(10) + '  ')}" for each in task.criteria if each.notes
    ]
    return (Note("Of the acceptance criteria", "\n".join(lines)),) if lines else ()


def _in_single_quotes(match: re.Match[str]) -> str:
    """Return a quoted text as most tools write it."""
    return match[0] if "\\" in match[1] or "'" in match[1] else f"'{match[1]}'"


def _one_line(text: str) -> str:
    return " ".join(escaping.clean(text, what="a heading").split()) if text.strip() else "Text"


def embedded(text: str, *, least: int = _LEAST) -> str:
    """Return a text of the source as it may stand below one of our headings: its own sink, and stay headings.

    A heading that sinks too deep becomes bold, and so does one that reads like that of a session. Comments that our
    tools would obey are shown as code.
    """
    text = with_newlines(text, "\n").strip()
    if not text:
        return ""
    text = _without_own_comments(text)
    document = parse(f"\n{text}")  # a `---` in the first line is no front matter
    levels = [each.level for each in document.sections]
    by = max(least - min(levels), 0) if levels else 0
    moved = [each for each in document.sections if by or _SESSION.match(each.title)]
    edits = [Edit(*each.heading, _sunk(each, by)) for each in moved]
    text = apply(document.text, edits).strip("\n") if edits else text
    return escaping.paragraphs(text, what="a text of the source", deepest=escaping.SUBSECTION_LEVEL)


def _without_own_comments(text: str) -> str:
    """Return a text in which the comments that our tools obey are code, on one line."""
    parts, at = list[str](), 0
    for match in _OWN_COMMENT.finditer(text):
        end = text.find("-->", match.end()) if match.start() >= at else at
        if end < 0:
            break
        if match.start() >= at:
            comment = " ".join(text[match.start() : end + 3].replace("`", "'").split())
            parts += [text[at : match.start()], f"`{comment}`"]
            at = end + 3
    return "".join((*parts, text[at:]))


def _sunk(section: Section, by: int) -> str:
    level = section.level + by
    is_heading = level <= _DEEPEST and not _SESSION.match(section.title)
    return f"{'#' * level} {section.title}" if is_heading else f"**{section.title}**"

"""Captures the static part of a task: reads it and its sources, and makes the text that is to be sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate import schema
from taskstate.capture import Captured, Known, capture
from taskstate.context_sources import Sources
from taskstate.context_text import with_marks, with_values
from taskstate.data import Node
from taskstate.errors import TaskstateError
from taskstate.form.layout import unreadable
from taskstate.stamp import front_matter_values
from taskstate.state import json_fence
from taskstate.static_edits import changed_parts, with_parts
from taskstate.static_part import SEALED_VALUES, SECTION, STANDARDS, VALIDATION, read_static

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.state import TaskState
    from taskstate.task_file import TaskFile
    from taskstate.workspace import Loaded, Workspace

_KIND = "task"
_FENCES = ((STANDARDS, "citations"), (VALIDATION, "validation"))


class Wanted(NamedTuple):
    """What was asked for: another task file than the recorded one, the commit that the work starts from, short values.

    A task file is named by its path from the repository's root.
    """

    task_file: str = ""
    base_commit: str = ""
    shorten: bool = False


class Capture(NamedTuple):
    """What a capture came to: the text, not sealed yet, and what it was made from."""

    text: str
    captured: Captured
    sources: Sources
    given: TaskFile | None


def captured(workspace: Workspace, loaded: Loaded, wanted: Wanted, *, anew: bool) -> Capture:
    """Return what capturing the static part of a task comes to; `anew` lets its sources go before what it says.

    Raises:
        TaskstateError: the file cannot be read fully, a source is wrong, or nothing is said.
    """
    _require_readable(loaded)
    state, sources = loaded.state, Sources(workspace)
    name = wanted.task_file or _recorded(front_matter_values(loaded.document))
    given = sources.task_file(name) if name else None
    held = read_static(state)
    texts = {key: state.text(key) or "" for key in SEALED_VALUES}
    known = Known(texts, held, given, workspace.config, sources.settings, sources.cite, anew, wanted.shorten)
    found = capture(known)
    _require_said(state, found, given)
    bodies = changed_parts(held, found.static)
    text = with_marks(with_parts(with_values(loaded.document, found.values), bodies), state)
    return Capture(text, found, sources, given)


def _require_said(state: TaskState, captured: Captured, given: TaskFile | None) -> None:
    """Refuse a task that has no title, or of which nothing is said.

    Raises:
        TaskstateError: code "invalid-input".
    """
    told = f"; {given.name} has none either" if given else ""
    if not captured.values["title"].strip():
        what = f"task {state.id} has no title{told}"
        raise TaskstateError(what, help="give it one in its front matter, then seal it", code="invalid-input")
    if not captured.static.description.strip():
        what = f"task {state.id} has no description{told}"
        raise TaskstateError(what, help="write it under ### Task Description, then seal it", code="invalid-input")


def _require_readable(loaded: Loaded) -> None:
    """Refuse a file of which section 1 cannot be read fully: what is sealed must be what people see.

    Raises:
        TaskstateError: code "kind" or "unreadable".
    """
    state = loaded.state
    if state.kind != _KIND:
        what = f"{state.id} is a {state.kind} task, which has no static part to seal"
        raise TaskstateError(what, help="name an ordinary task", code="kind")
    if state.section(SECTION) is None:
        what = f"task {state.id} has no section Static Context"
        raise TaskstateError(what, help="`taskstate lint --fix` adds it", code="section-missing")
    problem = unreadable(state.document)
    if problem:
        line = state.document.position(problem.span.start).line + 1
        what = f"{loaded.relative}, line {line}: {problem.message}"
        raise TaskstateError(what, help="mend it; `taskstate lint` says how", code="unreadable")
    _require_fences(loaded)


def _require_fences(loaded: Loaded) -> None:
    for name, shape in _FENCES:
        section = loaded.state.subsection(SECTION, name)
        fence = json_fence(loaded.document, section.own) if section else None
        root = loaded.document.json(fence) if fence else None
        faults = schema.faults(root.value(), shape) if isinstance(root, Node) else ()
        wrong = faults[0].message if faults else getattr(root, "message", "")
        if wrong and fence:
            line = loaded.document.position(fence.span.start).line + 1
            what = f"{loaded.relative}, line {line}: the fence of {name} cannot be used: {wrong}"
            raise TaskstateError(what, help="mend it; `taskstate lint` says how", code="unreadable")


def _recorded(values: Mapping[str, Any]) -> str:
    context = values.get("context")
    name = context.get("task_file") if isinstance(context, dict) else None
    return name if isinstance(name, str) else ""

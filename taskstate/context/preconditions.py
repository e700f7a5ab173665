"""Refuses a state file whose static part cannot be read for certain: what is sealed, or handed on, is what people see.

A part that cannot be read would otherwise count as empty. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import unreadable
from taskstate.model.static_context import SECTION, STANDARDS, VALIDATION, is_sealed
from taskstate.model.task_state import json_fence
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.nodes import Node
from taskstate.validation import schema
from taskstate.workspace import preconditions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.spans import Span
    from taskstate.workspace.workspace import Loaded

_KIND = "task"
FIX_HELP = "mend it; `taskstate lint` says how"
_FENCES = ((STANDARDS, "citations"), (VALIDATION, "validation"))
_CITED = ("file", "section")


class BrokenFence(NamedTuple):
    """A json fence of section 1 that cannot be used: the name of its part, where it stands, and what is wrong.

    `is_told` where it says all the same what is cited, so that only what is computed is wrong.
    """

    part: str
    span: Span
    what: str
    is_told: bool
    is_json: bool


def require_exportable(loaded: Loaded) -> None:
    """Refuse a file of which a reader would get less than it says.

    Raises:
        TaskstateError: code "unreadable" or "file-name".
    """
    preconditions.require_whole(loaded)
    if loaded.document.problems:
        problem = loaded.document.problems[0]
        raise unreadable_error(loaded, problem.span, problem.message)
    for broken in broken_fences(loaded.state):
        raise unreadable_error(loaded, broken.span, broken.what)


def require_sealed(loaded: Loaded) -> None:
    """Refuse a task whose static part is not sealed, and one whose front matter does not say whether it is.

    Raises:
        TaskstateError: code "not-sealed", "unreadable" or "file-name".
    """
    preconditions.require_whole(loaded)
    state = loaded.state
    if not is_sealed(state.document.front_matter.node):
        what = f"the context of task {state.id} is not sealed"
        raise TaskstateError(what, help=f"seal it with `taskstate context init {state.id}`", code="not-sealed")


def require_sealable(loaded: Loaded) -> None:
    """Refuse a file of which section 1 cannot be read fully; its fences are for `broken_fences` to tell.

    Raises:
        TaskstateError: code "kind", "section-missing", "merge-conflict" or "unreadable".
    """
    state = loaded.state
    for conflict in find_conflicts(loaded.document.text):
        help_ = "settle it, and take its marker lines out; then seal the result"
        raise unreadable_error(
            loaded, conflict.span, "a merge conflict stands here", help_=help_, code="merge-conflict"
        )
    if state.kind != _KIND:
        what = f"{state.id} is a {state.kind} task, which has no static part to seal"
        raise TaskstateError(what, help="name an ordinary task", code="kind")
    if state.section(SECTION) is None:
        what = f"task {state.id} has no section Static Context"
        raise TaskstateError(what, help="`taskstate lint --fix` adds it", code="section-missing")
    problem = unreadable(state.document)
    if problem:
        raise unreadable_error(loaded, problem.span, problem.message)


def unreadable_error(
    loaded: Loaded, span: Span, why: str, *, help_: str = FIX_HELP, code: str = "unreadable"
) -> TaskstateError:
    """Return the refusal that names a place in a state file."""
    line = loaded.document.position(span.start).line + 1
    return TaskstateError(f"{loaded.relative}, line {line}: {why}", help=help_, code=code)


def broken_fences(state: TaskState) -> Iterator[BrokenFence]:
    """Yield the json fences of section 1 that are no JSON, or break their schema."""
    for name, shape in _FENCES:
        section = state.subsection(SECTION, name)
        fence = json_fence(state.document, section.own) if section else None
        root = state.document.json(fence) if fence else None
        if fence is None or root is None:
            continue
        faults = schema.faults(root.value(), shape) if isinstance(root, Node) else ()
        wrong = faults[0].message if faults else getattr(root, "message", "")
        if wrong:
            told = isinstance(root, Node) and shape == _FENCES[0][1] and _is_told(root.value())
            what = f"the fence of {shape} cannot be used: {wrong}"
            yield BrokenFence(name, fence.span, what, told, isinstance(root, Node))


def _is_told(value: object) -> bool:
    """Return whether each citation names a file and a section, whatever else is wrong."""
    return isinstance(value, list) and all(
        isinstance(each, dict) and all(isinstance(each.get(key), str) and each[key].strip() for key in _CITED)
        for each in value
    )

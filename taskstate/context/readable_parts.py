"""Refuses state files that cannot be sealed or exported, because their static part cannot be read with certainty.

Otherwise a part that cannot be read would be sealed or exported as empty. Pure.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.static_context import SECTION, STANDARDS, VALIDATION, is_sealed
from taskstate.model.task_state import json_fence
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.nodes import Node
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema
from taskstate.writing import preconditions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.error_codes import ErrorCode
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.spans import Span
    from taskstate.workspace.workspace import Loaded

_KIND = "task"
FIX_HELP = "fix it; `taskstate lint` says how"
_FENCES = ((STANDARDS, "citations"), (VALIDATION, "validation"))
_CITED = ("file", "section")


class BrokenFence(NamedTuple):
    """A JSON fence of section 1 that cannot be used: the name of its part, its span, and the message.

    `has_references`: every citation in it names file and section, so that only computed values are wrong.
    """

    part: str
    span: Span
    message: str
    has_references: bool
    is_json: bool


def require_exportable(loaded: Loaded) -> None:
    """Refuse a file of which an export would leave something out.

    Raises:
        TaskstateError: code "unreadable" or "file-name".
    """
    preconditions.require_whole(loaded)
    if loaded.document.problems:
        problem = loaded.document.problems[0]
        raise unreadable_error(loaded, problem.span, problem.message)
    for broken in broken_fences(loaded.state):
        raise unreadable_error(loaded, broken.span, broken.message)


def require_sealed(loaded: Loaded) -> None:
    """Refuse a task that is not sealed, or whose front matter cannot be read.

    Raises:
        TaskstateError: code "not-sealed", "unreadable" or "file-name".
    """
    preconditions.require_whole(loaded)
    state = loaded.state
    if not is_sealed(state.document.front_matter.node):
        message = f"the context of task {state.id} is not sealed"
        raise TaskstateError(message, help=f"seal it with `taskstate context init {state.id}`", code="not-sealed")


def require_sealable(loaded: Loaded) -> None:
    """Refuse a file whose section 1 cannot be read fully; `broken_fences` checks its JSON fences.

    Raises:
        TaskstateError: code "kind", "section-missing", "merge-conflict" or "unreadable".
    """
    state = loaded.state
    for conflict in find_conflicts(loaded.document.text):
        reason, help_ = "a merge conflict is left here", "resolve it, and delete its marker lines; then seal the result"
        raise unreadable_error(loaded, conflict.span, reason, help_=help_, code="merge-conflict")
    if state.kind != _KIND:
        message = f"{state.id} is a {state.kind} task, which has no static part to seal"
        raise TaskstateError(message, help="name an ordinary task", code="kind")
    if state.section(SECTION) is None:
        message = f"task {state.id} has no section Static Context"
        raise TaskstateError(message, help="`taskstate lint --fix` adds it", code="section-missing")
    from taskstate.formatting.formatter import unreadable  # whoever only reads the fences does without it

    problem = unreadable(state.document)
    if problem:
        raise unreadable_error(loaded, problem.span, problem.message)


def unreadable_error(
    loaded: Loaded, span: Span, reason: str, *, help_: str = FIX_HELP, code: ErrorCode = "unreadable"
) -> TaskstateError:
    """Return the error that refuses a state file, with the line of `span`."""
    line = loaded.document.position(span.start).line + 1
    return TaskstateError(f"{loaded.relative}, line {line}: {reason}", help=help_, code=code)


def broken_fences(state: TaskState) -> Iterator[BrokenFence]:
    """Yield the JSON fences of section 1 that are not JSON or do not match their schema."""
    for name, schema_name in _FENCES:
        section = state.subsection(SECTION, name)
        fence = json_fence(state.document, section.own) if section else None
        root = state.document.json(fence) if fence else None
        if fence is None or root is None:
            continue
        faults = schema.faults(root.value(), schema_name) if isinstance(root, Node) else ()
        reason = faults[0].message if faults else getattr(root, "message", "")
        if reason:
            has_references = isinstance(root, Node) and schema_name == _FENCES[0][1] and _names_sections(root.value())
            message = f"the fence of {schema_name} cannot be used: {reason}"
            yield BrokenFence(name, fence.span, message, has_references, isinstance(root, Node))


def _names_sections(value: object) -> bool:
    """Return whether every citation in a list names a file and a section."""
    return isinstance(value, list) and all(
        isinstance(each, dict) and all(isinstance(each.get(key), str) and each[key].strip() for key in _CITED)
        for each in value
    )

"""The sealed context of a task as people and programs read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.context.check import moved_since, unverifiable_notes
from taskstate.context.preconditions import require_sealed
from taskstate.model.static_context import SEALED_VALUES, read_static, seal_broken, static_text
from taskstate.model.write_metadata import blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.context.capture import CapturedField
    from taskstate.context.check import ContextCheck, ContextFinding
    from taskstate.workspace.workspace import Loaded, Workspace

_SHORT = 10  # digits of a commit's id


def shape(loaded: Loaded) -> dict[str, object]:
    """Return the sealed context of a task as values of JSON.

    Raises:
        TaskstateError: code "not-sealed".
    """
    require_sealed(loaded)
    state, values = loaded.state, blocks_of(loaded.document).values
    static = read_static(state)
    return {
        "id": state.id,
        "path": loaded.relative,
        "revision": loaded.token,
        **{key: values.get(key) for key in SEALED_VALUES},
        "description": static.description,
        "scope": {"in": list(static.scope_in), "out": list(static.scope_out)},
        "acceptance_criteria": [{"text": each.text, "checked": each.checked} for each in state.criteria],
        "standards": [dict(each) for each in static.standards],
        "validation": {"commands": list(static.commands)},
        "repository_paths": list(static.paths),
        "context": values["context"],
    }


def text(loaded: Loaded) -> str:
    """Return the sealed context of a task as text: section 1, and below it where it comes from."""
    told = shape(loaded)
    context = blocks_of(loaded.document).context
    head = [f"{key}: {told[key]}" for key in SEALED_VALUES if told[key]]
    sealed = [f"sealed {context.sealed_at} by {context.sealed_by}"]
    if context.git_head:
        sealed.append(f"at commit {context.git_head[:_SHORT]}")
    sources = [f"  {each.path}  {each.sha256}" for each in context.sources if each.sha256]
    origin = [" ".join(sealed), f"seal {context.seal}", *(["from", *sources] if sources else [])]
    return "\n".join([*head, "", static_text(loaded.document, loaded.state) or "", "", *origin])


def broken_notes(loaded: Loaded) -> tuple[str, ...]:
    """Return the warning that what a task says is not what was sealed, where that is so."""
    state = loaded.state
    if not seal_broken(state, blocks_of(loaded.document)):
        return ()
    return (f"the seal is broken: this is not what was sealed; see `taskstate context check {state.id}`",)


def moved_notes(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """Return the warning that HEAD has moved since a context was sealed, if it has and more than our files changed."""
    head = blocks_of(loaded.document).context.git_head
    moved = moved_since(workspace, head)
    if moved is None:
        return unverifiable_notes(head)
    if not moved or head is None:
        return ()
    then, count = head[:_SHORT], len(moved)
    what = f"{count} file{'' if count == 1 else 's'}"
    return (f"sealed at {then}, and commits since then touch {what}: see `taskstate context check {loaded.state.id}`",)


def table(rows: Sequence[CapturedField]) -> str:
    """Return what was captured, part by part, and where it came from, in columns."""
    lines = [("PART", "CAPTURED", "FROM"), *((row.part, _cut(row.what), row.source or "-") for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in (0, 1)]
    return "\n".join(f"{part:<{widths[0]}}  {what:<{widths[1]}}  {source}" for part, what, source in lines)


def rows_shape(rows: Sequence[CapturedField]) -> list[dict[str, str]]:
    """Return what was captured as values of JSON."""
    return [{"part": row.part, "captured": row.what, "from": row.source} for row in rows]


def check_text(checked: ContextCheck) -> str:
    """Return what checking a context came to as text."""
    if not checked.points:
        return f"{checked.path}: the context holds"
    return "\n".join(line for point in checked.points for line in _point_lines(checked.path, point))


def check_shape(checked: ContextCheck) -> dict[str, object]:
    """Return what checking a context came to as values of JSON."""
    return {
        "id": checked.id,
        "path": checked.path,
        "revision": checked.revision,
        "seal": checked.seal,
        "holds": not checked.points,
        "notes": list(checked.notes),
        "findings": [
            {"code": point.code or None, "message": point.what, "help": point.help, "diff": list(point.diff)}
            for point in checked.points
        ],
    }


def _point_lines(path: str, point: ContextFinding) -> list[str]:
    code = f"{point.code} " if point.code else ""
    return [f"{path}: {code}{point.what}", *(f"    {line}" for line in point.diff), f"  help: {point.help}"]


def _cut(what: str, most: int = 48) -> str:
    return what if len(what) <= most else f"{what[: most - 1]}\u2026"

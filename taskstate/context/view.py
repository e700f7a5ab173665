"""Formats a sealed context, what was captured and what a check found: as text, and as JSON values."""

from __future__ import annotations

from taskstate.context.readable_parts import require_sealed
from taskstate.messages import one_line
from taskstate.model.static_context import SEALED_VALUES, read_static, seal_broken, static_text
from taskstate.model.write_metadata import blocks_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.context.capture import CapturedField
    from taskstate.context.check import ContextCheck, ContextFinding
    from taskstate.workspace.workspace import Loaded

_WIDTH = 48  # characters of a summary in the table


def shape(loaded: Loaded) -> dict[str, object]:
    """Return the sealed context of a task as JSON values.

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


def text(loaded: Loaded, parts: Mapping[str, str]) -> str:
    """Return the sealed context of a task as text: section 1, and below it the seal and the sources.

    `parts` says which source each part was taken from, as far as that is known here.
    """
    values = shape(loaded)
    context = blocks_of(loaded.document).context
    head = [f"{key}: {values[key]}" for key in SEALED_VALUES if values[key]]
    sealed = f"sealed {context.sealed_at} by {context.sealed_by}"
    sources = [f"  {each.path}  {each.sha256}" for each in context.sources if each.sha256]
    origin = [sealed, f"seal {context.seal}", *(["from", *sources] if sources else [])]
    origin += ["parts", *(f"  {part}: {source}" for part, source in parts.items())] if parts else []
    return "\n".join([*head, "", static_text(loaded.document, loaded.state) or "", "", *origin])


def broken_notes(loaded: Loaded) -> tuple[str, ...]:
    """Return a warning if the seal of a task is broken, else nothing."""
    state = loaded.state
    if not seal_broken(state, blocks_of(loaded.document)):
        return ()
    return (f"the seal is broken: this is not what was sealed; see `taskstate context check {state.id}`",)


def table(rows: Sequence[CapturedField]) -> str:
    """Return a table of the captured parts with their sources."""
    lines = [
        ("PART", "CAPTURED", "FROM"),
        *((row.part, one_line(row.summary, _WIDTH), row.source or "-") for row in rows),
    ]
    widths = [max(len(line[column]) for line in lines) for column in (0, 1)]
    return "\n".join(f"{part:<{widths[0]}}  {what:<{widths[1]}}  {source}" for part, what, source in lines)


def rows_shape(rows: Sequence[CapturedField]) -> list[dict[str, str]]:
    """Return the captured parts as JSON values."""
    return [{"part": row.part, "captured": row.summary, "from": row.source} for row in rows]


def check_text(checked: ContextCheck) -> str:
    """Return the result of a check as text."""
    if not checked.findings:
        return f"{checked.path}: the context holds"
    return "\n".join(line for finding in checked.findings for line in _finding_lines(checked.path, finding))


def check_shape(checked: ContextCheck) -> dict[str, object]:
    """Return the result of a check as JSON values."""
    return {
        "id": checked.id,
        "path": checked.path,
        "revision": checked.revision,
        "seal": checked.seal,
        "holds": not checked.findings,
        "notes": list(checked.notes),
        "findings": [
            {"code": finding.code or None, "message": finding.message, "help": finding.help, "diff": list(finding.diff)}
            for finding in checked.findings
        ],
    }


def _finding_lines(path: str, finding: ContextFinding) -> list[str]:
    code = f"{finding.code} " if finding.code else ""
    return [f"{path}: {code}{finding.message}", *(f"    {line}" for line in finding.diff), f"  help: {finding.help}"]

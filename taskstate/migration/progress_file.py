"""Makes the fence of a phase from `phase-<P>-progress.json` of another tool; pure."""

from __future__ import annotations

from collections import Counter

from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.migration.checklist import foreign_keys, known_time
from taskstate.model.phases import objective_to_work_on, phase_id
from taskstate.model.statuses import BLOCKED, DONE, IN_PROGRESS, NOT_STARTED
from taskstate.syntax.conservation import leaf, leaves, require_conserved
from taskstate.syntax.json_input import read_object
from taskstate.typed import TYPE_CHECKING
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_KEYS = ("phase", "phase_name", "started_at", "last_updated", "objectives", "current_objective", "approaches_tried")
_STATUSES = {
    **{status: status for status in (NOT_STARTED, IN_PROGRESS, DONE, BLOCKED)},
    **dict.fromkeys(("complete", "completed", "finished", "passed"), DONE),
    **dict.fromkeys(("pending", "todo", "open", "not started"), NOT_STARTED),
    **dict.fromkeys(("active", "started", "in progress", "in-progress", "partial"), IN_PROGRESS),
}
_UNKNOWN = "not recorded"


def read_phase(data: bytes, name: str, phase: str) -> dict[str, Any]:
    """Return the value of a phase's fence; `name` is that of the file, for messages, `phase` the one in it.

    Raises:
        TaskstateError: code "invalid-input": it is no progress of a phase; code "unsafe": a value would get lost.
    """
    loose = read_object(decoded(data, name), name, "the progress of a phase as an object")
    renamed: list[tuple[str, str]] = []
    value = _phase(loose, phase, renamed)
    faults = schema.faults(value, "phase")
    if faults:
        message = f"{name} cannot be taken over: {faults[0].message}"
        raise TaskstateError(message, help="correct it, then run this again", code="invalid-input")
    wanted = Counter(leaves(loose)) - Counter(old for old, _ in renamed) + Counter(new for _, new in renamed)
    require_conserved(name, wanted.elements(), leaves(value))
    return value


def _phase(loose: Mapping[str, Any], phase: str, renamed: list[tuple[str, str]]) -> dict[str, Any]:
    objectives = [_objective(each, number, renamed) for number, each in enumerate(_list(loose, "objectives"), 1)]
    current = loose.get("current_objective")
    working_on = current if any(each["id"] == current for each in objectives) else None
    if current is not None and working_on is None:
        renamed.append((leaf("current_objective", current), leaf("x-current_objective", current)))
    count = loose.get("handoff_count")
    is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 0
    value = {
        "phase": loose.get("phase") if loose.get("phase") is not None else phase_id(phase),
        "phase_name": str(loose.get("phase_name") or f"Phase {phase}"),
        "started_at": known_time("started_at", loose.get("started_at"), renamed),
        "last_updated": known_time("last_updated", loose.get("last_updated"), renamed),
        "objectives": objectives,
        "current_objective": objective_to_work_on(objectives, None) if working_on is None else working_on,
        "approaches_tried": [_approach(each, renamed) for each in _list(loose, "approaches_tried")],
        "handoff_count": count if is_count else 0,
    }
    if current is not None and working_on is None:
        value["x-current_objective"] = current
    known = (*_KEYS, "handoff_count") if is_count or count is None else _KEYS
    return value | foreign_keys(loose, known, renamed)


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    listed = value.get(key)
    return listed if isinstance(listed, list) else []


def _objective(loose: object, number: int, renamed: list[tuple[str, str]]) -> dict[str, Any]:
    if not isinstance(loose, dict):
        renamed.append((leaf("objectives", loose), leaf("description", loose)))
        return {"id": number, "description": str(loose), "status": NOT_STARTED}
    said = str(loose.get("status") or NOT_STARTED)
    status = _STATUSES.get(said.casefold(), said)
    if status != said:
        renamed.append((leaf("status", said), leaf("status", status)))
    objective = {
        "id": loose["id"] if loose.get("id") is not None else number,
        "description": str(loose.get("description") or ""),
        "status": status,
    }
    if isinstance(loose.get("note"), str):
        objective["note"] = loose["note"]
    return objective | foreign_keys(loose, tuple(objective), renamed)


def _approach(loose: object, renamed: list[tuple[str, str]]) -> dict[str, Any]:
    if not isinstance(loose, dict):
        renamed.append((leaf("approaches_tried", loose), leaf("approach", loose)))
        return {"approach": str(loose), "result": _UNKNOWN}
    approach = {"approach": str(loose.get("approach") or _UNKNOWN), "result": str(loose.get("result") or _UNKNOWN)}
    return approach | foreign_keys(loose, tuple(approach), renamed)

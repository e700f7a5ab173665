"""The rows of state files, archives and handoffs: what the model reads in them, one function a table. Pure."""

from __future__ import annotations

import re

from taskstate.model import names
from taskstate.model.loose_values import map_of
from taskstate.syntax.spans import size_in_bytes
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import Feature, TaskState
    from taskstate.model.tool_blocks import CheckResult, ToolBlocks
    from taskstate.query.tables import Row
    from taskstate.syntax.document import Document

_TRAILER = r"(?m)^Archived on: (\S+)\r?\nReason: ([^\r\n]*)"


def add(document: Document, type_: str, path: str, tables: Mapping[str, list[Row]]) -> None:
    """Add the rows of a file that can be read to their tables."""
    own = names.own_file(path)
    task = (own and own.id) or ""
    if type_ == "state":
        _add_state(document, task, tables)
    elif type_ == "archive":
        from taskstate.archive.archiver import sessions_in

        tables["archives"] += _numbered(_batches(document.text, task))
        tables["sessions"] += _numbered(_sessions(sessions_in(document.text), task, archived=True))
    elif type_ == "handoff":
        tables["handoffs"].append(_handoff(document, path, task))


def _add_state(document: Document, task: str, tables: Mapping[str, list[Row]]) -> None:
    from taskstate.model.task_state import read_state
    from taskstate.model.write_metadata import blocks_of

    state, blocks = read_state(document, task), blocks_of(document)
    task = state.id
    tables["tasks"].append(_task(state, blocks))
    tables["criteria"] += [{"task": task, **_picked(each, "number", "checked", "text")} for each in state.criteria]
    features = state.checklist.features if state.checklist else ()
    tables["features"] += [_feature(each, task) for each in features]
    tables["sessions"] += _numbered(_sessions(state.sessions, task, archived=False))
    baseline = blocks.baseline
    tables["checks"] += _checks("baseline", baseline.results, task, baseline.recorded_at)
    for role in blocks.roles.values():
        tables["checks"] += _checks(role.name, role.qa, task, role.completed_at)
    tables["findings"] += _findings(blocks, task)
    tables["snapshots"] += _snapshots(blocks, task)
    events = ((each.at, each.event, each.role, _note(each.entry)) for each in blocks.audit.events)
    tables["events"] += _numbered(
        {"task": task, "happened_at": at, "event": event, "role": role, "note": note}
        for at, event, role, note in events
    )
    upstream = dict.fromkeys(state.depends_on)
    tables["dependencies"] += [{"upstream": each, "task": task, "upstream_key": each.casefold()} for each in upstream]


def _task(state: TaskState, blocks: ToolBlocks) -> Row:
    times, turn = [each.time for each in state.sessions if each.time], blocks.delta.turn
    counted = state.checklist.counted if state.checklist else ()
    texts = ("priority", "area", "agent", "epic", "parent", "created_at", "updated_at")
    return {
        "completed_at": map_of(state.document.front_matter.get("output")).get("completed_at"),
        "task": state.id,
        "task_key": state.id.casefold(),
        **_picked(state, "kind", "title", "revision", "archived", "last_session"),
        "status": state.status or None,
        **{key: state.text(key) for key in texts},
        "sessions": state.archived + len(state.sessions),
        "first_session_at": min(times, default=None),
        "last_session_at": max(times, default=None),
        "bytes": state.size,
        "criteria": len(state.criteria),
        "criteria_checked": sum(each.checked for each in state.criteria),
        "features": len(counted),
        "features_passing": sum(each.passes for each in counted),
        "turn_role": turn and turn.role,
        "turn_agent": turn and turn.agent,
        "turn_started_at": turn and turn.started_at,
        "blocked_reason": blocks.why_blocked or None,
    }


def _feature(feature: Feature, task: str) -> Row:
    evidence = feature.evidence
    form = next((form for form in ("command", "commit") if form in map_of(evidence)), None)
    status = map_of(evidence).get("exit_status")
    return {
        "number": feature.number + 1,
        "task": task,
        "feature": feature.id,
        **_picked(feature, "description", "passes", "tested_at", "moved_to"),
        "evidence": form or ("text" if evidence else None),
        "exit_status": status if type(status) is int else None,
    }


def _sessions(sessions: Iterable[Session], task: str, *, archived: bool) -> Iterator[Row]:
    for each in sessions:
        said = each.texts()
        yield {
            "task": task,
            "number": each.number,
            "happened_at": each.time,
            "agent": str(said["agent"]) or None,
            "archived": archived,
            "bytes": size_in_bytes(each.entry),
            **{key: _lines(said[key]) for key in ("did", "issues", "next")},
            **{key: len(said[key]) for key in ("commits", "verification")},
        }


def _checks(role: str, results: Mapping[str, CheckResult], task: str, at: str | None) -> list[Row]:
    return [
        {"role": role, "name": name, "task": task, "ok": each.ok, "text": each.text, "happened_at": at}
        for name, each in results.items()
    ]


def _findings(blocks: ToolBlocks, task: str) -> list[Row]:
    return [
        {
            **_picked(each, "number", "answer", "cleared_at"),
            "task": task,
            "role": role.name,
            "raised_by": each.by,
            "text": each.text or None,
            "open": each.is_open,
        }
        for role in blocks.roles.values()
        for each in role.all_findings
    ]


def _snapshots(blocks: ToolBlocks, task: str) -> Iterator[Row]:
    """Yield a row for each role that the file has something of."""
    for name in dict.fromkeys((*blocks.roles, *blocks.delta.snapshots)):
        role = blocks.role(name)
        left = role.snapshot
        changed = left.files_changed if left else None
        yield {
            "role": name,
            "task": task,
            "role_status": role.status,
            "completed_at": role.completed_at,
            **(_picked(left, "tree", "head") if left else {}),
            "taken_at": left and left.snapshot_time,
            "drift_budget": role.budget,
            "files_changed": None if changed is None else len(changed),
        }


def _batches(text: str, task: str) -> Iterator[Row]:
    from taskstate.model.archive_format import batch_contents, find_batches

    for batch, contents in zip(find_batches(text), batch_contents(text), strict=True):
        told = re.search(_TRAILER, batch.trailer)
        first, last = contents.range or (min(contents.numbers, default=None), max(contents.numbers, default=None))
        yield {
            "task": task,
            "first": first,
            "last": last,
            "bytes": size_in_bytes(batch.text),
            "archived_at": told and told[1],
            "reason": told and told[2],
        }


def _handoff(document: Document, path: str, task: str) -> Row:
    from taskstate.handoff.document import front_matter_of, read_written_handoff
    from taskstate.model.tool_blocks import read_seen_state

    written = read_written_handoff(document, path)
    seen = read_seen_state(front_matter_of(document).get("verified"))
    texts = {
        key: text or None for key, text in _picked(written, "phase", "status", "created_at", "accepted_at").items()
    }
    return {**texts, "task": written.task_id or task, "git_head": seen.git_head, "sessions": written.sessions}


def _picked(record: object, *names: str) -> Row:
    """Return those fields of a record that are columns as they are."""
    return {name: getattr(record, name) for name in names}


def _lines(values: Iterable[str]) -> str | None:
    """Return several texts as one, a line each, in one cell; None where there is none."""
    return "\n".join(values) or None


def _numbered(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows with their place among them, from 1."""
    for number, row in enumerate(rows, 1):
        yield {"ordinal": number, **row}


def _note(entry: object) -> str | None:
    """Return the note of an event."""
    note = entry.get("note") if isinstance(entry, dict) else None
    return re.sub(r"\s+", " ", str(note)) if note else None

"""Summarises a task for `show` and `list`, as text and as JSON."""

from __future__ import annotations

from taskstate.handoff import token_count
from taskstate.messages import counted
from taskstate.model.criteria import malformed_criteria, shown_criteria
from taskstate.model.derived_values import session_counts
from taskstate.model.document_kinds import built_in
from taskstate.model.permanent import PERMANENT, confirmed, edited_sections, shown_version, version_of
from taskstate.model.statuses import BLOCKED, COMPLETE
from taskstate.model.write_metadata import blocks_of
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.open_turns import of_document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded


def task_shape(loaded: Loaded) -> dict[str, Any]:
    """Return a task as JSON values; this shape is promised stable."""
    state, checklist = loaded.state, loaded.state.checklist
    counted = checklist.counted if checklist else ()
    turn = of_document(state.document, state.id)
    return {
        "id": state.id,
        "path": loaded.relative,
        "kind": state.kind,
        "title": state.title,
        "status": state.status,
        "imported": blocks_of(state.document).is_imported,
        "revision": state.revision,
        "token": loaded.token,
        "size_kb": state.size_kb,
        "priority": state.text("priority"),
        "area": state.text("area"),
        "epic": state.text("epic"),
        "parent": state.text("parent"),
        "subtasks": [*state.subtasks],
        "depends_on": [*state.depends_on],
        "created_at": state.text("created_at"),
        "sessions": session_counts(state)._asdict(),
        "features": {"passing": checklist.passing if checklist else 0, "all": len(counted)},
        "open_features": [feature.id for feature in counted if not feature.passes],
        "criteria": [{"number": each.number, "text": each.text, "checked": each.checked} for each in state.criteria],
        "next_steps": [*state.next_steps],
        "turn": turn.shape if turn else None,
        "problems": [*(problem.message for problem in state.problems), *_malformed(state)],
        **(_permanent_shape(state) if state.kind == PERMANENT else {}),
    }


def _malformed(state: TaskState) -> Iterator[str]:
    """Yield what stands among the criteria and is none."""
    for each in malformed_criteria(state.document):
        yield f"criterion {each.number} is malformed: {each.flaw.reason}: {each.span.of(state.document.text)}"


def _permanent_shape(state: TaskState) -> dict[str, Any]:
    return {
        "version": version_of(state),
        "acks": dict(confirmed(state.document.front_matter)),
        "parts": [{"section": name, "tokens": tokens} for name, tokens in _parts(state)],
    }


def overview(loaded: Loaded) -> str:
    """Return a task as text for people."""
    state = loaded.state
    place = f"  {loaded.relative}, {state.size_kb} KB, revision {loaded.token}"
    if state.kind == PERMANENT:
        return "\n".join((f"{state.id}  [PERMANENT] {state.title}", place, *_permanent_lines(state)))
    counts = session_counts(state)
    archived = f", {counts.archived} of them archived" if counts.archived else ""
    imported = " (imported)" if state.status == COMPLETE and blocks_of(state.document).is_imported else ""
    status = f"  status {state.status or 'unknown'}{imported}, {counted(counts.total, 'session')}{archived}"
    lines = [f"{state.id}  {state.title}", place, status]
    why = blocks_of(state.document).why_blocked if state.status == BLOCKED else ""
    lines += [f"  blocked: {why}"] if why else []
    lines += _unread(state)
    lines += [f"  divided into the tasks {', '.join(state.subtasks)}"] if state.subtasks else []
    lines += _checks(state)
    turn = of_document(state.document, state.id)
    lines += [f"  turn: {turn.words}"] if turn else []
    steps = [line for step in state.told_steps for line in f"- {step}".replace("\n", "\n  ").split("\n")]
    if steps:
        lines += ["  next steps:", *(f"    {line}" for line in steps)]
    return "\n".join(lines)


def _unread(state: TaskState) -> Iterator[str]:
    """Yield which lines cannot be read; of a front matter that cannot at all, it is told that the file is damaged."""
    for each in state.problems:
        if state.document.front_matter or not each.kind.startswith("front-matter-"):
            line = state.document.position(each.span.start).line + 1
            yield f"  cannot be read: line {line}: {each.message}: fix it; `taskstate lint` says how"


def _permanent_lines(state: TaskState) -> Iterator[str]:
    """Yield what the permanent task has: its version, who has confirmed which, and its sections with their sizes."""
    acks = ", ".join(f"{name} {shown_version(each)}" for name, each in confirmed(state.document.front_matter).items())
    by_hand = ", ".join(edited_sections(state))
    yield f"  {shown_version(version_of(state))}, status {state.status or 'unknown'}"
    yield f"  confirmed: {acks or 'by nobody yet'}"
    if by_hand:
        yield f"  edited by hand since: {by_hand}; `taskstate permanent update` gives that a version"
    yield from _unread(state)
    parts = _parts(state)
    if parts:
        yield f"  sections, each printed by `taskstate show {state.id} --section NAME`:"
    width = max((len(name) for name, _ in parts), default=0)
    yield from (f"    {name.ljust(width)}  about {tokens} tokens" for name, tokens in parts)


def _parts(state: TaskState) -> tuple[tuple[str, int], ...]:
    """Return the sections of a permanent task, each with about how many tokens it has."""
    text, spec = state.document.text, built_in(PERMANENT)
    sections = ((each.name, state.section(each.name)) for each in spec.sections)
    return tuple((name, token_count.estimate(section.span.of(text))) for name, section in sections if section)


def _checks(state: TaskState) -> list[str]:
    lines: list[str] = []
    criteria = shown_criteria(state.document)
    if criteria:
        lines.append("  acceptance criteria:")
        lines += [f"    {each.split(chr(10))[0]}" for each in criteria]
    if state.checklist and state.checklist.features:
        lines.append(f"  features, {state.checklist.passing} of {len(state.checklist.counted)} pass:")
        lines += [
            f"    [{'x' if each.passes else ' '}] {each.id}  {each.description}"
            + (f" (moved to {each.moved_to})" if each.moved_to else "")
            for each in state.checklist.features
        ]
    return lines


def progress(state: TaskState) -> str:
    """Return how many features pass, of how many, in a few characters; of a permanent task the version."""
    if state.kind == PERMANENT:
        return shown_version(version_of(state))
    return f"{state.checklist.passing}/{len(state.checklist.counted)}" if state.checklist else "-"

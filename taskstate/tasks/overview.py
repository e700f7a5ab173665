"""Summarises tasks for `show` and `list`, as text and as JSON."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.handoff import token_count
from taskstate.model.derived_values import session_counts
from taskstate.model.document_kinds import kind
from taskstate.model.names import own_file
from taskstate.model.permanent import PERMANENT, confirmed, edited_sections, shown_version, version_of
from taskstate.model.statuses import BLOCKED, CLOSED, COMPLETE
from taskstate.tasks.decomposition_plan import guidance, sizing
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace

_COLUMNS = ("ID", "STATUS", "FEATURES", "SESSIONS", "SIZING", "KB", "TITLE")


def task_shape(loaded: Loaded) -> dict[str, Any]:
    """Return a task as JSON values; this shape is promised stable."""
    state, checklist = loaded.state, loaded.state.checklist
    counted = checklist.counted if checklist else ()
    return {
        "id": state.id,
        "path": loaded.relative,
        "kind": state.kind,
        "title": state.title,
        "status": state.status,
        "revision": state.revision,
        "token": loaded.token,
        "size_kb": state.size_kb,
        "priority": state.text("priority"),
        "area": state.text("area"),
        "depends_on": state.depends_on,
        "sessions": session_counts(state)._asdict(),
        "features": {"passing": checklist.passing if checklist else 0, "all": len(counted)},
        "open_features": [feature.id for feature in counted if not feature.passes],
        "criteria": [{"number": each.number, "text": each.text, "checked": each.checked} for each in state.criteria],
        "next_steps": state.next_steps,
        "problems": [problem.message for problem in state.problems],
        **(_permanent_shape(state) if state.kind == PERMANENT else {}),
    }


def _permanent_shape(state: TaskState) -> dict[str, Any]:
    return {
        "version": version_of(state),
        "acks": confirmed(state.document.front_matter),
        "parts": [{"section": name, "tokens": tokens} for name, tokens in _parts(state)],
    }


def overview(loaded: Loaded) -> str:
    """Return a task as text for people."""
    state = loaded.state
    if state.kind == PERMANENT:
        return _permanent_overview(loaded)
    counts = session_counts(state)
    archived = f", {counts.archived} of them archived" if counts.archived else ""
    lines = [
        f"{state.id}  {state.title}",
        f"  {loaded.relative}, {state.size_kb} KB, revision {loaded.token}",
        f"  status {state.status or 'unknown'}, {counts.total} sessions{archived}",
    ]
    lines += [f"  cannot be read: {problem.message}" for problem in state.problems]
    lines += _checks(state)
    steps = [line for step in state.next_steps for line in f"- {step}".replace("\n", "\n  ").split("\n")]
    if steps:
        lines += ["  next steps:", *(f"    {line}" for line in steps)]
    return "\n".join(lines)


def _permanent_overview(loaded: Loaded) -> str:
    """Return the permanent task as text: its version, who has confirmed which, and its sections with their sizes."""
    state = loaded.state
    acks = ", ".join(f"{name} {shown_version(each)}" for name, each in confirmed(state.document.front_matter).items())
    by_hand = ", ".join(edited_sections(state))
    lines = [
        f"{state.id}  [PERMANENT] {state.title}",
        f"  {loaded.relative}, {state.size_kb} KB, revision {loaded.token}",
        f"  {shown_version(version_of(state))}, status {state.status or 'unknown'}",
        f"  confirmed: {acks or 'by nobody yet'}",
    ]
    lines += (
        [f"  edited by hand since: {by_hand}; `taskstate permanent update` gives that a version"] if by_hand else []
    )
    lines += [f"  cannot be read: {problem.message}" for problem in state.problems]
    parts = _parts(state)
    width = max((len(name) for name, _ in parts), default=0)
    lines += [f"  sections, each printed by `taskstate show {state.id} --section NAME`:"] if parts else []
    return "\n".join((*lines, *(f"    {name.ljust(width)}  about {tokens} tokens" for name, tokens in parts)))


def _parts(state: TaskState) -> tuple[tuple[str, int], ...]:
    """Return the sections of a permanent task, each with about how many tokens it has."""
    text, spec = state.document.text, kind(PERMANENT)
    sections = ((each.name, state.section(each.name)) for each in spec.sections)
    return tuple((name, token_count.estimate(section.span.of(text))) for name, section in sections if section)


def _checks(state: TaskState) -> list[str]:
    lines: list[str] = []
    if state.criteria:
        lines.append("  acceptance criteria:")
        lines += [
            f"    {each.number}. [{'x' if each.checked else ' '}] {each.text.split(chr(10))[0]}"
            for each in state.criteria
        ]
    if state.checklist and state.checklist.features:
        lines.append(f"  features, {state.checklist.passing} of {len(state.checklist.counted)} pass:")
        lines += [
            f"    [{'x' if each.passes else ' '}] {each.id}  {each.description}" for each in state.checklist.features
        ]
    return lines


READY, WAITING = "ready", "waiting"


def list_tasks(
    workspace: Workspace, *, status: str, area: str, ready: bool, blocked: bool = False
) -> tuple[list[Loaded], dict[str, str]]:
    """Return the tasks that match, in natural order, and by path a line for each file that is damaged or unreadable.

    `ready` selects tasks that can be worked on now, `blocked` those that are blocked or wait for another task.
    """
    from taskstate.workspace.damage import advice, damage_of

    tasks: list[Loaded] = []
    problems: dict[str, str] = {}
    for path in workspace.state_files():
        try:
            loaded = workspace.load(path)
            tasks.append(loaded)
            found = damage_of(workspace, loaded, alone=True)
            if found:
                problems[loaded.relative] = f"{found}: {advice(workspace, loaded)}"
        except TaskstateError as error:
            problems[workspace.relative(path)] = f"not listed: {error}"
    complete = {loaded.state.id.casefold() for loaded in tasks if loaded.state.status == COMPLETE}
    selected = READY if ready else WAITING if blocked else ""
    matching = [
        loaded
        for loaded in tasks
        if status in ("", loaded.state.status)
        and area in ("", loaded.state.text("area"))
        and selected in ("", _standing(loaded.state, complete))
    ]
    return matching, problems


def _standing(state: TaskState, complete: set[str]) -> str:
    """Return whether a task is ready or waiting; empty where it is closed, or of a kind that is not worked on."""
    if state.status in CLOSED or state.kind != "task":
        return ""
    upstream_complete = complete.issuperset(each.casefold() for each in state.depends_on)
    return READY if upstream_complete and state.status != BLOCKED else WAITING


def listing(tasks: list[Loaded], most: int, problems: Collection[str] = ()) -> str:
    """Return the tasks as a table, one line each, followed by the table of session counts.

    `problems` are the paths of damaged files, whose rows are marked.
    """
    rows = [_COLUMNS, *(_row(loaded, most, problems) for loaded in tasks)]
    read = {loaded.relative for loaded in tasks}
    unread = (own_file(path) for path in problems if path not in read)
    rows += [((own and own.id) or "?", *("-" for _ in _COLUMNS[2:]), "(damaged)") for own in unread]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", guidance(most)]) if len(rows) > 1 else "no tasks"


def _row(loaded: Loaded, most: int, problems: Collection[str]) -> tuple[str, ...]:
    state = loaded.state
    if state.kind == PERMANENT:
        version, title = shown_version(version_of(state)), f"[PERMANENT] {state.title}"
        marked = f"{title} (damaged)" if loaded.relative in problems else title
        return state.id, state.status or "?", version, "-", "-", str(state.size_kb), marked
    features = f"{state.checklist.passing}/{len(state.checklist.counted)}" if state.checklist else "-"
    sessions = session_counts(state).total
    size = "-" if state.status in CLOSED else sizing(sessions, most).name
    is_damaged = loaded.relative in problems
    unread = "(damaged)" if is_damaged else "(cannot be read fully: run `taskstate lint`)" if state.problems else ""
    title = f"{state.title} {unread}".strip()
    return state.id, state.status or "?", features, str(sessions), size, str(state.size_kb), title

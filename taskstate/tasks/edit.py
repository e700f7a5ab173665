"""Changes what a person would otherwise write into a state file by hand, with the checks that such an edit would meet.

Title, description, priority, area and acceptance criteria belong to what is sealed: a sealed context is sealed anew in
the same write, and one that does not hold is refused first, so that nobody's edit is sealed along with it.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.algorithms import DependencyGraph
from taskstate.model.document_kinds import kind_of
from taskstate.model.names import id_key
from taskstate.model.start_of_work import start_of_work
from taskstate.model.static_context import CRITERIA, SEALED_VALUES, SECTION, is_sealed, read_static
from taskstate.model.statuses import BLOCKED, CREATED, IN_PROGRESS
from taskstate.model.task_state import read_state
from taskstate.model.tool_blocks import UNBLOCKED
from taskstate.model.write_metadata import blocks_of, set_front_matter, with_event
from taskstate.storage.replaced_texts import words_gone
from taskstate.syntax import escaping
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import trimmed, with_newlines
from taskstate.tasks.create import upstream
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import task_index
from taskstate.writing.change import Change
from taskstate.writing.event_log import with_oldest_moved
from taskstate.writing.joined_changes import joined
from taskstate.writing.preconditions import require_not_complete, require_work
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request, Step


class Edited(NamedTuple):
    """What is to be changed of a task; what is empty stays. `depends_on` is None where that stays.

    `blocked` says why work cannot go on. `note` says why what is sealed changes.
    """

    title: str = ""
    description: str = ""
    priority: str = ""
    area: str = ""
    depends_on: tuple[str, ...] | None = None
    blocked: str = ""
    unblocked: bool = False
    note: str = ""


def edit(workspace: Workspace, task_id: str, asked: Edited, request: Request) -> Outcome:
    """Change title, description, priority, area, dependencies and status of a task, as asked, in one write.

    Raises:
        TaskstateError: the task is complete; what is sealed does not hold, or comes from a task file that says
            otherwise; an upstream task is unknown or builds on this one.
    """
    values = {key: escaping.one_line(text, what=f"the {key}") for key in SEALED_VALUES if (text := getattr(asked, key))}
    described = asked.description
    if described:
        described = escaping.paragraphs(described, what="the description", deepest=escaping.SUBSECTION_LEVEL)

    def job(loaded: Loaded) -> Change:
        _require_open(loaded.state)
        steps: list[Step] = []
        if values or described:
            steps.append(lambda now: _resealed(workspace, now, _with_values(now, values, described), asked, request))
        if asked.depends_on is not None:
            steps += _dependency_steps(workspace, loaded, asked.depends_on, request)
        if asked.blocked or asked.unblocked:
            steps.append(lambda now: _with_status(now, asked, request))
        return joined(loaded, [*steps, _begun, lambda now: Change(*with_oldest_moved(workspace, now.document))])

    return change(workspace, task_id, job, request)


def add_criteria(workspace: Workspace, task_id: str, texts: tuple[str, ...], request: Request) -> Outcome:
    """Add acceptance criteria to a task, which are not met yet.

    Raises:
        TaskstateError: as `edit`; code "exists": it has such a criterion.
    """

    def job(loaded: Loaded) -> Change:
        _require_open(loaded.state)
        text = _with_criteria(loaded, texts)
        return joined(loaded, [lambda now: _resealed(workspace, now, Change(text), Edited(), request), _begun])

    return change(workspace, task_id, job, request)


def _begun(loaded: Loaded) -> Change:
    """Return the change that begins a task on which a turn is open: what it waited for may be written now."""
    begun = start_of_work(loaded.state)
    if not begun.edits or blocks_of(loaded.document).delta.turn is None:
        return Change(loaded.document.text)
    return Change(apply(loaded.document.text, begun.edits), notes=begun.notes)


def _require_open(state: TaskState) -> None:
    """Refuse the permanent task, and one that is complete.

    Raises:
        TaskstateError: code "kind" or "task-closed".
    """
    require_work(state, "criteria and plan to edit", "`taskstate permanent update` changes a section of it")
    require_not_complete(state, ", and other tasks may use its output", code="task-closed")


# What is sealed


def _resealed(workspace: Workspace, loaded: Loaded, changed: Change, asked: Edited, request: Request) -> Change:
    """Return a change of what is sealed with the context sealed anew, if it was sealed.

    Raises:
        TaskstateError: the context does not hold as it is; code "invalid-input": its task file says otherwise.
    """
    if changed.text == loaded.document.text or not is_sealed(loaded.document.front_matter.node):
        return changed
    from taskstate.context.capture_plan import CaptureRequest
    from taskstate.context.precondition import require_exportable
    from taskstate.context.seal_context import with_rebuilt

    require_exportable(workspace, loaded)
    now = loaded.with_text(changed.text)
    sealed = with_rebuilt(workspace, now, CaptureRequest(note=asked.note), request, before=loaded)
    if _sealed_of(now.state) != _sealed_of(loaded.with_text(sealed.text).state):
        source = blocks_of(loaded.document).context.task_file
        message = f"task {loaded.state.id}: this comes from {source}, which says otherwise"
        help_ = f'change it there; then `taskstate context rebuild {loaded.state.id} --note "WHY"`'
        raise TaskstateError(message, help=help_, code="invalid-input")
    replaced = (*changed.replaced, *sealed.replaced)
    return Change(sealed.text, notes=sealed.notes, artifacts=sealed.artifacts, replaced=replaced)


def _sealed_of(state: TaskState) -> tuple[object, ...]:
    """Return what this module changes of the sealed parts."""
    static = read_static(state)
    return (*map(state.text, SEALED_VALUES), static.description, static.criteria)


def _with_values(loaded: Loaded, values: Mapping[str, str], description: str) -> Change:
    """Return the change that sets values of the front matter, the title line with them, and the description.

    A title line in somebody's own words is kept, and so is what the description said.
    """
    from taskstate.context.capture_plan import with_captured_values
    from taskstate.context.static_context_edits import changed_parts, with_parts

    static, gone = read_static(loaded.state), ""
    document = with_captured_values(loaded.document, {"title": loaded.state.title, **values})
    line = next((each for each in document.sections if each.level == 1), None)
    new = kind_of(document).title_line(task_id=loaded.state.id, title=values.get("title", ""))
    if line and "title" in values and f"# {line.title}" != new:
        gone = line.heading.of(document.text)
        document = document.with_text(apply(document.text, [Edit(*line.heading, new)]))
    text = document.text
    if description and static.description.split() != description.split():
        gone += f"\n{static.description}"
        text = with_parts(document, changed_parts(static, static._replace(description=description)))
    return Change(text, replaced=words_gone(loaded.relative, gone.strip(), f"{new} {description}", "edit"))


def _with_criteria(loaded: Loaded, texts: tuple[str, ...]) -> str:
    """Return the text with further criteria below those that are there, or in the place of the placeholder.

    Raises:
        TaskstateError: code "exists": there is such a criterion; code "unsafe": it would not be read as one.
    """
    from taskstate.context.static_context_edits import with_parts

    document, state = loaded.document, loaded.state
    known = {_bare(each.text) for each in state.criteria}
    for each in texts:
        if _bare(each) in known:
            message = f"task {state.id} has the criterion already: {' '.join(each.split())}"
            raise TaskstateError(message, help=f"`taskstate show {state.id}` lists them", code="exists")
        known.add(_bare(each))
    items = "\n".join(escaping.item(each, what="a criterion", marker="- [ ] ") for each in texts)
    section = state.subsection(SECTION, CRITERIA)
    body = section.body.of(document.text) if section else ""
    if section is None or escaping.is_blank(body) or kind_of(document).is_placeholder(body):
        text = with_parts(document, {CRITERIA: items})
    else:
        listed = document.items(section.body)
        above = trimmed(document.text, listed[-1].span if listed else section.body)
        between = document.newline * (1 if listed else 2)
        text = apply(document.text, [Edit(above.end, above.end, between + with_newlines(items, document.newline))])
    if len(read_state(document.with_text(text)).criteria) != len(state.criteria) + len(texts):
        message = f"{loaded.relative}: no criterion can be added in this section"
        raise TaskstateError(message, help="run `taskstate lint` on it first", code="unsafe")
    return text


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")


# Dependencies


def _dependency_steps(workspace: Workspace, loaded: Loaded, ids: tuple[str, ...], request: Request) -> Iterator[Step]:
    """Yield the steps that set the upstream tasks, and pull the output of those that are complete.

    Raises:
        TaskstateError: one is unknown, the permanent task, or builds on this one (code "usage").
    """
    from taskstate.chain import inputs

    state = loaded.state
    found = sorted({upstream(workspace, each).id for each in ids}, key=id_key)
    by_id = task_index.by_id(task_index.all_tasks(workspace))
    graph = DependencyGraph(lambda key: by_id[key].depends_on if key in by_id else ())
    for each in found:
        path = graph.shortest_path(each, state.id)
        if path:
            message = f"the tasks would wait for each other in a circle: {' → '.join((state.id, *path))}"
            raise TaskstateError(message, help=f"leave {each} out", code="usage")
    if found or state.depends_on:
        yield lambda now: Change(_set(now, "depends_on", found))
    if found:
        yield inputs.pulling(workspace, request, once=True)


# Blocked


def _with_status(loaded: Loaded, asked: Edited, request: Request) -> Change:
    """Return the change that records that work cannot go on and why, or that it can, with the status it had before."""
    state, event_of = loaded.state, request.metadata.event
    events = [each.entry for each in blocks_of(loaded.document).audit.events if each.event == BLOCKED]
    last = events[-1] if events else {}
    before = str(last.get("was", "")) if isinstance(last, dict) else ""
    before = before or (IN_PROGRESS if state.last_session else CREATED)
    if asked.blocked:
        why = escaping.one_line(asked.blocked, what="--blocked")
        was = before if state.status == BLOCKED else state.status
        event, status = event_of(BLOCKED, note=why, was=was), BLOCKED
    elif state.status == BLOCKED:
        event, status = event_of(UNBLOCKED), before
    else:
        return Change(loaded.document.text, notes=("it is not blocked",))
    return Change(_set(loaded.with_text(with_event(loaded.document.text, event)), "status", status))


def _set(loaded: Loaded, key: str, value: object) -> str:
    return apply(loaded.document.text, set_front_matter(loaded.document, key, value))

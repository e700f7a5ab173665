"""`new`: creates a task's state file."""

from __future__ import annotations

from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, option, switch
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import TaskId, Text
    from taskstate.operations.result import Result
    from taskstate.tasks.create import NewTask
    from taskstate.writing.change import Outcome

KINDS = ("task", "permanent")
PERMANENT = KINDS[1]
# What only ordinary tasks have.
_ORDINARY = (
    *("from", "criterion", "feature", "depends-on", "priority", "area", "prd", "epic", "repository", "agent"),
    *("validation", "path"),
)


class New(NamedTuple):
    """The arguments of `new`."""

    id: TaskId | None = TASK._replace(help=f"{TASK.help} (default: the next number)")
    title: str = option("T", "title, in one line (required unless the task file has one)")
    source: Source | None = option(
        "TASK.yaml", "task file to take missing values from; - reads standard input", flag="from"
    )
    description: Text = option("TEXT", "description of the task; - reads standard input")
    criteria: tuple[str, ...] = option("TEXT", "acceptance criterion", flag="criterion")
    features: tuple[str, ...] = option("ID=TEXT", "feature of the checklist", flag="feature")
    depends_on: tuple[TaskId, ...] = option("ID", "upstream task", by_comma=True)
    priority: str = option("", "priority, P0 being the most urgent", choices=("P0", "P1", "P2", "P3"))
    area: str = option("NAME", "part of the product, such as backend")
    prd: str = option("PLACE", "path or address of the requirements")
    epic: str = option("NAME", "larger project that the task belongs to")
    repository: str = option("NAME", "repository that the task changes")
    agent: str = option("NAME", "who works on the task")
    kind: str = option(
        "",
        "permanent: the shared context that all agents read; --description becomes its User Intent",
        choices=KINDS,
        default="task",
    )
    another: bool = switch("allow a second active permanent task")
    validation: tuple[str, ...] = option("CMD", "validation command")
    paths: tuple[str, ...] = option("P", "repository path: a path, a glob or a macro", flag="path")


def new(call: Call, asked: New) -> Result:
    """Create a task."""
    from taskstate.tasks.create import STANDARD_INPUT, create

    if asked.kind == PERMANENT:
        return _permanent(call, asked)
    if asked.another:
        raise usage_error("--another is for permanent tasks", help="leave it out, or add `--kind permanent`")
    task = _task(call, asked)
    if not task.title:
        raise usage_error("new: --title is missing", help="give the task a title, or a task file that has one")
    outcome = create(call.workspace, task, call.request())
    if asked.source and asked.source.name == STANDARD_INPUT:
        note = "the task file came from standard input, so it is not recorded: section 1 is the source"
        outcome = outcome._replace(notes=(*outcome.notes, note))
    said = f"created\n  next: {_next(call, outcome)}"
    return changed(call, outcome, said, id=outcome.state.id)


def _next(call: Call, outcome: Outcome) -> str:
    """Return the commands after which work on a new task has begun, those first that write what it lacks."""
    from taskstate.model.start_of_work import how_to_fill
    from taskstate.qa import trust

    steps = [*how_to_fill(outcome.state)]
    try:
        trust.require_trusted(call.workspace, outcome.loaded, instead="")
    except TaskstateError:  # they cannot be read, either: both commands say so
        steps.append(f"`taskstate trust {outcome.state.id}`, which shows the checks and allows them")
    return ", ".join((*steps, f"`taskstate start {outcome.state.id}`"))


def _permanent(call: Call, asked: New) -> Result:
    from taskstate.permanent.create import NewPermanent, create_permanent

    given = {each.flag or each.name.replace("_", "-") for each in NEW.fields if getattr(asked, each.name)}
    ordinary = next((flag for flag in _ORDINARY if flag in given), None)
    if ordinary:
        raise usage_error(f"--{ordinary} is for tasks, not for the permanent one", help="leave it out")
    if not asked.title:
        raise usage_error("new: --title is missing", help="say what you build, such as --title 'Login platform'")
    task = NewPermanent(_id(call, asked), asked.title, asked.description, asked.another)
    outcome = create_permanent(call.workspace, task, call.request())
    return changed(call, outcome, "created, PT-v1", id=outcome.state.id, version=1)


def _task(call: Call, asked: New) -> NewTask:
    from taskstate.context.task_file import MOST_BYTES
    from taskstate.storage import files
    from taskstate.tasks.create import STANDARD_INPUT, NewTask, with_task_file

    task = NewTask(
        id=_id(call, asked),
        title=asked.title,
        description=asked.description,
        criteria=asked.criteria,
        features=tuple(map(_feature, asked.features)),
        depends_on=tuple(dict.fromkeys(map(call.task_id, asked.depends_on))),
        priority=asked.priority,
        area=asked.area,
        prd=asked.prd,
        epic=asked.epic,
        repository=asked.repository,
        agent=asked.agent,
        commands=asked.validation,
        paths=tuple(dict.fromkeys(asked.paths)),
    )
    if asked.source is None:
        return task
    if asked.source.name == STANDARD_INPUT:
        return with_task_file(task, STANDARD_INPUT, asked.source.read(MOST_BYTES))
    path, root = Path(asked.source.name).resolve(), call.workspace.root.resolve()
    if not path.is_relative_to(root):
        raise TaskstateError(
            f"{asked.source.name} lies outside the repository", help="put the task file into it", code="path-escapes"
        )
    return with_task_file(task, path.relative_to(root).as_posix(), files.read(path))


def _id(call: Call, asked: New) -> str:
    return call.task_id(asked.id) if asked.id is not None else ""


def _feature(text: str) -> tuple[str, str]:
    feature_id, equals, description = text.partition("=")
    if not equals:
        raise usage_error(f"--feature {text!r} has no =", help="write it as ID=TEXT")
    return feature_id, description


NEW = Operation("new", "create a task", new, New, writes=True)
OPERATIONS = (NEW,)

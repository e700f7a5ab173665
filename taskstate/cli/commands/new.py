"""`taskstate new`: creates a task's state file."""

from __future__ import annotations

from pathlib import Path

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation, standard_input
from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.tasks.create import NewTask

KINDS = ("task", "permanent")
PERMANENT = KINDS[1]
# What only ordinary tasks have, by the attribute that holds it.
_ORDINARY = {
    "--from": "source",
    "--criterion": "criterion",
    "--feature": "feature",
    "--depends-on": "depends_on",
    "--priority": "priority",
    "--area": "area",
    "--prd": "prd",
    "--epic": "epic",
    "--repository": "repository",
    "--agent": "agent",
    "--validation": "validation",
    "--path": "path",
}


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_task()
    parser.add_argument(
        "--title", default="", metavar="T", help="title, in one line (required unless the task file has one)"
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="TASK.yaml",
        help="task file to take missing values from; - reads standard input",
    )
    parser.add_argument(
        "--description", default="", metavar="TEXT", help="description of the task; - reads standard input"
    )
    parser.add_repeatable("--criterion", "TEXT", "acceptance criterion")
    parser.add_repeatable("--feature", "ID=TEXT", "feature of the checklist")
    parser.add_list("--depends-on", "ID", "upstream task")
    parser.add_argument(
        "--priority", default="", choices=("P0", "P1", "P2", "P3"), help="priority, P0 being the most urgent"
    )
    parser.add_argument("--area", default="", metavar="NAME", help="part of the product, such as backend")
    parser.add_argument("--prd", default="", metavar="PLACE", help="path or address of the requirements")
    parser.add_argument("--epic", default="", metavar="NAME", help="larger undertaking that the task belongs to")
    parser.add_argument("--repository", default="", metavar="NAME", help="repository that the task changes")
    parser.add_argument("--agent", default="", metavar="NAME", help="who works on the task")
    parser.add_argument(
        "--kind",
        default="task",
        choices=KINDS,
        help="permanent: the shared context that all agents read; --description becomes its User Intent",
    )
    parser.add_argument("--another", action="store_true", help="allow a second active permanent task")
    parser.add_repeatable("--validation", "CMD", "validation command")
    parser.add_repeatable("--path", "P", "repository path: a path, a glob or a macro")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Create the state file."""
    from taskstate.tasks.create import STANDARD_INPUT, create
    from taskstate.tasks.decomposition_plan import guidance

    if invocation.args.kind == PERMANENT:
        return _run_permanent(invocation)
    if invocation.args.another:
        raise usage_error("--another is for permanent tasks", help="leave it out, or add `--kind permanent`")
    task = _task(invocation)
    if not task.title:
        raise usage_error("new: --title is missing", help="give the task a title, or a task file that has one")
    outcome = create(invocation.workspace, task, invocation.request())
    if invocation.args.source == STANDARD_INPUT:
        note = "the task file came from standard input, so it is not recorded: section 1 is the source"
        outcome = outcome._replace(notes=(*outcome.notes, note))
    size = guidance(invocation.workspace.config.size.max_sessions)
    return invocation.print_outcome(outcome, f"created\n  {size}", id=task.id)


def _run_permanent(invocation: Invocation) -> int:
    from taskstate.permanent.create import NewPermanent, create_permanent

    args = invocation.args
    given = next((flag for flag, name in _ORDINARY.items() if getattr(args, name)), None)
    if given:
        raise usage_error(f"{given} is for tasks, not for the permanent one", help="leave it out")
    if not args.title:
        raise usage_error("new: --title is missing", help="say what you build, such as --title 'Login platform'")
    task = NewPermanent(invocation.task, args.title, invocation.text_of(args.description), args.another)
    outcome = create_permanent(invocation.workspace, task, invocation.request())
    return invocation.print_outcome(outcome, "created, PT-v1", id=task.id, version=1)


def _task(invocation: Invocation) -> NewTask:
    from taskstate.storage import files
    from taskstate.tasks.create import STANDARD_INPUT, NewTask, with_task_file

    args = invocation.args
    task = NewTask(
        id=invocation.task,
        title=args.title,
        description=invocation.text_of(args.description),
        criteria=tuple(args.criterion),
        features=tuple(_feature(text) for text in args.feature),
        depends_on=tuple(dict.fromkeys(invocation.task_id(upstream) for upstream in args.depends_on)),
        priority=args.priority,
        area=args.area,
        prd=args.prd,
        epic=args.epic,
        repository=args.repository,
        agent=args.agent,
        commands=tuple(args.validation),
        paths=tuple(dict.fromkeys(args.path)),
    )
    if args.source is None:
        return task
    if invocation.flag_value("source", name="--from") == STANDARD_INPUT:
        return with_task_file(task, STANDARD_INPUT, _standard_input(args.description))
    path = Path(args.source).resolve()
    root = invocation.workspace.root.resolve()
    if not path.is_relative_to(root):
        raise TaskstateError(
            f"{args.source} lies outside the repository", help="put the task file into it", code="path-escapes"
        )
    return with_task_file(task, path.relative_to(root).as_posix(), files.read(path))


def _standard_input(description: str) -> bytes:
    from taskstate.context.task_file import MOST_BYTES
    from taskstate.tasks.create import STANDARD_INPUT

    if description == STANDARD_INPUT:
        raise usage_error(
            "standard input cannot be both the description and the task file", help="put one of them into a file"
        )
    return standard_input(MOST_BYTES)


def _feature(text: str) -> tuple[str, str]:
    feature_id, equals, description = text.partition("=")
    if not equals:
        raise usage_error(f"--feature {text!r} has no =", help="write it as ID=TEXT")
    return feature_id, description

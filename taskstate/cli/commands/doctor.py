"""`taskstate doctor`: checks the set-up and repairs it; reseals a task; gives a task another id."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.workflow.doctor import RepositoryProblem

_RENUMBER = ("renumber", "OLD", "NEW")


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    # A positional of three words, since argparse has no optional sub-commands.
    parser.add_argument(
        "action",
        nargs="*",
        metavar="renumber OLD NEW",
        help="change the id of task OLD (an id or a path) to NEW, in all files",
    )
    parser.add_argument("--fix", action="store_true", help="repair problems where nothing can be lost")
    parser.add_argument("--let-go", metavar="ID", help="accept that what is gone of a task was meant to go")
    parser.add_argument("--reseal", metavar="ID", help="accept manual changes to a block that only taskstate writes")
    parser.add_argument("--note", metavar="TEXT", help="reason for --reseal; it is recorded")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Check, repair, reseal or renumber."""
    if invocation.args.action:
        return _renumber(invocation)
    if invocation.args.reseal is not None:
        return _reseal(invocation)
    if invocation.args.let_go is not None:
        return _let_go(invocation)
    if invocation.args.note is not None:
        raise usage_error("doctor --note belongs to --reseal", help="name the task with --reseal")
    return _check(invocation)


def _check(invocation: Invocation) -> int:
    from taskstate.workflow.doctor import CHECKS, RepositoryProblem, examine

    try:
        workspace = invocation.workspace
    except TaskstateError as error:
        if error.code != "config":
            raise
        return _print_report(
            invocation, (RepositoryProblem("configuration", "", error.message, error.help),), (), ("configuration",)
        )
    invocation.told = ()  # the report says it
    problems = examine(workspace)
    repairs: tuple[str, ...] = ()
    if invocation.args.fix and not invocation.args.dry_run:
        from taskstate.workflow.repairs import repair

        repairs = repair(workspace, problems, invocation.request())
        problems = examine(workspace)
    return _print_report(invocation, problems, repairs, ("configuration", *CHECKS))


def _print_report(
    invocation: Invocation, problems: tuple[RepositoryProblem, ...], repairs: tuple[str, ...], checks: tuple[str, ...]
) -> int:
    from taskstate.secrets.mask import masked

    problems = tuple(each._replace(message=masked(each.message), help=masked(each.help)) for each in problems)
    errors = [problem for problem in problems if not problem.note]
    lines = [one_line(each) for each in (*repairs, *map(_line, problems))]
    lines.append(_summary(len(errors), len(checks)) if errors else f"{len(checks)} checks, nothing is wrong")
    data = {"checks": checks, "ailments": [problem._asdict() for problem in problems], "mended": repairs}
    return invocation.print_result(data, "\n".join(lines), status=1 if errors else 0)


def _summary(errors: int, checks: int) -> str:
    return f"{checks} checks, {errors} {'thing is' if errors == 1 else 'things are'} wrong"


def _line(problem: RepositoryProblem) -> str:
    where = f"{problem.path}: " if problem.path else ""
    help_ = f"; {problem.help}" if problem.help else ""
    return f"{'note' if problem.note else 'wrong'}  {problem.check:12}  {where}{problem.message}{help_}"


def _reseal(invocation: Invocation) -> int:
    from taskstate.workflow.repairs import reseal

    if not invocation.args.note:
        raise usage_error("doctor --reseal: --note is missing", help="say why the change is right")
    outcome = reseal(
        invocation.workspace,
        invocation.task_id(invocation.args.reseal),
        invocation.text_of(invocation.args.note),
        invocation.request(),
    )
    return invocation.print_outcome(outcome, "sealed anew")


def _let_go(invocation: Invocation) -> int:
    from taskstate.model.names import parse_task_id
    from taskstate.workflow.repairs import let_go
    from taskstate.workspace.startup import losses_of

    task_id = parse_task_id(invocation.flag_value("let_go"))
    if invocation.args.dry_run:
        return invocation.print_result({"let_go": None}, "nothing would change")
    message = let_go(invocation.workspace, task_id, invocation.request())
    invocation.told = losses_of(invocation.workspace)
    return invocation.print_result({"let_go": task_id}, message)


def _renumber(invocation: Invocation) -> int:
    from taskstate.model.names import own_file, parse_task_id
    from taskstate.storage import folders
    from taskstate.storage.paths import real
    from taskstate.tasks.renumber import renumber

    action = invocation.args.action
    if len(action) != len(_RENUMBER) or action[0] != _RENUMBER[0]:
        raise usage_error("doctor: that is no action", help="write `doctor renumber OLD NEW`")
    _, old, new = action
    own = own_file(old)
    named = real(old)
    if own and own.type == "state" and folders.is_file(named):
        path = named
    else:
        path = invocation.workspace.locate(parse_task_id(old))
    outcome = renumber(invocation.workspace, path, parse_task_id(new), invocation.request())
    return invocation.print_outcome(outcome, "renumbered")

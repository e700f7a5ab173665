"""`taskstate doctor`: examines the set-up and mends it; accepts a broken seal; gives a task another id."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_writing
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation
    from taskstate.workflow.doctor import Problem

_RENUMBER = ("renumber", "OLD", "NEW")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action", nargs="*", metavar="renumber OLD NEW", help="give task OLD (an id or a path) the id NEW, everywhere"
    )
    parser.add_argument("--fix", action="store_true", help="mend what can be mended without losing anything")
    parser.add_argument("--reseal", metavar="ID", help="accept what was changed by hand in a block of the tool's own")
    parser.add_argument("--note", metavar="TEXT", help="why; it is kept among the task's events")
    add_writing(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Examine, mend, reseal or renumber."""
    if invocation.args.action:
        return _renumber(invocation)
    if invocation.args.reseal is not None:
        return _reseal(invocation)
    if invocation.args.note is not None:
        raise TaskstateError("doctor --note belongs to --reseal", help="name the task with --reseal", code="usage")
    return _examine(invocation)


def _examine(invocation: Invocation) -> int:
    from taskstate.workflow.doctor import CHECKS, Problem, examine

    try:
        workspace = invocation.workspace
    except TaskstateError as error:
        if error.code != "config":
            raise
        return _tell(invocation, (Problem("configuration", "", error.message, error.help),), (), ("configuration",))
    found = examine(workspace)
    told: tuple[str, ...] = ()
    if invocation.args.fix and not invocation.args.dry_run:
        from taskstate.workflow.repairs import repair

        told = repair(workspace, found, invocation.request())
        found = examine(workspace)
    return _tell(invocation, found, told, ("configuration", *CHECKS))


def _tell(invocation: Invocation, found: tuple[Problem, ...], told: tuple[str, ...], checks: tuple[str, ...]) -> int:
    wrong = [ailment for ailment in found if not ailment.note]
    lines = [*told, *(_line(ailment) for ailment in found)]
    lines.append(_sum(len(wrong), len(checks)) if wrong else f"{len(checks)} checks, nothing is wrong")
    data = {"checks": checks, "ailments": [ailment._asdict() for ailment in found], "mended": told}
    return invocation.print_result(data, "\n".join(lines), status=1 if wrong else 0)


def _sum(wrong: int, checks: int) -> str:
    return f"{checks} checks, {wrong} {'thing is' if wrong == 1 else 'things are'} wrong"


def _line(ailment: Problem) -> str:
    where = f"{ailment.path}: " if ailment.path else ""
    help_ = f"; {ailment.help}" if ailment.help else ""
    return f"{'note' if ailment.note else 'wrong'}  {ailment.check:12}  {where}{ailment.message}{help_}"


def _reseal(invocation: Invocation) -> int:
    from taskstate.workflow.repairs import reseal

    if not invocation.args.note:
        raise TaskstateError("doctor --reseal: --note is missing", help="say why the change is right", code="usage")
    outcome = reseal(
        invocation.workspace,
        invocation.task_id(invocation.args.reseal),
        invocation.text_of(invocation.args.note),
        invocation.request(),
    )
    return invocation.print_outcome(outcome, f"{outcome.path}: sealed anew")


def _renumber(invocation: Invocation) -> int:
    from taskstate.model.names import own_file, parse_task_id
    from taskstate.tasks.renumber import renumber

    action = invocation.args.action
    if len(action) != len(_RENUMBER) or action[0] != _RENUMBER[0]:
        raise TaskstateError("doctor: that is no action", help="write `doctor renumber OLD NEW`", code="usage")
    _, old, new = action
    own = own_file(old)
    if own and own.type == "state" and os.path.isfile(old):
        path = Path(os.path.realpath(old))
    else:
        path = invocation.workspace.locate(parse_task_id(old))
    outcome = renumber(invocation.workspace, path, parse_task_id(new), invocation.request())
    return invocation.print_outcome(outcome, f"{outcome.path}: renumbered")

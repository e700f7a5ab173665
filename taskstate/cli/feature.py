"""`taskstate feature`: changes the Feature Checklist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.door import add_task, add_writing
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.door import Door


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    add = actions.add_parser("add", help="add a feature", description="Add a feature that does not pass yet.")
    _add_ids(add)
    add.add_argument("text", metavar="TEXT", help="what the feature does, in one line")
    add_writing(add)
    add.set_defaults(run=run_add)
    passing = actions.add_parser(
        "pass", help="record that a feature passes", description="Record that a feature was tested and passes."
    )
    _add_ids(passing)
    proof = passing.add_mutually_exclusive_group(required=True)
    proof.add_argument("--evidence", metavar="TEXT", help="how it was tested, and what came out")
    proof.add_argument(
        "--run",
        dest="command",
        metavar="CMD",
        help="a command that must succeed; it is recorded with a hash of what it printed",
    )
    add_writing(passing)
    passing.set_defaults(run=run_pass)
    fail = actions.add_parser(
        "fail", help="record that a feature does not pass", description="Record that a feature was tested and fails."
    )
    _add_ids(fail)
    fail.add_argument(
        "--evidence", metavar="TEXT", default="does not pass", help="how it was tested, and what came out"
    )
    add_writing(fail)
    fail.set_defaults(run=run_fail)


def _add_ids(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("feature", metavar="FID", help="the feature's id, such as jwt-1")


def run_add(door: Door) -> int:
    """Add a feature."""
    from taskstate.checklist import add_feature

    args = door.args
    outcome = add_feature(door.workspace, door.task_id(args.id), args.feature, door.text_of(args.text), door.request())
    return door.done(outcome, f"{outcome.path}: feature {args.feature} added")


def run_pass(door: Door) -> int:
    """Record that a feature passes."""
    evidence = _evidence(door) if door.args.command is None else _run(door)
    return _set(door, passes=True, evidence=evidence)


def run_fail(door: Door) -> int:
    """Record that a feature does not pass."""
    return _set(door, passes=False, evidence=_evidence(door))


def _set(door: Door, *, passes: bool, evidence: object) -> int:
    from taskstate.checklist import Tested, set_feature

    args = door.args
    tested = Tested(passes=passes, evidence=evidence)
    outcome = set_feature(door.workspace, door.task_id(args.id), args.feature, tested, door.request())
    return door.done(outcome, f"{outcome.path}: feature {args.feature} {'passes' if passes else 'does not pass'}")


def _evidence(door: Door) -> str:
    from taskstate.embed import clean

    return clean(door.text_of(door.args.evidence), what="--evidence")


def _run(door: Door) -> dict[str, object]:
    """Run the command that proves the feature, and return the evidence.

    Raises:
        TaskstateError: code "command-failed": it exited with another status than 0.
    """
    from taskstate.checklist import require_feature
    from taskstate.embed import one_line
    from taskstate.evidence import run_command

    require_feature(door.workspace, door.task_id(door.args.id), door.args.feature)
    command = one_line(door.args.command, what="--run")
    evidence = run_command(door.workspace.root, command)
    if evidence["exit_status"]:
        status, feature = evidence["exit_status"], door.args.feature
        raise TaskstateError(
            f"`{command}` exited with status {status}, so feature {feature} is not recorded as passing",
            help=f"mend it, or record it with `taskstate feature fail {door.args.id} {door.args.feature}`",
            code="command-failed",
        )
    return evidence

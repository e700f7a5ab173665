"""`taskstate feature`: changes the Feature Checklist."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.tasks.checklist import FeatureResult


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add = parser.add_action("add", "add a feature", "Add a feature to the checklist; it does not pass yet.")
    _add_feature(add)
    add.add_argument("text", metavar="TEXT", help="description of the feature, in one line")
    add.add_writing(run=run_add)
    passing = parser.add_action("pass", "record that a feature passes", "Record that a feature was tested and passes.")
    _add_feature(passing)
    proof = passing.add_mutually_exclusive_group(required=True)
    proof.add_argument("--evidence", metavar="TEXT", help="how it was tested, with the result")
    proof.add_argument(
        "--run",
        dest="command",
        metavar="CMD",
        help="command that must succeed; it is recorded with the end and the hash of its output",
    )
    proof.add_argument("--commit", metavar="SHA", help="commit that implements the feature; it must exist here")
    passing.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="maximum duration of --run (default: unlimited)"
    )
    passing.add_writing(run=run_pass)
    fail = parser.add_action(
        "fail", "record that a feature does not pass", "Record that a feature was tested and fails."
    )
    _add_feature(fail)
    fail.add_argument("--evidence", metavar="TEXT", default="does not pass", help="how it was tested, with the result")
    fail.add_writing(run=run_fail)


def _add_feature(parser: Parser) -> None:
    parser.add_argument("feature", metavar="FID", help="id of the feature, such as jwt-1")


def run_add(invocation: Invocation) -> int:
    """Add a feature."""
    from taskstate.tasks.checklist import add_feature

    args = invocation.args
    outcome = add_feature(
        invocation.workspace, invocation.task, args.feature, invocation.text_of(args.text), invocation.request()
    )
    return invocation.print_outcome(outcome, f"feature {args.feature} added")


def run_pass(invocation: Invocation) -> int:
    """Record that a feature passes."""
    from taskstate.tasks import feature_proofs

    args, workspace = invocation.args, invocation.workspace
    if args.timeout is not None and (args.command is None or not args.timeout > 0):
        raise usage_error("--timeout is the time that --run may take", help="give seconds above 0, together with --run")
    if args.command is not None:
        return _set(invocation, _run(invocation))
    if args.commit is not None:
        return _set(invocation, feature_proofs.proved_by_commit(workspace, args.feature, args.commit))
    return _set(invocation, feature_proofs.tested_by_hand(invocation.text_of(args.evidence), passes=True))


def run_fail(invocation: Invocation) -> int:
    """Record that a feature does not pass."""
    from taskstate.tasks.feature_proofs import tested_by_hand

    return _set(invocation, tested_by_hand(invocation.text_of(invocation.args.evidence), passes=False))


def _set(invocation: Invocation, tested: FeatureResult) -> int:
    from taskstate.tasks.checklist import set_feature

    args = invocation.args
    outcome = set_feature(invocation.workspace, invocation.task, args.feature, tested, invocation.request())
    message = f"feature {args.feature} {'passes' if tested.passes else 'does not pass'}"
    return invocation.print_outcome(
        outcome, message, feature=args.feature, passes=tested.passes, evidence=tested.evidence
    )


def _run(invocation: Invocation) -> FeatureResult:
    """Run the command that proves the feature, and return the result; the log's end is printed where it fails."""
    from taskstate.tasks.feature_proofs import CommandFailed, proved_by_command

    args = invocation.args
    try:
        return proved_by_command(
            invocation.workspace, invocation.task, args.feature, args.command, timeout=args.timeout
        )
    except CommandFailed as error:
        invocation.print_notes(tuple(filter(None, [error.tail])))
        raise

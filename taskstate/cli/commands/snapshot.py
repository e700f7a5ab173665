"""`taskstate snapshot`: takes snapshots of the working tree, compares and restores them, and accepts drift."""

from __future__ import annotations

import sys

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.verification.snapshots.drift import Difference, DriftReport

_SHORT = 12  # digits of a hash in a report


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    take = parser.add_action(
        "take",
        "record the working tree of a role",
        "Record the exact working tree, staged or not, with its diffs; git's own data is not changed.",
    )
    _add_role(take)
    take.add_writing(run=run_take)
    verify = parser.add_action(
        "verify",
        "compare the working tree with a snapshot",
        "Compare the working tree with a role's snapshot; on drift, print a report and exit with status 1.",
    )
    _add_role(verify)
    verify.add_argument(
        "--restore",
        nargs="+",
        metavar="FILE",
        default=[],
        help="first restore these files from the snapshot; for a name that begins with -: --restore=./-name",
    )
    verify.add_writing(run=run_verify)
    diff = parser.add_action("diff", "show the diff of a role", "Show what a role changed, or what changed since.")
    diff.add_argument("--role", metavar="R", default="", help="role of the snapshot, such as implementer")
    diff.add_argument(
        "--type",
        choices=("from-base", "incremental", "now", "seen"),
        default="from-base",
        help="from the base to what the role left; from the previous role's snapshot to its own; from what the role "
        "left, or without --role the last turn, to the working tree now; from what the role saw last to now "
        "(default: from-base)",
    )
    diff.add_argument("--path", action="store_true", help="print the path of the gzipped diff instead")
    diff.add_common(run=run_diff)
    resolve = parser.add_action(
        "resolve", "accept drift", "Accept the working tree and HEAD as they are, and record who did so and why."
    )
    resolve.add_argument("--note", metavar="TEXT", required=True, help="reason; it is recorded")
    resolve.add_writing(run=run_resolve)


def _add_role(parser: Parser) -> None:
    parser.add_argument("--role", metavar="R", required=True, help="role of the snapshot, such as implementer")


def run_take(invocation: Invocation) -> int:
    """Take a snapshot."""
    from taskstate.verification.snapshots.take import take

    taken = take(invocation.workspace, invocation.task, invocation.args.role, invocation.request())
    text = f"snapshot of {invocation.args.role} taken: {taken.result.stat}"
    return invocation.print_outcome(
        taken, text, role=invocation.args.role, diff_stat=taken.result.stat, files=taken.result.number
    )


def run_verify(invocation: Invocation) -> int:
    """Compare the working tree with a snapshot, after restoring files if requested."""
    from taskstate.errors import TaskstateError
    from taskstate.model.roles import require_role
    from taskstate.verification.snapshots.verify import compare, count_up

    args, workspace = invocation.args, invocation.workspace
    task = invocation.load_parsed_task().state.id
    require_role(args.role, workspace.config.roles)
    restored: tuple[str, ...] = ()
    if args.restore:
        from taskstate.verification.snapshots.restore import restore

        restored, notes = restore(workspace, task, args.role, args.restore, dry_run=args.dry_run)
        invocation.print_notes(notes)
    try:
        report = compare(workspace, workspace.load(workspace.locate(task)), args.role)
    except TaskstateError:
        invocation.print_notes(
            tuple(_restored_lines(restored, dry_run=args.dry_run))
        )  # report what was restored before the failure
        raise
    if report.drift:
        count_up(workspace, task, args.role, invocation.request())
    data = {
        "drift": report.drift,
        "checks": [check._asdict() for check in report.checks],
        "files": [each.as_json() for each in report.files],
        "notes": list(report.notes),
        "message": report.message,
        "explained": [each._asdict() for each in report.explained],
        "committed": list(report.committed),
        "commits": list(report.commits),
        "at_work": report.at_work,
        **({"restored": list(restored)} if args.restore else {}),
    }
    lines = [*_restored_lines(restored, dry_run=args.dry_run), *_report(report, args.role)]
    return invocation.print_result(data, "\n".join(lines), status=1 if report.drift else 0)


def _restored_lines(restored: tuple[str, ...], *, dry_run: bool) -> list[str]:
    from taskstate.verification.snapshots.drift import printable_path

    return [f"{'would put back' if dry_run else 'put back'} {printable_path(name)}" for name in restored]


def _report(report: DriftReport, role: str) -> list[str]:
    notes = [f"  note: {note}" for note in report.notes]
    if report.at_work:
        return [f"{report.at_work} is at work on what {role} left", *map(_line, report.files), *notes]
    if not report.drift:
        what = "differs only by what is explained from what" if report.explained else "is as"
        return [f"the working tree {what} {role} left{'' if report.explained else ' it'}", *notes]
    failed = [f"  {check.name}: {check.detail}" for check in report.checks if not check.ok]
    listed = [_line(each) for each in report.files]
    return [f"drift: {report.message}", *listed, "failed checks:", *failed, *notes, f"what to do: {report.help}"]


def _line(each: Difference) -> str:
    from taskstate.verification.snapshots.drift import printable_path

    hashes = (
        f"{each.expected[:_SHORT]}" if each.expected else "none",
        each.current[:_SHORT] if each.current else "none",
    )
    origin = f" (was {printable_path(each.origin)})" if each.origin else ""
    return f"  {each.change:<8} {printable_path(each.path)}{origin}: expected {hashes[0]}, is {hashes[1]}"


def run_diff(invocation: Invocation) -> int:
    """Show a diff: verbatim into a pipe or a file, printable and in colour on a terminal."""
    from taskstate.verification.snapshots.diffs import diff_of

    args = invocation.args
    diff = diff_of(invocation.workspace, invocation.task, args.role, args.type)
    data = {"path": diff.path, "role": args.role, "type": args.type}
    if args.path:
        return invocation.print_result(data, diff.path)
    if invocation.as_json:
        text = diff.content.decode("utf-8", "replace")
        return invocation.print_result({**data, "came_in": list(diff.came_in), "diff": text}, "")
    if not args.quiet:
        _show(invocation, "".join(f"# {line}\n" for line in diff.came_in).encode() + diff.content)
    return 0


def _show(invocation: Invocation, content: bytes) -> None:
    from taskstate.cli.terminal import is_terminal, shows_colour, write_bytes
    from taskstate.lint.reporters.colors import Painter
    from taskstate.syntax.spans import printable

    colour = shows_colour(sys.stdout, refused=invocation.args.no_color)
    if not colour and not is_terminal(sys.stdout):
        write_bytes(content)  # so that `git apply` accepts it: a diff need not be UTF-8, and its line ends count
        return
    text = printable(content.decode("utf-8", "replace")).replace("\r", "\\r")
    sys.stdout.write(Painter(colour).diff(text))


def run_resolve(invocation: Invocation) -> int:
    """Accept drift."""
    from taskstate.verification.snapshots.accept_drift import resolve

    outcome = resolve(
        invocation.workspace, invocation.task, invocation.text_of(invocation.args.note), invocation.request()
    )
    accepted = outcome.result
    retaken = f"; snapshot of {' and '.join(accepted.retaken)} taken anew" if accepted.retaken else ""
    text = f"the working tree is accepted as it is{retaken}"
    return invocation.print_outcome(outcome, text, retaken=list(accepted.retaken), base_commit=accepted.base)

"""`taskstate migrate`: turns files of older forms into files of the present one."""

from __future__ import annotations

from taskstate.messages import counted
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.cli.arguments import Parser
    from taskstate.cli.invocation import Invocation
    from taskstate.workflow.migrating import Migrated


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files and folders (default: the repository)")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Migrate the files, and say what a person has to decide in each."""
    from taskstate.storage.paths import real
    from taskstate.workflow.migrating import migrate

    workspace = invocation.workspace
    paths = tuple(real(path) for path in invocation.args.paths) or (workspace.root,)
    done = migrate(workspace, paths, invocation.request())
    invocation.print_notes(done.notes)
    invocation.print_problems((*(line for each in done.files for line in each.warnings), *done.failed))
    left = sum(len(each.findings) for each in done.files)
    status = 2 if done.failed else 1 if left else 0
    data = {
        "files": [
            {"path": each.path, "source": each.source, "notes": [*each.notes], "decide": [*each.findings]}
            for each in done.files
        ],
        "failed": [*done.failed],
    }
    if invocation.args.dry_run:
        data["diff"] = "".join(each.diff for each in done.files)
    return invocation.print_result(data, _text(done.files, is_dry_run=invocation.args.dry_run), status=status)


def _text(done: tuple[Migrated, ...], *, is_dry_run: bool) -> str:
    """Return what was done file by file, or on a dry run the diff."""
    if not done:
        return "nothing to migrate"
    lines = [each.diff.rstrip("\n") for each in done if is_dry_run and each.diff]
    for each in done:
        came = f" from {each.source}" if each.source != each.path else ""
        lines.append(f"{each.path}: {'would be ' if is_dry_run else ''}migrated{came}")
        lines += [f"  {note}" for note in each.notes]
        if each.findings:
            lines.append(f"  {counted(len(each.findings), 'thing')} for you to decide:")
            lines += [f"    {finding}" for finding in each.findings]
    return "\n".join(lines)

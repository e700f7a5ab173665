"""`migrate`: turns files of older forms into files of the present one."""

from __future__ import annotations

from taskstate.messages import counted
from taskstate.operations.operation import Operation, positional
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.migration.migrate_files import Migrated
    from taskstate.operations.call import Call
    from taskstate.operations.operation import FilePath


class Migrate(NamedTuple):
    """The arguments of `migrate`."""

    paths: tuple[FilePath, ...] = positional("PATH", "files and folders (default: the repository)")


def migrate(call: Call, asked: Migrate) -> Result:
    """Convert files from older formats, and say what a person has to decide in each."""
    from taskstate.migration.migrate_files import migrate as migrate_files

    done = migrate_files(call.workspace, asked.paths or (call.workspace.root,), call.request())
    call.notes(done.notes)
    call.problems((*(line for each in done.files for line in each.warnings), *done.failed))
    data = {
        "files": [
            {"path": each.path, "source": each.source, "notes": [*each.notes], "decide": [*each.findings]}
            for each in done.files
        ],
        "failed": [*done.failed],
    }
    if call.dry_run:
        data["diff"] = "".join(each.diff for each in done.files)
    status = 2 if done.failed else 1 if any(each.findings for each in done.files) else 0
    return Result(data, _text(done.files, is_dry_run=call.dry_run), status=status)


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


OPERATIONS = (Operation("migrate", "convert files from older formats", migrate, Migrate, writes=True),)

"""`taskstate fmt`: formats state files."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation, standard_input
from taskstate.cli.terminal import write_bytes
from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.storage.paths import real, shown
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class _FormatResult(NamedTuple):
    """The result of formatting: the number of files, the changed ones, their diff, and errors."""

    files: int
    changed: tuple[str, ...]
    diff: str
    failed: tuple[str, ...]


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="files and folders to format (default: the repository); - formats standard input",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a file would change")
    parser.add_argument(
        "--diff", action="store_true", help="write nothing; print the changes as a unified diff, and exit like --check"
    )
    parser.add_argument("--stdin-filename", metavar="NAME", help="file name to assume for standard input")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Format the files, or report what would change."""
    if invocation.args.paths == ["-"]:
        return _run_stdin(invocation)
    is_dry_run = invocation.args.check or invocation.args.diff
    result = _dry_run(invocation) if is_dry_run else _write(invocation)
    invocation.print_problems(result.failed)
    status = 1 if is_dry_run and result.changed else 0
    data = {"files": result.files, "changed": list(result.changed), "failed": list(result.failed)}
    if invocation.args.diff or invocation.args.dry_run:
        data["diff"] = result.diff
    status = 2 if result.failed else status
    return invocation.print_result(data, _text(invocation, result), status=status)


def _text(invocation: Invocation, result: _FormatResult) -> str:
    if invocation.args.diff or invocation.args.dry_run:
        return result.diff
    verb = "would be reformatted" if invocation.args.check else "reformatted"
    same = result.files - len(result.changed) - len(result.failed)
    counts = [_count(len(result.changed), verb), _count(same, "already in form"), _count(len(result.failed), "skipped")]
    summary = ", ".join(count for count in counts if count) or "no state files"
    return "\n".join([*(f"{verb}: {one_line(name)}" for name in result.changed), summary])


def _count(number: int, what: str) -> str:
    return f"{counted(number, 'file')} {what}" if number else ""


def _paths(invocation: Invocation) -> tuple[Path, ...]:
    """Return the state files to format; a named file that is none of ours gets a note."""
    from taskstate.formatting.format_files import is_formattable
    from taskstate.lint.runner import own_files_in

    paths = [real(path) for path in invocation.args.paths] or [invocation.any_workspace.root]
    own_files, notes = own_files_in(invocation.any_workspace, paths)
    invocation.print_notes(notes)
    return tuple(path for path in own_files if is_formattable(path))


def _dry_run(invocation: Invocation) -> _FormatResult:
    """Return the changes that formatting would make."""
    from taskstate.formatting.format_files import format_bytes
    from taskstate.storage import files
    from taskstate.workspace.writer import unified_diff

    paths, changed, failed, diff = _paths(invocation), list[str](), list[str](), ""
    for path in paths:
        try:
            formatted = format_bytes(files.read(path), shown(path), invocation.any_workspace.kinds)
        except TaskstateError as error:
            failed.append(str(error))
            continue
        if formatted.changed:
            changed.append(shown(path))
            diff += unified_diff(shown(path), formatted.before, formatted.after) if invocation.args.diff else ""
    return _FormatResult(len(paths), tuple(changed), diff, tuple(failed))


def _write(invocation: Invocation) -> _FormatResult:
    """Format the files."""
    from taskstate.formatting.format_files import format_file

    paths, changed, failed, diff = _paths(invocation), list[str](), list[str](), ""
    request = invocation.request()
    for path in paths:
        try:
            outcome = format_file(invocation.workspace, path, request)
        except TaskstateError as error:
            failed.append(str(error))
            continue
        if outcome.changed:
            changed.append(shown(path))
            diff += outcome.diff
        invocation.print_notes(outcome.notes)
    return _FormatResult(len(paths), tuple(changed), diff, tuple(failed))


def _run_stdin(invocation: Invocation) -> int:
    """Print standard input formatted, or with `--check` and `--diff` whether and how it would change."""
    from taskstate.formatting.format_files import format_bytes
    from taskstate.storage.files import MAX_TEXT
    from taskstate.workspace.writer import unified_diff

    name = invocation.args.stdin_filename
    if not name:
        raise usage_error("fmt: - needs --stdin-filename", help="name the file, such as task-101-state.md")
    formatted = format_bytes(standard_input(MAX_TEXT), name)
    status = 1 if formatted.changed and (invocation.args.check or invocation.args.diff) else 0
    if invocation.as_json:
        return invocation.print_result(
            {"path": name, "changed": formatted.changed, "text": formatted.after}, "", status=status
        )
    if invocation.args.diff:
        invocation.print_text(unified_diff(name, formatted.before, formatted.after))
    elif invocation.args.check:
        invocation.print_text(f"would be reformatted: {name}" if formatted.changed else "")
    else:
        write_bytes(formatted.after.encode())
    return status

"""`fmt`: formats state files."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.storage.paths import shown
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.operations.call import Call
    from taskstate.operations.operation import FilePath


class Fmt(NamedTuple):
    """The arguments of `fmt`."""

    paths: tuple[FilePath, ...] = positional(
        "PATH", "files and folders to format (default: the repository); - formats standard input"
    )
    check: bool = switch("write nothing; exit with status 1 if a file would change")
    diff: bool = switch("write nothing; print the changes as a unified diff, and exit like --check")
    stdin_filename: str = option("NAME", "file name to assume for standard input")


class _Formatted(NamedTuple):
    """The result of formatting: the number of files, the changed ones, their diff, and errors."""

    files: int
    changed: tuple[str, ...]
    diff: str
    failed: tuple[str, ...]


def fmt(call: Call, asked: Fmt) -> Result:
    """Format state files."""
    is_dry_run = asked.check or asked.diff
    done = _dry_run(call, asked) if is_dry_run else _write(call, asked)
    call.problems(done.failed)
    data = {"files": done.files, "changed": list(done.changed), "failed": list(done.failed)}
    shows_diff = asked.diff or call.dry_run
    if shows_diff:
        data["diff"] = done.diff
    status = 2 if done.failed else 1 if is_dry_run and done.changed else 0
    return Result(data, done.diff if shows_diff else _text(asked, done), status=status, is_document=shows_diff)


def _text(asked: Fmt, done: _Formatted) -> str:
    verb = "would be reformatted" if asked.check else "reformatted"
    same = done.files - len(done.changed) - len(done.failed)
    counts = [_count(len(done.changed), verb), _count(same, "already in form"), _count(len(done.failed), "skipped")]
    summary = ", ".join(count for count in counts if count) or "no state files"
    return "\n".join([*(f"{verb}: {one_line(name)}" for name in done.changed), summary])


def _count(number: int, what: str) -> str:
    return f"{counted(number, 'file')} {what}" if number else ""


def _paths(call: Call, asked: Fmt) -> tuple[Path, ...]:
    """Return the state files to format; a named file that is none of ours gets a note."""
    from taskstate.formatting.format_files import is_formattable
    from taskstate.lint.runner import own_files_in

    own_files, notes = own_files_in(call.any_workspace, asked.paths or [call.any_workspace.root])
    call.notes(notes)
    return tuple(path for path in own_files if is_formattable(path))


def _dry_run(call: Call, asked: Fmt) -> _Formatted:
    """Return the changes that formatting would make."""
    from taskstate.formatting.format_files import format_bytes
    from taskstate.storage import files
    from taskstate.writing.writer import unified_diff

    paths, changed, failed, diff = _paths(call, asked), list[str](), list[str](), ""
    for path in call.any_workspace.counted("formatting", paths):
        try:
            formatted = format_bytes(files.read(path), shown(path), call.any_workspace.kinds)
        except TaskstateError as error:
            failed.append(str(error))
            continue
        if formatted.changed:
            changed.append(shown(path))
            diff += unified_diff(shown(path), formatted.before, formatted.after) if asked.diff else ""
    return _Formatted(len(paths), tuple(changed), diff, tuple(failed))


def _write(call: Call, asked: Fmt) -> _Formatted:
    """Format the files."""
    from taskstate.formatting.format_files import format_file

    paths, changed, failed, diff = _paths(call, asked), list[str](), list[str](), ""
    request = call.request()
    for path in call.workspace.counted("formatting", paths):
        try:
            outcome = format_file(call.workspace, path, request)
        except TaskstateError as error:
            failed.append(str(error))
            continue
        if outcome.changed:
            changed.append(shown(path))
            diff += outcome.diff
        call.notes(outcome.notes)
    return _Formatted(len(paths), tuple(changed), diff, tuple(failed))


FMT = Operation("fmt", "format state files", fmt, Fmt, writes=True)
OPERATIONS = (FMT,)

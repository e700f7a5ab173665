"""`taskstate fmt`: as the operation, which also formats standard input for an editor."""

from __future__ import annotations

from functools import wraps

from taskstate.cli.output import standard_input
from taskstate.operations.call import usage_error
from taskstate.operations.fmt import FMT, fmt
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.cli.output import CommandLineCall
    from taskstate.operations.fmt import Fmt


@wraps(fmt)
def run(call: CommandLineCall, asked: Fmt) -> Result:
    """Format files, or standard input."""
    return _standard_input(asked) if [*map(str, asked.paths)] == ["-"] else fmt(call, asked)


def _standard_input(asked: Fmt) -> Result:
    """Return standard input formatted, or with `--check` and `--diff` whether and how it would change."""
    from taskstate.formatting.format_files import format_bytes
    from taskstate.storage.files import MAX_TEXT
    from taskstate.writing.writer import unified_diff

    name = asked.stdin_filename
    if not name:
        raise usage_error("fmt: - needs --stdin-filename", help="name the file, such as task-101-state.md")
    formatted = format_bytes(standard_input(MAX_TEXT), name)
    status = 1 if formatted.changed and (asked.check or asked.diff) else 0
    data = {"path": name, "changed": formatted.changed, "text": formatted.after}
    if asked.diff:
        return Result(data, unified_diff(name, formatted.before, formatted.after), status, is_verbatim=True)
    if asked.check:
        text = f"would be reformatted: {name}" if formatted.changed else ""
        return Result(data, text, status, is_verbatim=True)
    return Result(data, "", status, raw=formatted.after.encode(), is_verbatim=True)


OPERATIONS = (FMT._replace(run=run),)

"""`taskstate report`: as the operation, which the command line can also write as one HTML file."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from functools import wraps

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import counted
from taskstate.model.write_metadata import timestamp
from taskstate.operations.call import usage_error
from taskstate.operations.log import since
from taskstate.operations.report import REPORT, report
from taskstate.operations.result import Result
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.cli.output import CommandLineCall
    from taskstate.operations.report import Report
    from taskstate.workspace.workspace import Workspace

_KB = 1024
_LARGE = 5 * _KB * _KB
_EPOCH = "SOURCE_DATE_EPOCH"  # reproducible-builds.org: the time that stands in what is made


@wraps(report)
def run(call: CommandLineCall, asked: Report) -> Result:
    """Report a branch on standard output, or write the page of all tasks to a file."""
    return report(call, asked) if asked.output is None else _written(call, asked, asked.output)


def _written(call: CommandLineCall, asked: Report, output: str) -> Result:
    if call.as_data and output == "-":
        raise usage_error("report: --output - prints HTML", help="leave out --format json, or name a file")
    from taskstate.storage import installed

    if installed.lacks("page"):
        message = "`taskstate report --output FILE` needs the packages starlette, uvicorn and nh3"
        raise TaskstateError(message, help=f"run `{installed.adding('page')}`", code="missing-extra")
    from taskstate.page.reading import Site
    from taskstate.page.report import report as made_of

    call.conditions = call.conditions._replace(now=_source_date() or call.now())
    config = call.conditions.config
    site = Site(call.workspace.root, os.path.abspath(config) if config else "", is_read_only=True, now=call.now())
    made = made_of(site, asked.ids, since(call, asked.since), bar=call.bar)
    data, status = made.text.encode(), int(bool(made.unread))
    call.problems(tuple(f"incomplete in the report: {each}" for each in made.unread))
    if len(data) > _LARGE:
        call.notes((_too_large(len(data), asked),))
    if output == "-":
        return Result(None, "", status, raw=data)
    from taskstate.storage.paths import real
    from taskstate.workspace.artifacts import save_as

    path = real(output)
    save_as(call.workspace, path, made.text)
    call.notes(_counted_as_change(call.workspace, path))
    told = f"{one_line(output)}: {counted(made.tasks, 'task')}, {-(-len(data) // _KB)} KB"
    return Result({"output": output, "tasks": made.tasks, "bytes": len(data)}, told, status)


def _counted_as_change(workspace: Workspace, path: Path) -> tuple[str, ...]:
    """Return that a file which was written is a change of the working tree, if git sees it there."""
    from taskstate.storage.git import client as git

    root = workspace.root.resolve()
    if not path.is_relative_to(root) or workspace.is_ours(path.relative_to(root).as_posix()):
        return ()
    with suppress(GitFailed):
        if git.toplevel(root) and git.run(["status", "--porcelain", "--", str(path)], root):
            return (f"{one_line(path.name)} is in the working tree, so it counts as a change there",)
    return ()


def _source_date() -> str:
    """Return the time for which the environment wants things made; empty where it says none.

    Raises:
        TaskstateError: code "usage": it is no number of seconds, or too large a one.
    """
    given = os.environ.get(_EPOCH, "")
    try:
        return timestamp(datetime.fromtimestamp(int(given), UTC)) if given else ""
    except (ValueError, OverflowError, OSError) as error:
        help_ = "unset it, or give the seconds since 1970 of a time"
        raise usage_error(f"{_EPOCH} is {given!r}, which is not a time", help=help_) from error


def _too_large(size: int, asked: Report) -> str:
    less = ["name the tasks that matter" if not asked.ids else "name fewer tasks"]
    less += [] if asked.since else ["leave out what is old by --since"]
    return f"the report has {size / _KB / _KB:.1f} MB, which browsers open slowly: {', or '.join(less)}"


OPERATIONS = (REPORT._replace(run=run),)

"""`report`: says how the tasks stand, or what a branch changes in them, to those without the repository."""

from __future__ import annotations

from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name, TaskId


class Report(NamedTuple):
    """The arguments of `report`; `output` and `since` are for the command line, which writes the file."""

    ids: tuple[TaskId, ...] = positional(
        "ID", "tasks to report (default: all that changed, or that commits name; with --output: see --since)"
    )
    pull_request: bool = switch("as Markdown for a pull request (default)")
    base: Name | None = option("REV", "target branch or commit (default: from git or the CI service)")
    output: Name | None = option(
        "FILE", "write the page, with all tasks, as one HTML file that needs no network; - prints it"
    )
    since: Name = option(
        "WHEN",
        "with --output: leave out events and closed tasks from before a commit, a date (UTC), `today` or `yesterday` "
        "(default: all events, and tasks closed in the last 30 days)",
    )


def report(call: Call, asked: Report) -> Result:
    """Report what this branch changes in the tasks, from the merge base with its target to HEAD.

    The files are read from these two commits, not from the working tree. The report has at most 60,000 bytes; text in
    it cannot mention people, close issues or load pictures where it is shown. With --output, write all tasks as they
    are now to one HTML file instead; this needs the extra `taskstate[page]`.
    """
    from taskstate.model.names import parse_task_id
    from taskstate.views import change_report, changes, pull_request

    found = pull_request.compare(call.workspace, tuple(map(parse_task_id, asked.ids)), base=asked.base)
    text = "" if call.as_data else change_report.markdown(found, allow=call.allowed)
    return Result(changes.shape_of(found), text, is_document=True)


REPORT = Operation(
    "report",
    "report what a branch changes in the tasks, for a pull request; or all tasks, as one HTML file",
    report,
    Report,
    apart=(("--pull-request", "--output"), ("--base", "--output")),
    together=(("--since", "--output", "a pull request is reported from where its branch left; --output FILE.html"),),
)
OPERATIONS = (REPORT,)

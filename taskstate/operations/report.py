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
        "ID", "tasks to report (default: all that changed, or that commits name; with --output: all that are shown)"
    )
    pull_request: bool = switch("as Markdown for a pull request (default)")
    base: Name | None = option("REV", "the branch or commit that it goes to (default: as git or the CI service says)")
    output: Name | None = option(
        "FILE", "write the page, with all tasks, as one HTML file that needs no network; - prints it"
    )
    since: Name = option(
        "WHEN",
        "with --output: show what happened since a commit, a date (UTC), `today` or `yesterday`, and the tasks that "
        "were closed since (default: the whole history, and the tasks closed in the last 30 days)",
    )


def report(call: Call, asked: Report) -> Result:
    """Report what this branch changes in the tasks: between HEAD and the place where it left its target.

    With --output it is the page of all tasks instead, as they are now, in one HTML file; with the extra
    `taskstate[page]`. Else the files are read from the two commits, and none from the working tree, so the same commits
    give the same report; text from them can mention, close and draw nothing on the service that shows it, and it has at
    most 60,000 bytes.
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

"""`report`: prints what changed in the tasks, for those who do not have the repository before them."""

from __future__ import annotations

from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name, TaskId


class Report(NamedTuple):
    """The arguments of `report`."""

    ids: tuple[TaskId, ...] = positional("ID", "tasks to report (default: all that changed, or that commits name)")
    pull_request: bool = switch("as Markdown for a pull request: the form that a report has (default)")
    base: Name | None = option("REV", "the branch or commit that it goes to (default: as git or the CI service says)")


def report(call: Call, asked: Report) -> Result:
    """Report what this branch changes in the tasks: between HEAD and the place where it left its target.

    The files are read from the two commits, and none from the working tree, so the same commits give the same report.
    Text from them can mention, close and draw nothing on the service that shows it. At most 60,000 bytes.
    """
    from taskstate.model.names import parse_task_id
    from taskstate.views import change_report, changes, pull_request

    found = pull_request.compare(call.workspace, tuple(map(parse_task_id, asked.ids)), base=asked.base)
    text = "" if call.as_data else change_report.markdown(found, allow=call.allowed)
    return Result(changes.shape_of(found), text, is_document=True)


OPERATIONS = (Operation("report", "report what a branch changes in the tasks, for a pull request", report, Report),)

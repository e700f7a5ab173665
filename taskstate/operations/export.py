"""`export`: writes tasks in the form of another system."""

from __future__ import annotations

from taskstate.model.statuses import OF_TASKS
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name


class Export(NamedTuple):
    """The arguments of `export`."""

    format: str = positional("FORMAT", "the format", choices=("backlog-md", "csv", "json"))
    ids: tuple[str, ...] = positional("ID", "tasks to export (default: all); for backlog-md its folder comes first")
    output: Name | None = option("PATH", "the file or folder to write (default, and -: standard output)")
    status: str = option("", "export only tasks with this status", choices=OF_TASKS)
    raw: bool = switch("csv: write no ' in front of what a spreadsheet would calculate")
    strict: bool = switch("refuse where the format has no place for something")
    dry_run: bool = switch("say what would be written, and write nothing")
    force_secrets: bool = switch("export what looks like a credential, too")


def export(call: Call, asked: Export) -> Result:
    """Write tasks in the form of another system; what that has no place for is told once, with numbers.

    A file that is there is replaced only if it was exported and nobody has changed it since.

    Raises:
        TaskstateError: code "usage": a folder is needed, and none is named.
    """
    from taskstate.exporting.run import FORMATS, Wanted, lost_text, run, text_of
    from taskstate.storage.paths import real

    output, ids = None if asked.output == "-" else asked.output, asked.ids
    if FORMATS[asked.format].is_folder and output is None:
        if not ids:
            message = f"export {asked.format}: a folder is needed"
            raise usage_error(message, help="name it first, as in `taskstate export backlog-md backlog`")
        output, ids = ids[0], ids[1:]
    tasks = tuple(call.load(each).state.id for each in ids)
    wanted = Wanted(asked.format, tasks, asked.status, real(output) if output else None, asked.raw, asked.strict)
    request = call.request()._replace(dry_run=asked.dry_run, force_secrets=asked.force_secrets)
    done = run(call.workspace, wanted, request)
    call.problems(done.warnings)
    if done.lost:
        call.notes((f"{asked.format} has no place for {lost_text(done.lost)}",))
    data = {**done._asdict(), "format": asked.format, "output": output}
    if output is None:
        raw = done.text.encode()
        return Result(data, done.text, raw=raw, is_json=asked.format == "json", is_verbatim=True)
    return Result(data, text_of(done, output, dry_run=asked.dry_run), status=1 if done.kept else 0)


OPERATIONS = (Operation("export", "write tasks in the form of another system", export, Export),)

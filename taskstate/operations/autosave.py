"""`autosave`: lists, shows and discards the drafts of what sessions did that their agents did not record."""

from __future__ import annotations

from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.autosave.drafts import KeptDraft
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name

_WIDTH = 60  # characters of what a draft begins with, in the list


class List(NamedTuple):
    """The arguments of `autosave list`."""

    task: Name = option("ID", "only those of this task")


class Show(NamedTuple):
    """The arguments of `autosave show`."""

    id: str = positional("ID", "id of the draft, as `taskstate autosave list` prints it")


class Discard(NamedTuple):
    """The arguments of `autosave discard`."""

    ids: tuple[Name, ...] = positional("ID", "ids of the drafts, as `taskstate autosave list` says them")
    all: bool = switch("all drafts of this clone, and the notes of its sessions")


def list_(call: Call, asked: List) -> Result:
    """List the drafts that are kept in this clone, the oldest first."""
    from taskstate.autosave import drafts

    found = drafts.kept(call.workspace.private, task=asked.task)
    return Result({"drafts": [_shape(each) for each in found]}, "\n".join(map(_line, found)) or "no draft is kept")


def show(call: Call, asked: Show) -> Result:
    """Print a draft: what the session did, and what was said in it, as quotes."""
    from taskstate.autosave import drafts

    found = drafts.find(call.workspace.private, asked.id)
    head = f"Draft {found.id} of task {found.task or '(none)'}, made at {found.at} from {found.source} ({found.reason})"
    return Result(_shape(found) | {"text": found.draft.text}, f"{head}\n\n{found.draft.text}", is_document=True)


def discard(call: Call, asked: Discard) -> Result:
    """Delete drafts for good: those that are named, or with --all everything that autosave keeps in this clone."""
    from taskstate.autosave import catch_up, consent, drafts
    from taskstate.model.write_metadata import timestamp
    from taskstate.storage import files

    private = call.workspace.private
    if bool(asked.ids) == asked.all:
        raise usage_error("name drafts, or give --all", help="`taskstate autosave list` says which there are")
    found = drafts.kept(private) if asked.all else tuple(drafts.find(private, each) for each in asked.ids)
    for each in found:
        catch_up.taken(call.workspace, each, timestamp(call.request().metadata.now))
    drafts.discard(private, found)
    if asked.all:
        for path in consent.kept_files(call.workspace):
            files.delete(path)
    lines = [f"discarded {_line(each)}" for each in found]
    return Result({"discarded": [each.id for each in found]}, "\n".join(lines) or "nothing was kept")


def _line(draft: KeptDraft) -> str:
    from taskstate.messages import one_line

    begin = next((each for values in draft.draft.facts.values() for each in values), "")
    return f"{draft.id}  {draft.at}  task {draft.task or '-'}  {draft.source}  {one_line(begin, _WIDTH)}"


def _shape(draft: KeptDraft) -> dict[str, object]:
    names = ("id", "client", "session", "task", "reason", "at")
    return {**{name: getattr(draft, name) for name in names}, **draft.draft._asdict()}


OPERATIONS = (
    Operation("autosave list", "list the drafts that are kept", list_, List),
    Operation("autosave show", "print a draft", show, Show),
    Operation("autosave discard", "delete drafts", discard, Discard),
)

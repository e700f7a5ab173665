"""Runs an operation inside the server, and keeps what it says.

As on the command line, no answer holds a control character or hidden text as it is: a model would read it like
any other.
"""

from __future__ import annotations

from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.operations.arguments import make
from taskstate.operations.call import Call, Conditions
from taskstate.operations.errors import in_one, our_fault
from taskstate.operations.result import shown
from taskstate.secrets.mask import masked
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.mcp_server.arguments import Place, ToolCall


class Answer(NamedTuple):
    """What an operation answered: the text that people read, notes, and the exit status."""

    text: str
    notes: tuple[str, ...]
    status: int


def run(asked: ToolCall, place: Place) -> Answer:
    """Run an operation, and return its answer.

    Raises:
        TaskstateError: it refuses, or failed by a fault of its own; the message masks credentials.
    """
    conditions = Conditions(lambda: place.root, str(place.root), place.config, expect=asked.revision, is_verbose=True)
    call = Call(conditions, writes=asked.operation.writes, as_data=False)
    try:
        result = shown(asked.operation.run(call, make(asked.operation, asked.given, place.read)), call)
        call.notes(result.warning)
        call.tell_losses()
    except SeveralReasons as error:
        raise _masked(in_one(error)) from error
    except TaskstateError as error:
        raise _masked(error) from error
    except Exception as error:  # the server lives on, whatever happens in an operation
        raise our_fault(error) from error
    notes = tuple(printable(masked(each)) for each in call.said)
    status = result.status or int(call.found_damage)
    return Answer(printable(result.text), notes, status)


def _masked(error: TaskstateError) -> TaskstateError:
    return TaskstateError(masked(error.message), help=masked(error.help), code=error.code)

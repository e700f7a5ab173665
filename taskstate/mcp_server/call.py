"""Runs a command inside the server: the same arguments and the same job as on the command line, without its output.

As there, no answer holds a control character or hidden text as it is: a model would read it like any other.
"""

from __future__ import annotations

from taskstate.cli.invocation import Invocation, in_one
from taskstate.cli.main import our_fault, run_command
from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Answer(NamedTuple):
    """What a command answered: its JSON data, the text that people read, notes, and the exit status."""

    data: object
    text: str
    notes: tuple[str, ...]
    status: int


class _Silent(Invocation):
    """One run of a command that keeps what it would print.

    Where the command line takes a file or standard input for a text, the text itself is given here.
    """

    def __init__(self) -> None:
        super().__init__(as_json=True)
        self.data: object = None
        self.text = ""
        self.notes: list[str] = []

    def print_result(self, data: object, text: str, *, status: int = 0) -> int:
        """Keep the result, and return the exit status."""
        self.data, self.text = data, text
        return status

    def print_problems(self, lines: tuple[str, ...]) -> None:
        """Keep the lines."""
        self._said += "\n".join(lines)
        self.notes += lines

    def read(self, name: str) -> str:
        """Return the text that was given in place of a file's name."""
        return name

    def text_of(self, value: str) -> str:
        """Return the text as given."""
        return value


def run(arguments: Sequence[str]) -> Answer:
    """Run a command with arguments as on the command line, and return its answer.

    Raises:
        TaskstateError: the command refuses, or failed by a fault of its own; the message masks credentials.
    """
    invocation = _Silent()
    try:
        status = run_command([*arguments], invocation)
        invocation.print_told()
    except SeveralReasons as error:
        raise _masked(in_one(error)) from error
    except TaskstateError as error:
        raise _masked(error) from error
    except Exception as error:  # the server lives on, whatever happens in a command
        raise our_fault(error) from error
    notes = tuple(printable(_without_secrets(each)) for each in invocation.notes)
    return Answer(visible(invocation.data), printable(invocation.text), notes, status)


def visible(value: object) -> object:
    """Return JSON data in whose texts control characters and hidden text are written out."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {visible(key): visible(each) for key, each in value.items()}
    return [visible(each) for each in value] if isinstance(value, list | tuple) else value


def _masked(error: TaskstateError) -> TaskstateError:
    return TaskstateError(_without_secrets(error.message), help=_without_secrets(error.help), code=error.code)


def _without_secrets(text: str) -> str:
    from taskstate.secrets.mask import masked

    return masked(text)

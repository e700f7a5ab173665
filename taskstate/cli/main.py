"""The command line: runs the operation that the arguments name, and maps errors to one line and an exit status."""

from __future__ import annotations

import errno
import os
import sys
from itertools import pairwise

from taskstate.cli.output import CommandLineCall, Output, reading
from taskstate.cli.parsers import parse, without_command
from taskstate.errors import TaskstateError
from taskstate.operations.arguments import make, shown
from taskstate.operations.call import usage_error
from taskstate.operations.errors import our_fault
from taskstate.storage.signals import interrupted_status
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from taskstate.operations.index import Command
    from taskstate.operations.operation import Operation
    from taskstate.operations.result import Result

OUR_FAULT, CANNOT = 3, 2
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def main(arguments: Sequence[str], commands: Mapping[str, Command]) -> int:
    """Run one command and return its exit status; `commands` are those that there are."""
    arguments = [*arguments]
    _ready_streams()
    run = _Run(Output(as_json=_wants_json(arguments)))
    try:
        status = run_command(arguments, commands, run)
        run.tell_losses()
        sys.stdout.flush()  # a failure at exit could not be handled any more
    except TaskstateError as error:
        if arguments[:1] == ["hook"]:  # a client takes exit status 2 as a refusal of what its agent does
            try:
                sys.stdout.write("{}\n")
            except OSError:
                return 0
            run.output.print_problems((f"taskstate: {error}",))
            return 0
        # What a reading command does not find in a damaged file is no error of its own.
        status = run.print_error(error, 1 if run.found_damage else CANNOT)
        run.tell_losses()
        return status
    except KeyboardInterrupt as error:
        return interrupted_status(error)
    except BrokenPipeError:
        _discard_output()  # the reader of a pipe has closed it, as `head` does
        return 0
    except OSError as error:
        if error.errno not in _DISK_FULL and not run.is_done:
            return run.print_error(our_fault(error), OUR_FAULT)
        _discard_output()
        return run.print_error(run.unwritten(error), CANNOT)
    except Exception as error:  # noqa: BLE001 - last resort: an unexpected error becomes one line and a log file
        return interrupted_status(error) or run.print_error(our_fault(error), OUR_FAULT)
    return status


class _Run:
    """One run of the command line: its output, and once the arguments are parsed, the call."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self._call: CommandLineCall | None = None
        self._result: Result | None = None

    def operation(self, operation: Operation, args: argparse.Namespace) -> int:
        """Run an operation with parsed arguments, show its result, and return the exit status."""
        output = self.output
        output.as_json = args._format == "json"  # noqa: SLF001 - the common flags stand beside the fields
        output.is_quiet, output.no_color = args._quiet, args._no_color  # noqa: SLF001 - the same
        call = self._call = CommandLineCall(args, operation, output)
        given = {name: value for name, value in vars(args).items() if not name.startswith("_")}
        _require_one_reader(operation, given)
        asked = make(operation, given, reading(call))
        if operation.is_view and asked.watch:
            from taskstate.cli.commands.watch import show

            self._result = show(call, asked, operation.run)
        else:
            self._result = operation.run(call, asked)
        status = output.show(self._result, call)
        return status or int(call.found_damage)

    @property
    def found_damage(self) -> bool:
        """Whether the call met a damaged file."""
        return self._call is not None and self._call.found_damage

    @property
    def is_done(self) -> bool:
        """Whether the operation has returned: what fails after that is the output alone."""
        return self._result is not None

    def unwritten(self, error: OSError) -> TaskstateError:
        """Return the error of an output that cannot be written, which says if the disk has changed all the same."""
        message, result = f"cannot write the output: {error.strerror}", self._result
        is_recorded = result is not None and isinstance(result.data, dict) and result.data.get("changed") is True
        if result is None or not is_recorded or (self._call and self._call.dry_run):
            return TaskstateError(message, help="free some space, then run this again", code="disk-full")
        first = "" if result.is_verbatim else result.text.partition("\n")[0]
        message += f"; what the command did is recorded{f' ({first})' if first else ''}"
        return TaskstateError(message, help="free some space; it need not be run again", code="disk-full")

    def print_error(self, error: TaskstateError, status: int) -> int:
        """Print an error, which counts as said by the call; return the exit status."""
        if self._call:
            self._call.said.append(f"taskstate: {error}")
        return self.output.print_error(error, status)

    def tell_losses(self) -> None:
        """Print what is gone or damaged, if the call has looked."""
        if self._call:
            self._call.tell_losses()


def _require_one_reader(operation: Operation, given: Mapping[str, object]) -> None:
    """Refuse two fields that are read from standard input: the second would get nothing."""
    readers = [
        shown(field)
        for field in operation.fields
        if field.kind in {"Text", "Source"}
        for value in _listed(given.get(field.external))
        if value == "-"
    ]
    if len(readers) > 1:
        message = f"standard input cannot be both {readers[0]} and {readers[1]}"
        raise usage_error(message, help="put one of them into a file")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _ready_streams() -> None:
    """Make both streams write UTF-8 whatever the locale; a closed stream takes all, and says nothing."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the same
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _discard_output() -> None:
    """Redirect standard output to nowhere, so that the interpreter's flush at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wants_json(arguments: Sequence[str]) -> bool:
    """Return whether JSON is requested; this also works for arguments that cannot be parsed."""
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)


def run_command(arguments: list[str], commands: Mapping[str, Command], run: _Run) -> int:
    """Parse the arguments of one command, run its operation, and return the exit status.

    Raises:
        TaskstateError: the arguments are wrong, or the command refuses.
    """
    is_command = bool(arguments) and arguments[0] in commands
    later = next((each for each in arguments if each in commands), "")
    if later and not is_command and arguments[0].startswith("-") and arguments[0] not in {"-h", "--help", "--version"}:
        help_ = f"write it after the command: `taskstate {later} … {arguments[0]} …`"
        raise TaskstateError(f"the flag {arguments[0]} comes before the command", help=help_, code="usage")
    if not arguments:
        without_command(commands).print_help()
        return 0
    try:
        if not is_command:
            without_command(commands).parse_args(arguments)
        operation, args = parse(arguments, commands)
    except SystemExit as done:  # --help and --version have printed what was asked for
        return int(done.code or 0)
    return run.operation(operation, args)

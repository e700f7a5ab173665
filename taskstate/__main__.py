"""Runs the command line as a process of its own: as `taskstate`, and as `python -m taskstate`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what of `signal` is built in: the rest takes a millisecond
import atexit
import gc
import os
import sys

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.operations.index import Command

# Objects that are made before the garbage collector looks for cycles. Importing makes tens of thousands that all stay,
# and so does reading files. With Python's own 700 `list` of 300 tasks takes 4 % more, a cold `lint` of many files 5 %.
# A server sets less (`operations.call.collect_garbage_often`).
_GARBAGE = 1_000_000
_ENDING = (_signal.SIGTERM, _signal.SIGHUP)
_SIGNALLED = 128  # and the signal's number are the exit status of who was ended by it
_SOON = 0.001  # seconds

_SET_UP, _STARTED = "set up", "started by other programs"
# What only the command line offers: the module of a command, what it is for, its group. This is the one place that
# knows all doors.
DOORS: Mapping[str, tuple[str, str, str]] = {
    "init": ("taskstate.cli.commands.init", "set up a repository for taskstate", "begin here"),
    "completion": (
        "taskstate.cli.commands.completion",
        "print the completion script for a shell",
        _SET_UP,
    ),
    "serve": ("taskstate.page.command", "show the tasks to a person in a browser on this machine", "look"),
    "demo": ("taskstate.cli.commands.demo", "run a demonstration in a temporary repository", _SET_UP),
    "hook": ("taskstate.agents.command", "answer a hook of an agent's client; called by the client", _STARTED),
    "merge-driver": (
        "taskstate.cli.commands.merge_driver",
        "merge two versions of a state file; called by git",
        _STARTED,
    ),
    "lsp": ("taskstate.lsp.command", "run the language server: findings, fixes and completion in an editor", _STARTED),
    "mcp": (
        "taskstate.mcp_server.command",
        "serve the commands to agents as tools of the Model Context Protocol",
        _STARTED,
    ),
}
# The operations that it shows in its own way, with the module of each.
_SHOWN = {name: f"taskstate.cli.commands.{name}" for name in ("decompose", "lint", "fmt", "report")}


def run() -> None:
    """Run one command, and end the process with its exit status.

    The interpreter is not taken apart, since the system frees everything at once: 7 to 9 % of the processor time of
    `lint` of one file, `list` and `next`. Nothing else that spares start-up time by unusual means brought 5 %.
    """
    for descriptor in (1, 2):
        try:  # where another program made it so, a full pipe would lose output without a word
            os.set_blocking(descriptor, True)
        except OSError:  # it is closed
            continue
    try:  # Ctrl-C may come at once
        status = _status()
    except BaseException as error:
        from taskstate.storage.signals import interrupted_status

        status = interrupted_status(error)
        if not status:
            raise
    for number in (_signal.SIGINT, *_ENDING):
        _signal.signal(number, _signal.SIG_IGN)  # the command is done; only a traceback could come of it
    program = sys.modules.get("taskstate.storage.git.process")
    if program:  # nobody waits any more for what git says
        program.end_started(everywhere=True)
    atexit._run_exitfuncs()  # noqa: SLF001 - `multiprocessing` ends its processes so, too; there is no public name
    for stream in filter(None, (sys.stdout, sys.stderr)):  # one that is closed is none
        try:
            stream.flush()
        except (OSError, ValueError):  # `main` has said what there was to say about it
            continue
    os._exit(status)


def _status() -> int:
    """Run one command, and return its exit status."""
    from taskstate.storage.signals import end

    gc.set_threshold(_GARBAGE)
    sys.unraisablehook = _obeyed_soon
    for number in _ENDING:
        if _signal.getsignal(number) == _signal.SIG_DFL:  # `nohup` has it ignored
            _signal.signal(number, end)
    return main(sys.argv[1:])


def main(arguments: Sequence[str]) -> int:
    """Run one command of the command line, and return its exit status."""
    if arguments[:1] == ["__complete"]:  # asked by a shell at each press of a key: the rest would take as long again
        from taskstate.cli.completion import answer

        return answer(arguments[1:], commands())
    from taskstate.cli.main import main as run_command_line

    return run_command_line(arguments, commands())


def commands() -> dict[str, Command]:
    """Return the commands of the command line: the operations, and what the doors offer besides."""
    from taskstate.operations.index import COMMANDS, Command

    own = {name: Command(*row) for name, row in DOORS.items()}
    shown = {name: COMMANDS[name]._replace(module=module) for name, module in _SHOWN.items()}
    return {"init": own["init"], **COMMANDS, **shown, **own}  # it is what one does first


def _obeyed_soon(ignored: sys.UnraisableHookArgs) -> None:
    """Have Ctrl-C, or another signal that ends us, obeyed where Python ignores it: in what it runs behind each import.

    It cannot be raised from here, where it would be ignored again. So the signal comes once more.
    """
    from taskstate.storage.signals import end, interrupted_status

    number = interrupted_status(ignored.exc_value) - _SIGNALLED
    if number < 0:
        sys.__unraisablehook__(ignored)
        return
    if _signal.getsignal(number) == _signal.SIG_DFL:  # as `end` leaves it
        _signal.signal(number, end)
    _signal.signal(_signal.SIGALRM, lambda *_: _signal.raise_signal(number))
    _signal.setitimer(_signal.ITIMER_REAL, _SOON)


if __name__ == "__main__":
    run()

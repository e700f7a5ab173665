"""The command line: turns arguments into one call of a job, and its result or error into text, JSON and an exit status.

Each command is a module with `configure(parser)` and `run(invocation)`; it is imported only when it is called, since
start-up time is imports. Adding a command is adding its file and a row here.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from taskstate.cli.invocation import Invocation, add_common
from taskstate.errors import TaskstateError
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED, OUR_FAULT, CANNOT = 130, 3, 2
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

# command: its module in this package, and what it does
COMMANDS = {
    "init": ("init", "set a repository up"),
    "new": ("new", "create a task's state file"),
    "show": ("show", "show a task"),
    "brief": ("brief", "print what an agent needs to start on a task, cut to a number of tokens"),
    "list": ("list", "list the tasks"),
    "status": ("status", "show where the tasks in progress stand"),
    "next": ("next", "name the task and the feature to work on now, and say why"),
    "session": ("session", "append a session, list sessions, show one"),
    "feature": ("feature", "add a feature to the checklist, record that it passes or fails"),
    "phase": ("phase", "add phases, record where their objectives stand and what was tried"),
    "handoff": ("handoff", "hand a phase over to a successor, on one screen, and take it over"),
    "criterion": ("criterion", "check or uncheck an acceptance criterion"),
    "role": ("role", "show where the roles of a task stand; begin, block, end and reopen them"),
    "snapshot": ("snapshot", "record the working tree as a role leaves it; compare, show, restore, accept"),
    "purge": ("purge", "drop a task's delta data and artifacts"),
    "context": ("context", "seal what a task is; show, check and export that, and count its tokens"),
    "qa": ("qa", "record the results of checks; compare those of a role with the baseline"),
    "evidence": ("evidence", "record cited excerpts; show whether their sources still hold them"),
    "git-history": ("git_history", "list the commits that name a task"),
    "archive": ("archive", "move older sessions into the archive; verify, restore and search it"),
    "chain": ("chain", "take over what upstream tasks hand down; show it, and how it stands"),
    "graph": ("graph", "draw the tasks, their status and their chains"),
    "complete": ("complete", "complete a task and hand its output down, or list all that is missing"),
    "reopen": ("reopen", "take a complete task back to work"),
    "decompose": ("decompose", "suggest subtasks for a task that has grown too long, or create them"),
    "lint": ("lint", "check state files"),
    "fmt": ("fmt", "put state files into their canonical form"),
    "protocol": ("protocol", "print the protocol that a session of work follows"),
    "rule": ("rule", "show a lint rule's page, or the list of rules"),
    "doctor": ("doctor", "examine the set-up, and mend it; accept a broken seal; give a task another id"),
    "merge-driver": ("merge_driver", "merge one of our files by meaning; git calls it"),
    "demo": ("demo", "see the main job done in a new temporary repository"),
}


class _Help(argparse.HelpFormatter):
    """Lays help out; argparse makes one for every argument, and would import `shutil` to ask how wide a line may be."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):  # no terminal
        return 80


class Parser(argparse.ArgumentParser):
    """An argument parser that reports what is wrong as one line."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - whatever argparse takes
        super().__init__(**{"formatter_class": _Help, **options})

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the arguments."""
        raise TaskstateError(
            f"{self.prog.removeprefix('taskstate ')}: {message}", help=f"see `{self.prog} --help`", code="usage"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = [*(sys.argv[1:] if argv is None else argv)]  # not `list`: that is the command's module, once imported
    _ready_streams()
    invocation = Invocation(as_json=_wants_json(arguments))
    try:
        status = _run(arguments, invocation)
        sys.stdout.flush()  # here, where a reader that has gone can still be told from a fault
    except TaskstateError as error:
        return invocation.print_error(error, CANNOT)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _say_no_more()  # the reader has gone
        return 0
    except OSError as error:
        if error.errno not in _DISK_FULL:
            return invocation.print_error(_our_fault(error), OUR_FAULT)
        _say_no_more()
        what = f"cannot write the output: {error.strerror}"
        return invocation.print_error(
            TaskstateError(what, help="free some space, then run this again", code="disk-full"), CANNOT
        )
    except Exception as error:  # noqa: BLE001 - the last resort: a fault of our own becomes one line and a log
        return invocation.print_error(_our_fault(error), OUR_FAULT)
    return status


def _ready_streams() -> None:
    """Have UTF-8 go out whatever the language setting, and nothing where a stream was closed."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the same
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _say_no_more() -> None:
    """Let what is still to be printed go nowhere, so that the interpreter does not fail over it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _wants_json(arguments: Sequence[str]) -> bool:
    """Return whether JSON was asked for, also where the arguments cannot be parsed."""
    return "--format=json" in arguments or ("--format", "json") in pairwise(arguments)


def _run(arguments: list[str], invocation: Invocation) -> int:
    known = bool(arguments) and arguments[0] in COMMANDS
    if not arguments:
        _parser().print_help()
        return 0
    try:
        args = _parser_of(arguments[0]).parse_args(arguments[1:]) if known else _parser().parse_args(arguments)
    except SystemExit as done:  # --help and --version have printed what was asked for
        return int(done.code or 0)
    invocation.args = args
    invocation.as_json = args.format == "json"
    run: object = args.run
    if not callable(run):
        raise TypeError(arguments[0])
    return int(run(invocation))


def _parser() -> Parser:
    """Return the parser of what is no command: it knows their names, for help and for what was mistyped."""
    parser = Parser(prog="taskstate", description="One living Markdown file per task, kept safe.")
    parser.add_argument("--version", action="version", version=f"taskstate {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for name, (_, summary) in COMMANDS.items():
        commands.add_parser(name, help=summary)
    return parser


def _parser_of(command: str) -> Parser:
    """Return the parser of one command; no other one is loaded."""
    from importlib import import_module

    module, summary = COMMANDS[command]
    parser = Parser(prog=f"taskstate {command}", description=summary[0].upper() + summary[1:] + ".")
    import_module(f"taskstate.cli.commands.{module}").configure(parser)
    return parser


def _our_fault(error: Exception) -> TaskstateError:
    """Return the one line for a fault of our own; the traceback goes into a log."""
    import tempfile
    import traceback

    from taskstate.validation.secrets import masked

    with tempfile.NamedTemporaryFile(
        "w", prefix="taskstate-fault-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as log:
        log.write(masked("".join(traceback.format_exception(error))))  # which quotes what it was about
    what = f"a fault of taskstate's own: {type(error).__name__}"
    return TaskstateError(what, help=f"please report it; the details are in {log.name}", code="fault")


__all__ = ["COMMANDS", "add_common", "main"]

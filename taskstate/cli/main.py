"""The command line's entry point: parses arguments, runs one command, turns errors into messages and exit statuses.

Each command is a module with `configure(parser)` and `run(invocation)`. It is imported only when it is called, because
imports dominate the start-up time. To add a command, add its module and a row to `COMMANDS`.
"""

from __future__ import annotations

import errno
import os
import sys
from itertools import pairwise

from taskstate import VERSION
from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError, interrupted_status
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

OUR_FAULT, CANNOT = 3, 2
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

# command: its module in `commands`, and its description
COMMANDS = {
    "init": ("init", "set up a repository for taskstate"),
    "new": ("new", "create a task"),
    "show": ("show", "show a task, or one section of it"),
    "start": ("start", "begin a turn on a task: all that stands before work, then the brief"),
    "finish": ("finish", "end a turn: session, checks, snapshot, and what comes next"),
    "brief": ("brief", "print a briefing for an agent that starts on a task, within a token budget"),
    "list": ("list", "list tasks"),
    "search": ("search", "find a text in the files of all tasks"),
    "status": ("status", "show the roles, findings and next steps of the tasks in progress"),
    "next": ("next", "show which task and feature to work on next, and why"),
    "session": ("session", "add, list and show sessions of work"),
    "feature": ("feature", "add features to the checklist, and record whether they pass"),
    "phase": ("phase", "manage the phases of a task and their objectives"),
    "handoff": ("handoff", "hand a phase over to another agent; show and accept handoffs"),
    "criterion": ("criterion", "check and uncheck acceptance criteria"),
    "role": ("role", "show the roles of a task; begin, block, finish and reopen them"),
    "snapshot": ("snapshot", "take snapshots of the working tree; compare and restore them, accept drift"),
    "purge": ("purge", "delete the artifacts of a task and its snapshot data"),
    "context": ("context", "seal the context of a task; show, check and export it, count its tokens"),
    "qa": ("qa", "record the results of checks, and compare them with the baseline"),
    "trust": ("trust", "show the commands that the repository wants run, and allow them"),
    "evidence": ("evidence", "record excerpts of files as evidence, and show whether they still match"),
    "git-history": ("git_history", "list the commits of a task in its Git History"),
    "archive": ("archive", "move older sessions to the archive; verify, restore and search it"),
    "chain": ("chain", "show the output of a task, and pull the outputs of upstream tasks"),
    "graph": ("graph", "draw the dependency graph of the tasks"),
    "permanent": ("permanent", "the shared context of all agents: update, decide, notify, confirm, recover"),
    "impact": ("impact", "keep the Impact Map of the permanent task, and check claims of affected files against it"),
    "complete": ("complete", "complete a task, or list what is missing"),
    "drop": ("drop", "give a task up"),
    "reopen": ("reopen", "reopen a task that is complete or dropped"),
    "decompose": ("decompose", "suggest subtasks for a task that has grown too long, or create them"),
    "lint": ("lint", "check state files, and fix problems"),
    "fmt": ("fmt", "format state files"),
    "migrate": ("migrate", "turn files of older forms into the present one"),
    "lsp": ("lsp", "serve an editor: findings, fixes and completion while one types"),
    "protocol": ("protocol", "print the protocol for a session of work"),
    "rule": ("rule", "explain a lint rule, or list all rules"),
    "doctor": ("doctor", "check the set-up and repair it; reseal or renumber a task"),
    "hook": ("hook", "answer a hook of an agent's client; called by the client"),
    "mcp": ("taskstate.mcp_server.command", "serve the commands to agents as tools of the Model Context Protocol"),
    "merge-driver": ("merge_driver", "merge two versions of a state file; called by git"),
    "demo": ("demo", "run a demonstration in a temporary repository"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = [*(sys.argv[1:] if argv is None else argv)]  # `list` may be the command's module
    _ready_streams()
    invocation = Invocation(as_json=_wants_json(arguments))
    try:
        status = run_command(arguments, invocation)
        invocation.print_told()
        sys.stdout.flush()  # a failure at exit could not be handled any more
    except TaskstateError as error:
        if arguments[:1] == ["hook"]:  # a client takes exit status 2 as a refusal of what its agent does
            try:
                sys.stdout.write("{}\n")
            except OSError:
                return 0
            invocation.print_problems((f"taskstate: {error}",))
            return 0
        # What a reading command does not find in a damaged file is no error of its own.
        status = invocation.print_error(error, 1 if invocation.found_damage else CANNOT)
        invocation.print_told()
        return status
    except KeyboardInterrupt as error:
        return interrupted_status(error)
    except BrokenPipeError:
        _discard_output()  # the reader of a pipe has closed it, as `head` does
        return 0
    except OSError as error:
        if error.errno not in _DISK_FULL:
            return invocation.print_error(our_fault(error), OUR_FAULT)
        _discard_output()
        message = f"cannot write the output: {error.strerror}"
        return invocation.print_error(
            TaskstateError(message, help="free some space, then run this again", code="disk-full"), CANNOT
        )
    except Exception as error:  # noqa: BLE001 - last resort: an unexpected error becomes one line and a log file
        return interrupted_status(error) or invocation.print_error(our_fault(error), OUR_FAULT)
    return status


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


def run_command(arguments: list[str], invocation: Invocation) -> int:
    """Parse the arguments of one command, run it, and return its exit status.

    Raises:
        TaskstateError: the arguments are wrong, or the command refuses.
    """
    is_command = bool(arguments) and arguments[0] in COMMANDS
    later = next((each for each in arguments if each in COMMANDS), "")
    if later and not is_command and arguments[0].startswith("-") and arguments[0] not in {"-h", "--help", "--version"}:
        help_ = f"write it behind the command: `taskstate {later} … {arguments[0]} …`"
        raise TaskstateError(f"the flag {arguments[0]} stands before the command", help=help_, code="usage")
    if not arguments:
        _parser().print_help()
        return 0
    try:
        args = parser_of(arguments[0]).parse_args(arguments[1:]) if is_command else _parser().parse_args(arguments)
    except SystemExit as done:  # --help and --version have printed what was asked for
        return int(done.code or 0)
    invocation.args = args
    invocation.as_json = args.format == "json"
    run: object = args.run
    if not callable(run):
        raise TypeError(arguments[0])
    status = int(run(invocation))
    return status or int(invocation.found_damage)


def _parser() -> Parser:
    """Return the parser without a command; it knows the commands' names, for `--help` and for misspelt ones."""
    parser = Parser(prog="taskstate", description="One living Markdown file per task, kept safe.")
    parser.add_argument("--version", action="version", version=f"taskstate {VERSION}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    for name, (_, summary) in COMMANDS.items():
        commands.add_parser(name, help=summary)
    return parser


def parser_of(command: str) -> Parser:
    """Return the parser of one command, without importing any other."""
    from importlib import import_module

    module, summary = COMMANDS[command]
    parser = Parser(prog=f"taskstate {command}", description=summary[0].upper() + summary[1:] + ".")
    # A command outside of the command line's own package is named in full.
    import_module(module if "." in module else f"taskstate.cli.commands.{module}").configure(parser)
    return parser


def our_fault(error: Exception) -> TaskstateError:
    """Return the error for an internal fault; the traceback goes into a log file."""
    import traceback

    from taskstate.secrets.mask import masked
    from taskstate.storage.temporary import lasting_file

    trace = masked("".join(traceback.format_exception(error)))  # a traceback quotes values, which may be secret
    log = lasting_file("taskstate-fault-", ".log", trace)
    message = f"a fault of taskstate's own: {type(error).__name__}"
    return TaskstateError(message, help=f"please report it; the details are in {log}", code="fault")

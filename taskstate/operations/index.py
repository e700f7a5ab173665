"""Lists the operations: each command with the module that holds its operations, and what it is for.

To offer a job at every door, add its module and a row to `COMMANDS`. Nothing is imported until it is asked for: a
start of the command line loads one module.
"""

from __future__ import annotations

from importlib import import_module

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.operations.operation import Operation


class Command(NamedTuple):
    """A command: the module that holds its operations, and what it is for, in one line."""

    module: str
    summary: str


def _own(module: str, summary: str) -> Command:
    return Command(f"taskstate.operations.{module}", summary)


COMMANDS: Mapping[str, Command] = {
    "new": _own("new", "create a task"),
    "edit": _own("edit", "change title, description, priority, area or dependencies; block a task"),
    "show": _own("show", "show a task, or one section of it"),
    "start": _own("start", "begin a turn on a task: all that stands before work, then the brief"),
    "finish": _own("finish", "end a turn: session, checks, snapshot, and what comes next"),
    "brief": _own("brief", "print a briefing for an agent that starts on a task, within a token budget"),
    "list": _own("list", "list tasks"),
    "log": _own("log", "show what happened: sessions, findings, drift, handoffs and commits"),
    "search": _own("search", "find a text in the files of all tasks"),
    "status": _own("status", "show what needs a person, and what is at work"),
    "board": _own("board", "show the tasks in columns, with what each needs"),
    "next": _own("next", "show which task and feature to work on next, and why"),
    "session": _own("session", "add, list and show sessions of work"),
    "feature": _own("feature", "add features to the checklist, and record whether they pass"),
    "phase": _own("phase", "manage the phases of a task and their objectives"),
    "handoff": _own("handoff", "hand a phase over to another agent; show and accept handoffs"),
    "criterion": _own("criterion", "add, check and uncheck acceptance criteria"),
    "role": _own("role", "show the roles of a task; begin, block, finish and reopen them"),
    "snapshot": _own("snapshot", "take snapshots of the working tree; compare and restore them, accept drift"),
    "purge": _own("purge", "delete the artifacts of a task and its snapshot data"),
    "context": _own("context", "seal the context of a task; show, check and export it, count its tokens"),
    "qa": _own("qa", "record the results of checks, and compare them with the baseline"),
    "trust": _own("trust", "show the commands that the repository wants run, and allow them"),
    "evidence": _own("evidence", "record excerpts of files as evidence, and show whether they still match"),
    "git-history": _own("git_history", "list the commits of a task in its Git History"),
    "archive": _own("archive", "move older sessions to the archive; verify, restore and search it"),
    "chain": _own("chain", "show the output of a task, and pull the outputs of upstream tasks"),
    "graph": _own("graph", "draw the dependency graph of the tasks"),
    "permanent": _own("permanent", "the shared context of all agents: update, decide, notify, confirm, recover"),
    "impact": _own(
        "impact", "keep the Impact Map of the permanent task, and check claims of affected files against it"
    ),
    "complete": _own("complete", "complete a task, or list what is missing"),
    "drop": _own("drop", "give a task up"),
    "reopen": _own("reopen", "reopen a task that is complete or dropped"),
    "decompose": _own("decompose", "suggest subtasks for a task that has grown too long, or create them"),
    "lint": _own("lint", "check state files, and fix problems"),
    "fmt": _own("fmt", "format state files"),
    "migrate": _own("migrate", "turn files of older forms into the present one"),
    "protocol": _own("protocol", "print the protocol for a session of work"),
    "rule": _own("rule", "explain a lint rule, or list all rules"),
    "doctor": _own("doctor", "check the set-up and repair it; reseal or renumber a task"),
}


def operations_of(command: str, commands: Mapping[str, Command] = COMMANDS) -> tuple[Operation, ...]:
    """Return the operations of a command; it has one, or one for each of its actions."""
    found: tuple[Operation, ...] = import_module(commands[command].module).OPERATIONS
    return found


def operation(name: str) -> Operation:
    """Return the operation with that name, such as `session add`."""
    return next(each for each in operations_of(name.split(" ", 1)[0]) if each.name == name)

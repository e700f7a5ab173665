"""Lists the operations: each command with the module that holds its operations, and what it is for.

To offer a job at every door, add its module, a row to its group, and two lines to `templates/examples.txt`. Nothing is
imported until it is asked for: a start of the command line loads one module.
"""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.operations.operation import Operation


class Command(NamedTuple):
    """A command: the module that holds its operations, what it is for, in one line, and its group in the help."""

    module: str
    summary: str
    group: str


# What somebody new needs comes first; then by what one wants to do. The help shows the groups in this order.
_BY_GROUP: Mapping[str, Mapping[str, str]] = {
    "begin here": {
        "new": "create a task",
        "start": "begin a turn: refuse if something is in the way, else print the brief",
        "finish": "end a turn: record the session, run the checks, say what comes next",
        "status": "show what needs a person, and what is at work",
    },
    "look": {
        "board": "show the tasks in columns, with what each needs",
        "log": "show what happened: sessions, findings, drift, handoffs and commits",
        "show": "show a task, or one section of it",
        "list": "list tasks",
        "next": "show which task and feature to work on next, and why",
        "search": "find a text in the files of all tasks",
        "query": "answer questions over all tasks, ready-made or in SQL",
        "fleet": "lint many repositories, and make an index of them for questions",
        "graph": "draw the dependency graph of the tasks",
        "brief": "print what an agent reads first, cut to a number of tokens",
        "report": "report what a branch changes in the tasks, for a pull request; or all tasks, as one HTML file",
    },
    "single steps of a turn": {
        "session": "add, list, show and restore sessions",
        "feature": "add features to the checklist, and record whether they pass",
        "criterion": "add, check and uncheck acceptance criteria",
        "role": "show the roles of a task; begin, block, finish and reopen them",
        "snapshot": "take snapshots of the working tree; compare and restore them, accept drift",
        "qa": "record the results of checks, and compare them with the baseline",
        "evidence": "record excerpts of files as evidence, and show whether they still match",
        "phase": "manage the phases of a task and their objectives",
        "handoff": "write, show and accept the page for the next agent",
        "autosave": "show and discard drafts of work that no agent recorded",
        "protocol": "print the steps that an agent follows in a session",
    },
    "decide on a task": {
        "edit": "change title, description, priority, area or dependencies; block a task",
        "complete": "complete a task, or list what is missing",
        "drop": "give a task up",
        "reopen": "reopen a task that is complete or dropped",
        "decompose": "suggest subtasks for a task that has grown too long, or create them",
    },
    "share context": {
        "permanent": "update, show and confirm the one document that all agents share",
        "impact": "keep a map of the code's modules, and check which ones a change affects",
        "chain": "write the output of a task, and copy outputs to the tasks that build on them",
        "context": "seal the context of a task; show, check and export it, count its tokens",
    },
    "keep files in order": {
        "lint": "check state files, and fix problems",
        "fmt": "format state files",
        "doctor": "check and repair the set-up, bring back lost work; reseal or renumber a task",
        "archive": "move older sessions to the archive; verify, restore and search it",
        "purge": "delete the artifacts of a task: logs and snapshot data",
        "export": "write tasks in the form of another system",
        "import": "bring the tasks of another system here",
        "migrate": "convert files from older formats",
        "git-history": "write the commits of a task into its Git History",
        "rule": "explain a lint rule, or list all rules",
    },
    "set up": {
        "trust": "show the commands that the repository names, and allow them to run",
    },
}
COMMANDS: Mapping[str, Command] = {
    name: Command(f"taskstate.operations.{name.replace('-', '_')}{'_' * iskeyword(name)}", summary, group)
    for group, rows in _BY_GROUP.items()
    for name, summary in rows.items()
}


def by_group(commands: Mapping[str, Command]) -> dict[str, dict[str, Command]]:
    """Return commands in the groups of the help."""
    groups: dict[str, dict[str, Command]] = {}
    for name, command in commands.items():
        groups.setdefault(command.group, {})[name] = command
    return groups


def operations_of(command: str, commands: Mapping[str, Command] = COMMANDS) -> tuple[Operation, ...]:
    """Return the operations of a command; it has one, or one for each of its actions."""
    found: tuple[Operation, ...] = import_module(commands[command].module).OPERATIONS
    return found


def called(words: Sequence[str], operations: Sequence[Operation]) -> Operation | None:
    """Return the operation whose name a command line begins with, the longest if there are several."""
    fitting = [each for each in operations if [*words[: len(each.name.split())]] == each.name.split()]
    return max(fitting, key=lambda each: len(each.name), default=None)


def operation(name: str) -> Operation:
    """Return the operation with that name, such as `session add`."""
    return next(each for each in operations_of(name.split(" ", 1)[0]) if each.name == name)

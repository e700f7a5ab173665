"""The tools: which command each of them calls with which fields, and the JSON Schema of those.

The types come from the command's own parser, so a field means the same as the flag of that name.
"""

from __future__ import annotations

from taskstate.cli.main import parser_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

    from taskstate.cli.arguments import Parser

DO, PAGE, REVISION = "do", "page", "expect_revision"
TEXT: Mapping[str, Any] = {"type": "string"}
_NUMBER, _FLAG = {"type": "integer"}, {"type": "boolean"}


class Command(NamedTuple):
    """A command that a tool calls, and the fields that it takes; `<name>` is a positional argument.

    Its words are the command, its action, and a word that comes before the other positional arguments.
    """

    words: tuple[str, ...]
    fields: tuple[str, ...]


class Tool(NamedTuple):
    """A tool: its commands by the value of `do`, or a single one under an empty name."""

    name: str
    summary: str
    commands: Mapping[str, Command]
    reads: bool = False
    idempotent: bool = False


def _writing(words: str, fields: str) -> Command:
    return Command(tuple(words.split()), (*fields.split(), REVISION))


def _reading(words: str, fields: str = "") -> Command:
    return Command(tuple(words.split()), (*fields.split(), PAGE))


_SESSION = "did issue state next commit verified"

TOOLS = (
    Tool(
        "start",
        "Begin a turn on a task; returns what to read first.",
        {"": _writing("start", "<id> role agent take_over accept_stale accept_drift")},
    ),
    Tool(
        "finish",
        "End the turn: records the session (did, state, next), runs the trusted checks.",
        {
            "": _writing(
                "finish",
                f"<id> {_SESSION} pass check evidence waive note pause abandon complete output send_back finding keep "
                "answer",
            )
        },
    ),
    Tool("brief", "Read the briefing of a task.", {"": _reading("brief", "<id> role budget")}, reads=True),
    Tool(
        "session",
        "Add (did, state, next), list or show sessions of work.",
        {
            "add": _writing("session add", f"<id> {_SESSION} agent"),
            "list": _reading("session list", "<id>"),
            "show": _reading("session show", "<id> <number>"),
        },
    ),
    Tool(
        "feature",
        "Add a feature (text); record that it passes or fails.",
        {
            "add": _writing("feature add", "<id> <feature> <text>"),
            "pass": _writing("feature pass", "<id> <feature> evidence commit"),
            "fail": _writing("feature fail", "<id> <feature> evidence"),
        },
    ),
    Tool(
        "phase",
        "Phases: add (name), set an objective's status, extend (text), tried (approach, result).",
        {
            "show": _reading("phase show", "<id> <phase>"),
            "add": _writing("phase add", "<id> <phase> name"),
            "set": _writing("phase set", "<id> <phase> <objective> status note"),
            "extend": _writing("phase extend", "<id> <phase> <text>"),
            "tried": _writing("phase tried", "<id> <phase> approach result"),
        },
    ),
    Tool(
        "handoff",
        "Hand a phase over: new (action, file, location, goal), or read and accept.",
        {
            "show": _reading("handoff show", "<id>"),
            "new": _writing(
                "handoff new",
                "<id> phase action file location goal decision avoid context ref draft",
            ),
            "accept": _writing("handoff accept", "<id> agent"),
            "list": _reading("handoff list", "<id>"),
            "successor": _reading("handoff successor", "<id>"),
        },
    ),
    Tool(
        "chain",
        "Output of a task: read, set a part (from: its text); inputs from upstream tasks: pull, status.",
        {
            "output": _reading("chain output", "<id> part"),
            "set": _writing("chain output set", "<id> <part> from"),
            "pull": _writing("chain pull", "<id>"),
            "status": _reading("chain status", "<id>"),
        },
    ),
    Tool(
        "role",
        "Roles of a task: show, set, block (finding), unblock, reopen (note).",
        {
            "show": _reading("role show", "<id>"),
            "set": _writing("role set", "<id> <role> status"),
            "block": _writing("role block", "<id> <role> finding"),
            "unblock": _writing("role unblock", "<id> <role> finding"),
            "reopen": _writing("role reopen", "<id> <role> note"),
        },
    ),
    Tool(
        "permanent",
        "The context that all agents share: status, changes since a version, ack, recover, "
        "update a section (from: text), decide.",
        {
            "status": _reading("permanent status"),
            "notify": _reading("permanent notify", "since agent"),
            "ack": _writing("permanent ack", "agent version"),
            "recover": _writing("permanent recover", "agent"),
            "update": _writing("permanent update", "section from drop note"),
            "decide": _writing("permanent decide", "title decision rationale accept supersedes"),
        },
    ),
    Tool(
        "lint",
        "Check the state files; fix applies safe fixes.",
        {"": _reading("lint", "<paths> fix")},
        idempotent=True,
    ),
    Tool(
        "search",
        "Find work: next, list, show a task or section, text in all files.",
        {
            "next": _reading("next"),
            "list": _reading("list", "status ready"),
            "show": _reading("show", "<id> section"),
            "text": _reading("search", "<text> task"),
        },
        reads=True,
    ),
)


def schema_of(tool: Tool) -> dict[str, Any]:
    """Return the JSON Schema of a tool's fields."""
    properties: dict[str, Any] = {}
    if "" not in tool.commands:
        properties[DO] = {"enum": [*tool.commands]}
    required = [{name for name, field in fields_of(each).items() if field.required} for each in tool.commands.values()]
    for command in tool.commands.values():
        for name, field in fields_of(command).items():
            properties.setdefault(name, field.schema)
    needed = [name for name in properties if name == DO or all(name in each for each in required)]
    return {"type": "object", "properties": properties, **({"required": needed} if needed else {})}


class Field(NamedTuple):
    """A field of a command: its JSON Schema, whether it must be given, and whether it is a positional argument."""

    schema: Mapping[str, Any]
    required: bool
    positional: bool = False


def fields_of(command: Command) -> dict[str, Field]:
    """Return the fields of a command by their names."""
    arguments = _parser(command).named_arguments()
    fields = {}
    for name in command.fields:
        argument = arguments.get(name)
        if name == PAGE:
            fields[name] = Field(_NUMBER, required=False)
        elif name.startswith("<"):
            fields[name.strip("<>")] = _positional(argument)
        elif argument is None:
            raise LookupError(f"{' '.join(command.words)} has no --{name}")  # a fault in TOOLS
        else:
            fields[name] = Field(_schema(argument), argument.required)
    return fields


def _parser(command: Command) -> Parser:
    parser = parser_of(command.words[0])
    return parser.action_parser(command.words[1]) if len(command.words) > 1 else parser


def _positional(argument: argparse.Action | None) -> Field:
    """Return the field of a positional argument; a command may have one for several fields, which then are texts."""
    if argument is None:
        return Field(TEXT, required=True, positional=True)
    return Field(_schema(argument), required=argument.nargs not in ("?", "*"), positional=True)


def _schema(argument: argparse.Action) -> Mapping[str, Any]:
    """Return the JSON Schema of the values of an argument."""
    if argument.nargs == 0:
        return _FLAG
    one: Mapping[str, Any] = TEXT
    if argument.choices:
        one = {"enum": [*argument.choices]}
    elif argument.type is int or (isinstance(argument.default, list) and argument.metavar == "N"):
        one = _NUMBER
    is_list = isinstance(argument.default, list) or argument.nargs in ("*", "+")
    return {"type": "array", "items": one} if is_list else one

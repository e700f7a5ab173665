"""The tools: which operations each of them offers, and the JSON Schema of their fields.

A tool has all fields of an operation but for those that an agent does not need: each field costs every client tokens.
"""

from __future__ import annotations

from taskstate.operations.index import operation
from taskstate.operations.operation import Field, is_required
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from taskstate.operations.operation import Operation

DO, PAGE, REVISION = "do", "page", "expect_revision"
_PAGE = Field("page of a long answer", name=PAGE, kind="int")
_REVISION = Field("revision that the file must have", name=REVISION)
_TYPES = {"int": "integer", "float": "number", "bool": "boolean"}
_NUMBERED = {"ID", "P", "V"}  # the examples of fields for which models give numbers: some clients check before a call


class Offered(NamedTuple):
    """An operation that a tool offers: its name, and the fields that it leaves out, or the only ones that it takes.

    A list named by `single` is offered as one value, called `id`. A long answer `is_paged`.
    """

    name: str
    without: str = ""
    only: str = ""
    single: str = ""
    is_paged: bool = False

    @property
    def operation(self) -> Operation:
        """The operation."""
        return operation(self.name)


class Tool(NamedTuple):
    """A tool: its operations by the value of `do`, or a single one under an empty name."""

    name: str
    summary: str
    operations: Mapping[str, Offered]
    reads: bool = False
    idempotent: bool = False


TOOLS = (
    Tool("start", "Begin a turn.", {"": Offered("start", without="budget qa_log expect_tree")}),
    Tool(
        "finish",
        "End the turn: did, state, next; trusted checks.",
        {"": Offered("finish", without="from from_autosave qa_log")},
    ),
    Tool("brief", "Brief of a task.", {"": Offered("brief")}, reads=True),
    Tool(
        "session",
        "Sessions; add: did, state, next.",
        {
            "add": Offered("session add", without="from"),
            "list": Offered("session list"),
            "show": Offered("session show"),
        },
    ),
    Tool(
        "feature",
        "Features and criteria; edit: blocked (why).",
        {
            "add": Offered("feature add"),
            "pass": Offered("feature pass", without="run timeout"),  # only a person says what is run
            "fail": Offered("feature fail"),
            "criterion": Offered("criterion add"),
            "edit": Offered("edit", only="id blocked unblocked"),  # what a task is a person decides
        },
    ),
    Tool(
        "phase",
        "Phases; extend: text.",
        {
            "show": Offered("phase show"),
            "add": Offered("phase add", without="objective"),
            "set": Offered("phase set"),
            "extend": Offered("phase extend"),
            "tried": Offered("phase tried"),
        },
    ),
    Tool(
        "handoff",
        "Hand a phase over, or accept.",
        {
            "show": Offered("handoff show"),
            "new": Offered("handoff new", without="do_not_reread from force"),
            "accept": Offered("handoff accept"),
            "list": Offered("handoff list"),
            "successor": Offered("handoff successor"),
        },
    ),
    Tool(
        "chain",
        "Output of a task; set: from (text). Its inputs: pull, status.",
        {
            "output": Offered("chain output", without="code"),
            "set": Offered("chain output set"),
            "pull": Offered("chain pull", without="all from", single="ids"),
            "status": Offered("chain status", single="ids"),
        },
    ),
    Tool(
        "role",
        "Roles; block: finding; reopen: note.",
        {
            "show": Offered("role show"),
            "set": Offered("role set", without="qa_log session_id"),
            "block": Offered("role block"),
            "unblock": Offered("role unblock", without="all"),
            "reopen": Offered("role reopen", without="expect_tree"),
        },
    ),
    Tool(
        "permanent",
        "Context of all agents; update: from (text).",
        {
            "status": Offered("permanent status", without="id"),
            "notify": Offered("permanent notify", without="id lost"),
            "ack": Offered("permanent ack", without="id"),
            "recover": Offered("permanent recover"),
            "update": Offered("permanent update", without="id level merge"),
            "decide": Offered("permanent decide", without="id accepted reject"),
        },
    ),
    Tool(
        "lint",
        "Check state files; fix: safe fixes.",
        {"": Offered("lint", only="paths fix", is_paged=True)},
        idempotent=True,
    ),
    Tool(
        "search",
        "Find work; show a task or section; text in all files.",
        {
            "next": Offered("next", without="count"),
            "list": Offered("list", without="area blocked waived"),
            "show": Offered("show"),
            "text": Offered("search"),
        },
        reads=True,
    ),
)


def schema_of(tool: Tool, find: Callable[[str], Operation] = operation) -> dict[str, Any]:
    """Return the JSON Schema of a tool's fields; `find` returns the operation with a name."""
    properties: dict[str, Any] = {}
    if "" not in tool.operations:
        properties[DO] = {"enum": [*tool.operations]}
    fields = [fields_of(each, find(each.name)) for each in tool.operations.values()]
    for each in fields:
        for name, field in each.items():
            properties.setdefault(name, type_of(field))
    required = [{name for name, field in each.items() if is_required(field)} for each in fields]
    needed = [name for name in properties if name == DO or all(name in each for each in required)]
    return {"type": "object", "properties": properties, **({"required": needed} if needed else {})}


def fields_of(offered: Offered, operation: Operation) -> dict[str, Field]:
    """Return the fields of its operation that a tool offers, by their names, and with them the page or the revision."""
    fields = {field.external: field for field in operation.fields}
    chosen = offered.only.split() or [name for name in fields if name not in offered.without.split()]
    found = {name: fields[name] for name in chosen}
    if offered.single:
        one = found.pop(offered.single)._replace(flag="id", is_list=False)
        found = {"id": one, **found}
    last = _REVISION if operation.writes and not offered.is_paged else _PAGE
    return {**found, last.name: last}


def type_of(field: Field) -> Mapping[str, Any]:
    """Return the JSON Schema of the values of a field."""
    one: Mapping[str, Any] = {"type": _TYPES.get(field.kind, "string")}
    if field.example in _NUMBERED and field.kind != "Text":
        one = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    if field.choices:
        one = {"enum": [*field.choices]}
    return {"type": "array", "items": one} if field.is_list else one

"""The table of operations: whole, of known kinds, and offered by each door or left out for a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.mcp_server.tools import TOOLS
from taskstate.operations.arguments import make
from taskstate.operations.index import COMMANDS, operation, operations_of
from taskstate.operations.operation import default_of, is_required
from tests.support.command_line import COMMANDS as OF_THE_COMMAND_LINE

if TYPE_CHECKING:
    from taskstate.operations.operation import Field, Operation

KINDS = {"str", "int", "float", "bool", "Text", "TaskId", "Name", "Line", "Source", "FilePath"}
ALL = [each for command in COMMANDS for each in operations_of(command)]
# What the tools of MCP leave out, by the first words of the operation's name, and why. Each tool costs every client.
NOT_OF_MCP = {
    "new": "a person decides which tasks there are",
    "drop": "a person gives a task up",
    "reopen": "a person reopens it",
    "complete": "`finish` completes a task at the end of a turn",
    "criterion check": "`finish` checks criteria",
    "criterion uncheck": "`finish` checks criteria",
    "status": "for people; `brief` and `search` tell an agent",
    "log": "for people; `brief` and `session list` tell an agent",
    "graph": "for people",
    "query": "for people and for other programs",
    "fleet": "for who runs many repositories",
    "report": "for people, on a pull request",
    "board": "for people",
    "protocol": "a prompt",
    "autosave": "for people; hooks give an agent what is kept of its session, and `finish` takes it over",
    "rule": "a finding says what to do",
    "fmt": "`lint` fixes",
    "migrate": "once in the life of a repository",
    "import": "a person decides which tasks there are",
    "export": "for other programs",
    "doctor": "repairs are for a person, who sees what they take",
    "trust": "only a person says what may run",
    "purge": "deletes",
    "archive": "happens by itself",
    "evidence": "for a person's review",
    "git-history": "for a person's review",
    "context": "`start` seals",
    "qa": "`finish` runs the checks",
    "snapshot": "`start` and `finish` take and compare",
    "impact": "the permanent task's keeper works at the command line",
    "decompose": "a lead divides a task",
    "session restore": "a person decides what comes back",
    "phase export": "for other programs",
    "permanent close": "a person ends it",
    "permanent import": "once in the life of a repository",
}


def test_every_operation_is_whole() -> None:
    """It belongs to its command, says what it does, and each field has its help, a known kind and a name of its own."""
    for each in ALL:
        _require_whole(each)


def _require_whole(each: Operation) -> None:
    assert each.name.split()[0] in COMMANDS
    assert each.summary
    assert each.about.endswith(".")
    names = [field.external for field in each.fields]
    assert len(names) == len(set(names))
    for field in each.fields:
        assert field.kind in KINDS, field
        assert field.help, field
        assert field.example or field.choices or field.kind == "bool", field
        assert not field.choices or default_of(field) in {*field.choices, "", (), None}, field
    known = {f"--{name.replace('_', '-')}" for name in names}
    rules = (*each.apart, each.one_of, *((flag, needed) for flag, needed, _ in each.together))
    assert {flag for rule in rules for flag in rule} <= known
    assert all(flag in each.about for flag in each.one_of), "the help does not say what is needed"


def test_a_command_of_one_operation_says_once_what_it_is_for() -> None:
    """The index, which imports no operation, has the same words as the operation."""
    for name, command in OF_THE_COMMAND_LINE.items():
        own = operations_of(name, OF_THE_COMMAND_LINE)
        assert len(own) > 1 or own[0].summary == command.summary or own[0].name != name


def _given(field: Field) -> object:
    one = {"int": 1, "float": 1.0, "bool": True}.get(field.kind, field.choices[0] if field.choices else "x")
    return [one] if field.is_list else one


def test_the_record_of_arguments_is_made_whole() -> None:
    """Given only what it cannot do without, every field has a value of its own kind, and no field is left declared."""
    for each in ALL:
        _require_made(each)


def _require_made(each: Operation) -> None:
    given = {field.external: _given(field) for field in each.fields if is_required(field)}
    if each.one_of:
        field = next(field for field in each.fields if f"--{field.external}" == each.one_of[0])
        given[field.external] = _given(field)
    record = make(each, given, lambda _, value: value)
    declared = {field.group or field.name: field for field in each.fields}
    assert record._fields == tuple(declared)
    for name, field in declared.items():
        value = getattr(record, name)
        assert isinstance(value, dict) is bool(field.group)
        assert not hasattr(value, "is_positional"), f"{name} is still the declaration"


def test_fields_that_do_not_go_together_are_refused() -> None:
    """The table says so for every door alike: apart, one of them, together."""

    def refusal(name: str, **given: object) -> str:
        with pytest.raises(TaskstateError) as refused:
            make(operation(name), given, lambda _, value: value)
        assert refused.value.code == "usage"
        return str(refused.value)

    assert refusal("list", ready=True, blocked=True).startswith("--ready does not go with --blocked")
    proof = {"id": "1", "feature": "f"}
    assert "one of --evidence, --run, --commit is missing" in refusal("feature pass", **proof)
    assert "--evidence does not go with --run" in refusal("feature pass", **proof, evidence="x", run="y")
    assert refusal("finish", id="1", waive=["test"]) == '--waive needs --note: say why: --note "WHY"'
    assert refusal("drop", id="1", note="WHY") == "--note 'WHY' is a placeholder: put your own words in its place"
    assert "is a placeholder" in refusal("finish", id="1", answer=["1=WHAT WAS DONE"])
    assert refusal("start", id="1", agent="") == "--agent is empty: say which one, or leave the flag out"
    assert refusal("finish", id="1", check=["x"]) == "--check x is not a number: they are counted from 1"


def test_every_door_offers_an_operation_or_says_why_not() -> None:
    """The command line has all of them; what MCP leaves out has its reason, and no reason stands for what it offers."""
    assert COMMANDS.keys() <= OF_THE_COMMAND_LINE.keys()
    offered = {each.name for tool in TOOLS for each in tool.operations.values()}
    left_out = {each.name for each in ALL} - offered
    without_reason = {name for name in left_out if not any(f"{name} ".startswith(f"{row} ") for row in NOT_OF_MCP)}
    assert without_reason == set()
    idle = {row for row in NOT_OF_MCP if any(f"{name} ".startswith(f"{row} ") for name in offered)}
    assert idle | {row for row in NOT_OF_MCP if not any(f"{n} ".startswith(f"{row} ") for n in left_out)} == set()

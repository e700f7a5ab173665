from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.handoff.token_count import count, counter
from taskstate.mcp_server.server import INSTRUCTIONS, tool_definitions
from taskstate.mcp_server.tools import DO, TOOLS, Tool, fields_of, schema_of, type_of
from tests.mcp_server.conftest import MODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp import Client

    from tests.mcp_server.conftest import Agent

MOST_TOOLS, MOST_TOKENS = 12, 2_000


def test_definitions_and_instructions_are_small() -> None:
    """They cost every agent that connects: twelve tools at most, and under 2,000 tokens with the instructions."""
    definitions = [each.model_dump(by_alias=True, exclude_none=True, mode="json") for each in tool_definitions()]
    assert counter().is_exact
    assert len(definitions) == len(TOOLS) <= MOST_TOOLS
    assert count(json.dumps(definitions, separators=(",", ":"))) + count(INSTRUCTIONS) < MOST_TOKENS


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_field_has_one_type_in_a_tool(tool: Tool) -> None:
    """What the operations of a tool call alike is of one type, so that the schema holds for all of them."""
    properties = schema_of(tool)["properties"]
    for offered in tool.operations.values():
        for name, field in fields_of(offered, offered.operation).items():
            assert properties[name] == type_of(field), (offered, name)
    assert (DO in properties) == ("" not in tool.operations)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_is_portable(tool: Tool) -> None:
    """No value may be anything, and no type is a list: some clients know one type alone, or warn the person."""

    def require_portable(schema: Mapping[str, Any]) -> None:
        assert {"type", "enum", "anyOf"} & {*schema}, schema
        assert isinstance(schema.get("type", ""), str), schema
        parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *filter(None, [schema.get("items")])]
        assert (schema.get("type") == "array") <= ("items" in schema), schema
        for part in parts:
            require_portable(part)

    require_portable(schema_of(tool))


@pytest.mark.parametrize("mode", MODES)
def test_clients_of_both_protocols_see_the_tools(agent: Agent, mode: str) -> None:
    """Each tool has types and all hints; only tools that change nothing say that they read, and none leaves here."""

    async def say(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [*tools] == [tool.name for tool in TOOLS]
        assert client.instructions == INSTRUCTIONS
        reading = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
        assert reading == {"brief", "search"}
        idempotent = {name for name, tool in tools.items() if tool.annotations and tool.annotations.idempotent_hint}
        assert idempotent == reading | {"lint"}
        for tool in tools.values():
            hints = tool.annotations.model_dump(exclude={"title"}) if tool.annotations else {}
            assert None not in hints.values()
            assert (hints["destructive_hint"], hints["open_world_hint"]) == (False, False)
            assert tool.input_schema["properties"]
            assert tool.output_schema is None
        either = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
        assert tools["brief"].input_schema["properties"]["id"] == either
        assert tools["permanent"].input_schema["properties"]["version"] == either
        assert tools["session"].input_schema["properties"]["did"] == {"type": "array", "items": {"type": "string"}}

    agent.talk(say, mode=mode)

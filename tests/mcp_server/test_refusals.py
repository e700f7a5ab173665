from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp import MCPError

from taskstate.mcp_server.arguments import read_call
from taskstate.mcp_server.tools import TOOLS
from tests.mcp_server.conftest import texts
from tests.support.place import tree

if TYPE_CHECKING:
    from mcp import Client

    from tests.mcp_server.conftest import Agent
    from tests.support.place import Place

_WORDS = {"did": ["x"], "state": "x", "next": ["x"]}
# A tool, its fields, the code of the refusal, and words of its message or cure.
REFUSED: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("nothing", {}, "usage", "there is no tool 'nothing': it is one of start"),
    ("brief", {}, "usage", "brief: id is missing"),
    ("brief", {"id": 101.0}, "usage", "id is of the wrong type: give a text"),
    ("brief", {"id": True}, "usage", "give a text"),
    ("brief", {"id": 10**5000}, "usage", "give a text"),
    ("brief", {"id": -101}, "bad-id", "names no task"),
    ("session", {"do": "show", "id": "101", "number": "01"}, "usage", "give a whole number"),
    ("session", {"do": "show", "id": "101", "number": "1.0"}, "usage", "give a whole number"),
    ("session", {"do": "show", "id": "101", "number": 1.0}, "usage", "give a whole number"),
    ("session", {"do": "show", "id": "101", "number": " 1"}, "usage", "give a whole number"),
    ("lint", {"fix": "yes"}, "usage", "give true or false"),
    ("lint", {"fix": 1}, "usage", "give true or false"),
    ("brief", {"id": ["101"]}, "usage", "give a text"),
    ("brief", {"id": "101", "budget": "many"}, "usage", "give a whole number"),
    ("brief", {"id": "101", "budget": True}, "usage", "give a whole number"),
    ("brief", {"id": "101", "budget": 0}, "usage", "--budget 0 is not a budget"),
    ("brief", {"id": "101", "page": 0}, "usage", "counted from 1"),
    ("brief", {"id": "101", "page": 10**5000}, "usage", "give a whole number"),
    ("brief", {"id": "101", "page": 9}, "usage", "there is no page 9"),
    ("brief", {"id": "101", "colour": "red"}, "usage", "brief takes no 'colour'"),
    ("brief", {"id": "101", "role": "king"}, "usage", "there is no role"),
    ("brief", {"id": "999"}, "not-found", "there is no task 999"),
    ("brief", {"id": ""}, "bad-id", "names no task"),
    ("brief", {"id": "../101"}, "path", "is a path"),
    ("brief", {"id": "/etc/task-101-state.md"}, "path", "is a path"),
    ("brief", {"id": "C:\\task-101-state.md"}, "path", "is a path"),
    ("brief", {"id": "10\u00001"}, "usage", "null character"),
    ("brief", {"id": "--help"}, "bad-id", "names no task"),
    ("search", {}, "usage", "do is missing"),
    ("search", {"do": "fly"}, "usage", "give one of next, list, show, text"),
    ("search", {"do": ["next"]}, "usage", "give one of"),
    ("search", {"do": "next", "id": "101"}, "usage", "search next takes no 'id'"),
    ("search", {"do": "list", "status": "odd"}, "usage", "give one of"),
    ("search", {"do": "text", "text": " "}, "usage", "the text is empty"),
    ("search", {"do": "text", "text": "x", "task": "../1"}, "path", "is a path"),
    ("search", {"do": "text", "text": "x", "task": "999"}, "not-found", "there is no task 999"),
    ("session", {"do": "add", "id": "101", **_WORDS, "did": '["x", "y"]'}, "usage", "give a list"),
    ("session", {"do": "add", "id": "101", **_WORDS, "did": {"x": 1}}, "usage", "give a list"),
    ("session", {"do": "add", "id": "101", **_WORDS, "did": [["x"]]}, "usage", "an entry of session add: did"),
    ("session", {"do": "add", "id": "101", **_WORDS, "did": [1.5]}, "usage", "an entry of session add: did"),
    ("session", {"do": "add", "id": "101", "did": ["x"]}, "usage", "--state is missing"),
    ("session", {"do": "add", "id": "101", **_WORDS, "expect_revision": "1-00000000"}, "revision", "not 1-00000000"),
    ("session", {"do": "add", "id": "101", **_WORDS, "expect_revision": ""}, "usage", "expect_revision is empty"),
    ("session", {"do": "show", "id": "101", "number": 7}, "not-found", "7"),
    ("session", {"do": "show", "id": "101"}, "usage", "number is missing"),
    ("feature", {"do": "pass", "id": "101", "feature": "nope", "evidence": "x"}, "not-found", "nope"),
    ("feature", {"do": "pass", "id": "101", "feature": "jwt-1", "run": "touch x"}, "usage", "takes no 'run'"),
    ("feature", {"do": "pass", "id": "101", "feature": "jwt-1"}, "usage", "--evidence"),
    ("handoff", {"do": "new", "id": "101", "from": "/etc/passwd"}, "usage", "takes no 'from'"),
    ("chain", {"do": "set", "id": "101", "part": "summary"}, "usage", "from is missing"),
    ("finish", {"id": "101", **_WORDS, "pause": "yes"}, "usage", "give true or false"),
    ("finish", {"id": "101", "pause": True, "complete": True}, "usage", "does not go with"),
    ("role", {"do": "set", "id": "101", "role": "implementer", "status": "great"}, "usage", "give one of"),
    ("permanent", {"do": "status"}, "no-permanent", ""),
    ("lint", {"paths": ["/etc"]}, "path-escapes", "inside the repository"),
    ("lint", {"paths": ["../other"]}, "path-escapes", "inside the repository"),
    ("lint", {"paths": [".git/config"]}, "path-escapes", "git's own folder"),
    ("lint", {"paths": ["-"], "output_file": "x"}, "usage", "takes no 'output_file'"),
)


# A tool, fields as models also give them, and the same in the types of the operation.
TAKEN: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("brief", {"id": 101, "budget": "900"}, {"id": "101", "budget": 900}),
    ("brief", {"id": "101", "page": "1"}, {"id": "101", "page": 1}),
    ("search", {"do": "text", "text": 101, "task": 101}, {"do": "text", "text": "101", "task": "101"}),
    ("search", {"do": "list", "ready": "true"}, {"do": "list", "ready": True}),
    ("search", {"do": "list", "ready": "false"}, {"do": "list", "ready": False}),
    ("lint", {"paths": "."}, {"paths": ["."]}),
    ("feature", {"do": "criterion", "id": 101, "criteria": [5]}, {"do": "criterion", "id": "101", "criteria": ["5"]}),
    (
        "finish",
        {"id": 101, "did": "[x] done", "state": 5, "next": "y", "check": "2", "keep": [], "pass": 7},
        {"id": "101", "did": ["[x] done"], "state": "5", "next": ["y"], "check": [2], "keep": [], "pass": ["7"]},
    ),
    (
        "permanent",
        {"do": "ack", "agent": "ann", "version": 2, "expect_revision": 7},
        {"do": "ack", "agent": "ann", "version": "2", "expect_revision": "7"},
    ),
)


@pytest.mark.parametrize(("tool", "given", "strict"), TAKEN)
def test_what_can_mean_one_thing_only_is_taken(tool: str, given: dict[str, Any], strict: dict[str, Any]) -> None:
    """Numbers for texts of digits and the reverse, `"true"`, and a single text for a list are as if well given."""
    one = next(each for each in TOOLS if each.name == tool)
    before = copy.deepcopy(given)
    assert json.dumps(read_call(one, given)[1:]) == json.dumps(read_call(one, strict)[1:])
    assert given == before


def test_what_is_wrong_is_an_error_result(agent: Agent, place: Place) -> None:
    """Wrong fields, types, ids, revisions and paths: code, message and cure, nothing changed, and the server lives."""
    before = tree(place.root)
    failures = []

    async def say(client: Client) -> None:
        for tool, fields, code, words in REFUSED:
            result = await client.call_tool(tool, fields)
            said = result.structured_content or {}
            text = f"{said.get('message')}: {said.get('cure')}"
            if not result.is_error or said.get("code") != code or words not in text or not said.get("message"):
                failures.append((tool, fields, said))
        assert not (await client.call_tool("brief", {"id": "101"})).is_error

    agent.talk(say)
    assert not failures, failures
    assert tree(place.root) == before


def test_a_link_that_leads_out_is_not_followed(agent: Agent, place: Place) -> None:
    """A file to check lies in the repository, also after its links."""
    outside = place.root.parent / "task-7-state.md"
    outside.write_text("secret", encoding="utf-8")
    (place.root / "task-7-state.md").symlink_to(outside)
    assert agent.refusal("lint", paths=["task-7-state.md"])["code"] == "path-escapes"


def test_a_repository_that_is_not_set_up_is_refused(agent: Agent, place: Place) -> None:
    """A state folder that goes while the server runs is an error of each call."""
    state, gone = place.root / ".taskstate", place.root / "gone"

    async def say(client: Client) -> None:
        state.rename(gone)
        refused = await client.call_tool("brief", {"id": "101"})
        assert refused.structured_content["code"] == "not-set-up"
        gone.rename(state)
        assert not (await client.call_tool("brief", {"id": "101"})).is_error

    agent.talk(say)


def test_a_tasks_folder_that_cannot_be_listed_is_refused(agent: Agent, place: Place) -> None:
    """A link in its place is an error of each call that lists, and never an empty answer; no resource is behind it."""
    tasks, away = place.workspace.tasks, place.root.parent / "away"

    async def say(client: Client) -> None:
        tasks.rename(away)
        tasks.symlink_to(away)
        for tool, fields in (("search", {"do": "list"}), ("search", {"do": "next"}), ("brief", {"id": "101"})):
            refused = await client.call_tool(tool, fields)
            assert refused.structured_content["code"] == "is-link", tool
            assert "links are not followed" in refused.structured_content["cure"]
        with pytest.raises(MCPError, match="cannot list"):
            await client.list_resources()
        tasks.unlink()
        away.rename(tasks)
        assert not (await client.call_tool("search", {"do": "list"})).is_error

    agent.talk(say)


def test_a_wrong_configuration_is_refused(agent: Agent, place: Place) -> None:
    """A configuration that becomes wrong while the server runs is an error of each call, which names the file."""

    async def say(client: Client) -> None:
        place.configure("nope = 1\n")
        refused = await client.call_tool("brief", {"id": "101"})
        assert refused.structured_content["code"] == "config"
        assert "taskstate.toml" in refused.structured_content["message"]
        place.configure("")
        assert not (await client.call_tool("brief", {"id": "101"})).is_error

    agent.talk(say)


def test_only_trusted_commands_are_run(agent: Agent, place: Place) -> None:
    """The server runs what was trusted on a terminal; it has no tool that trusts, and says what a person does."""
    place.configure('[validation]\n"*" = ["touch ran"]\n')
    agent.answer("start", id="101")
    said = agent.call("finish", id="101", **_WORDS)
    assert "taskstate trust" in texts(said.content)
    assert not (place.root / "ran").exists()
    place.trust()
    agent.call("finish", id="101", **_WORDS)
    assert (place.root / "ran").exists()


def test_credentials_are_refused_and_masked(agent: Agent, place: Place) -> None:
    """What looks like a credential is not written, and the error does not repeat it."""
    before = tree(place.root)
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    said = agent.refusal("session", do="add", id="101", did=[f"used {secret}"], state="x", next=["x"])
    assert secret not in str(said)
    assert tree(place.root) == before

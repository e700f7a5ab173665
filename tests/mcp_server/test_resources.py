from __future__ import annotations

import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError

from taskstate.mcp_server import call
from taskstate.mcp_server.arguments import Place as Root
from taskstate.mcp_server.arguments import ToolCall
from taskstate.mcp_server.prompts import PROMPTS
from taskstate.operations.index import operation
from taskstate.operations.result import Result
from tests.mcp_server.conftest import MODES, texts

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.operations.call import Call
    from tests.mcp_server.conftest import Agent
    from tests.support.place import Place

URI = "taskstate://task/101"


def test_task_files_are_resources(agent: Agent, place: Place) -> None:
    """State file, sections, archive and handoff are listed and read by their addresses, as they stand in the files."""
    place.fill(1, 2, 3)
    place.archive()
    handoff = place.workspace.state_root / "handoffs/task-101/phase-1-handoff-20260131T120000Z.md"
    handoff.parent.mkdir(parents=True)
    handoff.write_text("# Handoff\n", encoding="utf-8")

    async def say(client: Client) -> dict[str, str]:
        listed = (await client.list_resources()).resources
        assert len((await client.list_resource_templates()).resource_templates) == 4
        return {each.uri: texts((await client.read_resource(each.uri)).contents) for each in listed}

    read = agent.talk(say)
    sections = [read.pop(uri) for uri in list(read) if "/section/" in uri]
    assert "".join(sections) == place.text[place.text.index("## 1.") :]
    assert read == {URI: place.text, f"{URI}/archive": place.archived, f"{URI}/handoff/{handoff.name}": "# Handoff\n"}


def test_the_sections_of_what_is_worked_on_are_listed(agent: Agent, place: Place) -> None:
    """For clients that read only what is listed: of ten open tasks at most, those in progress first; each once."""
    text = place.text.replace("## 5. Git History", "## 4. Progress Log")
    for number in range(102, 114):
        status = {102: "complete", 113: "in_progress"}.get(number, "created")
        other = text.replace('task_id: "101"', f'task_id: "{number}"').replace("status: created", f"status: {status}")
        place.path.with_name(f"task-{number}-state.md").write_text(other, encoding="utf-8")

    async def say(client: Client) -> list[str]:
        listed: list[types.Resource] = []
        cursor = None
        while not listed or cursor:
            page = await client.list_resources(cursor=cursor)
            listed, cursor = [*listed, *page.resources], page.next_cursor
        return [each.uri for each in listed]

    uris = agent.talk(say)
    assert len(uris) == len({*uris})
    assert f"{URI}/section/static%20context" in uris
    tasks = [int(uri.split("/")[3]) for uri in uris if uri.endswith("/section/progress%20log")]
    assert tasks == [101, *range(103, 111), 113]


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("taskstate://task/999", "not-found"),
        ("taskstate://task/101/section/nothing", "not-found"),
        ("taskstate://task/101/archive", "not-found"),
        ("taskstate://task/101/handoff/..%2f..%2ftaskstate.toml", "not-found"),
        ("taskstate://task/..%2f..%2fetc", "not-found"),
        ("taskstate://task/101/more/of/this", "not-found"),
        ("taskstate://other/101", "not-found"),
        ("taskstate://task/", "not-found"),
        ("file:///etc/passwd", "not-found"),
        ("taskstate://task/101?page=9", "usage"),
        ("taskstate://task/101?page=x", "usage"),
    ],
)
def test_other_addresses_are_refused(agent: Agent, uri: str, code: str) -> None:
    """An address that names nothing, or something outside, is an error with code and cure; the server lives on."""

    async def say(client: Client) -> Any:  # noqa: ANN401 - JSON
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        assert (await client.read_resource(URI)).contents
        return refused.value.error.data

    detail = agent.talk(say)
    assert detail["code"] == code
    assert detail["cure"]


def test_a_long_resource_has_pages(agent: Agent, place: Place) -> None:
    """A file of more than 100,000 characters comes in pages, which name the next one."""
    place.text += "x" * 150 + "\n" + ("y" * 99 + "\n") * 1_100

    async def say(client: Client) -> str:
        pages = [texts((await client.read_resource(f"{URI}?page={number}")).contents) for number in (1, 2)]
        assert all("(page " in each for each in pages)
        return "".join(each.partition("\n(page ")[0] for each in pages)

    assert agent.talk(say) == place.text


def test_changes_are_told_to_clients_of_today(agent: Agent, place: Place) -> None:
    """Who listens to a resource hears of a change that another program made; a new task changes the list."""

    async def say(client: Client) -> None:
        with anyio.fail_after(30):
            async with client.listen(resource_subscriptions=[URI], resources_list_changed=True) as events:
                await anyio.sleep(0.5)  # the watcher starts with the server
                place.text += "\nEdited.\n"
                assert getattr(await anext(events), "uri", "") == URI
                _new_task(place.path)
                async for event in events:
                    if type(event).__name__ == "ResourcesListChanged":
                        return

    agent.talk(say)


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_changes_are_told_to_earlier_clients(agent: Agent, place: Place) -> None:
    """A client of the earlier protocol hears of what it has subscribed to, and no more after it unsubscribes."""
    heard: list[str] = []
    updated, listed = anyio.Event(), anyio.Event()

    async def hear(message: object) -> None:
        await anyio.lowlevel.checkpoint()
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.append(str(message.params.uri))
            updated.set()
        if isinstance(message, types.ResourceListChangedNotification):
            listed.set()

    async def main() -> None:
        uri = f"{URI}/section/progress%20log"
        async with Client(agent.process, mode="legacy", message_handler=hear) as client:
            with anyio.fail_after(60):
                await client.subscribe_resource(uri)
                await anyio.sleep(0.5)  # the watcher starts with the server
                place.text += "\nEdited.\n"
                await updated.wait()
                assert set(heard) == {uri}
                await client.unsubscribe_resource(uri)
                heard.clear()
                _new_task(place.path)
                await listed.wait()
        assert uri not in heard

    anyio.run(main)


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_subscriptions_have_a_bound(agent: Agent) -> None:
    """What a client subscribes to is kept, so there is an end to it: in number, in length, and of streams."""

    async def earlier(client: Client) -> None:
        for number in range(1_000):
            await client.subscribe_resource(f"{URI}?page=1&{number}")
        with pytest.raises(MCPError, match="at most 1000 addresses") as refused:
            await client.subscribe_resource(f"{URI}?page=1&more")
        assert refused.value.error.data["code"] == "too-many"
        await client.subscribe_resource(f"{URI}?page=1&1")  # which it has already
        await client.unsubscribe_resource(f"{URI}?page=1&1")
        await client.subscribe_resource(URI)

    async def today(client: Client) -> None:
        for many in ([URI] * 1_001, ["x" * 100_001]):
            with pytest.raises(MCPError, match="at most 1000 addresses"):
                async with client.listen(resource_subscriptions=many):
                    pass
        async with AsyncExitStack() as stack:
            for _ in range(100):
                await stack.enter_async_context(client.listen(resource_subscriptions=[URI]))
            with pytest.raises(MCPError, match="Subscription limit reached"):
                await stack.enter_async_context(client.listen(resource_subscriptions=[URI]))

    agent.talk(earlier, mode="legacy")
    agent.talk(today)


def _new_task(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace('task_id: "101"', 'task_id: "102"')
    path.with_name("task-102-state.md").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("mode", MODES)
def test_prompts_are_what_the_commands_print(agent: Agent, mode: str) -> None:
    """Protocol and reviewer speak of the task; a prompt that cannot be given is an error with its cure."""

    async def say(client: Client) -> None:
        assert [each.name for each in (await client.list_prompts()).prompts] == [each.name for each in PROMPTS]
        for name in ("protocol", "reviewer"):
            messages = (await client.get_prompt(name, {"id": "101"})).messages
            assert "101" in texts([each.content for each in messages])
        assert (await client.get_prompt("protocol")).messages
        for name, given in (("successor", {"id": "101"}), ("successor", {}), ("reviewer", {"id": "../1"}), ("x", {})):
            with pytest.raises(MCPError) as refused:
                await client.get_prompt(name, given)
            assert refused.value.error.data["cure"]

    agent.talk(say, mode=mode)


def test_no_answer_holds_hidden_text(agent: Agent, place: Place) -> None:
    """A model reads hidden text like any other: tools, resources, prompts and errors write it out."""
    hidden = "\U000e0041\u202e\u200b"
    place.path.write_text(
        place.text.replace("title: JWT Service", 'title: "JWT \\e[31m\\u202eService\\U000e0041"').replace(
            "Issue tokens.", f"Issue tokens.{hidden}\x1b[31m"
        ),
        encoding="utf-8",
    )
    calls = [
        ("search", {"do": "show", "id": "101"}),
        ("search", {"do": "list"}),
        ("search", {"do": "next"}),
        ("search", {"do": "text", "text": "tokens"}),
        ("brief", {"id": "101"}),
        ("lint", {}),
        ("feature", {"do": "fail", "id": "101", "feature": f"x{hidden}\x1b", "evidence": "y"}),
    ]

    async def say(client: Client) -> list[str]:
        results = [await client.call_tool(tool, fields) for tool, fields in calls]
        said = [f"{texts(each.content)} {json.dumps(each.structured_content, ensure_ascii=False)}" for each in results]
        said += [texts((await client.read_resource(uri)).contents) for uri in (URI, f"{URI}/section/static%20context")]
        for uri in (f"{URI}/section/{hidden}\x1b", f"taskstate://task/{hidden}"):
            with pytest.raises(MCPError) as refusal:
                await client.read_resource(uri)
            said.append(f"{refusal.value} {json.dumps(refusal.value.error.data, ensure_ascii=False)}")
        return said

    said = agent.talk(say)
    assert "\\U000e0041" in said[0]
    assert [each for each in said if set(each) & {*hidden, "\x1b"}] == []


def test_no_note_and_no_answer_holds_a_credential(tmp_path: Path) -> None:
    """What a command says of a file is masked, as on standard error, and so is what it answers."""
    key = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"

    def warns(said: Call, _: object) -> Result:
        said.problems((f"`status` is {key}",))
        return Result({"title": key}, key, 1)

    asked = ToolCall(operation("list")._replace(run=warns), {})
    answer = call.run(asked, Root(tmp_path))
    assert key not in answer.notes[0] + answer.text

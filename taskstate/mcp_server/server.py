"""The server: what it answers to the requests of the protocol, with the official SDK."""

from __future__ import annotations

import asyncio
import signal
from contextlib import asynccontextmanager
from functools import partial
from threading import Event

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError

from taskstate.errors import TaskstateError
from taskstate.evidence.process import given_up
from taskstate.mcp_server import call, prompts, resources
from taskstate.mcp_server.arguments import read_call
from taskstate.mcp_server.changes import Changes, require_few, session_key
from taskstate.mcp_server.pages import ANSWER, number_of
from taskstate.mcp_server.results import failed, parts_of, result_of
from taskstate.mcp_server.tools import TOOLS, Tool, schema_of
from taskstate.operations.errors import our_fault
from taskstate.storage.signals import Ended, end
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, TypeVar
from taskstate.version import VERSION
from taskstate.workspace.workspace import find_workspace, require_set_up

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping
    from typing import Any

    from mcp.server.context import ServerRequestContext

    from taskstate.mcp_server.arguments import Place
    from taskstate.workspace.workspace import Workspace

    Context = ServerRequestContext[Any, Any]

_T = TypeVar("_T")
_LISTED = 100  # resources on a page of `resources/list`
_MOST_STREAMS = 100  # of changes, to all clients together
_MARKDOWN = "text/markdown"
INSTRUCTIONS = (
    "A Markdown file per task keeps its state. `search` do=next names a task; per turn: `start`, work, `finish`. "
    "Errors name a cure: do it. Only a person trusts commands."
)


def tool_definitions() -> list[types.Tool]:
    """Return the tools as clients see them."""
    return [
        types.Tool(
            name=tool.name,
            description=tool.summary,
            input_schema=schema_of(tool),
            annotations=types.ToolAnnotations(
                read_only_hint=tool.reads,
                destructive_hint=False,  # what was acknowledged is kept
                idempotent_hint=tool.reads or tool.idempotent,
                open_world_hint=False,  # it works in this repository alone
            ),
        )
        for tool in TOOLS
    ]


def make_server(place: Place) -> Server[Any]:
    """Return a server for the repository of `place`."""
    answers = _Answers(place)
    return Server(
        "taskstate",
        version=VERSION,
        instructions=INSTRUCTIONS,
        lifespan=answers.lifespan,
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
        on_list_resources=answers.list_resources,
        on_list_resource_templates=answers.list_templates,
        on_read_resource=answers.read_resource,
        on_subscribe_resource=answers.subscribe,
        on_unsubscribe_resource=answers.unsubscribe,
        on_subscriptions_listen=answers.listen,
        on_list_prompts=answers.list_prompts,
        on_get_prompt=answers.get_prompt,
    )


async def serve_stdio(place: Place) -> None:
    """Serve one client on standard input and output, until it closes them.

    Raises:
        BrokenPipeError: the client does not take an answer any more.
    """
    from taskstate.mcp_server.stdio import streams

    server = make_server(place)
    options = server.create_initialization_options(NotificationOptions(resources_changed=True))
    received = _cancel_at_signals()
    try:
        async with streams() as (read, write):
            await server.run(read, write, options)
    except asyncio.CancelledError:
        if received:
            raise Ended(received[0]) from None
        raise
    except ExceptionGroup as error:
        # When one of the SDK's tasks ends, another that was handing it a message fails, and hides why.
        task = asyncio.current_task()
        if task and task.cancelling():  # by Ctrl-C, or another signal
            raise Ended(received[0]) if received else asyncio.CancelledError from error
        if error.subgroup(BrokenPipeError):  # the client has gone
            raise BrokenPipeError from error
        raise


def _cancel_at_signals() -> list[int]:
    """Let the signals that end this process cancel what is being done, as Ctrl-C does; return where they are put."""
    received: list[int] = []
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def cancel(number: int) -> None:
        received.append(number)
        if task:
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is end:
            loop.add_signal_handler(number, cancel, number)
    return received


class _Answers:
    """Answers requests, one at a time: what a command remembers while it runs belongs to the process."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.changes = Changes()
        self._listening = ListenHandler(self.changes.bus, max_subscriptions=_MOST_STREAMS)
        self._turn = anyio.Lock()
        self._tools = {tool.name: tool for tool in TOOLS}
        self._definitions = tool_definitions()

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        """Watch for changes as long as the server runs."""
        stop = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(self.changes.watch, self._workspace, stop)
            try:
                yield {}
            finally:
                stop.set()
                group.cancel_scope.cancel()

    async def list_tools(self, _ctx: Context, _params: object) -> types.ListToolsResult:
        """Answer `tools/list`."""
        return types.ListToolsResult(tools=self._definitions)

    async def call_tool(self, _ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer `tools/call`; a refusal is a result, too."""
        tool = self._tools.get(params.name)
        if tool is None:
            help_ = f"it is one of {', '.join(self._tools)}"
            return failed(TaskstateError(f"there is no tool {params.name[:100]!r}", help=help_, code="usage"))
        try:
            return await self._in_thread(partial(self._called, tool, params.arguments or {}))
        except TaskstateError as error:
            return failed(error)

    def _called(self, tool: Tool, given: Mapping[str, Any]) -> types.CallToolResult:
        asked = read_call(tool, given)
        return result_of(call.run(asked, self.place), asked.page)

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Answer `resources/list`, a hundred at a time."""
        self.changes.know(session_key(ctx.request), ctx.session)
        cursor = (params and params.cursor) or "0"
        start = number_of(cursor)
        found = await self._asked(lambda: resources.resources(self._workspace()))
        if start < 0 or start > len(found):
            raise _refusal(TaskstateError(f"there is no cursor {cursor[:100]!r}", help="leave it out", code="usage"))
        more = str(start + _LISTED) if start + _LISTED < len(found) else None
        listed = [
            types.Resource(uri=each.uri, name=each.name, description=each.description, mime_type=_MARKDOWN)
            for each in found[start : start + _LISTED]
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=more)

    async def list_templates(self, _ctx: Context, _params: object) -> types.ListResourceTemplatesResult:
        """Answer `resources/templates/list`."""
        templates = [
            types.ResourceTemplate(name=name, uri_template=uri, description=description, mime_type=_MARKDOWN)
            for name, uri, description in resources.TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(self, _ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Answer `resources/read`."""
        uri = str(params.uri)
        text = await self._asked(lambda: resources.read(self._workspace(), uri))
        content = types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[content])

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Answer `resources/subscribe` of the earlier protocol."""
        await self._asked(lambda: resources.read(self._workspace(), str(params.uri)))  # it exists
        wanted, uri = self.changes.know(session_key(ctx.request), ctx.session), str(params.uri)
        _require_few(wanted | {uri})
        wanted.add(uri)
        return types.EmptyResult()

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Answer `subscriptions/listen`, for as long as the client wants."""
        _require_few(params.notifications.resource_subscriptions or ())
        return await self._listening(ctx, params)

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Answer `resources/unsubscribe` of the earlier protocol."""
        self.changes.know(session_key(ctx.request), ctx.session).discard(str(params.uri))
        return types.EmptyResult()

    async def list_prompts(self, _ctx: Context, _params: object) -> types.ListPromptsResult:
        """Answer `prompts/list`."""
        listed = [
            types.Prompt(
                name=each.name,
                description=each.summary,
                arguments=[types.PromptArgument(name="id", description="Task", required=each.needs_task)],
            )
            for each in prompts.PROMPTS
        ]
        return types.ListPromptsResult(prompts=listed)

    async def get_prompt(self, _ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Answer `prompts/get`."""
        text = await self._asked(lambda: prompts.text_of(params.name, params.arguments or {}, self.place))
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    async def _asked(self, ask: Callable[[], _T]) -> _T:
        """Return what `ask` returns; what it refuses is an error of the protocol."""
        try:
            return await self._in_thread(ask)
        except TaskstateError as error:
            raise _refusal(error) from error

    async def _in_thread(self, ask: Callable[[], _T]) -> _T:
        """Return what `ask` returns, run beside the event loop; a fault of our own becomes an error as well."""
        stop = Event()

        def guarded() -> _T | TaskstateError:
            given_up.set(stop)
            try:
                return ask()
            except TaskstateError as error:
                return error
            except KeyboardInterrupt:
                return TaskstateError("the request was cancelled", code="cancelled")
            except Exception as error:  # noqa: BLE001 - the server lives on
                return our_fault(error)

        async with self._turn, anyio.create_task_group() as group:
            group.start_soon(_set_at_end, stop)
            answer = await anyio.to_thread.run_sync(guarded)
            group.cancel_scope.cancel()
        if isinstance(answer, TaskstateError):
            raise answer
        return answer

    def _workspace(self) -> Workspace:
        workspace = find_workspace(self.place.root, root=str(self.place.root), config_file=self.place.config)
        require_set_up(workspace)
        return workspace


def _require_few(addresses: Collection[str]) -> None:
    try:
        require_few(addresses)
    except TaskstateError as error:
        raise _refusal(error) from error


async def _set_at_end(event: Event) -> None:
    """Set `event` when the work beside is done, or at once when the client or the server gives it up."""
    try:
        await anyio.sleep_forever()
    finally:
        event.set()


def _refusal(error: TaskstateError) -> MCPError:
    """Return an error as one of the protocol."""
    return MCPError(types.INVALID_PARAMS, printable(str(error))[:ANSWER], parts_of(error))

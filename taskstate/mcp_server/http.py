"""Streamable HTTP on this machine alone: a token, and only requests that name this machine as their host."""

from __future__ import annotations

import hmac
import json
import os
import secrets
from http import HTTPStatus

from taskstate.errors import TaskstateError
from taskstate.loopback import server as loopback
from taskstate.loopback.server import LOOPBACK, MOST_CONNECTIONS
from taskstate.mcp_server.server import make_server
from taskstate.mcp_server.stdio import MOST_BYTES
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    from taskstate.mcp_server.arguments import Place

    Scope = MutableMapping[str, Any]
    App = Callable[[Scope, Callable[..., Awaitable[Any]], Callable[..., Awaitable[None]]], Awaitable[None]]

PATH, VARIABLE = "/mcp", "TASKSTATE_MCP_TOKEN"
_LEAST_TOKEN = 16  # characters
_MOST_SESSIONS = 1_000  # each takes 40 KB until nobody has used it for half an hour


def serve_http(place: Place, port: int, tell: Callable[[str], None]) -> None:
    """Serve clients on a port of this machine, 0 for a free one, until interrupted; `tell` says where, and the token.

    Raises:
        TaskstateError: the port is taken, or the token in the environment is too short.
    """
    token = os.environ.get(VARIABLE)
    if token is not None and len(token) < _LEAST_TOKEN:
        message = f"{VARIABLE} has fewer than {_LEAST_TOKEN} characters"
        raise TaskstateError(message, help="set a longer one, or unset it for a random one", code="usage")
    listening = loopback.listen(port)
    port = listening.getsockname()[1]
    tell(f"listening on http://{LOOPBACK}:{port}{PATH}")
    if token is None:
        token = secrets.token_urlsafe(32)
        tell(f"token: {token}")
    loopback.run(guarded(_application(place), port, token), (listening,), loopback.Bounds(_TOO_MANY))


def _application(place: Place) -> App:
    server = make_server(place)
    return server.streamable_http_app(
        host=LOOPBACK, streamable_http_path=PATH, max_sessions=_MOST_SESSIONS, max_request_body_size=MOST_BYTES
    )


def guarded(app: App, port: int, token: str) -> App:
    """Return an application that lets only those through who name this machine and have the token."""
    hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}
    origins = {f"http://{host}" for host in hosts}

    async def guard(scope: Scope, receive: Callable[..., Awaitable[Any]], send: Callable[..., Awaitable[None]]) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = loopback.headers_of(scope)
        if headers.get("host") not in hosts:
            await _refuse(send, 421, "host", "the Host header names another machine", f"ask {LOOPBACK}:{port}")
        elif "origin" in headers and headers["origin"] not in origins:
            await _refuse(send, 403, "origin", "the Origin header names a web page elsewhere", "ask without it")
        elif not hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {token}".encode()):
            cure = "send it as `Authorization: Bearer TOKEN`"
            await _refuse(send, 401, "token", "the token is missing or wrong", cure)
        elif not loopback.is_bounded(headers, MOST_BYTES):
            limit = f"a message has at most {MOST_BYTES // 1024**2} MB, and says its length"
            await _refuse(send, 413, "too-large", limit, "send it with a `Content-Length`, in parts")
        else:
            await app(scope, receive, send)

    return guard


def _body(code: str, message: str, cure: str) -> bytes:
    return json.dumps({"code": code, "message": message, "cure": cure}).encode()


_JSON = (b"content-type", b"application/json")
_TOO_MANY = loopback.as_bytes(
    503, [_JSON], _body("busy", f"there are {MOST_CONNECTIONS} connections already", "close one, and try again")
)


async def _refuse(send: Callable[..., Awaitable[None]], status: int, code: str, message: str, cure: str) -> None:
    told = [(b"www-authenticate", b"Bearer")] if status == HTTPStatus.UNAUTHORIZED else []
    await loopback.answer(send, status, [_JSON, *told], _body(code, message, cure))

"""Streamable HTTP on this machine alone: a token, and only requests that name this machine as their host."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import socket

from taskstate.errors import TaskstateError
from taskstate.mcp_server.server import make_server
from taskstate.mcp_server.stdio import MOST_BYTES
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping
    from typing import Any

    from taskstate.mcp_server.arguments import Place

    Scope = MutableMapping[str, Any]
    App = Callable[[Scope, Callable[..., Awaitable[Any]], Callable[..., Awaitable[None]]], Awaitable[None]]

LOOPBACK, PATH, VARIABLE = "127.0.0.1", "/mcp", "TASKSTATE_MCP_TOKEN"
_LEAST_TOKEN = 16  # characters
_MOST_SESSIONS = 1_000  # each takes 40 KB until nobody has used it for half an hour
_MOST_CONNECTIONS = 100  # each is an open file, of which a process has 256 or more
_PATIENCE = 10  # seconds in which a connection asks something, or is closed


def serve_http(place: Place, port: int, tell: Callable[[str], None]) -> None:
    """Serve clients on a port of this machine, 0 for a free one, until interrupted; `tell` says where, and the token.

    Raises:
        TaskstateError: the port is taken, or the token in the environment is too short.
    """
    import uvicorn

    token = os.environ.get(VARIABLE)
    if token is not None and len(token) < _LEAST_TOKEN:
        message = f"{VARIABLE} has fewer than {_LEAST_TOKEN} characters"
        raise TaskstateError(message, help="set a longer one, or unset it for a random one", code="usage")
    try:
        listening = socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot listen on port {port}: {reason}"
        raise TaskstateError(message, help="name another one with --port", code="port") from error
    port = listening.getsockname()[1]
    tell(f"listening on http://{LOOPBACK}:{port}{PATH}")
    if token is None:
        token = secrets.token_urlsafe(32)
        tell(f"token: {token}")
    app = guarded(_application(place), port, token)
    config = uvicorn.Config(
        app, http=_bounded_protocol(), log_level="critical", access_log=False, timeout_graceful_shutdown=1
    )
    uvicorn.Server(config).run(sockets=[listening])


def _application(place: Place) -> App:
    server = make_server(place)
    return server.streamable_http_app(
        host=LOOPBACK, streamable_http_path=PATH, max_sessions=_MOST_SESSIONS, max_request_body_size=MOST_BYTES
    )


def _bounded_protocol() -> type[asyncio.Protocol]:
    """Return how connections are handled: so many at once, and none that never asks anything.

    uvicorn's own limit refuses requests, and lets connections take all files that the process may open.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Bounded(H11Protocol):
        """A connection to a client, or to one too many."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
            """Begin to listen, or refuse."""
            super().connection_made(transport)
            if len(self.connections) > _MOST_CONNECTIONS:
                transport.write(_TOO_MANY)
                transport.close()
            else:
                self.loop.call_later(_PATIENCE, self._end_if_silent)

        def _end_if_silent(self) -> None:
            request: object = self.cycle  # the present or last one; uvicorn's type leaves out that there is none yet
            if request is None:
                self.transport.close()

    return Bounded


def guarded(app: App, port: int, token: str) -> App:
    """Return an application that lets only those through who name this machine and have the token."""
    hosts = {f"{name}:{port}" for name in (LOOPBACK, "localhost")}
    origins = {f"http://{host}" for host in hosts}

    async def guard(scope: Scope, receive: Callable[..., Awaitable[Any]], send: Callable[..., Awaitable[None]]) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host") not in hosts:
            await _refuse(send, 421, "host", "the Host header names another machine", f"ask {LOOPBACK}:{port}")
        elif "origin" in headers and headers["origin"] not in origins:
            await _refuse(send, 403, "origin", "the Origin header names a web page elsewhere", "ask without it")
        elif not hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {token}".encode()):
            cure = "send it as `Authorization: Bearer TOKEN`"
            await _refuse(send, 401, "token", "the token is missing or wrong", cure)
        elif not is_bounded(headers):
            limit = f"a message has at most {MOST_BYTES // 1024**2} MB, and says its length"
            await _refuse(send, 413, "too-large", limit, "send it with a `Content-Length`, in parts")
        else:
            await app(scope, receive, send)

    return guard


def is_bounded(headers: Mapping[str, str]) -> bool:
    """Return whether a request says beforehand that its body is small enough; one without a body does."""
    length = headers.get("content-length", "0")
    is_number = length.isascii() and length.isdecimal() and len(length) <= len(str(MOST_BYTES))
    return "transfer-encoding" not in headers and is_number and int(length) <= MOST_BYTES


def _body(code: str, message: str, cure: str) -> bytes:
    return json.dumps({"code": code, "message": message, "cure": cure}).encode()


_CROWDED = _body("busy", f"there are {_MOST_CONNECTIONS} connections already", "close one, and try again")
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_CROWDED), _CROWDED)
)


async def _refuse(send: Callable[..., Awaitable[None]], status: int, code: str, message: str, cure: str) -> None:
    body = _body(code, message, cure)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.append((b"connection", b"close"))  # who was refused keeps no connection
    if status == 401:  # noqa: PLR2004 - the protocol's own number
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""HTTP for this machine alone: a socket on the loopback address, and a server that nobody can clog."""

from __future__ import annotations

import socket
from contextlib import suppress
from errno import EADDRINUSE
from http import HTTPStatus

from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
    from typing import Any

    Headers = Sequence[tuple[bytes, bytes]]
    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Any]]
    Send = Callable[..., Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK, LOOPBACK_6 = "127.0.0.1", "::1"
MOST_CONNECTIONS = 100  # each is an open file, of which a process has 256 or more
PATIENCE = 10  # seconds in which a connection asks something, or is closed


def listen(port: int) -> socket.socket:
    """Return a socket on a port of this machine, 0 for a free one.

    Raises:
        TaskstateError: code "port": it is taken, or not to be had.
    """
    try:
        return socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        raise _refused(port, error) from error


def listen_on_both(port: int) -> tuple[socket.socket, ...]:
    """Return sockets on a port at both addresses of this machine, since browsers may take either for `localhost`.

    Raises:
        TaskstateError: code "port": it is taken at one of them, maybe by somebody else who waits there for a token.
    """
    first = listen(port)
    try:
        return first, socket.create_server((LOOPBACK_6, first.getsockname()[1]), family=socket.AF_INET6)
    except OSError as error:
        if error.errno == EADDRINUSE:
            first.close()
            raise _refused(port, error) from error
        return (first,)  # there is no such address here


def listen_from(port: int, tries: int) -> tuple[socket.socket, ...]:
    """Return the sockets on the first free port of so many; 0 is any.

    Raises:
        TaskstateError: code "port": none of them is free.
    """
    for each in (port and port + number for number in range(tries - 1)):
        with suppress(TaskstateError):
            return listen_on_both(each)
    return listen_on_both(port and port + tries - 1)


def _refused(port: int, error: Exception) -> TaskstateError:
    reason = getattr(error, "strerror", None) or str(error)
    return TaskstateError(f"cannot listen on port {port}: {reason}", help="name another one with --port", code="port")


# Who asks, and how much


def headers_of(scope: Scope) -> Mapping[str, str]:
    """Return the headers of a request; of one that is there twice, the last."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def is_bounded(headers: Mapping[str, str], most: int) -> bool:
    """Return whether a request says beforehand that its body is small enough; one without a body does."""
    length = headers.get("content-length", "0")
    is_number = length.isascii() and length.isdecimal() and len(length) <= len(str(most))
    return "transfer-encoding" not in headers and is_number and int(length) <= most


async def answer(send: Send, status: int, headers: Headers, body: bytes) -> None:
    """Send an answer, and close the connection: who was refused keeps none."""
    await send({"type": "http.response.start", "status": status, "headers": _with_length(headers, body)})
    await send({"type": "http.response.body", "body": body})


def as_bytes(status: int, headers: Headers, body: bytes) -> bytes:
    """Return an answer as it goes over a connection, to one too many or to who does not speak HTTP."""
    lines = (b"%b: %b\r\n" % each for each in _with_length(headers, body))
    return b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, HTTPStatus(status).phrase.encode(), b"".join(lines), body)


def _with_length(headers: Headers, body: bytes) -> list[tuple[bytes, bytes]]:
    return [*headers, (b"content-length", str(len(body)).encode()), (b"connection", b"close")]


# The server


class Bounds(NamedTuple):
    """How a server keeps from being clogged: how many connections there are, and what one too many is told.

    `headers` are those of all answers. `leave` is called before it ends: it ends what would be sent for ever.
    """

    too_many: bytes
    most: int = MOST_CONNECTIONS
    headers: Headers = ()
    leave: Callable[[], None] | None = None


def run(app: App, listening: Sequence[socket.socket], bounds: Bounds) -> None:
    """Serve an application until interrupted."""
    import uvicorn

    class Server(uvicorn.Server):
        """A server that does not wait for answers that have no end."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """End."""
            if bounds.leave:
                bounds.leave()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        app,
        http=_bounded_protocol(bounds),
        ws="none",
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        headers=[(name.decode(), value.decode()) for name, value in bounds.headers],
    )
    Server(config).run(sockets=[*listening])


def _bounded_protocol(bounds: Bounds) -> type[asyncio.Protocol]:
    """Return how connections are handled: so many at once, and none that never asks anything.

    uvicorn's own limit refuses requests, and lets connections take all files that the process may open.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    silent: dict[Bounded, None] = {}  # connections that may have asked nothing yet, the oldest first

    class Bounded(H11Protocol):
        """A connection to a client, or to one too many."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
            """Begin to listen; of too many the oldest that has asked nothing ends: this one if all others have.

            So whoever opens connections and is silent keeps nobody out.
            """
            super().connection_made(transport)
            silent[self] = None
            self.loop.call_later(PATIENCE, self._end_if_silent)
            if len(self.connections) > bounds.most:
                asked: Callable[[Bounded], object] = lambda each: each.cycle  # noqa: E731
                oldest = next(each for each in silent if asked(each) is None)
                del silent[oldest]
                oldest.transport.write(bounds.too_many)
                oldest.transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget it."""
            silent.pop(self, None)
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            """Refuse what is no HTTP; what is being sent is cut off, since nothing else could stand behind it."""
            request: object = self.cycle  # the present or last one; uvicorn's type leaves out that there is none yet
            if request is None or self.cycle.response_complete:
                headers = (*bounds.headers, (b"content-type", b"text/plain; charset=utf-8"))
                self.transport.write(as_bytes(400, headers, msg.encode()))
            self.transport.close()

        def _end_if_silent(self) -> None:
            request: object = self.cycle  # the same
            if request is None:
                self.transport.close()

    return Bounded

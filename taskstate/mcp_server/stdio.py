"""Messages on standard input within bounds, of which each gets an answer.

The SDK reads a line however long it is, and drops one that is no message: the client would wait for its answer for
ever. While the SDK reads, Ctrl-C has no effect.
"""

from __future__ import annotations

import json
import sys
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from taskstate.syntax.nodes import is_encodable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType
    from typing import Any, BinaryIO, Self

    from mcp.shared._stream_protocols import ReadStream, WriteStream

MOST_BYTES = 8 * 1024**2  # of a message; JSON takes up to 25 times its size when it is read
_TOO_LONG = f"longer than {MOST_BYTES // 1024**2} MB\n"  # stands for such a line: no JSON, so it is answered as such


class _Lines:
    """Standard input as text, of which no line is longer than `MOST_BYTES`."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.last = ""  # what was read last: the SDK does not say what it could not read

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        line = await anyio.to_thread.run_sync(self._next_line, abandon_on_cancel=True)
        if not line:
            raise StopAsyncIteration
        self.last = line
        return line

    def _next_line(self) -> str:
        """Return the next line that is not blank, or an empty text at the end."""
        while (line := self._source.readline(MOST_BYTES)).isspace():
            continue
        if len(line) < MOST_BYTES or line.endswith(b"\n"):
            return line.decode("utf-8", "replace")
        while (rest := self._source.readline(MOST_BYTES)) and not rest.endswith(b"\n"):
            continue
        return _TOO_LONG


class _Answering:
    """The messages of a stream; what is none is answered with an error, and left out."""

    def __init__(
        self, read: ReadStream[SessionMessage | Exception], write: WriteStream[SessionMessage], lines: _Lines
    ) -> None:
        self._read = read
        self._write = write
        self._lines = lines

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the SDK asks the stream for the sender's context, too
        return getattr(self._read, name)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        while isinstance(found := await self._read.receive(), Exception):
            request = _id_in(self._lines.last)
            answer = types.JSONRPCError(jsonrpc="2.0", id=request, error=_error_for(found, is_json=request is not None))
            await self._write.send(SessionMessage(answer))
        return found

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Close the stream."""
        await self._read.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _id_in(line: str) -> str | int | None:
    """Return the id of a request that is none, so that its client does not wait for ever; None where there is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) and "method" in message else None
    if isinstance(found, bool) or (isinstance(found, str) and not is_encodable(found)):
        return None
    return found if isinstance(found, str | int) else None


def _error_for(error: Exception, *, is_json: bool) -> types.ErrorData:
    """Return the error that answers a line; the SDK says why it could not read it."""
    kinds = (
        {each["type"] for each in error.errors(include_input=False)} if isinstance(error, ValidationError) else set()
    )
    if is_json and "json_invalid" in kinds:
        message = "a line has half of a surrogate pair in it, which is not a character, or is too deep"
        return types.ErrorData(code=types.INVALID_REQUEST, message=message)
    if "json_invalid" not in kinds:
        return types.ErrorData(code=types.INVALID_REQUEST, message="a line is not a message of the protocol")
    message = f"a line is not JSON, or is longer than {MOST_BYTES // 1024**2} MB"
    return types.ErrorData(code=types.PARSE_ERROR, message=message)


@asynccontextmanager
async def streams() -> AsyncIterator[tuple[_Answering, WriteStream[SessionMessage]]]:
    """Return where a client's messages come from, and where answers go to, on standard input and output."""
    lines = _Lines(sys.stdin.buffer)
    text_file: Any = lines  # as far as the SDK uses one
    async with stdio_server(stdin=text_file) as (read, write):
        yield _Answering(read, write, lines), write

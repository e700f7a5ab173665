"""Reads the messages of an editor within bounds, and answers those that are none.

The loop of pygls asks the system for as much memory as a header claims, waits for ever behind a header that it does not
know, and prints a traceback for a body that is no message. So this one takes its place; what a message means is left
to pygls.
"""

from __future__ import annotations

import asyncio
import json
import re

from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcParseError
from pygls.protocol import JsonRPCProtocol

from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from pygls.lsp.server import LanguageServer

# JSON takes up to 25 times its size when it is read. The text of the largest file that is checked here (4 MB) fits in.
MOST_BYTES = 8 * 1024**2
_LENGTH = rb"(?i)content-length[ \t]*:[ \t]*([0-9]{1,12})[ \t]*"  # more digits are no length of anything
_LONGEST_LINE = 1024  # bytes of a header's line
_MOST_LINES = 16
_CHUNK = 64 * 1024


class _NoMessageError(Exception):
    """A body is no message: why, and the id that it has nevertheless."""

    def __init__(self, reason: JsonRpcException, number: object = None) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.id = number


async def converse(
    server: LanguageServer, reading: BinaryIO, refuse: Callable[[JsonRpcException, object], None]
) -> None:
    """Pass the messages of an editor to `server` until the stream ends; `refuse` answers what is none, by its id.

    Raises:
        TaskstateError: code "protocol": what comes is no header, so nobody knows where the next message begins.
    """
    run, pool = asyncio.get_running_loop().run_in_executor, server.thread_pool
    while (length := await run(pool, _read_length, reading)) is not None:
        if length > MOST_BYTES:
            limit = f"a message of more than {MOST_BYTES // 1024**2} MB is not read"
            refuse(JsonRpcInvalidRequest(f"{limit}; `taskstate lint` checks large files"), None)
            await run(pool, _skip, reading, length)
            continue
        body = await run(pool, reading.read, length)
        if len(body) < length:
            return
        try:
            message = _parsed(body)
            server.protocol.handle_message(server.protocol.structure_message(message))
        except _NoMessageError as error:
            refuse(error.reason, error.id)
        except BrokenPipeError:  # the editor has gone
            raise
        except Exception as error:  # noqa: BLE001 - one message ends no server; the protocol has answered what it could
            server.report_server_error(error, JsonRpcException)


def _read_length(reading: BinaryIO) -> int | None:
    """Return the length of the next message from its header, or None at the end of the stream."""
    length = None
    for number in range(_MOST_LINES):
        line = reading.readline(_LONGEST_LINE)
        if not line and number == 0:
            return None
        if not line.endswith(b"\n"):
            break
        if not line.strip():
            if length is None:
                break
            return length
        match = re.fullmatch(_LENGTH, line.rstrip(b"\r\n"))
        length = int(match[1]) if match else length
    raise TaskstateError(
        "standard input is not a conversation of an editor: a header has no `Content-Length` that can be used",
        help="let an editor start `taskstate lsp`",
        code="protocol",
    )


def _skip(reading: BinaryIO, length: int) -> None:
    """Read `length` bytes without keeping them."""
    while length > 0 and (chunk := reading.read(min(length, _CHUNK))):
        length -= len(chunk)


def _parsed(body: bytes) -> dict[str, Any]:
    """Return the message that a body holds."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, a number without end; nested without end
        reason = f"a message of the editor is not JSON: {_reason(error)}; update its extension"
        raise _NoMessageError(JsonRpcParseError(reason)) from error
    if not isinstance(message, dict) or message.get("jsonrpc") != JsonRPCProtocol.VERSION:
        number = message.get("id") if isinstance(message, dict) else None
        reason = "a message of the editor is not JSON-RPC 2.0; update its extension"
        raise _NoMessageError(JsonRpcInvalidRequest(reason), number)
    return message


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it nests too deep"
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)

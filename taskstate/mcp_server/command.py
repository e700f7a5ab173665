"""`taskstate mcp`: serves the operations to agents over the Model Context Protocol."""

from __future__ import annotations

import logging
import os
import sys

from taskstate.errors import TaskstateError
from taskstate.operations.call import collect_garbage_often, usage_error
from taskstate.operations.operation import Operation, option, switch
from taskstate.operations.result import Result
from taskstate.storage import installed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call

_MOST_PORT = 65_535


class Mcp(NamedTuple):
    """The arguments of `taskstate mcp`."""

    http: bool = switch("serve streamable HTTP on 127.0.0.1, with a token")
    port: int | None = option("N", "with --http: the port (default: a free one)")


def serve(call: Call, asked: Mcp) -> Result:
    """Serve the commands as tools of the Model Context Protocol, until the client leaves.

    On standard input and output, or with --http on this machine. Needs the extra `taskstate[mcp]`.
    """
    if asked.port is not None and not (asked.http and 0 <= asked.port <= _MOST_PORT):
        raise usage_error(f"--port {asked.port} is not a port to serve on", help=f"give --http and 0 to {_MOST_PORT}")
    if installed.lacks("mcp"):
        message = "`taskstate mcp` needs the package mcp, version 2.3 or newer"
        raise TaskstateError(message, help=f"run `{installed.adding('mcp')}`", code="missing-extra")
    import anyio

    from taskstate.mcp_server.arguments import Place
    from taskstate.mcp_server.server import serve_stdio

    collect_garbage_often()
    _silence_libraries()
    config = call.conditions.config
    place = Place(call.workspace.root, os.path.abspath(config) if config else "")
    if asked.http:
        from taskstate.mcp_server.http import serve_http

        serve_http(place, asked.port or 0, _tell)
    else:
        anyio.run(serve_stdio, place)
    return Result(None, "")


def _silence_libraries() -> None:
    """Keep logs off the terminal: they quote headers, and have tracebacks for clients that break off or flood us."""
    for name in ("mcp", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False


def _tell(line: str) -> None:
    """Print a line about the server as it is: the one with the token is not to be masked."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


OPERATIONS = (Operation("mcp", "serve the commands to agents as tools of the Model Context Protocol", serve, Mcp),)

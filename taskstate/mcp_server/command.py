"""`taskstate mcp`: serves the commands to agents over the Model Context Protocol."""

from __future__ import annotations

import logging
import os
import sys
from importlib.util import find_spec

from taskstate.cli.arguments import usage_error
from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.cli.arguments import Parser
    from taskstate.cli.invocation import Invocation

_MOST_PORT = 65_535


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Serve the commands as tools of the Model Context Protocol, on standard input and output, or with --http on "
        "this machine. Needs the extra `taskstate[mcp]`."
    )
    parser.add_argument("--http", action="store_true", help="serve streamable HTTP on 127.0.0.1, with a token")
    parser.add_argument("--port", type=int, metavar="N", help="with --http: the port (default: a free one)")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Serve until the client leaves, or until interrupted."""
    args = invocation.args
    if args.port is not None and not (args.http and 0 <= args.port <= _MOST_PORT):
        raise usage_error(f"--port {args.port} is no port to serve on", help=f"give --http and 0 to {_MOST_PORT}")
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        message = "`taskstate mcp` needs the package mcp, version 2.3 or newer"
        raise TaskstateError(message, help="run `pip install 'taskstate[mcp]'`", code="missing-extra")
    import anyio

    from taskstate.mcp_server.arguments import Place
    from taskstate.mcp_server.server import serve_stdio

    _silence_libraries()
    config = invocation.flag_value("config")
    place = Place(invocation.workspace.root, os.path.abspath(config) if config else "")
    if args.http:
        from taskstate.mcp_server.http import serve_http

        serve_http(place, args.port or 0, _tell)
    else:
        anyio.run(serve_stdio, place)
    return 0


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

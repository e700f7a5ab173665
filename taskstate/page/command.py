"""`taskstate serve`: shows the repository to a person in a browser."""

from __future__ import annotations

import os
import re
import secrets
import sys
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.loopback import server as loopback
from taskstate.operations.call import collect_garbage_often, usage_error
from taskstate.operations.operation import Operation, option, switch
from taskstate.operations.result import Result
from taskstate.storage import installed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name

_PORT, _MOST_PORT = 7878, 65_535
_TRIED = 20  # ports from the usual one on
_SSH_PORT = "22"


class Serve(NamedTuple):
    """The arguments of `taskstate serve`."""

    port: int | None = option("N", f"the port (default: {_PORT}, or the next free one)")
    actor: Name = option("NAME", "author of what the page writes (default: as for every command)")
    read_only: bool = switch("show no forms, and refuse every write")
    allow_host: tuple[Name, ...] = option("NAME", "host name to accept besides localhost, such as a tunnel's")


def serve(call: Call, asked: Serve) -> Result:
    """Show the tasks to a person in a browser on this machine, until Ctrl-C.

    Whoever opens the printed address is let in, and nobody else. Needs the extra `taskstate[page]`.
    """
    if asked.port is not None and not 0 <= asked.port <= _MOST_PORT:
        raise usage_error(f"--port {asked.port} is not a port to serve on", help=f"give 0 to {_MOST_PORT}")
    for name in asked.allow_host:
        if not re.fullmatch(r"[A-Za-z0-9.-]+", name):
            raise usage_error(f"--allow-host {name!r} is not a name of a host", help="give it without scheme and port")
    if installed.lacks("page"):
        message = "`taskstate serve` needs the packages starlette, uvicorn and nh3"
        raise TaskstateError(message, help=f"run `{installed.adding('page')}`", code="missing-extra")
    collect_garbage_often()
    config, token = call.conditions.config, secrets.token_urlsafe(32)
    root = call.workspace.root
    listening = loopback.listen_from(_PORT, _TRIED) if asked.port is None else loopback.listen_on_both(asked.port)
    port = listening[0].getsockname()[1]
    sys.stdout.write(f"http://{loopback.LOOPBACK}:{port}/?token={token}\n{_tunnel(port)}")
    sys.stdout.flush()  # who opens it now waits for what is imported meanwhile
    from taskstate.page.events import Changes
    from taskstate.page.guard import HEADERS, MOST_CONNECTIONS, TOO_MANY, Gate, guarded
    from taskstate.page.reading import Site
    from taskstate.page.routes import application

    site = Site(root, os.path.abspath(config) if config else "", asked.actor, asked.read_only, token=token)
    changes = Changes(site)
    gate = Gate(token, port, frozenset(name.lower() for name in asked.allow_host), asked.read_only)
    bounds = loopback.Bounds(TOO_MANY, MOST_CONNECTIONS, HEADERS, changes.end)
    with suppress(KeyboardInterrupt):  # as it is meant to end
        loopback.run(guarded(application(site, changes), gate), listening, bounds)
    call.told = ()  # the page has told what is damaged
    return Result(None, "")


def _tunnel(port: int) -> str:
    """Return the line that leads here from the machine of whoever came through ssh, and nothing for others."""
    there = os.environ.get("SSH_CONNECTION", "").split()
    if len(there) != len(("client", "its port", "server", "its port")):
        return ""
    host = f"{os.environ.get('USER', '')}@{there[2]}".lstrip("@")
    other = "" if there[3] == _SSH_PORT else f" -p {there[3]}"
    return f"from your own machine first: ssh -N -L {port}:{loopback.LOOPBACK}:{port}{other} {host}\n"


OPERATIONS = (Operation("serve", "show the tasks to a person in a browser on this machine", serve, Serve),)

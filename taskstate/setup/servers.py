"""The MCP servers that `init` can write into a client's configuration: our own, and those that verify work.

They are pinned: what an agent may run must not change by itself. Decision 25 says why these. Nothing is downloaded or
started here; the client does that, when it is used.
"""

from __future__ import annotations

from taskstate.storage import installed
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PLAYWRIGHT, GITHUB = "0.0.83", "v1.11.0"
OWN: Mapping[str, Mapping[str, Any]] = {"taskstate": {"command": "taskstate", "args": ["mcp"]}}
VERIFICATION: Mapping[str, Mapping[str, Any]] = {
    "playwright": {"command": "npx", "args": ["-y", f"@playwright/mcp@{PLAYWRIGHT}", "--headless", "--isolated"]},
    "github": {
        "command": "docker",
        "args": [
            *("run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN"),
            f"ghcr.io/github/github-mcp-server:{GITHUB}",
        ],
    },
}


def startable(*, verification: bool) -> tuple[dict[str, Mapping[str, Any]], tuple[str, ...]]:
    """Return the servers to configure, and a line for each that does not start here, with what to do.

    Our own is left out if its packages are missing: the client would report it at each start, and to everybody.
    """
    wanted = {**OWN, **(VERIFICATION if verification else {})}
    lines = []
    if installed.lacks("mcp"):
        del wanted["taskstate"]
        lines.append(
            f"the MCP server is left out, its packages are missing: run `{installed.adding('mcp')}`, then this again"
        )
    commands = {str(each["command"]) for each in wanted.values()} - {installed.NAME}
    missing = sorted(each for each in commands if not installed.program(each))
    lines += [f"{each} is not on the PATH: until it is there, its MCP server does not start" for each in missing]
    if not installed.program():
        own = installed.command()
        where = f" (it is {own})" if own else ""
        lines.append(f"taskstate is not on the PATH{where}: until it is there, what the clients call does not start")
    return wanted, tuple(lines)

"""The MCP servers that `init` can write into a client's configuration: our own, and those that verify work.

They are pinned: what an agent may run must not change by itself. Decision 25 says why these. Nothing is downloaded or
started here; the client does that, when it is used.
"""

from __future__ import annotations

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

"""Where this installation came from, as its installer recorded it (PEP 610): what another machine can install, too."""

from __future__ import annotations

import json
import re

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# No path of this machine, no password, and nothing that means something to a shell in double quotes.
_ADDRESS = r"(?:https?|ssh|git)://(?:[\w.-]+@)?[\w.:-]+/[\w./~%+-]+"
_COMMIT = r"[0-9a-f]{7,64}"


def install_command() -> str:
    """Return the command that installs what runs here on another machine; empty where that is not known."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        recorded = distribution("taskstate").read_text("direct_url.json")
        return command_for(json.loads(recorded or "{}"))
    except (PackageNotFoundError, ValueError):
        return ""


def command_for(recorded: Mapping[str, Any]) -> str:
    """Return the command for what an installer recorded: a commit of a git repository, or an archive."""
    url, vcs = str(recorded.get("url")), recorded.get("vcs_info", {})
    commit, folder = str(vcs.get("commit_id")), recorded.get("subdirectory")
    if not re.fullmatch(_ADDRESS, url) or (folder and not re.fullmatch(r"[\w./-]+", folder)):
        return ""
    below = f"#subdirectory={folder}" if folder else ""
    if vcs.get("vcs") == "git" and re.fullmatch(_COMMIT, commit):
        return f'pip install "taskstate @ git+{url}@{commit}{below}"'
    return f'pip install "taskstate @ {url}{below}"' if "archive_info" in recorded else ""

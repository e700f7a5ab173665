"""The MCP inspector's command line, which is written by others in another language, lists the tools and calls one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.mcp_server.tools import TOOLS
from tests.support.place import Place

if TYPE_CHECKING:
    from typing import Any

VERSION = "0.15.0"  # the newest that runs on Node 20
FOLDER = Path(__file__).parents[2] / ".cache" / "inspector"
ADD = ("do=add", "id=101", 'did=["Wrote it."]', "state=Half-way.", 'next=["Go on."]')


@pytest.fixture(scope="session")
def inspector() -> str:
    """Return the inspector's program, which is installed once into the folder for caches."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("Node.js is not installed")
    program = FOLDER / "node_modules/.bin/mcp-inspector-cli"
    if not program.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(FOLDER)]
        package = f"@modelcontextprotocol/inspector-cli@{VERSION}"  # without the page, it is a third to install
        done = subprocess.run([*install, package], capture_output=True, encoding="utf-8", timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"npm cannot install the inspector: {done.stderr[-200:]}")
    return str(program)


@pytest.mark.slow
def test_the_inspector_lists_every_tool_and_calls_one(inspector: str, tmp_path: Path) -> None:
    """Each tool is listed with its schema, and one is called: each takes seconds, and `test_parity` calls them all."""
    place = Place(tmp_path / "repository")
    listed = _inspect(inspector, place.root, "tools/list")["tools"]
    assert [each["name"] for each in listed] == [tool.name for tool in TOOLS]
    arguments = [each for field in ADD for each in ("--tool-arg", field)]
    result = _inspect(inspector, place.root, "tools/call", "--tool-name", "session", *arguments)
    assert not result.get("isError"), result
    assert len(place.state.sessions) == 1


def _inspect(program: str, root: Path, method: str, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    server = [sys.executable, "-m", "taskstate", "mcp"]
    done = subprocess.run(
        [program, "--cli", *server, "--method", method, *arguments],
        cwd=root,
        env=os.environ | {"TASKSTATE_ACTOR": "somebody"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)

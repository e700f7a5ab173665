"""What the real Backlog.md writes comes in whole: the tool makes a folder, and each of its tasks becomes one here.

`make import-tools` runs it: the tool comes from the registry of npm, into a folder that is thrown away.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.importing import hashes, shape_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Cli

AROUND = dict(os.environ)  # read before the tests have an environment that is nobody's
TOOL = "backlog.md@1.52.0"
WAIT = 300

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("IMPORT_TOOLS" not in AROUND or not shutil.which("npm"), reason="`make import-tools` runs it"),
]


@pytest.fixture(scope="module")
def backlog(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Callable[..., None]]:
    """Return a folder in which the tool is set up, and a function that runs it there."""
    tools, place = tmp_path_factory.mktemp("tools"), tmp_path_factory.mktemp("kettle")

    def run(*command: str, cwd: Path = place) -> None:
        subprocess.run(command, cwd=cwd, env=AROUND, check=True, timeout=WAIT, capture_output=True)

    def tool(*arguments: str) -> None:
        run(str(tools / "node_modules" / ".bin" / "backlog"), *arguments)

    run("npm", "install", "--prefix", str(tools), "--no-audit", "--no-fund", TOOL, cwd=tools)
    run("git", "init", "-q")
    tool("init", "Kettle", "--defaults", "--integration-mode", "none")
    for key in ("remoteOperations", "checkActiveBranches"):
        tool("config", "set", key, "false")
    return place, tool


def test_a_folder_of_the_tool_comes_in_whole(backlog: tuple[Path, Callable[..., None]], cli: Cli) -> None:
    """Statuses, criteria, a subtask, a milestone, a draft, an archived task, and the texts of all of them."""
    place, tool = backlog
    tool("milestone", "add", "First boil")
    tool("task", "create", "Heat: \"water\" & 'steam'", "-d", "It stops.\n\n- in time", "--ac", "Stops, at once")
    tool(
        "task", "edit", "1", "--ac", "Shows it", "--check-ac", "1", "--dod", "Docs", "-a", "@mira", "--priority", "high"
    )
    tool("task", "create", "Sensor", "-p", "TASK-1")
    tool("task", "create", "Beep", "-s", "In Progress", "--depends-on", "TASK-1", "-m", "First boil")
    tool(
        "task", "edit", "2", "--plan", "1. think", "--notes", "tried it", "--comment", "Loud", "--comment-author", "tom"
    )
    tool("task", "create", "Colour", "-s", "Done", "--final-summary", "Painted it.", "--ac", "It is red")
    tool("task", "create", "Old")
    tool("task", "archive", "4")
    tool("task", "create", "New")
    tool("draft", "create", "An idea")
    before = hashes(place)
    done = cli.json("import", "backlog-md", place / "backlog")
    assert done["counts"] == {"in": 7, "task": 7, "part": 0, "kept": 0, "left": 0, "refused": 0}
    assert hashes(place) == before
    workspace = cli.place.workspace
    shapes = {each["id"]: shape_of(workspace, each["id"]) for each in cli.json("list")}
    assert {key: (each["title"], each["status"]) for key, each in shapes.items()} == {
        "1": ("Heat: \"water\" & 'steam'", "created"),
        "1.1": ("Sensor", "created"),
        "2": ("Beep", "in_progress"),
        "3": ("Colour", "complete"),
        "4": ("New", "created"),
        "4-archived": ("Old", "dropped"),
        "draft-1": ("An idea", "created"),
    }
    assert shapes["1"]["criteria_texts"] == ["Stops, at once", "Shows it", "Docs"]
    assert (shapes["1"]["criteria"], shapes["1"]["priority"], shapes["1.1"]["parent"]) == ([3, 1], "P1", "1")
    assert (shapes["2"]["depends_on"], shapes["2"]["epic"], shapes["2"]["sessions"]) == (["1"], "First boil", 1)
    for task_id, text in (("1", "- in time"), ("1", "'@mira'"), ("2", "1. think"), ("2", "Loud"), ("3", "Painted it.")):
        assert text in text_of(workspace, task_id)
    assert cli("lint", "--against", "none").status == 0

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
def backlog(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Callable[..., str]]:
    """Return a folder in which the tool is set up, and a function that runs it there and returns what it said."""
    tools, place = tmp_path_factory.mktemp("tools"), tmp_path_factory.mktemp("kettle")

    def run(*command: str, cwd: Path = place) -> str:
        done = subprocess.run(command, cwd=cwd, env=AROUND, check=True, timeout=WAIT, capture_output=True)
        return done.stdout.decode()

    def tool(*arguments: str, cwd: Path = place) -> str:
        return run(str(tools / "node_modules" / ".bin" / "backlog"), *arguments, cwd=cwd)

    run("npm", "install", "--prefix", str(tools), "--no-audit", "--no-fund", TOOL, cwd=tools)
    run("git", "init", "-q")
    tool("init", "Kettle", "--defaults", "--integration-mode", "none")
    for key in ("remoteOperations", "checkActiveBranches"):
        tool("config", "set", key, "false")
    return place, tool


def test_a_folder_of_the_tool_comes_in_whole(backlog: tuple[Path, Callable[..., str]], cli: Cli) -> None:
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


def test_what_is_exported_is_what_the_tool_lists(
    backlog: tuple[Path, Callable[..., str]], cli: Cli, tmp_path: Path
) -> None:
    """Each task stands in its list under the state that it has here, with its title; a dropped one is archived."""
    _, tool = backlog
    words = ('--description=Hold: it\'s "warm"', "--criterion=It beeps", "--epic=First boil")
    for task_id, title in (("1", "Heat: \"water\" & 'steam'"), ("2", "Beep"), ("k-3", "Colour #1"), ("4", "Old")):
        cli.ok("new", task_id, f"--title={title}", *words)
    cli.ok("edit", "2", "--depends-on", "1")
    cli.ok("session", "add", "2", "--did=wired", "--issue=none", "--state=half", "--next=test")
    cli.ok("drop", "4", "--note=no")
    cli.ok("edit", "k-3", "--blocked=paint is missing")
    folder = tmp_path / "out"
    cli.ok("export", "backlog-md", folder / "backlog")
    subprocess.run(("git", "init", "-q"), cwd=folder, check=True)
    listed = tool("task", "list", "--plain", cwd=folder).strip().split("\n\n")
    states = {title: lines.split("\n  ")[1:] for title, _, lines in (each.partition(":") for each in listed)}
    assert states == {
        "To Do": ["TASK-1 - Heat: \"water\" & 'steam' (ac: 0/1)"],
        "In Progress": ["TASK-2 - Beep (ac: 0/1)"],
        "Blocked": ["TASK-K-3 - Colour #1 (ac: 0/1)"],
    }
    assert "- [ ] #1 It beeps" in tool("task", "1", "--plain", cwd=folder)

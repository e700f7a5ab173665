"""What a real tool writes comes in whole: it makes a folder, and each of its tasks becomes one here.

`make import-tools` runs it: a tool comes from the registry of npm in a pinned version, into a folder that is thrown
away; where it cannot be had, its test is skipped and says why. A further tool is a row in TOOLS and a test.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.importing import hashes, shape_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Cli

AROUND = dict(os.environ)  # read before the tests have an environment that is nobody's
TOOLS = {"task-master": "task-master-ai@0.43.1"}  # program: package
WAIT = 600

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("IMPORT_TOOLS" not in AROUND, reason="`make import-tools` runs it"),
]


class Tool(NamedTuple):
    """A tool that is installed, and the folder in which it works."""

    program: Path
    place: Path

    def __call__(self, *arguments: str) -> None:
        """Run it; a failure shows what it said."""
        done = _run(str(self.program), *arguments, cwd=self.place)
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"


def _run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = AROUND | {"HOME": str(cwd)}
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        check=False,
        timeout=WAIT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def tool(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tool]:
    """Return the tool that a test names, in an empty folder; skips where npm or the registry has it not."""
    npm, folder, place = shutil.which("npm"), tmp_path / "tools", tmp_path / "place"
    folder.mkdir()
    place.mkdir()
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    options = ("--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund")
    done = _run(npm, "install", "--prefix", str(folder), *options, TOOLS[request.param], cwd=folder)
    if done.returncode:
        pytest.skip(f"{TOOLS[request.param]} cannot be had: {done.stderr.strip()[-300:]}")
    yield Tool(folder / "node_modules" / ".bin" / request.param, place)
    shutil.rmtree(folder)


@pytest.mark.parametrize("tool", ["task-master"], indirect=True)
def test_task_master(tool: Tool, cli: Cli) -> None:
    """Tasks, subtasks, dependencies of both, statuses and a second tag, without any model being asked."""
    tool("init", "--yes", "--name=Kettle", "--description=d", "--no-git", "--rules=cursor")
    tasks = tool.place / ".taskmaster" / "tasks" / "tasks.json"
    tasks.parent.mkdir(exist_ok=True)
    if not tasks.exists():  # the tool wants a model to make the first task, or the file
        tasks.write_text('{"master": {"tasks": [], "metadata": {}}}', encoding="utf-8")
    tool(
        "add-task",
        "--title=Read: the 'sensor'",
        "--description=Every second",
        "--details=Use the ADC",
        "--priority=high",
    )
    tool("add-task", "--title=Control loop", "--description=Hold it", "--dependencies=1")
    tool("add-subtask", "--parent=2", "--title=PID terms", "--description=Choose them")
    tool("add-subtask", "--parent=2", "--title=Anti windup", "--dependencies=2.1")
    tool("set-status", "--id=1", "--status=review")
    tool("set-status", "--id=2.1", "--status=done")
    tool("add-tag", "Beta_2", "--description=other")
    tool("add-task", "--tag=Beta_2", "--title=Colour", "--description=Paint")
    tool("generate")
    before = hashes(tool.place)
    done = cli.json("import", "taskmaster", tool.place)
    assert done["counts"] == {"in": 5, "task": 3, "part": 2, "kept": 0, "left": 0, "refused": 0}
    assert hashes(tool.place) == before
    workspace = cli.place.workspace
    shapes = {each["id"]: shape_of(workspace, each["id"]) for each in cli.json("list")}
    assert {key: (each["title"], each["status"]) for key, each in shapes.items()} == {
        "1": ("Read: the 'sensor'", "in_progress"),
        "2": ("Control loop", "in_progress"),  # as the tool says since its first subtask is done
        "beta_2-1": ("Colour", "created"),
    }
    assert (shapes["1"]["priority"], shapes["2"]["depends_on"], shapes["beta_2-1"]["epic"]) == ("P1", ["1"], "Beta_2")
    assert (shapes["2"]["feature_ids"], shapes["2"]["features"]) == (["2.1", "2.2"], [2, 1])
    for task_id, text in (("1", "Use the ADC"), ("2", "Choose them"), ("2", "after 2.1")):
        assert text in text_of(workspace, task_id)
    assert cli("lint", "--against", "none").status == 0

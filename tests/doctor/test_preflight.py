from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from taskstate.doctor.preflight import PAGES, PROMPTS, preflight
from taskstate.doctor.versions import differences
from taskstate.version import VERSION
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from pathlib import Path

STANDARD = "\n".join(f"- Rule {number}: do thing {number}.\n" for number in range(1, 12))
STARTS = "Begin with `taskstate start ID`.\n"
PLACES = (*PAGES, *(f"{folder}/x{ending}" for folder, ending in PROMPTS))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101 in progress, whose seal holds a standard."""
    place = Place(tmp_path / "repository")
    put(place, "docs/standard.md", f"# Standard\n\n{STANDARD}")
    sources = 'context: {sources: [{path: "docs/standard.md", sha256: "0"}]}\n'
    place.text = place.text.replace("status: created\n", f"status: in_progress\n{sources}")
    return place


def put(place: Place, name: str, text: str) -> None:
    """Write a file."""
    path = place.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def told(place: Place) -> list[tuple[str, int, str]]:
    """Return path, line and message of what is found."""
    return [(each.path, each.line, each.message) for each in preflight(place.workspace)]


@pytest.mark.parametrize("name", PLACES)
def test_state_file_that_is_gone_is_told_with_its_line(place: Place, name: str) -> None:
    """Wherever a prompt stands, a task that it names and that is not there is told; one that is there is not."""
    put(place, name, f"{STARTS}\nRead `.taskstate/tasks/task-999-state.md`, task-{TASK}-state.md, task-ID-state.md.\n")
    expected = "it names .taskstate/tasks/task-999-state.md, which is not there"
    assert told(place) == [(name, 3, expected)]


def test_pasted_standard_is_told(place: Place) -> None:
    """Six lines in a row of a file that the seal holds are a paste, however the blank lines stand."""
    rules = [line for line in STANDARD.splitlines() if line]
    put(place, "AGENTS.md", STARTS + "\n" + "\n".join(rules[2:8]) + "\n")
    put(place, "CLAUDE.md", STARTS + "\n".join(rules[2:7]) + "\nmine\n" + rules[7])
    assert [(path, line) for path, line, _ in told(place)] == [("AGENTS.md", 3)]
    assert "docs/standard.md, which the context of task 101 holds" in told(place)[0][2]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Agents\n\nThe state file holds the task.\n", 3),
        ("See .taskstate/ for tasks.\n", 1),
        ("Use taskstate.\n", 1),
        ("Use taskstate.\n\n`taskstate protocol ID`\n", 0),
        ("The state file.\n@AGENTS.md\n", 0),
        ("Write good code.\n", 0),
        ("", 0),
    ],
)
def test_missing_start_command_is_told(place: Place, text: str, line: int) -> None:
    """A prompt about tasks has them started by the command; one about other things needs none."""
    put(place, "AGENTS.md", text)
    assert [each[1] for each in told(place)] == [line] * bool(line)


def test_what_is_no_prompt_is_left_out(place: Place) -> None:
    """A link, a folder of that name and bytes that are no text are no fault."""
    (place.root / "AGENTS.md").symlink_to(place.root / "docs/standard.md")
    (place.root / "CLAUDE.md").mkdir()
    (place.root / "GEMINI.md").write_bytes(b"\xff\xfe\x00")
    assert told(place) == []


def test_other_version_of_the_hooks_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks that another version set up, and a command of another version on the path, are told."""
    program = place.root / "bin/taskstate"
    put(place, "bin/taskstate", "#!/bin/sh\necho taskstate 9.9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(program.parent), os.environ["PATH"]]))
    put(place, ".taskstate/set-up.json", json.dumps({"version": "0.0.1", "agents": ["claude"]}))
    messages = [each.message for each in differences(place.workspace)]
    assert messages[0] == f"the hooks were set up by version 0.0.1, this is {VERSION}"
    assert "of version 9.9" in messages[1]


@pytest.mark.parametrize(("rev", "is_told"), [("v0.0.1", True), (f"v{VERSION}", False), (VERSION, False)])
def test_other_version_of_the_commit_hooks_is_told(place: Place, rev: str, *, is_told: bool) -> None:
    """Hooks that pre-commit fetches have the version of the command line."""
    hooks = "  hooks:\n  - id: taskstate-lint\n"
    put(place, ".pre-commit-config.yaml", f"repos:\n- repo: https://example.invalid/taskstate\n  rev: {rev}\n{hooks}")
    assert [each.path for each in differences(place.workspace)] == [".pre-commit-config.yaml"] * is_told


@pytest.mark.parametrize("text", ["[", "{}", "[1]", '{"agents": 7}'])
def test_unusable_record_is_no_difference(place: Place, text: str) -> None:
    """A record of another form tells nothing of a version, or that it is unknown."""
    put(place, ".taskstate/set-up.json", text)
    assert all("None" in each.message for each in differences(place.workspace) if each.path)

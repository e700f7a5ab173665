"""What `status` prints for each need is run as it is printed: it shows the need, or ends it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.cures import filled
from tests.support.git_place import GitPlace
from tests.support.permanent_text import PERMANENT_TEXT
from tests.support.place import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow  # it starts processes of git

AUDIT = "audit:\n"
TURN = 'delta: {turn: {agent: ann, role: implementer, started_at: "2026-01-31T12:00:00Z"}}\n'
FINDING = "coordination:\n  implementer: {status: blocked, findings: [{id: 1, by: reviewer, text: no test}]}\n"
ANSWERED = '    - {at: "2026-01-31T13:00:00Z", event: finding-answered, role: implementer, finding: 1, note: so}\n'


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository in which a session of task 101 was recorded."""
    made = GitPlace(tmp_path / "repository")
    made.add("Began.")
    return made


def _says(old: str, new: str) -> Callable[[GitPlace], None]:
    def change(place: GitPlace) -> None:
        assert old in place.text
        place.text = place.text.replace(old, new, 1)

    return change


def _drift(place: GitPlace) -> None:
    place.write("src/b.py", "b = 2\n")
    place.take()
    _says(AUDIT, f"coordination: {{implementer: {{status: done}}}}\n{AUDIT}")(place)
    place.write("src/b.py", "b = 3\n")


def _decision(place: GitPlace) -> None:
    path = place.path.with_name("task-1-state.md")
    path.write_text(PERMANENT_TEXT.replace("**Status:** accepted", "**Status:** proposed"), encoding="utf-8")


def _trust(place: GitPlace) -> None:
    place.configure('[validation]\n"*" = ["true", "true; false"]\n')


def _ready(place: GitPlace) -> None:
    place.prove()
    for number in (1, 2):
        place.check(number)
    for part in ("Summary", "API Contract"):
        _says(f"### {part}\n\n*To be completed.*", f"### {part}\n\nTokens are issued.")(place)


def _gone(place: GitPlace) -> None:
    place.commit("tasks")
    place.path.unlink()


def _stashed(place: GitPlace) -> None:
    place.commit("tasks")
    place.add("More.")
    place.git("stash")


# What is made, and how many of the commands only look.
KINDS: Mapping[str, tuple[Callable[[GitPlace], None], int]] = {
    "damaged": (_says('"features": [', '"features": [,'), 1),
    "drift": (_drift, 1),
    "trust": (_trust, 1),
    "sent back": (_says(AUDIT, f"{FINDING}{AUDIT}  events:\n{ANSWERED * 2}"), 1),
    "silent": (_says(AUDIT, f"{TURN}{AUDIT}"), 1),
    "blocked": (_says("status: in_progress", "status: blocked"), 1),
    "decision": (_decision, 1),
    "ready": (_ready, 1),
    "damaged, gone": (_gone, 0),
    "damaged, stashed": (_stashed, 0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_printed_command_does_what_it_says(cli: Cli, place: GitPlace, kind: str, tmp_path: Path) -> None:
    """What looks leaves the need and writes nothing; each of the others ends it."""
    make, looks = KINDS[kind]
    make(place)
    if kind in {"drift", "sent back", "silent"}:
        cli.ok("doctor", "--reseal", "101", "--note", "as the test made it")
        place.text = re.sub(r"(?m)^updated_at: .*$", "updated_at: 2026-01-31T12:02:00Z", place.text)
    (actions,) = needed(cli, kind)
    before = tree(place.root)
    for action in actions[:looks]:
        run(cli, action)
        assert (tree(place.root), needed(cli, kind)) == (before, [actions]), action
    saved = shutil.copytree(place.root, tmp_path / "saved")
    for action in actions[looks:]:
        run(cli, action)
        assert needed(cli, kind) == [], action
        for each in place.root.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        shutil.copytree(saved, place.root, dirs_exist_ok=True)
    assert len(actions) > looks or kind in {"damaged", "ready"}


def needed(cli: Cli, kind: str) -> list[list[str]]:
    """Return the commands of each need of a kind."""
    data = json.loads(cli("status", "--format", "json").out)["data"]
    return [each["actions"] for each in data["needs"] if each["kind"] == kind.partition(",")[0]]


def run(cli: Cli, action: str) -> None:
    """Run a command as it is printed, with its blanks filled in."""
    program, *words = filled(action)
    if program == "git":
        subprocess.run([program, *words], cwd=cli.place.root, check=True, capture_output=True)
    else:
        assert cli(*words).status in {0, 1}, action

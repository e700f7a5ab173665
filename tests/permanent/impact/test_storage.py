"""Where the Impact Map is kept: in its section, over 16 KB in a file of its own, and back."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.model.permanent import IMPACT_MAP
from taskstate.permanent.impact.storage import load_map, repository_files
from tests.support.crashing import KILL_EVERY_FEW, forks, killed
from tests.support.impact_maps import map_with, module
from tests.turn.test_crashes import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.shared_context import SharedContext

LONG = "x" * 17_000
SRC = ("impact", "add", "module", "src", "--path", "src/**")
DOCS = ("impact", "add", "module", "docs", "--planned")
BIG = ("impact", "add", "interface", "big", "--between", "src,docs", "--contract", LONG)
SMALL = ("impact", "remove", "interface", "big")


def loaded_map(shared: SharedContext) -> dict[str, Any]:
    """Return the values of the map as everything reads them."""
    workspace = shared.place.workspace
    return dict(load_map(workspace, workspace.load(shared.path)).values)


def map_file(shared: SharedContext) -> Path:
    """Return the path of the map's own file."""
    return shared.path.with_name("task-1-impact-map.json")


@pytest.fixture
def spilled(shared: SharedContext) -> SharedContext:
    """Return a permanent task whose map has moved to its own file, committed."""
    for command in (SRC, DOCS, BIG):
        shared.cli.ok(*command)
    shared.place.commit("a long map")
    return shared


def test_the_canonical_form(shared: SharedContext) -> None:
    """A short entry stands on one line, and `fmt` has nothing to change."""
    shared.cli.ok(*SRC)
    shared.cli.ok(*DOCS, "--depends-on", "src")
    assert shared.section(IMPACT_MAP) == (
        "```json\n{\n"
        '  "modules": [\n'
        '    {"id": "src", "paths": ["src/**"], "depends_on": []},\n'
        '    {"id": "docs", "paths": [], "depends_on": ["src"], "planned": true}\n'
        '  ],\n  "interfaces": [],\n  "ripple_paths": []\n}\n```'
    )
    shared.cli.ok("fmt", "--check")
    shared.cli.ok("lint")


def test_a_long_map_moves_and_comes_back(spilled: SharedContext) -> None:
    """The section names the file with its hash; every command follows; lint and doctor find nothing either way."""
    assert shared_link(spilled).startswith("The map is in [task-1-impact-map.json](task-1-impact-map.json), sha256:")
    assert json.loads(map_file(spilled).read_text()) == loaded_map(spilled)
    assert "big (src, docs)" in spilled.cli.ok("impact", "show")
    spilled.cli.ok("lint")
    spilled.cli.ok("fmt", "--check")
    spilled.cli.ok(*SMALL)
    assert not map_file(spilled).exists()
    assert spilled.section(IMPACT_MAP).startswith('```json\n{\n  "modules"')
    assert [each["id"] for each in loaded_map(spilled)["modules"]] == ["src", "docs"]
    spilled.cli.ok("lint")
    assert spilled.cli("status").err == ""
    spilled.cli.ok(*BIG)
    assert spilled.cli("status").err == ""


def shared_link(shared: SharedContext) -> str:
    """Return the section's text."""
    return shared.section(IMPACT_MAP)


def test_words_beside_the_map_stay(shared: SharedContext) -> None:
    """Only the map is replaced, and only the line that names its file."""
    shared.text = shared.text.replace("## 3. Arch", "Drawn by hand.\n\n## 3. Arch")
    for command in (SRC, DOCS, BIG, SMALL):
        shared.cli.ok(*command)
        assert shared.section(IMPACT_MAP).count("Drawn by hand.") == 1
    assert shared.section(IMPACT_MAP).count("```") == 2
    assert "The map is in" not in shared.text


def test_a_map_whose_file_is_gone(spilled: SharedContext) -> None:
    """The command that brings it back is named, and works: git where that has it, else what is kept of each write."""
    before = loaded_map(spilled)
    map_file(spilled).unlink()
    said = spilled.cli.refused("impact", "show")
    cure = "git checkout HEAD -- .taskstate/tasks/task-1-impact-map.json"
    assert said.endswith(f"which does not exist: `{cure}` brings it back")
    spilled.place.git(*cure.split()[1:])
    assert loaded_map(spilled) == before
    spilled.cli.ok("impact", "add", "module", "more", "--planned")
    newer = loaded_map(spilled)
    map_file(spilled).unlink()
    said = spilled.cli("impact", "show").err
    assert "`taskstate doctor --fix` brings it back" in said
    assert "the Impact Map task-1-impact-map.json is gone" in said
    spilled.cli("doctor", "--fix")
    assert loaded_map(spilled) == newer


def test_a_map_whose_file_was_edited(spilled: SharedContext) -> None:
    """It is not read until somebody takes it back, or makes the edit the next version."""
    text = map_file(spilled).read_text()
    map_file(spilled).write_text(text.replace('"planned": true', '"planned": false, "x-by": "hand"'))
    for command in (("impact", "show"), SMALL, ("impact", "check", "101", "--files", "src/b.py")):
        said = spilled.cli.refused(*command)
        assert "its SHA-256 differs" in said
    version = spilled.version
    map_file(spilled).write_text(text.replace("xxx", "yyy", 1))
    spilled.cli.ok("permanent", "update", "--section", IMPACT_MAP, "--from", ".taskstate/tasks/task-1-impact-map.json")
    assert (spilled.version, spilled.log[0].level) == (version + 1, "architecture change")
    assert "yyy" in spilled.cli.ok("impact", "show")


def test_line_ends_that_git_gave_are_no_edit(spilled: SharedContext) -> None:
    """The hash is over the text with LF as line ends."""
    map_file(spilled).write_bytes(map_file(spilled).read_bytes().replace(b"\n", b"\r\n"))
    assert "big (src, docs)" in spilled.cli.ok("impact", "show")
    spilled.cli.ok("impact", "add", "module", "more", "--planned")
    assert b"\r" not in map_file(spilled).read_bytes()


@pytest.mark.parametrize("text", ["{", '{"x": 1}', "[]", ""])
def test_a_map_that_cannot_be_read(shared: SharedContext, text: str) -> None:
    """Each command that reads it says so in one line, and changes nothing."""
    shared.text = shared.text.replace("## 3. Arch", f"```json\n{text}\n```\n\n## 3. Arch")
    for command in (("impact", "show"), SRC, ("impact", "scan"), ("impact", "check", "101", "--files", "a.txt")):
        assert "the Impact Map of task 1" in shared.cli.refused(*command)


def test_files_of_the_repository(shared: SharedContext) -> None:
    """Tracked and new ones count; those that git ignores, deleted ones and taskstate's own do not."""
    shared.place.write(".gitignore", "*.log\n")
    shared.place.write("x.log", "")
    shared.place.write("new.txt", "")
    (shared.place.root / "a.txt").unlink()
    found = repository_files(shared.place.workspace)
    assert {"new.txt", "src/b.py"} <= {*found}
    assert not [each for each in found if each.endswith((".log", "a.txt")) or each.startswith(".taskstate/")]


@pytest.mark.slow
@forks
@pytest.mark.parametrize("command", [BIG, SMALL], ids=["out", "back"])
def test_a_kill_at_any_step_of_moving_the_map(shared: SharedContext, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Before and after, the section and the file say the same; the command again ends as one that was not killed."""
    for each in (SRC, DOCS) if command == BIG else (SRC, DOCS, BIG):
        shared.cli.ok(*each)
    root, origin, version = shared.place.root, tmp_path / "origin", shared.version
    shutil.copytree(root, origin)
    expected = map_with(module("src"), {"id": "docs", "paths": [], "depends_on": [], "planned": True})
    names = [] if command == BIG else ["big"]
    os.chdir(tmp_path)  # the repository is made anew for each step
    number, died = 1, True
    while died:
        shutil.rmtree(root)
        shutil.copytree(origin, root)
        with contextlib.chdir(root):
            died = killed(lambda: run(*command), number, torn=number % 2 == 0)
            assert run("status") == 0
            assert shared.version in (version, version + 1), number
            is_before = shared.version == version
            found = [each["id"] for each in loaded_map(shared)["interfaces"]]
            assert found == (names if is_before else [] if names else ["big"]), number
            assert loaded_map(shared)["modules"] == expected.values["modules"]
            assert run(*command) == (0 if is_before else 2), number
            assert run("lint") == 0, number
        assert map_file(shared).exists() == (command == BIG)
        number += KILL_EVERY_FEW
    assert number > 10


def test_two_branches_that_changed_a_map_in_its_own_file(spilled: SharedContext) -> None:
    """The file holds the entries of both, and the merged section names it by its hash."""
    place, cli = spilled.place, spilled.cli
    place.git("checkout", "-q", "-b", "left")
    cli.ok("impact", "add", "module", "left", "--planned")
    place.commit("left")
    place.git("checkout", "-q", "main")
    cli.ok("impact", "add", "module", "right", "--planned")
    place.commit("right")
    driver = f"{sys.executable} -m taskstate merge-driver %O %A %B %P"
    place.git("config", "merge.taskstate.driver", driver)
    place.git("merge", "-q", "--no-edit", "left")
    cli.ok("impact", "show")
    assert {"left", "right"} <= {each["id"] for each in loaded_map(spilled)["modules"]}
    cli.ok("lint")


def test_a_merge_conflict_in_the_map_is_told(spilled: SharedContext) -> None:
    """No command takes a section with conflict markers for one without a map."""
    link = shared_link(spilled)
    spilled.text = spilled.text.replace(link, f"<<<<<<< ours\n{link}\n=======\n{link}0\n>>>>>>> theirs")
    for command in (("impact", "show"), ("impact", "scan"), ("impact", "check", "101", "--files", "a.txt")):
        assert "it holds a merge conflict" in spilled.cli.refused(*command)

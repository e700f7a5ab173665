"""Two branches that both changed an Impact Map in a file of its own: map and section agree after the merge."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from taskstate.permanent.impact import storage
from taskstate.permanent.impact.storage import load_map
from taskstate.setup.repository import configure_git

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.shared_context import SharedContext


def add(shared: SharedContext, *names: str) -> None:
    """Add modules to the map."""
    modules = [{"id": name, "paths": ["src/**"], "depends_on": []} for name in names]
    shared.update("Codebase Impact Map", json.dumps({"modules": modules, "interfaces": [], "ripple_paths": []}))


@contextmanager
def on_a_branch(shared: SharedContext) -> Iterator[None]:
    """Make changes on a new branch `side`, and commit them there."""
    shared.place.git("checkout", "-q", "-b", "side")
    yield
    shared.place.commit("side")
    shared.place.git("checkout", "-q", "main")


def merged(shared: SharedContext) -> subprocess.CompletedProcess[str]:
    """Merge the branch `side` into `main`."""
    command = ["git", "merge", "-q", "--no-edit", "side"]
    return subprocess.run(command, cwd=shared.place.root, capture_output=True, text=True, check=False)


def test_the_section_follows_the_merged_map(shared: SharedContext) -> None:
    """Both sides' modules are in the map, the section names its hash, and nothing counts as edited by hand."""
    configure_git(shared.place.workspace)
    add(shared, *(f"module-{number}" for number in range(400)))
    shared.place.commit("a large map")
    with on_a_branch(shared):
        add(shared, "aside")
    add(shared, "main")
    shared.place.commit("main")
    done = merged(shared)
    assert done.returncode == 0, done.stdout + done.stderr
    workspace = shared.place.workspace
    assert {"aside", "main"} <= load_map(workspace, workspace.load(shared.path)).by_id.keys()
    assert shared.version == 4
    assert "No findings" in shared.cli.ok("lint")


SMALL = tuple(f"module-{number}" for number in range(20))
MANY = tuple(f"aside-{number}" for number in range(400))


@pytest.mark.parametrize("ours_moves", [True, False])
def test_one_side_moved_the_map_out(shared: SharedContext, ours_moves: bool) -> None:  # noqa: FBT001 - each side in turn
    """Changes of different entries do not conflict: the section has the whole map, and the next change moves it out."""
    configure_git(shared.place.workspace)
    add(shared, *SMALL)
    shared.place.commit("a small map")
    with on_a_branch(shared):
        add(shared, "few") if ours_moves else add(shared, *MANY)
    add(shared, *MANY) if ours_moves else add(shared, "few")
    shared.cli.ok("impact", "remove", "module", "module-3")
    shared.place.commit("main")
    done = merged(shared)
    assert done.returncode == 0, done.stdout + done.stderr
    workspace = shared.place.workspace
    names = load_map(workspace, workspace.load(shared.path)).by_id.keys()
    assert names == {*SMALL, *MANY, "few"} - {"module-3"}
    assert "No findings" in shared.cli.ok("lint")
    add(shared, "after")
    loaded = workspace.load(shared.path)
    assert "impact-map.json" in loaded.document.text
    assert load_map(workspace, loaded).by_id.keys() == {*names, "after"}
    assert "No findings" in shared.cli.ok("lint")


def test_one_side_took_the_map_back(shared: SharedContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one side's map is short again and the other's changed, the section has both; git asks about the file."""
    configure_git(shared.place.workspace)
    with monkeypatch.context() as patched:
        patched.setattr(storage, "MAX_BYTES", 10)
        add(shared, *SMALL)
        shared.place.commit("a map in its own file")
        with on_a_branch(shared):
            add(shared, "theirs")
    add(shared, "ours")
    shared.place.commit("main")
    map_file = shared.place.workspace.map_file("1")
    assert not map_file.exists()
    assert "deleted in HEAD and modified in side" in merged(shared).stdout
    shared.place.git("rm", "-q", str(map_file))
    workspace = shared.place.workspace
    loaded = workspace.load(shared.path)
    assert load_map(workspace, loaded).by_id.keys() == {*SMALL, "ours", "theirs"}
    assert "No findings" in shared.cli.ok("lint")


@pytest.mark.parametrize("base", [(), SMALL])
def test_both_sides_moved_the_map_out(
    shared: SharedContext, monkeypatch: pytest.MonkeyPatch, base: tuple[str, ...]
) -> None:
    """The section names the file that git merged, with what either side added."""
    configure_git(shared.place.workspace)
    if base:
        add(shared, *base)
    shared.place.commit("before")
    monkeypatch.setattr(storage, "MAX_BYTES", 10)
    with on_a_branch(shared):
        add(shared, "theirs")
    add(shared, "ours")
    shared.place.commit("main")
    done = merged(shared)
    assert done.returncode == 0, done.stdout + done.stderr
    workspace = shared.place.workspace
    assert load_map(workspace, workspace.load(shared.path)).by_id.keys() == {*base, "ours", "theirs"}
    assert "No findings" in shared.cli.ok("lint")


def test_a_map_that_got_short_takes_no_old_file_along(shared: SharedContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that a merge left behind goes with the next change of a map that stands in its section."""
    add(shared, *SMALL)
    text = shared.text
    with monkeypatch.context() as patched:
        patched.setattr(storage, "MAX_BYTES", 10)
        add(shared, "left")
    shared.text = text
    shared.place.forget()
    add(shared, "new")
    workspace = shared.place.workspace
    assert not workspace.map_file("1").exists()
    assert load_map(workspace, workspace.load(shared.path)).by_id.keys() == {*SMALL, "new"}

"""Two branches that both changed an Impact Map in a file of its own: map and section agree after the merge."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from taskstate.permanent.impact.storage import load_map
from taskstate.workspace.setup import install_merge_driver

if TYPE_CHECKING:
    from tests.support.shared_context import SharedContext


def add(shared: SharedContext, *names: str) -> None:
    """Add modules to the map."""
    modules = [{"id": name, "paths": ["src/**"], "depends_on": []} for name in names]
    shared.update("Codebase Impact Map", json.dumps({"modules": modules, "interfaces": [], "ripple_paths": []}))


def test_the_section_follows_the_merged_map(shared: SharedContext) -> None:
    """Both sides' modules are in the map, the section names its hash, and nothing counts as edited by hand."""
    install_merge_driver(shared.place.workspace)
    add(shared, *(f"module-{number}" for number in range(400)))
    shared.place.commit("a large map")
    shared.place.git("checkout", "-q", "-b", "side")
    add(shared, "aside")
    shared.place.commit("side")
    shared.place.git("checkout", "-q", "main")
    add(shared, "main")
    shared.place.commit("main")
    done = subprocess.run(
        ["git", "merge", "-q", "--no-edit", "side"], cwd=shared.place.root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    workspace = shared.place.workspace
    assert {"aside", "main"} <= load_map(workspace, workspace.load(shared.path)).by_id.keys()
    assert shared.version == 4
    assert "No findings" in shared.cli.ok("lint")

"""An update that is killed at any change of the disk leaves the version before or after, and again makes one."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from taskstate.model import permanent
from taskstate.model.permanent import CONSTRAINTS, LoggedVersion
from tests.support.crashing import KILL_EVERY_FEW, forks, killed
from tests.turn.test_crashes import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.shared_context import SharedContext

pytestmark = [pytest.mark.slow, forks]


def test_a_kill_at_any_step_of_an_update(shared: SharedContext, tmp_path: Path) -> None:
    """Also of one that moves the oldest line of the Change Log into the archive: it stands in one of the two."""
    line = LoggedVersion(1, "2026-01-01T00:00:00Z", "lead", (CONSTRAINTS,), "x").line
    lines = "".join(f"{line.replace('v1', f'v{number}')}\n" for number in range(50, 1, -1))
    shared.text = shared.text.replace("- v1 - ", f"{lines}- v1 - ").replace("version: 1\n", "version: 50\n")
    (tmp_path / "content.md").write_text("- **Latency:** 100 ms\n")
    command = ("permanent", "update", "--section", CONSTRAINTS, "--from", str(tmp_path / "content.md"))
    root, origin = shared.cli.place.root, tmp_path / "origin"
    shutil.copytree(root, origin)
    archive = shared.cli.place.workspace.state_root / "archives" / "task-1-archive.md"
    os.chdir(tmp_path)  # the repository is made anew for each step
    number, died = 1, True
    while died:
        shutil.rmtree(root)
        shutil.copytree(origin, root)
        with contextlib.chdir(root):
            died = killed(lambda: run(*command), number, torn=number % 2 == 0)
            assert run("status") == 0
            assert shared.version in (50, 51), number
            assert run(*command) == 0
            assert run("lint") == 0, number
        assert shared.version == 51
        archived = archive.read_text()
        listed = [each.number for each in permanent.change_log(shared.state)]
        assert (listed, archived.count("- v1 - ")) == ([*range(51, 1, -1)], 1), number
        number += KILL_EVERY_FEW
    assert number > 10

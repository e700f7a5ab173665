"""A migration that is killed at any change of the disk leaves the old files or the new; again, it makes the new."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.migration.test_migrate import ARCHIVE, ARCHIVED, OLDER, put
from tests.support.crashing import KILL_EVERY_FEW, forks, killed
from tests.turn.test_crashes import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

pytestmark = [pytest.mark.slow, forks]
OLD_ARCHIVE = ".specflux/archives/task-201-archive.md"


def test_a_kill_at_any_step_of_a_migration(cli: Cli, tmp_path: Path) -> None:
    """The sessions of the archive stand in the old file or in the new one, whenever it strikes."""
    put(cli, OLDER, ARCHIVED)
    put(cli, OLD_ARCHIVE, ARCHIVE)
    root, origin = cli.place.root, tmp_path / "origin"
    shutil.copytree(root, origin)
    new_archive = root / ".taskstate" / "archives" / "task-201-archive.md"
    os.chdir(tmp_path)  # the repository is made anew for each step
    number, died = 1, True
    while died:
        shutil.rmtree(root)
        shutil.copytree(origin, root)
        with contextlib.chdir(root):
            died = killed(lambda: run("migrate"), number, torn=number % 2 == 0)
            places = [path for path in (root / OLD_ARCHIVE, new_archive) if path.exists()]
            assert any("## Session 2 - 2024-11-26 14:30\n**What I did:** two" in path.read_text() for path in places)
            run("status")  # finishes what was begun
            assert run("migrate") == 0
            assert run("lint") == 0, number
        assert not (root / OLD_ARCHIVE).exists()
        assert (root / OLDER).read_text().count("### Session 3 - 2024-11-26 15:30") == 1
        number += KILL_EVERY_FEW
    assert number > 10

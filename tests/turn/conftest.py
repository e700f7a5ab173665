"""A git repository with task 101, and the command line in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace
from tests.support.turns import Turns

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path / "repository")


@pytest.fixture
def turns(place: GitPlace, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Turns:
    """Return the turns in that repository."""
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("TASKSTATE_ACTOR", "somebody")
    return Turns(Cli(place, monkeypatch, capfd))

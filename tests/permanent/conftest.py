"""A git repository with task 101 and the permanent task 1, and the command line in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace
from tests.support.shared_context import SharedContext

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path / "repository")


@pytest.fixture
def shared(place: GitPlace, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> SharedContext:
    """Return the permanent task in that repository."""
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("TASKSTATE_ACTOR", "lead")
    return SharedContext(Cli(place, monkeypatch, capfd))

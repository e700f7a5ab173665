"""An empty repository to import into, and the command line in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Cli
from tests.support.importing import Empty

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return the command line in a repository that is set up and has no task."""
    place = Empty(tmp_path / "repository")
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("TASKSTATE_ACTOR", "ann")
    return Cli(place, monkeypatch, capfd)

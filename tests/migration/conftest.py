"""The repository and the command line that the tests of migrations work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return the command line in a git repository, of which it is the working folder."""
    place = GitPlace(tmp_path / "repository")
    monkeypatch.chdir(place.root)
    return Cli(place, monkeypatch, capfd)

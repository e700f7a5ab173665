"""What tests of the whole share: the command where git and `doctor` look for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def command_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have git find our merge driver, as where the command is installed."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))

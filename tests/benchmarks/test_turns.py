"""What turns may cost, counted by the benchmark."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from benchmarks.peers import backlog
from benchmarks.turns import turns

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_turns_cost_no_more_than_they_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands and tokens of all turns are within their limits; without network a peer is skipped, with its reason."""
    _without_network(tmp_path, monkeypatch)
    measured = [each for each in turns(tmp_path) if not each.name.startswith("own time")]
    assert len(measured) == 19
    assert [each for each in measured if each.target and each.ratio > each.target] == []
    assert [each.reference for each in measured if "plain notes" in each.reference] == ["plain notes", "plain notes"]
    assert [each.reference for each in measured if "skipped" in each.reference] == [
        "backlog.md, skipped: npm cannot install it: ENOTCACHED"
        if shutil.which("npm")
        else "backlog.md, skipped: npm is not installed"
    ]


def test_without_npm_the_peer_is_refused_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where npm is not installed, the message says so, and nothing is written."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="npm is not installed"):
        backlog(tmp_path / "npm")
    assert list(tmp_path.iterdir()) == []


def _without_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let npm use nothing but a cache that is empty."""
    monkeypatch.setenv("npm_config_offline", "true")
    monkeypatch.setenv("npm_config_cache", str(folder / "npm-cache"))

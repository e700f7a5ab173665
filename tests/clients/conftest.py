"""Scenarios with real clients: `make clients`. They are collected only with CLIENTS in the environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clients.room import NAMESPACES, Room
from tests.clients.table import CLIENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clients.table import Client

if "CLIENTS" not in os.environ:
    collect_ignore_glob = ["test_*.py"]


# The sandbox of Codex keeps a lock for all of a user's sessions, whatever TMPDIR says.
_LOCK = Path("/", "tmp", f"codex-bwrap-synthetic-mount-targets-{os.getuid()}")
_HAD_LOCK = _LOCK.exists()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the lock of Codex where there was none before."""
    if not _HAD_LOCK and not hasattr(session.config, "workerinput"):
        shutil.rmtree(_LOCK, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def namespaces() -> None:
    """Skip everything where a network of its own cannot be had."""
    try:
        done = subprocess.run([*NAMESPACES, "true"], capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"namespaces cannot be had: {error}")
    if done.returncode:
        pytest.skip(f"namespaces cannot be had: {done.stderr.strip()}")


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path) -> Iterator[None]:
    """Hold of each scenario that no process of it is left, and that nothing is new in the HOME of who runs it."""
    before = _own()
    yield
    assert _own() == before
    assert [name for name in _running() if str(tmp_path) in name] == []


def _own() -> dict[str, float]:
    """Return when each folder that a client would write into, had it another HOME, was changed."""
    names = (".claude", ".claude.json", ".codex", ".gemini")
    paths = (each for name in names if (each := Path.home() / name).exists())
    return {str(path): path.stat().st_mtime for path in paths}


def _running() -> Iterator[str]:
    """Yield the command and the environment of each process that may be seen."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield (folder / "cmdline").read_text(errors="replace") + (folder / "environ").read_text(errors="replace")
        except OSError:
            continue  # it is over, or somebody else's


@pytest.fixture(params=CLIENTS, ids=str)
def client(request: pytest.FixtureRequest) -> Client:
    """Return each client in turn; a test that is only about some parametrizes it itself."""
    chosen: Client = request.param
    return chosen


@pytest.fixture
def room(client: Client, tmp_path: Path) -> Room:
    """Return a room for the client, set up with nothing but `init --agent`."""
    return Room(client, tmp_path, "--quiet")

"""Scenarios with real clients: `make clients`. They are collected only with CLIENTS in the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.clients.room import NAMESPACES, Room
from tests.clients.table import CLIENTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.table import Client

if "CLIENTS" not in os.environ:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session", autouse=True)
def namespaces() -> None:
    """Skip everything where a network of its own cannot be had."""
    try:
        done = subprocess.run([*NAMESPACES, "true"], capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"namespaces cannot be had: {error}")
    if done.returncode:
        pytest.skip(f"namespaces cannot be had: {done.stderr.strip()}")


@pytest.fixture(params=CLIENTS, ids=str)
def client(request: pytest.FixtureRequest) -> Client:
    """Return each client in turn; a test that is only about some parametrizes it itself."""
    chosen: Client = request.param
    chosen.installed()
    return chosen


@pytest.fixture
def room(client: Client, tmp_path: Path) -> Room:
    """Return a room for the client, set up with nothing but `init --agent`."""
    return Room(client, tmp_path, "--quiet")

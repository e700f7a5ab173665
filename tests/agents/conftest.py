"""Repositories in which an agent's client calls a hook."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.__main__ import main
from tests.support.git_place import GitPlace
from tests.support.place import TASK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STATE = f".taskstate/tasks/task-{TASK}-state.md"


class Client:
    """A client in the repository of `place`: calls a hook, and reads its answer."""

    def __init__(self, place: GitPlace, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.place, self.monkeypatch, self.capfd = place, monkeypatch, capfd
        self.said = ""  # on standard error, by the last call

    def run(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run a command that succeeds, and return what it printed."""
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capfd.readouterr()
        status = main([*arguments])
        out, self.said = self.capfd.readouterr()
        assert status == 0, self.said
        return out

    def hook(self, *arguments: str, given: object = None, stdin: bytes = b"") -> Any:  # noqa: ANN401 - any JSON
        """Call a hook, and return its answer."""
        data = stdin if given is None else json.dumps(given).encode()
        return json.loads(self.run("hook", *arguments, stdin=data))

    @property
    def log(self) -> str:
        """The log of what went wrong; empty where there is none."""
        folder = self.place.workspace.private.write
        assert folder
        path = folder / "hooks.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def arrange(self, world: str) -> None:
        """Bring the repository into the state that a case names."""
        WORLDS[world](self)


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Client:
    """Return a client in a git repository on branch 101-jwt with task 101."""
    place = GitPlace(tmp_path / "repository")
    place.git("checkout", "--quiet", "-b", "101-jwt")
    monkeypatch.chdir(place.root)
    return Client(place, monkeypatch, capfd)


def _no_task(client: Client) -> None:
    client.place.path.unlink()


def _turn(client: Client) -> None:
    client.run("start", TASK, "--agent", "ann")


def _changed(client: Client) -> None:
    _turn(client)
    client.place.write("b.txt", "new\n")


def _recorded(client: Client) -> None:
    _changed(client)
    client.run("session", "add", TASK, "--did", "Wrote b.", "--state", "Half.", "--next", "Go on.")


def _shared(client: Client) -> None:
    client.run("new", "P1", "--kind", "permanent", "--title", "Shared")


def _sealed(client: Client) -> None:
    client.run("context", "init", TASK)


def _archive(client: Client) -> None:
    client.place.fill(1, 2, 3, 4, 5, 6, 7)
    client.place.archive()


def _broken(client: Client) -> None:
    client.place.text = client.place.text.replace("status: created", "status: nearly")


def _nothing(client: Client) -> None:
    del client


WORLDS: dict[str, Callable[[Client], None]] = {
    "fresh": _nothing,
    "no-task": _no_task,
    "turn": _turn,
    "changed": _changed,
    "recorded": _recorded,
    "shared": _shared,
    "sealed": _sealed,
    "archive": _archive,
    "broken": _broken,
}

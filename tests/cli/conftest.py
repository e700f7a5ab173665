"""The command line in this very process: as exact as the real one, and twenty times as fast.

What only a process can show (exit status, streams that close, signals) is tested by `run_cli`.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from taskstate.__main__ import main
from tests.support import cures
from tests.support.place import Place, tree

EXAMPLE = (Path(__file__).parents[1] / "cases" / "states" / "reviewed.md").read_text(encoding="utf-8")


class Said(NamedTuple):
    """What a command said: its exit status, standard output, standard error."""

    status: int
    out: str
    err: str


class Cli:
    """The command line in the repository of `place`."""

    def __init__(self, place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.place = place
        self.monkeypatch = monkeypatch
        self.capfd = capfd

    def __call__(self, *arguments: str | Path, stdin: str | bytes = b"") -> Said:
        """Run a command, and return what it said; there is never a traceback."""
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        self.capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        text = Said(status, *self.capfd.readouterr())
        assert "Traceback" not in text.err
        cures.met([*map(str, arguments)], Path.cwd(), status, text.out + text.err, data)
        return text

    def ok(self, *arguments: str | Path, stdin: str | bytes = b"") -> str:
        """Run a command that succeeds, and return what it printed."""
        result = self(*arguments, stdin=stdin)
        assert result.status == 0, result
        return result.out

    def json(self, *arguments: str | Path, stdin: str | bytes = b"", status: int = 0) -> Any:  # noqa: ANN401 - any JSON
        """Run a command that succeeds, and return the data of its JSON."""
        result = self(*arguments, "--format", "json", stdin=stdin)
        envelope = json.loads(result.out)
        assert result.status == status, result
        assert list(envelope) == ["success", "data", "error", "code"]
        assert (envelope["success"], envelope["error"], envelope["code"]) == (True, None, None)
        return envelope["data"]

    def refused(self, *arguments: str | Path, stdin: str | bytes = b"") -> str:
        """Run a command that is refused with one line and nothing changed, and return that line.

        In JSON it is refused just so, and the envelope says the same. What is told beside it is left out.
        """
        before = tree(self.place.root)
        result = self(*arguments, stdin=stdin)
        assert (result.status, result.out) == (2, ""), result
        assert result.err.startswith("taskstate: ")
        said = result.err.splitlines()  # a refusal for a loss says the same, and stands alone
        lines = [line for line in said if not line.endswith("accepts the loss")] or said
        assert len(lines) == 1, lines
        in_json = self(*arguments, "--format=json", stdin=stdin)
        envelope = json.loads(in_json.out)
        assert (in_json.status, envelope["success"], envelope["data"]) == (2, False, None)
        assert envelope["error"]
        assert envelope["code"]
        assert in_json.err == result.err
        assert tree(self.place.root) == before
        return lines[0].removeprefix("taskstate: ")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101, without git."""
    return Place(tmp_path / "repository")


@pytest.fixture
def reviewed(place: Place) -> Place:
    """Return a repository whose task 101 has an archive, a review and a sealed context."""
    place.text = EXAMPLE
    sessions = (f"## Session {number} - 2026-01-31 0{number}:00\n\nStructure.\n" for number in (1, 2))
    place.archive_path.write_text("\n".join(("# Archive\n", *sessions)), encoding="utf-8")
    return place


@pytest.fixture
def cli(place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return the command line, at work in the repository of `place`."""
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("TASKSTATE_ACTOR", "somebody")
    return Cli(place, monkeypatch, capfd)

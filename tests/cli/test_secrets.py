"""No command writes a secret unasked, and none says one."""

from __future__ import annotations

import json
import re
import tempfile
from typing import TYPE_CHECKING

import pytest

from taskstate.tasks import sessions
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKEN = "ghp_" + BODY
SESSION = ("session", "add", "101", "--did", f"used {TOKEN}", "--state", "s", "--next", "n")
WRITES = (
    SESSION,
    ("feature", "add", "101", "jwt-2", f"uses {TOKEN}"),
    ("feature", "pass", "101", "jwt-1", "--evidence", f"ran with {TOKEN}"),
    ("feature", "pass", "101", "jwt-1", "--run", f"true {TOKEN}"),
    ("new", "7", "--title", f"Rotate {TOKEN}"),
    ("new", "7", "--title", "T", "--description", f"Rotate {TOKEN}"),
    ("criterion", "check", "101", "1", "--actor", TOKEN),
    ("doctor", "renumber", "101", "102", "--actor", TOKEN),
    ("phase", "add", "101", "1", "--name", "Keys", "--objective", f"Rotate {TOKEN}"),
    (
        *("handoff", "new", "101", "--force", "--action", f"Rotate {TOKEN}."),
        *("--file", "taskstate.toml", "--location", "top", "--goal", "done"),
    ),
    ("evidence", "add", "101", "--type", "log", "--path", "app.log"),
    ("qa", "record", "101", "--from", "app.log", "--result", "test=2 passed"),
)
QUOTING = (
    ("session", "show", "101", TOKEN),
    ("feature", "pass", "101", TOKEN, "--evidence", "x"),
    ("feature", "pass", "101", "jwt-1", "--run", f"exit 3 # {TOKEN}"),
    ("show", TOKEN),
    ("show", "101", "--section", TOKEN),
    ("list", "--status", TOKEN),
    ("criterion", "check", "101", "1", "--expect-revision", TOKEN),
    (TOKEN,),
    ("list", f"--{TOKEN}"),
    ("lint", TOKEN),
    ("new", "8", "--title", "T", "--from", f"{TOKEN}.yaml"),
    ("protocol", "--role", TOKEN),
    ("protocol", "--agent", TOKEN),
    ("rule", TOKEN),
    ("list", "--config", f"{TOKEN}.toml"),
)


@pytest.fixture(autouse=True)
def log(cli: Cli) -> None:
    """Write a log with a secret in it."""
    (cli.place.root / "app.log").write_text(f"start\n{TOKEN}\nend\n", encoding="utf-8")


@pytest.mark.parametrize("arguments", WRITES, ids=range(len(WRITES)))
def test_every_writer_refuses_and_says_nothing(cli: Cli, arguments: tuple[str, ...]) -> None:
    """Exit status 2, one line that names the kind, nothing changed; the same with --dry-run and as JSON."""
    before = tree(cli.place.root)
    for more in ((), ("--dry-run",), ("--format", "json"), ("--quiet",)):
        result = cli(*arguments, *more)
        assert (result.status, result.err.count("\n")) == (2, 1), result
        assert "looks like a GitHub token" in result.err
        assert BODY[:8] not in result.out + result.err
        assert tree(cli.place.root) == before


def test_forced_it_is_written_warned_of_and_remembered(cli: Cli) -> None:
    """The warning goes to standard error, with --quiet too; the event names kinds, actor and time."""
    for more in (("--force-secrets",), ("--force-secrets", "--quiet")):
        result = cli(*(each.replace("R8", f"R{len(more)}") for each in SESSION), *more)
        assert result.status == 0
        assert re.fullmatch(r"warning: \S+, line \d+: this looks like a GitHub token; written anyway\n", result.err)
        assert BODY[:8] not in result.out
    shown = cli.ok("show", "101")
    assert cli.place.text.count("event: secrets-forced, note: a GitHub token (1)") == 2
    assert BODY[:8] in cli.place.text
    assert "secrets-forced" not in shown or TOKEN not in shown


def test_forced_with_json(cli: Cli) -> None:
    """The notes of the result tell the warning, and the value is in no output."""
    result = cli(*SESSION, "--force-secrets", "--format", "json")
    data = json.loads(result.out)["data"]
    assert any("looks like a GitHub token" in note for note in data["notes"])
    assert BODY[:8] not in result.out + result.err
    dry = cli("new", "8", "--title", f"T {TOKEN}", "--force-secrets", "--dry-run")
    assert BODY[:8] not in dry.out + dry.err
    assert "T ****" in dry.out


@pytest.mark.parametrize("arguments", QUOTING, ids=range(len(QUOTING)))
def test_no_error_quotes_a_secret(cli: Cli, arguments: tuple[str, ...]) -> None:
    """What was typed is quoted with stars where it looks like a credential."""
    for more in ((), ("--format", "json")):
        result = cli(*arguments, *more)
        assert result.status in {1, 2}
        assert BODY[:8] not in result.out + result.err


@pytest.mark.parametrize(
    "arguments",
    [
        *(("list",), ("list", "--format", "json"), ("status", "101"), ("status", "101", "--format", "json")),
        *(("brief", "101"), ("next",), ("doctor",), ("lint",), ("fmt", "--check"), ("start", "101")),
    ],
)
def test_no_problem_of_a_file_quotes_a_secret(cli: Cli, arguments: tuple[str, ...]) -> None:
    """What is wrong with a file is said without the credential that stands there."""
    cli.place.text = cli.place.text.replace('"features": [', f'"features" {TOKEN} [')
    done = cli(*arguments)
    assert TOKEN not in done.out + done.err


@pytest.mark.parametrize("arguments", [("list",), ("lint",), ("doctor",), ("doctor", "--format", "json"), ("trust",)])
def test_no_problem_of_the_configuration_quotes_a_secret(cli: Cli, arguments: tuple[str, ...]) -> None:
    """Nor is a credential repeated that stands in the configuration, where something else belongs."""
    (cli.place.root / "taskstate.toml").write_text(f'[size]\nwarn-kb = "{TOKEN}"\n', encoding="utf-8")
    done = cli(*arguments)
    assert "size.warn-kb" in done.out + done.err
    assert TOKEN not in done.out + done.err


def test_the_log_of_a_fault_holds_no_secret(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A fault of our own quotes what it was about: the log of it has stars there."""

    def broken(*_: object, **__: object) -> object:
        raise KeyError(TOKEN)

    monkeypatch.setattr(sessions, "add", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = cli("session", "add", "101", "--did", "x", "--state", "s", "--next", "n")
    assert result.status == 3
    (log,) = tmp_path.glob("taskstate-fault-*.log")
    text = log.read_text(encoding="utf-8")
    assert "KeyError: '****" in text
    assert BODY[:8] not in text + result.out + result.err


def test_lint_finds_what_was_put_there_by_hand(cli: Cli) -> None:
    """What no command would write is a finding, unless its line allows it."""
    text = cli.place.text
    for line, status in ((f"- {TOKEN}", 1), (f"- {TOKEN} <!-- taskstate: allow secret -->", 0)):
        cli.place.text = text.replace("Issue tokens.", f"Issue tokens.\n\n{line}")
        result = cli("lint")
        assert result.status == status, result
        assert BODY[:8] not in result.out + result.err

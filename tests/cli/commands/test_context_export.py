from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place


@pytest.fixture
def reviewed(reviewed: Place) -> Place:
    """Return the example without its seal: its sources are not here, and what is sealed and stale is not exported."""
    seal = "ab" * 32
    reviewed.text = reviewed.text.replace(f'  seal: "{seal}"\n', "", 1)
    return reviewed


def test_export_is_canonical_json(cli: Cli, reviewed: Place) -> None:
    """The export goes to standard output as it is, the same each time, and another role gets another."""
    before = tree(reviewed.root)
    out = cli.ok("context", "export", "101", "--role", "reviewer")
    assert out == json.dumps(json.loads(out), sort_keys=True, ensure_ascii=False, indent=2) + "\n"
    assert out == cli.ok("context", "export", "101", "--role", "reviewer", "--quiet")
    assert out != cli.ok("context", "export", "101", "--role", "validator")
    assert tree(reviewed.root) == before


@pytest.mark.usefixtures("reviewed")
def test_export_in_json(cli: Cli) -> None:
    """A program gets the export with the hash of its canonical bytes."""
    out = cli.ok("context", "export", "101", "--role", "reviewer")
    data = cli.json("context", "export", "101", "--role", "reviewer")
    assert data["export"] == json.loads(out)
    assert (data["role"], data["sha256"], data["output"]) == (
        *("reviewer", hashlib.sha256(out.encode()).hexdigest(), None),
    )


def test_export_into_a_file(cli: Cli, reviewed: Place, tmp_path: Path) -> None:
    """With --output a file holds the same bytes; a second time it is replaced."""
    out = cli.ok("context", "export", "101", "--role", "validator")
    for _ in range(2):
        output = cli.ok("context", "export", "101", "--role", "validator", "--output", tmp_path / "x.json")
        assert output == f"{tmp_path / 'x.json'}: what the validator needs of task 101\n"
        assert (tmp_path / "x.json").read_bytes() == out.encode()
    assert cli.json("context", "export", "101", "--role", "validator", "--output", "y.json")["output"] == "y.json"
    assert (reviewed.root / "y.json").read_bytes() == out.encode()


def test_export_goes_nowhere_else(cli: Cli, place: Place) -> None:
    """A file of ours, a folder that is missing, and a role that is none are refused."""
    state = ".taskstate/tasks/task-101-state.md"
    assert "one of taskstate's own files" in cli.refused(
        "context", "export", "101", "--role", "reviewer", "--output", state
    )
    assert "cannot write" in cli.refused("context", "export", "101", "--role", "reviewer", "--output", "no/x.json")
    assert cli.refused("context", "export", "101", "--role", "Reviewer").endswith("did you mean reviewer?")
    assert "required: --role" in cli.refused("context", "export", "101")
    assert place.path.read_bytes().startswith(b"---")


def test_no_control_character_reaches_a_terminal(cli: Cli, reviewed: Place) -> None:
    """What would reorder text on a screen is escaped, and the JSON says the same."""
    reviewed.text = reviewed.text.replace("Issue and verify tokens.", "Issue \u202e tokens.")
    out = cli.ok("context", "export", "101", "--role", "reviewer")
    assert "\u202e" not in out
    assert json.loads(out)["description"].startswith("Issue \u202e tokens.")


@pytest.mark.usefixtures("reviewed")
def test_budget_as_a_table_and_as_json(cli: Cli) -> None:
    """People see a table with a line for each part and role, programs the same numbers."""
    data = cli.json("context", "budget", "101")
    out = cli.ok("context", "budget", "101")
    assert f"{data['before']:,}" in out
    assert f"{data['saved_percent']} %" in out
    assert [each["role"] for each in data["roles"]] == ["implementer", "reviewer", "validator"]
    assert [line.split()[0] for line in out.split("\n") if line.startswith("  ")] == [
        *("task", "standard", "standard", "state", "archive", "baseline", "together"),
        *("role", "implementer", "reviewer", "validator", "all"),
    ]


def test_only_an_export_is_replaced_unasked(cli: Cli, tmp_path: Path) -> None:
    """A file that holds anything else stays, also JSON of another kind; --force replaces it."""
    output = tmp_path / "x.json"
    command = ("context", "export", "101", "--role", "validator", "--output", output)
    for text in ("mine", '{"task": 1}', "[" * 9000):
        output.write_text(text, encoding="utf-8")
        assert "add --force" in cli.refused(*command)
        assert output.read_text(encoding="utf-8") == text
    cli.ok(*command, "--force")
    assert json.loads(output.read_text(encoding="utf-8"))["role"] == "validator"

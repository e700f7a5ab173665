"""A context.json becomes the state file of its task: `tests/cases/migrate/context`, NAME.before.json and NAME.after.md.

A new case needs no Python: write the first file, run the tests with TASKSTATE_WRITE_CASES=1, and read the second.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.migration.test_migrate import put

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

CASES = Path(__file__).parents[1] / "cases" / "migrate" / "context"
NAMES = sorted(path.name.removesuffix(".before.json") for path in CASES.glob("*.before.json"))
SOURCE = ".agent-output/TASK-0824/context.json"
WRITE = bool(os.environ.get("TASKSTATE_WRITE_CASES"))  # the tests themselves run without the caller's variables
# What depends on when, by whom and at which commit it is written.
VOLATILE = re.compile(
    r'(?m)^updated_at:.*\n|^audit:\n(?:  .*\n)*|(?<=^created_at: )"20[3-9].*|(?<=^created_at: )"2026.*'
)


def before(name: str) -> str:
    """Return the context.json of a case."""
    return (CASES / f"{name}.before.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_context_becomes_a_state_file(cli: Cli, name: str) -> None:
    """As the case says; the source stays, and a second run has nothing to do."""
    source = put(cli, SOURCE, before(name))
    said = cli("migrate")
    assert said.status in {0, 1}, said.err
    assert said.out.startswith(f".taskstate/tasks/task-0824-state.md: migrated from {SOURCE}\n")
    text = cli.place.workspace.locate("0824").read_text(encoding="utf-8")
    expected = CASES / f"{name}.after.md"
    if WRITE:
        expected.write_text(VOLATILE.sub("", text), encoding="utf-8")
    assert VOLATILE.sub("", text) == expected.read_text(encoding="utf-8")
    assert source.read_text(encoding="utf-8") == before(name)
    assert cli("migrate").out == "nothing to migrate\n"
    assert cli("fmt", "--check").status == 0


def test_what_is_left_to_decide_is_said(cli: Cli) -> None:
    """A role that is done has no snapshot here: the linter's finding names the cure."""
    put(cli, SOURCE, before("all-fields"))
    said = cli("migrate", SOURCE)
    assert said.status == 1
    assert "TS702 implementer is done" in said.out
    assert "taskstate role reopen 0824 implementer" in said.out


def test_a_dry_run_creates_nothing(cli: Cli) -> None:
    """It shows the new file as a difference."""
    put(cli, SOURCE, before("least"))
    assert '+task_id: "0824"' in cli("migrate", "--dry-run").out
    assert not (cli.place.workspace.tasks / "task-0824-state.md").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is no JSON"),
        ("[]", "is no context of a task"),
        (before("least").replace("TASK-0824", "TASK-0825"), "its folder says 0824, and its text says TASK-0825"),
        (before("least").replace('"version": 1', '"version": 2'), "has version 2, and 1 is the only one known here"),
    ],
)
def test_what_is_no_context_is_refused(cli: Cli, text: str, why: str) -> None:
    """Nothing is written, and the message says why."""
    put(cli, SOURCE, text)
    said = cli("migrate")
    assert said.status == 2
    assert why in said.err
    assert not (cli.place.workspace.tasks / "task-0824-state.md").exists()


def test_a_credential_is_refused(cli: Cli) -> None:
    """As with every write; `--force-secrets` takes it over with a warning."""
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    put(cli, SOURCE, before("least").replace("Least", f"Use {key}"))
    assert cli("migrate").status == 2
    assert cli("migrate", "--force-secrets").status in {0, 1}

"""Files of every form that earlier versions wrote are read as they are, and stay whole when they are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.migration.test_migrate import commit

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

WRITTEN = Path(__file__).parents[1] / "cases" / "migrate" / "written"
NAMES = sorted(path.name.removesuffix(".state.txt") for path in WRITTEN.glob("*.state.txt"))
# Of the clock here, and of the repository that they were written in: commits, snapshots, artifacts.
ELSEWHERE = {"TS104", "TS403", "TS410", "TS702", "TS703", "TS704", "TS805"}


@pytest.fixture
def state(cli: Cli, request: pytest.FixtureRequest) -> Path:
    """Return the state file of the case that the test is called with, with its archive and its handoff in place."""
    root, name = cli.place.workspace.state_root, request.param
    path = root / "tasks" / "task-101-state.md"
    path.write_bytes((WRITTEN / f"{name}.state.txt").read_bytes())
    (root / "archives" / "task-101-archive.md").write_bytes((WRITTEN / f"{name}.archive.txt").read_bytes())
    handoff = re.search(r"open: (handoffs/\S+\.md)", path.read_text())
    if handoff:
        (root / handoff[1]).parent.mkdir(parents=True, exist_ok=True)
        (root / handoff[1]).write_bytes((WRITTEN / f"{name}.handoff.txt").read_bytes())
    (cli.place.root / "a.txt").write_text("a\n")
    commit(cli)
    return path


@pytest.mark.parametrize("state", NAMES, indirect=True)
def test_it_is_read_as_it_is(cli: Cli, state: Path) -> None:
    """There is nothing to migrate, every archived session is whole, and the linter finds no fault in its form."""
    before = state.read_bytes()
    assert cli("migrate").out == "nothing to migrate\n"
    assert cli("archive", "verify", "101").status == 0
    found = cli("lint", "--output-format", "concise").out
    assert set(re.findall(r" (TS\w+) ", found)) <= ELSEWHERE, found
    assert state.read_bytes() == before


@pytest.mark.parametrize("state", NAMES, indirect=True)
def test_a_write_keeps_all_of_it(cli: Cli, state: Path) -> None:
    """A session is added, the last batch comes back from the archive, and the findings keep their text."""
    finding = "a.txt: no newline" in state.read_text()
    assert cli("session", "add", "101", "--did", "a", "--state", "b", "--next", "c").status == 0
    assert cli("archive", "restore", "101", "--all").status == 0
    after = read_state(parse(state.read_text()))
    assert [each.number for each in after.sessions] == [*range(1, 9)]
    assert [each.did for each in after.sessions[:7]] == [(f"step {number}",) for number in range(1, 8)]
    assert ("a.txt: no newline" in state.read_text()) == finding
    assert cli("fmt").status == 0
    assert cli("fmt", "--check").status == 0

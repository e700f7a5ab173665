from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.brief.sections import SECTION_SPECS, BriefSectionSpec
from taskstate.storage import folders
from tests.support.command_line import parsed
from tests.support.place import tree

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place


def test_brief_is_printed(cli: Cli, reviewed: Place) -> None:
    """A brief is text on standard output, within its budget, and changes nothing."""
    before = tree(reviewed.root)
    result = cli("brief", "TASK-101", "--budget", "500")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("# Task 101: JWT Service\n")
    assert "## Next step\n\n- Decide on 30 s of leeway\n" in result.out
    assert re.search(r"`taskstate session show 101 \d`", result.out)
    assert tree(reviewed.root) == before


@pytest.mark.usefixtures("reviewed")
def test_brief_for_a_role(cli: Cli) -> None:
    """With --role the brief contains what concerns that role."""
    assert "Your role: reviewer." in cli.ok("brief", "101", "--role", "reviewer")


@pytest.mark.usefixtures("reviewed")
def test_brief_in_json(cli: Cli) -> None:
    """A program gets the text with its tokens, and what was cut."""
    data = cli.json("brief", "101", "--budget", "500")
    assert data["text"] == cli.ok("brief", "101", "--budget", "500")
    assert (data["budget"], data["role"], data["fits"]) == (500, None, True)
    assert data["tokens"] <= 500
    assert {"what", "command"} == set(data["cut"][0])


def test_what_is_no_budget_is_refused(cli: Cli) -> None:
    """A budget is a number of tokens from 1 on."""
    assert cli.refused("brief", "101", "--budget", "0") == (
        "--budget 0 is not a budget: say how many tokens, at least 1"
    )
    assert "invalid int value: 'many'" in cli.refused("brief", "101", "--budget", "many")


def test_unknown_role_and_task_are_refused(cli: Cli) -> None:
    """What does not exist is one clear error."""
    assert cli.refused("brief", "101", "--role", "implementor") == (
        "there is no role 'implementor': did you mean implementer?"
    )
    assert "there is no task 7" in cli.refused("brief", "7")


@pytest.mark.parametrize("row", SECTION_SPECS, ids=lambda row: row.name)
def test_commands_that_show_the_rest_exist(row: BriefSectionSpec) -> None:
    """Each command that a brief names for what it left out is one that the command line takes."""
    result = row.more.format(id="101", name=shlex.quote(row.title), number=1)
    program, command, *arguments = shlex.split(result)
    assert program == "taskstate"
    assert parsed([command, *arguments]).id == "101"


def test_a_brief_looks_at_no_other_file(cli: Cli, place: Place) -> None:
    """A task in its usual place is read without a look at the repository: another folder may be closed to us."""
    closed = place.root / "closed"
    closed.mkdir()
    (closed / "task-7-state.md").write_text("---\n", encoding="utf-8")
    calls: list[str] = []
    walk = folders.walk

    def noted(top: str, *arguments: Any) -> object:  # noqa: ANN401 - as the function takes it
        calls.append(top)
        return walk(top, *arguments)

    cli.ok("brief", "101")  # from now on the names of the tasks are known
    cli.monkeypatch.setattr(folders, "walk", noted)
    cli.ok("brief", "101")
    assert calls == []

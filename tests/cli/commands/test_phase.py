from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

WHERE = ".taskstate/tasks/task-101-state.md: "


@pytest.fixture(autouse=True)
def phase(cli: Cli) -> None:
    """Add phase 3."""
    output = cli.ok(
        "phase", "add", "101", "3", "--name", "Lemma", "--objective", "Define", "--objective", "-", stdin="Prove\n"
    )
    assert output == f"{WHERE}phase 3 added\n"


def test_what_is_recorded_is_told_and_shown(cli: Cli) -> None:
    """Each command says what it did, and the table shows all of it."""
    assert cli.ok("phase", "set", "101", "3", "1", "--status", "done") == f"{WHERE}objective 1 of phase 3 is done\n"
    assert cli.ok("phase", "set", "101", "3", "1", "--status", "done") == f"{WHERE[:-2]}: nothing to change\n"
    assert cli.ok("phase", "extend", "101", "3", "Extend") == f"{WHERE}an objective added to phase 3\n"
    arguments = ("phase", "tried", "101", "3", "--approach", "Induction", "--result", "-")
    assert cli.ok(*arguments, stdin="failed:\nno structure\n") == f"{WHERE}recorded what was tried in phase 3\n"
    data = cli.json("phase", "set", "101", "3", "2", "--status", "blocked", "--note", "waits")
    assert (data["path"], data["changed"]) == (WHERE[:-2], True)
    table = """Phase 3: Lemma (1 of 3 done, 0 handoffs)
    1  done         Define
    2  blocked      Prove (waits)
>   3  not_started  Extend
  tried  Induction: failed: no structure
"""
    assert cli.ok("phase", "show", "101", "3") == cli.ok("phase", "show", "101") == table
    assert cli.json("phase", "show", "101", "3")["current_objective"] == 3
    assert [each["phase_name"] for each in cli.json("phase", "show", "101")["phases"]] == ["Lemma"]


def test_a_task_without_phases_says_so(cli: Cli, place: Place) -> None:
    """Nothing to show is no error, even for a phase that is named; a phase that is missing among others is one."""
    place.new("102")
    assert cli.ok("phase", "show", "102") == "task 102 has no phases\n"
    assert cli.json("phase", "show", "102") == {"phases": []}
    assert cli.ok("phase", "show", "102", "1") == "task 102 has no phases\n"
    assert cli.json("phase", "show", "102", "1") == {"phases": []}
    assert cli.refused("phase", "show", "101", "9").startswith("task 101 has no phase 9: did you mean 3?")
    assert cli.refused("phase", "export", "102", "1").startswith("task 102 has no phase 1: `taskstate phase add 102 1")


def test_a_phase_is_written_as_a_file(cli: Cli, place: Place) -> None:
    """It goes to the artifacts and is printed, or to the file that is named, or is only printed."""
    result = cli("phase", "export", "101", "3")
    path = place.root / ".taskstate/artifacts/task-101/phase-3-progress.json"
    assert (result.out, result.err) == (path.read_text(), f"{path.relative_to(place.root)}: phase 3 written\n")
    assert cli.ok("phase", "export", "101", "3", "--output", "phase-3-progress.json").endswith("phase 3 written\n")
    assert cli.ok("lint", "phase-3-progress.json") == "No findings in 1 file.\n"
    path.unlink()
    assert json.loads(cli.ok("phase", "export", "101", "3", "--output", "-"))["phase"] == 3
    assert cli.json("phase", "export", "101", "3", "--dry-run")["progress"]["objectives"][1]["description"] == "Prove"
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("set", "101", "9", "1", "--status", "done"), "task 101 has no phase 9: did you mean 3?"),
        (("set", "101", "3", "9", "--status", "done"), "phase 3 of task 101 has no objective 9: it has 1, 2"),
        (("set", "101", "3", "1", "--status", "finished"), "phase set: argument --status: invalid choice"),
        (("add", "101", "3", "--name", "x"), "task 101 has a phase 3 already"),
        (("add", "101", "4"), "phase add: the following arguments are required: --name"),
        (("extend", "101", "3", "Define"), "phase 3 of task 101 has this objective already, as 1"),
        (("tried", "101", "3", "--approach", "x", "--result", ""), "--result is empty"),
        (("export", "101", "9"), "task 101 has no phase 9"),
        (("export", "101", ""), "'' is not an id of a phase"),
        (("extend", "101", "../x", "More"), "'../x' is not an id of a phase"),
        (("show", "9"), "there is no task 9"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_done_is_one_line(cli: Cli, arguments: tuple[str, ...], text: str) -> None:
    """Each refusal names what is there instead, and nothing is changed."""
    assert cli.refused("phase", *arguments).startswith(text)

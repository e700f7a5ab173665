from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.views.overview import task_shape

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place


def test_task_is_shown(cli: Cli, place: Place) -> None:
    """A person gets an overview, a program the promised shape."""
    place.add("One.")
    assert cli.ok("show", "101").startswith("101  JWT Service\n  .taskstate/tasks/task-101-state.md, 2 KB, revision 2-")
    assert "\n  status in_progress, 1 session\n" in cli.ok("show", "101")
    data = cli.json("show", "101")
    assert list(data) == list(task_shape(place.workspace.load(place.path)))
    assert (data["id"], data["revision"], data["sessions"]["total"]) == ("101", 2, 1)
    assert data["next_steps"] == ["Go on."]


@pytest.mark.parametrize(
    "name", ["Task Description", "task description", "### Task Description ###", "1. Task Description"]
)
def test_section_is_shown_as_it_stands(cli: Cli, name: str) -> None:
    """A section is found by its name, whatever its number and case, and printed with its heading."""
    assert cli.ok("show", "101", "--section", name) == "### Task Description\n\nIssue tokens.\n"
    assert cli.json("show", "101", "--section", name)["text"] == "### Task Description\n\nIssue tokens."


def test_section_holds_its_subsections(cli: Cli) -> None:
    """A section of the second level is printed to its end."""
    assert cli.ok("show", "101", "--section", "Static Context").count("\n### ") == 2


def test_unknown_section_is_refused_with_those_that_there_are(cli: Cli) -> None:
    """An unknown section is refused, with the names of the existing ones."""
    message = cli.refused("show", "101", "--section", "Plans\x1b")
    assert "has no section" in message
    assert "progress log" in message


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "required: ID"),
        (("999",), "there is no task 999"),
        (("../evil",), "names no task"),
        (("101", "--root", "/nonexistent"), "no folder /nonexistent"),
        (("101", "--config", "nowhere.toml"), "does not exist"),
        (("101", "--format", "yaml"), "invalid choice"),
    ],
)
def test_what_cannot_be_shown_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error."""
    assert what in cli.refused("show", *arguments)


def test_damaged_task_is_shown_with_what_is_wrong(cli: Cli, place: Place) -> None:
    """A file that cannot be read in part is shown as far as it can, and the rest is reported."""
    place.text = place.text.replace('"passes": false', '"passes": maybe')
    assert "cannot be read: " in cli.ok("show", "101")
    assert len(cli.json("show", "101")["problems"]) == 1


def test_damage_is_told_once(cli: Cli, place: Place) -> None:
    """Why the front matter cannot be read stands in the one line that has the cure, not below the title again."""
    place.text = place.text.replace("title: JWT Service", "title: [a")
    result = cli("show", "101")
    assert "is damaged: line 4: the bracket that begins here is never closed" in result.err
    assert (result.out + result.err).count("never closed") == 1


@pytest.mark.parametrize("arguments", [("show", "101"), ("list",), ("next",), ("brief", "101"), ("start", "101")])
def test_a_status_that_there_is_not_is_told_once_with_its_cure(
    cli: Cli, place: Place, arguments: tuple[str, ...]
) -> None:
    """Whoever looks at a task, or would begin it, reads in one line that its status is none, and what says how."""
    place.text = place.text.replace("status: created", "status: doing")
    result = cli(*arguments)
    told = " ".join((result.out + result.err).split())
    assert told.count("it must be one of created, in_progress, blocked, complete, dropped") == 1
    assert "`taskstate lint`" in told or ": correct the value" in told


def test_a_task_whose_status_is_unknown_is_not_begun(cli: Cli, place: Place) -> None:
    """`next` does not name it, and one that depends on it waits."""
    place.text = place.text.replace("status: created", "status: doing")
    cli.ok("new", "102", "--title", "Waits", "--depends-on", "101")
    assert cli.json("next", status=1)["task"] is None


def test_file_that_is_not_utf8_is_refused(cli: Cli, place: Place) -> None:
    """A file of which nothing can be read is named as damaged, and what to do."""
    place.path.write_bytes(b"\xff")
    result = cli("show", "101")
    assert (result.status, result.out) == (1, "")
    assert "is not UTF-8: byte 0 is 0xff, so it is damaged" in result.err
    assert "`taskstate doctor --fix`" in result.err


def test_control_characters_are_never_printed_raw(cli: Cli, place: Place) -> None:
    """A title that a terminal would obey is spelled out."""
    place.text = place.text.replace("title: JWT Service", 'title: "a\\e[31m\\r\\x9b\\u202e"').replace(
        "makes a", "m\\u001b"
    )
    for arguments in (("show", "101"), ("list",), ("show", "101", "--section", "Feature Checklist")):
        assert not {"\x1b", "\x9b", "\u202e", "\r"} & set(cli.ok(*arguments))
        assert not {"\x1b", "\x9b", "\u202e", "\r"} & set(cli(*arguments, "--format", "json").out)
    assert cli.json("show", "101")["title"] == "a\x1b[31m\r\x9b\u202e"


def test_title_is_a_section_too(cli: Cli, place: Place) -> None:
    """By its title the whole document is shown, with the lines above the first section."""
    place.text = place.text.replace("- State\n", "- State\n\nRead this first.\n", 1)
    assert "\n\nRead this first.\n\n## 1." in cli.ok("show", "101", "--section", "Task #101: JWT Service - State")

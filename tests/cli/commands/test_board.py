"""`board` and `status` as a person and a script meet them: piped, on a terminal, watched, and with nothing to show."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.place import tree
from tests.support.terminal import seen

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

VIEWS = (("status",), ("board",), ("board", "--status", "in_progress"))


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_piped_is_plain_and_stable(cli: Cli, place: Place, view: tuple[str, ...]) -> None:
    """No escape sequence, at most 100 columns, the same bytes twice, and no state file is written."""
    place.add("Began.")
    place.text = place.text.replace("title: JWT Service", 'title: "\\e[31m JWT \\u202e Service, fixes all and more"')
    before = tree(place.root)
    text = cli.ok(*view)
    assert cli.ok(*view) == text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert tree(place.root) == before


def test_scripts_learn_whether_something_needs_a_person(cli: Cli, place: Place) -> None:
    """The exit status is 1 then, of all tasks and of one."""
    assert cli("status", "--exit-code").status == 0
    place.text = place.text.replace("status: created", "status: blocked")
    assert (cli("status").status, cli("status", "--exit-code").status) == (0, 1)
    assert cli("status", "101", "--exit-code").status == 1
    (need,) = cli.json("status")["needs"]
    assert (need["kind"], need["actions"][1]) == ("blocked", "taskstate edit 101 --unblocked")


def test_the_board_as_data_has_all_columns(cli: Cli) -> None:
    """With the number of tasks in each, and what the filters leave."""
    columns = cli.json("board", "--area", "web")["columns"]
    assert [(each["column"], each["total"]) for each in columns] == [
        *(("ready", 0), ("waiting", 0), ("in_progress", 0), ("blocked", 0), ("complete", 0))
    ]
    (ready,) = cli.json("board", "jwt", "--status", "ready")["columns"]
    assert [(card["id"], card["title"]) for card in ready["tasks"]] == [("101", "JWT Service")]


def test_without_tasks_the_first_step_is_told(cli: Cli, place: Place) -> None:
    """By both views, with status 0."""
    place.path.unlink()
    place.forget()
    assert "taskstate new --title" in cli.ok("status")
    assert cli.ok("board") == "no tasks\n"


def test_commands_name_the_root_that_was_given(cli: Cli, place: Place) -> None:
    """Else they would work elsewhere."""
    place.text = place.text.replace("status: created", "status: blocked")
    other = place.root / "other.toml"
    other.touch()
    said = cli.ok("status", "--root", place.root, "--config", other).replace("\\\n", "")
    assert f"taskstate edit 101 --unblocked --root {place.root} --config {other}" in " ".join(said.split())


@pytest.mark.slow
def test_a_watched_view_has_a_screen_of_its_own(place: Place) -> None:
    """It comes again after a change, and Ctrl-C ends it with status 0; the terminal is left as it was."""
    changing = f"(while kill -0 $$ && sleep 1; do echo >> {place.path}; done) > /dev/null 2>&1 &"
    command = f"{changing} exec {sys.executable} -m taskstate board --watch"
    status, shown = seen(("sh", "-c", command), cwd=place.root, until=lambda said: said.count(b"READY 1") > 1)
    assert status == 0
    assert shown.startswith("\x1b[?1049h")
    assert shown.endswith("\x1b[?1049l")
    assert shown.count("READY 1") >= 2


@pytest.mark.slow
def test_a_pipe_that_closes_is_no_fault(place: Place) -> None:
    """As `head` does."""
    command = f"{sys.executable} -m taskstate status | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=place.root, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")

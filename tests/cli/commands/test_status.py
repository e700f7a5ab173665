from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.cli.conftest import Cli
    from tests.support.place import Place

PIPELINE = "  [>] implementer in progress  [ ] reviewer  [ ] validator\n"


def test_tasks_at_work_are_shown(cli: Cli, place: Place) -> None:
    """As text and as JSON; a task that is only created is shown when it is named."""
    last = f"  The last write: 101 JWT Service{' ' * 50}2026-01-31 12:01Z\n"
    none = f"Nothing needs you.\n{last}\n0 in progress, 0 blocked, 1 created (1 ready), 0 complete\n"
    assert cli.ok("status") == none
    assert (cli.json("status")["tasks"], cli.json("status")["needs"]) == ([], [])
    assert cli.ok("status", "101").startswith("101  JWT Service  (created)\n")
    place.add("Began.", next=("Go on",))
    cli.ok("role", "set", "101", "implementer", "--status", "in_progress")
    assert cli.ok("status", "101") == f"101  JWT Service  (in progress)\n{PIPELINE}  next: Go on\n"
    assert "Between turns 101 JWT Service implementer 0/1 2 KB 1 in progress" in " ".join(cli.ok("status").split())
    (result,) = cli.json("status")["tasks"]
    assert (result["id"], result["role"], result["next_step"]) == ("101", "implementer", "Go on")
    assert cli.json("status", "#101") == result


def test_a_turn_that_is_open_says_since_when(cli: Cli) -> None:
    """So a `finish` that somebody forgot shows at once, and not only when nobody has written for hours."""
    cli.ok("start", "101", "--agent", "ann")
    row = next(line for line in cli.ok("status").splitlines() if line.startswith("  101 "))
    assert re.search(r" ann +\d{4}-\d\d-\d\d \d\d:\d\dZ  0/1 ", row)


def test_a_file_that_cannot_be_read_is_complained_of(cli: Cli, place: Place) -> None:
    """The others are shown nevertheless; it is told once: in the list, or where nothing else is printed, beside it."""
    place.path.with_name("task-7-state.md").write_bytes(b"\xff")
    result = cli("status")
    assert (result.status, result.err) == (1, "")
    assert "  damaged   7     not UTF-8: byte 0 is 0xff" in result.out
    assert "not listed: .taskstate/tasks/task-7-state.md is not UTF-8" in cli("status", "--quiet").err
    assert [each["kind"] for each in cli.json("status", status=1)["needs"]] == ["damaged"]
    result = cli("status", "7")
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    assert "task-7-state.md is not UTF-8: byte 0 is 0xff, so it is damaged" in result.err


CONFLICT = "<<<<<<< ours\n**What I did:** One.\n=======\n**What I did:** Two.\n>>>>>>> theirs\n"
# How a state file is damaged, and what is named for it: what brings it back, or what says where and what to do.
DAMAGED: Mapping[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "conflict": (
        lambda data: data.replace(b"**What I did:** Began.\n", CONFLICT.encode()),
        "lint",
        "keep the right lines",
    ),
    "truncated": (lambda data: data[: data.index(b"## 4.")], "doctor --fix", "session"),
    "not UTF-8": (lambda data: data + b"\xff", "doctor --fix", "not UTF-8"),
    "front matter": (lambda data: data.replace(b"title: ", b'title: "', 1), "doctor --fix", "never closed"),
    "empty": (lambda _: b"", "doctor --fix", "it is empty"),
    "a part": (lambda data: data.replace(b'"features": [', b'"features": [,'), "lint", "a value is expected"),
}


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("kind", DAMAGED)
def test_what_is_named_for_a_damaged_file_does_what_it_says(
    cli: Cli,
    place: Place,
    kind: str,
    is_kept: bool,  # noqa: FBT001 - a parameter
) -> None:
    """It brings the file back where something is kept of it; else, and for a conflict, it names the line."""
    change, action, words = DAMAGED[kind]
    place.add("Began.")
    place.path.write_bytes(change(place.path.read_bytes()))
    if not is_kept:
        place.forget()
    (need,) = cli.json("status", status=1)["needs"]
    assert words in need["text"]
    action = action if is_kept else "doctor --let-go 101" if kind == "truncated" else "lint"
    assert need["actions"][0].startswith(f"taskstate {action}")
    said = cli(*shlex.split(need["actions"][0])[1:])
    if action == "lint":
        assert (said.status, "task-101-state.md:" in said.out) == (1, True)
        assert kind != "conflict" or f"task-101-state.md:{need['text'].split()[1].rstrip(':')}:1 " in said.out
    else:
        assert cli.json("status")["needs"] == []


def test_a_folder_in_the_place_of_a_file_is_moved_away(cli: Cli, place: Place) -> None:
    """Then the file is missing, and what brings it back is named."""
    place.add("Began.")
    place.path.unlink()
    place.path.mkdir()
    (need,) = cli.json("status", status=1)["needs"]
    assert (need["text"], need["actions"]) == ("task-101-state.md: a folder, not a plain file: move it away", [])
    assert f"    {need['text']}\n" in cli("status").out  # whole: there is no command that shows it
    place.path.rename(place.root / "away")
    assert cli.json("status")["needs"][0]["actions"][0] == "taskstate doctor --fix"


def test_a_task_that_is_not_there_is_refused(cli: Cli) -> None:
    """With one clear line."""
    assert cli.refused("status", "999").startswith("there is no task 999")


def test_the_configured_roles_are_shown(cli: Cli, place: Place) -> None:
    """In their order."""
    place.configure('roles = ["author", "editor"]\n')
    assert "  [ ] author  [ ] editor\n" in cli.ok("status", "101")

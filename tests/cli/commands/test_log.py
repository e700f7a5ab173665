"""`log` tells what happened to tasks as one history: the same entries for people and programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.views.history import Entry
from taskstate.views.history_text import HIGHLIGHTS, text_of
from taskstate.views.layout import Screen, cells
from taskstate.workspace.workspace import Workspace
from tests.support import terminal
from tests.support.git_place import GitPlace
from tests.support.turns import FINDING, Turns

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

FIELDS = ["at", "precision", "kind", "event", "task", "by", "text", "source", "number", "path", "branch"]


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path / "repository")


@pytest.fixture
def turns(cli: Cli) -> Turns:
    """Return the turns in that repository."""
    return Turns(cli)


def entries(cli: Cli, *arguments: str) -> list[Any]:
    """Return the entries as programs get them."""
    found: list[Any] = cli.json("log", *arguments)["entries"]
    assert all(list(each) == FIELDS for each in found)
    return found


def told(cli: Cli, *arguments: str) -> list[tuple[str, str, str]]:
    """Return event, agent and words of each entry, the oldest first, in a fixed order within a second."""
    return [(each["event"], each["by"], each["text"]) for each in reversed(entries(cli, *arguments))]


def test_one_history_of_all_sources(turns: Turns) -> None:
    """Sessions, findings, roles, accepted drift, turns, commits and the task's own ways, each with its agent."""
    cli, place = turns.cli, turns.place
    turns.build()
    place.commit("Keys rotate\n\nTask: 101")
    turns.start("reviewer", agent="bob")
    turns.finish("Read it.", *FINDING)
    turns.start(agent="ann")
    turns.finish("Fixed.", "--answer", "1=cached")
    place.write("a.txt", "by hand\n")
    cli.ok("snapshot", "resolve", "101", "--note", "a typo")
    turns.start("reviewer", agent="bob")
    cli.ok("edit", "101", "--blocked", "no key")
    turns.finish("Waited.", "--pause")
    cli.ok("drop", "101", "--note", "not wanted")
    commit = place.git("rev-parse", "--short=10", "HEAD")
    # Numbers are told only where the snapshot is that of the hand-over: here it may be of the same second.
    known = {
        (each[0], each[1], each[2].partition(":")[0] if each[0] == "role-done" else each[2])
        for each in told(cli, "101")
    }
    assert known == {
        ("created", "", "JWT Service"),
        ("session", "ann", "1. Built it."),
        ("commit", "Somebody", f"{commit} Keys rotate"),
        ("session", "bob", "2. Read it."),
        ("finding-raised", "bob", "1. It is slow"),
        ("sent-back", "bob", "sent back to implementer"),
        ("session", "ann", "3. Fixed."),
        ("finding-answered", "ann", "answered 1 (It is slow): cached"),
        ("role-done", "ann", "implementer"),
        ("drift-accepted", "somebody", "accepted in a.txt: a typo"),
        ("committed-as-left", "bob", "committed as it was left: a.txt"),
        ("blocked", "bob", "no key"),
        ("session", "bob", "4. Waited."),
        ("turn-paused", "bob", "paused"),
        ("dropped", "somebody", "not wanted"),
    } | set(told(cli, "101", "--kind", "commit"))
    assert entries(cli) == entries(cli, "101")
    assert {each["kind"] for each in entries(cli, "--kind", "session", "--kind", "drift")} == {"session", "drift"}


def test_a_turn_that_was_taken_over_has_begun(turns: Turns) -> None:
    """When it began is told besides, and who had begun it."""
    turns.start(agent="ann")
    turns.start("", "--take-over", "ann is silent", agent="bob")
    begun = [(each["by"], each["source"]) for each in entries(turns.cli, "101") if each["event"] == "turn-begun"]
    assert sorted(begun) == [("ann", "event"), ("bob", "front matter")]


def test_archived_sessions_and_events_are_among_them(turns: Turns) -> None:
    """So are the archivings themselves, and the handoffs."""
    cli = turns.cli
    for number in range(1, 5):
        cli.ok("session", "add", "101", "--did", f"Thing {number}.", "--state", "s", "--next", "n")
    cli.ok("archive", "101", "--force", "--keep", "1")
    for _ in range(21):
        cli.ok("edit", "101", "--blocked", "no key")
        cli.ok("edit", "101", "--unblocked")
    found = entries(cli, "101")
    assert [each["text"] for each in found if each["event"] == "session"] == [f"{n}. Thing {n}." for n in (4, 3, 2, 1)]
    assert [each["text"] for each in found if each["event"] == "archived"] == [
        "sessions 1-3: asked for (--force --keep 1)"
    ]
    assert len([each for each in found if each["event"] == "blocked"]) == 21
    assert {each["source"] for each in found} >= {"archive", "event", "session", "front matter"}


def test_handoffs_are_written_and_accepted(turns: Turns) -> None:
    """Each with who did it, and the path of the document."""
    turns.start("implementer")
    turns.place.write("a.txt", "half\n")
    turns.finish("Half.", "--pause", "--handoff")
    turns.start("implementer", agent="bob")
    found = {each["event"]: each for each in entries(turns.cli, "--kind", "handoff")}
    assert [found[f"handoff-{each}"]["by"] for each in ("written", "accepted")] == ["ann", "bob"]
    assert (turns.place.root / found["handoff-accepted"]["path"]).is_file()
    assert ("turn-begun", "bob", "begun as implementer") in told(turns.cli, "101")


ENTRIES = [
    Entry(
        "2026-11-26T11:40:20Z", "second", "drift", "drift-accepted", "104", "reviewer-1", "in keys.py: fine", "event"
    ),
    Entry("2026-11-26T11:26:09Z", "second", "role", "role-done", "104", "builder-2", "implementer: 9 files", "role"),
    Entry("2026-11-25T11:25:00Z", "minute", "session", "session", "104", "builder-2", "11. Old keys " * 30, "session"),
    Entry(
        "2026-11-25T11:20:00Z",
        "minute",
        "session",
        "session",
        "7",
        "\u6f22" * 30,
        "\u6f22\x1b[31m\u202e" * 60,
        "session",
    ),
    Entry("", "minute", "session", "session", "a" * 64, "", "1. Undated", "session"),
]


def test_people_read_it_by_day() -> None:
    """One line an entry, in columns, with the words of the page."""
    assert text_of(ENTRIES[:2], Screen("")) == (
        "26 November 2026\n"
        "  11:40  drift      reviewer-1  in keys.py: fine\n"
        "  11:26  handed on  builder-2   implementer: 9 files"
    )


@pytest.mark.parametrize("columns", [40, 55, 69, 70, 80, 100, 240])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    """Wide characters and what hides in a text count as they are shown, and nothing steers the terminal."""
    text = text_of(ENTRIES, Screen("", width=columns))
    assert max(map(cells, text.split("\n"))) <= columns
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202a-\u202e]", text)
    assert "At no known time" in text
    assert all(re.search(pattern, text) for pattern, _ in HIGHLIGHTS[:2])


def test_a_pipe_gets_plain_words_and_a_terminal_colours(turns: Turns) -> None:
    """Twice the same, at most 100 columns; a pipe that closes ends it quietly."""
    turns.cli.ok(
        "session",
        "add",
        "101",
        "--did",
        f"ghp_{'Ab1cD2eF3g' * 4} " + "word " * 40,
        "--state",
        "s",
        "--next",
        "n",
        "--force-secrets",
    )
    plain = turns.cli.ok("log")
    assert plain == turns.cli.ok("log", "101")
    assert "ghp_Ab1c" not in plain
    assert max(map(len, plain.splitlines())) <= 100
    command = [sys.executable, "-m", "taskstate", "log", "101"]
    status, shown = terminal.seen(command, cwd=turns.place.root)
    assert (status, "\x1b[36msession\x1b[0m" in shown, "ghp_Ab1c" in shown) == (0, True, False)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, cwd=turns.place.root, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_since_is_a_date_a_commit_or_a_word(turns: Turns) -> None:
    """What is neither is refused."""
    cli = turns.cli
    cli.ok("session", "add", "101", "--did", "Now.", "--state", "s", "--next", "n")
    assert [each["event"] for each in entries(cli, "--since", "yesterday", "--kind", "session")] == ["session"]
    assert [each["event"] for each in entries(cli, "101", "--since", "2026-01-01T00:00", "--kind", "task")] == [
        "created"
    ]
    assert entries(cli, "--since", "2999-01-01") == []
    assert cli.ok("log", "--since", "2999-01-01") == "nothing happened\n"
    assert len(entries(cli, "--since", "HEAD")) >= 1
    for wrong in ("whenever", "2026-99-99", "2026-11-27T99:99", "^HEAD"):
        assert "is neither a date nor a commit here" in cli.refused("log", "--since", wrong)
    assert "is not a number of entries" in cli.refused("log", "--number", "-1")


def test_the_command_for_older_entries_is_named(turns: Turns) -> None:
    """It works as printed."""
    for number in range(1, 6):
        turns.cli.ok("session", "add", "101", "--did", f"Thing {number}.", "--state", "s", "--next", "n")
    shown = turns.cli.ok("log", "101", "--kind", "session", "--number", "2")
    assert "4. Thing 4." in shown
    command = shown.partition("older ones: `taskstate ")[2].partition("`")[0]
    assert "1. Thing 1." in turns.cli.ok(*command.split())
    assert turns.cli.ok("log", "--number", "0").count("Thing") == 5


def test_of_many_tasks_few_files_are_read(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index says which were written last; a damaged one is told of."""
    place, loaded = turns.place, list[str]()
    for number in range(200, 260):
        text = re.sub(r'(created|updated)_at: "2026', r'\1_at: "2025', place.text).replace("101", str(number))
        (place.path.parent / f"task-{number}-state.md").write_text(text)
    load = Workspace.load

    def counted(self: Workspace, path: Path, *more: Any) -> Any:  # noqa: ANN401 - as it is
        loaded.append(path.name)
        return load(self, path, *more)

    monkeypatch.setattr(Workspace, "load", counted)
    assert turns.cli.json("log", "--number", "2")["more"] is True
    assert len(loaded) < 10
    (place.path.parent / "task-300-state.md").write_text("---\ntitle: [\n---\n")
    said = turns.cli("log", "--number", "2")
    assert (said.status, "task-300-state.md" in said.err) == (1, True)


def test_without_git_and_without_tasks_there_is_little_to_tell(cli: Cli, place: GitPlace) -> None:
    """No git is no error."""
    shutil.rmtree(place.root / ".git")
    assert "created" in cli.ok("log")
    place.path.unlink()
    assert "nothing happened" in cli("log").out


def test_what_another_worktree_has_alone_is_told_with_its_branch(turns: Turns, tmp_path: Path) -> None:
    """What both have is told once; a task may be in another one only."""
    place, other = turns.place, tmp_path / "other"
    place.commit("all")
    place.git("worktree", "add", "--quiet", "-b", "side", str(other))
    turns.cli.ok("session", "add", "101", "--did", "Here.", "--state", "s", "--next", "n")
    there = ("--root", str(other))
    turns.cli.ok("session", "add", "101", "--did", "There.", "--state", "s", "--next", "n", *there)
    turns.cli.ok("new", "102", "--title", "Only there", *there)
    told_by = {(each["event"], each["text"]): each["branch"] for each in entries(turns.cli) if each["kind"] != "commit"}
    assert told_by == {
        ("created", "JWT Service"): "",
        ("session", "1. Here."): "",
        ("session", "1. There."): "side",
        ("created", "Only there"): "side",
    }
    assert [each["branch"] for each in entries(turns.cli, "102", "--kind", "task")] == ["side"]
    assert "1. There. [side]" in turns.cli.ok("log", "101")
    assert "there is no task 103" in turns.cli.refused("log", "103")


def test_a_commit_is_of_the_tasks_that_it_names_else_of_those_whose_files_it_touches(turns: Turns) -> None:
    """One that touches many without a word of them is told once: it formats, or brings all in."""
    place = turns.place
    for number in range(102, 107):
        place.new(str(number))
    place.commit("Many at once")
    for task in ("102", "103"):
        turns.cli.ok("edit", task, "--priority", "P1")
    place.commit("Two files")
    place.write("a.txt", "more\n")
    place.commit("TASK-104: more")
    place.commit("nothing to do with any")
    told_of = [(each["task"], each["text"].partition(" ")[2]) for each in entries(turns.cli, "--kind", "commit")]
    assert sorted(told_of) == [
        ("", "Many at once (5 tasks)"),
        ("101", "begin"),
        ("102", "Two files"),
        ("103", "Two files"),
        ("104", "TASK-104: more"),
    ]
    told_of_one = [each["text"] for each in entries(turns.cli, "102", "--kind", "commit")]
    assert [each.partition(" ")[2] for each in told_of_one] == ["Two files", "Many at once"]
    later = {"GIT_COMMITTER_DATE": "2099-01-01T00:00:00Z"}
    place.git("commit", "--quiet", "--allow-empty", "-m", "Task: 105", env=later)
    since = entries(turns.cli, "--kind", "commit", "--since", place.git("rev-parse", "HEAD"))
    assert [(each["task"], each["at"]) for each in since] == [("105", "2099-01-01T00:00:00Z")]


@pytest.mark.parametrize("seconds", ["999999999999", "99999999999999999", "-5"])
def test_a_commit_of_a_time_that_is_none_is_told_without_one(turns: Turns, seconds: str) -> None:
    """Git takes years that no calendar has; what such a commit says is told all the same."""
    place = turns.place
    head, tree = place.git("rev-parse", "HEAD"), place.git("write-tree")
    text = (
        f"tree {tree}\nparent {head}\nauthor M <a@b> {seconds} +0000\ncommitter M <a@b> {seconds} +0000\n\nTask: 101\n"
    )
    written = ("hash-object", "-t", "commit", "-w", "--stdin", "--literally")
    odd = subprocess.run(["git", *written], cwd=place.root, input=text.encode(), capture_output=True, check=True)
    place.git("update-ref", "HEAD", odd.stdout.decode().strip())
    assert [each["at"] for each in entries(turns.cli, "--kind", "commit") if "Task: 101" in each["text"]] == [None]
    assert "At no known time\n" in turns.cli.ok("log", "101")
    assert "1 commit listed" in turns.cli.ok("git-history", "sync", "101", "--since", head)
    assert "is neither a date nor a commit here" in turns.cli.refused("log", "--since", "HEAD")

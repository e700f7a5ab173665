from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from taskstate.model.session_texts import SESSION_TEXTS

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

SAID = ("--did", "Wrote it.", "--state", "Half-way.", "--next", "Go on.")


def test_session_is_added(cli: Cli, place: Place) -> None:
    """The session is reported with its number, and is in the log."""
    assert cli.ok("session", "add", "101", *SAID) == (
        ".taskstate/tasks/task-101-state.md: session added\n  session 1 recorded\n  the task is now in_progress\n"
    )
    assert place.numbers() == [(1, False)]


def test_the_same_command_at_once_adds_nothing_twice(cli: Cli, place: Place) -> None:
    """Who saw no answer gives it again: that is said, and no second session is written; other words are one."""
    cli.ok("session", "add", "101", *SAID)
    text = place.text
    said = cli.ok("session", "add", "101", *SAID)
    assert "nothing to change\n  session 1 says this already" in said
    assert place.text == text
    cli.ok("session", "add", "101", *SAID, "--agent", "bob")
    cli.ok("session", "add", "101", *SAID, "--issue", "One.")
    assert len(place.numbers()) == 3


def test_the_same_words_another_day_are_a_session(cli: Cli, place: Place) -> None:
    """Only within minutes are they the same command."""
    cli.ok("session", "add", "101", *SAID)
    place.text = re.sub(r"### Session 1 - \d{4}", "### Session 1 - 2020", place.text)
    cli.ok("session", "add", "101", *SAID)
    assert len(place.numbers()) == 2


def test_shape_of_what_was_added(cli: Cli, place: Place) -> None:
    """In JSON a write tells path, token, that it changed something, and its remarks."""
    data = cli.json("session", "add", "101", *SAID)
    assert data == {
        "path": ".taskstate/tasks/task-101-state.md",
        "revision": place.workspace.load(place.path).token,
        "changed": True,
        "notes": ["session 1 recorded", "the task is now in_progress"],
    }


@pytest.mark.parametrize(
    "name", ["101", "#101", "TASK-101", "task-101", "task-101-state.md", ".taskstate/tasks/task-101-state.md"]
)
def test_task_is_named_in_every_way(cli: Cli, place: Place, name: str) -> None:
    """Id, number sign, upper case, file name and path all name the same task."""
    cli.ok("session", "add", name, *SAID)
    assert place.numbers() == [(1, False)]


def test_every_flag_is_recorded(cli: Cli) -> None:
    """Each flag has its place in the entry, and lists take it again."""
    flags = (
        "--did",
        "More.",
        "--issue",
        "One.",
        "--issue",
        "Two.",
        "--commit",
        "abc1234",
        "--verified",
        "make test",
        "--agent",
        "me",
    )
    cli.ok("session", "add", "101", *SAID, *flags)
    shown = cli.json("session", "show", "101", "1")
    assert shown == {
        "number": 1,
        "time": shown["time"],
        "did": ["Wrote it.", "More."],
        "issues": ["One.", "Two."],
        "state": "Half-way.",
        "next": ["Go on."],
        "commits": ["abc1234"],
        "verification": ["make test"],
        "findings": [],
        "outcome": [],
        "agent": "me",
        "archived": False,
    }
    text = cli.ok("session", "show", "101", "1")
    assert "**By:** me\n" in text
    assert "\n**Commits:** `abc1234`\n" in text
    assert "\n**Verification:** make test\n" in text


@pytest.mark.parametrize("flag", ["--did", "--state", "--next", "--issue", "--verified", "--agent"])
def test_dash_reads_standard_input(cli: Cli, flag: str) -> None:
    """`-` stands for the text on standard input, whatever it looks like."""
    cli.ok("session", "add", "101", *SAID, flag, "-", stdin="From outside.\n\n### Session 9\n\u65e5\u672c\n")
    assert "From outside.\n\n  ### Session 9\n  \u65e5\u672c" in cli.ok("session", "show", "101", "1")


def test_session_comes_from_json(cli: Cli, place: Place) -> None:
    """A file or standard input may hold the whole session; flags add to it, and single texts go before it."""
    text = {
        "did": ["one", "two"],
        "state": "s",
        "next": ["n"],
        "issues": ["None"],
        "commits": ["abc1234"],
        "verification": ["v"],
        "agent": "a",
    }
    (place.root / "session.json").write_text(json.dumps(text), encoding="utf-8-sig")
    cli.ok("session", "add", "101", "--from", "session.json", "--did", "three", "--state", "mine")
    data = cli.json("session", "show", "101", "1")
    assert (data["did"], data["state"], data["next"], data["issues"]) == (
        ["one", "two", "three"],
        "mine",
        ["n"],
        [],
    )
    cli.ok("session", "add", "101", "--from", "-", stdin=json.dumps(text))
    assert cli.json("session", "show", "101", "2")["did"] == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "line 1"),
        ("{", "line 1"),
        ('{\n"did": nope}', "line 2"),
        ('{"did": ["a"], "did": ["b"]}', "twice"),
        ('{"did": [NaN]}', "line 1"),
        ("[" * 100_000, "deep"),
        ("[]", "no JSON object"),
        ('"text"', "no JSON object"),
        ('{"done": ["a"]}', "unknown key 'done': choose from did, issues, state, next, commits, verification, agent"),
        ('{"did": "a"}', "did must be a list of texts"),
        ('{"did": [1]}', "did must be a list of texts"),
        ('{"state": ["a"]}', "state must be a text"),
        ('{"state": null}', "state must be a text"),
        ('{"did": ["a"], "state": "s"}', "--next is missing"),
        ('{"did": ["\\ud800"], "state": "s", "next": ["n"]}', ""),
        ('{"did": ["\\u001b"], "state": "s", "next": ["n"]}', "U+001B"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_wrong_json_is_refused(cli: Cli, text: str | bytes, what: str) -> None:
    """Invalid JSON is reported with its position, and nothing is recorded."""
    assert what in cli.refused("session", "add", "101", "--from", "-", stdin=text)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("101",), "--did is missing"),
        (("101", "--did", "x"), "--state is missing"),
        (("101", "--did", "x", "--state", "s"), "--next is missing"),
        (("101", "--did", "", "--state", "s", "--next", "n"), "is empty"),
        (("101", "--did", "x\x1b[0m", "--state", "s", "--next", "n"), "U+001B"),
        (("101", "--did", "-", "--state", "s", "--next", "n"), "is empty"),
        (("101", "--commit", "a\nb", *SAID), "several lines"),
        (("101", "--agent", "a\nb", "--did"), "expected one argument"),
        (("101", *SAID, "--actor", "a\nb"), "the actor's name has several lines"),
        (("101", *SAID, "--actor", "\x07"), "U+0007"),
        (("101", *SAID, "--expect-revision", "7"), "is at revision 1-"),
        (("101", *SAID, "--expect-revision", "seven"), "is not a revision"),
        (("101", *SAID, "--from", "nowhere.json"), "does not exist"),
        (("101", *SAID, "--from", "."), "folder"),
        (("999", *SAID), "there is no task 999"),
        (("../evil", *SAID), "names no task"),
        (("", *SAID), "names no task"),
        (("task-", *SAID), "names no task"),
        (("a b", *SAID), "names no task"),
        (("\x1b[31m", *SAID), "names no task"),
        (("101", "102", *SAID), "unrecognized arguments"),
        ((), "required: ID"),
    ],
)
def test_what_cannot_be_added_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error, and nothing is recorded."""
    assert what in cli.refused("session", "add", *arguments)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [((), "required: ACTION"), (("remove", "101"), "unknown action 'remove'"), (("show", "101", "x"), "invalid int")],
)
def test_wrong_action_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """An unknown action is refused in one line."""
    assert what in cli.refused("session", *arguments)


def test_path_of_another_copy_is_refused(cli: Cli, place: Place) -> None:
    """Where a path names a file that is not the task's, neither is changed."""
    copy = place.root / "backup" / place.path.name
    copy.parent.mkdir()
    copy.write_bytes(place.path.read_bytes())
    message = cli.refused("session", "add", "backup/task-101-state.md", *SAID)
    assert "backup/task-101-state.md is not the state file of task 101" in message
    assert ".taskstate/tasks/task-101-state.md" in message


def test_dry_run_prints_the_diff(cli: Cli, place: Place) -> None:
    """A dry run prints the unified diff, in JSON too, and records nothing."""
    before = place.text
    diff = cli.ok("session", "add", "101", *SAID, "--dry-run")
    assert diff.startswith("--- a/.taskstate/tasks/task-101-state.md\n+++ b/.taskstate/tasks/task-101-state.md\n@@ ")
    assert "\n+**What I did:** Wrote it.\n" in diff
    data = cli.json("session", "add", "101", *SAID, "--dry-run")
    assert "\n+**What I did:** Wrote it.\n" in data["diff"]
    assert place.text == before


def test_expected_revision_is_handed_on(cli: Cli, place: Place) -> None:
    """The token that a write prints is what the next one may expect."""
    token = cli.json("session", "add", "101", *SAID, "--expect-revision", "1")["revision"]
    cli.ok("session", "add", "101", *SAID, "--issue", "One.", "--expect-revision", token)
    assert place.numbers() == [(1, False), (2, False)]


def test_verbose_tells_the_revision(cli: Cli, place: Place) -> None:
    """With --verbose the new token is reported, and --quiet says nothing."""
    assert cli.ok("session", "add", "101", *SAID, "--verbose").endswith(
        f"is at revision {place.workspace.load(place.path).token}\n"
    )
    assert cli.ok("session", "add", "101", *SAID, "--issue", "One.", "--quiet") == ""
    assert place.numbers() == [(1, False), (2, False)]


def test_sessions_are_listed(cli: Cli, place: Place) -> None:
    """Every session has a line, archived ones too, with the beginning of what was done."""
    assert cli.ok("session", "list", "101") == "no sessions yet\n"
    assert cli.json("session", "list", "101") == []
    place.add("One.\nAnd more.")
    place.add("word " * 40)
    place.add("Three.")
    place.archive(keep=2)
    lines = cli.ok("session", "list", "101").splitlines()
    assert [line.split(maxsplit=4)[:1] for line in lines] == [["1"], ["2"], ["3"]]
    assert lines[0].endswith("archived  One.")
    assert lines[1].endswith("\u2026")
    assert len(lines[1]) < 120
    assert cli.json("session", "list", "101")[0] == {"number": 1, "time": "2026-01-31 12:02", "archived": True}


def test_session_is_shown_wherever_it_stands(cli: Cli, place: Place) -> None:
    """A session is shown unchanged, from the state file as from the archive, and in JSON in its promised shape."""
    place.add("One.", issues=("Two.",))
    place.add("Three.")
    before = cli.ok("session", "show", "101", "1")
    place.archive()
    assert cli.ok("session", "show", "101", "1") == before
    assert before.startswith("### Session 1 - 2026-01-31 12:02\n\n**What I did:** One.\n")
    shown = cli.json("session", "show", "101", "1")
    empty = {text.key: [] if text.repeated else "" for text in SESSION_TEXTS}
    said = {"did": ["One."], "issues": ["Two."], "state": "Half-way.", "next": ["Go on."]}
    assert shown == empty | said | {"number": 1, "time": "2026-01-31 12:02", "archived": True}


def test_lists_are_empty_where_the_text_says_none(cli: Cli, place: Place) -> None:
    """In JSON a list whose part of the session says `None`, on the label's line or as an item, has nothing in it."""
    place.fill(
        log="### Session 1 - 2026-01-01 10:00\n\n**What I did:** Nothing yet\n\n**Issues:** None\n\n"
        "**Current state:** None\n\n**Next steps:**\n\n- None.\n\n**Commits:** n/a\n\n**Verification:** None of it\n\n"
    )
    shown = cli.json("session", "show", "101", "1")
    assert [shown[key] for key in ("did", "issues", "next", "commits")] == [[], [], [], []]
    assert (shown["state"], shown["verification"]) == ("None", ["None of it"])


def test_commits_are_ids_where_they_stand_alone(cli: Cli, place: Place) -> None:
    """In JSON a commit comes without its backticks, unless there are more words beside it."""
    place.fill(
        log="### Session 1 - 2026-01-01 10:00\n\n**Commits:**\n\n"
        "- `abc1234`\n- def5678\n- `abc1234` - add it\n- `a`, `b`\n\n"
    )
    commits = cli.json("session", "show", "101", "1")["commits"]
    assert commits == ["abc1234", "def5678", "`abc1234` - add it", "`a`, `b`"]


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (("- Wrote it.\n- Decided: no cache",), ["Wrote it.", "Decided: no cache"]),
        (("1. one\n2. two\n   more",), ["one", "two\nmore"]),
        (("1. one", "2. two"), ["one", "two"]),
        (("\n  * one\r\n  * two\n", "three"), ["one", "two", "three"]),
        (("- one\n  - nested\n\n  ```\n  - code\n  ```",), ["one\n- nested\n\n```\n- code\n```"]),
        *(((said,), [said]) for said in ("3. May", "See:\n- one", "- one\n\nMore.", "*one*", "---", "- one\n1. two")),
    ],
)
def test_a_list_is_as_many_values(cli: Cli, place: Place, said: tuple[str, ...], read: list[str]) -> None:
    """No item is nested in the item of its text; what is no list is read back as it was said."""
    flags = [f"--{flag}={each}" for flag in ("did", "next") for each in said]
    cli.ok("session", "add", "101", *flags, "--state", "- It runs.\n- No test fails.")
    shown = cli.json("session", "show", "101", "1")
    assert (shown["did"], shown["next"], shown["state"]) == (read, read, "It runs. No test fails.")
    assert "**Current state:** It runs. No test fails.\n" in place.text


@pytest.mark.parametrize("number", ["0", "-1", "2", "99999999999999999999"])
def test_unknown_session_is_refused(cli: Cli, number: str) -> None:
    """An unknown number is refused, with the command that lists the sessions."""
    assert "session list 101" in cli.refused("session", "show", "101", number)


def test_control_characters_are_never_printed_raw(cli: Cli, place: Place) -> None:
    """What a file holds that a terminal would obey is spelled out, and a carriage return moves nothing back."""
    place.fill(log="### Session 1 - 2026-01-01 10:00\n\n**What I did:** red \x1b[31m \x9b \u202e back\rover\n\n")
    for arguments in (
        ("session", "show", "101", "1"),
        ("session", "list", "101"),
        ("show", "101", "--section", "Progress Log"),
    ):
        result = cli(*arguments)
        assert not {"\x1b", "\x9b", "\u202e", "\r"} & set(result.out), arguments
        assert "\\x1b[31m" in result.out
        raw = cli(*arguments, "--format", "json").out
        assert not {"\x1b", "\x9b", "\u202e", "\r"} & set(raw), arguments
    assert "\x1b[31m" in cli.json("session", "show", "101", "1")["did"][0]


def test_session_restore_asks_for_a_revision(cli: Cli) -> None:
    """Without a revision, a number or a repository `session restore` says what is missing, and exits with 2."""
    for arguments in (("101", "1"), ("101", "--from", "HEAD"), ("101", "one", "--from", "HEAD")):
        refused = cli("session", "restore", *arguments)
        assert refused.status == 2
        assert "session restore: " in refused.err
    refused = cli("session", "restore", "101", "1", "--from", "HEAD")
    assert (refused.status, "is in no git repository" in refused.err) == (2, True)

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from taskstate.handoff import token_count

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

WHERE = ("--file", "app.py", "--location", "line 1", "--goal", "proved")
NEW = ("handoff", "new", "101", "--action", "Prove it.", *WHERE)


@pytest.fixture(autouse=True)
def phase(cli: Cli, place: Place) -> None:
    """Add phase 3, and the file that is worked on."""
    (place.root / "app.py").touch()
    cli.ok("phase", "add", "101", "3", "--name", "Lemma", "--objective", "Define", "--objective", "Prove")


def test_people_read_words_and_programs_data(cli: Cli, place: Place) -> None:
    """People learn where the document is and how the successor begins; what an agent returns is in the data alone."""
    result = cli(*NEW)
    path, then = result.out.splitlines()
    assert path.endswith(".md: handed over")
    assert (then, result.err) == ("next, for the successor: `taskstate start 101`", "")
    assert (place.root / path.removesuffix(": handed over")).exists()
    cli.ok("handoff", "accept", "101")
    data = cli.json(*NEW, "--force")
    assert (data["status"], data["changed"], data["path"]) == ("partial", True, ".taskstate/tasks/task-101-state.md")
    assert data["partial_progress"]["stage"] == "context_exhaustion_handoff"
    assert (place.root / data["handoff_path"]).exists()
    assert data["partial_progress"]["handoff_path"] == data["handoff_path"]


def test_it_is_shown_listed_and_accepted(cli: Cli, place: Place) -> None:
    """What it says, where it lies, and what no longer holds, for people and programs."""
    assert cli.ok("handoff", "list", "101") == "task 101 has no handoffs\n"
    assert cli.refused("handoff", "show", "101").startswith("task 101 has no handoff: ")
    cli.ok(
        *NEW,
        "--decision",
        "A: b",
        "--avoid",
        "C: d",
        "--context",
        "e",
        "--ref",
        "app.py, all",
        "--do-not-reread",
        "app.py",
    )
    shown = cli.json("handoff", "show", "101")
    assert (shown["action"], shown["current_state"]["file"], shown["status"]) == ("Prove it.", "app.py", "open")
    assert (shown["decisions"], shown["avoid"], shown["context"]) == (["A: b"], ["C: d"], ["e"])
    assert (shown["holds"], shown["notes"], shown["do_not_reread"]) == (True, [], ["app.py"])
    assert cli.ok("handoff", "show", "101").endswith("everything that was verified is still true\n")
    place.add()
    assert "! the state file has been written once since" in cli.ok("handoff", "show", "101")
    assert cli.json("handoff", "list", "101")[0]["status"] == "open"
    output = cli.ok("handoff", "accept", "101", "--agent", "second")
    assert "/archive/phase-3-handoff-" in output
    assert "accepted by second\n  the state file has been written once since" in output
    assert cli.ok("handoff", "list", "101").startswith("accepted  ")
    assert "! accepted by second at " in cli.ok("handoff", "show", "101")
    assert cli.refused("handoff", "accept", "101").startswith("task 101 has no open handoff")


def test_the_list_names_what_cannot_be_read(cli: Cli, place: Place) -> None:
    """A document with conflict markers belongs to the task, and is named with what is wrong with it."""
    cli.ok(*NEW)
    path = cli.json("handoff", "list", "101")[0]["handoff_path"]
    where = place.root / path
    whole = where.read_text(encoding="utf-8")
    where.write_text(whole.replace("status:", "<<<<<<< ours\nstatus:"), encoding="utf-8")
    assert cli.ok("handoff", "list", "101").startswith(f"unread    {path}: the front matter of handoffs/")
    (result,) = cli.json("handoff", "list", "101")
    assert (result["handoff_path"], result["status"]) == (path, None)
    assert result["fault"].endswith("cannot be read")
    where.write_text(f"<<<<<<< ours\n{whole}=======\n{whole}>>>>>>> theirs\n", encoding="utf-8")
    assert cli.ok("handoff", "list", "101").startswith("unread    ")
    place.text = re.sub(r"open: handoffs/.*?([,}\n])", r"open: null\1", place.text)
    assert cli.refused("handoff", "show", "101").startswith("the front matter of handoffs/")


BY_HAND = """# Handoff

## Immediate Next Action

Prove the modal case.

## Current State

- File: `app.py`
- Location: line 88
- Goal state: proved

## Key Decisions Made

None.

## What NOT to Try

None.

## Critical Context

None.

## References

None.
"""


def by_hand(place: Place, name: str, text: str) -> str:
    """Write a document among the open handoffs of task 101, and return its path from the root."""
    path = place.root / ".taskstate/handoffs/task-101" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path.relative_to(place.root).as_posix()


@pytest.mark.parametrize("name", ["notes.md", "phase-3-handoff-20990101T000000Z.md"])
def test_a_document_by_hand_is_not_passed_over(cli: Cli, place: Place, name: str) -> None:
    """It is shown with all that is wrong with it instead of an older one, and neither accepted nor ignored."""
    cli.ok(*NEW)
    cli.ok("handoff", "accept", "101")
    path = by_hand(place, name, BY_HAND.replace("- Location: line 88\n", "").replace("Prove the modal case.", "TBD"))
    findings = ["'Immediate Next Action' is still to be completed", "no `- Location:`"]
    findings += ["its name is not"] if name == "notes.md" else []
    listed, shown = cli("handoff", "list", "101"), cli("handoff", "show", "101")
    assert (listed.status, shown.status) == (1, 1)
    assert f"invalid   {path}: " in listed.out
    assert shown.out.startswith("# Handoff\n\n## Immediate Next Action\n\nTBD\n")
    assert f"`taskstate handoff new 101 --from {path}` takes it over" in shown.out
    assert len(re.findall("^! error: ", shown.out, re.MULTILINE)) == len(findings)
    data = cli.json("handoff", "show", "101", status=1)
    assert (data["valid"], data["handoff_path"], len(data["findings"])) == (False, path, len(findings))
    assert {each["handoff_path"]: each["status"] for each in cli.json("handoff", "list", "101", status=1)}[path] is None
    for command in (("handoff", "accept"), ("handoff", "successor"), ("start",)):
        refused = cli.refused(*command, "101")
        assert all(finding in refused for finding in (f"the handoff {path} is not valid", *findings)), command
    assert f"{path} lies among the open handoffs of task 101" in cli.refused(*NEW)


def test_a_document_by_hand_is_taken_over(cli: Cli, place: Place) -> None:
    """The command that is named makes a valid document of it, and keeps what was written in the archive."""
    path = by_hand(place, "notes.md", BY_HAND)
    assert cli("handoff", "show", "101").status == 1
    written = cli.json("handoff", "new", "101", "--from", path)["handoff_path"]
    assert not (place.root / path).exists()
    assert (place.root / ".taskstate/handoffs/task-101/archive/notes.md").read_text(encoding="utf-8") == BY_HAND
    assert (cli.json("handoff", "show", "101")["handoff_path"], cli("lint").status) == (written, 0)
    cli.ok("handoff", "accept", "101")


def test_a_complete_document_by_hand_is_an_open_handoff(cli: Cli, place: Place) -> None:
    """Nothing that a command adds is required: it has no finding, is shown, and `start` takes it over and counts it."""
    path = by_hand(place, "phase-3-handoff-20990101T000000Z.md", BY_HAND)
    assert cli("lint").status == 0
    assert cli.ok("handoff", "show", "101").endswith(f"{path}: open\neverything that was verified is still true\n")
    assert "Prove the modal case." in cli.ok("start", "101")
    accepted = (place.root / path).parent / "archive" / "phase-3-handoff-20990101T000000Z.md"
    assert accepted.read_text(encoding="utf-8").endswith(BY_HAND)
    assert "count: 1" in place.text
    assert cli("lint").status == 0


def test_a_document_that_was_never_completed_is_not_accepted(cli: Cli, place: Place) -> None:
    """A draft saved among the handoffs is open and has placeholders: it is named, and can be completed from there."""
    for objective in ("1", "2"):
        cli.ok("phase", "set", "101", "3", objective, "--status", "done")
    draft = cli("handoff", "new", "101", "--draft").out.replace(": None.", ": *To be completed.*")
    path = by_hand(place, "phase-3-handoff-20990101T000000Z.md", draft)
    assert "'Current State' has no `- File:`, `- Location:`" in cli.refused("handoff", "accept", "101")
    written = cli.json("handoff", "new", "101", "--from", path, "--action", "Go.", *WHERE)["handoff_path"]
    assert cli.json("handoff", "show", "101")["handoff_path"] == written


def test_an_older_document_by_hand_holds_nothing_up(cli: Cli, place: Place) -> None:
    """Where a newer handoff is valid, the older document is only listed; a path that went since is no fault."""
    path = by_hand(place, "phase-3-handoff-20200101T000000Z.md", "# By hand\n")
    cli.ok(*NEW, "--force")
    (place.root / "app.py").unlink()
    assert cli.json("handoff", "show", "101")["valid"] is True
    assert cli.json("handoff", "list", "101", status=1)[-1]["handoff_path"] == path
    cli.ok("handoff", "accept", "101")


def test_work_after_a_handoff_is_told(cli: Cli, place: Place) -> None:
    """Sessions that were recorded after an open handoff are in no handoff, which show, list and accept say."""
    cli.ok(*NEW)
    assert "in no handoff" not in cli.ok("handoff", "list", "101")
    cli.ok("session", "add", "101", "--did", "d", "--state", "s", "--next", "n")
    line = "session 1 was recorded after this handoff was written, and the work is in no handoff\n"
    assert cli.ok("handoff", "list", "101").endswith(f"! {line}")
    cli.ok("session", "add", "101", "--did", "e", "--state", "s", "--next", "n")
    line = "sessions 1-2 were recorded after this handoff was written, and the work is in no handoff\n"
    assert f"! {line}" in cli.ok("handoff", "show", "101")
    assert cli.json("handoff", "list", "101")[0]["newer_sessions"] == line.strip()
    assert line in cli.ok("handoff", "accept", "101")
    place.add()
    assert "in no handoff" not in cli.ok("handoff", "list", "101")


def test_a_draft_is_printed_completed_and_written(cli: Cli, place: Place) -> None:
    """What is missing is named on standard error; the completed draft is the input."""
    for objective in ("1", "2"):
        cli.ok("phase", "set", "101", "3", objective, "--status", "done")
    result = cli("handoff", "new", "101", "--draft")
    assert "## Immediate Next Action\n\n*To be completed.*\n" in result.out
    assert result.err.startswith("nothing is written yet: --action is still missing\n")
    assert cli.json("handoff", "new", "101", "--draft")["missing"] == ["--action"]
    (place.root / "draft.md").write_text(result.out, encoding="utf-8")
    refused = cli.refused("handoff", "new", "101", "--from", "draft.md")
    assert refused.startswith("the handoff cannot be written: --action is missing: ")
    data = cli.json("handoff", "new", "101", "--from", "-", stdin=result.out.replace("*To be completed.*", "Go on."))
    text = (place.root / data["handoff_path"]).read_text(encoding="utf-8")
    assert "## Immediate Next Action\n\nGo on.\n" in text


def test_json_is_read(cli: Cli, place: Place) -> None:
    """From a file or standard input, with flags before it."""
    given = {"phase": 3, "action": "One.", "file": "app.py", "location": "l", "goal": "g", "context": ["c"]}
    data = cli.json("handoff", "new", "101", "--from", "-", "--action", "Two.", stdin=json.dumps(given))
    text = (place.root / data["handoff_path"]).read_text(encoding="utf-8")
    assert ("\nTwo.\n" in text, "One." in text, "- c\n" in text) == (True, False, True)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("new", "101", *WHERE), "the handoff cannot be written: --action is missing"),
        (
            ("new", "101", "--action", "- a\n- b", *WHERE),
            "the handoff cannot be written: the next action is a list",
        ),
        ((*NEW[1:], "--phase", "9"), "task 101 has no phase 9"),
        (
            (*NEW[1:], "--ref", "../x"),
            "the handoff cannot be written: this path of the handoff is '../x', which leads",
        ),
        ((*NEW[1:], "--from", "nowhere.json"), "cannot read nowhere.json"),
        (("new", "9", *WHERE), "there is no task 9"),
        (("successor", "101"), "task 101 has no handoff"),
    ],
    ids=["no action", "two actions", "no phase", "out", "no file", "no task", "no handoff"],
)
def test_what_cannot_be_done_is_one_line(cli: Cli, arguments: tuple[str, ...], text: str) -> None:
    """Each refusal says what is wrong, and nothing is changed."""
    assert cli.refused("handoff", *arguments).startswith(text)


@pytest.mark.slow
def test_ten_in_a_chain_start_alike(cli: Cli, place: Place) -> None:
    """Ten agents hand on, each with a draft of what the last one left; the start of none is larger for it."""
    sizes = []
    for number in range(10):
        way = f"way {number:02}"
        cli.ok(
            "session",
            "add",
            "101",
            "--did",
            f"Decided on {way}: shorter",
            "--state",
            "s",
            "--next",
            f"Take {way} in `app.py`",
        )
        cli.ok("phase", "tried", "101", "3", "--approach", f"Old {way}", "--result", "failed: no structure")
        flags = (
            "--location",
            f"line {number:02}",
            "--avoid",
            f"Path {number:02}: too long",
            "--do-not-reread",
            "app.py",
        )
        written = cli.json("handoff", "new", "101", "--draft", *flags, "--actor", f"agent {number}")
        assert written["handoff_path"], written
        cli.ok("lint")
        start = cli.json("handoff", "successor", "101")
        assert f"Take {way}" in start["prompt"]
        assert f"Path {number:02}" in start["prompt"]
        assert max(token_count.count(start["prompt"]), start["tokens"]) <= 700
        sizes.append(start["tokens"])
        cli.ok("handoff", "accept", "101", "--agent", f"agent {number + 1}")
    assert len(set(sizes[5:])) == 1, sizes
    assert "handoffs: {count: 10, open: null}" in place.text
    assert '"handoff_count": 10' in place.text
    assert len(cli.json("handoff", "list", "101")) == 10
    archive = place.workspace.state_root / "handoffs/task-101/archive"
    documents = [path.read_text(encoding="utf-8") for path in archive.iterdir()]
    assert max(len(text) for text in documents) < 2 * min(len(text) for text in documents)
    everything = place.text + (place.archived if place.archive_path.exists() else "")
    assert (
        sorted(re.sub(r"\D", "", each) for each in re.findall(r"took over from phase 3, (\S+ \S+)", everything))
        == sorted(re.sub(r"\D", "", path.stem[-16:]) for path in archive.iterdir())[:9]
    )

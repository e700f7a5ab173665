from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place

ADD = ("evidence", "add", "101", "--type", "plan", "--path", "plan.md")
CITATION = "[plan-1] plan.md:2-3 sha256:43fc3d02ea6e854a (`taskstate evidence show 101 plan-1`)\n"


@pytest.fixture
def plan(place: Place) -> Path:
    """Return a plan of three lines."""
    path = place.root / "plan.md"
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    return path


def test_add_and_show(cli: Cli, plan: Path) -> None:
    """An excerpt is added under an id, and shown with status 0 as long as its source holds it, else with 1."""
    assert cli.ok(*ADD, "--lines", "2-3") == f"plan-1\n{CITATION}"
    assert cli.ok("evidence", "show", "101", "plan-1") == f"{CITATION}plan.md still holds it\n\ntwo\nthree\n"
    plan.write_text("zero\none\ntwo\nthree\n", encoding="utf-8")
    moved = cli("evidence", "show", "101", "plan-1")
    assert (moved.status, moved.err) == (1, "")
    assert moved.out.startswith(f"{CITATION}plan.md holds it at lines 3-4 now, and no longer at 2-3\n")
    plan.write_text("one\n2\nthree\n", encoding="utf-8")
    assert cli("evidence", "show", "101", "plan-1").out == (
        f"{CITATION}plan.md changed: it no longer holds it\n\ntwo\nthree\n\nThe text there now:\n\n2\nthree\n"
    )
    plan.unlink()
    assert cli("evidence", "show", "101", "plan-1").out == f"{CITATION}plan.md is gone\n\ntwo\nthree\n"
    plan.write_bytes(b"\xff")
    output = cli("evidence", "show", "101", "plan-1").out
    assert "plan.md cannot be read any more\n  plan.md is not UTF-8: byte 0 is 0xff\n\ntwo\nthree\n" in output


def test_text_is_not_kept_here(cli: Cli, plan: Path) -> None:
    """In another clone, where the source no longer holds the lines, that is reported in the place of the text."""
    cli.ok(*ADD, "--lines", "2-3")
    shutil.rmtree(plan.parent / ".taskstate/artifacts")
    plan.write_text("one\n", encoding="utf-8")
    output = cli("evidence", "show", "101", "plan-1").out
    assert "no longer holds it\n\n(its text is not kept here; only its hash is)\n" in output


def test_json(cli: Cli, plan: Path) -> None:
    """In JSON adding gives what every writer does, the id and the citation, and showing the text and what became."""
    data = cli.json(*ADD, "--lines", "2-3")
    assert (data["path"], data["changed"], data["id"]) == (".taskstate/tasks/task-101-state.md", True, "plan-1")
    assert data["citation"] == CITATION.rstrip()
    assert data["evidence"]["lines"] == "2-3"
    shown = cli.json("evidence", "show", "101", "plan-1")
    assert (shown["text"], shown["matches"], shown["state"], shown["text_now"]) == ("two\nthree", True, "same", None)
    plan.write_text("one\n", encoding="utf-8")
    shown = cli.json("evidence", "show", "101", "plan-1", status=1)
    assert (shown["matches"], shown["state"], shown["text_now"]) == (False, "changed", "")
    assert [each["id"] for each in cli.json("evidence", "show", "101", status=1)] == ["plan-1"]


@pytest.mark.usefixtures("plan")
def test_list_and_repetition(cli: Cli) -> None:
    """Without an id all are listed; the same excerpt again says which one holds it."""
    assert cli.ok("evidence", "show", "101") == "no evidence yet\n"
    cli.ok(*ADD, "--lines", "2-3")
    again = cli.ok(*ADD, "--lines", "L2-L3")
    assert again == f".taskstate/tasks/task-101-state.md: nothing to change\n  plan-1 holds it already\n  {CITATION}"
    assert cli.ok("evidence", "show", "101") == CITATION


def test_a_list_tells_what_has_become_of_the_sources(cli: Cli, plan: Path) -> None:
    """An excerpt that its source no longer holds is told below its line, by lint too, and the status is 1."""
    cli.ok(*ADD, "--lines", "2-3")
    cli.ok(*ADD, "--lines", "1-1")
    plan.write_text("one\n2\nthree\n", encoding="utf-8")
    listed = cli("evidence", "show", "101")
    assert (listed.status, listed.out.splitlines()[1]) == (1, "  plan.md changed: it no longer holds it")
    assert len(listed.out.splitlines()) == 3
    states = [each["state"] for each in cli.json("evidence", "show", "101", status=1)]
    assert states == ["changed", "same"]
    assert "TS705" in cli("lint", "--select", "TS705").out
    plan.write_text("zero\none\ntwo\nthree\n", encoding="utf-8")
    assert "plan.md holds it at lines 3-4 now" in cli("evidence", "show", "101").out
    assert "TS705" not in cli("lint", "--select", "TS705").out
    plan.unlink()
    assert "TS705" in cli("lint", "--select", "TS705").out


@pytest.mark.usefixtures("plan")
def test_refusals(cli: Cli) -> None:
    """A source that cannot be cited, or is missing, gives a one-line error, and changes nothing."""
    assert "plan.md has 3 lines, so there are no lines 2-9" in cli.refused(*ADD, "--lines", "2-9")
    (cli.place.root / "one.md").write_text("one\n", encoding="utf-8")
    assert "one.md has 1 line, so" in cli.refused(*ADD[:-1], "one.md", "--lines", "2-9")
    assert "leads out of the repository" in cli.refused(*ADD[:-1], "../x")
    assert "task 101 has no evidence plan-1" in cli.refused("evidence", "show", "101", "plan-1")
    assert "there is no task 999" in cli.refused("evidence", "show", "999", "plan-1")

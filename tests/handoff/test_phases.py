"""Phases: adding, changing and exporting them, and what never changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.formatting.formatter import format_text
from taskstate.handoff import phases
from taskstate.handoff.phases import ObjectiveUpdate
from taskstate.lint import engine
from taskstate.lint.runner import check_files
from taskstate.model.config import Config
from taskstate.model.phases import next_objective_id, objective_to_work_on, objectives_digest, phase_id, phases_in
from taskstate.model.statuses import OF_OBJECTIVES
from taskstate.model.task_state import json_fence, read_state
from taskstate.syntax import invisible
from taskstate.syntax.document import parse
from taskstate.validation import schema
from tests.support.place import Place, changes, refusal, tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.writing.change import Outcome

NOW = "2026-01-31T12:00:00Z"
TEXT = """---
taskstate: 1
task_id: "101"
title: JWT Service
status: created
created_at: "2026-01-31T12:00:00Z"
---

# Task #101: JWT Service - State

## 1. Static Context

### Task Description

Issue tokens.

### Acceptance Criteria

- [ ] Tokens verify

## 2. Chain Inputs

None.

## 3. Feature Checklist

```json
{
  "features": [],
  "overall_progress": "0%"
}
```

## 4. Progress Log

## 6. Chain Output

### Summary

*To be completed.*
"""
OBJECTIVES = ("Define the state", "Prove consistency")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository whose task 101 has phase 3, with two objectives."""
    made = Place(tmp_path / "repository")
    add(made)
    return made


def add(
    place: Place, phase: str = "3", name: str = "Lindenbaum lemma", objectives: tuple[str, ...] = OBJECTIVES
) -> Outcome:
    """Add a phase."""
    return phases.add_phase(place.workspace, "101", (phase, name), objectives, place.request())


def put(place: Place, objective: str, status: str, note: str | None = None) -> Outcome:
    """Set the status of an objective of phase 3."""
    return phases.set_objective(
        place.workspace, "101", ("3", objective), ObjectiveUpdate(status, note), place.request()
    )


def value(place: Place, phase: str = "3") -> dict[str, Any]:
    """Return the value of a phase."""
    return phases.find_phase(place.state, phase).value


def codes(place: Place) -> list[str]:
    """Return the lint findings in the state file."""
    return [finding.diagnostic.code for finding in check_files([place.path], place.checking()).findings]


def test_a_new_phase_stands_at_the_end_of_the_checklist(place: Place) -> None:
    """A new phase has a heading and one valid fence, numbers its objectives from 1, and begins with the first."""
    (part,) = phases_in(place.state)
    assert part.section.heading.of(place.text) == "### Phase 3: Lindenbaum lemma"
    found = value(place)
    assert schema.faults(found, "phase") == ()
    assert (found["phase"], found["started_at"], found["current_objective"]) == (3, None, 1)
    assert [each["id"] for each in found["objectives"]] == [1, 2]
    assert format_text(place.text, place.path.name) == place.text
    assert codes(place) == []


def test_adding_a_phase_changes_nothing_else(tmp_path: Path) -> None:
    """Only the phase is added, at the end of the section, with the file's line ends."""
    place = Place(tmp_path / "repository")
    place.text = place.text.replace("## 4. Progress", "By hand.  \n\n\n## 4. Progress").replace("\n", "\r\n")
    before = place.text
    add(place)
    gone, come = changes(before, place.text)
    assert (gone, come.replace("\r\n", "\n").count("\n")) == ("", come.count("\r\n"))
    assert come.strip("\r\n").startswith("### Phase 3:")
    assert place.text.index("By hand.") < place.text.index("### Phase 3:") < place.text.index("## 4. Progress")


@given(
    name=st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), min_size=1, max_size=40).filter(
        lambda text: text.strip() and not any(invisible.find(text))
    ),
    objective=st.sampled_from(["### Phase 4: no", "```json", "<!-- x", "ends with #", '"quoted" \\ {}', "- item"]),
)
def test_no_text_becomes_structure(name: str, objective: str) -> None:
    """Any name and objectives of a phase read back as given, lint cleanly, and are in canonical form."""
    text = phases.with_phase(read_state(parse(TEXT)), phases.new_phase(("3", name), (objective,), NOW))
    found = phases.find_phase(read_state(parse(text)), "3").value
    assert found["phase_name"] == " ".join(name.split())
    assert found["objectives"][0]["description"] == objective
    assert engine.check(text, "task-101-state.md", Config()) == ()
    assert format_text(text, "task-101-state.md") == text


@pytest.mark.parametrize("name", ["C #", "C ##", "#", "Lemma ##\\#"])
def test_a_name_keeps_the_marks_at_its_end(name: str) -> None:
    """A name that ends with `#` is escaped, since Markdown drops closing marks of a heading."""
    text = phases.with_phase(read_state(parse(TEXT)), phases.new_phase(("3", name), (), NOW))
    (part,) = phases_in(read_state(parse(text)))
    assert part.section.title.replace("\\", "") == f"Phase 3: {name}".replace("\\", "")
    assert (part.title, engine.check(text, "task-101-state.md", Config())) == (name, ())


def test_the_work_moves_on_with_its_objectives(place: Place) -> None:
    """Begun sets the start, each change its time; the current objective is the one in progress, or the next."""
    put(place, "2", "in_progress", "3 of 5")
    found = value(place)
    started = found["started_at"]
    assert (found["current_objective"], found["last_updated"]) == (2, started)
    put(place, "1", "in_progress")
    put(place, "2", "in_progress", "4 of 5")
    assert value(place)["current_objective"] == 2
    put(place, "2", "done")
    found = value(place)
    assert (found["current_objective"], found["started_at"]) == (1, started)
    assert found["last_updated"] > started
    assert found["objectives"][1] == {"id": 2, "description": OBJECTIVES[1], "status": "done", "note": "4 of 5"}
    put(place, "1", "done")
    assert value(place)["current_objective"] is None
    phases.extend(place.workspace, "101", "3", "One more", place.request())
    assert value(place)["current_objective"] == 3
    assert codes(place) == []


def test_saying_the_same_again_changes_nothing(place: Place) -> None:
    """An objective with that status, and an approach with that result, are there already."""
    attempt = ("Induction", "failed: needs structure")
    assert phases.record_attempt(place.workspace, "101", "3", attempt, place.request()).changed
    assert put(place, "1", "done").changed
    before = place.text
    assert not put(place, "1", "done").changed
    assert not phases.record_attempt(place.workspace, "101", "3", attempt, place.request()).changed
    assert place.text == before


def test_what_was_tried_only_grows(place: Place) -> None:
    """Each entry comes behind the others; the same approach may have another result later."""
    for attempt in (("A", "failed"), ("B", "failed\ntwice"), ("A", "works")):
        phases.record_attempt(place.workspace, "101", "3", attempt, place.request())
    told = [(each["approach"], each["result"]) for each in value(place)["approaches_tried"]]
    assert told == [("A", "failed"), ("B", "failed\ntwice"), ("A", "works")]


def test_line_ends_stay(place: Place) -> None:
    """In a file with CRLF everything written has CRLF."""
    place.text = place.text.replace("\n", "\r\n")
    put(place, "1", "in_progress", "one\ntwo")
    phases.record_attempt(place.workspace, "101", "3", ("A", "failed"), place.request())
    phases.extend(place.workspace, "101", "3", "More", place.request())
    assert place.text.count("\n") == place.text.count("\r\n")
    assert codes(place) == []


def test_hand_made_layout_stays(place: Place) -> None:
    """Only the values that change are written; keys of one's own, order and blanks stay as they are."""
    fence = json_fence(place.state.document, phases_in(place.state)[0].section.own)
    assert fence
    by_hand = """{ "phase_name" : "Lindenbaum lemma", "phase": 3,
   "objectives":[ {"id":"a",  "status":"not_started","description":"Define"},
                  {"id":7, "description":"Prove","status":"blocked","x-owner":"ann"} ],
   "started_at":null, "last_updated":null, "current_objective":"a", "approaches_tried":[], "handoff_count":2 }
"""
    place.text = place.text[: fence.content.start] + by_hand + place.text[fence.content.end :]
    before = place.text
    put(place, "7", "in_progress", "now")
    gone, come = changes(before, place.text)
    now = value(place)["last_updated"]
    wanted = gone.replace('"status":"blocked"', '"status":"in_progress"').replace(
        '"x-owner":"ann"', '"x-owner":"ann","note":"now"'
    )
    wanted = wanted.replace('"started_at":null, "last_updated":null', f'"started_at":"{now}", "last_updated":"{now}"')
    assert "".join(come.replace(", ", ",").split()) == "".join(
        wanted.replace('"current_objective":"a"', '"current_objective":7').replace(", ", ",").split()
    )
    phases.extend(place.workspace, "101", "3", "Extend", place.request())
    assert value(place)["objectives"][-1]["id"] == 8


REFUSED: dict[str, tuple[Callable[[Place], object], str]] = {
    "the phase is there": (add, "exists"),
    "not an id": (lambda place: add(place, "3 a"), "bad-id"),
    "a long id": (lambda place: add(place, "x" * 65), "bad-id"),
    "no name": (lambda place: add(place, "4", ""), "empty"),
    "two lines": (lambda place: add(place, "4", "a\nb"), "several-lines"),
    "an objective twice": (lambda place: add(place, "4", "Twice", ("same", "same")), "usage"),
    "an objective again": (lambda p: phases.extend(p.workspace, "101", "3", OBJECTIVES[0], p.request()), "exists"),
    "no such phase": (lambda p: phases.extend(p.workspace, "101", "9", "More", p.request()), "not-found"),
    "no such objective": (lambda place: put(place, "9", "done"), "not-found"),
    "a terminal escape": (lambda place: put(place, "1", "done", "\x1b[0m"), "control-characters"),
    "nothing to find": (lambda place: phases.find_phase(place.state, "99"), "not-found"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused(place: Place, name: str) -> None:
    """Duplicate or missing phases and objectives and invalid texts are refused, and nothing changes."""
    job, code = REFUSED[name]
    before = place.text
    assert refusal(lambda: job(place)).code == code
    assert place.text == before


def test_an_unreadable_phase_is_refused(place: Place) -> None:
    """A fence that is missing, not JSON or invalid is refused by name."""
    whole = place.text
    for broken in (
        ('"handoff_count": 0', '"handoff_count": "many"'),
        ('  "phase": 3,', '  "phase": 3'),
        ('```json\n{\n  "phase"', '```\n{\n  "phase"'),
    ):
        place.text = whole.replace(*broken)
        assert place.text != whole
        error = refusal(lambda: put(place, "1", "done"))
        assert (error.code, "phase 3 of task 101" in error.message) == ("unreadable", True)


def test_a_section_that_swallows_what_is_added_is_refused(place: Place) -> None:
    """A phase is not added behind a fence that never closes, or without the section."""
    whole = place.text
    place.text = whole.replace("### Phase 3", "```text\n\n### Phase 3", 1).replace("```\n\n## 4.", "\n## 4.", 1)
    assert refusal(lambda: add(place, "4")).code == "damaged"  # the last write had more sections
    place.forget()
    assert refusal(lambda: add(place, "4")).code == "unsafe"
    place.text = whole.replace("## 3. Feature Checklist", "## 3. Checks")
    assert refusal(lambda: add(place, "4")).code == "damaged"  # it is known which section is meant


def test_two_of_one_name_are_refused(place: Place) -> None:
    """An ambiguous phase or objective is refused; lint reports both, and nothing changes."""
    whole = place.text
    start = whole.index("### Phase 3")
    part = whole[start : whole.index("\n## 4.")]
    place.text = whole.replace(part, f"{part}\n{part}")
    assert codes(place) == ["TS306"]
    before = place.text
    assert refusal(lambda: put(place, "1", "done")).code == "duplicate-id"
    assert place.text == before
    place.text = whole.replace('"id": 2', '"id": 1')
    assert codes(place) == ["TS306"]
    before = place.text
    assert refusal(lambda: put(place, "1", "done")).code == "duplicate-id"
    assert place.text == before


def test_a_phase_is_exported(place: Place) -> None:
    """An export has the same value, lints, is reproducible, and goes to the artifacts or the given path."""
    put(place, "1", "done")
    exported = phases.export(place.workspace, "101", "3", None, place.request())
    path = place.root / exported.outcome.path
    assert path.relative_to(place.root).as_posix() == ".taskstate/artifacts/task-101/phase-3-progress.json"
    assert json.loads(path.read_bytes()) == value(place) == exported.value
    assert check_files([path], place.checking()).findings == ()
    assert not phases.export(place.workspace, "101", "3", None, place.request()).outcome.changed
    other = place.root / "docs/phase-3-progress.json"
    phases.export(place.workspace, "101", "3", other, place.request(dry_run=True))
    assert not other.exists()
    phases.export(place.workspace, "101", "3", other, place.request())
    assert other.read_bytes() == path.read_bytes()
    assert (
        refusal(lambda: phases.export(place.workspace, "101", "3", other, place.request(expect="1"))).code == "revision"
    )
    put(place, "2", "done")
    assert phases.export(place.workspace, "101", "3", other, place.request()).outcome.changed, "it may be brought up"
    assert json.loads(other.read_bytes()) == value(place)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (".taskstate/tasks/task-101-state.md", "file-name"),
        ("app.py", "file-name"),
        ("new.json", "file-name"),
        ("phase-4-progress.json", "file-name"),
        ("task-102/phase-3-progress.json", "file-name"),
        ("out/phase-3-progress.json", "file-name"),
        (".git/config", "path-escapes"),
        (".git/phase-3-progress.json", "path-escapes"),
        ("../phase-3-progress.json", "path-escapes"),
        ("link/phase-3-progress.json", "path-escapes"),
        ("phase-3-progress.json", "exists"),
        ("docs/phase-3-progress.json", "exists"),
    ],
)
def test_an_export_overwrites_nothing_else(place: Place, output: str, code: str, tmp_path: Path) -> None:
    """The given path must be in the repository, have the name of a progress file, and replace no other file."""
    place.configure('exclude = ["out/**"]\n')
    for folder in (".git", "docs", "out", "task-102"):
        (place.root / folder).mkdir()
    for path in (".git/config", "app.py", "phase-3-progress.json"):
        (place.root / path).write_text("mine\n", encoding="utf-8")
    other = {**value(place), "phase_name": "Another task's"}
    (place.root / "docs/phase-3-progress.json").write_text(json.dumps(other), encoding="utf-8")
    (place.root / "link").symlink_to(tmp_path)
    before = tree(tmp_path)
    error = refusal(lambda: phases.export(place.workspace, "101", "3", place.root / output, place.request()))
    assert error.code == code
    assert tree(tmp_path) == before


@given(st.lists(st.sampled_from(OF_OBJECTIVES), max_size=6), st.one_of(st.none(), st.integers(1, 7)))
def test_the_current_objective_is_one_that_is_not_done(statuses: list[str], current: int | None) -> None:
    """The current objective is the one in progress, else the first open one, and null if all are done."""
    objectives = [{"id": number, "status": status} for number, status in enumerate(statuses, start=1)]
    chosen = objective_to_work_on(objectives, current)
    stands = {each["id"]: each["status"] for each in objectives}
    wanted = next((each for each in ("in_progress", "not_started", "blocked") if each in statuses), None)
    assert (stands[chosen] if chosen is not None else None) == wanted
    if current is not None and stands.get(current) == "in_progress":
        assert chosen == current
    assert objective_to_work_on(objectives, chosen) == chosen


def test_ids_are_numbers_where_they_can_be() -> None:
    """The id of a phase is a number if written as one; a new objective id exceeds all numbers."""
    assert [phase_id(text) for text in ("3", "03", "2a", "v1.2", "²")] == [3, "03", "2a", "v1.2", "²"]
    assert [next_objective_id([]), next_objective_id([{"id": "a"}, {"id": "4"}, {"id": 2}])] == [1, 5]


def test_any_change_of_an_objective_is_seen() -> None:
    """The digest depends on status, note and number of objectives, not on attempts."""
    phase: dict[str, Any] = {"phase": 1, "objectives": [{"id": 1, "status": "done"}], "approaches_tried": []}
    before = objectives_digest([phase])
    assert objectives_digest([{**phase, "approaches_tried": [1], "handoff_count": 3}]) == before
    for objectives in ([], [{"id": 1, "status": "blocked"}], [{"id": 1, "status": "done", "note": "\ud800"}]):
        assert objectives_digest([{**phase, "objectives": objectives}]) != before

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from taskstate.handoff import phases
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.units.items import (
    CRITERION,
    ENTRY,
    EVENT,
    HANDOFF,
    KEY,
    MAP,
    SESSION,
    Item,
    archive_items,
    described,
    items_in,
    lost_between,
    named_items,
    require_conserved,
    state_items,
    units_of,
)
from taskstate.units.presence import holds
from tests.support.place import Place, refusal

if TYPE_CHECKING:
    from pathlib import Path

ONE, OTHER = Item(SESSION, "", "1" * 16), Item(SESSION, "", "2" * 16)
TICK = Item(CRITERION, "c", "3" * 16)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with two sessions, a proof and a check in task 101."""
    place = Place(tmp_path / "repository")
    place.add("First.")
    place.add("Second.")
    place.prove()
    place.check(2)
    return place


def items(text: str) -> Counter[Item]:
    """Return the items of a state file with this text."""
    return state_items(read_state(parse(text)))


def kinds(found: Counter[Item]) -> dict[str, int]:
    """Return how many items of each kind there are."""
    return Counter(item.kind for item in found.elements())


def test_items_are_named_for_messages(place: Place) -> None:
    """Sessions and criteria are named by number, proofs by their feature, prose by its heading."""
    names = [name for item, name in named_items(place.state) if item.kind != KEY]
    features = [name for name in names if name.startswith("feature")]
    assert [name for name in names if name not in features] == [
        *(
            "Task Description",
            "criterion 1",
            "the checked box of criterion 2",
            "the proof of jwt-1",
            "session 1",
            "session 2",
        ),
    ]


def test_session_is_known_without_its_number(place: Place) -> None:
    """A merge may change the number; any other change makes another item."""
    before = items(place.text)
    assert items(place.text.replace("### Session 2", "### Session 7")) == before
    changed = items(place.text.replace("Second.", "Second, and more."))
    assert kinds(before - changed) == {SESSION: 1}


def test_session_is_the_same_in_the_archive(place: Place) -> None:
    """An archiving moves items and changes none."""
    before = items(place.text)
    place.archive(keep=1)
    assert items(place.text) + archive_items(place.archived) == before
    assert kinds(archive_items(place.archived)) == {SESSION: 1}


def test_session_in_conflict_is_no_item(place: Place) -> None:
    """What stands between conflict markers was acknowledged in another form."""
    text = place.text.replace(
        "**What I did:** Second.",
        "<<<<<<< ours\n**What I did:** Second.\n=======\n**What I did:** Other.\n>>>>>>> theirs",
    )
    assert kinds(items(place.text) - items(text)) == {SESSION: 1}


def test_proof_is_another_with_other_evidence(place: Place) -> None:
    """What a feature's test showed is part of it; its place is the feature."""
    before = items(place.text)
    after = items(place.text.replace('"seen"', '"seen twice"'))
    (gone,) = lost_between(before, after)
    assert gone.kind == ENTRY
    assert {item.place for item in after - before} == {gone.place} == {'feature checklist features "jwt-1"'}


def test_check_is_the_same_wherever_the_criterion_stands(place: Place) -> None:
    """A criterion is known by its text: moving it changes nothing, taking the tick away does."""
    before = items(place.text)
    first, second = "- [ ] Tokens verify\n", "- [x] Tokens expire\n"
    assert first + second in place.text
    assert items(place.text.replace(first + second, second + first)) == before
    assert kinds(before - items(place.text.replace("[x]", "[ ]"))) == {CRITERION: 1}


def test_events_and_acks_are_items(place: Place) -> None:
    """What the audit holds counts, each event by its values and each ack by its agent."""
    block = 'acks: {"agent-2": 3}\naudit:\n  events: [{event: resealed, note: meant}]\n'
    text = place.text.replace("audit:\n", block, 1)
    added = items(text) - items(place.text)
    assert kinds(added) == {EVENT: 1, KEY: 1}
    assert (KEY, "acks agent-2") in {(item.kind, item.place) for item in added}


def test_files_hold_items_by_their_kind(place: Place) -> None:
    """A handoff is one item, known by its name, an impact map one with its text; a file without bytes holds none."""
    document = Counter([Item(HANDOFF, "x-handoff-1.md", "")])
    assert items_in("handoff", "handoffs/task-101/x-handoff-1.md", b"text") == document
    assert kinds(items_in("impact-map", "task-101-impact-map.json", b"{}")) == {MAP: 1}
    assert items_in("impact-map", "m.json", b"{\r\n}") == items_in("impact-map", "m.json", b"{\n}")
    assert items_in("state", "", place.text.encode()) == items(place.text)
    for kind in ("state", "archive", "handoff", "impact-map"):
        assert items_in(kind, "x", b"") == Counter()
    assert items_in("progress", "x", b"text") == Counter()


def test_bytes_that_are_no_text_hold_no_items() -> None:
    """A damaged file is read as far as it goes, and never fails."""
    for data in (b"\0" * 100, b"\xff\xfe---\n", b"---\n", b"### Session 1"):
        assert set(kinds(items_in("state", "", data))) <= {"text"}
        assert kinds(items_in("archive", "", data)) == {}


@pytest.mark.parametrize(
    ("wanted", "after"),
    [
        ([ONE], [ONE]),
        ([], [ONE]),
        ([ONE, ONE], [ONE, ONE]),
        ([TICK], [TICK, TICK]),
        ([], []),
    ],
)
def test_conserved_items_pass(wanted: list[Item], after: list[Item]) -> None:
    """Everything stands as often as it must; what is no session, event or handoff may stand more often."""
    require_conserved(Counter(wanted), Counter(after), "the file")


@pytest.mark.parametrize(
    ("wanted", "after"),
    [([ONE], []), ([ONE], [OTHER]), ([ONE], [ONE, ONE]), ([], [ONE, ONE]), ([ONE, ONE], [ONE]), ([TICK], [])],
)
def test_items_that_are_lost_or_doubled_are_refused(wanted: list[Item], after: list[Item]) -> None:
    """The error says how many of what kind would not stand there exactly once."""
    error = refusal(lambda: require_conserved(Counter(wanted), Counter(after), "the file"))
    assert error.code == "unsafe"
    assert f"1 {(wanted or after)[0].kind} would not be there exactly once" in error.message


def test_items_are_described_by_kind() -> None:
    """Each item counts once, however often it is named."""
    assert described([ONE, ONE, OTHER, TICK]) == "2 sessions, 1 criterion"


SHARED = """---
taskstate: 1
kind: permanent
task_id: "900"
title: Shared
status: in_progress
version: 2
---

# [PERMANENT] Shared - State

## 1. User Intent

Users want tokens.

## 2. Codebase Impact Map

```json
{
  "modules": [
    {"id": "api", "path": "src/api"}
  ]
}
```

## 3. Architecture Decisions

### AD-1: Files

**Status:** accepted

**Decision:** Files, no server.

## 4. Phase Status

| Phase | Status |
| --- | --- |
| 1 | done |

## 5. Constraints

- **Net**: none

## 6. Change Log

- v2 - 2026-01-31T12:02:00Z - ann - Architecture Decisions: AD-1: Files (accepted) [architecture change]
- v1 - 2026-01-31T12:01:00Z - ann - all: created

## 7. Whatever a project adds

Its words.

### And below

1. More.
"""


@pytest.mark.parametrize("which", ["task", "permanent"])
def test_every_line_of_a_body_is_counted(place: Place, which: str) -> None:
    """Whatever line of a body is changed, an item is gone: a section that nobody thought of is counted, too."""
    phases.add_phase(place.workspace, "101", ("1", "Tokens"), ("Issue them",), place.request())
    text = place.text if which == "task" else SHARED
    head, body = text.split("\n---\n", 1)
    lines = body.split("\n")
    layout = re.compile(
        r"#|\s*$|```|[|\s-]*$|\*To be completed|None\.|\s*[\]{}\[],?$|.*\[\]?,?$"
        r"|.*(overall_progress|last_updated)"
    )
    before = items(text)
    counted = [number for number, line in enumerate(lines) if not layout.match(line)]
    for number in counted:
        changed = [*lines[:number], re.sub(r"(\w)(?=\W*$)", r"\1q", lines[number]), *lines[number + 1 :]]
        assert lost_between(before, items("\n".join([head, "---", *changed]))), lines[number]
    assert len(counted) > 10


@pytest.mark.parametrize("key", ["title", "priority", "depends_on", "delta", "x-ours"])
def test_every_key_of_a_front_matter_is_counted(place: Place, key: str) -> None:
    """All but what each write sets anew: a key that nobody thought of, too."""
    values = {"delta": "{turn: {agent: ann}}", "depends_on": '["7"]'}
    text = re.sub(rf"(?m)^{key}: .*\n", "", place.text).replace("audit:\n", f"{key}: {values.get(key, 'v')}\naudit:\n")
    assert {item.kind for item in items(text) - items(re.sub(rf"(?m)^{key}: .*\n", "", text))} == {KEY}


def test_a_session_that_its_turn_completed_holds_its_older_form(place: Place) -> None:
    """What the end of a turn elsewhere added loses nothing of what was recorded here; other words do."""
    verified = re.sub(r"(### Session 1 (?s:.*?))\n+(?=### |## )", r"\1\n\n**Outcome:** paused\n\n", place.text, count=1)
    older, newer, other = (
        next(each for each in units_of(read_state(parse(text))) if each.item.kind == SESSION)
        for text in (place.text, verified, verified.replace("**Current state:**", "**Current state:** not", 1))
    )
    assert (holds([newer], older), holds([older], newer), holds([other], older)) == (True, False, False)

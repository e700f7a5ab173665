"""What changed in a task between two texts of its state file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.units.items import event_line
from taskstate.views.changes import CHANGED, NEW, REMOVED, Side, change_of
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.views.changes import TaskChange

ROLES = ("implementer", "reviewer", "validator")


@pytest.fixture
def text(tmp_path: Path) -> str:
    """Return the text of task 101, with a session."""
    place = Place(tmp_path / "repository")
    place.add("one")
    return place.text


def side(text: str, **more: Any) -> Side:  # noqa: ANN401 - its fields
    """Return a side with this state file."""
    return Side(read_state(parse(text)), **more)


def change(before: str, after: str) -> TaskChange:
    """Return what changed between two texts."""
    return change_of(side(before), side(after), ROLES)


def replaced(text: str, old: str, new: str) -> str:
    """Return the text with a part replaced that it has."""
    assert old in text
    return text.replace(old, new, 1)


def with_block(text: str, block: str) -> str:
    """Return the text with more lines in its front matter."""
    return replaced(text, "task_id:", f"{block}\ntask_id:")


def test_nothing_changed(text: str) -> None:
    """Of the same text only id, title and status are told; a new task has none before, a removed one none after."""
    same = change(text, text)
    assert same == change_of(None, side(text), ROLES)._replace(
        change=CHANGED, status_before="in_progress", criteria=None, features=None, sessions=()
    )
    assert change_of(None, side(text), ROLES).change == NEW
    removed = change_of(side(text), None, ROLES)
    assert (removed.change, removed.status_before, removed.status) == (REMOVED, "in_progress", None)


def test_criteria(text: str) -> None:
    """Told are those met now, no longer met, removed and open; a line that is no criterion could be open."""
    before = replaced(text, "- [ ] Tokens verify", "- [x] Tokens verify\n- [ ] Goes")
    after = replaced(text, "- [ ] Tokens expire", "- [x] Tokens expire\n- [x] Added\n- [] malformed")
    found = change(before, after).criteria
    assert found
    assert (found.reached, found.all) == (2, 4)
    assert [each.text for each in found.now] == ["Tokens expire", "Added"]
    assert found.no_longer == ("Tokens verify",)
    assert found.removed == ("Goes",)
    assert found.open == ("Tokens verify", "- [] malformed")


@pytest.mark.parametrize(
    ("evidence", "proof"),
    [
        ('{"command": "pytest", "exit_status": 0}', "by a command, exit 0"),
        ('{"commit": "abc"}', "by a commit"),
        ('"seen"', "by words only"),
        ("null", "without proof"),
    ],
)
def test_features(text: str, evidence: str, proof: str) -> None:
    """A feature that passes now is told with the kind of its proof; one that was moved counts no more."""
    first, second = '{"id": "jwt-1", "description": "makes a JWT", "passes": false', '{"id": "jwt-2", "passes": true'
    before = replaced(text, first, f"{second}}},\n    {first}")
    after = replaced(before, first, f'{first[: -len("false")]}true, "evidence": {evidence}')
    after = replaced(after, second, f'{second}, "moved_to": "105"')
    found = change(before, after).features
    assert found
    assert [tuple(each) for each in found.now] == [("jwt-1", proof)]
    assert (found.reached, found.all, found.removed, found.open) == (1, 1, (), ())


def test_sessions(text: str) -> None:
    """New, rewritten and gone sessions are told; another number alone, or a place in the archive, is no change."""
    one = read_state(parse(text)).sessions[0]
    entry = one.entry
    two, three = (entry.replace("Session 1", f"Session {n}").replace("one", f"did {n}") for n in (2, 3))
    before = replaced(text, entry, f"{entry}\n\n{two}")
    renumbered = replaced(text, entry, f"{two.replace('Session 2', 'Session 1')}\n\n{three}\n\n{entry}")
    found = change(before, replaced(renumbered, entry, entry.replace("Session 1", "Session 2")))
    assert [tuple(each) for each in found.sessions] == [(3, "did 3")]
    assert (found.sessions_rewritten, found.sessions_gone) == ((), ())
    found = change(before, replaced(text, "** one", "** another"))
    assert (found.sessions, found.sessions_rewritten, found.sessions_gone) == ((), (1,), (2,))
    archived = read_state(parse(before)).sessions
    later = change_of(side(before), side(replaced(text, entry, three), archived=archived), ROLES)
    assert ([each.number for each in later.sessions], later.sessions_gone) == ([3], ())


def test_blocks(text: str) -> None:
    """Told are the findings that are open, with those that are new; what is worse than the baseline; the handoff."""
    found_one = "{id: 1, by: reviewer, text: never expires}"
    known = with_block(text, f"coordination:\n  implementer: {{status: blocked, findings: [{found_one}]}}")
    now = f"""\
handoffs: {{count: 1, open: x.md}}
baseline:
  results: {{lint: {{ok: true, text: passed}}, test: {{ok: false, text: 1 failed}}}}
coordination:
  implementer:
    status: blocked
    qa: {{lint: {{ok: false, text: 2 errors}}, test: {{ok: false, text: 1 failed}}}}
    findings: [{found_one}, {{id: 2, text: no test}}, {{id: 3, text: old, answer: done}}]"""
    found = change(known, with_block(text, now))
    assert [tuple(each) for each in found.findings] == [
        ("implementer", 1, "never expires", False),
        ("implementer", 2, "no test", True),
    ]
    assert (found.worse, found.handoff) == (("lint",), "open")
    assert change(with_block(text, "handoffs: {count: 1, open: x.md}"), text).handoff == "accepted"


def test_waivers(text: str) -> None:
    """What was let pass since is told by its reason, also where the event is in the archive meanwhile."""
    old, new = ({"event": "waived", "note": note, "waived": ["criterion:1"]} for note in ("before", "follows in 102"))
    other = {"event": "regression-waived", "note": "slow machine"}
    before = replaced(text, "audit:\n", f"audit:\n  events:\n    - {event_line(old)}\n")
    after = replaced(text, "audit:\n", f"audit:\n  events:\n    - {event_line(new)}\n")
    found = change_of(side(before), side(after, events=(event_line(old), event_line(other))), ROLES)
    assert found.waived == ("slow machine", "follows in 102")


def test_what_cannot_be_read(text: str) -> None:
    """Of a file that cannot be read at one side it is said which and why, and nothing else is compared."""
    damaged = Side(read_state(parse(""), "101"), problem="it is not UTF-8")
    found = change_of(side(text), damaged, ROLES)
    assert (found.id, found.title, found.unread) == ("101", "JWT Service", ("at HEAD: it is not UTF-8",))
    assert (found.criteria, found.sessions_gone) == (None, ())
    assert change_of(damaged, side(text), ROLES).unread == ("at the base: it is not UTF-8",)

"""Findings are raised, answered and cleared, from text to text, without a disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.lint import engine
from taskstate.model import roles
from taskstate.model.config import Config
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import WriteMetadata, blocks_of, front_matter_values
from taskstate.roles import findings, role_changes, role_rules
from taskstate.syntax.document import parse
from taskstate.validation import schema
from tests.support.place import START, refusal

if TYPE_CHECKING:
    from typing import Any

NAMES = ("implementer", "reviewer", "validator")
WRITING = findings.Writing(NAMES, WriteMetadata(actor="somebody", now=START))
HEAD = '---\ntaskstate: 1\ntask_id: "101"\ntitle: T\nstatus: in_progress\ncreated_at: "2026-01-31T10:00:00Z"\n{}---\n'
DONE = "coordination:\n  implementer: {status: done}\n  reviewer: {status: in_progress}\n"
OLDER = (
    "coordination:\n  implementer:\n    status: blocked\n    blocking_findings: [a, b, c]\n    drift_budget: 0\n"
    "  reviewer: {status: pending, blocking_findings: [d], completed_at: null}\n"
)


def raised(text: str, *lines: str, role: str = "implementer", by: str = "reviewer") -> str:
    """Return the text with findings on a role."""
    return findings.with_raised(text, role, lines, by=by, writing=WRITING)


def held(text: str, role: str = "implementer") -> list[tuple[int, str, str | None]]:
    """Return number, text and answer of each finding on a role."""
    return [(each.number, each.text, each.answer) for each in blocks_of(parse(text)).role(role).findings]


def events(text: str) -> list[dict[str, Any]]:
    """Return the events of a text."""
    values: Any = front_matter_values(parse(text))
    return list(values["audit"]["events"])


def test_a_role_is_one_line() -> None:
    """Whatever stands there, however long; what says nothing is left out, and it passes the schema."""
    text = raised(HEAD.format(DONE), "The token #1 never expires: " + "x" * 100, "b")
    (line,) = [each for each in text.split("\n") if each.startswith("  implementer:")]
    assert line.startswith('  implementer: {status: done, findings: [{id: 1, by: reviewer, text: "The token #1')
    assert line.endswith("}]}")
    assert schema.faults(front_matter_values(parse(text)), "task") == ()


def test_findings_of_an_older_file_are_numbered_by_the_next_write() -> None:
    """All of them, over all roles, in the order of the file, also those of a role that the write is not about."""
    assert (held(HEAD.format(OLDER)), held(HEAD.format(OLDER), "reviewer")) == (
        [(1, "a", None), (2, "b", None), (3, "c", None)],
        [(4, "d", None)],
    )
    text = findings.with_withdrawn(HEAD.format(OLDER), "implementer", {2}, WRITING)
    assert "  reviewer: {status: pending, findings: [{id: 4, text: d}]}\n" in text
    assert "  implementer: {status: blocked, findings: [{id: 1, text: a}, {id: 3, text: c}]}\n" in text


def test_numbers_stay_when_another_finding_goes() -> None:
    """Taking back 1, then 2, of three leaves the third."""
    text = raised(HEAD.format(DONE), "a", "b", "c")
    for number in (1, 2):
        text = findings.with_withdrawn(text, "implementer", {number}, WRITING)
    assert held(text) == [(3, "c", None)]


def test_a_number_is_never_given_again() -> None:
    """Not after the highest was cleared, nor when the events that name it have gone into the archive."""
    text = raised(HEAD.format(DONE), "a", "b")
    text = findings.with_withdrawn(text, "implementer", {1, 2}, WRITING)
    assert held(text) == []
    text = "".join(line for line in text.splitlines(keepends=True) if "finding" not in line or "implementer:" in line)
    assert roles.highest_finding(blocks_of(parse(text))) == 2
    text = raised(text, "c", role="reviewer", by="validator")
    assert held(text, "reviewer") == [(3, "c", None)]
    assert "cleared_at" not in text, "a higher number needs the cleared one no more"


def test_a_finding_that_is_there_is_not_raised_again() -> None:
    """The same words are one finding."""
    text = raised(HEAD.format(DONE), "a", "a")
    assert raised(text, "a") == text
    assert len(events(text)) == 1


def test_who_raised_a_finding_clears_what_was_answered() -> None:
    """What was not answered stays, and so do the findings of others; events keep who raised, answered and cleared."""
    text = raised(HEAD.format(DONE), "a", "b")
    text = raised(text, "c", by="validator")
    text = findings.with_answers(text, "implementer", {1: "fixed", 3: "no"}, WRITING)
    text = findings.with_cleared(text, "reviewer", WRITING)
    assert held(text) == [(2, "b", None), (3, "c", "no")]
    assert [(each["event"], each["finding"]) for each in events(text)] == [
        *(("finding-raised", number) for number in (1, 2, 3)),
        *(("finding-answered", number) for number in (1, 3)),
        ("finding-cleared", 1),
    ]
    assert events(text)[-1] == {
        "at": "2026-01-31T12:00:00Z",
        "actor": "somebody",
        "event": "finding-cleared",
        "role": "implementer",
        "by": "reviewer",
        "text": "a",
        "answer": "fixed",
        "finding": 1,
    }


def test_a_finding_that_is_kept_waits_for_another_answer() -> None:
    """The answer did not do; a number that is none of one's own is refused."""
    text = findings.with_answers(raised(HEAD.format(DONE), "a", "b"), "implementer", {1: "x", 2: "y"}, WRITING)
    assert held(findings.with_cleared(text, "reviewer", WRITING, keep={2})) == [(2, "b", None)]
    error = refusal(lambda: findings.with_cleared(text, "validator", WRITING, keep={2}))
    assert (error.code, error.message) == ("not-found", "task 101: validator raised no finding 2")


def test_an_answer_needs_its_finding() -> None:
    """A number that the role does not have is refused with those that it has; an answer is one line."""
    text = raised(HEAD.format(DONE), "a")
    error = refusal(lambda: findings.with_answers(text, "implementer", {2: "x"}, WRITING))
    assert (error.code, error.help) == ("not-found", "these are there: 1")
    assert refusal(lambda: findings.with_answers(text, "implementer", {1: "x\ny"}, WRITING)).code == "several-lines"


def test_a_blocked_role_goes_on_when_all_is_answered() -> None:
    """With one finding open it is blocked; a role that waits for the previous one is pending again."""
    blocked = HEAD.format("coordination:\n  implementer: {status: blocked, blocking_findings: [a, b]}\n")
    once = findings.with_answers(blocked, "implementer", {1: "x"}, WRITING)
    assert blocks_of(parse(once)).role("implementer").status == "blocked"
    assert (
        blocks_of(parse(findings.with_answers(once, "implementer", {2: "y"}, WRITING))).role("implementer").status
        == "in_progress"
    )
    waiting = HEAD.format("coordination:\n  reviewer: {status: blocked, blocking_findings: [a]}\n")
    after = findings.with_withdrawn(waiting, "reviewer", {1}, WRITING)
    assert blocks_of(parse(after)).role("reviewer").status == "pending"


@pytest.mark.parametrize(
    ("answers", "code"), [({}, "findings-open"), ({1: "x"}, "findings-open"), ({1: "x", 2: "y"}, "")]
)
def test_a_finding_without_an_answer_keeps_a_role_from_being_done(answers: dict[int, str], code: str) -> None:
    """With all of them answered it may be done; the linter agrees."""
    text = raised(HEAD.format("coordination:\n  implementer: {status: in_progress}\n"), "a", "b")
    text = findings.with_answers(text, "implementer", answers, WRITING)
    place = role_rules.role_in_task(read_state(parse(text)), "implementer", NAMES)
    if code:
        assert refusal(lambda: role_rules.snapshots_needed_to_set(place, role_rules.RoleChange("done"))).code == code
    else:
        assert role_rules.snapshots_needed_to_set(place, role_rules.RoleChange("done")) == ("implementer",)
    done = text.replace("{status: in_progress", "{status: done")
    found = {each.code for each in engine.check(done, "task-101-state.md", Config())}
    assert ("TS701" in found) == bool(code)


def test_a_later_role_sends_the_work_back() -> None:
    """With its findings the role is back at work, what was answered is cleared or kept; no event tells it again."""
    text = findings.with_answers(raised(HEAD.format(DONE), "a", "b"), "implementer", {1: "x", 2: "y"}, WRITING)
    place = role_rules.role_in_task(read_state(parse(text)), "implementer", NAMES)
    text = role_changes.with_sent_back(place, ("c",), by="reviewer", metadata=WRITING.metadata, keep={2})
    blocks = blocks_of(parse(text))
    assert [blocks.role(name).status for name in NAMES] == ["in_progress", "pending", "pending"]
    assert held(text) == [(2, "b", None), (3, "c", None)]
    assert [each["event"] for each in events(text)][2:] == ["finding-answered"] * 2


@pytest.mark.parametrize(
    ("role", "by", "lines", "code"),
    [
        ("reviewer", "reviewer", ("a",), "role-order"),
        ("reviewer", "implementer", ("a",), "role-order"),
        ("implementer", "reviewer", (), "empty"),
        ("reviewer", "validator", ("a",), "role-status"),
    ],
)
def test_work_is_sent_back_by_a_later_role_with_a_reason(role: str, by: str, lines: tuple[str, ...], code: str) -> None:
    """Nobody sends it to a later one, nor without a finding, nor to one that is not done."""
    place = role_rules.role_in_task(read_state(parse(HEAD.format(DONE))), role, NAMES)
    error = refusal(lambda: role_changes.with_sent_back(place, lines, by=by, metadata=WRITING.metadata))
    assert error.code == code

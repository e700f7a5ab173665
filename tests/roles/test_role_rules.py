"""What each step of a role needs, on what a file says, without a disk."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.model.statuses import OF_ROLES
from taskstate.model.task_state import read_state
from taskstate.roles import role_rules
from taskstate.roles.role_rules import RoleChange, RoleInTask
from taskstate.syntax.document import parse
from tests.support.place import refusal

if TYPE_CHECKING:
    from taskstate.model.role_findings import Finding

NAMES = ("implementer", "reviewer", "validator")
HEAD = '---\ntaskstate: 1\ntask_id: "101"\nstatus: {}\n{}---\n'
FINDING = "blocking_findings: [first thing, second thing]"
SNAPSHOT = 'delta: {{base_commit: "1", snapshots: {{{}: {{tree: "2"}}}}}}\n'


def turn(role: str, status: str = "in_progress", snapshot: str = "", **result: str) -> RoleInTask:
    """Return the turn of a role in a task whose roles stand as told, each by its status and whatever comes with it."""
    lines = "".join(f"  {name}: {{status: {value}}}\n" for name, value in result.items())
    block = f"coordination:\n{lines}" if result else ""
    text = HEAD.format(status, block + (SNAPSHOT.format(snapshot) if snapshot else ""))
    return role_rules.role_in_task(read_state(parse(text)), role, NAMES)


@pytest.mark.parametrize(("ahead", "now", "expected"), [*product(OF_ROLES, OF_ROLES, OF_ROLES)])
def test_a_status_can_be_set_in_turn_alone(ahead: str, now: str, expected: str) -> None:
    """A role begins and ends once the one ahead is done, on its snapshot or its own; it is never simply blocked."""
    begins = expected == "in_progress" and now == "pending"
    ends = expected == "done" and now in {"pending", "in_progress"}
    stays = expected == now != "blocked"
    given_back = (now, expected) == ("in_progress", "pending")
    reviewer = turn("reviewer", implementer=ahead, reviewer=now)
    if (begins or ends) and ahead == "done":
        both = ("implementer", "reviewer") if now == "pending" else ("reviewer",)
        needed = role_rules.snapshots_needed_to_set(reviewer, RoleChange(expected))
        assert needed == (("implementer",) if begins else both)
    elif stays or given_back:
        assert role_rules.snapshots_needed_to_set(reviewer, RoleChange(expected)) == ()
    else:
        code = "usage" if expected == "blocked" else "role-order" if begins or ends else "role-status"
        assert refusal(lambda: role_rules.snapshots_needed_to_set(reviewer, RoleChange(expected))).code == code


def test_the_first_role_waits_for_nobody() -> None:
    """It begins on whatever tree there is, and is done with its own snapshot."""
    assert role_rules.snapshots_needed_to_set(turn("implementer"), RoleChange("in_progress")) == ()
    assert role_rules.snapshots_needed_to_set(turn("implementer"), RoleChange("done")) == ("implementer",)


def test_a_role_with_a_snapshot_is_not_given_back() -> None:
    """What has left a snapshot has begun for good."""
    begun = turn("implementer", snapshot="implementer", implementer="in_progress")
    assert refusal(lambda: role_rules.snapshots_needed_to_set(begun, RoleChange("pending"))).code == "role-status"


def test_an_open_finding_keeps_a_role_from_being_done() -> None:
    """The refusal names the first one and how many there are."""
    blocked = turn("implementer", implementer=f"blocked, {FINDING}")
    error = refusal(lambda: role_rules.snapshots_needed_to_set(blocked, RoleChange("done")))
    assert error.code == "findings-open"
    assert "2 open findings: 1. first thing" in error.message


def test_what_is_added_to_a_role_that_is_done_is_verified_too() -> None:
    """Its own snapshot must match then as well; once a later role has begun, nothing is added any more."""
    adding = RoleChange("done", session_id="s")
    assert role_rules.snapshots_needed_to_set(turn("implementer", implementer="done"), adding) == ("implementer",)
    later = turn("implementer", implementer="done", reviewer="in_progress")
    assert role_rules.snapshots_needed_to_set(later, RoleChange("done")) == ()
    assert "a later role has begun" in refusal(lambda: role_rules.snapshots_needed_to_set(later, adding)).message


@pytest.mark.parametrize(
    ("expected", "rests_on"),
    [
        ({}, ()),
        ({"implementer": "done"}, ("implementer",)),
        ({"implementer": "done", "reviewer": "in_progress"}, ()),
        ({"implementer": "pending", "reviewer": "blocked"}, ()),
    ],
)
def test_a_role_is_blocked_where_it_is_or_begins_in_its_turn(
    expected: dict[str, str], rests_on: tuple[str, ...]
) -> None:
    """A role that has not begun begins with its first finding, so that blocking is no way around its turn."""
    role = "reviewer" if expected else "implementer"
    assert role_rules.snapshots_needed_to_block(turn(role, **expected)) == rests_on


def test_a_role_is_not_blocked_out_of_its_turn() -> None:
    """Neither while the one ahead is at work, nor when it is done itself."""
    assert (
        refusal(lambda: role_rules.snapshots_needed_to_block(turn("reviewer", implementer="in_progress"))).code
        == "role-order"
    )
    assert (
        refusal(lambda: role_rules.snapshots_needed_to_block(turn("implementer", implementer="done"))).code
        == "role-status"
    )


def test_unresolved_drift_stops_every_turn() -> None:
    """The refusal names the role whose snapshot failed and the command that goes on."""
    error = refusal(lambda: turn("reviewer", implementer="done, drift_budget: 2"))
    assert error.code == "drift-unresolved"
    assert "implementer" in error.message
    assert "taskstate snapshot resolve 101" in error.help


def test_the_roles_of_a_complete_task_stay() -> None:
    """It has to be reopened first."""
    error = refusal(lambda: turn("reviewer", status="complete"))
    assert (error.code, "taskstate reopen 101" in error.help) == ("task-complete", True)


def test_an_unknown_role_is_offered_the_nearest() -> None:
    """A slip is answered with the role that was probably meant, anything else with all of them."""
    assert refusal(lambda: turn("reviewr")).help == "did you mean reviewer?"
    assert refusal(lambda: turn("boss")).help == "the roles are implementer, reviewer, validator"


@pytest.mark.parametrize("named", ["second thing", "2"])
def test_a_finding_is_named_by_text_or_number(named: str) -> None:
    """Numbers are those of the task; those of an older file are counted in its order."""
    assert named_in(f"blocked, {FINDING}", named).number == 2


def named_in(implementer: str, named: str) -> Finding:
    """Return the finding of the implementer that is named so."""
    return role_rules.finding_named(turn("implementer", implementer=implementer).role, named, "101")


def test_a_number_that_is_a_finding_s_text_means_that_finding() -> None:
    """The text goes before the number."""
    assert named_in("blocked, blocking_findings: [x, '1']", "1").number == 2


@pytest.mark.parametrize("named", ["first thin", "3", "0"])
def test_a_finding_that_is_not_there_is_offered_the_nearest(named: str) -> None:
    """The refusal says its number too, which can be typed."""
    error = refusal(lambda: named_in(f"blocked, {FINDING}", named))
    assert error.code == "not-found"
    assert re.search(r"did you mean [12], '(first|second) thing'\?", error.help)
    assert refusal(lambda: named_in("in_progress", named)).help == "it has none"


def test_a_finding_is_one_line_of_500_characters_at_most() -> None:
    """A report is refused, and so are several lines, control characters and nothing at all."""
    assert role_rules.clean_finding(f" {'x' * 500} ") == "x" * 500
    for text, code in (
        ("x" * 501, "too-long"),
        ("a\nb", "several-lines"),
        ("\x1b[0m", "control-characters"),
        ("", "empty"),
    ):
        with pytest.raises(TaskstateError) as caught:
            role_rules.clean_finding(text)
        assert caught.value.code == code


def test_what_a_hand_has_garbled_is_read_as_pending() -> None:
    """Reading never fails: what is none of the statuses, no list and no number counts as not said."""
    text = HEAD.format(
        "created", "coordination: {implementer: {status: [], blocking_findings: 3, drift_budget: x}, b: 7}\n"
    )
    blocks = role_rules.RoleInTask(read_state(parse(text)), "implementer", NAMES).blocks
    assert [(role.name, role.status, role.findings, role.budget) for role in roles.pipeline(blocks, NAMES)] == [
        (name, "pending", (), 0) for name in (*NAMES, "b")
    ]
    assert not roles.has_begun(blocks)

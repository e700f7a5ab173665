"""Architecture Decisions are added, accepted and superseded; heir and ancestor name each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.model import permanent
from taskstate.model.permanent import ACCEPTED, ARCHITECTURE, COSMETIC, PROPOSED, SUPERSEDED

if TYPE_CHECKING:
    from tests.support.shared_context import SharedContext


def decide(shared: SharedContext, *arguments: str) -> str:
    """Record a decision."""
    return shared.cli.ok("permanent", "decide", *arguments)


def add(shared: SharedContext, title: str, *arguments: str) -> str:
    """Add a decision with that title."""
    return decide(shared, "--title", title, "--decision", f"{title} it is.", "--rationale", "Why not.", *arguments)


def test_a_decision_is_proposed_then_accepted(shared: SharedContext) -> None:
    """A proposal asks nothing of others yet, an accepted one that they plan again."""
    assert "AD-1 recorded" in add(shared, "Tokens")
    assert [(each.number, each.title, each.status) for each in permanent.decisions(shared.state)] == [
        (1, "Tokens", PROPOSED)
    ]
    assert shared.log[0].level == COSMETIC
    assert "AD-1 accepted" in decide(shared, "--accept", "AD-1")
    assert permanent.decisions(shared.state)[0].status == ACCEPTED
    assert (shared.log[0].level, shared.version) == (ARCHITECTURE, 3)
    before = shared.text
    assert "nothing to change" in decide(shared, "--accept", "1")
    assert "nothing to change" in add(shared, "Tokens")
    assert shared.text == before


def test_an_heir_and_its_ancestor_name_each_other(shared: SharedContext) -> None:
    """In both directions, also for decisions that are there already."""
    add(shared, "Tokens", "--accepted")
    add(shared, "Cookies", "--supersedes", "1")
    first, second = permanent.decisions(shared.state)
    assert (first.status, first.heir, second.status) == (SUPERSEDED, 2, ACCEPTED)
    assert "**Supersedes:** AD-1" in shared.section("Architecture Decisions")
    add(shared, "Passkeys")
    decide(shared, "--accept", "3", "--supersedes", "2")
    assert [each.heir for each in permanent.decisions(shared.state)] == [2, 3, None]
    assert shared.cli("lint").status == 0


def test_a_rejected_decision_has_one_in_its_place_that_says_why(shared: SharedContext) -> None:
    """A file knows no rejected ones; nobody has to do anything about what was only proposed."""
    add(shared, "Tokens")
    assert "AD-2 says why 1 is rejected" in decide(shared, "--reject", "1", "--rationale", "They leak.")
    first, second = permanent.decisions(shared.state)
    assert (first.status, first.heir, second.status, second.title) == (SUPERSEDED, 2, ACCEPTED, "Rejected: Tokens")
    assert (shared.log[0].level, "They leak." in shared.section("Architecture Decisions")) == (COSMETIC, True)
    assert shared.cli("lint").status == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--accept", "9"), "there is no decision AD-9"),
        (("--accept", "x"), "is not a decision"),
        (("--accept", "1"), "is superseded by AD-2"),
        (("--accept", "2", "--supersedes", "2"), "cannot supersede itself"),
        (("--title", "T"), "--decision is missing"),
        ((), "one of --title, --accept, --reject is missing"),
        (("--title", "T", "--decision", "D", "--accept", "2"), "--title does not go with --accept"),
        (("--reject", "2"), "--reject needs --rationale"),
        (("--reject", "2", "--rationale", "slow"), "AD-2 is accepted, and no proposal"),
        (("--title", "T", "--decision", "D", "--supersedes", "1"), "is superseded by AD-2 already"),
        (("--title", "T\nU", "--decision", "D"), "several lines"),
        (("--title", "T", "--decision", "## D"), "another section"),
    ],
)
def test_a_decision_that_cannot_be_recorded(shared: SharedContext, arguments: tuple[str, ...], words: str) -> None:
    """One line says why, and nothing is changed."""
    add(shared, "Tokens", "--accepted")
    add(shared, "Cookies", "--supersedes", "1")
    assert words in shared.cli.refused("permanent", "decide", *arguments)


def test_a_changed_decision_keeps_its_number(shared: SharedContext) -> None:
    """The same title with other words replaces the decision, and the Change Log names it."""
    add(shared, "Tokens", "--accepted")
    decide(shared, "--title", "tokens", "--decision", "Signed with RS256.", "--rationale", "Audit.")
    assert len(permanent.decisions(shared.state)) == 1
    assert "Signed with RS256." in shared.section("Architecture Decisions")
    assert permanent.decisions(shared.state)[0].status == ACCEPTED

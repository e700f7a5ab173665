"""The session protocol: its steps and size, and that every command in it is valid."""

from __future__ import annotations

import itertools
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.handoff.protocol import AGENTS, LEAD, TEMPLATE, Subject, short, text
from taskstate.handoff.token_count import count
from taskstate.workspace import templates
from tests.support.command_line import parsed
from tests.support.place import Place, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

ROLES = ("", LEAD, "implementer", "reviewer", "validator")
KINDS = ("task", "permanent")
STEPS = ("Orient", "Understand", "Plan", "(Implement|Review|Validate)", "Verify", "Hand off")
# What the protocol of a task must ask for: a pattern for each thing that an agent does in a session.
ASKED = (
    "where you are",
    "Read all of it",
    "commits and changes since",
    "What does not pass is the work",
    "the newest session says",
    "Open every file",
    "how its neighbours do it",
    "next open feature, one at a time",
    "Think first",
    "name the files that you will touch",
    "Start what the checks need \\(a dev server\\)",
    "All tests must pass",
    "in a browser or a terminal",
    "Only what you saw work passes",
    "--did T --state T --next T",
    "a stranger can begin",
    "Commit all with the state file",
)
RULES = (
    "making it",
    "opened in this session",
    "no options, layers or files for later",
    "hard-coded for the tests.* every valid input",
    "Not verified: WHAT, because WHY; to check: COMMAND",
    "No secrets",
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def commands(told: str) -> list[list[str]]:
    """Return the commands in a text as argument lists."""
    return [shlex.split(each)[1:] for each in re.findall(r"`(taskstate [^`]*)`", told)]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", KINDS)
def test_six_steps(place: Place, role: str, kind: str) -> None:
    """Each form has the same steps in the same order, numbered through."""
    told = text(place.workspace, Subject("101", kind), role=role)
    titles = re.findall(r"^(\d)\. \*\*([^*]*?)\.?\*\*", told, re.MULTILINE)
    assert [number for number, _ in titles] == ["1", "2", "3", "4", "5", "6"]
    assert all(re.fullmatch(step, title) for step, (_, title) in zip(STEPS, titles, strict=True))


@pytest.mark.parametrize("role", ROLES)
def test_every_command_in_it_is_one(place: Place, role: str) -> None:
    """Every command in backticks is accepted by the command line as it stands."""
    for agent, kind in itertools.product(("", *AGENTS), KINDS):
        subject = Subject("101", kind)
        told = text(place.workspace, subject, role=role, agent=agent) + short(place.workspace, subject, role=role)
        found = commands(told)
        assert len(found) > 2
        for command, *arguments in found:
            try:
                parsed([command, *("1" if each == "N" else each for each in arguments)])
            except TaskstateError as error:
                pytest.fail(f"{command} {arguments}: {error}")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_short_enough_to_be_read(place: Place, role: str, kind: str) -> None:
    """In full it takes at most 600 tokens, and the form for briefs two lines."""
    subject = Subject("101", kind)
    assert max(count(text(place.workspace, subject, role=role, agent=agent)) for agent in ("", *AGENTS)) <= 600
    brief = short(place.workspace, subject, role=role)
    assert (count(brief) < 85, brief.count("\n")) == (True, 1)


@pytest.mark.parametrize("role", ROLES)
def test_every_step_is_in_it(place: Place, role: str) -> None:
    """What an agent does in a session is asked for, whatever its role, and both ends of a turn are named."""
    told = text(place.workspace, Subject("101"), role=role)
    assert [each for each in (*ASKED, *RULES) if not re.search(each, told)] == []
    assert told.count("`taskstate start 101") == told.count("`taskstate finish 101") == 1
    for said in ("80 %", "re-read", "finished objective", "--pause --handoff", "then stop"):
        assert said in told


def test_what_an_implementer_leaves_is_whole(place: Place) -> None:
    """Who writes code writes tests as well, leaves nothing to be done later, and commits in small steps."""
    for role in ("", "implementer"):
        told = text(place.workspace, Subject("101"), role=role)
        assert "tests as you go, no TODO left; commit small steps that name task 101" in told


def test_each_role_has_its_own_rules(place: Place) -> None:
    """A reviewer reads the diff of the role before it, a validator changes no code, both send back what is wrong."""
    told = {role: text(place.workspace, Subject("101"), role=role) for role in ROLES if role != LEAD}
    assert "`taskstate snapshot diff 101 --role implementer`" in told["reviewer"]
    assert "believe no report" in told["validator"]
    assert "Change no code" in told["validator"]
    assert "`--send-back implementer " in told["reviewer"]
    assert "`--send-back reviewer " in told["validator"]
    assert [role for role, each in told.items() if "--answer" in each] == ["implementer", "reviewer"]
    assert [role for role, each in told.items() if "--complete" in each] == ["", "validator"]
    assert [role for role, each in told.items() if "start a successor" in each and "new agents" in each] == [""]
    assert "--role" not in told[""]


def test_a_permanent_task_has_its_own_steps(place: Place) -> None:
    """Its protocol names no commands for turns, features and sessions, but its own sections."""
    for role in ROLES:
        subject = Subject("9", "permanent")
        told = text(place.workspace, subject, role=role) + short(place.workspace, subject, role=role)
        assert not re.search("taskstate start|finish|--pass|handoff new", told)
        assert "taskstate permanent update --section" in told
        assert [each for each in RULES if not re.search(each, told)] == []


def test_the_short_form_says_how_a_turn_ends(place: Place) -> None:
    """It names the command for all steps, what a finding does, and what is done when the context runs out."""
    told = short(place.workspace, Subject("101"), role="validator")
    assert "`taskstate protocol 101 --role validator`" in told
    assert "`--send-back reviewer --finding T`" in told
    assert "`--pause` at 80 % of context" in told
    assert "--send-back" not in short(place.workspace, Subject(), role=LEAD)


def test_agents_end_in_their_own_way(place: Place) -> None:
    """What differs between agents is how they end; the steps are the same."""
    plain = text(place.workspace, Subject())
    ends = {agent: text(place.workspace, Subject(), agent=agent) for agent in AGENTS}
    assert len(set(ends.values())) == len(AGENTS)
    assert all(each.startswith(plain.rstrip("\n")) for each in ends.values())


def test_roles_of_a_project(place: Place) -> None:
    """Other configured roles get the same steps, with their own names."""
    workspace = place.workspace._replace(config=place.workspace.config._replace(roles=("builder", "checker")))
    told = text(workspace, Subject("7"), role="checker")
    assert "`taskstate start 7 --role checker`" in told
    assert "`--send-back builder " in told
    assert refusal(lambda: text(workspace, Subject(), role="reviewer")).code == "usage"
    assert refusal(lambda: short(workspace, Subject(), role="reviewer")).code == "usage"


def test_unknown_words_are_refused_with_the_nearest(place: Place) -> None:
    """An unknown role or agent is one clear error."""
    assert "did you mean reviewer?" in refusal(lambda: text(place.workspace, Subject(), role="reviewr")).help
    assert "claude" in refusal(lambda: text(place.workspace, Subject(), agent="clod")).help


def own(workspace: Workspace, data: bytes) -> None:
    """Give the project a template of its own."""
    path = workspace.state_root / templates.FOLDER / TEMPLATE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_a_project_has_its_own_words(place: Place) -> None:
    """A template in the state folder replaces the shipped one; line ends do not matter."""
    own(place.workspace, b"Do {{ id }}{% if role %} as {{ role }}{% endif %}.\r\n")
    assert text(place.workspace, Subject("101"), role="reviewer") == "Do 101 as reviewer.\n"


@pytest.mark.parametrize(
    ("data", "code"), [(b"{{ secrets }}", "template"), (b"{% if", "template"), (b"\xe9", "not-utf8")]
)
def test_a_template_that_is_wrong_is_one_clear_error(place: Place, data: bytes, code: str) -> None:
    """An error in a template is reported with its path."""
    own(place.workspace, data)
    error = refusal(lambda: text(place.workspace, Subject()))
    assert error.code == code
    assert ".taskstate/templates/protocol.md.j2" in error.message

"""The session protocol: its structure, and that every command in it is valid."""

from __future__ import annotations

import itertools
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from taskstate.cli import main
from taskstate.errors import TaskstateError
from taskstate.handoff.protocol import AGENTS, LEAD, TEMPLATE, text
from taskstate.handoff.token_count import count
from taskstate.workspace import templates
from tests.support.place import Place, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

ROLES = ("", LEAD, "implementer", "reviewer", "validator")
PHASES = ["Orientation", "Understanding", "Planning", "Implementation", "Verification", "Handoff"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def commands(told: str) -> list[list[str]]:
    """Return the commands in a text as argument lists."""
    return [shlex.split(each)[1:] for each in re.findall(r"`(taskstate [^`]*)`", told)]


@pytest.mark.parametrize("role", ROLES)
def test_six_phases_and_twenty_one_steps(place: Place, role: str) -> None:
    """Each variant has the same phases in the same order, and steps that are numbered through."""
    told = text(place.workspace, role=role, task=("101", ""))
    assert re.findall(r"^## Phase (\d): (\w+)", told, re.MULTILINE) == [
        (str(number), name) for number, name in enumerate(PHASES, 1)
    ]
    assert re.findall(r"^(\d+)\. ", told, re.MULTILINE) == [str(number) for number in range(1, 22)]


@pytest.mark.parametrize("role", ROLES)
def test_every_command_in_it_is_one(place: Place, role: str) -> None:
    """Every command in backticks is accepted by the command line as it stands."""
    for agent, short in itertools.product(("", *AGENTS), (False, True)):
        found = commands(text(place.workspace, role=role, agent=agent, short=short, task=("101", "")))
        assert len(found) > 4
        for command, *arguments in found:
            known = main._parser_of(command)  # noqa: SLF001 - what the command line asks
            try:
                known.parse_args(["1" if each == "N" else each for each in arguments])
            except TaskstateError as error:
                pytest.fail(f"{command} {arguments}: {error}")


@pytest.mark.parametrize("role", ROLES)
def test_it_is_short_enough_to_be_read(place: Place, role: str) -> None:
    """In full it takes under 1,600 tokens, and the form for briefs under 350."""
    for short, most in ((False, 1_600), (True, 350)):
        assert max(count(text(place.workspace, role=role, agent=agent, short=short)) for agent in AGENTS) < most


@pytest.mark.parametrize("short", [False, True])
def test_required_rules_are_in_both_forms(place: Place, *, short: bool) -> None:
    """The triggers of a handoff, the stop after it, and the rules of work stand in both forms."""
    told = text(place.workspace, short=short)
    for said in (
        "80 %",
        "re-read|reading the same",
        "objective",
        "[Tt]hen stop",
        "starts a successor",
        "tests alone|hard-coded for the tests",
        "open a file|Look before you edit",
        "[Cc]annot verify",
    ):
        assert re.search(said, told), said


def test_each_role_has_its_own_rules(place: Place) -> None:
    """A reviewer reads the diff of the role before it, a validator changes no code, only the last role commits."""
    told = {
        role: text(place.workspace, role=role, task=("101", "")) for role in ("implementer", "reviewer", "validator")
    }
    assert "`taskstate snapshot diff 101 --role implementer`" in told["reviewer"]
    assert "change no code" in told["validator"]
    assert [role for role, each in told.items() if "then commit" in each] == ["validator"]
    assert all(f"role set 101 {role} --status done" in each for role, each in told.items())
    assert "role set" not in text(place.workspace)


def test_agents_end_in_their_own_way(place: Place) -> None:
    """What differs between agents is how they end; the steps are the same."""
    ends = {agent: text(place.workspace, agent=agent) for agent in AGENTS}
    assert len(set(ends.values())) == len(AGENTS)
    assert len({each.partition("## When the context runs out")[0] for each in ends.values()}) == 1


def test_roles_of_a_project(place: Place) -> None:
    """Other configured roles get the same steps, with their own names."""
    workspace = place.workspace._replace(config=place.workspace.config._replace(roles=("builder", "checker")))
    told = text(workspace, role="checker", task=("7", ""))
    assert "`taskstate role set 7 checker --status in_progress`" in told
    assert "what the builder left" in told
    assert refusal(lambda: text(workspace, role="reviewer")).code == "usage"


def test_unknown_words_are_refused_with_the_nearest(place: Place) -> None:
    """An unknown role or agent is one clear error."""
    assert "did you mean reviewer?" in refusal(lambda: text(place.workspace, role="reviewr")).help
    assert "claude" in refusal(lambda: text(place.workspace, agent="clod")).help


def own(workspace: Workspace, data: bytes) -> None:
    """Give the project a template of its own."""
    path = workspace.state_root / templates.FOLDER / TEMPLATE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_a_project_has_its_own_words(place: Place) -> None:
    """A template in the state folder replaces the shipped one; line ends do not matter."""
    own(place.workspace, b"Do {{ id }}{% if role %} as {{ role }}{% endif %}.\r\n")
    assert text(place.workspace, role="reviewer", task=("101", "")) == "Do 101 as reviewer.\n"


@pytest.mark.parametrize(
    ("data", "code"), [(b"{{ secrets }}", "template"), (b"{% if", "template"), (b"\xe9", "not-utf8")]
)
def test_a_template_that_is_wrong_is_one_clear_error(place: Place, data: bytes, code: str) -> None:
    """An error in a template is reported with its path."""
    own(place.workspace, data)
    error = refusal(lambda: text(place.workspace))
    assert error.code == code
    assert ".taskstate/templates/protocol.md.j2" in error.message


def test_a_permanent_task_has_its_own_short_form(place: Place) -> None:
    """The protocol of a permanent task names no commands for seal, features and sessions, but its own sections."""
    told = text(place.workspace, short=True, task=("9", "permanent"))
    assert re.findall(r"^(\d)\. ", told, re.MULTILINE) == [str(number) for number in range(1, 7)]
    assert not re.search("context check|feature pass|session add|handoff new|role set", told)
    assert "Change Log" in told

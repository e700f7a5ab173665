from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.handoff import token_count
from taskstate.workflow.brief import BUDGET, Brief, brief, shape
from tests.support.place import TASK, Place, refusal

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Loaded

EXAMPLE = (Path(__file__).parents[1] / "cases" / "states" / "reviewed.md").read_text(encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with a task that has everything a brief may hold."""
    place = Place(tmp_path / "repository")
    place.text = EXAMPLE
    return place


def loaded(place: Place) -> Loaded:
    """Return task 101 as it stands on disk."""
    return place.workspace.load(place.path)


def told(place: Place, budget: int | None = None, role: str = "") -> Brief:
    """Return the brief of task 101."""
    return brief(place.workspace, loaded(place), role=role, budget=budget)


def test_whole_brief(place: Place) -> None:
    """With enough budget the brief holds everything, and nothing is left out."""
    found = told(place, 4000)
    assert (found.fits, found.cut, found.budget) == (True, (), 4000)
    assert found.tokens == token_count.estimate(found.text) < 1500
    head = found.text.split("\n")
    token, path = loaded(place).token, loaded(place).relative
    counts = "5 sessions (2 archived), 1 of 3 features pass"
    assert head[:4] == [
        "# Task 101: JWT Service",
        "",
        f"status in_progress, priority P1, area backend, {counts}, revision {token}, `{path}`",
        "Roles: implementer done, reviewer blocked, validator pending",
    ]
    assert head[4].startswith(
        "**Drift:** the tree is not what implementer left. Look first: `taskstate snapshot verify"
    )
    assert head[5].startswith("**Changed since it was sealed:** what the task is. Look first: `taskstate context check")
    assert "**Protocol**" in found.text
    titles = [line for line in head if line.startswith("## ")]
    assert titles == [
        *(
            "## Next step",
            "## Open features",
            "## Blocking findings",
            "## Open handoff",
            "## Newest session",
            "## Phase",
        ),
        *("## Acceptance Criteria", "## Validation", "## Task Description", "## Scope", "## Standards"),
        *("## Repository Paths", "## Evidence", "## Chain Inputs", "## Archived Summary (Sessions 1-2)"),
        "## Earlier sessions",
    ]
    assert (
        "- Decide on 30 s of leeway\n- Write the test\n\n## Open features\n\n- jwt-2: checks the signature\n"
        in found.text
    )


def test_oldest_is_cut_first(place: Place) -> None:
    """As the budget shrinks, earlier sessions go first, then the summary, the inputs, and the description."""
    whole = told(place, 4000).tokens
    gone: list[str] = []
    marks = {
        "### Session 3": "oldest",
        "### Session 4": "older",
        "Structure set up": "summary",
        "Users table": "input",
        "Handlers stay small": "standard",
        "Tokens verify": "criterion",
        "### Session 5": "newest",
        "checks the signature": "feature",
    }
    for budget in range(whole, 200, -20):
        text = told(place, budget).text
        gone += [name for mark, name in marks.items() if mark not in text and name not in gone]
    assert gone == ["oldest", "older", "summary", "input", "standard", "criterion", "newest", "feature"]


def test_left_out_parts_are_named(place: Place) -> None:
    """Each thing that is left out is named, with the command that shows it."""
    whole = told(place, 4000)
    found = told(place, whole.tokens - 1)
    assert [tuple(each) for each in found.cut] == [("session 3 (in part)", "taskstate session show 101 N")]
    assert found.text.endswith("\n\n## Left out\n\n- session 3 (in part): `taskstate session show 101 N`\n")
    least = told(place, 1)
    assert [tuple(each) for each in least.cut] == [
        ("what 2 of 2 open features are about", "taskstate show 101"),
        ("Blocking findings", "taskstate role show 101"),
        ("Open handoff", "taskstate handoff show 101"),
        ("session 5, Archived Summary (Sessions 1-2), sessions 3-4", "taskstate session show 101 N"),
        ("Phase", "taskstate phase show 101 P"),
        (
            "Acceptance Criteria, Validation, Task Description, Scope, Standards, Repository Paths, Chain Inputs",
            'taskstate show 101 --section "NAME"',
        ),
        ("Evidence", "taskstate evidence show 101 EID"),
    ]


def test_part_that_is_cut_in_part(place: Place) -> None:
    """For a section that is cut, the brief says how much is missing."""
    place.text = EXAMPLE.replace("- Checked the signature", "\n".join(f"- Checked signature {n}" for n in range(90)))
    found = told(place, 900)
    assert found.cut[0].what == "session 5 (in part), Archived Summary (Sessions 1-2), sessions 3-4"
    assert "- Checked signature 0\n- Checked signature 1\n" in found.text
    assert "- Checked signature 89" not in found.text
    place.text = EXAMPLE
    whole = told(place, 4000).tokens
    cuts = {each.what for budget in range(600, whole, 20) for each in told(place, budget).cut}
    assert "sessions 3-4 (4 in part)" in cuts


def test_least_is_kept_and_says_so(place: Place) -> None:
    """If the minimum exceeds the budget, the brief holds it and says so."""
    found = told(place, 100)
    assert not found.fits
    assert found.tokens == token_count.estimate(found.text) > 100
    assert "## Next step\n\n- Decide on 30 s of leeway\n- Write the test\n" in found.text
    assert "## Open features\n\n- jwt-2\n- jwt-4\n" in found.text
    assert found.text.endswith(
        "\n\nThis is the least that a brief holds, and more than the 100 tokens that it was to have.\n"
    )


def test_a_huge_piece_comes_last(place: Place) -> None:
    """A paragraph of thousands of words does not keep all that follows out of the brief."""
    place.text = EXAMPLE.replace("Issue and verify tokens.\n\n", f"Issue tokens.\n\n{'many words ' * 3000}\n\n")
    found = told(place, 2000)
    assert "### Session 3" in found.text
    assert [tuple(each) for each in found.cut] == [("Task Description (1 of 3)", 'taskstate show 101 --section "NAME"')]


def test_usual_brief_has_as_many_sessions_as_archiving_keeps(place: Place) -> None:
    """The default is 4,000 tokens and the newest sessions; with a given budget all that fits."""
    place.configure("[size]\nkeep-sessions = 2\n")
    found = told(place)
    assert found.budget == BUDGET
    assert [each.what for each in found.cut] == ["session 3"]
    assert "### Session 4" in found.text
    assert told(place, BUDGET).cut == ()


def test_brief_for_a_role(place: Place) -> None:
    """A role's brief leaves out what its export does, says so, and speaks to that role."""
    found = told(place, role="validator")
    assert "Your role: validator. Roles: implementer done, reviewer blocked, validator pending" in found.text
    assert "--role validator" in found.text
    assert "The service signs" not in found.text
    assert [tuple(each) for each in found.cut] == [
        ("not for this role: Task Description, Chain Inputs", 'taskstate show 101 --section "NAME"')
    ]


def test_unknown_role_is_refused(place: Place) -> None:
    """An unknown role is an error that offers the nearest."""
    assert (
        str(refusal(lambda: told(place, role="validater"))) == "there is no role 'validater': did you mean validator?"
    )


def test_a_task_without_coordination(tmp_path: Path) -> None:
    """A brief of a task without started roles omits the roles, and all placeholders."""
    place = Place(tmp_path / "r")
    found = told(place)
    assert "Roles:" not in found.text
    assert "begin with the feature jwt-1" in found.text
    assert [line for line in found.text.split("\n") if line.startswith("## ")] == [
        *("## Next step", "## Open features", "## Acceptance Criteria", "## Task Description")
    ]


def test_permanent_task(place: Place) -> None:
    """The permanent task has its version, and its sections in place of next steps and features."""
    place.text = (
        '---\ntaskstate: 1\nkind: permanent\ntask_id: "101"\ntitle: Login\nstatus: in_progress\nversion: 7\n---\n\n'
        "# [PERMANENT] Login - State\n\n## 1. User Intent\n\nLog in once.\n\n## 5. Constraints\n\nNo cookies.\n"
    )
    found = told(place)
    assert "version PT-v7" in found.text
    assert "## User Intent\n\nLog in once.\n\n## Constraints\n\nNo cookies.\n" in found.text
    assert "## Next step" not in found.text


def test_a_damaged_task_has_a_brief_of_its_readable_parts(place: Place) -> None:
    """Unreadable parts are reported in the head, and the rest is there."""
    place.text = EXAMPLE.replace('"overall_progress"', "overall_progress")
    found = told(place)
    assert "**Cannot be read:** " in found.text
    assert "- Decide on 30 s of leeway" in found.text


def test_line_ends_make_no_difference(place: Place) -> None:
    """A copy of the file with other line ends has the same brief, its token aside."""
    texts = []
    for text in (EXAMPLE, EXAMPLE.replace("\n", "\r\n")):
        place.text = text
        texts.append(told(place, 4000).text.replace(loaded(place).token, "TOKEN"))
    assert texts[0] == texts[1]


def test_shape_for_programs(place: Place) -> None:
    """The JSON form holds the text and its figures."""
    found = told(place, 700, role="reviewer")
    data = json.loads(json.dumps(shape(loaded(place), found, "reviewer")))
    assert (data["id"], data["role"], data["budget"], data["tokens"], data["fits"], data["counter"]) == (
        *(TASK, "reviewer", 700, found.tokens, True, "estimate"),
    )
    assert data["next_steps"] == ["Decide on 30 s of leeway", "Write the test"]
    assert data["open_features"][0] == {"id": "jwt-2", "description": "checks the signature"}
    assert data["text"] == found.text
    assert data["cut"][0] == found.cut[0]._asdict()


def test_protocol_is_remembered(place: Place) -> None:
    """The second brief takes the protocol from the cache; a new template is noticed, a broken cache ignored."""
    first = told(place).text
    memory = place.cache("protocol.json")
    memory.write_text(memory.read_text(encoding="utf-8").replace("**Protocol**", "**Remembered**"), encoding="utf-8")
    assert told(place).text == first.replace("**Protocol**", "**Remembered**")
    memory.write_text("[", encoding="utf-8")
    assert told(place).text == first
    own = place.workspace.state_root / "templates" / "protocol.md.j2"
    own.parent.mkdir(exist_ok=True)
    own.write_text("Our own for {{ id }}.\n", encoding="utf-8")
    assert "Our own for 101.\n\n## Next step" in told(place).text
    own.write_text("Another for {{ id }}.\n", encoding="utf-8")
    assert "Another for 101.\n\n## Next step" in told(place).text


def test_a_brief_reads_one_task(place: Place) -> None:
    """Neither other tasks nor archives are read."""
    other = place.workspace.tasks / "task-7-state.md"
    other.write_bytes(b"\xff")
    place.archive_path.parent.mkdir(exist_ok=True)
    place.archive_path.write_bytes(b"\xff")
    assert told(place).fits

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.tasks import checklist
from tests.support.place import TASK, Place, changes, refusal

if TYPE_CHECKING:
    from pathlib import Path

BY_HAND = """\
```json
{"overall_progress": "50%",   "features" : [
    { "passes":true , "id" :"a-1","description":"caf\\u00e9 \\"x\\"", "tested_at":"2026-01-01T00:00:00Z", "x-o": [1] },
  {"id": "b-2",
       "description": "two",  "passes": false, "tested_at": null }


]}
```
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def fenced(place: Place, fence: str) -> None:
    """Put another fence in the place of the checklist's."""
    place.text = re.sub(r"```json\n.*?\n```\n", lambda _: fence, place.text, count=1, flags=re.DOTALL)


def features(place: Place) -> dict[str, dict[str, object]]:
    """Return the features by id, as any program reads them."""
    result = re.search(r"```json\r?\n(.*?)\r?\n```", place.text, re.DOTALL)
    assert result
    return {each["id"]: each for each in json.loads(result[1])["features"]}


def progress(place: Place) -> str | None:
    """Return the overall progress that is in the file."""
    assert place.state.checklist
    return place.state.checklist.progress


def add(place: Place, feature: str, description: str = "does it") -> None:
    """Add a feature."""
    checklist.add_feature(place.workspace, TASK, feature, description, place.request())


# Features


@pytest.mark.parametrize(("status", "code"), [("complete", "task-closed"), ("dropped", "dropped")])
def test_the_checklists_of_a_closed_task_stay(place: Place, status: str, code: str) -> None:
    """Nobody would work on it; nothing changes, and the way back is named."""
    place.text = place.text.replace("status: created", f"status: {status}")
    before = place.text
    for job in (lambda: add(place, "jwt-2"), lambda: place.prove("jwt-1"), lambda: place.check(1)):
        error = refusal(job)
        assert (error.code, "`taskstate reopen 101" in str(error)) == (code, True)
    with pytest.raises(TaskstateError):
        checklist.require_feature(place.workspace, TASK, "jwt-1")
    assert place.text == before


def test_feature_is_added_and_does_not_pass(place: Place) -> None:
    """A new feature comes last and does not pass, and the progress follows."""
    place.prove("jwt-1")
    add(place, "jwt-2", ' makes "x" \u65e5\u672c \\ ')
    assert list(features(place)) == ["jwt-1", "jwt-2"]
    assert features(place)["jwt-2"] == {
        "id": "jwt-2",
        "description": 'makes "x" \u65e5\u672c \\',
        "passes": False,
        "tested_at": None,
    }
    assert progress(place) == "50%"


@pytest.mark.parametrize(
    "fence", ['```json\n{"features": [], "overall_progress": "0%"}\n```\n', '```json\n{"features": [\n]}\n```\n']
)
def test_feature_is_added_to_an_empty_list(place: Place, fence: str) -> None:
    """The first feature of all needs no neighbour."""
    fenced(place, fence)
    add(place, "a-1")
    assert list(features(place)) == ["a-1"]
    assert progress(place) == "0%"


def test_feature_passes_with_evidence(place: Place) -> None:
    """A feature that passes has the time of the test and what was seen."""
    place.prove("jwt-1", evidence="pytest: 8 passed\nin 2 s")
    result = features(place)["jwt-1"]
    assert (result["passes"], result["evidence"]) == (True, "pytest: 8 passed\nin 2 s")
    assert result["tested_at"] == "2026-01-31T12:02:00Z"
    assert progress(place) == "100%"


def test_feature_fails_again(place: Place) -> None:
    """A feature that fails after it passed has the time of that test, and the progress falls."""
    place.prove("jwt-1")
    place.prove("jwt-1", passes=False, evidence={"command": "x", "exit_status": 1, "log_sha256": "0" * 64})
    result = features(place)["jwt-1"]
    assert (result["passes"], result["tested_at"]) == (False, "2026-01-31T12:03:00Z")
    assert result["evidence"] == {"command": "x", "exit_status": 1, "log_sha256": "0" * 64}
    assert progress(place) == "0%"


def test_progress_is_rounded_down_and_leaves_out_what_moved(place: Place) -> None:
    """Two of three are 66 %, and a feature that moved to a subtask does not count."""
    for feature in ("b", "c", "d"):
        add(place, feature)
    for feature in ("b", "c"):
        place.prove(feature)
    place.text = place.text.replace('"id": "d",', '"id": "d", "moved_to": "101a",')
    add(place, "e")
    assert progress(place) == "50%"
    place.text = place.text.replace('"id": "e",', '"id": "e", "moved_to": "101a",')
    place.prove("jwt-1", passes=False)
    assert progress(place) == "66%"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fence_by_hand_keeps_its_form(place: Place, end: str) -> None:
    """In a fence that a user formatted, only the values change that have to."""
    fenced(place, BY_HAND)
    place.text = place.text.replace("\n", end)
    before = place.text
    place.prove("b-2", evidence="e")
    removed, added = changes(before, place.text)
    line = '       "description": "two",  "passes": false, "tested_at": null }'
    assert removed == '{"overall_progress": "50%",   "features" : [' + end + line + end
    assert added == (
        f'{{"overall_progress": "100%",   "features" : [{end}       "description": "two",  "passes": true, '
        f'"tested_at": "2026-01-31T12:02:00Z",       "evidence": "e" }}{end}'
    )


def test_feature_is_added_to_a_fence_by_hand(place: Place) -> None:
    """The other features keep every byte when one is added."""
    fenced(place, BY_HAND)
    before = place.text
    add(place, "c-3")
    removed, _ = changes(before, place.text)
    assert list(features(place)) == ["a-1", "b-2", "c-3"]
    assert '{ "passes":true , "id" :"a-1","description":"caf\\u00e9 \\"x\\""' in place.text
    assert "b-2" not in removed
    assert progress(place) == "33%"


def test_same_result_at_the_same_time_changes_nothing(place: Place) -> None:
    """Recording the same value again is no change."""
    request = place.request()
    tested = checklist.FeatureResult(passes=True, evidence="e")
    assert checklist.set_feature(place.workspace, TASK, "jwt-1", tested, request).changed
    before = place.text
    assert not checklist.set_feature(place.workspace, TASK, "jwt-1", tested, request).changed
    assert place.text == before


@pytest.mark.parametrize(
    ("feature", "description", "code"),
    [
        ("jwt-1", "x", "exists"),
        ("a b", "x", "bad-id"),
        ("a=b", "x", "bad-id"),
        ("", "x", "bad-id"),
        ("x" * 65, "x", "bad-id"),
        ("a\x1b", "x", "bad-id"),
        ("a-1", "", "empty"),
        ("a-1", "a\nb", "several-lines"),
        ("a-1", "a\x1bb", "control-characters"),
    ],
)
def test_what_is_no_feature_is_refused(place: Place, feature: str, description: str, code: str) -> None:
    """An id that is taken or none, and a description that is not one line, change nothing."""
    before = place.text
    assert refusal(lambda: add(place, feature, description)).code == code
    assert place.text == before


def test_unknown_feature_is_not_found_and_the_nearest_is_named(place: Place) -> None:
    """A feature that is missing is an error that names the one most like it."""
    error = refusal(lambda: place.prove("jwt1"))
    assert error.code == "not-found"
    assert "jwt-1" in error.help
    assert refusal(lambda: checklist.require_feature(place.workspace, TASK, "jwt1")).code == "not-found"
    checklist.require_feature(place.workspace, TASK, "jwt-1")


@pytest.mark.parametrize(
    ("fence", "code"),
    [
        ("", "unreadable"),
        ("```json\n{,}\n```\n", "unreadable"),
        ('```json\n{"features": [{"id": "x", "id": "y"}]}\n```\n', "unreadable"),
        ("```json\n[]\n```\n", "not-found"),
        ("```json\n{}\n```\n", "not-found"),
        ('```json\n{"features": {"x": 1}}\n```\n', "not-found"),
        ('```json\n{"features": [{"id": "x"}, {"id": "x"}]}\n```\n', "duplicate-id"),
        ('```yaml\n{"features": [{"id": "x"}]}\n```\n', "unreadable"),
    ],
)
def test_damaged_checklist_is_refused(place: Place, fence: str, code: str) -> None:
    """A checklist that cannot be read is one clear error, and no byte changes."""
    fenced(place, fence)
    before = place.text
    error = refusal(lambda: place.prove("x"))
    assert error.code == code
    assert error.help
    assert place.text == before


@pytest.mark.parametrize(
    "fence", ["```json\n[]\n```\n", "```json\n{}\n```\n", '```json\n{"features": {"x": 1}}\n```\n']
)
def test_feature_is_not_added_where_there_is_no_list(place: Place, fence: str) -> None:
    """Without a list of features none is added."""
    fenced(place, fence)
    before = place.text
    refusal(lambda: add(place, "a-1"))
    assert place.text == before


@pytest.mark.parametrize("entry", ['"text"', "{}", '{"id": 5}', '{"id": "x", "passes": "yes"}'])
def test_odd_neighbour_is_left_alone(place: Place, entry: str) -> None:
    """An entry that is no feature is neither read nor changed, and no progress is claimed that it would falsify."""
    fenced(
        place, f'```json\n{{"features": [{entry}, {{"id": "b", "passes": false}}], "overall_progress": "7%"}}\n```\n'
    )
    place.prove("b")
    assert f'"features": [{entry}, {{"id": "b", "passes": true' in place.text
    assert progress(place) == ("7%" if '"x"' not in entry else "50%")


# Acceptance criteria


def test_criterion_is_checked_and_unchecked(place: Place) -> None:
    """Of a criterion one character changes, and back."""
    before = place.text
    place.check(2)
    assert changes(before, place.text) == ("- [ ] Tokens expire\n", "- [x] Tokens expire\n")
    assert [each.checked for each in place.state.criteria] == [False, True]
    place.check(2, checked=False)
    assert changes(before, place.text) == ("", "")


def test_checked_criterion_stays_checked(place: Place) -> None:
    """Checking what is checked, also with a capital X, changes no byte."""
    place.text = place.text.replace("- [ ] Tokens verify", "- [X] Tokens verify")
    before = place.text
    assert not place.check(1).changed
    assert place.text == before


def test_criteria_are_counted_where_they_are_some(place: Place) -> None:
    """Boxes in fences, comments and other items do not count; what looks like a criterion does, and is no other."""
    place.text = place.text.replace(
        "- [ ] Tokens verify\n- [ ] Tokens expire\n",
        "```\n- [ ] fenced\n```\n\n<!--\n- [ ] hidden\n-->\n\n> - [ ] quoted\n\n- plain\n* [x] one\n\n"
        "  - [ ] nested\n\n3. [ ] two\n",
    )
    before = place.text
    place.check(4)
    assert changes(before, place.text) == ("3. [ ] two\n", "3. [x] two\n")
    assert "criterion 1 is malformed: it is quoted" in refusal(lambda: place.check(1)).message
    assert "criterion 2 is malformed: it begins with neither" in refusal(lambda: place.check(2)).message
    assert "it has 4, counted from 1" in refusal(lambda: place.check(5)).message


@pytest.mark.parametrize("number", [0, -1, 3, 10**9])
def test_unknown_criterion_is_not_found(place: Place, number: int) -> None:
    """A number beside those that there are is an error that says how many."""
    error = refusal(lambda: place.check(number))
    assert error.code == "not-found"
    assert "it has 2, counted from 1" in error.message


def test_no_criteria(place: Place) -> None:
    """Where no criterion is written yet, that is reported."""
    place.text = place.text.replace("- [ ] Tokens verify\n- [ ] Tokens expire\n", "*To be completed.*\n")
    assert "it has none" in refusal(place.check).message


def test_a_feature_that_moved_is_tested_where_it_is(place: Place) -> None:
    """Here the result would count for nothing: the task that has the feature now is named."""
    place.text = before = place.text.replace('"id": "jwt-1",', '"id": "jwt-1", "moved_to": "101a",')
    error = refusal(lambda: place.prove("jwt-1"))
    assert str(refusal(lambda: checklist.require_feature(place.workspace, TASK, "jwt-1"))) == str(error)
    assert "jwt-1 of task 101 moved to task 101a" in str(error)
    assert "`taskstate feature pass 101a jwt-1 --evidence TEXT`" in str(error)
    assert place.text == before

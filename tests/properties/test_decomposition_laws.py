"""The laws of a decomposition: no feature is lost or doubled, none changes, and what comes first comes first."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from taskstate.formatting.formatter import format_text
from taskstate.lint import engine
from taskstate.model.names import is_id
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.syntax.json_edit import json_text
from taskstate.tasks.decompose import decompose
from taskstate.tasks.decomposition_plan import ASSUMED, ENOUGH, LEAST, MOST, PHASES, Pace, plan_subtasks
from taskstate.tasks.part_words import OpenFeature
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from taskstate.model.task_state import Feature

ids = st.from_regex(r"[a-z]{1,3}(?:-[1-9])?", fullmatch=True)
parts = st.lists(
    st.builds(
        OpenFeature,
        ids,
        st.integers(0, len(PHASES) - 1),
        st.sampled_from(["", "a", "b"]),
        st.frozensets(st.sampled_from(["x.py", "y.py"])),
        st.frozensets(ids, max_size=2),
    ),
    max_size=30,
)
paces = st.builds(Pace, st.integers(1, 60), st.integers(1, 60), st.just(value=True)) | st.just(ASSUMED)
words = st.text(st.sampled_from("abz-#*`_<>[]|\\\"' .:{}\u00e4\u2019"), min_size=1, max_size=30).filter(str.strip)


@given(st.from_regex(r"[A-Za-z0-9]{1,8}", fullmatch=True).filter(is_id), parts, paces)
def test_every_feature_goes_into_exactly_one_subtask(task_id: str, parts: list[OpenFeature], pace: Pace) -> None:
    """Nothing is lost or doubled, each id can be one and is new, and each estimate is in its bounds."""
    found = plan_subtasks(task_id, parts, pace)
    assert sorted(each for part in found for each in part.features) == sorted(part.id for part in parts)
    assert all(part.features and is_id(part.id) and LEAST <= part.sessions <= MOST for part in found)
    assert len({part.id for part in found}) == len(found)
    assert len(found) > 1 or len(parts) < 2
    assert len(found) <= 5
    assert all(len(part.features) > 1 and part.name.strip() for part in found) or len(parts) < ENOUGH


@given(parts, paces)
def test_order_has_no_circle(parts: list[OpenFeature], pace: Pace) -> None:
    """A subtask depends on earlier ones alone, and on none that another one of these depends on."""
    found = plan_subtasks("101", parts, pace)
    behind: dict[str, set[str]] = {}
    for part in found:
        assert set(part.depends_on) <= set(behind)
        reached = set().union(*(behind[each] for each in part.depends_on))
        assert reached.isdisjoint(part.depends_on)
        behind[part.id] = reached | set(part.depends_on)


@given(st.dictionaries(ids, words, min_size=1, max_size=6), st.data())
def test_features_move_as_they_are(features: dict[str, str], data: st.DataObject) -> None:
    """After it the parent has all its features with their texts, the open ones are elsewhere too, and all lints."""
    passing = data.draw(st.sets(st.sampled_from(sorted(features)), max_size=len(features) - 1))
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "repository")
        fence = {"features": [_feature(*each, passes=each[0] in passing) for each in features.items()]}
        place.text = re.sub(r"(?s)(?<=```json\n).*?(?=```)", lambda _: f"{json_text(fence)}\n", place.text)
        before = [(each.id, each.description, each.passes) for each in _features(place.path)]
        suggestion = decompose(place.workspace, TASK, place.request()).result
        after = _features(place.path)
        assert [(each.id, each.description, each.passes) for each in after] == before
        assert {each.id for each in after if not each.moved_to} == passing
        for part in suggestion.subtasks:
            path = place.workspace.locate(part.id)
            moved = [(each.id, each.description, each.passes) for each in _features(path)]
            assert moved == [(each, features[each], False) for each in part.features]
        for path in place.workspace.state_files():
            text = path.read_text(encoding="utf-8")
            assert format_text(text, path.name) == text
            assert engine.check(text, path.name, place.workspace.config) == ()


def _feature(feature_id: str, description: str, *, passes: bool) -> dict[str, object]:
    tested = "2026-01-01T10:00:00Z" if passes else None
    return {"id": feature_id, "description": description, "passes": passes, "tested_at": tested}


def _features(path: Path) -> tuple[Feature, ...]:
    checklist = read_state(parse(path.read_text(encoding="utf-8"))).checklist
    assert checklist
    return checklist.features

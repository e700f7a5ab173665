"""The laws of merging: on histories that the real jobs make, and on any damaged text at all."""

from __future__ import annotations

import json
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.branches import STEPS, Branch, Step
from taskstate.lint.engine import findings
from taskstate.merge.lines import lines_of
from taskstate.merge.merge_files import merge_files
from taskstate.model.config_reader import read_config
from taskstate.model.write_metadata import check_seal
from taskstate.units.three_way import Versions
from taskstate.units.values import merge_value, same
from tests.properties.test_lint_laws import CORPUS, SNIPPETS
from tests.support.merging import STATE, merge_copies, said

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONFIG = read_config({}, "the test")
_UNTOLD = {"TS403"}  # times may fall where a rebase puts older sessions behind newer ones
_NAMES = ("task-7-state.md", "task-7-archive.md", "task-7-impact-map.json", "README.md")

steps = st.builds(Step, st.sampled_from([*STEPS, "session", "session", "archive"]), st.integers(0, 99))


class _History:
    """A common version, and what two branches made of it, as files at each step."""

    def __init__(self, before: list[Step], ours: list[Step], theirs: list[Step], later: int) -> None:
        with tempfile.TemporaryDirectory(prefix="taskstate-laws-") as folder:
            root = Path(folder)
            trunk = Branch(root / "base", "base")
            trunk.begin()
            trunk.do(before)
            left = trunk.fork(root / "ours", "left")
            right = trunk.fork(root / "theirs", "right", minutes=3, later=later)
            self.base = trunk.files()
            left.do(ours)
            self.ours = left.files()
            self.commits: list[Mapping[str, bytes]] = [self.base]
            for step in theirs:
                right.do([step])
                self.commits.append(right.files())
            self.theirs = self.commits[-1]


histories = st.builds(
    _History,
    st.lists(steps, max_size=3),
    st.lists(steps, min_size=1, max_size=3),
    st.lists(steps, min_size=1, max_size=3),
    st.sampled_from([0, 0, 5, 40]),
)


def sound(files: Mapping[str, bytes]) -> None:
    """Assert that a working copy is as good as one that was never merged."""
    merged_files = said(files)
    assert merged_files.numbers == list(range(1, len(merged_files.numbers) + 1))
    assert merged_files.state.archived == len(merged_files.archived)
    check_seal(merged_files.state.document, STATE)
    found = {each.diagnostic.code for each in findings(files[STATE], "task-7-state.md", _CONFIG)}
    assert found <= _UNTOLD


@pytest.mark.slow
@given(history=histories)
def test_no_branch_loses_anything(history: _History) -> None:
    """Merged in either order, or replayed commit by commit, two branches come to all that either side has said."""
    _merge_both_ways(history)
    _rebase(history)


def _merge_both_ways(history: _History) -> None:
    merged, conflicts = merge_copies(Versions(history.base, history.ours, history.theirs))
    swapped, conflicts_too = merge_copies(Versions(history.base, history.theirs, history.ours))
    assert bool(conflicts) == bool(conflicts_too)
    for side in (history.ours, history.theirs):
        assert merge_copies(Versions(history.base, side, side)) == (side, 0)
        assert merge_copies(Versions(history.base, side, history.base)) == (side, 0)
        assert merge_copies(Versions(history.base, history.base, side)) == (side, 0)
    if conflicts:
        assert "TS007" in {each.diagnostic.code for each in findings(merged[STATE], "task-7-state.md", _CONFIG)}
        return
    merged_files, ours, theirs = said(merged), said(history.ours), said(history.theirs)
    sound(merged)
    assert merged_files.sessions == ours.sessions | theirs.sessions
    assert merged_files.features.keys() == ours.features.keys() | theirs.features.keys()
    assert merged_files.meaning == said(swapped).meaning


def _rebase(history: _History) -> None:
    """Replay the commits of theirs on ours, then merge the branch as it was: nothing is missing, nothing twice."""
    current: Mapping[str, bytes] = history.ours
    for before, after in pairwise(history.commits):
        current, conflicts = merge_copies(Versions(before, current, after))
        if conflicts:
            return
    sound(current)
    expected = said(history.ours).sessions | said(history.theirs).sessions
    assert said(current).sessions == expected
    again, conflicts = merge_copies(Versions(history.base, current, history.theirs))
    if not conflicts:
        sound(again)
        assert said(again).sessions == expected


@st.composite
def damaged(draw: st.DrawFn) -> Versions[bytes]:
    """Return three versions of some file of the lint corpus, each damaged in its own way."""
    _, text = draw(st.sampled_from(CORPUS))
    versions = []
    for _ in range(3):
        changed = text
        for _ in range(draw(st.integers(0, 3))):
            start, end = sorted((draw(st.integers(0, len(changed))), draw(st.integers(0, len(changed)))))
            snippet = draw(st.sampled_from(SNIPPETS) | st.text(max_size=8))
            changed = changed[:start] + snippet + changed[min(end, start + 200) :]
        versions.append(changed.encode("utf-8", "surrogatepass"))
    return Versions(*versions)


@given(sides=damaged(), name=st.sampled_from(_NAMES))
@example(sides=Versions(b"", b"a", b"b\n"), name="README.md")
@example(sides=Versions(b"\xff\n", b"\xff\nours\n", b"\xfe\n"), name="task-7-state.md")
def test_any_text_can_be_merged(sides: Versions[bytes], name: str) -> None:
    """Whatever the texts are, merging raises nothing, and taking over one side's changes gives its very bytes."""
    merge_files(sides, name)
    assert merge_files(sides._replace(base=sides.ours), name) == (sides.theirs, 0)
    assert merge_files(sides._replace(base=sides.theirs), name) == (sides.ours, 0)
    assert merge_files(sides._replace(theirs=sides.ours), name) == (sides.ours, 0)


_KEYS = (
    "id",
    "status",
    "a",
    "features",
    "passes",
    "tested_at",
    "events",
    "coordination",
    "count",
    "depends_on",
    "open",
)
scalars = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["x", "y", "done", "blocked", "pending"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4),
    max_leaves=8,
)


def unordered(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a value in writing, the items of lists in an order that depends on nothing but them."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{unordered(value[key])}" for key in sorted(value)) + "}"
    return "[" + ",".join(sorted(map(unordered, value))) + "]" if isinstance(value, list) else json.dumps(value)


@given(base=values, ours=values, theirs=values, key=st.sampled_from(_KEYS))
def test_values_merge_the_same_in_either_order(base: object, ours: object, theirs: object, key: str) -> None:
    """With the same side preferred both orders give the same value, and what one side changed is taken over."""
    assert unordered(merge_value(Versions(base, ours, theirs), key, "ours")) == unordered(
        merge_value(Versions(base, theirs, ours), key, "theirs")
    )
    assert same(merge_value(Versions(base, ours, base), key, "theirs"), ours)
    assert same(merge_value(Versions(base, base, theirs), key, "ours"), theirs)


items = st.lists(st.builds(lambda name, at: {"at": at, "event": name}, scalars, scalars), max_size=4, unique_by=repr)


@given(base=items, ours=items, theirs=items)
def test_no_event_is_lost(base: list[object], ours: list[object], theirs: list[object]) -> None:
    """What either side has added to a list is in the merged list, once."""
    merged = merge_value(Versions(base, ours, theirs), "events", "ours")
    assert all(item in merged for item in (*ours, *theirs) if item not in base)
    assert len({json.dumps(item) for item in merged}) == len(merged)


lines = st.lists(st.sampled_from([f"{letter}\n" for letter in "abcdef"] + ["\n"]), max_size=9)


@given(base=lines, ours=lines, theirs=lines)
def test_text_merge_loses_no_line(base: list[str], ours: list[str], theirs: list[str]) -> None:
    """Every line that a side has added is in the result, and a result without conflicts is the same in either order."""
    sides = Versions(*("".join(text).encode() for text in (base, ours, theirs)))
    merged = merge_files(sides, "README.md")
    swapped = merge_files(Versions(sides.base, sides.theirs, sides.ours), "README.md")
    got = lines_of(merged.data.decode())
    assert {line for line in (*ours, *theirs) if line not in base} <= set(got)
    assert bool(merged.conflicts) == bool(swapped.conflicts)
    if not merged.conflicts:
        assert merged == swapped

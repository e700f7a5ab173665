"""Work grows with the size of a file, whatever it repeats: counted in calls, which no other load disturbs."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

from benchmarks import repeated
from taskstate.lint.cache import freeze, thaw
from taskstate.lint.engine import findings
from taskstate.model.config_reader import read_config
from taskstate.syntax.document import forget_parsed
from taskstate.workflow.brief import brief
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FEW, MANY = 60, 300
# Each of these took quadratic time or memory once.
WORST = (
    "one session",
    "sessions backwards",
    "directives",
    "directives of used codes",
    "directives in front matter",
    "secrets",
    "codes in a directive",
    "one key",
    "invisible",
)


def calls(action: Callable[[], object]) -> int:
    """Return how many calls an action makes, of functions in Python and in C, and of generators for a next value."""
    forget_parsed()
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def grown(action: Callable[[str], object], name: str) -> float:
    """Return how many times as many calls `MANY` of a construct take as `FEW`, beyond what the file itself takes."""
    texts = [repeated.repeated(repeated.CONSTRUCTS[name], count) for count in (0, FEW, MANY)]
    for text in texts:
        action(text)  # what is compiled and cached once is no part of it
    none, few, many = (calls(partial(action, text)) for text in texts)
    return (many - none) / (few - none)


@pytest.mark.parametrize("name", WORST)
def test_work_grows_with_the_size(name: str) -> None:
    """Lint makes five times as many calls for five times as much of a construct, or a little more."""
    config = read_config({}, "the test")

    def lint(text: str) -> None:
        found = findings(text.encode(), "task-1-state.md", config)
        assert thaw(freeze(found), "task-1-state.md") == found

    assert grown(lint, name) < 1.25 * MANY / FEW


@pytest.mark.parametrize("name", ["done items", "comments", "fences", "next steps"])
def test_a_brief_grows_with_the_size(name: str, tmp_path: Path) -> None:
    """A brief looks at each of many units about once, however few of them it holds."""
    place = Place(tmp_path / "repository")

    def told(text: str) -> None:
        place.text = text.replace('task_id: "1"', 'task_id: "101"')
        brief(place.workspace, place.workspace.load(place.path))

    assert grown(told, name) < 1.25 * MANY / FEW


def test_a_shared_fix_is_kept_once() -> None:
    """A fix of many edits that thousands of findings share takes no more room in the cache than one."""
    text = repeated.repeated(repeated.CONSTRUCTS["one session"], MANY)
    frozen = freeze(findings(text.encode(), "task-1-state.md", read_config({}, "the test")))
    fixes = [entry[-1] for entry in frozen if entry[3][0] == "TS402"]
    assert len(fixes) >= MANY - 1
    assert sum(isinstance(fix, list) for fix in fixes) == 1

"""Cached dependencies are used as long as the files are unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.syntax.document import parse
from taskstate.workspace.run_cache import RunCache, open_dependency_cache
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository in which task 102 depends on task 101."""
    place = Place(tmp_path / "r")
    place.new("102", depends_on=("101",))
    return place


def depends_on(place: Place) -> tuple[str, ...]:
    """Return what task 102 depends on, as a new run finds it."""
    run = RunCache(place.workspace)
    run.dependency_cache = open_dependency_cache(place.workspace)
    found = tuple(each for each in ("100", "101") if run.dependencies.shortest_path("102", each))
    run.close()
    return found


def test_next_run_does_not_read_the_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's dependencies come from the cache while it is unchanged, and are read again after a change."""
    assert depends_on(place) == ("101",)
    with monkeypatch.context() as patch:
        patch.setattr(RunCache, "upstream", None)
        assert depends_on(place) == ("101",)
    path = place.workspace.tasks / "task-102-state.md"
    path.write_text(path.read_text(encoding="utf-8").replace("101", "100"), encoding="utf-8")
    assert depends_on(place) == ("100",)
    path.unlink()
    assert depends_on(place) == ()


@pytest.mark.parametrize("entry", ["1", '["a"]', '["a", 1]'])
def test_damaged_memory_is_none(place: Place, entry: str) -> None:
    """A damaged cache is rebuilt."""
    assert depends_on(place) == ("101",)
    memory = place.cache("depends-on.json")
    whole = memory.read_text(encoding="utf-8")
    memory.write_text(whole[: whole.index("{", 1)] + f'{{"{place.workspace.tasks}/task-102-state.md":{entry}}}}}')
    assert depends_on(place) == ("101",)


def test_file_that_is_checked_is_parsed_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a file depends on is taken from the text that is checked: nothing of it is read again."""
    run = RunCache(place.workspace)
    path = place.workspace.tasks / "task-102-state.md"
    run.checked = (path, parse(path.read_text(encoding="utf-8").replace("101", "100")))
    monkeypatch.setattr(RunCache, "_text", None)
    upstream = run.upstream(path)
    assert upstream is not None
    assert upstream.depends_on == ("100",)

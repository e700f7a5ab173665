"""What to work on now, and why."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from taskstate.storage import file_sources
from taskstate.tasks import next_task
from taskstate.tasks.next_task import choose, dependent_counts, dependent_counts_by_bits, in_order, waiting_of
from taskstate.workspace import task_index
from taskstate.workspace.task_index import IndexedTask
from tests.support.chained import Chained
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def task(
    task_id: str, upstream: str = "", status: str = "created", priority: str = "", kind: str = "task"
) -> IndexedTask:
    """Return a task at a glance."""
    return IndexedTask(
        "", f"task-{task_id}-state.md", task_id, f"T{task_id}", status, priority, "", kind, "", upstream, ""
    )


def order(*tasks: IndexedTask) -> list[str]:
    """Return the ids of the tasks that are ready, the first one first."""
    return [ready.task.id for ready in in_order(tasks).ready]


# The order


def test_of_equals_what_is_in_progress_comes_first() -> None:
    """What was begun is finished before something else is begun that is no more urgent and unblocks no more."""
    begun = task("2", status="in_progress", priority="P1")
    assert order(task("1", priority="P1"), begun) == ["2", "1"]
    assert order(task("1", priority="P0"), begun) == ["1", "2"]
    assert order(task("1", priority="P1"), begun, task("3", "1")) == ["1", "2"]


def test_priority_comes_before_all_that_waits() -> None:
    """P0 comes before P1, and a task without a priority last."""
    tasks = (task("1"), task("2", priority="P3"), task("3", priority="P0"), task("4", "1"), task("5", "1"))
    assert order(*tasks) == ["3", "2", "1"]


def test_what_unblocks_most_comes_first() -> None:
    """Of equals the task comes first for which most others wait, directly or through others."""
    tasks = (task("1"), task("2"), task("3", "2"), task("4", "3"), task("5", "1"), task("6"))
    assert [(ready.task.id, ready.unblocks) for ready in in_order(tasks).ready] == [("2", 2), ("1", 1), ("6", 0)]


def test_ids_decide_at_last() -> None:
    """Of equals in all else the natural order of the ids decides."""
    assert order(task("10"), task("9"), task("a")) == ["9", "10", "a"]


@pytest.mark.parametrize(
    ("other", "ready"),
    [
        (task("1", status="complete"), True),
        (task("1", status="created"), False),
        (task("1", status="blocked"), False),
        (task("1")._replace(problem="torn", status=""), False),
        (task("7"), False),
    ],
)
def test_ready_is_what_waits_for_nothing(other: IndexedTask, ready: bool) -> None:  # noqa: FBT001
    """A task is ready when all that it depends on is there and complete."""
    assert ("2" in order(other, task("2", "1"))) is ready


def test_what_is_blocked_complete_or_permanent_is_not_ready() -> None:
    """Only ordinary open tasks are listed."""
    assert order(task("1", status="blocked"), task("2", status="complete"), task("3", kind="permanent")) == []


def test_case_of_ids_does_not_matter() -> None:
    """Ids are compared ignoring case."""
    assert order(task("A-1", status="complete"), task("b", "a-1")) == ["b"]


def test_each_waiting_task_is_counted_once() -> None:
    """However many ways lead to it, a task counts once; a circle ends the counting."""
    diamond = {"1": ["2", "3"], "2": ["4"], "3": ["4"]}
    assert dependent_counts_by_bits(diamond) == {"1": 3, "2": 1, "3": 1}
    assert dependent_counts([task("1"), task("4")], diamond) == {"1": 3, "4": 0}
    circle = {"1": ["2"], "3": ["2"], "2": ["3"]}
    assert dependent_counts([task("1")], circle) == {"1": 2}
    assert dependent_counts_by_bits(circle)["1"] >= 1
    assert order(task("1"), task("2", "1 3"), task("3", "2")) == ["1"]


def test_no_more_are_ordered_than_asked_for() -> None:
    """The requested number of tasks comes in order, with the total number of ready tasks."""
    tasks = [task(str(number), priority=f"P{number % 3}") for number in range(9)]
    whole = in_order(tasks)
    assert (len(whole.ready), whole.total) == (9, 9)
    for most in range(1, 10):
        assert in_order(tasks, most) == (whole.ready[:most], 9)


def test_many_tasks_take_no_time() -> None:
    """Ten thousand tasks in a chain, and as many on one, are ordered in less than a second."""
    chain = [task(str(number), str(number - 1) if number else "") for number in range(10_000)]
    wide = [task(f"w{number}", "0") for number in range(10_000)]
    begun = time.perf_counter()
    ((ready,), _) = in_order([*chain, *wide])
    assert ready.unblocks == 19_999
    roots = [task(f"r{number}") for number in range(5_000)]
    each = task("all", " ".join(root.id for root in roots))
    order = in_order([*roots, each, *(task(f"z{number}", "all") for number in range(5_000))])
    assert {one.unblocks for one in order.ready} == {5_001}
    assert time.perf_counter() - begun < 5


# What holds the others up


def test_reasons_are_told() -> None:
    """Each task that is not ready is listed with what it waits for."""
    tasks = (
        task("1", status="blocked"),
        task("2", "1 7 8"),
        task("3", "4"),
        task("4", "3 2 1 9 5 6"),
        task("5", status="blocked"),
        task("6", "5", status="blocked"),
    )
    assert {each.task.id: each.why for each in waiting_of(tasks)} == {
        "1": "it is blocked",
        "2": "it depends on 7, 8, which are not there, and it waits for 1",
        "3": "it waits for 4",
        "4": "it depends on 9, which is not there, and it waits for 3, 2, 1 and 2 more",
        "5": "it is blocked",
        "6": "it is blocked, and it waits for 5",
    }


# Choosing


def test_task_and_feature_are_chosen(tmp_path: Path) -> None:
    """The first open feature of the first task is named, with the reasons in one line."""
    place = Chained(tmp_path / "r")
    choice = choose(place.workspace)
    assert [ready.task.id for ready in choice.order.ready] == ["101"]
    assert choice.feature
    assert (choice.feature.id, choice.why) == ("jwt-1", "it is ready to begin; 1 task waits for it")
    place.finish()
    place.write("101", "created_at", "priority: P1\ncreated_at")
    choice = choose(place.workspace)
    assert choice.feature is None
    assert "its priority is P1; 1 task waits for it; no feature of it is open: `taskstate complete 101`" in choice.why
    place.complete()
    assert choose(place.workspace).why == "it is ready to begin; 101 is complete"


def test_moved_feature_is_not_chosen(tmp_path: Path) -> None:
    """A feature that went to another task is none of this one."""
    place = Chained(tmp_path / "r")
    place.write("101", '"tested_at"', '"moved_to": "102", "tested_at"')
    assert choose(place.workspace).feature is None


def test_task_in_progress_says_so(tmp_path: Path) -> None:
    """The status is among the reasons."""
    place = Place(tmp_path / "r")
    place.add()
    assert choose(place.workspace).why == "it is in progress"


def test_nothing_ready_says_what_blocks(tmp_path: Path) -> None:
    """Where nothing is ready, each task is listed with its reason; where all is done, that is reported."""
    place = Chained(tmp_path / "r")
    place.write("101", "status: created", "status: blocked")
    choice = choose(place.workspace)
    assert (choice.order.ready, choice.feature, choice.why) == ((), None, "no task is ready: all 2 open ones wait")
    assert [each.why for each in choice.waiting] == ["it is blocked", "it waits for 101"]
    place.file("102").unlink()
    assert choose(place.workspace).why == "no task is ready: the only open one waits"
    place.write("101", "status: blocked", "status: complete")
    assert choose(place.workspace).why == "all tasks are complete"
    place.file("101").unlink()
    assert choose(place.workspace).why == "there are no tasks"


def test_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """It is no task to work on, and hides no other."""
    place = Chained(tmp_path / "r")
    place.file("101").write_bytes(b"\xff")
    choice = choose(place.workspace)
    assert len(choice.unreadable) == 1
    assert "not counted: .taskstate/tasks/task-101-state.md is not UTF-8: byte 0 is 0xff" in choice.unreadable[0]
    assert choice.waiting[0].why == "it depends on 101, which is not there"


def test_body_that_cannot_be_read_has_no_feature(tmp_path: Path) -> None:
    """A task whose checklist is torn, or whose file vanishes meanwhile, is named without a feature."""
    place = Place(tmp_path / "r")
    place.text = place.text.replace('"features"', "features")
    assert choose(place.workspace).feature is None


def test_the_order_is_cached_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same question is answered without reading any task; what is told of a file is told each time."""
    place = Chained(tmp_path / "r")
    first = choose(place.workspace)
    assert not place.cache("next.json").exists(), "files that changed just now may change again with the same times"
    monkeypatch.setattr(file_sources, "_COARSEST_NS", -(10**18))  # from now on each counts as settled
    for key in ("area", "parent_area"):
        assert choose(place.workspace) == first
        assert len(choose(place.workspace, most=2).order.ready) == 1
        with monkeypatch.context() as patch:
            patch.setattr(task_index, "all_tasks", None)
            assert choose(place.workspace) == first
        place.write("102", "created_at", f"{key}: web\ncreated_at")
        monkeypatch.setattr(next_task, "in_order", counted := mock.Mock(wraps=in_order))
        choose(place.workspace)
        assert counted.call_count == 1
    place.write("101", "status: created", "status: complete")
    assert [ready.task.id for ready in choose(place.workspace).order.ready] == ["102"]
    place.file("101").write_bytes(b"\xff")
    place.new("9")
    assert [choose(place.workspace).unreadable for _ in range(2)] == [choose(place.workspace).unreadable] * 2
    assert choose(place.workspace).unreadable


def damaged(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """Yield a value that was read from JSON with each part of it, and itself, replaced by something else."""
    others: tuple[Any, ...] = (None, 1.5, "x", [], {}, [7], ["x"])
    yield from (each for each in others if type(each) is not type(value))
    for at, part in enumerate(value) if isinstance(value, list) else ():
        yield from ([*value[:at], other, *value[at + 1 :]] for other in damaged(part))
        yield [*value[:at], *value[at + 1 :]]


def test_a_damaged_cache_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in the place of any value of it: the answer is that of the files."""
    place = Chained(tmp_path / "r")
    monkeypatch.setattr(file_sources, "_COARSEST_NS", -(10**18))
    first, cache = choose(place.workspace), place.cache("next.json")
    assert first.feature
    assert choose(place.workspace) == first
    content = json.loads(cache.read_text())
    tried = 0
    for other in damaged(content["entries"]["1"]):
        cache.write_text(json.dumps({**content, "entries": {"1": other}}))
        answer = choose(place.workspace)
        assert answer == first or (answer.feature is None and other[2] is None)
        tried += 1
    assert tried > 100

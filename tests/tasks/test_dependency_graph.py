"""Tasks and their chains, drawn in three forms."""

from __future__ import annotations

import time

import pytest

from taskstate.tasks.dependency_graph import Graph, GraphTask, as_dot, as_mermaid, as_text

TASKS = (
    GraphTask("100", "Schema", "complete"),
    GraphTask("101", "JWT", "in_progress", ("100",)),
    GraphTask("102", "Endpoints", "created", ("100", "101")),
    GraphTask("101a", "Part", "blocked", (), "101"),
    GraphTask("9", "Odd", "created", ("7",)),
)


def test_text_is_a_tree() -> None:
    """Under each task stand those that wait for it; one that was shown with its tasks is only named again."""
    assert as_text(Graph(TASKS)) == (
        "[?] 7  there is no such task, or it cannot be read\n"
        "  [ ] 9  Odd\n"
        "[x] 100  Schema\n"
        "  [~] 101  JWT\n"
        "    [ ] 102  Endpoints\n"
        "  [ ] 102  Endpoints\n"
        "[!] 101a  Part (part of 101)"
    )
    more = (*TASKS, GraphTask("103", "More", "created", ("102",)))
    assert as_text(Graph(more)).count("103") == 1
    assert "  [ ] 102  Endpoints (see above)" in as_text(Graph(more))
    assert as_text(Graph(())) == "no tasks"


def test_circles_are_shown() -> None:
    """A circle is drawn once, and named."""
    links = (("1", "A", "2"), ("2", "B", "1"), ("3", "C", "3"))
    tasks = tuple(GraphTask(task_id, title, "created", (upstream,)) for task_id, title, upstream in links)
    assert as_text(Graph(tasks)) == (
        "[ ] 1  A\n  [ ] 2  B\n    [ ] 1  A (see above)\n[ ] 3  C\n  [ ] 3  C (see above)\n"
        "circle: 1 → 2 → 1\ncircle: 3 → 3"
    )
    assert as_mermaid(Graph(tasks)).count("-->") == 3


def test_circles_that_share_a_task_are_all_named() -> None:
    """Each chain that closes a circle is in one that is named, that of a task with itself too; no circle twice."""
    tasks = (
        GraphTask("1", "A", "created", ("2", "3", "4")),
        GraphTask("2", "B", "created", ("1",)),
        GraphTask("3", "C", "created", ("1", "3")),
        GraphTask("4", "D", "created"),
    )
    assert Graph(tasks).circles() == (("1", "2", "1"), ("1", "3", "1"), ("3", "3"))


def test_many_circles_are_cut() -> None:
    """Where all tasks wait for all others, the first circles are named, and that there may be more."""
    ids = [str(number) for number in range(60)]
    text = as_text(Graph(GraphTask(each, "A", "created", tuple(ids)) for each in ids))
    assert text.count("circle: ") == 100
    assert text.endswith("\nthere may be more circles")


def test_mermaid() -> None:
    """Each task is a node of its status, each chain an arrow, a subtask's arrow dotted."""
    assert as_mermaid(Graph(TASKS[1:2])).split("\n")[:4] == [
        "flowchart LR",
        '  t0["#35;100 (unknown)"]:::unknown',
        '  t1["#35;101 JWT (in_progress)"]:::in_progress',
        "  t0 --> t1",
    ]
    assert "  t3 -.-> t4\n" in as_mermaid(Graph(TASKS))


def test_dot() -> None:
    """The same in the language of Graphviz."""
    assert as_dot(Graph(TASKS[1:4])) == (
        "digraph tasks {\n"
        "  rankdir=LR;\n"
        "  node [shape=box, style=filled];\n"
        '  "100" [label="#100 (unknown)", fillcolor="#ffffff"];\n'
        '  "101" [label="#101 JWT (in_progress)", fillcolor="#bbdefb"];\n'
        '  "101a" [label="#101a Part (blocked)", fillcolor="#ffcdd2"];\n'
        '  "102" [label="#102 Endpoints (created)", fillcolor="#eceff1"];\n'
        '  "100" -> "101";\n'
        '  "100" -> "102";\n'
        '  "101" -> "102";\n'
        '  "101" -> "101a" [style=dotted];\n'
        "}"
    )


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        (("101",), ["100", "101", "101a", "102"]),
        (("9",), ["7", "9"]),
        (("100",), ["100", "101", "101a", "102"]),
        (("101A",), ["101", "101a"]),
        (("9", "102"), ["7", "9", "100", "101", "101a", "102"]),
    ],
)
def test_graph_around_tasks(ids: tuple[str, ...], kept: list[str]) -> None:
    """What a task builds on and what builds on it is kept, with its subtasks; all else is left out."""
    assert [task.id for task in Graph(TASKS).related_to(ids).tasks.values()] == kept


def test_ids_that_differ_in_case_are_one_task() -> None:
    """A chain to `A` is one to `a`, and one named twice is one."""
    graph = Graph((GraphTask("a", "A", "created"), GraphTask("b", "B", "created", ("A", "a"))))
    assert [task.id for task in graph.tasks.values()] == ["a", "b"]
    assert len(as_dot(graph).split(" -> ")) == 2


@pytest.mark.slow
@pytest.mark.parametrize("draw", [as_text, as_mermaid, as_dot])
def test_ten_thousand_tasks_are_drawn(draw: object) -> None:
    """A long chain, and one long circle, take time and room by their length and not by its square."""
    assert callable(draw)
    chain = [GraphTask(str(number), "T", "created", (str(number - 1),) if number else ()) for number in range(10_000)]
    for tasks in (chain, [*chain[1:], GraphTask("0", "T", "created", ("9999",))]):
        begun = time.perf_counter()
        drawing = draw(Graph(tasks))
        assert len(drawing) < 3_000_000
        assert time.perf_counter() - begun < 10


@pytest.mark.slow
def test_a_task_that_waits_for_very_many_is_drawn() -> None:
    """What is drawn for one task takes time by the number of those that it waits for, and not by its square."""
    begun = time.process_time()
    as_text(Graph([GraphTask("a", "A", "created", tuple(map(str, range(40_000))))]).related_to(["a"]))
    assert time.process_time() - begun < 10

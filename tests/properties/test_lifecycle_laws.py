"""The laws of what tasks go through: completing and reopening, what is drawn of them, and which one comes next."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.chain import output as chain_output
from taskstate.evidence.command_evidence import CommandResult
from taskstate.lint import engine
from taskstate.model.algorithms import DependencyGraph
from taskstate.model.config import Config
from taskstate.model.statuses import CLOSED, OF_TASKS
from taskstate.model.task_state import read_state
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.spans import CONTROLS, with_newlines
from taskstate.tasks import complete, completion_checks
from taskstate.tasks.dependency_graph import Graph, GraphTask, as_dot, as_mermaid, as_text
from taskstate.tasks.next_task import dependent_counts, dependent_counts_by_bits, in_order, waiting_of
from taskstate.workspace.task_index import IndexedTask
from tests.support.markdown_strategies import any_text, outside

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUT = {"completed_at": "2026-01-31T12:00:00Z", "sha256": "0" * 64, "files": [{"path": "a.py", "sha256": None}]}
titles = st.text(max_size=30) | st.sampled_from(
    ['a"b', "a\\", '\\"', "end", "%%{init}%%", "#quot;", "</b>", "`x`", "a]"]
)
states = st.sampled_from(OF_TASKS)


# Completing and reopening


STATUS = (
    "status: created",
    "status: 'in_progress'  # by hand",
    "status: blocked",
    "status: complete",
    "status: dropped",
    "",
)
OTHERS = (
    *("title: |\n  JWT\n  service", "x-mine: {a: 1, b: [c]}", 'depends_on: ["1"]', "# a comment", "", "kind: task"),
    *("audit: {update_count: 1}", "audit:\n  events:\n    - {at: x}\n  # behind", "acks: {}", 'revision: "7"'),
)


@st.composite
def heads(draw: st.DrawFn) -> str:
    """Return a front matter as people write it: keys in any order, in any style, with comments."""
    lines = draw(st.lists(st.sampled_from(OTHERS), max_size=5, unique_by=lambda line: line.partition(":")[0]))
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(STATUS)))
    return "\n".join(["---", "taskstate: 1", *lines, "---", ""])


def unquoted(text: str) -> str:
    """Return a text with the value of its status without quotes, which a new value need not have."""
    return re.sub(r"""(?<=status: )['"]in_progress['"]""", "in_progress", text, count=1)


@given(heads(), st.sampled_from(["", "\n# T\n\n- a\n", "words without an end"]), st.sampled_from(["\n", "\r\n"]))
def test_reopening_takes_back_what_completing_did(head: str, body: str, newline: str) -> None:
    """But for the status every byte is as it was, whatever stands in the file."""
    text = with_newlines(head + body, newline)
    begun = complete.reopened_text(text)
    again = complete.reopened_text(complete.completed_text(begun, OUTPUT))
    assert unquoted(again) == unquoted(begun)
    assert complete.reopened_text(complete.completed_text(again, OUTPUT)) == again
    done = parse(complete.completed_text(text, OUTPUT))
    assert (done.front_matter["status"], done.front_matter["output"]) == ("complete", OUTPUT)
    assert complete.completed_text(done.text, OUTPUT) == done.text


class Task(NamedTuple):
    """What a task says of itself."""

    description: str
    criteria: list[bool]
    features: list[bool]
    summary: str
    contract: str


parts = st.sampled_from(["", "Done.", "*To be completed.*", "_later_", "<!-- later -->", "None.", "*a* and *b*"])
tasks = st.builds(Task, parts, st.lists(st.booleans(), max_size=2), st.lists(st.booleans(), max_size=2), parts, parts)


@given(tasks)
def test_linter_finds_nothing_where_nothing_is_missing(task: Task) -> None:
    """What completion asks for is what the linter asks of a complete task, no more and no less."""
    criteria = "\n".join(f"- [{'x' if each else ' '}] c" for each in task.criteria) or "*To be completed.*"
    features = ", ".join(
        f'{{"id": "f{number}", "description": "d", "passes": {str(each).lower()}, "evidence": "e",'
        f' "tested_at": "2026-01-31T12:00:00Z"}}'
        for number, each in enumerate(task.features)
    )
    text = (
        "---\ntaskstate: 1\ntask_id: '101'\ntitle: T\nstatus: complete\ncreated_at: '2026-01-31T12:00:00Z'\n---\n\n"
        f"# Task #101: T - State\n\n## 1. Static Context\n\n### Task Description\n\n{task.description}\n\n"
        f"### Acceptance Criteria\n\n{criteria}\n\n## 2. Chain Inputs\n\n## 3. Feature Checklist\n\n"
        f'```json\n{{"features": [{features}], "overall_progress": "0%"}}\n```\n\n## 4. Progress Log\n\n'
        f"## 6. Chain Output\n\n### Summary\n\n{task.summary}\n\n### API Contract\n\n{task.contract}\n"
    )
    lacks = completion_checks.gaps_in(read_state(parse(text)))
    wanted = {"TS901", "TS906", "TS208"}
    found = [each for each in engine.check(text, "task-101-state.md", Config()) if each.code in wanted]
    assert bool(lacks) == bool(found)
    assert len(lacks) == len(set(lacks))


# What is handed down


@given(outside)
def test_each_part_is_found_by_its_name(output: str) -> None:
    """The parts of an output, in their order, are its text; by its slug all parts of that name are found."""
    for whole in ("\n\n".join(each.text for each in chain_output.parts(output)), output):
        found = chain_output.parts(whole)
        assert "".join("".join(each.text for each in found).split()) == "".join(whole.split())
        for each in found[:3]:
            alike = tuple(part for part in found if part.slug == each.slug)
            assert not each.slug or chain_output.find_parts(whole, each.slug, "101") == alike
            assert all(code in with_newlines(each.text, "\n") or "\r" in each.text for code in each.code)


@given(any_text)
def test_any_file_can_be_judged(text: str) -> None:
    """What is missing is told of every text, damaged ones too, each thing in one line."""
    state = read_state(parse(text), "101")
    assert all("\n" not in gap.words and gap.words for gap in completion_checks.gaps_in(state, require_command=True))
    assert all(each.path.strip() and "\n" not in each.path for each in chain_output.named_files(state))


@given(st.binary(max_size=3000) | outside.map(str.encode))
@example(b"\x1b[31mred\x1b[0m \x1b]0;t\x07 \x9b31m")
def test_tail_of_any_log_is_harmless(log: bytes) -> None:
    """The end of a log is short, and holds nothing that a terminal would obey or the format would refuse."""
    tail = CommandResult("c", 0, log).tail()
    assert len(tail) <= 500
    assert not re.search(CONTROLS, tail)
    assert not tail.strip() or escaping.clean(tail, what="the tail")


# What is drawn


@st.composite
def drawn(draw: st.DrawFn) -> list[GraphTask]:
    """Return tasks with any titles, whose chains may run in circles and lead to tasks that are not there."""
    ids = [f"t{number}" for number in range(draw(st.integers(0, 6)))]
    some = st.lists(st.sampled_from([*ids, "gone", "T1"]), max_size=3).map(tuple)
    return [GraphTask(each, draw(titles), draw(states), draw(some), draw(st.sampled_from(["", *ids]))) for each in ids]


NODE = r'  (t\d+)\["((?:[\w .,:()+/=@\'!?-]|#\d+;)*)"\]:::(\w+)'
STRING = r'"((?:[^"\\]|\\["\\])*)"'


def plain(title: str) -> str:
    """Return a title as it is drawn: on one line, what cannot be printed replaced."""
    return "".join(char if char.isprintable() else "\ufffd" for char in " ".join(title.split()))


def label(task: GraphTask) -> str:
    """Return what stands in a task's node."""
    return " ".join(filter(None, [f"#{task.id}", plain(task.title), f"({task.status or 'unknown'})"]))


@given(drawn())
def test_mermaid_holds_every_title_as_text(tasks: list[GraphTask]) -> None:
    """Each task is one node whose label is its title, each chain one arrow between two nodes; nothing else is there."""
    graph = Graph(tasks)
    head, *lines = as_mermaid(graph).split("\n")
    nodes = [re.fullmatch(NODE, line) for line in lines[: len(graph.tasks)]]
    arrows, classes = lines[len(nodes) : -6], lines[-6:]  # one of each status, and `unknown`
    assert head == "flowchart LR"
    assert all(line.startswith("  classDef ") for line in classes)
    told = [re.sub(r"#(\d+);", lambda match: chr(int(match[1])), node[2]) for node in nodes if node]
    assert told == [label(task) for task in graph.tasks.values()]
    assert all(re.fullmatch(r"  t\d+ (-->|-\.->) t\d+", arrow) for arrow in arrows)
    assert len(arrows) == len(graph.chains) + len(graph.parts)


@given(drawn())
def test_dot_holds_every_title_as_text(tasks: list[GraphTask]) -> None:
    """The same: every string closes where it should, and reads as what went into it."""
    graph = Graph(tasks)
    lines = as_dot(graph).split("\n")
    assert (lines[0], lines[-1]) == ("digraph tasks {", "}")
    nodes = lines[3 : 3 + len(graph.tasks)]
    for line, task in zip(nodes, graph.tasks.values(), strict=True):
        found = re.fullmatch(rf"  {STRING} \[label={STRING}, fillcolor={STRING}\];", line)
        assert found
        read = [re.sub(r"\\(.)", r"\1", each).replace("&amp;", "&") for each in found.groups()[:2]]
        assert read == [task.id, label(task)]
    arrows = lines[3 + len(nodes) : -1]
    assert all(re.fullmatch(rf"  {STRING} -> {STRING}(?: \[style=dotted\])?;", line) for line in arrows)
    assert len(arrows) == len(graph.chains) + len(graph.parts)


@given(drawn())
def test_text_shows_every_task_and_every_chain(tasks: list[GraphTask]) -> None:
    """Each task stands once with what waits for it, and each chain has a line of its own; circles end."""
    graph = Graph(tasks)
    lines = [line for line in as_text(graph).split("\n") if not line.startswith("circle: ")]
    roots = [line for line in lines if not line.startswith(" ")]
    assert len(lines) == len(roots) + len(graph.chains) or not tasks
    circles = graph.circles()
    for circle in circles:
        assert (circle[0], len(circle) > 1) == (circle[-1], True)
    named = {(down.casefold(), up.casefold()) for circle in circles for down, up in pairwise(circle)}
    known = DependencyGraph(lambda key: tuple(each.casefold() for each in graph.tasks[key].depends_on))
    assert named == {(down, up) for up, down in graph.chains if known.shortest_path(up, down)}


# What comes next


def _glances(chains: Sequence[tuple[int, ...]], told: Sequence[tuple[str, str]]) -> list[IndexedTask]:
    """Return tasks that depend on one another by their numbers."""
    return [
        IndexedTask("", f"{n}", str(n), "", status, priority, "", "task", "", " ".join(map(str, chains[n])), "")
        for n, (status, priority) in enumerate(told)
    ]


six = st.lists(st.tuples(states, st.sampled_from(["", "P0", "P3"])), min_size=6, max_size=6)
any_chains = st.lists(st.lists(st.integers(0, 7), max_size=3).map(tuple), min_size=6, max_size=6)
downward = st.tuples(*(st.lists(st.integers(0, max(n - 1, 0)), max_size=3 if n else 0).map(tuple) for n in range(6)))


@given(any_chains, six)
def test_every_open_task_is_ready_or_waits(chains: list[tuple[int, ...]], told: list[tuple[str, str]]) -> None:
    """No open task is forgotten or told twice, and only what waits for nothing is ready."""
    tasks = _glances(chains, told)
    order = in_order(tasks).ready
    ready, waiting = [each.task.id for each in order], [each.task.id for each in waiting_of(tasks)]
    assert sorted(ready + waiting) == [task.id for task in tasks if task.status not in CLOSED]
    for each in ready:
        assert all(number < 6 and told[number][0] == "complete" for number in chains[int(each)])
    ranks = [(each.task.priority or "P9", -each.unblocks, each.task.status != "in_progress") for each in order]
    assert ranks == sorted(ranks)


@given(downward, six)
def test_waiting_tasks_are_counted_once(chains: tuple[tuple[int, ...], ...], told: list[tuple[str, str]]) -> None:
    """For each task as many wait as a plain search finds, open ones through open ones; both ways of counting agree."""
    tasks = [task for task in _glances(chains, told) if task.status not in CLOSED]
    below = {task.id: [each.id for each in tasks if task.id in each.depends_on] for task in tasks}
    below = {key: keys for key, keys in below.items() if keys}
    counts, sums = dependent_counts(tasks, below), dependent_counts_by_bits(below)
    for task in tasks:
        reached: set[str] = set()
        following = [task.id]
        while following:
            more = set(below.get(following.pop(), ())) - reached
            reached |= more
            following += more
        assert counts[task.id] == sums.get(task.id, 0) == len(reached)

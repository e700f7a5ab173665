"""Draws the dependency graph of tasks as text, Mermaid and DOT.

Pure, and linear in the number of tasks and chains, cycles included. Titles are arbitrary text, so each format escapes
them.
"""

from __future__ import annotations

import re
from itertools import pairwise

from taskstate.model.algorithms import DependencyGraph
from taskstate.model.names import id_key
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

_MARKS = {CREATED: "[ ]", IN_PROGRESS: "[~]", BLOCKED: "[!]", COMPLETE: "[x]", DROPPED: "[-]"}
_UNKNOWN = "[?]"
_COLOURS = {
    CREATED: "#eceff1",
    IN_PROGRESS: "#bbdefb",
    BLOCKED: "#ffcdd2",
    COMPLETE: "#c8e6c9",
    DROPPED: "#bdbdbd",
}
_NO_COLOUR = "#ffffff"
MAX_CIRCLES = 100  # reported ones: each costs a search
_MAX_INDENT = 16  # levels shown by indentation, so that lines of a very long chain stay readable
# Characters that Mermaid would read as markup, as the beginning of an entity, or as the end of the label.
_MERMAID = r"[^\w .,:()+/=@'!?-]"


class GraphTask(NamedTuple):
    """A task in the graph; an empty `status` means that it does not exist or cannot be read."""

    id: str
    title: str = ""
    status: str = ""
    depends_on: tuple[str, ...] = ()
    parent: str = ""


class Graph:
    """Tasks and the chains between them; an upstream task that is not known becomes a task without a status."""

    def __init__(self, tasks: Iterable[GraphTask]) -> None:
        by_key = {task.id.casefold(): task for task in tasks}
        for task in tuple(by_key.values()):
            for each in (*task.depends_on, *filter(None, [task.parent])):
                by_key.setdefault(each.casefold(), GraphTask(each))
        self.tasks: Mapping[str, GraphTask] = dict(sorted(by_key.items(), key=lambda item: id_key(item[1].id)))
        pairs = ((up.casefold(), key) for key, task in self.tasks.items() for up in task.depends_on)
        self.chains = tuple(dict.fromkeys(pairs))
        self.parts = tuple((task.parent.casefold(), key) for key, task in self.tasks.items() if task.parent)
        self.below: dict[str, list[str]] = {key: [] for key in self.tasks}
        for up, down in self.chains:
            self.below[up].append(down)

    def without(self, keys: Collection[str]) -> Graph:
        """Return the graph without the tasks with these case-folded ids, and without what leads to them."""
        return Graph(
            task._replace(
                depends_on=tuple(each for each in task.depends_on if each.casefold() not in keys),
                parent="" if task.parent.casefold() in keys else task.parent,
            )
            for key, task in self.tasks.items()
            if key not in keys
        )

    def related_to(self, ids: Iterable[str]) -> Graph:
        """Return the graph of these tasks with all that they build on and all that builds on them."""
        above = {key: [each.casefold() for each in task.depends_on] for key, task in self.tasks.items()}
        keys = [each.casefold() for each in ids]
        related = {*_reached(keys, above), *_reached(keys, self.below)}
        family = {one for pair in self.parts if related.intersection(pair) for one in pair}
        kept = related | family
        return Graph(
            task._replace(
                depends_on=tuple(each for each in task.depends_on if each.casefold() in related),
                parent=task.parent if key in family and task.parent.casefold() in kept else "",
            )
            for key, task in self.tasks.items()
            if key in kept
        )

    def circles(self) -> tuple[tuple[str, ...], ...]:
        """Return circular dependencies: for each chain in a cycle, a shortest cycle through it, up to a limit."""
        dependencies = DependencyGraph(lambda key: self.tasks[key].depends_on)
        circles: list[tuple[str, ...]] = []
        reported: set[tuple[str, str]] = set()
        for up, down in self.chains:
            path = () if (down, up) in reported else dependencies.shortest_path(up, down)
            if path:
                circle = (down, *(each.casefold() for each in path))
                reported.update(pairwise(circle))
                circles.append(tuple(self.tasks[each].id for each in circle))
            if len(circles) == MAX_CIRCLES:
                break
        return tuple(circles)


def _reached(start: Iterable[str], following: Mapping[str, list[str]]) -> set[str]:
    reached = set(start)
    waiting = list(reached)
    while waiting:
        for each in following.get(waiting.pop(), ()):
            if each not in reached:
                reached.add(each)
                waiting.append(each)
    return reached


# Text


def as_text(graph: Graph) -> str:
    """Return the graph as a tree: below each task those that wait for it; a repeated task is not expanded again."""
    lines = list(_tree(graph))
    circles = graph.circles()
    lines += [f"circle: {' → '.join(map(_printable, circle))}" for circle in circles]
    lines += ["there may be more circles"] if len(circles) == MAX_CIRCLES else []
    return "\n".join(lines) or "no tasks"


def _tree(graph: Graph) -> Iterator[str]:
    waiting_for = {down for _, down in graph.chains}
    roots = [key for key in graph.tasks if key not in waiting_for]
    shown: set[str] = set()
    for root in (*roots, *graph.tasks):  # a second pass for tasks in a cycle, which have no root
        if root in shown:
            continue
        path = [(root, 0)]
        while path:
            key, depth = path.pop()
            again = key in shown
            yield _line(graph.tasks[key], depth, again=again and bool(graph.below[key]))
            if not again:
                shown.add(key)
                path += [(each, depth + 1) for each in reversed(graph.below[key])]


def _line(task: GraphTask, depth: int, *, again: bool) -> str:
    deep = f"({depth}) " if depth > _MAX_INDENT else ""
    part = f" (part of {_printable(task.parent)})" if task.parent else ""
    title = _printable(task.title) if task.status else "there is no such task, or it cannot be read"
    remark = " (see above)" if again else part
    mark = _MARKS.get(task.status, _UNKNOWN)
    line = f"{'  ' * min(depth, _MAX_INDENT)}{deep}{mark} {_printable(task.id)}  {title}{remark}"
    return line.rstrip()


# Mermaid and DOT


def as_mermaid(graph: Graph) -> str:
    """Return the graph in Mermaid; dotted arrows lead from a task to its subtasks."""
    names = {key: f"t{number}" for number, key in enumerate(graph.tasks)}
    lines = ["flowchart LR"]
    lines += [
        f'  {names[key]}["{mermaid_label(_label(task))}"]:::{task.status if task.status in _COLOURS else "unknown"}'
        for key, task in graph.tasks.items()
    ]
    lines += [f"  {names[up]} --> {names[down]}" for up, down in graph.chains]
    lines += [f"  {names[up]} -.-> {names[down]}" for up, down in graph.parts]
    lines += [f"  classDef {status} fill:{colour},stroke:#546e7a" for status, colour in _COLOURS.items()]
    return "\n".join([*lines, f"  classDef unknown fill:{_NO_COLOUR},stroke:#c62828,stroke-dasharray:4"])


def mermaid_label(text: str) -> str:
    """Return a text for a quoted Mermaid label; possible markup becomes numeric entities."""
    return re.sub(_MERMAID, lambda match: f"#{ord(match[0])};", _printable(text))


def as_dot(graph: Graph) -> str:
    """Return the graph in Graphviz DOT; dotted arrows lead from a task to its subtasks."""
    lines = ["digraph tasks {", "  rankdir=LR;", "  node [shape=box, style=filled];"]
    for task in graph.tasks.values():
        colour = _COLOURS.get(task.status, _NO_COLOUR)
        lines.append(f"  {dot_string(task.id)} [label={dot_string(_label(task))}, fillcolor={dot_string(colour)}];")
    for pairs, style in ((graph.chains, ""), (graph.parts, " [style=dotted]")):
        lines += [f"  {_dot_name(graph, up)} -> {_dot_name(graph, down)}{style};" for up, down in pairs]
    return "\n".join([*lines, "}"])


def _dot_name(graph: Graph, key: str) -> str:
    return dot_string(graph.tasks[key].id)


def dot_string(text: str) -> str:
    """Return a text as a quoted DOT string."""
    # Graphviz expands entities in labels and escapes such as \n and \N, so both are escaped.
    return '"' + _printable(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") + '"'


def _label(task: GraphTask) -> str:
    status = task.status or "unknown"
    return " ".join(filter(None, [f"#{task.id}", task.title, f"({status})"]))


def _printable(text: str) -> str:
    """Return a text on one line, without control characters."""
    return "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))

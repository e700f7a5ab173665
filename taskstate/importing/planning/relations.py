"""Turns the references of a source into ids: dependencies, parents and subtasks, none of which closes a circle."""

from __future__ import annotations

from collections import defaultdict

from taskstate.model import names
from taskstate.model.algorithms import DependencyGraph
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from taskstate.importing.planning.tasks import Said, Task


class Relations:
    """The references between the tasks of a run; which of them are not written is `said`."""

    def __init__(self, tasks: Sequence[Task], resolved: Callable[[str], str], said: Said) -> None:
        self.tasks, self.resolved, self.said = tasks, resolved, said
        self._lost: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    def related(self) -> list[Task]:
        """Return the tasks with their references as ids; what is unknown, or would close a circle, is kept and told."""
        parents, edges = self._parents(), self._edges()
        children: defaultdict[str, list[str]] = defaultdict(list)
        for child, above in parents.items():
            children[above].append(child)
        titles = {task.id: task.title for task in self.tasks if task.record.is_epic}
        epics: dict[str, str] = {}
        return [
            task._replace(
                depends_on=tuple(sorted(edges[task.id], key=names.id_key)),
                parent=parents.get(task.id, ""),
                subtasks=tuple(sorted(children[task.id], key=names.id_key)),
                values={"epic": _epic(task.id, parents, titles, epics), **{k: v for k, v in task.values.items() if v}},
                fields={**task.fields, **self._lost[task.id]},
            )
            for task in self.tasks
        ]

    def _parents(self) -> dict[str, str]:
        """Return the parent of each task that has one, whether it names the parent or the parent names it."""
        ids = {task.id for task in self.tasks}
        parents: dict[str, str] = {}
        tops: dict[str, str] = {}
        for task in self.tasks:
            wanted = [(task.id, task.parent)] if task.parent else []
            wanted += [(self.resolved(child) or child, task.id) for child in task.subtasks]
            for child, parent in wanted:
                above = self.resolved(parent) or (parent if parent in ids else "")
                if child not in ids or not above:
                    self._lose(task, child if above else parent, "parent" if child == task.id else "subtask")
                elif child not in parents and _top(above, tops) != child:
                    parents[child] = tops[child] = above
                elif parents.get(child) != above:
                    self._lose(task, parent if child == task.id else child, "parent", circle=True)
        return parents

    def _edges(self) -> dict[str, dict[str, None]]:
        """Return the dependencies of each task in the order of the source, without those that close a circle."""
        targets = {task.id: {text: self.resolved(text) for text in task.depends_on} for task in self.tasks}
        by_key = {task_id.casefold(): tuple(filter(None, each.values())) for task_id, each in targets.items()}
        graph = DependencyGraph(lambda key: by_key.get(key, ()))
        edges: dict[str, dict[str, None]] = {task.id: {} for task in self.tasks}
        needed = set[str]()  # to a task that none needs so far no path leads: of a long ring one edge is searched for
        for task in self.tasks:
            for text, target in targets[task.id].items():
                if not target:
                    self._lose(task, text, "dependency")
                elif target == task.id or (
                    task.id in needed and graph.in_one_cycle(task.id, target) and _reaches(target, task.id, edges)
                ):
                    self._lose(task, text, "dependency", circle=True)
                else:
                    edges[task.id][target] = None
                    needed.add(target)
        return edges

    def _lose(self, task: Task, text: str, what: str, *, circle: bool = False) -> None:
        """Tell of a reference that is not written, and keep it under Notes."""
        why = f"{what} {text} of {task.record.id} " + ("would close a circle" if circle else "is not among the tasks")
        self.said.tell("circular" if circle else f"unknown-{what}", f"{why}: kept under Notes", task.record)
        self._lost[task.id][f"{what} in a circle" if circle else f"{what} not here"].append(text)


def _reaches(begin: str, end: str, edges: Mapping[str, Iterable[str]]) -> bool:
    """Return whether dependencies lead from one task to another, or the two are one."""
    seen, following = {begin}, [begin]
    while following:
        each = following.pop()
        if each == end:
            return True
        new = [other for other in edges.get(each, ()) if other not in seen]
        seen.update(new)
        following += new
    return False


def _top(task_id: str, tops: dict[str, str]) -> str:
    """Return the highest task above one, or itself; `tops` leads there, and in fewer steps from then on."""
    path = []
    while task_id in tops:
        path.append(task_id)
        task_id = tops[task_id]
    tops.update(dict.fromkeys(path, task_id))
    return task_id


def _epic(task_id: str, parents: Mapping[str, str], titles: Mapping[str, str], known: dict[str, str]) -> str:
    """Return the title of the highest task above one that the source calls an epic; `titles` has all of these."""
    path = []
    while task_id in parents and task_id not in known:
        path.append(task_id)
        task_id = parents[task_id]
    epic = known.get(task_id, "")
    for each in reversed(path):
        epic = known[each] = epic or titles.get(parents[each], "")
    return epic

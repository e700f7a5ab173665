"""Turns the references of a source into ids: dependencies, parents and subtasks, none of which closes a circle."""

from __future__ import annotations

from taskstate.importing.records import Told
from taskstate.model import names
from taskstate.model.algorithms import DependencyGraph
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from taskstate.importing.planning.tasks import Task


class Relations:
    """The references between the tasks of a run; `told` says which of them are not written."""

    def __init__(self, resolved: Callable[[str], str]) -> None:
        self.resolved = resolved
        self.told: list[Told] = []

    def related(self, tasks: Sequence[Task]) -> list[Task]:
        """Return tasks with their references as ids; what is unknown, or would close a circle, is kept and told."""
        by_id = {each.id: each for each in tasks}
        parents: dict[str, str] = {}
        for task in tasks:
            wanted = [(task.id, task.parent)] if task.parent else []
            wanted += [(self.resolved(child) or child, task.id) for child in task.subtasks]
            for child, parent in wanted:
                above = self.resolved(parent) or (parent if parent in by_id else "")
                if child not in by_id or not above:
                    self._unknown(
                        by_id, task, parent if above == "" else child, "parent" if child == task.id else "subtask"
                    )
                elif child not in parents and child not in (above, *_above(above, parents)):
                    parents[child] = above
                elif parents.get(child) != above:
                    self._unknown(by_id, task, parent if child == task.id else child, "parent", circle=True)
        children: dict[str, list[str]] = {}
        for child, above in parents.items():
            children.setdefault(above, []).append(child)
        edges = self._edges(tasks, by_id)
        return [
            by_id[task.id]._replace(
                depends_on=tuple(sorted(edges[task.id], key=names.id_key)),
                parent=parents.get(task.id, ""),
                subtasks=tuple(sorted(children.get(task.id, ()), key=names.id_key)),
                epic=task.epic or _epic(task.id, parents, by_id),
            )
            for task in tasks
        ]

    def _edges(self, tasks: Sequence[Task], by_id: dict[str, Task]) -> dict[str, list[str]]:
        """Return the dependencies of each task in the order of the source, without those that close a circle."""
        edges: dict[str, list[str]] = {task.id: [] for task in tasks}
        wanted = {task.id.casefold(): tuple(filter(None, map(self.resolved, task.depends_on))) for task in tasks}
        graph = DependencyGraph(lambda key: wanted.get(key, ()))
        for task in tasks:
            for text in dict.fromkeys(task.depends_on):
                target = self.resolved(text)
                if not target:
                    self._unknown(by_id, task, text, "dependency")
                elif target == task.id or (graph.is_circular(target, task.id) and _reaches(target, task.id, edges)):
                    self._unknown(by_id, task, text, "dependency", circle=True)
                elif target not in edges[task.id]:
                    edges[task.id].append(target)
        return edges

    def _unknown(self, by_id: dict[str, Task], task: Task, text: str, what: str, *, circle: bool = False) -> None:
        """Tell of a reference that is not written, and keep it under Notes."""
        code = "circular" if circle else f"unknown-{what}"
        why = f"{what} {text} of {task.record.id} " + ("would close a circle" if circle else "is not among the tasks")
        self.told.append(Told(code, f"{why}: kept under Notes", task.record.place))
        now = by_id[task.id]
        key = f"{what} not here" if not circle else f"{what} in a circle"
        before = now.fields.get(key)
        fields = {**now.fields, key: [*(before if isinstance(before, list) else ()), text]}
        by_id[task.id] = now._replace(fields=fields)


def _reaches(begin: str, end: str, edges: Mapping[str, Sequence[str]]) -> bool:
    """Return whether dependencies lead from one task to another."""
    seen, following = {begin}, [begin]
    while following:
        each = following.pop()
        if each == end:
            return True
        new = [other for other in edges.get(each, ()) if other not in seen]
        seen.update(new)
        following += new
    return False


def _above(task_id: str, parents: Mapping[str, str]) -> Iterator[str]:
    """Yield the tasks above one, the nearest first."""
    while task_id := parents.get(task_id, ""):
        yield task_id


def _epic(task_id: str, parents: Mapping[str, str], by_id: Mapping[str, Task]) -> str:
    """Return the title of the highest task above one that the source calls an epic."""
    epics = [by_id[each].title for each in _above(task_id, parents) if each in by_id and by_id[each].record.is_epic]
    return epics[-1] if epics else ""

"""References become dependencies, but for those that close a circle; a long chain takes as long as its tasks."""

from __future__ import annotations

import pytest

from taskstate.importing.planning import relations
from taskstate.importing.planning.relations import Relations
from taskstate.importing.planning.tasks import Rules, Said, Task
from taskstate.importing.records import Place, Record
from taskstate.model.statuses import CREATED


def _tasks(depends_on: dict[str, tuple[str, ...]]) -> list[Task]:
    return [
        Task(Record(name, name, Place(f"{name}.md"), ""), name, "", name, CREATED, depends_on=upstream)
        for name, upstream in depends_on.items()
    ]


def _related(depends_on: dict[str, tuple[str, ...]]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the dependencies that are written, and the codes of those that are not."""
    said = Said(Rules("json"))
    related = Relations(_tasks(depends_on), lambda text: text if text in depends_on else "", said).related()
    return {each.id: each.depends_on for each in related}, [each.code for each in said.told]


@pytest.mark.parametrize(
    ("given", "written", "told"),
    [
        ({"a": ("b",), "b": ("c",), "c": ()}, {"a": ("b",), "b": ("c",), "c": ()}, []),
        ({"a": ("b",), "b": ("a",)}, {"a": ("b",), "b": ()}, ["circular"]),
        ({"a": ("a", "b"), "b": ()}, {"a": ("b",), "b": ()}, ["circular"]),
        (
            {"a": ("b",), "b": ("c",), "c": ("a", "d"), "d": ()},
            {"a": ("b",), "b": ("c",), "c": ("d",), "d": ()},
            ["circular"],
        ),
        ({"a": ("gone", "b", "b"), "b": ()}, {"a": ("b",), "b": ()}, ["unknown-dependency"]),
    ],
)
def test_only_what_closes_a_circle_is_left_out(
    given: dict[str, tuple[str, ...]], written: dict[str, tuple[str, ...]], told: list[str]
) -> None:
    """The others are written, in natural order and once; each that is not is told with its reason."""
    assert _related(given) == (written, told)


def test_no_walk_along_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is circular, no dependency is followed: ten thousand tasks in a row would be walked through."""
    monkeypatch.setattr(relations, "_reaches", None)
    chain: dict[str, tuple[str, ...]] = {str(each): (str(each - 1),) if each else () for each in range(10_000)}
    assert _related(chain) == (chain, [])


class _Compared(str):
    """A text that counts how often it is compared."""

    times = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        """Return what a text returns."""
        _Compared.times += 1
        return str.__eq__(self, other)


def test_many_dependencies_of_one_task_are_not_compared_with_each_other() -> None:
    """Of one task with thousands of them the time would grow with the square of their number."""
    depends_on: dict[str, tuple[str, ...]] = {"all": tuple(_Compared(each) for each in range(1_000))}
    assert len(_related(depends_on | {str(each): () for each in range(1_000)})[0]["all"]) == 1_000
    assert _Compared.times < 50_000

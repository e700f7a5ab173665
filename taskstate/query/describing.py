"""Says which questions there are, and which tables, as JSON values and as a text."""

from __future__ import annotations

from taskstate.query import questions, tables
from taskstate.typed import TYPE_CHECKING
from taskstate.views import layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Shapes = Sequence[Mapping[str, object]]


def question_shapes() -> Shapes:
    """Return the ready-made questions."""
    return [
        {
            "name": each.name,
            "question": each.about,
            "parameters": [parameter._asdict() for parameter in each.parameters],
        }
        for each in map(questions.question, questions.names())
    ]


def table_shapes(name: str | None) -> Shapes:
    """Return the tables, or the columns of one.

    Raises:
        TaskstateError: code "usage": there is no such table.
    """
    every = tables.tables()
    if name is None:
        return [{"table": each, "about": table.about, "key": [*table.key]} for each, table in every.items()]
    if name not in every:
        raise questions.unknown("table", name, every, "--schema")
    columns = every[name].columns.items()
    return [{"column": column, "type": each.type, "about": each.about} for column, each in columns]


def text_of(shapes: Shapes, width: int) -> str:
    """Return questions, tables or columns as a text, a line each."""
    rows = [[*map(_cell, each.values())] for each in shapes]
    return layout.lines_of(layout.table([[head.upper() for head in shapes[0]], *rows], width))


def _cell(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    return ", ".join(each if isinstance(each, str) else f"{each['name']}={each['default']}" for each in value)

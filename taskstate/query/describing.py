"""Says which questions there are, and which tables: for the command, and for the page of the documentation."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.query import questions, tables
from taskstate.typed import TYPE_CHECKING
from taskstate.views import layout

if TYPE_CHECKING:
    from taskstate.query.questions import Question


def question_shapes() -> list[dict[str, object]]:
    """Return the ready-made questions as JSON values."""
    return [
        {
            "name": each.name,
            "question": each.about,
            "parameters": [parameter._asdict() for parameter in each.parameters],
        }
        for each in map(questions.question, questions.names())
    ]


def question_list(width: int) -> str:
    """Return the ready-made questions with what they take, as a text."""
    every = [*map(questions.question, questions.names())]
    return layout.lines_of(layout.table([["QUESTION", "ASKS", "TAKES"], *map(_row, every)], width))


def _row(each: Question) -> list[str]:
    return [each.name, each.about, ", ".join(f"{name}={default}" for name, default, _ in each.parameters)]


def table_shapes(name: str | None) -> list[dict[str, object]]:
    """Return the tables, or the columns of one, as JSON values.

    Raises:
        TaskstateError: code "usage": there is no such table.
    """
    if name is None:
        return [{"table": each, "about": table.about, "key": [*table.key]} for each, table in tables.tables().items()]
    if name not in tables.tables():
        near = closest(name, tables.tables())
        help_ = f"did you mean {near}? " if near else ""
        listed = "`taskstate query --schema` lists the tables"
        raise TaskstateError(f"there is no table {name!r}", help=f"{help_}{listed}", code="usage")
    columns = tables.tables()[name].columns.items()
    return [{"column": column, "type": each.type, "about": each.about} for column, each in columns]


def table_list(name: str | None, width: int) -> str:
    """Return the tables, or the columns of one, as a text."""
    shapes = table_shapes(name)
    heads = [*shapes[0]]
    rows = [[" ".join(value) if isinstance(value, list) else str(value) for value in each.values()] for each in shapes]
    return layout.lines_of(layout.table([[head.upper() for head in heads], *rows], width))

"""The tables that questions are asked of, as data: from here come their DDL, the types of rows, and the reference.

The data is `templates/query/tables.json`. A column of type TIMESTAMP has another one beside it, with `_text` behind its
name: it holds what a file says where that is no time.
"""

from __future__ import annotations

import json
from functools import cache

from taskstate import resources
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    Row: TypeAlias = dict[str, object]  # values by column

TIMESTAMP = "TIMESTAMP"
# What these hold is not said by the file alone: they are made when a question names them.
OF_REPOSITORY = ("repos", "lint")


class Column(NamedTuple):
    """A column: its type in SQL, and what it holds."""

    type: str
    about: str


class Table(NamedTuple):
    """A table: what it has a row for, the columns that tell its rows apart, and all columns by name."""

    about: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]


def version() -> int:
    """Return the version of the tables: an index with another one is made again."""
    return int(_data()["version"])


@cache
def tables() -> Mapping[str, Table]:
    """Return the tables by name."""
    found = {}
    for name, each in _data()["tables"].items():
        columns: dict[str, Column] = {}
        for column, (type_, about) in each["columns"].items():
            columns[column] = Column(type_, about)
            if type_ == TIMESTAMP:
                told = f"what the file says for `{column}` where that is not a time"
                columns[f"{column}_text"] = Column("VARCHAR", told)
        found[name] = Table(each["about"], tuple(each["key"]), columns)
    return found


@cache
def of_files() -> Mapping[str, Table]:
    """Return the tables whose rows follow from the text of one file."""
    return {name: table for name, table in tables().items() if name not in OF_REPOSITORY}


def types(name: str) -> dict[str, str]:
    """Return the types of a table's columns by name, as `read_json` takes them."""
    return {column: each.type for column, each in tables()[name].columns.items()}


def create(name: str, columns: Mapping[str, str] | None = None) -> str:
    """Return the statement that creates a table."""
    listed = ", ".join(f'"{column}" {type_}' for column, type_ in (columns or types(name)).items())
    return f"CREATE TABLE {name} ({listed})"


@cache
def _data() -> Any:  # noqa: ANN401 - as the file has it
    return json.loads(resources.text("templates/query/tables.json"))

"""Answers as text: a table for people, and CSV, JSON and NDJSON for programs. Times are UTC, and texts are escaped."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from math import isfinite

from taskstate.exporting.rows import as_csv, guarded
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING
from taskstate.views import layout

if TYPE_CHECKING:
    from typing import Any

    from taskstate.query.engine import Answer

TABLE, CSV, JSON, NDJSON, PARQUET = FORMATS = ("table", "csv", "json", "ndjson", "parquet")
UNFOLDED = 10**9  # columns, where nobody reads it on a terminal


def text_of(answer: Answer, width: int) -> str:
    """Return an answer as a table in so many columns."""
    if not answer.rows:
        return ""
    rows = [[one_line(_cell(value)) for value in row] for row in answer.rows]
    return layout.lines_of(layout.table([[*map(one_line, answer.columns)], *rows], width))


def as_bytes(answer: Answer, form: str) -> bytes:
    """Return an answer as a table, CSV, JSON or NDJSON."""
    if form == TABLE:
        text = text_of(answer, UNFOLDED) + "\n"
    elif form == CSV:
        rows = [[guarded(_cell(value)) if _is_text(value) else _cell(value) for value in row] for row in answer.rows]
        text = as_csv([[*map(guarded, answer.columns)], *rows])
    elif form == JSON:
        text = json.dumps(shape_of(answer), ensure_ascii=False, indent=2) + "\n"
    else:
        text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in shape_of(answer))
    return text.encode("utf-8", "replace")


def shape_of(answer: Answer, *, is_exact: bool = False) -> list[dict[str, object]]:
    """Return an answer as JSON values, an object a row; an exact decimal is a text, which has all its digits."""
    rows = [
        [str(each) if is_exact and isinstance(each, Decimal) else plain(each) for each in row] for row in answer.rows
    ]
    return [dict(zip(answer.columns, row, strict=True)) for row in rows]


def plain(value: Any) -> Any:  # noqa: ANN401 - whatever DuckDB returns
    """Return a value of DuckDB as JSON has it: times as texts, numbers as numbers, bytes in hexadecimal digits."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(each) for each in value]
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        return value.hex()
    is_json = value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    return value if is_json else str(value)


def _cell(value: Any) -> str:  # noqa: ANN401 - whatever DuckDB returns
    shown = plain(value)
    if shown is None:
        return ""
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def _is_text(value: object) -> bool:
    return not isinstance(value, bool | int | float | Decimal)

"""Answers as text: a table for people, and CSV, JSON and NDJSON for programs. Times are UTC, and texts are escaped."""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal

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
    """Return an answer as CSV, JSON or NDJSON."""
    if form == CSV:
        rows = [[guarded(_cell(value)) if _is_text(value) else _cell(value) for value in row] for row in answer.rows]
        return as_csv([[*map(guarded, answer.columns)], *rows]).encode("utf-8", "replace")
    shapes = shape_of(answer)
    if form == JSON:
        return (json.dumps(shapes, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in shapes).encode("utf-8", "replace")


def shape_of(answer: Answer) -> list[dict[str, object]]:
    """Return an answer as JSON values: an object a row."""
    return [dict(zip(answer.columns, map(plain, row), strict=True)) for row in answer.rows]


def exact_shape_of(answer: Answer) -> list[dict[str, object]]:
    """Return an answer as JSON values of which each has all its digits: a decimal is a text."""
    rows = [[str(value) if isinstance(value, Decimal) else plain(value) for value in row] for row in answer.rows]
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
    return str(value) if isinstance(value, date | time | timedelta) or not _is_json(value) else value


def _is_json(value: object) -> bool:
    is_finite = not isinstance(value, float) or value - value == 0
    return value is None or (isinstance(value, bool | int | float | str) and is_finite)


def _cell(value: Any) -> str:  # noqa: ANN401 - whatever DuckDB returns
    shown = plain(value)
    if shown is None:
        return ""
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def _is_text(value: object) -> bool:
    return not isinstance(value, bool | int | float | Decimal)

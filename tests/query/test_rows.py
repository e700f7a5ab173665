"""The rows of one file: what the tables hold, that nothing else is in them, and that no credential is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from taskstate.query import tables
from taskstate.query.rows import MOST_TEXT, FileText, ndjson, rows_of, time_of

STATES = sorted((Path(__file__).parents[1] / "cases" / "states").glob("*.md"))
STATE, ARCHIVE = "task-1-state.md", "archives/task-1-archive.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ESCAPED = TOKEN.replace("g", chr(92) + "u0067", 1)
PASSWORD = "Tr0ub4dor" + "-x7Q9kz2W"
TYPES = {"VARCHAR": str, "BIGINT": int, "BOOLEAN": bool, "TIMESTAMP": str}


def _rows(text: str, path: str = STATE, **more: Any) -> dict[str, list[dict[str, object]]]:  # noqa: ANN401 - fields
    return {**rows_of(FileText("r", path, text.encode(), **more))}


@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_rows_are_those_of_the_tables(path: Path) -> None:
    """Whatever a file holds, a row has only columns of its table, with values of their types, and a key of its own."""
    found = _rows(path.read_text(encoding="utf-8"))
    assert found.keys() == tables.of_files().keys()
    for name, rows in found.items():
        table = tables.tables()[name]
        for row in rows:
            assert not row.keys() - table.columns.keys(), name
            for column, value in row.items():
                assert value is None or type(value) is TYPES[table.columns[column].type], (name, column, value)
        keys = [tuple(row[column] for column in table.key) for row in rows]
        assert len(set(keys)) == len(keys)
    assert len(found["files"]) == 1


def test_the_cases_fill_every_column() -> None:
    """No column stays empty in all cases: what none of them has is named here, so that no reader of it is forgotten."""
    seen: dict[str, set[str]] = {name: set() for name in tables.of_files()}
    texts = [(STATE, path.read_text(encoding="utf-8")) for path in STATES]
    texts.append(
        (
            ARCHIVE,
            ARCHIVED,
        )
    )
    texts.append(("handoffs/task-1/phase-2-handoff-20260603T080000Z.md", HANDOFF))
    texts.append((STATE, EVERYTHING))
    for path, text in texts:
        for name, rows in _rows(text, path).items():
            seen[name] |= {column for row in rows for column, value in row.items() if value is not None}
    empty = {
        (name, column)
        for name, table in tables.of_files().items()
        for column in table.columns
        if column not in seen[name] and not column.endswith("_text")
    }
    assert empty == {("files", "blob")}


ARCHIVED = """# Archive of task 1

## Session 1 - 2026-01-31 10:00

**What I did:** x

---

Archived on: 2026-06-11T09:00:00Z
Reason: size
Sessions archived: 1-1
"""
HANDOFF = """---
task_id: "1"
phase: "2"
status: accepted
created_at: "2026-06-03T08:00:00Z"
accepted_at: "2026-06-04T08:00:00Z"
verified: {git_head: "0000000000000000000000000000000000000001", sessions: 3}
---
"""
EVERYTHING = """---
taskstate: 1
task_id: "1"
title: One
status: blocked
priority: P1
area: web
agent: ann
epic: Shop
parent: "7"
created_at: "2026-06-01T08:00:00Z"
updated_at: "2026-06-02T08:00:00Z"
depends_on: ["2"]
output: {completed_at: "2026-06-16T08:00:00Z"}
baseline: {status: recorded, recorded_at: "2026-06-01T08:00:00Z", results: {lint: {ok: true, text: clean}}}
coordination:
  reviewer:
    status: done
    completed_at: "2026-06-02T08:00:00Z"
    findings:
      - {id: 1, by: ann, text: A word, answer: mended}
      - {id: 2, cleared_at: "2026-06-02T08:00:00Z"}
delta:
  turn: {role: reviewer, agent: ann, started_at: "2026-06-02T08:00:00Z"}
  snapshots:
    reviewer:
      snapshot_time: "2026-06-02T08:00:00Z"
      head: "0000000000000000000000000000000000000001"
      tree: "0000000000000000000000000000000000000002"
      files_changed: [a.py]
audit:
  events: [{at: "2026-06-02T08:00:00Z", event: blocked, role: reviewer, note: waits}]
---

## Feature Checklist

```json
{"features": [
  {"id": "f", "description": "d", "passes": true, "tested_at": "2026-06-02T08:00:00Z", "moved_to": "8",
   "evidence": {"command": "make", "exit_status": 0, "log_sha256": "x"}}
], "overall_progress": "0%"}
```

## Progress Log

### Session 1 - 2026-06-02 10:00

**By:** ann
**What I did:** x
**Issues encountered:** y
**Next steps:** z
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"---\ntask_id: '1'\ntitle: Use {TOKEN}\n---\n", id="a token in the front matter"),
        pytest.param(f"---\ntask_id: '1'\ntitle: x\npassword: {PASSWORD}\n---\n", id="a password by its name"),
        pytest.param(
            f"---\ntask_id: '1'\n---\n\n## Progress Log\n\n### Session 1 - 2026-06-02 10:00\n\n"
            f"**What I did:** set {TOKEN}\n\n**Next steps:** https://ann:{PASSWORD}@example.org/\n",
            id="in a session",
        ),
        pytest.param(
            "---\ntask_id: '1'\n---\n\n## Feature Checklist\n\n```json\n"
            f'{{"features": [{{"id": "f", "description": "{ESCAPED}", "passes": true}}]}}\n```\n',
            id="behind an escape of JSON",
        ),
    ],
)
def test_no_row_holds_a_credential(text: str) -> None:
    """Wherever a credential stands, no row has its value, and the file has its other rows."""
    found = _rows(text)
    written = "".join(ndjson(rows).decode() for rows in found.values())
    for value in (TOKEN, PASSWORD):
        assert value[:10] not in written
        assert value[-10:] not in written
    assert [row["task"] for row in found["tasks"]] == ["1"]


def test_secrets_are_counted_unless_they_are_allowed() -> None:
    """The row of the file says how many there are; what the configuration allows is no secret."""
    text = f"---\ntask_id: '1'\ntitle: {TOKEN}\n---\n"
    assert _rows(text)["files"][0]["secrets"] == 1
    allowed = _rows(text, allow=("ghp_",))
    assert allowed["files"][0]["secrets"] == 0
    assert allowed["tasks"][0]["title"] == TOKEN


@pytest.mark.parametrize(
    ("data", "unread", "state"),
    [
        (b"\xff", "", "not-utf8"),
        (b"", "too-large", "too-large"),
        (b"# no front matter\n", "", "front-matter-missing"),
        (b"---\na: [\n---\n", "", "front-matter-bracket-unclosed"),
    ],
)
def test_file_that_cannot_be_read_has_one_row(data: bytes, unread: str, state: str) -> None:
    """It stands in `files` with the reason, and nowhere else."""
    found = rows_of(FileText("r", STATE, data, unread))
    assert [(row["state"], row["is_read"]) for row in found["files"]] == [(state, False)]
    assert [name for name, rows in found.items() if rows] == ["files"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31T12:00:00Z", ("2026-01-31 12:00:00", None)),
        ("2026-01-31T12:00:00+02:00", ("2026-01-31 10:00:00", None)),
        ("2026-01-31 12:00", ("2026-01-31 12:00:00", None)),
        ("0001-01-01T00:00:00+09:00", (None, "0001-01-01T00:00:00+09:00")),
        ("2026-13-31", (None, "2026-13-31")),
        ("soon", (None, "soon")),
        ("", (None, None)),
        (None, (None, None)),
        (7, (None, "7")),
    ],
)
def test_times_are_utc_or_stand_as_they_are(text: object, expected: tuple[str | None, str | None]) -> None:
    """A time becomes one in UTC; what is none is kept as text."""
    assert time_of(text) == expected


def test_what_no_table_can_hold_is_made_sound(tmp_path: Path) -> None:
    """Numbers too large, NUL, half of a character and endless texts become what DuckDB reads."""
    features = [
        {"id": "f\u0000", "description": "d", "passes": True, "evidence": {"command": "x", "exit_status": 10**30}},
        {"id": "g", "description": "x" * (MOST_TEXT + 1), "passes": True},
    ]
    text = f"---\ntask_id: '1'\n---\n\n## Feature Checklist\n\n```json\n{json.dumps({'features': features})}\n```\n"
    path = tmp_path / "features.ndjson"
    path.write_bytes(ndjson(_rows(text, "\udcff/task-1-state.md")["features"]))
    with duckdb.connect() as connection:
        read = connection.read_json(str(path), format="newline_delimited", columns=tables.types("features"))
        rows = read.project("path, feature, length(description), exit_status").fetchall()
    path_shown = "?/task-1-state.md"
    assert rows == [(path_shown, "f\ufffd", 1, None), (path_shown, "g", MOST_TEXT, None)]


def test_every_column_can_be_named_without_quotes() -> None:
    """No column has a name that SQL takes for a word of its own."""
    with duckdb.connect() as connection:
        for name, table in tables.tables().items():
            connection.execute(tables.create(name))
            columns = ", ".join(table.columns)
            connection.execute(f"SELECT {columns} FROM {name} ORDER BY {columns}")  # noqa: S608 - our own

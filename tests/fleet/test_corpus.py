"""Fifty repositories of twenty files, read by children: each row is there once, and no secret in any byte."""

from __future__ import annotations

import json
from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from taskstate.fleet import manifest, run, verifying
from taskstate.model.config import Fleet, Query
from taskstate.query import engine, tables
from taskstate.secrets.scan import find
from tests.support.bare_repositories import NOW, TASKS, bare
from tests.support.secret_lines import positive

if TYPE_CHECKING:
    from pathlib import Path

REPOSITORIES, FILES = 50, 20
TEXT = """---
taskstate: 1
task_id: "{number}"
title: Task {number}
status: in_progress
---

# Task #{number}: Task {number} - State

## 1. Static Context

### Acceptance Criteria

- [ ] {line}

## 3. Feature Checklist

```json
{features}
```

## 4. Progress Log

### Session 1 - 2024-01-02 00:37

**What I did:**

- {line}

**Issues encountered:**

{line}
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[run.Outcome, Path, set[str]]:
    """Return the outcome and the folder of an index of the corpus, and the secrets that are found in its files."""
    folder, lines, secrets = tmp_path_factory.mktemp("corpus"), cycle(positive()), set[str]()
    (folder / "m").mkdir()
    for repository in range(REPOSITORIES):
        files = {}
        for number, each in zip(range(1, FILES + 1), lines, strict=False):
            line = each.text.replace("\n", " ")
            features = json.dumps({"features": [{"id": "f", "description": line, "passes": False}]})
            text = TEXT.format(number=number, line=line, features=features)
            secrets |= {text[found.span.start : found.span.end] for found in find(text)}
            files[f"{TASKS}/task-{number}-state.md"] = text.encode()
        bare(folder / "m" / f"r{repository}", files)
    request = run.Request([str(folder / "m")], folder, NOW, jobs=2, lint=False)
    return run.index(folder / "out", request, Fleet(), lambda *_: None), folder / "out", secrets


def test_each_row_is_there_once(corpus: tuple[run.Outcome, Path, set[str]]) -> None:
    """All files are counted, two buckets hold them, and nothing is there twice."""
    outcome, out, _ = corpus
    assert (outcome.errors, outcome.done, outcome.manifest.rows["files"]) == ((), 2, REPOSITORIES * FILES)
    assert outcome.manifest.rows["features"] == outcome.manifest.rows["sessions"] == REPOSITORIES * FILES
    assert verifying.wrong(out, outcome.manifest, Query()) == []


def test_no_byte_holds_a_secret(corpus: tuple[run.Outcome, Path, set[str]]) -> None:
    """Neither a cell, nor what Parquet says of columns, nor any other file has one of four hundred kinds of them."""
    _, out, secrets = corpus
    bounds = engine.Bounds(Query().memory_mb, 1, 30)
    with manifest.asking(str(out), bounds) as connection:
        rows = [row for name in tables.tables() for row in engine.ask(connection, f"FROM {name}", {}, bounds).rows]
    texts = [str(row) for row in rows]
    texts += [path.read_bytes().decode("utf-8", "replace") for path in out.rglob("*") if path.is_file()]
    whole = "\n".join(texts)
    assert len(secrets) > 400
    assert "Task 7" in whole
    assert [each for each in secrets if each in whole] == []

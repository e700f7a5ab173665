"""Formatting of json fences."""

from __future__ import annotations

import pytest

from taskstate.formatting.formatter import format_text

NAME = "task-101-state.md"
START = """\
---
taskstate: 1
task_id: "101"
title: JWT
status: created
created_at: "2026-01-31T12:00:00Z"
---

# Task #101: JWT - State

## 3. Feature Checklist

```json
"""
LONG = "x" * 120
EXPANDED = f'    {{\n      "id": "a",\n      "description": "{LONG}"\n    }}'


def laid(json: str, *, start: str = START) -> str:
    """Return the JSON of the first fence in its form."""
    after = format_text(f"{start}{json}\n```\n", NAME)
    assert format_text(after, NAME) == after
    assert after.startswith(start)
    return after.removeprefix(start).removesuffix("\n```\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"features":[],"overall_progress":"0%"}', '{\n  "features": [],\n  "overall_progress": "0%"\n}'),
        (
            '{"features": [\n{"passes": false,\n"id": "a", "evidence": {"commit": "c"}}]}',
            '{\n  "features": [\n    {"id": "a", "passes": false, "evidence": {"commit": "c"}}\n  ]\n}',
        ),
        (
            f'{{"features": [{{"id": "a", "description": "{LONG}"}}, {{"id": "b"}}]}}',
            f'{{\n  "features": [\n{EXPANDED},\n    {{\n      "id": "b"\n    }}\n  ]\n}}',
        ),
        ('{"x-b": [1.50, 1E5, -0], "features": []}', '{"x-b": [1.50, 1E5, -0], "features": []}'),
        ('{"x-b": "\\u00e9\\u202e", "features": []}', '{\n  "x-b": "é\\u202e",\n  "features": []\n}'),
    ],
)
def test_layout(before: str, after: str) -> None:
    """Two spaces, the schema's order, items of a list alike; numbers that would change keep it all."""
    assert laid(before) == after


def test_every_declared_fence_has_its_form() -> None:
    """Phases and standards are laid out as the checklist is, each in its own order."""
    phase = START.replace("```json\n", "### Phase 1: A\n\n```json\n")
    assert laid('{"phase_name": "A", "phase": 1}', start=phase) == '{\n  "phase": 1,\n  "phase_name": "A"\n}'
    standards = START.replace("## 3. Feature Checklist", "## 1. Static Context\n\n### Standards")
    assert laid('[{"section": "s", "file": "f"}]', start=standards) == '[\n  {"file": "f", "section": "s"}\n]'


def test_other_fences_stay() -> None:
    """A fence that the format does not read is the writer's own, and so is a second one."""
    own = START.replace("## 3. Feature Checklist", "## 6. Chain Output\n\n### API Contract")
    assert laid('{"b":1,  "a":2}', start=own) == '{"b":1,  "a":2}'
    second = START.replace("```json\n", '```json\n{\n  "features": []\n}\n```\n\n```json\n')
    assert laid('{"b":1}', start=second) == '{"b":1}'

"""The comparison of meaning: differences that it allows, and differences that it detects."""

from __future__ import annotations

import pytest

from taskstate.formatting.equivalence import same_meaning
from taskstate.syntax.document import parse

TEXT = """\
---
taskstate: 1
task_id: "101"
# a remark
title: JWT Service
status: in_progress
created_at: "2026-01-31T12:00:00Z"
sessions: {total: 1, archived: 0, recent: 1}
---

Before.

# Task #101: JWT Service - State

## 1. Static Context

### Acceptance Criteria

- [ ] Tokens verify

## 3. Feature Checklist

```json
{
  "features": [
    {"id": "a", "passes": false}
  ],
  "overall_progress": "0%"
}
```

## 4. Progress Log

### Session 1 - 2026-01-31 12:00

**What I did:**

- worked

#### Mine

More.

## Ideas

First.

### Second ##

## Notes

Mine.
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("taskstate: 1\ntask_id: ", "task_id: "),
        ("JWT Service\nstatus", "JWT service\nstatus"),
        ("# a remark", "# another"),
        ("Before.", "After."),
        ("## 1. Static Context", "## 2. Chain Inputs"),
        ("## 1. Static Context", "### 1. Static Context"),
        ("### Acceptance Criteria", "### Scope"),
        ("- [ ] Tokens", "- [x] Tokens"),
        ("verify", "verify not"),
        ("- [ ] Tokens", "1. [ ] Tokens"),
        ('"passes": false', '"passes": true'),
        ('    {"id": "a", "passes": false}', '    {"id": "a", "passes": false}, 1'),
        ("```json", "```text"),
        ("Session 1 -", "Session 2 -"),
        ("12:00\n\n**What", "13:00\n\n**What"),
        ("- worked", "* worked"),
        ("worked\n", "worked  \n"),
        ("#### Mine", "\n#### Mine"),
        ("## Ideas", "## ideas"),
        ("First.\n\n", "First.\n\n\n"),
        ("Second ##", "Second"),
        ("\n## Notes\n\nMine.", ""),
        ("Mine.\n", "Mine. \n\nToo.\n"),
        ("status: in_progress", "status: {"),
    ],
)
def test_what_changes_the_meaning(old: str, new: str) -> None:
    """Nothing that a file says may be another, wherever it stands, and nothing may move that is never touched."""
    changed = TEXT.replace(old, new, 1)
    assert changed != TEXT
    assert not same_meaning(parse(TEXT), parse(changed))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("taskstate: 1\ntask_id: ", "task_id: "),
        ('task_id: "101"', "task_id: 101"),
        ("total: 1", "total: 7"),
        ('"0%"', '"7%"'),
        ("## 1. Static Context\n", "##  static CONTEXT (sealed) ##"),
        ("### Session 1 -", "### session #1:"),
        ("- [ ] Tokens", "* [ ] Tokens"),
        ("Before.", "\nBefore.\n\n"),
        ('{"id": "a", "passes": false}', '{"passes": false,\n"id": "a"}'),
        ("\n## 4.", "\n\n\n## 4."),
        ("\n\n## Notes", "\n## Notes"),
    ],
)
def test_what_is_form_alone(old: str, new: str) -> None:
    """Order, quoting, derived values, the form of known headings, markers, layout and blank lines are no meaning."""
    changed = TEXT.replace(old, new, 1)
    assert changed != TEXT
    if old.startswith("taskstate"):
        changed = changed.replace("status:", "taskstate: 1\nstatus:", 1)
    assert same_meaning(parse(TEXT), parse(changed))

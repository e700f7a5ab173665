"""progress-differs: `overall_progress` does not agree with the features.

## What

`overall_progress` is derived: the share of the features that pass, in whole percent, rounded down; features that were
moved to a subtask do not count, and where none counts it is `"0%"`. Here it says something else.

## Why

Two truths that drift apart are worse than one: lists and boards show the percentage, and whoever works on the task
sees the features.

## Example

One of two features passes:

```json
{
  "features": [
    {"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z"},
    {"id": "jwt-2", "description": "checks the signature", "passes": false, "tested_at": null}
  ],
  "overall_progress": "80%"
}
```

## Instead

`"overall_progress": "50%"`. `--fix` writes it, and so does every write by the tool; it needs no hand at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import CannotEdit
from taskstate.lint.diagnostics import WARNING, Diagnostic, Fix, Rule
from taskstate.lint.facts.wording import shown
from taskstate.model.derived_values import PROGRESS, fix_edits, overall_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.task_state import Checklist
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS304",
    name="progress-differs",
    severity=WARNING,
    summary="`overall_progress` does not agree with the features",
    fixable=True,
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield the percentage that is not the one that the features give."""
    checklist = facts.checklist
    told = checklist.root.get(PROGRESS) if checklist else None
    if checklist is None or told is None or not _can_count(facts, checklist):
        return
    right = overall_progress(checklist)
    if told.text != right:
        yield RULE.at(
            told.span,
            f"{checklist.passing} of {len(checklist.counted)} features pass, which is {right}, not {shown(told.text)}",
            help=f'write "{right}"',
            fix=_fix(document, facts),
        )


def _fix(document: Document, facts: Facts) -> Fix | None:
    try:
        return Fix(edits=fix_edits(document, facts.state, PROGRESS))
    except CannotEdit:
        return None


def _can_count(facts: Facts, checklist: Checklist) -> bool:
    """Return whether everything that the percentage comes from meets its schema."""
    features = checklist.root.get("features")
    if features is None or not features.items:
        return facts.is_sound("features") and facts.is_sound(PROGRESS)
    paths = [(index, key) for index in range(len(features.items)) for key in ("passes", "moved_to")]
    return facts.is_sound(PROGRESS) and all(facts.is_sound("features", *path) for path in paths)

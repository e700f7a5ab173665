"""progress-differs: `overall_progress` does not agree with the features.

## What

`overall_progress` is derived: the share of the features that pass, in whole percent, rounded down. Features that were
moved to a subtask do not count; where none counts it is `"0%"`. Here it has another value.

## Why

Lists and boards show the percentage, and people who work on the task see the features. If the two differ, nobody knows
which one is right.

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

`"overall_progress": "50%"`. `--fix` writes it, and so does every command that writes the file; it need not be edited by
hand.
"""

from __future__ import annotations

from taskstate.errors import CannotEdit
from taskstate.lint.diagnostics import WARNING, Diagnostics, Fix, Rule
from taskstate.lint.facts.wording import shown
from taskstate.model.derived_values import PROGRESS, fix_edits
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.task_state import Checklist
    from taskstate.syntax.document import Document

RULE = Rule.of("TS304", __name__, "`overall_progress` does not agree with the features", severity=WARNING, fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at a percentage that differs from the features."""
    checklist, actual = facts.checklist, facts.other_progress
    recorded = checklist.root.get(PROGRESS) if checklist and actual else None
    if checklist and recorded and _can_count(facts, checklist):
        yield RULE.at(
            recorded.span,
            f"{checklist.passing} of {len(checklist.counted)} features pass, which is {actual}, "
            f"not {shown(recorded.text)}",
            help=f'write "{actual}"',
            fix=_fix(facts.document, facts),
        )


def _fix(document: Document, facts: Facts) -> Fix | None:
    try:
        return Fix(edits=fix_edits(document, facts.state, PROGRESS))
    except CannotEdit:
        return None


def _can_count(facts: Facts, checklist: Checklist) -> bool:
    """Return whether all values that the percentage is computed from meet the schema."""
    if facts.is_sound():
        return True
    features = checklist.root.plain.get("features")
    if not isinstance(features, list) or not features:
        return facts.is_sound("features") and facts.is_sound(PROGRESS)
    paths = [(index, key) for index in range(len(features)) for key in ("passes", "moved_to")]
    return facts.is_sound(PROGRESS) and all(facts.is_sound("features", *path) for path in paths)

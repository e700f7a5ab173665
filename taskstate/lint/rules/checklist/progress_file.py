"""progress-file: a file with the progress of a phase does not meet the schema of a phase.

## What

The progress of a phase may also be in a file of its own, `phase-<P>-progress.json`, with the same map as the fence of a
phase below the Feature Checklist. There is one finding for each value that breaks its schema, at its own line, with its
path such as `objectives[1].status` (counted from 0). Also reported are a `current_objective` that is the id of no
objective, or null while an objective is in progress or not begun; an id that two objectives have; and a `phase` that
differs from the file's name. Invalid JSON is reported by TS005.

## Why

Such files are written by hand and by other tools, and read by whoever takes over. A value that cannot be read would be
noticed only after the handoff, which is too late.

## Example

`phase-2-progress.json`, with a key that is misspelt and the number of another phase:

```json
{
  "phase": 1, "phase_name": "Rotation", "started": null, "last_updated": null,
  "objectives": [], "current_objective": null, "approaches_tried": [], "handoff_count": 0
}
```

## Instead

```json
{
  "phase": 2, "phase_name": "Rotation", "started_at": null, "last_updated": null,
  "objectives": [], "current_objective": null, "approaches_tried": [], "handoff_count": 0
}
```

The schema itself is `schemas/phase.schema.json`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.json_values import json_value
from taskstate.lint.rules.checklist.phase_schema import faults_of
from taskstate.model.names import phase_in
from taskstate.model.phases import SCHEMA
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS309", __name__, "a stand-alone progress JSON does not meet the phase schema")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault of the phase in the file."""
    value = json_value(facts.whole_json, SCHEMA)
    if value:
        yield from faults_of(value, facts, RULE, name=phase_in(facts.name) or "", where="the file's name")

"""front-matter-schema: a key of the front matter is missing, of the wrong type, or outside its set.

## What

The front matter does not meet its published schema (`schemas/task.schema.json`, for handoff documents
`schemas/handoff.schema.json`). There is one finding for each fault; the message begins with the path to the value,
such as `coordination.reviewer.status`. A missing key is reported at the first line, or at the block that lacks it.

A `kind` that the body is not is reported here, too, and nothing is fixed until it is right: the sections of another
kind would be added.

A state file must have `taskstate`, `task_id`, `title`, `status` and `created_at`; all other keys are optional. Where a
string is expected, an unquoted value is taken as written: `title: no` is the string `no`, and `task_id: 007` the id
`007`.

## Why

Commands act on these values. A task with an unknown status is left out of every list that filters by status, and one
with a missing id has no name.

## Example

```yaml
task_id: "101"
status: doing
priority: high
depends_on: 100
```

## Instead

```yaml
task_id: "101"
title: JWT service
status: in_progress
priority: P1
depends_on: ["100"]
created_at: "2026-01-31T12:00:00Z"
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.model.document_kinds import TASK, kind_names
from taskstate.typed import TYPE_CHECKING
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.validation.schema_errors import SchemaFault

RULE = Rule.of(
    "TS101", __name__, "a key of the front matter is missing, of the wrong type, or outside its set", reads=FRONT_MATTER
)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault but those of `taskstate` (TS009), unknown keys (TS102), lost values (TS003)."""
    for fault in facts.front_matter_faults:
        elsewhere = fault.keyword == "unknown-key" or fault.path[:1] == ("taskstate",) or facts.is_commented(fault.path)
        if not elsewhere and not _is_reported_as_version(fault, facts):
            yield RULE.at(facts.fault_span(fault), fault.message, help=_help(fault, facts))
    kind, told = facts.other_kind, facts.values.get("kind")
    if kind and told:
        message = f"`kind` is {told}, and the body has the sections of the kind {kind.name}"
        yield RULE.at(facts.value_span("kind"), message, help=_right_kind(facts))
    elif kind and facts.front_matter and not facts.front_matter.get("kind"):
        message = f"`kind` is missing, and the body has the sections of the kind {kind.name}"
        yield RULE.at(facts.value_span("taskstate"), message, help=f"{_right_kind(facts)} below `taskstate`")
    for key in () if facts.blocks.edited else facts.keys_of_permanent:  # where a seal is over it, that tells
        yield RULE.at(facts.value_span(key), f"`{key}` is a key of permanent tasks alone", help="take it out")


def _right_kind(facts: Facts) -> str:
    """Return what to write for a kind that is wrong; an ordinary task needs none, wherever the key stands."""
    is_task = facts.kind.name == TASK
    return "take `kind` out: without it this is a task" if is_task else f"write `kind: {facts.kind.name}`"


def _is_reported_as_version(fault: SchemaFault, facts: Facts) -> bool:
    """Return whether a fault is the missing version in a file that the tool has written, which TS009 reports."""
    is_version = fault.keyword == "required" and not fault.path and fault.key == "taskstate"
    return is_version and facts.tool_key is not None


def _help(fault: SchemaFault, facts: Facts) -> str:
    if fault.path == ("kind",) and facts.file_type == "state":
        known = ", ".join(kind_names(facts.document.kinds))
        cure = f"write `kind: {fault.suggestion}`" if fault.suggestion not in {"", TASK} else _right_kind(facts)
        return f"{cure}; the kinds here are {known}, and a project declares its own in the state folder's kinds/"
    if fault.keyword == "required":
        example = {"taskstate": f"taskstate: {FORMAT}"}.get(str(fault.key), f"{fault.key}: …")
        return f"add `{example}`; `taskstate rule TS101` shows what a front matter needs"
    return "correct the value, or take the key out where it is optional"

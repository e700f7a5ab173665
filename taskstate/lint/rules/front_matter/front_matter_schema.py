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

from taskstate.formatting.schema_order import schema_root
from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.lint.facts.wording import cut, shown_by
from taskstate.messages import closest
from taskstate.model.canonical_json import SEALED_KEYS
from taskstate.model.document_kinds import TASK, kind_names
from taskstate.typed import TYPE_CHECKING
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.validation.schema_errors import SchemaFault

RULE = Rule.of(
    "TS101", __name__, "a key of the front matter is missing, of the wrong type, or outside its set", reads=FRONT_MATTER
)

_SHOWN = "; `taskstate rule TS101` shows what a front matter needs"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault but those of `taskstate` (TS009), unknown keys (TS102), lost values (TS003)."""
    for fault in facts.front_matter_faults:
        elsewhere = fault.keyword == "unknown-key" or fault.path[:1] == ("taskstate",) or facts.is_commented(fault.path)
        if not elsewhere and not _is_reported_as_version(fault, facts):
            yield RULE.at(facts.fault_span(fault), _message(fault, facts), help=_help(fault, facts))
    kind, told = facts.other_kind, facts.values.get("kind")
    if kind and told:
        message = f"`kind` is {told}, and the body has the sections of the kind {kind.name}"
        yield RULE.at(facts.value_span("kind"), message, help=_right_kind(facts))
    elif kind and facts.front_matter and not facts.front_matter.get("kind") and "kind" not in facts.renamed_keys:
        message = f"`kind` is missing, and the body has the sections of the kind {kind.name}"
        yield RULE.at(facts.value_span("taskstate"), message, help=f"{_right_kind(facts)} below `taskstate`")
    for key in () if facts.blocks.edited else facts.keys_of_permanent:  # where a seal is over it, that tells
        yield RULE.at(facts.value_span(key), f"`{key}` is a key of permanent tasks alone", help="remove it")


def _right_kind(facts: Facts) -> str:
    """Return what to write for a kind that is wrong; an ordinary task needs none, wherever the key stands."""
    is_task = facts.kind.name == TASK
    return "remove `kind`: without it this is a task" if is_task else f"write `kind: {facts.kind.name}`"


def _is_reported_as_version(fault: SchemaFault, facts: Facts) -> bool:
    """Return whether a fault is the missing version in a file that the tool has written, which TS009 reports."""
    is_version = fault.keyword == "required" and not fault.path and fault.key == "taskstate"
    return is_version and facts.tool_key is not None


def _committed(key: str, facts: Facts) -> str:
    """Return the line of a key as a compared revision has it; empty where none has a sound one on one line."""
    for then in facts.past or ():
        entry = then.entry((key,)) if key in then.values else None
        line = then.document.text[entry.key.span.start : entry.value.span.end] if entry else ""
        if line and "\n" not in line:
            return line
    return ""


def _message(fault: SchemaFault, facts: Facts) -> str:
    """Return what is wrong; of a kind among those that there are here, which the schema does not know."""
    if fault.path != ("kind",) or facts.file_type != "state" or fault.keyword != "enum":
        return fault.message
    return f"{fault.message.partition('; it must')[0]}; it must be one of {', '.join(kind_names(facts.document.kinds))}"


def _place(key: str, facts: Facts) -> str:
    """Return in words the key below which another one belongs that is missing."""
    order = schema_root("task").order if facts.file_type == "state" else ()
    above = [each for each in order[: order.index(key)] if each in facts.typed] if key in order else []
    return f" below `{above[-1]}`" if above else ""


def _help(fault: SchemaFault, facts: Facts) -> str:
    if fault.path == ("kind",) and facts.file_type == "state":
        near = closest(str(facts.document.front_matter.get("kind")), kind_names(facts.document.kinds))
        cure = f"write `kind: {near}`" if near not in {"", TASK} else _right_kind(facts)
        return f"{cure}; a project declares its own kinds in the state folder's kinds/"
    is_required = fault.keyword == "required"
    key = str(fault.path[0] if fault.path else fault.key)
    if key in {*SEALED_KEYS, "audit"} and facts.changed:
        return f"undo the change{shown_by(facts.queries, changed=facts.changed)}: only commands write it"
    line = _committed(key, facts)
    if line and fault.path:
        return f"write `{cut(line)}`, as committed"
    if is_required:
        example = cut(line) or {"taskstate": f"taskstate: {FORMAT}"}.get(key, f"{fault.key}: …")
        return f"add `{example}`{'' if fault.path else _place(key, facts)}{', as committed' if line else _SHOWN}"
    return "correct the value, or remove the key if it is optional"

"""checklist-schema: the Feature Checklist does not meet its schema.

## What

The section holds one json fence: a map with `features` and `overall_progress`. A feature has `id`, `description`,
`passes` and `tested_at`, and may have `evidence`, `notes` and `moved_to`; keys of your own begin with `x-`. Each value
that breaks this is one finding, at its own line, with its path such as `features[3].passes` (counted from 0). A
section without any json fence, or with a second one, is a finding too; a placeholder in its place is none.

## Why

Only what meets the schema is read: a feature with `"passes": "yes"` counts for nobody, and a key that is misspelt says
nothing.

## Example

```json
{
  "features": [
    {"id": "jwt-1", "description": "makes a valid JWT", "passes": "no", "test_at": null}
  ],
  "overall_progress": "0%"
}
```

## Instead

```json
{
  "features": [
    {"id": "jwt-1", "description": "makes a valid JWT", "passes": false, "tested_at": null}
  ],
  "overall_progress": "0%"
}
```

`taskstate feature add`, `pass` and `fail` write it for you. The schema itself is `schemas/checklist.schema.json`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate import schema
from taskstate.data import Node
from taskstate.lint.diagnostic import Diagnostic, Rule
from taskstate.lint.words import first_line_of, line_of, shown
from taskstate.state import is_json_fence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.blocks import Block
    from taskstate.document import Document, Section
    from taskstate.lint.facts import Facts
    from taskstate.schema import SchemaFault
    from taskstate.text import Span

RULE = Rule(code="TS301", name="checklist-schema", summary="the Feature Checklist does not meet its schema")

_EXACT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_TIME = "YYYY-MM-DDTHH:MM:SSZ"
_TIME_HELP = "write it in UTC, such as 2026-01-31T12:00:00Z, or null; `taskstate feature pass` does"
_FORM = 'it holds `features`, a list, and `overall_progress`, such as "40%"'


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield each value that breaks the schema, a second fence, and at the section's heading that there is none."""
    for spec, section in facts.outline.found:
        if spec.fence and spec.fence.schema == "checklist":
            fences = document.blocks_in(section.own, "fence")
            json = [fence for fence in fences if is_json_fence(fence)]
            if not json and not facts.kind.is_placeholder(section.own.of(document.text)):
                yield _no_fence(document, section, fences)
            for fence in json[1:]:
                yield RULE.at(
                    first_line_of(document, fence.span),
                    "a second json fence in the Feature Checklist: only the first is read",
                    help="put all features into the first one, or put this fence below a heading of level 3",
                )
    yield from _faults(document, facts)


def _no_fence(document: Document, section: Section, fences: tuple[Block, ...]) -> Diagnostic:
    meant = next((fence for fence in fences if fence.content.of(document.text).lstrip().startswith("{")), None)
    line = line_of(document, meant.span) if meant else 0
    return RULE.at(
        section.heading,
        "the Feature Checklist has no json fence",
        help=f"mark the code fence in line {line} as `json`" if meant else f"add a fence marked `json`: {_FORM}",
    )


def _faults(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    root = document.json(facts.checklist_fence) if facts.checklist_fence else None
    if not isinstance(root, Node):
        return
    for fault in facts.checklist_faults:
        yield RULE.at(_span(document, root, fault), fault.message, help=_help(fault))
    for path, node in schema.annotated(root, "checklist", "x-timestamp"):
        if node.is_string() and facts.is_sound(*path) and not _is_time(node.text):
            where = f"features[{path[1]}].{path[-1]}"
            yield RULE.at(
                node.span, f"`{where}` is {shown(node.text)}, and no time of the form {_TIME}", help=_TIME_HELP
            )


def _is_time(text: str) -> bool:
    from datetime import datetime

    try:
        return bool(_EXACT.fullmatch(text)) and bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _span(document: Document, root: Node, fault: SchemaFault) -> Span:
    """Return the value at fault; the key, where that is not known; the first line of the map that lacks one."""
    owner = root.get(*fault.path[:-1]) if fault.keyword == "unknown-key" else None
    entry = owner.entry(str(fault.path[-1])) if owner else None
    return entry.key.span if entry else first_line_of(document, (root.get(*fault.path) or root).span)


def _help(fault: SchemaFault) -> str:
    if fault.keyword == "unknown-key":
        return "correct it, or let it begin with `x-` if the key is your own"
    if fault.keyword == "required":
        return f"add the key `{fault.key}`"
    return "correct the value; `taskstate rule TS301` shows the form"

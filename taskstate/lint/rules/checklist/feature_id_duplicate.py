"""feature-id-duplicate: two features of the checklist share an id.

## What

Two entries of `features` have the same `id`, to the letter. The finding stands at the second one's id.

## Why

`taskstate feature pass 101 jwt-1` has to mean one feature. With two of that id nobody can say which one was tested,
and the command refuses. It usually comes from copying an entry, or from a merge that took both sides.

## Example

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z"},
{"id": "jwt-1", "description": "checks the signature", "passes": false, "tested_at": null}
```

## Instead

Give the newer one an id of its own. If it is the same feature twice, delete the copy that is not yet committed. An id
that is committed stays, because references to it do not change with it.

```json
{"id": "jwt-2", "description": "checks the signature", "passes": false, "tested_at": null}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.wording import line_of, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

RULE = Rule(code="TS302", name="feature-id-duplicate", summary="two features of the checklist share an id")


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield the id of each feature that an earlier one has already."""
    first: dict[str, Node] = {}
    for feature in facts.sound_features("id"):
        node = feature["id"]
        earlier = first.setdefault(node.text, node)
        if earlier is not node:
            yield RULE.at(
                node.span,
                f"the feature in line {line_of(document, earlier.span)} has the id {shown(node.text)} already",
                help="give this feature another id, or delete it if it is the same one",
            )

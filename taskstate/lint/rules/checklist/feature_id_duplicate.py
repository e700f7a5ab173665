"""feature-id-duplicate: two features of the checklist share an id.

## What

Two entries of `features` have exactly the same `id`. The finding is at the id of the second one.

## Why

`taskstate feature pass 101 jwt-1` must mean one feature. If two have that id, nobody can say which one was tested, and
the command refuses. The cause is usually a copied entry, or a merge that took both sides.

## Example

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z"},
{"id": "jwt-1", "description": "checks the signature", "passes": false, "tested_at": null}
```

## Instead

Give the newer one an id of its own. If it is the same feature twice, delete the copy that is not yet committed. A
committed id must stay, because references to it would not change with it.

```json
{"id": "jwt-2", "description": "checks the signature", "passes": false, "tested_at": null}
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.wording import line_of, shown
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.feature_facts import SoundFeature
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS302", __name__, "two features of the checklist share an id")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each feature whose id an earlier one has."""
    first: dict[str, SoundFeature] = {}
    for feature in facts.sound_features("id", among=facts.repeated_features):
        name = feature.values["id"]
        earlier = first.setdefault(name, feature)
        if earlier is not feature:
            yield RULE.at(
                feature.span("id"),
                f"the feature in line {line_of(facts.document, earlier.span('id'))} has the id {shown(name)} already",
                help="give this feature another id, or delete it if it is the same one",
            )

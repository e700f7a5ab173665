"""unknown-key: the front matter has a key that the format does not know.

## What

The schema does not know a key in the front matter or in one of its maps. Keys that begin with `x-` are your own: they
may stand anywhere and have any value.

## Why

Most unknown keys are misspelt known ones: nothing reads `depend_on`, and the task starts before the one it needs. Other
keys may collide with a key of a later version of the format.

## Example

```yaml
depend_on: ["100"]
reviewer: somebody
```

## Instead

Correct the spelling (`taskstate lint --unsafe-fixes` renames a key to the nearest known one, where that one is
absent), or put `x-` before a key of your own:

```yaml
depends_on: ["100"]
x-reviewer: somebody
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Fix, Rule
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.nodes import MapEntry, Node
    from taskstate.validation.schema_errors import SchemaFault

RULE = Rule.of(
    "TS102", __name__, "a key of the front matter that the format does not know", fixable=True, reads=FRONT_MATTER
)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each unknown key, at any level."""
    for fault in facts.front_matter_faults:
        if fault.keyword == "unknown-key":
            fix = _renaming(fault, facts)
            correct = "correct it (`taskstate lint --fix --unsafe-fixes` does)" if fix else "correct it"
            yield RULE.at(
                facts.fault_span(fault),
                fault.message,
                help=f"{correct}, or write `x-{fault.path[-1]}` if the key is your own",
                fix=fix,
            )


def _renaming(fault: SchemaFault, facts: Facts) -> Fix | None:
    """Return the fix that gives the key the nearest known name, if there is one and it is free."""
    mapping: Node | None = facts.front_matter.get(*fault.path[:-1]) if facts.front_matter else None
    entry: MapEntry | None = mapping.entry(str(fault.path[-1])) if mapping else None
    if mapping is None or entry is None or entry.key.pinned or not fault.suggestion or mapping.entry(fault.suggestion):
        return None
    return Fix(edits=(Edit(*entry.key.span, fault.suggestion),), safe=False)

"""validation-form: the fence under Validation does not meet its schema.

## What

The JSON under `### Validation` is not an object with `commands`, a list of texts; or it has a key that the format does
not know, such as `command`. Keys that begin with `x-` are free. What is not JSON at all is TS005.

## Why

`commands` are what a turn runs before it ends. Under another key nothing is run, and nobody is told that nothing was
checked.

## Example

```json
{"command": ["make test"]}
```

## Instead

```json
{"commands": ["make test"]}
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS608", __name__, "the commands under Validation do not meet their schema")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault of the fence."""
    if facts.validation:
        yield from facts.validation.schema_findings(facts.document, RULE)

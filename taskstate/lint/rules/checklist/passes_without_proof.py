"""passes-without-proof: a feature passes and was never tested.

## What

A feature has `"passes": true` and `"tested_at": null`. The finding stands at the `true`.

## Why

"Done" without a test is the most expensive mistake in a chain of tasks: the next one builds on something that is not
there. The time says when somebody last saw it work, and against which state of the code that was.

## Example

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": null}
```

## Instead

Test it, and record that with what shows it:

```console
$ taskstate feature pass 101 jwt-1 --evidence "pytest -k jwt: 8 passed"
```

which gives

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": true, "tested_at": "2026-01-31T12:00:00Z",
 "evidence": "pytest -k jwt: 8 passed"}
```

If it was not tested, set `passes` back to `false`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostic import Diagnostic, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.document import Document
    from taskstate.lint.facts import Facts

RULE = Rule(code="TS303", name="passes-without-proof", summary="a feature passes and was never tested")


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield the `true` of each feature that passes without a time at which it was tested."""
    for feature in facts.sound_features("passes", "tested_at"):
        if feature["passes"].value() is True and feature["tested_at"].value() is None:
            yield RULE.at(
                feature["passes"].span,
                "this feature passes, but `tested_at` does not say when it was tested",
                help="test it and run `taskstate feature pass`, or set `passes` to false",
            )

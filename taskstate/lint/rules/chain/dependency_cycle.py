"""dependency-cycle: `depends_on` runs in a circle.

## What

Following `depends_on` from this task leads back to it, over any number of other tasks; a task that depends on itself
is the smallest circle. Each task of a circle has the finding, at the item of its `depends_on` that belongs to it. A
task that depends on one of a circle without being part of it has none.

## Why

Each of these tasks waits for the output of another one, so none can ever be begun, and nothing that depends on them
either.

## Example

In task 201:

```yaml
depends_on: ["202"]
```

and in task 202:

```yaml
depends_on: ["201"]
```

The circle is `201 → 202 → 201`.

## Instead

Take one of the ids out: which task can be completed without the other's output? Where neither can, what both need is a
task of its own, on which both depend.

```yaml
depends_on: ["200"]
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostic, Rule
from taskstate.lint.facts.upstreams import dependencies, is_own_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS905",
    name="dependency-cycle",
    summary="`depends_on` runs in a circle",
    reads=FRONT_MATTER,
)

_HELP = "take one of the ids out of `depends_on`; what both tasks need belongs into a task of its own"
_SHOWN = 12  # ids; a longer circle is cut in its middle


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule is called alike
    """Yield each item of `depends_on` from which a way leads back to the task."""
    own = facts.task_id or facts.shown_id
    for dependency in dependencies(facts):
        if is_own_task(facts, dependency.id):
            yield RULE.at(dependency.span, f"the task depends on itself: {own} → {own}", help="take its own id out")
            continue
        way = facts.queries.dependency_path(dependency.id)
        if way:
            circle = " → ".join(_cut((own, dependency.id, *way[1:-1], own)))
            yield RULE.at(dependency.span, f"the tasks depend on each other in a circle: {circle}", help=_HELP)


def _cut(circle: tuple[str, ...]) -> tuple[str, ...]:
    half = _SHOWN // 2
    return circle if len(circle) <= _SHOWN else (*circle[:half], "…", *circle[-half:])

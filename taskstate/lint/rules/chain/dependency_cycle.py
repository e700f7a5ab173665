"""dependency-cycle: `depends_on` runs in a circle.

## What

Following `depends_on` from this task leads back to it, through any number of other tasks; a task that depends on itself
is the smallest cycle. Each task of a cycle has the finding, at the item of its `depends_on` that is part of it; where
one of them was changed since the compared revision, it alone. A task that depends on one in a cycle without being part
of it has none.

## Why

Each of these tasks waits for the output of another one, so none can ever be begun, nor can any task that depends on
them.

## Example

In task 201:

```yaml
depends_on: ["202"]
```

and in task 202:

```yaml
depends_on: ["201"]
```

The cycle is `201 → 202 → 201`.

## Instead

Remove one of the ids: which task can be completed without the other's output? If neither can, make what both need a
task of its own, on which both depend.

```yaml
depends_on: ["200"]
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.lint.facts.upstreams import is_own_task
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS905", __name__, "`depends_on` runs in a circle", reads=FRONT_MATTER)

_HELP = "remove one of the ids from `depends_on`; what both need goes into a task of its own"
_MAX_SHOWN = 12  # ids; a longer cycle is cut in the middle


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each item of `depends_on` that is part of a cycle."""
    own = facts.task_id or facts.shown_id
    for dependency in facts.dependencies:
        if is_own_task(facts, dependency.id):
            yield RULE.at(dependency.span, f"the task depends on itself: {own} → {own}", help="remove its own id")
            continue
        path = facts.queries.dependency_path(dependency.id)
        if path and not _is_closed_elsewhere(dependency.id, path, facts):
            cycle = " → ".join(_cut((own, dependency.id, *path[1:-1], own)))
            yield RULE.at(dependency.span, f"the tasks depend on each other in a circle: {cycle}", help=_HELP)


def _is_closed_elsewhere(needed: str, path: tuple[str, ...], facts: Facts) -> bool:
    """Return whether the file had this id before, and another one of the circle is changed: there it is told."""
    if not any(each.id == needed for then in facts.past or () for each in then.dependencies):
        return False
    others = {f"task-{each}-state.md" for each in path[:-1]}
    return any(each.rpartition("/")[2] in others for each in facts.queries.changed_paths() or ())


def _cut(cycle: tuple[str, ...]) -> tuple[str, ...]:
    half = _MAX_SHOWN // 2
    return cycle if len(cycle) <= _MAX_SHOWN else (*cycle[:half], "…", *cycle[-half:])

"""permanent-second: there is a second active permanent task.

## What

The repository has more than one permanent task that is neither complete nor dropped, and this is not the one with the
lowest id.

## Why

The permanent task is found without being told where. Where there are several, everybody reads the one with the lowest
id, and what is written into the others reaches nobody. It happens when two branches each create one. Whoever means to
have several on purpose (`--another`) may turn this rule off.

## Example

```text
.taskstate/tasks/task-1-state.md    kind: permanent, status: in_progress
.taskstate/tasks/task-9-state.md    kind: permanent, status: in_progress
```

## Instead

Move what is still true into the one that counts, with `taskstate permanent update`, and close the other one:

```console
$ taskstate permanent close 9
```

## Configuration

```toml
[tool.taskstate.lint]
ignore = ["TSP06"]
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.wording import cut
from taskstate.model import names
from taskstate.model.statuses import CLOSED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TSP06", __name__, "there is a second active permanent task", severity=WARNING)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at `kind`."""
    if not facts.is_permanent or facts.state.status in CLOSED:
        return
    first = min(facts.queries.active_permanent() or (), key=names.id_key, default=None)
    if first is not None and names.id_key(first) < names.id_key(facts.shown_id):
        yield RULE.at(
            facts.value_span("kind"),
            f"task {cut(first)} is an active permanent task, too, and everybody reads that one",
            help=f"`taskstate permanent close {facts.shown_id}` closes this one; first move what is needed there",
        )

"""revision-fell: the revision is lower than it was at the compared revision.

## What

`revision` counts the writes of commands; it only rises. Here it is lower than in the file of the compared revision
(HEAD, or `--against REV`), or gone.

## Why

A command that says `--expect 18-1a2b3c4d` asks that nothing was written since it read the file. A number that comes a
second time lets an older answer pass for the newest one, and handoffs and Chain Inputs, which name revisions, name
the wrong text.

## Example

`revision: 18` was committed; now it says

```yaml
revision: 3
```

## Instead

Write the committed number again. To take back what was written since, let a command do it: it counts on.

```yaml
revision: 18
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.lint.facts.session_history import all_comparable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS108", __name__, "the revision is lower than it was at the compared revision", reads=FRONT_MATTER)

_KEY = "revision"


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the revision."""
    highest, is_faulty = facts.former_revision, any(fault.path == (_KEY,) for fault in facts.front_matter_faults)
    if highest and facts.values and not is_faulty and all_comparable(facts):
        is_there = _KEY in facts.values
        message = f"`{_KEY}` {f'is {facts.values[_KEY]}' if is_there else 'is gone'}, and was {highest} before"
        place = facts.value_span(_KEY) if is_there else facts.first_line
        yield RULE.at(place, message, help=f"write `{_KEY}: {highest}` again")

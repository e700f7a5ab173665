"""drift-unresolved: the working tree was found to differ from what a role left, and that is not resolved.

## What

The `drift_budget` of a role is above 0: it counts how often the working tree was found to differ from the role's
snapshot. Until somebody resolves that, commands that change roles, take snapshots or complete the task refuse to run;
sessions and features can still be recorded.

## Why

Somebody edited or reset files between two roles, or checked out another branch. Perhaps that was intended, perhaps two
agents work in one tree. The number stays even if the files were restored, because otherwise the next role would review
or test something that no role has produced, without anyone noticing.

## Example

```yaml
coordination:
  implementer: {status: done, drift_budget: 2}
```

## Instead

See what differs, restore what was not intended, and accept the rest; an event records who accepted what:

```console
$ taskstate snapshot verify 101 --role implementer
$ taskstate snapshot verify 101 --role implementer --restore src/a.py
$ taskstate snapshot resolve 101 --note "the formatter had run, nothing else changed"
```

`taskstate snapshot diff 101 --role implementer` shows what the role itself had changed.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS703", __name__, "a drift budget above 0", reads=FRONT_MATTER)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each role with unresolved drift, at its budget."""
    for role in facts.drifted_roles:
        times = "once" if role.budget == 1 else f"{role.budget} times"
        yield RULE.at(
            facts.value_span("coordination", role.name, "drift_budget"),
            f"the working tree drifted {times} from what {role.name} left, and nobody has resolved it",
            help=f"`taskstate snapshot verify {facts.shown_id} --role {role.name}` shows what differs, "
            f'`taskstate snapshot resolve {facts.shown_id} --note "WHY"` accepts what is there',
        )

"""coordination-order: a role is done before the one ahead of it, or done with open findings.

## What

The roles work one after the other, in the order of the configuration: implementer, reviewer, validator. Here a role is
`done` while the one just ahead of it is not, or it is `done` and one of its findings has no answer. Each role is
compared with the one ahead of it alone. Roles that the configuration does not name are not checked; one that came in
since the compared revision is a finding.

## Why

Each role relies on the one before having finished. A review of a change that is still being made says nothing about the
result, and open findings are what the role was there to resolve.

## Example

```yaml
coordination:
  implementer: {status: in_progress}
  reviewer: {status: done, findings: [{id: 1, text: "The token never expires"}]}
```

## Instead

`taskstate role set` keeps the order, so the cause is an edit by hand or a merge. Reopen the first role; the later ones
become pending again, and keep their findings:

```console
$ taskstate role reopen 101 implementer --note "merged with a review of an older version"
```

Remove a finding that was fixed with `taskstate role unblock 101 reviewer --finding 1`.

## Configuration

`[tool.taskstate]`: `roles = ["implementer", "reviewer", "validator"]`.
"""

from __future__ import annotations

from itertools import pairwise

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.lint.facts.wording import shown
from taskstate.messages import first_of
from taskstate.model.role_findings import KEY, OLDER_KEY
from taskstate.model.roles import pipeline
from taskstate.model.statuses import DONE
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.tool_blocks import Role

RULE = Rule.of(
    "TS701", __name__, "a role is done before the one ahead of it, or done with open findings", reads=FRONT_MATTER
)

_BLOCK = "coordination"


def check(facts: Facts) -> Diagnostics:
    """Yield at most two findings for each role that is done: at its status, and at its findings."""
    done, names = {role.name for role in facts.done_roles}, facts.config.roles
    for name in facts.unknown_roles:
        entry = facts.entry((_BLOCK, name))
        message = f"{shown(name)} is not a role of this project: {', '.join(names)}"
        help_ = "write the role that is meant, or name it under `roles` in the configuration"
        yield RULE.at(entry.key.span if entry else facts.first_line, message, help=help_)
    for ahead, role in pairwise((None, *pipeline(facts.blocks, names)[: len(names)])):
        if role is not None and role.name in done:
            yield from _early(facts, ahead, role)
            yield from _blocked(facts, role)


def _early(facts: Facts, ahead: Role | None, role: Role) -> Diagnostics:
    if ahead is not None and ahead.status != DONE:
        yield RULE.at(
            facts.value_span(_BLOCK, role.name, "status"),
            f"{role.name} is done, but {ahead.name}, whose turn comes first, is {ahead.status.replace('_', ' ')}",
            help=f'`taskstate role reopen {facts.shown_id} {role.name} --note "WHY"` reopens it, '
            f"or finish {ahead.name} first",
        )


def _blocked(facts: Facts, role: Role) -> Diagnostics:
    if role.open_findings:
        waiting = [shown(str(each)) for each in role.open_findings]
        key = KEY if KEY in role.values else OLDER_KEY
        unblock = f"taskstate role unblock {facts.shown_id} {role.name} --finding {role.open_findings[0].number}"
        yield RULE.at(
            facts.value_span(_BLOCK, role.name, key),
            f"{role.name} is done with an open finding: {first_of(waiting, 1)}",
            help=f'reopen the role (`taskstate role reopen {facts.shown_id} {role.name} --note "WHY"`), then withdraw '
            f"what is fixed (`{unblock}`)",
        )

"""snapshot-missing: a role is done without a snapshot, in a task that is neither complete nor purged.

## What

A role that is `done` has a snapshot of the working tree under `delta.snapshots`: what it has handed on. Here there is
none, and nothing says why. The task may have been reopened since the role was done: completing it purges the
snapshots. Or nothing watched the tree when the role was done, since there was no git or no commit: then a session of
the Progress Log is by this role (`**By:** ann (implementer)`), and `delta.last_seen` does not name it. A task that is
complete or dropped needs no snapshot any more. In a file of an earlier version an event `role-done` says why.

## Why

The roles hand on a working tree, committed or not. Only the snapshot can tell the next role whether the tree is
still the same, what the role changed, and what a file was like before somebody touched it.

## Example

```yaml
coordination:
  implementer: {status: done, completed_at: "2026-01-31T12:00:00Z"}
delta:
  base_commit: "4f2c1e9a0b7d3c5e6f8091a2b3c4d5e6f7a8b9c0"
  snapshots: {}
```

## Instead

`taskstate role set --status done` requires the snapshot, so the cause is an edit by hand or a merge. Reopen the role,
check the tree, take a snapshot, and set the role to done again:

```console
$ taskstate role reopen 101 implementer --note "the snapshot was lost in a merge"
$ taskstate snapshot take 101 --role implementer
$ taskstate role set 101 implementer --status done
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.model.session_texts import BY, by_of
from taskstate.model.statuses import CLOSED
from taskstate.model.tool_blocks import REOPENED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.tool_blocks import Audit, Role

RULE = Rule.of("TS702", __name__, "a role is done without a snapshot, in a task that is neither complete nor purged")

_BLOCK, _DELTA = "coordination", "delta"
_EXCUSES = (REOPENED, "role-done")  # events; the second is of an earlier version, one for each role


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each role that is done without a snapshot, at its status."""
    if facts.values.get("status") in CLOSED or _is_unsound(facts):
        return
    for role in facts.done_roles:
        if role.snapshot is None and not _is_purged(facts.blocks.audit, role) and not _is_unwatched(facts, role):
            yield RULE.at(
                facts.value_span(_BLOCK, role.name, "status"),
                f"{role.name} is done and has left no snapshot of the working tree",
                help=f'reopen the role (`taskstate role reopen {facts.shown_id} {role.name} --note "WHY"`), then '
                f"`taskstate snapshot take {facts.shown_id} --role {role.name}`",
            )


def _is_unsound(facts: Facts) -> bool:
    """Return whether a block that this rule reads breaks its schema, which TS101 reports."""
    return any(fault.path and fault.path[0] in {_DELTA, "audit"} for fault in facts.front_matter_faults)


def _is_purged(audit: Audit, role: Role) -> bool:
    """Return whether an event says that the role's snapshot was deleted after the role was done."""
    purges = [each.at or "" for each in audit.events if each.event in _EXCUSES and each.role in {None, role.name}]
    return any(at >= (role.completed_at or "") for at in purges)


def _is_unwatched(facts: Facts, role: Role) -> bool:
    """Return whether the role was done in a turn that had no tree to look at; older sessions may be archived."""
    if role.name in facts.blocks.delta.last_seen:
        return False
    by = {by_of("\n".join(each.values(BY))).role for each in facts.sessions}
    return role.name in by or facts.summary is not None

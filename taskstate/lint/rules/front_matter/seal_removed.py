"""seal-removed: a seal that was committed is gone.

## What

At the compared revision the file had `audit.seal`, a hash of the blocks that only the tool writes, or `context.seal`,
that of section 1. Now it has none, because the key or its whole block was deleted. Of a permanent task `version_seal`
is gone, or is another one although the version is the same.

## Why

A seal shows that what it covers was not changed by hand. It does not end by being deleted: without it a role could be
set to done, or a requirement reworded, and nobody would see that.

## Example

```yaml
coordination:
  reviewer: {status: done}
# audit: {..., seal: "2d71…"} was here
```

## Instead

Take the block back as it was committed; `git show REV:path` prints it. If the file is right as it is, accept it; an
event then records who did, and why:

```console
$ taskstate doctor --reseal 101 --note "the block was lost in a merge, and compared with both sides"
$ taskstate context init 101
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS607", __name__, "a seal that was committed is gone", reads=FRONT_MATTER)

_VERSION_SEAL = "version_seal"  # of permanent tasks
_CURES = {
    "audit": '`taskstate doctor --reseal {} --note "why it is right"`',
    "context": "`taskstate context init {}`, which seals it again",
}


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each seal that is gone, at its block or at the first line."""
    yield from _version_seal(facts)
    faulty = {fault.path[0] for fault in facts.front_matter_faults if fault.path}
    # Where the seal of the blocks is there, TS606 tells that one of them was taken out.
    past = comparable(facts) if facts.front_matter and not facts.blocks.edited else ()
    for block, cure in _CURES.items():
        if block in faulty or _has_seal(facts, block) or not any(_has_seal(then, block) for then in past):
            continue
        is_there = block in facts.document.front_matter
        yield RULE.at(
            facts.value_span(block) if is_there else facts.first_line,
            f"`{block}.seal`, which was committed, is gone{'' if is_there else ' with its block'}",
            help=f"restore `{block}` as committed, or accept the file with {cure.format(facts.shown_id)}",
        )


def _version_seal(facts: Facts) -> Diagnostics:
    """Yield a finding where what seals the version of a permanent task is gone."""
    past = comparable(facts) if facts.is_permanent and facts.front_matter else ()
    seals = [seal for then in past if (seal := then.values.get(_VERSION_SEAL))]
    version, now = facts.values.get("version"), facts.values.get(_VERSION_SEAL)
    same = [then.values.get(_VERSION_SEAL) for then in past if then.values.get("version") == version]
    if _VERSION_SEAL in facts.document.front_matter and version and all(same) and same and now not in same:
        message = f"`{_VERSION_SEAL}` was edited: no edit of the sections would be seen"
        yield RULE.at(facts.value_span(_VERSION_SEAL), message, help=f'write `{_VERSION_SEAL}: "{same[0]}"` again')
    if seals and _VERSION_SEAL not in facts.document.front_matter:
        at = facts.value_span("version") if "version" in facts.values else facts.first_line
        message = f"`{_VERSION_SEAL}`, which was committed, is gone: no edit of the sections would be seen"
        yield RULE.at(at, message, help=f'write `{_VERSION_SEAL}: "{seals[0]}"` again')


def _has_seal(facts: Facts, block: str) -> bool:
    blocks = facts.blocks
    return (blocks.audit.seal if block == "audit" else blocks.context.seal) is not None

"""key-order: keys of the front matter are out of their canonical order.

## What

The keys that the format knows have a fixed order: first what the task is, then its times and counts, then the blocks
that the tool writes. Here a key is out of this order, at the top level or in a block. Keys of your own (`x-…`) may
stand anywhere; they move with the key above them. A front matter with anchors, aliases or merge keys is not checked,
since the order has a meaning there. The ids in `depends_on` stand in natural order: `9` before `10`.

## Why

No value depends on the order, so this is a warning. But people who read many of these files find each key at its usual
place, and two branches that add the same key add it at the same line.

## Example

```yaml
status: in_progress
task_id: "101"
title: JWT service
taskstate: 1
```

## Instead

```yaml
taskstate: 1
task_id: "101"
title: JWT service
status: in_progress
```

`taskstate lint --fix` and `taskstate fmt` sort the keys. A comment directly above a key, or behind its value, moves
with it.
"""

from __future__ import annotations

from taskstate.formatting.schema_order import ranks
from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostics, Fix, Rule
from taskstate.lint.facts.wording import shown
from taskstate.model.algorithms import out_of_order
from taskstate.model.names import id_key
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.formatting.key_order import Disorder
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS106",
    __name__,
    "keys of the front matter are out of order",
    severity=WARNING,
    fixable=True,
    reads=FRONT_MATTER,
)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the fewest keys that would have to move; the fix of each sorts its whole mapping."""
    yield from _dependencies(facts)
    for disorder in facts.key_disorders:
        entries = [entry for entry in disorder.mapping.entries if entry.key.text in disorder.order]
        rank = ranks([entry.key.text for entry in entries], disorder.order)
        for index in out_of_order(rank):
            key = entries[index].key
            if facts.is_kind_doubtful and key.text == "kind":
                continue  # where it stands does not matter until it is right, which may be that it goes
            yield RULE.at(
                key.span,
                f"the key {shown(key.text)} is out of order",
                help=f"move it {_place(disorder, key.text)}",
                fix=Fix(edits=disorder.edits),
            )


def _dependencies(facts: Facts) -> Diagnostics:
    """Yield a finding where the ids in `depends_on` are not in natural order; its fix sorts them."""
    ids, text = facts.dependencies, facts.document.text
    ordered = sorted(ids, key=lambda each: id_key(each.id))
    edits = [Edit(*each.span, right.span.of(text)) for each, right in zip(ids, ordered, strict=True) if each != right]
    if edits:
        message = f"the ids in `depends_on` are not in natural order: {', '.join(each.id for each in ordered)}"
        place = facts.value_span("depends_on")
        fix = None if "#" in place.of(text) else Fix(edits=tuple(edits))  # a comment is about the id that it stands at
        yield RULE.at(place, message, help=f"sort them{'; `--fix` does' if fix else ''}", fix=fix)


def _place(disorder: Disorder, key: str) -> str:
    """Return in words where a key belongs: behind the key that precedes it in order, or to the front."""
    present = {entry.key.text for entry in disorder.mapping.entries}
    before = [each for each in disorder.order[: disorder.order.index(key)] if each in present]
    return f"after {shown(before[-1])}" if before else "to the front"

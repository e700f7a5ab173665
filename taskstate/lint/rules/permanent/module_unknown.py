"""module-unknown: the Impact Map names a module that it does not have.

## What

An id in `depends_on` of a module, in `between` of an interface or in `path` of a ripple path is that of no module of
the map.

## Why

What a change reaches is followed from module to module. At an id without a module the way ends, and whatever lies
behind it counts as untouched. It happens when a module is renamed or removed by hand.

## Example

```json
{"id": "api", "paths": ["src/api/**"], "depends_on": ["tokns"]}
```

## Instead

```json
{"id": "api", "paths": ["src/api/**"], "depends_on": ["tokens"]}
```

A module that is still to be written may be in the map already: `"planned": true` says so. `taskstate impact remove`
refuses to remove a module while something names it.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostic, Diagnostics, Rule
from taskstate.lint.facts.wording import shown
from taskstate.messages import MOST_GUESSED, closest
from taskstate.model.impact_map import KINDS
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.nodes import Node

RULE = Rule.of("TSP02", __name__, "the Impact Map names a module that it does not have")

_REFERENCES = {"modules": "depends_on", "interfaces": "between", "ripple_paths": "path"}


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each id that no module has, at its place."""
    value = facts.impact_map
    if value is None:
        return
    modules = _entries(value, "modules")
    if not all(value.is_sound("modules", index, "id") for index in range(len(modules))):
        return  # a module whose own id is faulty may be the one that is meant
    known = dict.fromkeys(node.text for entry in modules if (node := entry.get("id")))
    guessed = 0
    for name, key in _REFERENCES.items():
        for index, entry in enumerate(_entries(value, name)):
            ids = entry.get(key)
            for node in ids.items if ids and value.is_sound(name, index, key) else ():
                if node.text not in known:
                    near = closest(node.text, known) if guessed < MOST_GUESSED else ""
                    guessed += 1
                    yield _finding(node, entry, name, near)


def _finding(node: Node, entry: Node, name: str, near: str) -> Diagnostic:
    owner = entry.get("id")
    meant = f"write {shown(near)} if that is meant; else " if near else ""
    return RULE.at(
        node.span,
        f"the {KINDS[name]} {shown(owner.text) if owner else ''} names {shown(node.text)}, and no module has that id",
        help=f"{meant}add the module (`planned` while it has no files), or take the id out",
    )


def _entries(value: JsonValue, name: str) -> tuple[Node, ...]:
    entries = value.root.get(name)
    return entries.items if entries else ()

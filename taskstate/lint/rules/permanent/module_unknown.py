"""module-unknown: the Impact Map names a module that it does not have.

## What

An id in `depends_on` of a module, in `between` of an interface or in `path` of a ripple path is that of no module of
the map. Each id is told once: where the module stands that got another id since the compared revision, or else where
the id is first named.

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
from taskstate.model.impact_map import KINDS, MODULES
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.spans import Span

RULE = Rule.of("TSP02", __name__, "the Impact Map names a module that it does not have")

_REFERENCES = {"modules": "depends_on", "interfaces": "between", "ripple_paths": "path"}


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each id that no module has, at the first place that names it."""
    value = facts.impact_map
    if value is None or not value.root.get("modules") or not value.is_sound("modules"):
        return
    modules = _entries(value, "modules")
    if not all(value.is_sound("modules", index, "id") for index in range(len(modules))):
        return  # a module whose own id is faulty may be the one that is meant
    known = dict.fromkeys(node.text for entry in modules if (node := entry.get("id")))
    told = set[str]()
    new = _new_modules(value, facts)
    for name, key in _REFERENCES.items():
        for index, entry in enumerate(_entries(value, name)):
            ids = entry.get(key)
            for node in ids.items if ids and value.is_sound(name, index, key) else ():
                if node.text not in known and node.text not in told:
                    near = closest(node.text, known) if len(told) < MOST_GUESSED else ""
                    told.add(node.text)
                    finding = _finding(node, entry, name, near)
                    if node.text in new:
                        finding = finding._replace(span=new[node.text], help=f"write {shown(node.text)} here again")
                    committed = _committed(facts, (name, key), entry, ids)
                    back = _committed(facts, (MODULES, ""), node)
                    help_ = (
                        f"write {shown(committed)} again"
                        if committed
                        else f"put the module back: `{back}`" * bool(back)
                    )
                    yield finding if node.text in new or not help_ else finding._replace(help=help_)


def _committed(facts: Facts, place: tuple[str, str], entry: Node, ids: Node | None = None) -> str:
    """Return the id that was committed in an entry instead of one of its ids now, or else the text of a module."""
    name, key = place
    owner = entry.get("id") if ids else entry
    for then in facts.past or ():
        for each in _entries(then.impact_map, name) if then.impact_map else ():
            same, before = each.get("id"), each.get(key)
            if same and owner and same.text == owner.text:
                now = {node.text for node in ids.items} if ids else set()
                gone = [node.text for node in before.items if node.text not in now] if before else []
                return gone[0] if len(gone) == 1 else "" if ids else each.span.of(then.document.text)
    return ""


def _new_modules(value: JsonValue, facts: Facts) -> dict[str, Span]:
    """Return for a module that is gone since the compared revision where another one stands instead."""
    now = {node.text: node.span for entry in _entries(value, "modules") if (node := entry.get("id"))}
    maps = (then.impact_map for then in facts.past or ())
    past = {node.text for each in maps if each for entry in _entries(each, "modules") if (node := entry.get("id"))}
    new, gone = [span for name, span in now.items() if name not in past], past - now.keys()
    return dict.fromkeys(gone, new[0]) if len(new) == len(gone) == 1 else {}


def _finding(node: Node, entry: Node, name: str, near: str) -> Diagnostic:
    owner = entry.get("id")
    meant = f"write {shown(near)} if that is meant; else " if near else ""
    return RULE.at(
        node.span,
        f"the {KINDS[name]} {shown(owner.text) if owner else ''} names {shown(node.text)}, and no module has that id",
        help=f"{meant}add the module (`planned` while it has no files), or remove the id",
    )


def _entries(value: JsonValue, name: str) -> tuple[Node, ...]:
    entries = value.root.get(name)
    return entries.items if entries else ()

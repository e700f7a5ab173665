"""impact-map-schema: the Impact Map does not meet its schema.

## What

The JSON of the Codebase Impact Map, in its fence or in the file `task-<id>-impact-map.json`, lacks a key, has one that
the format does not know, or a value of the wrong type; two modules, interfaces or ripple paths have one id; or a module
depends on itself through a circle that is not allowed. Keys that begin with `x-` are free. A glob that is new and
matches no file is a warning, unless its module is `planned`; an interface is between two modules, not one. Where the
section refers to the file, a file that is missing, one of another task, a map here as well, or a SHA-256 in the section
that was edited, is a finding too; so is a section whose map is gone. (A file that was edited is told by TSP07.)

## Why

Claims about what a change reaches are checked against the map. A map that cannot be read for certain answers wrongly
or not at all, and everybody works from the same answer.

## Example

```json
{"modules": [{"id": "api", "paths": "src/api/**"}], "interfaces": [], "ripple_paths": []}
```

## Instead

```json
{"modules": [{"id": "api", "paths": ["src/api/**"], "depends_on": []}], "interfaces": [], "ripple_paths": []}
```

`taskstate impact add` and `taskstate impact remove` write the map in its form, wherever it lies. A map file that was
edited by hand becomes the next version with

```console
$ taskstate permanent update --section "Codebase Impact Map" --from .taskstate/tasks/task-1-impact-map.json
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.wording import cut, first_line_of, put_back, shown, shown_by
from taskstate.messages import typed_path
from taskstate.model.impact_graph import circles
from taskstate.model.impact_map import INTERFACES, KINDS, MODULES, linked_file, map_of, stored_in
from taskstate.model.permanent import IMPACT_MAP, VERSION_SEAL, edited_sections
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.spans import Span

RULE = Rule.of("TSP01", __name__, "the Impact Map does not meet its schema")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault of the map, and one where the file that holds it is not the one referred to."""
    value = facts.impact_map
    if value:
        yield from value.schema_findings(facts.document, RULE)
        yield from _repeated_ids(value)
        yield from _circles(value)
        yield from _one_sided(value)
        yield from _unmatched(value, facts)
    yield from _without_fence(facts)
    yield from _faults_of_link(facts)


def _without_fence(facts: Facts) -> Diagnostics:
    """Yield a finding where the section has a map that is in no fence, or in one that is not marked as JSON."""
    stored = stored_in(facts.state) if facts.is_permanent else None
    section = facts.state.section(IMPACT_MAP)
    if stored is None or section is None or stored.text is not None or stored.sha256 is not None:
        return
    text, fences = facts.document.text, facts.document.blocks_in(section.own, "fence")
    if f'"{MODULES}"' in section.own.of(text):
        place = first_line_of(facts.document, fences[0].span) if fences else section.heading
        help_ = "write `json` after its opening marks" if fences else "write ```json above it, and ``` below it"
        yield RULE.at(place, "the map is not in a fence marked as `json`", help=help_)
        return
    past = [(each, then.document.text) for then in facts.past or () if (each := stored_in(then.state))]
    for each, then in [(each, then) for each, then in past if (each.sha256, each.text) != (None, None)][:1]:
        help_ = (
            f"write `{each.place.of(then)}` again below it" if each.sha256 else f"put it back{shown_by(facts.queries)}"
        )
        yield RULE.at(section.heading, "the section has no map any more, nor says where it is", help=help_)


def _ids(value: JsonValue, name: str) -> Iterator[Node]:
    """Yield the ids of a list of the map that are sound."""
    entries = value.root.get(name)
    for index, entry in enumerate(entries.items if entries else ()):
        node = entry.get("id")
        if node and value.is_sound(name, index, "id"):
            yield node


def _repeated_ids(value: JsonValue) -> Diagnostics:
    for name, noun in KINDS.items():
        seen = set()
        for node in _ids(value, name):
            if node.text in seen:
                message = f"there is another {noun} {shown(node.text)}"
                yield RULE.at(node.span, message, help="give each its own id, or join them")
            seen.add(node.text)


def _circles(value: JsonValue) -> Diagnostics:
    if value.faults:
        return
    places = {node.text: node.span for node in _ids(value, MODULES)}
    for circle in circles(map_of(value.root.value())):
        yield RULE.at(
            places[circle[0]],
            f"the module {shown(circle[0])} depends on itself: {cut(' -> '.join(circle))}",
            help='remove a dependency, or write `"circle_allowed": true` where it is meant',
        )


def _one_sided(value: JsonValue) -> Diagnostics:
    """Yield a finding for each interface between a module and itself."""
    entries = value.root.get(INTERFACES)
    for index, entry in enumerate(entries.items if entries else ()):
        between = entry.get("between") if value.is_sound(INTERFACES, index) else None
        ids = [each.text for each in between.items] if between else []
        if len(ids) > 1 and len({*ids}) == 1:
            message = f"the interface is between {shown(ids[0])} and itself"
            yield RULE.at(between.items[1].span if between else entry.span, message, help="name the other module")


def _unmatched(value: JsonValue, facts: Facts) -> Diagnostics:
    """Yield a warning for each glob that covers no file, and that no compared revision of the document has."""
    modules = value.root.get(MODULES) if facts.past and value.is_sound(MODULES) else None
    for module in modules.items if modules else ():
        planned, paths = module.get("planned"), module.get("paths")
        for glob in paths.items if paths and not (planned and planned.value()) else ():
            if not facts.was_there(glob.text) and facts.queries.matches(glob.text) is False:
                message = f"no file matches {shown(glob.text)}"
                help_ = 'correct it, or write `"planned": true` where the module is still to come'
                yield RULE.at(glob.span, message, help=help_, severity=WARNING)


class _Link(NamedTuple):
    """The file that a section refers to for its map: its path, the SHA-256 that the section gives, and the link."""

    path: str
    digest: str
    span: Span


def _link(facts: Facts) -> _Link | None:
    """Return the file that a permanent task's section refers to instead of holding the map itself, or None."""
    stored = stored_in(facts.state) if facts.is_permanent else None
    if stored is None or stored.sha256 is None:
        return None
    path = f"{facts.config.root}/tasks/task-{facts.shown_id}-impact-map.json"
    return _Link(path, stored.sha256, first_line_of(facts.document, stored.place))


def _faults_of_link(facts: Facts) -> Diagnostics:
    named = linked_file(facts.state) if facts.is_permanent else None
    own = f"task-{facts.shown_id}-impact-map.json"
    stored = stored_in(facts.state) if named else None
    if named and stored and stored.text is not None:
        message = f"there is a map here, and the section names the file {named[0]} as well"
        help_ = "delete the wrong one; readers use the map that is here"
        yield RULE.at(first_line_of(facts.document, stored.place), message, help=help_)
    elif named and named[0].rpartition("/")[2].casefold() != own.casefold():
        message = f"the section names {shown(named[0])}, and the map of this task is in {own}"
        yield RULE.at(named[1], message, help=f"link to `{own}`")
        return
    link = _link(facts)
    digest = facts.queries.impact_map() if link else None
    if link is None or digest is None or digest == link.digest:
        return
    is_sealed = VERSION_SEAL in facts.values and IMPACT_MAP not in edited_sections(facts.state)
    if not digest:
        message = f"the file {link.path}, which holds the Impact Map, is missing"
        yield RULE.at(link.span, message, help=put_back(facts.queries, link.path))
    elif not is_sealed:  # else the file was edited: TSP07 tells it there
        command = f'taskstate permanent update {facts.shown_id} --section "{IMPACT_MAP}" --from {typed_path(link.path)}'
        message = f"{link.path} does not have the SHA-256 that this section gives"
        yield RULE.at(link.span, message, help=f"restore it from git, or make it the next version: `{command}`")

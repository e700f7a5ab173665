"""Reads the Impact Map of a permanent task: the modules of the code, what they promise each other, and ripple paths.

Pure. The map stands in the json fence of its section, or in a file of its own that the section names with its hash;
reading that file is for the caller. What may stand in a map is checked in `impact_faults`, and what follows from it is
in `impact_graph`.
"""

from __future__ import annotations

import re
from functools import cache

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model import globs
from taskstate.model.permanent import ARCHITECTURE, COSMETIC, IMPACT_MAP, INTERFACE, LEVELS
from taskstate.model.task_state import json_fence
from taskstate.syntax import hashes
from taskstate.syntax.document import parse
from taskstate.syntax.json_input import read_object
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.model.task_state import TaskState

SCHEMA = "impact-map"
MAX_BYTES = 16 * 1024  # a longer map stands in a file of its own
# The lists of a map, each with the word for one of its entries.
MODULES, INTERFACES, RIPPLE_PATHS = "modules", "interfaces", "ripple_paths"
KINDS = {MODULES: "module", INTERFACES: "interface", RIPPLE_PATHS: "ripple path"}

_FORM = (
    'a map in this form: {"modules": [], "interfaces": [], "ripple_paths": []} (`taskstate impact scan` proposes one)'
)
_LINK = r"(?m)^(?>[^\r\n]*?\]\()(?>[^\r\n]*?impact-map\.json)[^\r\n]*"  # the line that names the file of a map
_NAME = "impact-map.json"
_SHA = r"\b[0-9a-f]{64}\b"


class Module(NamedTuple):
    """A part of the code: the files that it has, as globs, and the modules that it needs."""

    id: str
    paths: tuple[str, ...]
    depends_on: tuple[str, ...]
    planned: bool
    circle_allowed: bool


@cache
def cut(glob: str) -> tuple[tuple[str, ...], ...]:
    """Return the patterns that a glob stands for, each cut into the parts of a path; none for one that leads out."""
    return tuple(filter(None, map(globs.parts_of, globs.alternatives(glob))))


def files_by_module(files: Mapping[str, tuple[str, ...]], modules: Iterable[str]) -> dict[str, list[str]]:
    """Return the files of each of these modules; `files` has the modules of each file (`ImpactMap.modules_of`)."""
    found: dict[str, list[str]] = {each: [] for each in modules}
    for path, names in files.items():
        for name in found.keys() & names:
            found[name].append(path)
    return found


class Interface(NamedTuple):
    """What two modules promise each other."""

    id: str
    between: tuple[str, ...]
    contract: str


class RipplePath(NamedTuple):
    """A way that a change takes through the modules."""

    id: str
    path: tuple[str, ...]
    note: str


class ImpactMap(NamedTuple):
    """An Impact Map; `values` is the JSON as it stands, with the keys that people added."""

    modules: tuple[Module, ...]
    interfaces: tuple[Interface, ...]
    ripple_paths: tuple[RipplePath, ...]
    values: Mapping[str, Any]

    @property
    def by_id(self) -> dict[str, Module]:
        """The modules by their ids."""
        return {each.id: each for each in self.modules}

    def modules_of(self, paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return for each of these files, from the repository's root, the ids of the modules that it belongs to."""
        pairs = ((at, each) for at, module in enumerate(self.modules) for glob in module.paths for each in cut(glob))
        patterns = globs.Patterns(pairs)
        return {path: tuple(self.modules[at].id for at in sorted({*patterns.matching(path)})) for path in paths}


class Stored(NamedTuple):
    """Where a section keeps its map: `text` of its fence, else the hash of the file that it names.

    `place` is what a new map replaces: the fence, the link, or what is there as long as there is no map. Both `text`
    and `sha256` are None where there is none; `sha256` is empty where the link comes without a hash.
    """

    place: Span
    text: str | None = None
    sha256: str | None = None


class Merged(NamedTuple):
    """A map with the entries of another one, and which of those replaced an entry, and which are new."""

    map: ImpactMap
    replaced: tuple[str, ...]
    added: tuple[str, ...]


# Reading


def stored_in(state: TaskState) -> Stored | None:
    """Return where the section of a permanent task keeps its map; None where it has no such section."""
    section = state.section(IMPACT_MAP)
    if section is None:
        return None
    text, fence = state.document.text, json_fence(state.document, section.own)
    if fence:
        return Stored(fence.span, text=fence.content.of(text))
    link = re.compile(_LINK).search(text, *section.body)
    if link:
        sha256 = re.compile(_SHA).search(link[0])
        return Stored(Span(*link.span()), sha256=sha256[0] if sha256 else "")
    return Stored(Span(*section.body))


def linked_file(state: TaskState) -> tuple[str, Span] | None:
    """Return the file that a section names for its map, whatever else is in it, and where; None where it names none."""
    section = state.section(IMPACT_MAP)
    link = re.compile(_LINK).search(state.document.text, *section.body) if section else None
    if link is None:
        return None
    end = link[0].index(_NAME, link[0].index("](")) + len(_NAME)
    start = link[0].rindex("](", 0, end) + len("](")
    return link[0][start:end], Span(link.start() + start, link.start() + end)


def digest_of_file(data: bytes) -> str:
    """Return the SHA-256 by which a section names the file of its map: that of the text with LF line ends."""
    return hashes.sha256(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def link_in(text: str) -> str:
    """Return the line of a section that names the file of its map; empty where there is none."""
    link = re.compile(_LINK).search(text)
    return link[0] if link else ""


def read_map(text: str, name: str) -> ImpactMap:
    """Return the map in a JSON text, or in the json fence of a Markdown text; errors call it `name`.

    What `impact show` and `impact scan` print with `--format json` is read as well.

    Raises:
        TaskstateError: code "invalid-input": it is no JSON, or has another shape than the schema says.
    """
    values: Any = read_object(_json_in(text), name, _FORM)
    if values.get("success") is True and isinstance(values.get("data"), dict):
        values = values["data"].get("map")
    faults = schema.faults(values, SCHEMA)
    if faults:
        from taskstate.validation.schema_errors import json_path

        said = [": ".join(filter(None, [json_path(each.path), each.message])) for each in faults]
        raise TaskstateError(
            f"{name}: {first_of(said, 3, separator='; ')}", help=f"write {_FORM}", code="invalid-input"
        )
    return map_of(values)


def _json_in(text: str) -> str:
    """Return the content of the json fence in a Markdown text; a text without one is JSON itself."""
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return text
    document = parse(text)
    fence = json_fence(document, Span(0, len(text)))
    return fence.content.of(text) if fence else text


def map_of(values: Mapping[str, Any]) -> ImpactMap:
    """Return the map with these values, which have the shape that the schema says."""
    return ImpactMap(
        modules=tuple(
            Module(
                id=each["id"],
                paths=tuple(each["paths"]),
                depends_on=tuple(each["depends_on"]),
                planned=each.get("planned", False),
                circle_allowed=each.get("circle_allowed", False),
            )
            for each in values[MODULES]
        ),
        interfaces=tuple(
            Interface(each["id"], tuple(each["between"]), each["contract"]) for each in values[INTERFACES]
        ),
        ripple_paths=tuple(
            RipplePath(each["id"], tuple(each["path"]), each.get("note", "")) for each in values[RIPPLE_PATHS]
        ),
        values=values,
    )


EMPTY = map_of({MODULES: [], INTERFACES: [], RIPPLE_PATHS: []})


# Changing


def merged(old: ImpactMap, new: ImpactMap) -> Merged:
    """Return a map with the entries of a newer one; of two with the same id the newer one stays, in the older's place.

    The entries that this replaces or adds are named by kind and id, such as `module api`.
    """
    values, replaced, added = {**old.values, **new.values}, list[str](), list[str]()
    for key, kind in KINDS.items():
        before = {each["id"]: each for each in old.values[key]}
        after = {each["id"]: each for each in new.values[key]}
        values[key] = [*({**before, **after}).values()]
        replaced += [f"{kind} {name}" for name in after if name in before and before[name] != after[name]]
        added += [f"{kind} {name}" for name in after if name not in before]
    return Merged(map_of(values), tuple(replaced), tuple(added))


def without(map_: ImpactMap, key: str, name: str) -> ImpactMap:
    """Return a map without one entry of the list `key`."""
    kept = [each for each in map_.values[key] if each["id"] != name]
    return map_of({**map_.values, key: kept})


def without_references(map_: ImpactMap, module: str) -> ImpactMap:
    """Return a map in which nothing names a module: no dependency, no interface, no step of a ripple path."""
    values = dict(map_.values)
    values[MODULES] = [
        {**each, "depends_on": [name for name in each["depends_on"] if name != module]} for each in values[MODULES]
    ]
    values[INTERFACES] = [each for each in values[INTERFACES] if module not in each["between"]]
    ripples = ({**each, "path": [name for name in each["path"] if name != module]} for each in values[RIPPLE_PATHS])
    values[RIPPLE_PATHS] = [each for each in ripples if len(each["path"]) > 1]
    return map_of(values)


def references(map_: ImpactMap, module: str) -> tuple[str, ...]:
    """Return what else names a module, by kind and id."""
    found = [f"module {each.id}" for each in map_.modules if module in each.depends_on and each.id != module]
    found += [f"interface {each.id}" for each in map_.interfaces if module in each.between]
    return (*found, *(f"ripple path {each.id}" for each in map_.ripple_paths if module in each.path))


def map_level(before: ImpactMap, after: ImpactMap) -> str:
    """Return what the change from one map to another asks of those who work on the older one."""
    return max(_levels(before, after), key=LEVELS.index, default=COSMETIC)


def _levels(before: ImpactMap, after: ImpactMap) -> Iterator[str]:
    """Yield the level of each difference that is more than cosmetic."""
    old, new = before.by_id, after.by_id
    shared = old.keys() & new.keys()
    ripples = {each.id: each.path for each in before.ripple_paths}
    if old.keys() - new.keys() or any({*old[name].depends_on} != {*new[name].depends_on} for name in shared):
        yield ARCHITECTURE
    if any(ripples.get(each.id, each.path) != each.path for each in after.ripple_paths):
        yield ARCHITECTURE
    if new.keys() - old.keys() or any({*old[name].paths} != {*new[name].paths} for name in shared):
        yield INTERFACE
    if {*before.interfaces} != {*after.interfaces}:
        yield INTERFACE
    if ripples.keys() != {each.id for each in after.ripple_paths}:
        yield INTERFACE

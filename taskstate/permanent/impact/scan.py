"""Proposes modules and dependencies from what the Python files of a repository import. Nothing is run or written."""

from __future__ import annotations

import ast
import re
import warnings

from taskstate.errors import TaskstateError
from taskstate.model import impact_graph
from taskstate.model.impact_map import MODULES, map_of
from taskstate.syntax.spans import CONTROLS, printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.model.impact_map import ImpactMap
    from taskstate.workspace.workspace import Workspace

DEPTH = 2  # folders in the name of a proposed module
_SOURCE_FOLDERS = frozenset({"src", "lib", "python"})  # hold packages, and are part of no name
_SPECIAL = rf"[*?\[\]{{}}\\]|{CONTROLS}"  # what a glob cannot hold as itself; `?` stands for each
_SUFFIX = ".py"
_INIT = "__init__"


class Scan(NamedTuple):
    """What the code says: the map as it would be, how the present one differs, and the files that do not parse."""

    proposed: ImpactMap
    differences: tuple[str, ...]
    unread: tuple[str, ...]


def scan(workspace: Workspace, map_: ImpactMap, paths: tuple[str, ...], depth: int = DEPTH) -> Scan:
    """Return the map that the imports of the Python files suggest; `paths` are the repository's files.

    A file belongs to the modules whose globs match it. For files in no module a new one is proposed for each folder,
    `depth` folders deep. What the map has besides stays.
    """
    sources = tuple(path for path in paths if path.endswith(_SUFFIX))
    owners = map_.modules_of(sources)
    free = _new_modules(map_, tuple(path for path, names in owners.items() if not names), sources, depth)
    for module in free:
        owners |= dict.fromkeys(module.files, (module.id,))
    imports, unread = _imports(workspace, sources)
    needs = _dependencies(owners, imports)
    entries = [_with_needs(each, needs) for each in map_.values[MODULES]]
    entries += [_with_needs({"id": each.id, "paths": [each.glob], "depends_on": []}, needs) for each in free]
    proposed = map_of({**map_.values, MODULES: entries})
    inside = {name for circle in impact_graph.circles(proposed) for name in circle}
    proposed = map_of({**map_.values, MODULES: [_allowed(each) if each["id"] in inside else each for each in entries]})
    known = {name for names in owners.values() for name in names}
    differences = tuple(_differences(map_, proposed, needs, known, inside))
    return Scan(proposed, tuple(map(printable, differences)), unread)


class _NewModule(NamedTuple):
    id: str
    glob: str
    files: tuple[str, ...]


# Modules


def _new_modules(map_: ImpactMap, free: tuple[str, ...], sources: tuple[str, ...], depth: int) -> list[_NewModule]:
    """Return a module for each folder with files that are in none."""
    folders: dict[tuple[str, ...], list[str]] = {}
    for path in free:
        folders.setdefault(_place(path, depth), []).append(path)
    taken, found = set(map_.by_id), []
    for place, files in sorted(folders.items()):
        name = _free_name(place, taken)
        taken.add(name)
        found.append(_NewModule(name, _glob(place, files, sources, depth), tuple(files)))
    return found


def _place(path: str, depth: int) -> tuple[str, ...]:
    """Return the folders that name the module of a file, at most `depth` below the one with the sources."""
    parts = path.split("/")
    start = 1 if len(parts) > 1 and parts[0] in _SOURCE_FOLDERS else 0
    return tuple(parts[: start + depth][: len(parts) - 1]) or (parts[-1],)


def _free_name(place: tuple[str, ...], taken: set[str]) -> str:
    named = place[1:] if len(place) > 1 and place[0] in _SOURCE_FOLDERS else place
    name = re.sub(r"[\s,]+", "-", printable(".".join(named))).removesuffix(_SUFFIX)
    return next(
        each for number in range(1, len(taken) + 2) if (each := f"{name}-{number}" if number > 1 else name) not in taken
    )


def _glob(place: tuple[str, ...], files: list[str], sources: tuple[str, ...], depth: int) -> str:
    """Return the glob of a proposed module: all that is below its folder, or only the files in it."""
    plain = [re.sub(_SPECIAL, "?", part) for part in place]
    folder = "/".join(place)
    if files == [folder]:
        return "/".join(plain)
    is_split = any(_place(path, depth) != place for path in sources if path.startswith(f"{folder}/"))
    return "/".join([*plain, f"*{_SUFFIX}" if is_split else "**"])


def _with_needs(entry: Mapping[str, Any], needs: Mapping[str, set[str]]) -> dict[str, Any]:
    """Return a module's entry with the dependencies that the code has besides its own."""
    new = sorted(needs.get(entry["id"], set()) - {*entry["depends_on"]})
    return {**entry, "depends_on": [*entry["depends_on"], *new]}


def _allowed(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry, "circle_allowed": True}


# Imports


def _imports(workspace: Workspace, sources: tuple[str, ...]) -> tuple[dict[str, set[str]], tuple[str, ...]]:
    """Return for each file the files that it imports, and the files that do not parse."""
    names = _names(sources)
    found: dict[str, set[str]] = {}
    unread = []
    for path in sources:
        tree = _parsed(workspace, path)
        if tree is None:
            unread.append(path)
            continue
        found[path] = {target for name in _imported(tree, path) if (target := _resolved(name, path, names))} - {path}
    return found, tuple(unread)


def _parsed(workspace: Workspace, path: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the code's own, such as an invalid escape
            return ast.parse(workspace.read(workspace.root / path))
    except (SyntaxError, ValueError, RecursionError, MemoryError, TaskstateError):
        return None


def _names(sources: tuple[str, ...]) -> dict[str, str]:
    """Return the files by the dotted names that they are imported by: from the root, and from a folder with sources."""
    found: dict[str, str] = {}
    packages = {path.rpartition("/")[0] for path in sources if path.endswith(f"{_INIT}{_SUFFIX}")}
    for path in sources:
        parts = path.removesuffix(_SUFFIX).split("/")
        parts = parts[:-1] if parts[-1] == _INIT else parts
        found.setdefault(".".join(parts), path)
        top = next((at for at in range(len(parts)) if "/".join(parts[: at + 1]) in packages), None)
        if top:
            found.setdefault(".".join(parts[top:]), path)
        if len(parts) > 1 and parts[0] in _SOURCE_FOLDERS:
            found.setdefault(".".join(parts[1:]), path)
    return found


def _imported(tree: ast.Module, path: str) -> Iterator[str]:
    """Yield the dotted names that a file imports; relative ones from the root."""
    folder = path.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level <= len(folder) + 1:
            above = folder[: len(folder) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" if base else alias.name for alias in node.names)


def _resolved(name: str, path: str, names: Mapping[str, str]) -> str:
    """Return the file that a dotted name means, or the package that holds it; a script also finds its neighbours."""
    beside = ".".join([*path.split("/")[:-1], name])
    for whole in (name, beside):
        parts = whole.split(".")
        least = whole.count(".") - name.count(".") + 1 if whole is beside else 1
        for length in range(len(parts), least - 1, -1):
            if ".".join(parts[:length]) in names:
                return names[".".join(parts[:length])]
    return ""


def _dependencies(owners: Mapping[str, tuple[str, ...]], imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return for each module those whose files its own files import."""
    needs: dict[str, set[str]] = {}
    for path, targets in imports.items():
        for name in owners[path]:
            found = {other for target in targets for other in owners[target]}
            # A file that both modules have says nothing about the one needing the other.
            needs.setdefault(name, set()).update(found - {*owners[path]})
    return needs


# Differences


def _differences(
    map_: ImpactMap, proposed: ImpactMap, needs: Mapping[str, set[str]], seen: Iterable[str], circles: set[str]
) -> Iterator[str]:
    """Yield how the map differs from the code, in words."""
    old, seen = map_.by_id, {*seen}
    for module in proposed.modules:
        before = old.get(module.id)
        if before is None:
            yield f"new module {module.id}: {', '.join(module.paths)}{_needing(module.depends_on)}"
            continue
        new = [name for name in module.depends_on if name not in before.depends_on]
        unseen = [name for name in before.depends_on if name in seen and name not in needs.get(module.id, set())]
        yield from (f"module {module.id} imports {name}, which the map does not say" for name in new)
        if module.id in seen:
            yield from (
                f"module {module.id} depends on {name} in the map, and imports nothing of it" for name in unseen
            )
        if before.planned and module.id in seen:
            yield f"module {module.id} is planned in the map, and has files"
    if circles:
        yield f"a circle of imports goes through {', '.join(sorted(circles))}: the proposal says that it is allowed"


def _needing(ids: tuple[str, ...]) -> str:
    return f"; depends on {', '.join(ids)}" if ids else ""

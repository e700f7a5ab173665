"""Says what is wrong with an Impact Map beyond its schema: ids, circles, globs, characters. Pure."""

from __future__ import annotations

import re
from collections import Counter

from taskstate.messages import MOST_GUESSED, closest
from taskstate.model import globs
from taskstate.model.impact_graph import circles
from taskstate.model.impact_map import KINDS, cut
from taskstate.syntax.spans import CONTROLS, printable
from taskstate.typed import TYPE_CHECKING
from taskstate.validation.paths import escape_reason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from taskstate.model.impact_map import ImpactMap


def faults(map_: ImpactMap) -> tuple[str, ...]:
    """Return what is wrong with a map, in words; its globs are not compared with any files."""
    return tuple(printable(each) for each in _faults(map_))


def _faults(map_: ImpactMap) -> Iterator[str]:
    yield from _bad_characters(map_)
    yield from _repeated(map_)
    yield from _unknown(map_)
    yield from _bad_globs(map_)
    for circle in circles(map_):
        yield f"module {circle[0]} depends on itself: {' -> '.join(circle)}"


def _bad_characters(map_: ImpactMap) -> Iterator[str]:
    for key, kind in KINDS.items():
        for each in map_.values[key]:
            bad = next((match for text in _texts(each) if (match := re.compile(CONTROLS).search(text))), None)
            if bad:
                yield f"{kind} {each['id']} holds the control character U+{ord(bad[0]):04X}"


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _repeated(map_: ImpactMap) -> Iterator[str]:
    for key, kind in KINDS.items():
        counts = Counter(each["id"] for each in map_.values[key])
        yield from (f"there are {number} {kind}s {name}" for name, number in counts.items() if number > 1)


def _unknown(map_: ImpactMap) -> Iterator[str]:
    known = map_.by_id
    uses = [(f"module {each.id} depends on", each.depends_on) for each in map_.modules]
    uses += [(f"interface {each.id} is between", each.between) for each in map_.interfaces]
    uses += [(f"ripple path {each.id} goes through", each.path) for each in map_.ripple_paths]
    unknown = ((words, name) for words, ids in uses for name in ids if name not in known)
    for number, (words, name) in enumerate(unknown):
        near = closest(name, known) if number < MOST_GUESSED else ""
        guess = f" (did you mean {near}?)" if near else ""
        yield f"{words} {name!r}, which is not a module{guess}"
    for each in map_.interfaces:
        if len({*each.between}) == 1:
            yield f"interface {each.id} is between {each.between[0]} and itself"


def _bad_globs(map_: ImpactMap) -> Iterator[str]:
    for module in map_.modules:
        if not module.paths and not module.planned:
            yield f"module {module.id} has no paths, and is not planned"
        for path in module.paths:
            reason = escape_reason(path) or ("" if cut(path) else "names nothing in the repository")
            if reason:
                yield f"module {module.id}: the glob {path!r} {reason}"


def unmatched(map_: ImpactMap, paths: Collection[str]) -> tuple[str, ...]:
    """Return in words the globs that match none of the repository's files, of modules that are not planned."""
    entries = [(each.id, glob) for each in map_.modules if not each.planned for glob in each.paths if cut(glob)]
    patterns = globs.Patterns((at, each) for at, (_, glob) in enumerate(entries) for each in cut(glob))
    matched = {at for path in paths for at in patterns.matching(path)}
    return tuple(
        f"module {name}: no file matches {printable(glob)!r}"
        for at, (name, glob) in enumerate(entries)
        if at not in matched
    )

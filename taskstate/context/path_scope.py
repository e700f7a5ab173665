"""Which files belong to a task: the paths, globs and macros of its Repository Paths against paths of the repository.

A path is compared part by part, never as the beginning of a string: `src/app` covers `src/app/main.py` and not
`src/application.py`. Pure, and linear in the path for every pattern, since patterns stand in files that anybody writes.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_ANY_DEPTH = "**"
_WILDCARD = r"[*?\[]"
_CODE = r"(?s)(`+)(.+?)\1(?!`)"
_REMARK = r"(?s)\s+(?:[-\u2013\u2014#]\s|\().*"
_ESCAPE = r"\\([*?\[\]])"
_ESCAPED = r"\\(.)"
_BRACES = r"\{([^{}]*,[^{}]*)\}"
_MOST_BRACES = 256  # patterns that one with braces may stand for


class Scope(NamedTuple):
    """What a task covers, and what it takes out of that, as patterns cut into their parts."""

    inside: tuple[tuple[str, ...], ...] = ()
    outside: tuple[tuple[str, ...], ...] = ()

    def covers(self, path: str) -> bool:
        """Return whether a path, from the repository's root with `/`, belongs to the task."""
        parts = tuple(path.split("/"))
        return any(_fits(parts, each) for each in self.inside) and not any(_fits(parts, each) for each in self.outside)


def read_scope(items: Iterable[str], macros: Mapping[str, tuple[str, ...]]) -> Scope:
    """Return the scope that list items describe, each a pattern or `:macro`, in code marks or before a remark.

    `*`, `?` and `[…]` stand for something within one part, `**` for any number of parts, `{a,b}` for either; without a
    wildcard at its end a pattern covers all that lies under it. What `!` precedes is taken out. A macro that is not
    known stands for nothing.
    """
    inside: list[tuple[str, ...]] = []
    outside: list[tuple[str, ...]] = []
    for item in items:
        for written in _written(item):
            chosen, pattern = (outside, written[1:].strip()) if written.startswith("!") else (inside, written)
            for each in _expanded(pattern, macros, frozenset()):
                parts = _parts(each)
                if parts:
                    chosen.append(parts)
    return Scope(inside=tuple(inside), outside=tuple(outside))


def _written(item: str) -> list[str]:
    """Return the patterns of an item: what stands in code marks, or the text before a remark."""
    coded = [match[2].strip() for match in re.compile(_CODE).finditer(item)]
    return coded or [re.compile(_REMARK).sub("", item).strip()]


def _expanded(pattern: str, macros: Mapping[str, tuple[str, ...]], within: frozenset[str]) -> Iterator[str]:
    """Yield what a pattern stands for; a macro may name others, but not itself."""
    if not pattern.startswith(":"):
        yield from _alternatives(pattern)
        return
    name = pattern[1:]
    for each in macros.get(name, ()) if name not in within else ():
        yield from _expanded(each, macros, within | {name})


def _alternatives(pattern: str) -> list[str]:
    done, waiting = list[str](), [pattern]
    while waiting and len(done) + len(waiting) <= _MOST_BRACES:
        each = waiting.pop()
        found = re.compile(_BRACES).search(each)
        if found is None:
            done.append(each)
            continue
        waiting += [each[: found.start()] + choice + each[found.end() :] for choice in found[1].split(",")]
    return [pattern] if waiting else done


def _parts(pattern: str) -> tuple[str, ...]:
    """Return a pattern cut at its slashes, a folder with all that lies under it; nothing for one that leads out."""
    if pattern.startswith("/") or not pattern:
        return ()
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    if ".." in parts:
        return ()
    plain = not parts or not re.compile(_WILDCARD).search(re.compile(_ESCAPED).sub("", parts[-1]))
    if pattern.endswith("/") or plain:
        parts.append(_ANY_DEPTH)
    elif parts[-1] == _ANY_DEPTH:
        parts.append("*")
    return tuple(_literal(part) for part in parts)


def _literal(part: str) -> str:
    """Return a part with its escaped characters in the form that `fnmatch` knows."""
    return re.compile(_ESCAPED).sub(r"\1", re.compile(_ESCAPE).sub(r"[\1]", part)) if "\\" in part else part


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return whether the parts of a path fit a pattern; it suffices to go back to the last `**`."""
    at = here = 0
    back, mark = -1, 0
    while here < len(parts):
        if at < len(pattern) and pattern[at] == _ANY_DEPTH:
            back, mark, at = at, here, at + 1
        elif at < len(pattern) and fnmatchcase(parts[here], pattern[at]):
            at, here = at + 1, here + 1
        elif back >= 0:
            mark += 1
            at, here = back + 1, mark
        else:
            return False
    return all(part == _ANY_DEPTH for part in pattern[at:])

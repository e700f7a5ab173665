"""Matches file paths against the Repository Paths of a task: paths, globs and macros. Pure."""

from __future__ import annotations

import re

from taskstate.model import globs
from taskstate.syntax.patterns import CODE, compiled
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_REMARK = r"(?s)(?<!\s)\s+(?:[-\u2013\u2014#]\s|\().*"


class Scope(NamedTuple):
    """The patterns that a task covers, and those that it excludes again."""

    inside: globs.Patterns
    outside: globs.Patterns

    def covers(self, path: str) -> bool:
        """Return whether a path, relative to the repository's root with `/`, belongs to the task."""
        is_inside, is_outside = (any(True for _ in each.matching(path)) for each in self)
        return is_inside and not is_outside


def read_scope(items: Iterable[str], macros: Mapping[str, tuple[str, ...]]) -> Scope:
    """Return the scope that list items describe, each a pattern or `:macro`, in code marks or before a remark.

    `*`, `?` and `[…]` match within one part, `**` any number of parts, `{a,b}` either alternative. A pattern whose last
    part has no wildcard also covers everything below it. A pattern after `!` is excluded. An unknown macro is ignored.
    """
    inside: list[tuple[str, ...]] = []
    outside: list[tuple[str, ...]] = []
    for item in items:
        for text in _patterns_in(item):
            target, pattern = (outside, text[1:].strip()) if text.startswith("!") else (inside, text)
            target += filter(None, map(globs.parts_of, _expanded(pattern, macros, frozenset())))
    return Scope(inside=globs.Patterns(enumerate(inside)), outside=globs.Patterns(enumerate(outside)))


def _patterns_in(item: str) -> list[str]:
    """Return the patterns of an item: its texts in code marks, else the text before a remark."""
    coded = [match[2].strip() for match in compiled(CODE).finditer(item)]
    return coded or [re.compile(_REMARK).sub("", item).strip()]


def _expanded(pattern: str, macros: Mapping[str, tuple[str, ...]], enclosing: frozenset[str]) -> Iterator[str]:
    """Yield the patterns that a pattern or macro stands for; a macro inside itself is ignored."""
    if not pattern.startswith(":"):
        yield from globs.alternatives(pattern)
        return
    name = pattern[1:]
    for each in macros.get(name, ()) if name not in enclosing else ():
        yield from _expanded(each, macros, enclosing | {name})

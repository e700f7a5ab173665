"""Matches file paths against the Repository Paths of a task: paths, globs and macros.

Paths are compared part by part, never as string prefixes: `src/app` covers `src/app/main.py` and not
`src/application.py`. Pure. No pattern makes matching exponential, since anybody may write one.
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
_MOST_BRACES = 256  # patterns from one with braces: their number doubles with every pair


class Scope(NamedTuple):
    """The patterns that a task covers, and those that it excludes again, each cut into the parts of a path."""

    inside: tuple[tuple[str, ...], ...] = ()
    outside: tuple[tuple[str, ...], ...] = ()

    def covers(self, path: str) -> bool:
        """Return whether a path, relative to the repository's root with `/`, belongs to the task."""
        parts = tuple(path.split("/"))
        return any(_matches(parts, each) for each in self.inside) and not any(
            _matches(parts, each) for each in self.outside
        )


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
            target += filter(None, map(_parts, _expanded(pattern, macros, frozenset())))
    return Scope(inside=tuple(inside), outside=tuple(outside))


def _patterns_in(item: str) -> list[str]:
    """Return the patterns of an item: its texts in code marks, else the text before a remark."""
    coded = [match[2].strip() for match in re.compile(_CODE).finditer(item)]
    return coded or [re.compile(_REMARK).sub("", item).strip()]


def _expanded(pattern: str, macros: Mapping[str, tuple[str, ...]], enclosing: frozenset[str]) -> Iterator[str]:
    """Yield the patterns that a pattern or macro stands for; a macro inside itself is ignored."""
    if not pattern.startswith(":"):
        yield from _alternatives(pattern)
        return
    name = pattern[1:]
    for each in macros.get(name, ()) if name not in enclosing else ():
        yield from _expanded(each, macros, enclosing | {name})


def _alternatives(pattern: str) -> list[str]:
    done, waiting = list[str](), [pattern]
    while waiting and len(done) + len(waiting) <= _MOST_BRACES:
        candidate = waiting.pop()
        match = re.compile(_BRACES).search(candidate)
        if match is None:
            done.append(candidate)
            continue
        waiting += [candidate[: match.start()] + choice + candidate[match.end() :] for choice in match[1].split(",")]
    return [pattern] if waiting else done


def _parts(pattern: str) -> tuple[str, ...]:
    """Return the parts of a pattern, with `**` behind a folder; none for a pattern that leads out of the repository."""
    if pattern.startswith("/") or not pattern:
        return ()
    parts = [part for part in pattern.split("/") if part not in {"", "."}]
    if ".." in parts:
        return ()
    is_literal = not parts or not re.compile(_WILDCARD).search(re.compile(_ESCAPED).sub("", parts[-1]))
    if pattern.endswith("/") or is_literal:
        parts.append(_ANY_DEPTH)
    elif parts[-1] == _ANY_DEPTH:
        parts.append("*")
    return tuple(_literal(part) for part in parts)


def _literal(part: str) -> str:
    """Return a part with escapes as `fnmatch` writes them: it knows `[*]`, not a backslash."""
    return re.compile(_ESCAPED).sub(r"\1", re.compile(_ESCAPE).sub(r"[\1]", part)) if "\\" in part else part


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return whether the parts of a path match the parts of a pattern.

    On a mismatch only the last `**` takes one more part: going back to earlier ones could not help, and costs
    exponential time.
    """
    position = index = 0
    last_wildcard, resume = -1, 0
    while index < len(parts):
        if position < len(pattern) and pattern[position] == _ANY_DEPTH:
            last_wildcard, resume, position = position, index, position + 1
        elif position < len(pattern) and fnmatchcase(parts[index], pattern[position]):
            position, index = position + 1, index + 1
        elif last_wildcard >= 0:
            resume += 1
            position, index = last_wildcard + 1, resume
        else:
            return False
    return all(part == _ANY_DEPTH for part in pattern[position:])

"""Matches file paths against globs, part by part, as Repository Paths and the Impact Map write them.

Never as string prefixes: `src/app` covers `src/app/main.py` and not `src/application.py`. `*`, `?` and `[…]` match
within one part, `**` any number of parts, `{a,b}` either alternative. A glob whose last part has no wildcard also
covers everything below it. Pure. No glob makes matching exponential, since anybody may write one, and of thousands a
path is compared with those alone that begin as it does.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ANY_DEPTH = "**"
_WILDCARD = r"[*?\[]"
_ESCAPE = r"\\([*?\[\]])"
_ESCAPED = r"\\(.)"
_BRACES = r"\{([^{},]*,[^{}]*)\}"
_MOST_BRACES = 256  # patterns from one with braces: their number doubles with every pair


def alternatives(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for: each of `{a,b}` in turn."""
    done, waiting = list[str](), [pattern]
    while waiting and len(done) + len(waiting) <= _MOST_BRACES:
        candidate = waiting.pop()
        match = re.compile(_BRACES).search(candidate)
        if match is None:
            done.append(candidate)
            continue
        waiting += [candidate[: match.start()] + choice + candidate[match.end() :] for choice in match[1].split(",")]
    return [pattern] if waiting else done


def parts_of(pattern: str) -> tuple[str, ...]:
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


def matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
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


class Patterns:
    """Patterns, each with a number, found by the parts before their first wildcard."""

    def __init__(self, patterns: Iterable[tuple[int, tuple[str, ...]]] = ()) -> None:
        self._by_start: dict[tuple[str, ...], list[tuple[int, tuple[str, ...]]]] = {}
        has_wildcard = re.compile(_WILDCARD).search
        for number, pattern in patterns:
            start = next((at for at, part in enumerate(pattern) if has_wildcard(part)), len(pattern))
            self._by_start.setdefault(pattern[:start], []).append((number, pattern[start:]))
        self._longest = max(map(len, self._by_start), default=0)

    def __bool__(self) -> bool:
        return bool(self._by_start)

    @property
    def starts(self) -> Iterable[tuple[str, ...]]:
        """The beginnings of the patterns, up to the first part with a wildcard."""
        return self._by_start

    def matching(self, path: str) -> Iterator[int]:
        """Yield the numbers of the patterns that match a path, once for each pattern."""
        parts = tuple(path.split("/"))
        for start in range(min(len(parts), self._longest) + 1):
            for number, rest in self._by_start.get(parts[:start], ()):
                if matches(parts[start:], rest):
                    yield number

"""Collects the Repository Paths of a task for a capture: macros are resolved, globs stay, the result is sorted."""

from __future__ import annotations

import re

from taskstate.context.citations import truncated
from taskstate.errors import TaskstateError
from taskstate.messages import closest, first_of
from taskstate.syntax.patterns import CODE, compiled
from taskstate.typed import TYPE_CHECKING
from taskstate.validation.paths import escape_reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NAMED = 3  # items in a message
_SHOWN = 60  # characters of each of them
_REMARK = r"(?s)(?<!\s)\s+(?:[-\u2013\u2014#]\s|\().*"
_PATH = r"[/*?\[{.]|\A!?:"  # a word with one of these looks like a path


def pattern_of(item: str) -> str:
    """Return the pattern of an item: its text in code marks, else its text before a remark (` - …`, ` (…`)."""
    match = compiled(CODE).match(item)
    return match[2].strip() if match else re.compile(_REMARK).sub("", item).strip()


def in_code_marks(item: str) -> str:
    """Return an item in code marks, unless it has a remark or code marks already."""
    return f"`{item}`" if pattern_of(item) == item and "`" not in item else item


def looks_like_paths(items: Sequence[str], *, loosely: bool = False) -> bool:
    """Return whether all items are paths, globs or macros; `loosely` accepts any single word."""
    return bool(items) and all(_is_path(each, loosely=loosely) for each in items)


def paths_among(items: Sequence[str]) -> tuple[str, ...]:
    """Return the items of a task file's scope that are paths, globs or macros.

    A single word such as `Makefile` counts as a path only where every item is a single word.
    """
    loosely = looks_like_paths(items, loosely=True)
    return tuple(each for each in items if _is_path(each, loosely=loosely))


def left_out_notes(items: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
    """Return a remark on the items of a scope that are not paths, if at least one other is."""
    words = [each for each in items if each not in paths] if paths else []
    if not words:
        return ()
    shown = first_of([truncated(each, _SHOWN) for each in words], _NAMED)
    return (f"repository paths: left out what looks like words in the scope: {shown}",)


def _is_path(item: str, *, loosely: bool) -> bool:
    word = compiled(CODE).sub(r"\2", item).strip()
    return bool(word) and not re.search(r"\s", word) and (loosely or bool(re.search(_PATH, word)))


def captured_paths(items: Sequence[str], macros: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return list items with their macros resolved, sorted by pattern, each pattern once.

    Raises:
        TaskstateError: code "invalid-input": a macro is not known, stands for itself, or a path leads out.
    """
    items_by_name: dict[str, str] = {}
    for item in items:
        pattern_text = pattern_of(item)
        mark = "!" if pattern_text.startswith("!") else ""
        for pattern in _resolved(pattern_text.removeprefix("!"), macros, ()):
            require_inside(pattern)
            name = mark + pattern
            resolved_item = item if name == pattern_text else item.replace(pattern_text, name, 1)
            # Of two items with one pattern the same one is taken in any order.
            candidates = resolved_item, items_by_name.get(name, "")
            items_by_name[name] = max(candidates, key=lambda each: (len(each), each))
    return tuple(items_by_name[name] for name in sorted(items_by_name))


def _resolved(pattern: str, macros: Mapping[str, tuple[str, ...]], enclosing: tuple[str, ...]) -> Iterator[str]:
    if not pattern.startswith(":"):
        yield pattern
        return
    name = pattern[1:]
    if name in enclosing:
        message = f"the macro :{name} of the configuration's scope refers to itself"
        raise TaskstateError(message, help="correct it there", code="invalid-input")
    if name not in macros:
        raise TaskstateError(f"there is no macro :{name}", help=_macro_help(name, macros), code="invalid-input")
    for each in macros[name]:
        yield from _resolved(each, macros, (*enclosing, name))


def _macro_help(name: str, macros: Mapping[str, tuple[str, ...]]) -> str:
    near = closest(name, [*macros], cutoff=0.0)
    suggestion = f"did you mean :{near}? " if near else ""
    return f"{suggestion}macros are defined under [scope] of the configuration, as in `{name} = ['src/**']`"


def require_inside(pattern: str) -> None:
    """Refuse a repository path that leads out of the repository.

    Raises:
        TaskstateError: code "invalid-input".
    """
    reason = escape_reason(pattern)
    if reason:
        message = f"the repository path {pattern!r} {reason}"
        raise TaskstateError(message, help="name paths of this repository", code="invalid-input")

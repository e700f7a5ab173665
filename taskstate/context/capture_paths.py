"""The repository paths of a task as they are captured: named macros resolved, globs kept, sorted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.context.citations import truncated
from taskstate.errors import TaskstateError
from taskstate.messages import closest, first_of
from taskstate.validation.paths import escape_reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NAMED = 3  # words; of more it is told how many
_SHOWN = 60  # characters of each
_CODE = r"(?s)(`+)\s*(.+?)\s*\1(?!`)"
_REMARK = r"(?s)\s+(?:[-\u2013\u2014#]\s|\().*"
_PATH = r"[/*?\[{.]|\A!?:"  # what a word has to hold to be taken for a path


def pattern_of(item: str) -> str:
    """Return the pattern that an item names: what stands in code marks, else what stands before a remark."""
    found = re.compile(_CODE).match(item)
    return found[2] if found else re.compile(_REMARK).sub("", item).strip()


def in_code_marks(item: str) -> str:
    """Return an item with its pattern in code marks, where that is all there is."""
    return f"`{item}`" if pattern_of(item) == item and "`" not in item else item


def looks_like_paths(items: Sequence[str], *, loosely: bool = False) -> bool:
    """Return whether items are paths, globs and macros and no words; `loosely` takes any word without blanks."""
    return bool(items) and all(_is_path(each, loosely=loosely) for each in items)


def paths_among(items: Sequence[str]) -> tuple[str, ...]:
    """Return the paths, globs and macros of a task file's scope: where it holds words too, what surely is none."""
    loosely = looks_like_paths(items, loosely=True)
    return tuple(each for each in items if _is_path(each, loosely=loosely))


def left_out_notes(items: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
    """Return the remark on those items of a scope that are no paths, where others are."""
    words = [each for each in items if each not in paths] if paths else []
    if not words:
        return ()
    named = first_of([truncated(each, _SHOWN) for each in words], _NAMED)
    return (f"repository paths: left out what looks like words in the scope: {named}",)


def _is_path(item: str, *, loosely: bool) -> bool:
    word = re.compile(_CODE).sub(r"\2", item).strip()
    return bool(word) and not re.search(r"\s", word) and (loosely or bool(re.search(_PATH, word)))


def captured_paths(items: Sequence[str], macros: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return list items with each macro replaced by what it stands for, sorted by pattern, each pattern once.

    Raises:
        TaskstateError: code "invalid-input": a macro is not known, stands for itself, or a path leads out.
    """
    found: dict[str, str] = {}
    for item in items:
        written = pattern_of(item)
        mark = "!" if written.startswith("!") else ""
        for pattern in _resolved(written.removeprefix("!"), macros, ()):
            _require_inside(pattern)
            name = mark + pattern
            told = item if name == written else item.replace(written, name, 1)
            found[name] = max(told, found.get(name, ""), key=lambda each: (len(each), each))  # in whatever order
    return tuple(found[name] for name in sorted(found))


def _resolved(pattern: str, macros: Mapping[str, tuple[str, ...]], within: tuple[str, ...]) -> Iterator[str]:
    if not pattern.startswith(":"):
        yield pattern
        return
    name = pattern[1:]
    if name in within:
        what = f"the macro :{name} of the configuration's scope stands for itself"
        raise TaskstateError(what, help="correct it there", code="invalid-input")
    if name not in macros:
        raise TaskstateError(f"there is no macro :{name}", help=_known(name, macros), code="invalid-input")
    for each in macros[name]:
        yield from _resolved(each, macros, (*within, name))


def _known(name: str, macros: Mapping[str, tuple[str, ...]]) -> str:
    near = closest(name, [*macros], cutoff=0.0)
    named = f"did you mean :{near}? " if near else ""
    return f"{named}macros stand under [scope] of the configuration, as in `{name} = ['src/**']`"


def _require_inside(pattern: str) -> None:
    why = escape_reason(pattern)
    if why:
        what = f"the repository path {pattern!r} {why}"
        raise TaskstateError(what, help="name paths of this repository", code="invalid-input")

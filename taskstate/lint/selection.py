"""Decides which rules are checked in a file, and how severe they are, from the configuration and the command line.

A selector is a rule's code, the beginning of one, a rule's name, or `ALL`. The narrowest selector that matches a rule
wins: its code or name, then the longest beginning, then `ALL`.
"""

from __future__ import annotations

from functools import lru_cache

from taskstate.errors import TaskstateError
from taskstate.lint.registry import RETIRED, TABLE
from taskstate.model.config import matches
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.lint.registry import RetiredRule, Row
    from taskstate.model.config import Lint
    from taskstate.model.names import FileType

_EVERY = "ALL"
_EXACT = 10  # more than the length of any beginning of a code


def selected_rules(lint: Lint, name: str) -> tuple[Row, ...]:
    """Return the rules that are checked in the file `name`, which is a path from the repository's root."""
    ignored = (*lint.ignore, *_ignored_in(name, lint))
    return _select((*lint.select, *lint.extend_select), ignored)


def rules_for(lint: Lint, name: str, file_type: FileType, answerable: frozenset[str]) -> tuple[Row, ...]:
    """Return the rules that are checked in a file of this type where these kinds of queries can be answered."""
    ignored = (*lint.ignore, *_ignored_in(name, lint))
    return _applicable((*lint.select, *lint.extend_select), ignored, file_type, answerable)


@lru_cache(maxsize=64)
def _select(selected: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[Row, ...]:
    """Return the selected rules; of a selector to check and an equally narrow one to ignore, the latter wins."""
    return tuple(row for row in TABLE if _narrowest(row, selected) > _narrowest(row, ignored))


@lru_cache(maxsize=64)
def _applicable(
    selected: tuple[str, ...], ignored: tuple[str, ...], file_type: FileType, answerable: frozenset[str]
) -> tuple[Row, ...]:
    rows = _select(selected, ignored)
    return tuple(row for row in rows if file_type in row.files and row.needs <= answerable)


def _ignored_in(name: str, lint: Lint) -> Iterator[str]:
    for pattern, selectors in lint.per_file_ignores.items():
        if matches(name, pattern):
            yield from selectors


def _narrowest(rule: Row | Diagnostic, selectors: Iterable[str]) -> int:
    return max((_width(rule.code, rule.name, selector) for selector in selectors), default=0)


def _width(code: str, name: str, selector: str) -> int:
    """Return how narrowly a selector matches a rule; 0 where it does not."""
    wanted = selector.upper()
    if wanted == code or selector.lower() == name:
        return _EXACT
    if wanted == _EVERY:
        return 1
    return len(wanted) if code.startswith(wanted) else 0


def weighted(diagnostic: Diagnostic, lint: Lint) -> Diagnostic:
    """Return a finding with the severity that the configuration sets for its rule; the narrowest selector wins."""
    narrowest = max(lint.severity, key=lambda each: _width(diagnostic.code, diagnostic.name, each), default="")
    if not _width(diagnostic.code, diagnostic.name, narrowest):
        return diagnostic
    return diagnostic._replace(severity=lint.severity[narrowest])


def unknown_in(lint: Lint) -> Iterator[tuple[str, str]]:
    """Yield the selectors of a configuration that mean no rule, each after the key that holds it."""
    used: dict[str, Iterable[str]] = {
        "select": lint.select,
        "ignore": lint.ignore,
        "extend-select": lint.extend_select,
        "severity": lint.severity,
    }
    used |= {f'per-file-ignores."{pattern}"': selectors for pattern, selectors in lint.per_file_ignores.items()}
    yield from ((key, each) for key, selectors in used.items() for each in selectors if not is_known(each))


def require_known(lint: Lint, where: str | Path) -> None:
    """Refuse a configuration that names a rule that there is not; `where` is its file or folder.

    Raises:
        TaskstateError: code "config".
    """
    from taskstate.workspace.config_files import config_name

    for key, selector in unknown_in(lint):
        name = where if isinstance(where, str) else config_name(where)
        message = f"{files.shown(name)}: no lint rule has the code or name {selector} (in `lint.{key}`)"
        raise TaskstateError(message, help=advice(selector), code="config")


def is_known(selector: str) -> bool:
    """Return whether any rule, also a retired one, is meant by a selector."""
    rules: tuple[Row | RetiredRule, ...] = (*TABLE, *RETIRED)
    return any(_width(each.code, each.name, selector) for each in rules)


def advice(selector: str) -> str:
    """Return which rule may be meant by a selector that none has, and where the rules are listed."""
    from taskstate.validation.schema_errors import nearest

    wanted = selector.upper() if selector[:2].upper() == "TS" else selector.lower()
    near = nearest(wanted, [word for each in TABLE for word in (each.code, each.name)])
    listed = "`taskstate rule` lists the rules"
    return f"did you mean {near}? {listed}" if near else listed

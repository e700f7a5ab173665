"""Checks for the `format` keyword of our schemas: what no other keyword can express.

Each check returns the problem in words, or an empty string. A format without a check here is not checked.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING
from taskstate.validation import linear_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _printable(text: str) -> str:
    return "" if text.isprintable() else "holds a character that cannot be shown"


def _linear_regex(text: str) -> str:
    return linear_patterns.problem(text)


def _qa_pattern(text: str) -> str:
    problem = linear_patterns.problem(text)
    return problem or ("" if "text" in linear_patterns.compiled(text).groupindex else "has no group (?P<text>…)")


FORMATS: Mapping[str, Callable[[str], str]] = {
    "printable": _printable,
    "linear-regex": _linear_regex,
    "qa-pattern": _qa_pattern,
}

"""Checks for the `format` keyword of our schemas: what no other keyword can express.

Each check returns the problem in words, or an empty string. A format without a check here is not checked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _printable(text: str) -> str:
    return "" if text.isprintable() else "holds a character that cannot be shown"


def _python_regex(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        reason = str(error).encode("unicode_escape").decode()  # it may quote what a terminal would act on
        return f"is no regular expression: {reason}"
    return ""


def _qa_pattern(text: str) -> str:
    problem = _python_regex(text)
    return problem or ("" if "text" in re.compile(text).groupindex else "has no group (?P<text>…)")


FORMATS: Mapping[str, Callable[[str], str]] = {
    "printable": _printable,
    "python-regex": _python_regex,
    "qa-pattern": _qa_pattern,
}

"""What the `format` of our schemas asks of a text, for what no other keyword can say.

Each check returns what is wrong, in words, or nothing. A format that is not listed here is not checked.
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
        said = str(error).encode("unicode_escape").decode()  # it may quote what a terminal would act on
        return f"is no regular expression: {said}"
    return ""


def _qa_pattern(text: str) -> str:
    wrong = _python_regex(text)
    return wrong or ("" if "text" in re.compile(text).groupindex else "has no group (?P<text>…)")


FORMATS: Mapping[str, Callable[[str], str]] = {
    "printable": _printable,
    "python-regex": _python_regex,
    "qa-pattern": _qa_pattern,
}

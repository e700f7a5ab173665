"""Checks that a text which was taken over into another document is still there, line by line.

Shared by everything that takes documents of other forms over: no line of their content may get lost on the way.
"""

from __future__ import annotations

import re
from collections import Counter

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Node
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.syntax.document import Document
    from taskstate.syntax.markdown_blocks import Block

_NUMBER = re.compile(r"^\d{1,3}(?:\.\d{1,3})*[.)]?\s+")
_RULE = re.compile(r"(?:-[ ]?){3,}|(?:\*[ ]?){3,}|(?:_[ ]?){3,}")
_BULLET = re.compile(r"^[*+] ")
_DEEPEST = 6  # level of a heading
_SHOWN = 3  # lines named in a message


def require_conserved(name: str, before: Iterable[str], after: Iterable[str]) -> None:
    """Refuse a result (`after`) that lacks a line of the source: a bug of ours must not reach the disk.

    Raises:
        TaskstateError: code "unsafe".
    """
    gone = Counter(before) - Counter(after)
    if gone:
        message = f"{name} cannot be taken over, since these lines would get lost: {first_of([*gone], _SHOWN)}"
        raise TaskstateError(message, help="nothing was written; take it over by hand", code="unsafe")


def content_lines(document: Document, begin: int = 0) -> Iterator[str]:
    """Yield the lines with content from the offset `begin` on, in a form that does not depend on their layout.

    A heading stands for its title, whatever its level and number, and a json fence for its values. Blank lines and
    rules between sections are no content.
    """
    edits = [Edit(*each.heading, heading_line(each.title)) for each in document.sections if each.span.start >= begin]
    fences = [each for each in document.blocks if each.kind == "fence" and each.span.start >= begin]
    edits += [Edit(*each.content, values) for each in fences if (values := _values(document, each)) is not None]
    for line in apply(document.text, edits)[begin:].split("\n"):
        plain = plain_line(line)
        if plain and not _RULE.fullmatch(plain):
            yield plain


def plain_line(line: str) -> str:
    """Return a line with single blanks and the list marker `-`."""
    return _BULLET.sub("- ", " ".join(line.split()))


def heading_line(title: str) -> str:
    """Return the line that stands for a heading: its title without its number, in lower case."""
    return " ".join(_NUMBER.sub("", title).casefold().split())


def leaves(value: object, key: str = "") -> Iterator[str]:
    """Yield the plain values within a value, each as a line with its key; null says nothing."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield from leaves(child, str(name))
    elif isinstance(value, list):
        for child in value:
            yield from leaves(child, key)
    elif value is not None:
        yield leaf(key, value)


def leaf(key: str, value: object) -> str:
    """Return the line that stands for a plain value and its key."""
    return plain_line(f"{key}: {str(value).lower() if isinstance(value, bool) else value}")


def _values(document: Document, fence: Block) -> str | None:
    """Return the values in a json fence line by line; None for any other fence, and for one that cannot be read."""
    if fence.text.lower().split(maxsplit=1)[:1] != ["json"]:
        return None
    root = document.json(fence)
    return "".join(f"{line}\n" for line in leaves(root.value())) if isinstance(root, Node) else None


def demoted(content: str, by: int, *, least: int = 1) -> str:
    """Return Markdown with its headings as many levels lower, or higher (`by` < 0), but none above `least`."""
    edits = [
        Edit(*each.heading, f"{'#' * min(max(each.level + by, least), _DEEPEST)} {each.title}")
        for each in parse(content).sections
    ]
    return apply(content, edits)

"""Cuts long texts into pages, so that no answer fills an agent's context."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.typed import NamedTuple

ANSWER = 12_000  # characters of a tool's answer: about 3,000 tokens
RESOURCE = 100_000  # characters of a resource: more than a state file may have
_MOST_DIGITS = 9


class Page(NamedTuple):
    """One page of a text, its number, and how many there are."""

    text: str
    number: int
    of: int


def page_of(text: str, number: int, most: int = ANSWER) -> Page:
    """Return a page of at most `most` characters; it ends with a line where its lines are not longer than that.

    Raises:
        TaskstateError: code "usage": there is no such page.
    """
    pages = _pages(text, most)
    if not 1 <= number <= len(pages):
        raise TaskstateError(f"there is no page {number}", help=f"give 1 to {len(pages)}", code="usage")
    return Page(pages[number - 1], number, len(pages))


def _pages(text: str, most: int) -> list[str]:
    pages, start = [], 0
    while len(text) - start > most:
        end = text.rfind("\n", start, start + most) + 1
        end = end if end > start else start + most
        pages.append(text[start:end])
        start = end
    return [*pages, text[start:]]


def number_of(text: str) -> int:
    """Return the number of a page or place that a client gave as text, -1 where it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else -1

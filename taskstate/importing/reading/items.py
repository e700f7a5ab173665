"""Reads a text as the items that it consists of: list items and paragraphs, each in one line."""

from __future__ import annotations

import re

from taskstate.typed import NamedTuple

_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[([^\]\n]?)\][ \t]+)?(.*)$")
_DONE = frozenset("xX\u2713\u2714\u221a")
_NONE = re.compile(r"#{1,6}(?:[ \t]|$)|<!--")
_FENCES = ("```", "~~~")


class Item(NamedTuple):
    """A list item or a paragraph, in one line; one with a box is done or open, any other is neither."""

    text: str
    is_open: bool = False
    is_done: bool = False


def is_of_items(text: str) -> bool:
    """Return whether a text is all items: it has no code, table, comment or heading."""
    bare = [line.strip() for line in text.split("\n")]
    return not any(line.startswith((*_FENCES, "|")) or _NONE.match(line) for line in bare)


def items(text: str) -> tuple[Item, ...]:
    """Return the items of a Markdown text in order; code, comments, rules and headings are none."""
    found, is_new, is_code = list[Item](), True, False
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith(_FENCES):
            is_code, is_new = not is_code, True
        elif is_code:
            continue
        elif not bare.strip("-*_= ") or _NONE.match(bare):
            is_new = True
        elif match := _ITEM.match(line):
            is_done = (match[1] or "") in _DONE
            found.append(Item(match[2].strip(), match[1] is not None and not is_done, is_done))
            is_new = False
        elif is_new or not found:
            found.append(Item(bare))
            is_new = False
        else:
            found[-1] = found[-1]._replace(text=f"{found[-1].text} {bare}")
    return tuple(each for each in found if each.text)

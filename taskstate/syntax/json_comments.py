"""Reads and edits JSON with comments and with commas before a closing bracket, as the settings of editors have them.

To the reader of plain JSON they are blanks, so that every position is that of the text itself; edits of that text are
then moved out of the way of the comments. A comment behind a value on its line stays with that value.
"""

from __future__ import annotations

import json
import re

from taskstate.syntax.edits import Edit
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_STRING = r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"?'
_NEXT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*")
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*+[}}\]])")
_VISIBLE = re.compile(r"[^\r\n]")


def comments(text: str) -> tuple[Span, ...]:
    """Return where the comments of a JSON text are; one that never ends is none."""
    found, at = [], 0
    while match := _NEXT.search(text, at):
        at = match.end()
        if match[0] == "/*":
            end = text.find("*/", at)
            if end < 0:
                break
            at = end + 2
        if not match[0].startswith('"'):
            found.append(Span(match.start(), at))
    return tuple(found)


def without_comments(text: str) -> str:
    """Return JSON with blanks, as many, for comments and for commas before a closing bracket."""
    pieces, at = [], 0
    for start, end in comments(text):
        pieces += [text[at:start], _VISIBLE.sub(" ", text[start:end])]
        at = end
    return _LAST_COMMA.sub(lambda match: " " if match[0] == "," else match[0], "".join([*pieces, text[at:]]))


def around_comments(text: str, edits: Sequence[Edit], newline: str) -> tuple[Edit, ...]:
    """Return edits, made for the text without its comments, such that they add the same and take no comment away."""
    spans = comments(text)
    return tuple(moved for edit in edits for moved in _moved(text, edit, spans, newline)) if spans else tuple(edits)


def _moved(text: str, edit: Edit, spans: Sequence[Span], newline: str) -> Iterator[Edit]:
    """Yield what adds the same as one edit: an entry behind another, or the first entry of an object or a list."""
    inside = [span for span in spans if edit.start <= span.start and span.end <= edit.end]
    if inside:
        yield _behind(text, inside[-1], edit.new[1:-1].rstrip(), newline)
        return
    same_line = _comments_behind(text, edit.end, spans)
    if edit.start < edit.end or not edit.new.startswith(",") or not same_line:
        yield edit
        return
    has_comma = "," in text[edit.end : same_line[0].start]
    if not has_comma:
        yield edit._replace(new=",")
    yield _behind(text, same_line[-1], edit.new[1:] + ("," if has_comma else ""), newline)


def _comments_behind(text: str, at: int, spans: Sequence[Span]) -> list[Span]:
    """Return the comments that begin on the same line as `at`, with at most a comma before them."""
    found = []
    for span in spans:
        if span.start >= at and text[at : span.start].strip(" \t") in {"", ","}:
            found.append(span)
            at = span.end
    return found


def _behind(text: str, comment: Span, new: str, newline: str) -> Edit:
    """Return the edit that adds text behind a comment; one that ends with its line takes nothing up."""
    ends_line = text.startswith("//", comment.start) and not new.startswith(("\r", "\n"))
    return Edit(comment.end, comment.end, f"{newline}{new.lstrip(' ')}" if ends_line else new)


def loose_values(text: str) -> object:
    """Return the value of a JSON text that may have comments, or None where it cannot be read."""
    try:
        return json.loads(without_comments(text))
    except (ValueError, RecursionError):
        return None

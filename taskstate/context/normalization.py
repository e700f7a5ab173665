"""Brings text captured from a task file into one form, so that its hash says something (normalizer 2.0.0)."""

from __future__ import annotations

import re

from taskstate.syntax.spans import with_newlines

NORMALIZER_VERSION = "2.0.0"
WIDTH = 120

_BLANKS = re.compile(r"[ \t]+")  # where lines may be wrapped: other white space is part of a word
_COMMENT = re.compile(r"#(?!#)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_TABLE = re.compile(r"(?=.*-)(?=.*[|:])[-:| \t]+\Z")  # the line below the head of a table
_FENCE_END = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*\Z")
# Lines whose end is part of their meaning: items, headings, quotes, tables, HTML, rules and underlines, definitions of
# links, and what is indented, by whatever white space.
_KEPT = re.compile(
    r"\s|[-*+](?:[ \t]|\Z)|\d{1,9}[.)](?:[ \t]|\Z)|##|[>|<]|(?:=+|-+|(?:[*_-][ \t]*){3,})[ \t]*\Z|\[[^\]]+\]:"
)


def normalize(text: str) -> str:
    """Return `text` without comments, paragraphs wrapped at 120 characters, blank lines single, one LF at the end.

    What may be code or a table stays as it is.
    """
    blocks: list[str] = []
    paragraph: list[str] = []
    fence = ""
    in_table = False
    for line in [*with_newlines(text, "\n").split("\n"), ""]:
        inside = fence
        fence = _fence_after(line, fence)
        fenced = bool(inside or fence)
        if not fenced and _COMMENT.match(line):
            continue
        begins_table = not fenced and bool(_TABLE.match(line))
        in_table = begins_table or (in_table and not fenced and bool(line.strip(" \t")))
        head = [paragraph.pop()] if begins_table and paragraph else []
        if fenced or in_table or not line.strip(" \t") or _KEPT.match(line):
            _flush(paragraph, blocks)
            blocks += [*head, line.rstrip(" \t")]
        else:
            paragraph.append(line.strip(" \t"))
    _flush(paragraph, blocks)
    return "\n".join(_single_blanks(blocks)).strip("\n") + "\n"


def _fence_after(line: str, fence: str) -> str:
    """Return the marks of the fence that is open behind a line, given those of the one before it, empty for none."""
    marks = (_FENCE_END if fence else _FENCE).match(line)
    if not fence:
        return marks[1] if marks else ""
    return "" if marks and marks[1].startswith(fence) else fence


def _flush(paragraph: list[str], blocks: list[str]) -> None:
    """Move the lines of a paragraph, joined and wrapped, to `blocks`."""
    if paragraph:
        words = _BLANKS.split(" ".join(paragraph))
        wrapped = _wrapped(words)
        structure = any(pattern.match(line) for pattern in (_KEPT, _COMMENT, _FENCE, _TABLE) for line in wrapped)
        # A wrap must not make a list or a comment of a word.
        blocks.extend([" ".join(words)] if structure else wrapped)
        paragraph.clear()


def _wrapped(words: list[str]) -> list[str]:
    """Return lines of at most `WIDTH` characters, as many words on each as there is room for."""
    lines = words[:1]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _single_blanks(lines: list[str]) -> list[str]:
    """Return the lines with several blank ones made one, but in fences and before what is indented: it may be code."""
    kept: list[str] = []
    fence = ""
    for line, indented in zip(lines, _before_indented(lines), strict=True):
        fence = _fence_after(line, fence)
        if line or fence or not kept or kept[-1] or indented:
            kept.append(line)
    return kept


def _before_indented(lines: list[str]) -> list[bool]:
    """Return of each line whether the first one from it on that is not blank is indented."""
    found: list[bool] = []
    for line in reversed(lines):
        found.append(line[0] in " \t" if line else bool(found) and found[-1])
    return found[::-1]

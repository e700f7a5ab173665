"""Brings text captured from a task file into one form, so that its hash says something (normalizer 2.0.0)."""

from __future__ import annotations

import re

from taskstate.text import with_newlines

NORMALIZER_VERSION = "2.0.0"
WIDTH = 120

_BLANKS = re.compile(r"[ \t]+")  # where lines may be wrapped: other white space is part of a word
_COMMENT = re.compile(r"#(?!#)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_FENCE_END = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*\Z")
# Lines whose end is part of their meaning: items, headings, quotes, tables, HTML, rules and underlines, definitions of
# links, and what is indented, by whatever white space.
_KEPT = re.compile(
    r"\s|[-*+](?:[ \t]|\Z)|\d{1,9}[.)](?:[ \t]|\Z)|##|[>|<]|(?:=+|-+|(?:[*_-][ \t]*){3,})[ \t]*\Z|\[[^\]]+\]:"
)


def normalize(text: str) -> str:
    """Return `text` without comments, paragraphs wrapped at 120 characters, blank lines single, one LF at the end."""
    blocks: list[str] = []
    paragraph: list[str] = []
    fence = ""
    for line in [*with_newlines(text, "\n").split("\n"), ""]:
        inside = fence
        fence = _fence_after(line, fence)
        if inside or fence:
            _flush(paragraph, blocks)
            blocks.append(line.rstrip(" \t"))
        elif _COMMENT.match(line):
            continue
        elif not line.strip(" \t") or _KEPT.match(line):
            _flush(paragraph, blocks)
            blocks.append(line.rstrip(" \t"))
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
        structure = any(_KEPT.match(line) or _COMMENT.match(line) or _FENCE.match(line) for line in wrapped)
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
    """Return the lines with several blank ones outside fences made one."""
    kept: list[str] = []
    fence = ""
    for line in lines:
        fence = _fence_after(line, fence)
        if line or fence or not kept or kept[-1]:
            kept.append(line)
    return kept

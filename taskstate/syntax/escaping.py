"""Puts text from outside into a document so that it can create no structure there.

Whatever a person, an agent or another file hands over is data. As a list item it is indented, so that whatever it
holds ends with the item. As free text between two headings it keeps its Markdown, but every line that would begin a
heading, an HTML block or a merge conflict is escaped with a backslash, and a fence left open is closed; headings of a
level that means nothing there may stay. Into YAML and JSON text goes through `data_edits`.
"""

from __future__ import annotations

import re
import unicodedata

from taskstate.errors import TaskstateError
from taskstate.syntax.markdown_blocks import read_blocks
from taskstate.syntax.spans import CONTROLS, with_newlines

_DASHES = r"-[ \t]*(?:-[ \t]*)+(?=\n|\Z)"
_EMPHASIS = r"(\*[^*\n]+\*|_[^_\n]+_)\Z"
_UNDERLINE = r"[ \t]*(?:=+|-+)[ \t]*\Z"
_CONFLICT = r"\A(?=(?:<{7}|>{7})(?: |\Z))"
_ESCAPE_ROUNDS = 50
_DEEPEST = 6  # level of headings
SUBSECTION_LEVEL = 3  # the level of subsections: a heading that lies deeper is no structure of a state file
_MARKS = " \t\r\n-*+"  # blanks, and the markers of list items
_COMMENT = r"(?s)<!--.*?(?:-->|\Z)"
_NONE = r"(?i)[\s*_`(-]*(?:none|nothing|n/?a|not applicable)(?: yet| so far| known)?[\s*_`).!]*"


def clean(text: str, *, what: str) -> str:
    """Return `text` with LF line ends and without blank lines and blanks around it.

    Raises:
        TaskstateError: it is empty, or holds control characters that a terminal or an editor would obey.
    """
    text = with_newlines(text, "\n")
    control = re.compile(CONTROLS).search(text)
    if control:
        name = unicodedata.name(control[0], "a control character")
        line = text.count("\n", 0, control.start()) + 1
        raise TaskstateError(
            f"{what} holds U+{ord(control[0]):04X} ({name}) in its line {line}",
            help="remove control characters, terminal escapes and text direction marks",
            code="control-characters",
        )
    lines = [line.rstrip(" \t") for line in text.split("\n")]
    text = "\n".join(lines).strip("\n")
    if not text.strip():
        raise TaskstateError(f"{what} is empty", help="say something, or leave it out", code="empty")
    return text


def is_blank(text: str) -> bool:
    """Return whether a text holds nothing but blanks, the markers of list items, and comments."""
    rest = text.lstrip(_MARKS)
    return not rest or (rest.startswith("<!--") and not re.compile(_COMMENT).sub("", rest).strip(_MARKS))


def is_none(text: str) -> bool:
    """Return whether a text says that there is nothing: `None.` or the like."""
    return re.compile(_NONE).fullmatch(text.strip()) is not None


def one_line(text: str, *, what: str) -> str:
    """Return `text` as a single line.

    Raises:
        TaskstateError: as `clean`, or it has several lines.
    """
    text = clean(text, what=what).strip()
    if "\n" in text:
        raise TaskstateError(f"{what} has several lines", help="put it into one line", code="several-lines")
    return text


def item(text: str, *, what: str = "the text", marker: str = "- ") -> str:
    """Return `text` as a list item; its further lines are indented, so that all it holds ends with the item.

    `marker` is the bullet with what belongs before the text, such as a check box, which indents nothing.
    """
    text = clean(text, what=what).lstrip(" \t")
    first, *rest = ("\\" + text if _is_escaped(text) else text).split("\n")
    indent = " " * (marker.index(" ") + 1)
    return "\n".join([marker + first, *(indent + line if line else "" for line in rest)])


def items(texts: tuple[str, ...], *, what: str) -> str:
    """Return several texts as a list."""
    return "\n".join(item(text, what=what) for text in texts)


def paragraphs(text: str, *, what: str = "the text", deepest: int = _DEEPEST) -> str:
    """Return `text` as free Markdown that stands between two headings and adds none of its own.

    Headings of a deeper level than `deepest` stay headings: who says so has no structure there.
    """
    lines = clean(text, what=what).split("\n")
    lines[0] = lines[0].lstrip(" \t")
    lines = [re.compile(_CONFLICT).sub(r"\\", line, count=1) for line in lines]
    if len(lines) == 1 and re.compile(_EMPHASIS).match(lines[0]):  # a single line in emphasis would be a placeholder
        lines[0] = "\\" + lines[0]
    for _round in range(_ESCAPE_ROUNDS):
        if not _escape_structure(lines, deepest):
            return "\n".join(lines)
    return "\n".join("> " + line if line else ">" for line in lines)


def quote(text: str) -> str:
    """Return `text` as a block quote, line by line."""
    return "\n".join("> " + line if line else ">" for line in text.split("\n"))


def unescape_item(text: str) -> str:
    """Return the text of an item as it was before `item` had to escape its first line."""
    return text[1:] if text.startswith("\\") and _is_escaped(text) else text


def _is_escaped(text: str) -> bool:
    """Return whether an item must not begin with `text`: `- ---` would be a rule, and a lone comment say nothing."""
    bare = text.lstrip("\\")
    return bool(bare) and (bool(re.compile(_DASHES).match(bare)) or is_blank(bare))


def _escape_structure(lines: list[str], deepest: int) -> bool:
    """Escape headings down to level `deepest` and HTML blocks, close an open fence; return whether anything changed."""
    text = "\n".join(lines)
    changed = False
    for block in read_blocks(text):
        number = text.count("\n", 0, block.span.start)
        if block.kind == "heading" and block.level > deepest:
            continue
        if block.kind == "fence":
            if not block.closed and not changed:  # after a change before it, it may be another or none
                lines.append(_closing(lines[number]))
                changed = True
            continue
        last = text.count("\n", 0, block.span.end)
        if block.kind == "html":  # each tag at a line's start would be the next one; together they are told as text
            targets = [each for each in range(number, last + 1) if lines[each].lstrip(" \t").startswith("<")]
        else:
            targets = [last if last > number and re.compile(_UNDERLINE).match(lines[last]) else number]
        for target in targets:
            lines[target] = _escaped(lines[target])
        changed = True
    return changed


def _escaped(line: str) -> str:
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[:blanks] + "\\" + line[blanks:]


def _closing(opening: str) -> str:
    marks = re.match(r" {0,3}(`{3,}|~{3,})", opening)
    return marks[1] if marks else "```"

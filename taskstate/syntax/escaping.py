"""Escapes text from users, agents and other files so that it cannot create structure in a document.

As a list item, text is indented so that all of it ends with the item. As free text between two headings it keeps its
Markdown, but every line that would begin a heading, an HTML block or a merge conflict is escaped with a backslash, and
an open fence is closed; headings of a level that has no meaning there may stay. For text in YAML and JSON see
`yaml_emitter` and `json_edit`. For what a service renders and acts on, as a comment on a pull request, `inert` leaves
nothing but words.
"""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.syntax.markdown_blocks import read_blocks
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import CONTROLS, is_plain, with_newlines, without_comments
from taskstate.syntax.spans import one_line as _printable_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.syntax.spans import Span

# Patterns, compiled where they are used: most runs need none of them.
_DASHES = r"-[ \t]*(?:-[ \t]*)+(?=\n|\Z)"
_PLACEHOLDER = r"(\*[^*\n]+\*|_[^_\n]+_|\(.*\))\Z"  # emphasis or parentheses around the whole line
_UNDERLINE = r"[ \t]*(?:=+|-+)[ \t]*\Z"
_CONFLICT_MARKER = r"\A(?=(?:<{7}|>{7})(?: |\Z))"
_CONFLICT_DIVIDER = r"={7}\Z|\|{7} "  # harmless in a fence, where it may be part of an example
_MARKER = r"(?:([-*+])|\d{1,9}[.)])[ \t]+(?=\S)"
_MAX_ROUNDS = 50
_MAX_HEADING_LEVEL = 6
SUBSECTION_LEVEL = 3  # headings that lie deeper are no structure of a state file
_BLANKS_AND_BULLETS = " \t\r\n-*+"
_WORD = r"(?:`[^`]*`|[^\s`]|`)+"  # with what stands in code marks, blanks too
# What a service may act on or draw: any mark but those of a sentence, an address, an emoji's name, a commit's id, the
# key of an issue, a merge request's, a quick action.
_ACTED_ON = r"(?i)[^\w\s\"'(),./:;=?!+\u0080-\U0010ffff-]|_|://|www\.|:\S*:|[0-9a-f]{7}|[a-z]-\d|!\w|^/"
_BEFORE_WORD, _BEHIND_WORD = "(\"'", "\"'.,:;!?"  # marks of a sentence, which need not stand in code marks
_NONE = r"(?i)[\s*_`(-]*(?:none|nothing|n/?a|not applicable)(?: yet| so far| known)?[\s*_`).!]*"


def clean(text: str, *, what: str) -> str:
    """Return `text` with LF line ends, stripped of trailing blanks and of blank lines around it.

    `what` names the text in messages.

    Raises:
        TaskstateError: it is empty, or holds control characters that a terminal or an editor would act on.
    """
    text = with_newlines(text, "\n")
    control = None if is_plain(text) else re.compile(CONTROLS).search(text)
    if control:
        import unicodedata

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
        raise TaskstateError(f"{what} is empty", help="say something", code="empty")
    return text


def is_blank(text: str) -> bool:
    """Return whether a text holds nothing but blanks, list markers and HTML comments."""
    rest = text.lstrip(_BLANKS_AND_BULLETS)
    return not rest or (rest.startswith("<!--") and not without_comments(rest).strip(_BLANKS_AND_BULLETS))


def is_none(text: str) -> bool:
    """Return whether a text states that there is nothing, such as `None.` or `N/A`."""
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
    """Return `text` as a list item, with its further lines indented so that all of it ends with the item.

    `marker` is the bullet, with a check box if there is one; only the bullet counts for the indentation.
    """
    text = clean(text, what=what).lstrip(" \t")
    first, *rest = ("\\" + text if _is_escaped(text) else text).split("\n")
    indent = " " * (marker.index(" ") + 1)
    return "\n".join([marker + first, *(indent + line if line else "" for line in rest)])


def label_line(text: str, *, what: str) -> str:
    """Return a text as it stands on the line of its label; empty where only a list item holds it."""
    text = clean(text, what=what).lstrip(" \t")
    return "" if "\n" in text or text != text.strip() or _is_escaped(text) else text


def items(texts: tuple[str, ...], *, what: str) -> str:
    """Return several texts as a Markdown list."""
    return "\n".join(item(text, what=what) for text in texts)


def listed(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts as values of a list, with the items of each that is a Markdown list, or it would be nested there.

    A number alone, as in `3. May`, makes no list.
    """
    found = [(text, _items_of(text)) for text in texts]
    are_numbered = sum(not bullet for _, each in found for bullet, _ in each) > 1
    values = list[str]()
    for text, each in found:
        values += [item.rstrip() for _, item in each] if each and (each[0][0] or are_numbered) else [text]
    return tuple(values)


def in_one(text: str) -> str:
    """Return a text as a single value: one that is a Markdown list as its items, one after the other."""
    values = listed((text,))
    if any("\n" in each for each in values):
        return "\n\n".join(values)
    return (" " if all(each.endswith((".", "!", "?")) for each in values) else "; ").join(values)


def _items_of(text: str) -> list[tuple[str, str]]:
    """Return the bullet and the text of each item of a text that is one list; a number is an empty bullet."""
    items, indent = list[tuple[str, str]](), 0
    if not re.match(rf"\s*{_MARKER}", text):
        return items
    from textwrap import dedent

    for line in dedent(with_newlines(text, "\n")).strip("\n").split("\n"):
        match = None if is_blank(line) else re.match(_MARKER, line)
        if match and (not items or bool(items[0][0]) == bool(match[1])):
            indent = match.end()
            items.append((match[1] or "", line[indent:]))
        elif items and (not line or line[0] in " \t"):
            items[-1] = (items[-1][0], f"{items[-1][1]}\n{line[min(indent, len(line) - len(line.lstrip(' '))) :]}")
        else:
            return []
    return items


def paragraphs(text: str, *, what: str = "the text", deepest: int = _MAX_HEADING_LEVEL) -> str:
    """Return `text` as free Markdown for the space between two headings, with headings of its own escaped.

    Headings of a deeper level than `deepest` stay headings, for documents that have no structure there.
    """
    lines = clean(text, what=what).split("\n")
    lines[0] = lines[0].lstrip(" \t")
    lines = [re.compile(_CONFLICT_MARKER).sub(r"\\", line, count=1) for line in lines]
    _escape_dividers(lines)
    if len(lines) == 1 and re.compile(_PLACEHOLDER).match(lines[0]):  # would be read as a placeholder
        lines[0] = "\\" + lines[0]
    # An escape may turn the lines below it into other blocks, so the text is read again until nothing changes.
    for _round in range(_MAX_ROUNDS):
        if not _escape_structure(lines, deepest):
            return "\n".join(lines)
    return quote("\n".join(lines))


def _escape_dividers(lines: list[str]) -> None:
    """Escape the lines that would be left of a merge conflict, in place."""
    dividers = [number for number, line in enumerate(lines) if re.compile(_CONFLICT_DIVIDER).match(line)]
    if not dividers:
        return
    text = "\n".join(lines)
    fences = [block.span for block in read_blocks(text) if block.kind == "fence"]
    inside = {text.count("\n", 0, each.start): text.count("\n", 0, each.end) for each in fences}
    for number in dividers:
        if not any(first < number <= last for first, last in inside.items()):
            lines[number] = "\\" + lines[number]


def quote(text: str) -> str:
    """Return `text` as a block quote, line by line."""
    return "\n".join("> " + line if line else ">" for line in text.split("\n"))


def unescape_item(text: str) -> str:
    """Return the text of an item without the backslash that `item` put before its first line."""
    return text[1:] if text.startswith("\\") and _is_escaped(text) else text


def item_text(text: str, span: Span, content: Span) -> str:
    """Return the text of a list item without its marker and the indentation that belongs to the marker."""
    first, *rest = with_newlines(content.of(text), "\n").split("\n")
    indent = content.start - span.start
    return unescape_item("\n".join([first, *(line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in rest)]))


def _is_escaped(text: str) -> bool:
    """Return whether `item` escapes `text`: `- ---` would be a thematic break, and a comment alone an empty item."""
    bare = text.lstrip("\\")  # also a text that begins with our own escape, so that `unescape_item` gives it back whole
    return bool(bare) and (bool(re.compile(_DASHES).match(bare)) or is_blank(bare))


def _escape_structure(lines: list[str], deepest: int) -> bool:
    """Escape headings of levels up to `deepest` and HTML blocks, and close an open fence, all in place.

    Return whether anything changed.
    """
    text = "\n".join(lines)
    changed = False
    for block in read_blocks(text):
        number = text.count("\n", 0, block.span.start)
        if block.kind == "heading" and block.level > deepest:
            continue
        if block.kind == "fence":
            if not block.closed and not changed:  # after a change above it, it may be another fence or none
                lines.append(_closing(lines[number]))
                changed = True
            continue
        last = text.count("\n", 0, block.span.end)
        if block.kind == "html":  # escape every tag at a line's start at once: each would begin the next block
            line_numbers = [each for each in range(number, last + 1) if lines[each].lstrip(" \t").startswith("<")]
        else:
            line_numbers = [last if last > number and re.compile(_UNDERLINE).match(lines[last]) else number]
        for line_number in line_numbers:
            lines[line_number] = _escaped(lines[line_number])
        changed = True
    return changed


def _escaped(line: str) -> str:
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[:blanks] + "\\" + line[blanks:]


def _closing(opening: str) -> str:
    marks = re.match(r" {0,3}(`{3,}|~{3,})", opening)
    return marks[1] if marks else "```"


def inert(text: str) -> str:
    """Return `text` as one line of Markdown that mentions, closes, links and draws nothing, and hides nothing.

    Backslashes would not do: services look for mentions and numbers in what was rendered, where they are gone. They do
    not look into code marks, so each word that is more than letters stands in them; others need no escape.
    """
    words = compiled(_WORD).findall(_printable_line(" ".join(text.split())))
    return _printable_line(" ".join(_inert_word(word) for word in words))


def _inert_word(word: str) -> str:
    if not compiled(_ACTED_ON).search(word):
        return word
    start = len(word) - len(word.lstrip(_BEFORE_WORD))
    end = max(start, len(word.rstrip(_BEHIND_WORD)))
    core = word[start:end].strip("`").replace("`", "'").replace("<!--", "<\\!--").strip()
    return f"{word[:start]}`{core}`{word[end:]}" if core else f"{word[:start]}'{word[end:]}"

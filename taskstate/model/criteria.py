"""Reads the acceptance criteria, and what stands among them and is none: `- [] two`, `- two`, a table's row, a quote.

Only an item `- [ ]` or `- [x]` with a text is read as a criterion. Whatever else a person may take for one could be
open, and the task complete: it is found, takes a number as it does in the list that a person sees, and is shown.
"""

from __future__ import annotations

from bisect import bisect_right

from taskstate.model.document_kinds import kind_of, section_key
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.escaping import is_blank, item_text, unescape_item
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, trimmed, with_newlines, without_comments
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.markdown_blocks import Item

_SECTION, _PART, _LEVELS = "static context", "acceptance criteria", (2, 3)
_CRITERION = r"\[([ xX])\](?:[ \t]+|\Z|(?=[\r\n]))"
# Nothing but criteria, with continuation lines: so are nearly all files, and nothing in them needs a closer look.
_BLANK = r"(?:[ \t]*(?:\r\n?+|\n|\Z))"
_USUAL = (
    rf"{_BLANK}*+(?:[-*+] \[[ xX]\][ \t]+[^\s][^\r\n]*(?:\r\n?+|\n|\Z)"
    rf"(?:[ \t]{{2,}}[^-*+\d\[\s][^\r\n]*(?:\r\n?+|\n|\Z)|{_BLANK})*+)*+"
)
_PLAIN = ("- [ ] ", "- [x] ")
# Something in brackets that is no link, reference or word: `[]`, `[ x]`, `[-]`, `\[ ]`, `[ ]two`, `( )`; or a sign.
_BRACKETS = r"\\?\[[ \t]*(?P<mark>[A-Za-z]|[^\w\s\]\[\\])?[ \t]*\\?\](?![(\[:])[ \t]*"
_SYMBOL = r"(?P<symbol>[\u25a0-\u25a2\u2610-\u2612\u2705\u2713-\u2718\u274c\u274e\u2b1b\u2b1c])\ufe0f?[ \t]*"
_MARKED = rf"{_BRACKETS}|\((?P<round>[ xX]?)\)[ \t]*|{_SYMBOL}"
_BULLET = r"(?:(?:[-*+\u2022\u2013\u2014]|\d{1,9}[.)])[ \t]*)?"
# A line that looks like a criterion to a person, without the list that would make it one; or that is quoted.
_LINE = (
    rf" {{0,3}}(?P<found>(?:>[ \t]*)*+{_BULLET}"
    rf"(?:\[[ \t]*(?P<mark>[xX])?[ \t]*\](?![(\[:])|\((?P<round>[ xX])\)|{_SYMBOL})"
    r"|[\u2022\u25cf\u25e6\u25aa\u2023](?=[ \t]*[^\s\[]))[ \t]*"
)
_RULE = r" {0,3}(?=[^\r\n]*\|)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*"  # below a table's header
_ROW = r" {0,3}\|"
_CHECKED = "xX"


class Flaw(NamedTuple):
    """Why a line is no criterion, and what to do about it."""

    reason: str
    cure: str


_NO_BOX = Flaw("it begins with neither `- [ ]` nor `- [x]`", "write `- [ ]` where it is open, `- [x]` where it is met")
_EMPTY = Flaw("it has no text", "write after `- [ ]` what must be true, or delete the line")
_ROW_OF_TABLE = Flaw("it is the row of a table", "write it as an item: `- [ ] TEXT`")
_QUOTED = Flaw("it is quoted", "write it without the `>`")
_NONE_AT_ALL = Flaw("nothing there begins with `- [ ]` or `- [x]`", "write each criterion as an item: `- [ ] TEXT`")


class Criterion(NamedTuple):
    """An acceptance criterion; `number` counts from 1, `mark` is the one character between its brackets."""

    number: int
    text: str
    checked: bool
    span: Span
    mark: Span


class MalformedCriterion(NamedTuple):
    """A line that is no criterion, with its number among them.

    `edit` makes it one, or is None where no edit can know how; `is_clear` tells whether it is certain that it is open.
    """

    span: Span
    number: int
    flaw: Flaw
    edit: Edit | None = None
    is_clear: bool = True


class Criteria(NamedTuple):
    """What stands in the part of the criteria: they, what looks like one and is none, and other words."""

    sound: tuple[Criterion, ...] = ()
    malformed: tuple[MalformedCriterion, ...] = ()
    words: tuple[Span, ...] = ()


def read_criteria(document: Document) -> Criteria:
    """Return what stands among the acceptance criteria of a state file, each in order."""
    return document.derived(_read, None)


def malformed_criteria(document: Document) -> tuple[MalformedCriterion, ...]:
    """Return what looks like an acceptance criterion of a state file and is read as none, in order."""
    section = _section(document)
    if section is None or _are_usual(section.body.of(document.text)):
        return ()
    return read_criteria(document).malformed


def shown_criteria(document: Document) -> tuple[str, ...]:
    """Return the criteria as lists show them, with their numbers; and whatever else stands there, in its place."""
    criteria, text = read_criteria(document), document.text
    sound = [(each.span, f"{each.number}. [{'x' if each.checked else ' '}] {each.text}") for each in criteria.sound]
    malformed = [
        (each.span, f"{each.number}. no criterion: {each.flaw.reason}: {each.span.of(text)}")
        for each in criteria.malformed
    ]
    words = [(each, each.of(text)) for each in criteria.words]
    return tuple(with_newlines(said, "\n") for _, said in sorted([*sound, *malformed, *words]))


def mended_text(document: Document) -> str:
    """Return the text of a state file with everything among its criteria written as a criterion, as far as possible."""
    edits = [each.edit for each in malformed_criteria(document) if each.edit]
    return apply(document.text, edits) if edits else document.text


def _section(document: Document) -> Section | None:
    parents = (each for each in document.sections if each.level == _LEVELS[0] and section_key(each.title) == _SECTION)
    parent = next(parents, None)
    if parent is None:
        return None
    parts = document.children(parent, _LEVELS[1])
    return next((each for each in parts if section_key(each.title) == _PART), None)


def _are_usual(body: str) -> bool:
    """Return whether a text has nothing but criteria; of most texts the beginnings of the lines tell that."""
    is_plain = "\r" not in body and all(
        not line or (line.startswith(_PLAIN) and not line[6:7].isspace() and len(line) > len(_PLAIN[0]))
        for line in body.split("\n")
    )
    return is_plain or compiled(_USUAL).fullmatch(body) is not None


def _read(document: Document, _given: None) -> Criteria:
    section, text = _section(document), document.text
    if section is None:
        return Criteria()
    items, body = document.items(section.body), section.body.of(text)
    sound = [each for item in items if (each := _sound(text, item))]
    if _are_usual(body):
        return Criteria(tuple(each._replace(number=at) for at, each in enumerate(sound, start=1)))
    if kind_of(document).is_placeholder(body):
        return Criteria()
    parts = [section, *document.children(section)]
    malformed = [each for part in parts for each in _in_part(document, part, is_list=part is section)]
    places = sorted([*(each.span.start for each in sound), *(each.span.start for each in malformed)])
    taken = [*(each.span for each in malformed), *(each.span for each in items if each.span.start in places)]
    words = tuple(_words(document, section.body, taken))
    if not places and not is_blank(without_comments(body)):
        at = words[0] if words else trimmed(text, section.body)
        return Criteria((), (MalformedCriterion(at, 1, _NONE_AT_ALL),), words[1:])
    numbers = {place: at for at, place in enumerate(places, start=1)}
    malformed = [each._replace(number=numbers[each.span.start]) for each in malformed]
    malformed.sort(key=lambda each: each.number)
    return Criteria(tuple(each._replace(number=numbers[each.span.start]) for each in sound), tuple(malformed), words)


def _sound(text: str, item: Item) -> Criterion | None:
    """Return the criterion that an item is, not numbered yet; None where it is none."""
    match = compiled(_CRITERION).match(text, *item.content)
    if match is None:
        return None
    said = unescape_item(item_text(text, item.span, item.content)[match.end() - item.content.start :])
    if not said.strip():
        return None
    return Criterion(0, said, checked=match[1] != " ", span=item.span, mark=Span(*match.span(1)))


def _words(document: Document, body: Span, taken: Iterable[Span]) -> Iterator[Span]:
    """Yield what stands beside the criteria, but for headings and comments."""
    text = document.text
    headings = [block.span for block in document.blocks_in(body, "heading")]
    at = body.start
    for each in (*sorted([*taken, *headings]), Span(body.end, body.end)):
        span = trimmed(text, Span(at, max(at, each.start)))
        if not is_blank(without_comments(span.of(text))):
            start = span.start + len(span.of(text)) - len(span.of(text).lstrip())
            yield Span(start, span.end)
        at = max(at, each.end)


def _in_part(document: Document, part: Section, *, is_list: bool) -> Iterator[MalformedCriterion]:
    """Yield what is malformed below one heading; below a further one a list without any brackets is just a list."""
    items = document.items(part.own)
    is_list = is_list or any(compiled(_MARKED).match(document.text, *each.content) for each in items)
    yield from (each for item in items if is_list and (each := _in_item(document, item)))
    lines = list(_lines(document, part, items))
    rows = {each.span.start: each for each in _rows(document, lines)}
    yield from rows.values()
    yield from (each for line in lines if line.start not in rows and (each := _in_line(document.text, line)))


def _in_item(document: Document, item: Item) -> MalformedCriterion | None:
    text, (start, end) = document.text, item.content
    if _sound(text, item) or not text[start:end].strip():
        return None
    whole = trimmed(text, item.span)
    match = compiled(_MARKED).match(text, start, end)
    if match and not text[match.end() : end].strip():
        return MalformedCriterion(whole, 0, _EMPTY)
    mark = (match["mark"] or match["symbol"] or (match["round"] or "").strip()) if match else None
    checked = "x" if mark and mark in _CHECKED else " "
    edit = Edit(start, match.end() if match else start, f"[{checked}] ")
    return MalformedCriterion(whole, 0, _NO_BOX, edit, is_clear=not mark or mark in _CHECKED)


def _lines(document: Document, part: Section, items: tuple[Item, ...]) -> Iterator[Span]:
    """Yield the lines below a heading that are in no fence, no HTML and no item."""
    text = document.text
    opaque = [block.span for block in document.blocks_in(part.own)]
    for match in compiled(r"[^\r\n]+").finditer(text, *part.own):
        begin = match.end() - len(match[0].lstrip(" "))
        above = bisect_right(opaque, begin, key=lambda span: span.start) - 1
        is_inside = above >= 0 and begin < opaque[above].end
        if not is_inside and not _belongs_to_item(document, begin, begin - match.start(), items):
            yield Span(*match.span())


def _in_line(text: str, line: Span) -> MalformedCriterion | None:
    """Return the criterion that a line with a box or a sign would be, which begins no item; None for any other line."""
    match = compiled(_LINE).match(text, *line)
    if match is None:
        return None
    span, mark = trimmed(text, Span(match.start("found"), line.end)), match["mark"] or match["round"]
    if match.end() >= span.end:
        return MalformedCriterion(span, 0, _EMPTY)
    checked = "x" if mark and mark in _CHECKED else " "
    edit = Edit(span.start, match.end(), f"- [{checked}] ")
    flaw = _QUOTED if match["found"].startswith(">") else _NO_BOX
    return MalformedCriterion(span, 0, flaw, edit, is_clear=not match["symbol"])


def _rows(document: Document, lines: list[Span]) -> Iterator[MalformedCriterion]:
    """Yield the rows of tables, but for a header and the rule below it."""
    text, table = document.text, -1  # the line of the table that was read last
    for line, below in zip(lines, (*lines[1:], Span(0, 0)), strict=False):
        number = document.position(line.start).line
        is_rule = compiled(_RULE).fullmatch(text, *line) is not None
        is_row = bool(line.of(text).strip()) and (number == table + 1 or compiled(_ROW).match(text, *line) is not None)
        if is_rule or is_row:
            table = number
        if is_row and not is_rule and compiled(_RULE).fullmatch(text, *below) is None:
            yield MalformedCriterion(trimmed(text, line), 0, _ROW_OF_TABLE)


def _belongs_to_item(document: Document, begin: int, indent: int, items: tuple[Item, ...]) -> bool:
    """Return whether a line begins an item, or is indented as the rest of one is."""
    above = bisect_right(items, begin, key=lambda item: item.span.start) - 1
    if above < 0 or begin >= items[above].span.end:
        return False
    column = document.position(items[above].content.start).column
    return begin == items[above].span.start or indent >= column

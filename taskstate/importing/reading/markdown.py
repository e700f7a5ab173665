"""Reads the Markdown of other systems: check boxes with what stands around them, sections, and front matter.

It is read more leniently than our own files: every list marker of CommonMark, any depth, and signs that others use.
"""

from __future__ import annotations

import json
import re
import textwrap
from functools import partial

from taskstate.importing.reading.values import Number
from taskstate.importing.records import Part
from taskstate.importing.words import is_acceptance
from taskstate.syntax.conservation import heading_line
from taskstate.syntax.nodes import Node
from taskstate.syntax.yaml_reader import read_front_matter
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

MAX_NESTING = 64
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+|$)(.*)")
_BOX = re.compile(r"\[([^\]\n]{0,3})\](\*?)(?:[ \t]+|$)(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
# `@ann` in a list or as a value, which is no YAML
_BARE_NAME = r"(?m)((?:[\[,]|:[ \t]|-[ \t])[ \t]{0,99})(@[\w./-]{1,99})(?=[ \t]{0,99}(?:[,\]]|$))"
_DONE, _OPEN = frozenset("xX\u2713\u2714\u221a"), frozenset({""})
_CODE_INDENT = 4
_CRITERIA = r"(?i)\b(?:accept|criteri)"
_OURS = "acceptance criteria"  # a heading that the state file has itself


class Box(NamedTuple):
    """A check box with its words: whether it is ticked, and what it stands below.

    `sign` is a sign that is neither done nor open, `star` what marks it as optional. `headings` are those above it, and
    `above` the items that it is nested in; `parent` is the index of the box among them, or -1. `notes` is what stands
    in its item besides.
    """

    text: str
    done: bool
    line: int
    headings: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    parent: int = -1
    sign: str = ""
    star: str = ""
    notes: str = ""

    @property
    def is_criterion(self) -> bool:
        """Whether the nearest heading says that what stands below it must be true."""
        return bool(self.headings) and is_acceptance(self.headings[-1])


class Outline(NamedTuple):
    """The boxes of a text in order, the text without them, and the line where lists are nested too deep, or 0."""

    boxes: tuple[Box, ...]
    rest: str
    too_deep: int = 0


class Section(NamedTuple):
    """A heading with the text below it, up to the next heading of any level; that before the first has level 0."""

    level: int
    title: str
    text: str
    line: int


def sections(text: str) -> tuple[Section, ...]:
    """Return the sections of a Markdown text in order, the one before the first heading included."""
    found, title, level, first, begin = list[Section](), "", 0, 1, 0
    lines, fence = text.split("\n"), ""
    for number, line in enumerate(lines):
        fence = _fence_after(fence, line)
        heading = None if fence else _HEADING.match(line)
        if heading:
            found.append(Section(level, title, "\n".join(lines[begin:number]).strip("\n"), first))
            level, title, first, begin = len(heading[1]), heading[2].strip(), number + 1, number + 1
    return (*found, Section(level, title, "\n".join(lines[begin:]).strip("\n"), first))


def grouped(text: str, level: int = 2) -> list[tuple[str, str]]:
    """Return title and text of the sections of a level, deeper and higher headings within; the first has no title."""
    found = [("", "")]
    for each in sections(text):
        if each.level == level:
            found.append((each.title, each.text))
        else:
            title, before = found[-1]
            heading = f"{'#' * each.level} {each.title}" if each.level else ""
            found[-1] = (title, "\n\n".join(filter(None, (before, heading, each.text))))
    return found


def _fence_after(fence: str, line: str) -> str:
    """Return the mark of the fence that is open after a line, given that before it; empty for none."""
    mark = _FENCE.match(line)
    if not mark:
        return fence
    if not fence:
        return mark[1]
    closes = mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip(f" \t{fence[0]}")
    return "" if closes else fence


class _Open(NamedTuple):
    """A list item that is open: the column of its marker, its words, and the index of its box or -1."""

    indent: int
    text: str
    box: int


class _Reader:
    """Goes through the lines of a text once; what belongs to a box becomes its text or its notes, the rest stays."""

    def __init__(self, is_item: Callable[[str], bool] | None, *, bullets: bool) -> None:
        self.is_item, self.bullets = is_item, bullets
        self.boxes: list[Box] = []
        self.notes: list[list[str]] = []
        self.rest: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.emptied: set[int] = set()
        self.places: list[int] = []  # the lines in `rest` of the headings that are open
        self.open: list[_Open] = []
        self.fence = ""
        self.is_comment = False
        self.after_blank = True
        self.too_deep = 0

    def read(self, number: int, line: str) -> None:
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        is_code = bool(self.fence)
        self.fence = _fence_after(self.fence, line)
        heading = None if is_code or self.fence or self.is_comment else _HEADING.match(line)
        item = None if is_code or self.fence or self.is_comment else _ITEM.match(line)
        self.is_comment = not is_code and _is_comment_after(line, open_before=self.is_comment)
        if heading:
            self._heading(len(heading[1]), heading[2].strip(), line)
        elif item and (self.open or indent < _CODE_INDENT):
            self._item(number, line, item, indent)
        elif not line.strip():
            self._put(line)
        elif self.open and (indent > self.open[-1].indent or not self.after_blank):
            self._continue(line)
        else:
            while self.open and indent <= self.open[-1].indent:
                self.open.pop()
            self._put(line)
        self.after_blank = not line.strip()

    def _heading(self, level: int, title: str, line: str) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
            self.places.pop()
        self.open.clear()
        self.headings.append((level, title))
        self.places.append(len(self.rest))
        self.rest.append(line)

    def _item(self, number: int, line: str, item: re.Match[str], indent: int) -> None:
        while self.open and indent <= self.open[-1].indent:
            self.open.pop()
        box = self._box_in(item[4], number) or self._bullet(item[4].strip(), number)
        if box is None:
            self._put(line)
            self.open.append(_Open(indent, item[4].strip(), self.open[-1].box if self.open else -1))
        else:
            self.emptied.update(self.places[-1:])
            self.boxes.append(box)
            self.notes.append([])
            self.open.append(_Open(indent, box.text, len(self.boxes) - 1))
        if len(self.open) > MAX_NESTING:
            self.too_deep = self.too_deep or number

    def _box_in(self, text: str, number: int) -> Box | None:
        match = _BOX.match(text)
        if match is None or not match[3].strip():
            return None
        sign = match[1].strip()
        is_known = sign in _DONE or sign in _OPEN
        if not is_known and (len(sign) > 1 or sign.isalnum()) and not (self.is_item and self.is_item(match[3])):
            return None
        return Box(
            text=match[3].strip(),
            done=sign in _DONE,
            line=number,
            headings=tuple(title for _, title in self.headings),
            above=tuple(each.text for each in self.open),
            parent=self.open[-1].box if self.open else -1,
            sign="" if is_known else f"[{match[1]}]",
            star=match[2],
        )

    def _bullet(self, text: str, number: int) -> Box | None:
        """Return a plain item at the top below a heading on acceptance as an open box, if that is asked for."""
        is_one = self.bullets and text and not self.open and self.headings
        if not is_one or not re.search(_CRITERIA, self.headings[-1][1]):
            return None
        return Box(text, done=False, line=number, headings=tuple(title for _, title in self.headings))

    def _continue(self, line: str) -> None:
        """Put a line that goes on in an item where that item stands."""
        box = self.open[-1].box
        if self.after_blank or box < 0 or box != len(self.boxes) - 1 or self.notes[box] or self.fence:
            self._put(line)
        else:
            self.boxes[box] = self.boxes[box]._replace(text=f"{self.boxes[box].text} {line.strip()}")

    def _put(self, line: str) -> None:
        box = self.open[-1].box if self.open else -1
        (self.rest if box < 0 else self.notes[box]).append(line)

    def outline(self) -> Outline:
        boxes = tuple(
            box._replace(notes=textwrap.dedent("\n".join(lines)).strip("\n"))
            for box, lines in zip(self.boxes, self.notes, strict=True)
        )
        return Outline(boxes, _without_empty(self.rest, self.emptied), self.too_deep)


def _without_empty(lines: list[str], emptied: set[int]) -> str:
    """Return lines without the headings below which only boxes stood, and without runs of blank lines."""
    kept = list[str]()
    for number, line in enumerate(lines):
        if number in emptied:
            below = next((each for each in lines[number + 1 :] if each.strip()), "#")
            if _HEADING.match(below) or below == "#":
                continue
        if line.strip() or (kept and kept[-1].strip()):
            kept.append(line)
    return "\n".join(kept).strip("\n")


def _is_comment_after(line: str, *, open_before: bool) -> bool:
    begin, end = line.rfind("<!--"), line.rfind("-->")
    return begin > end if max(begin, end) >= 0 else open_before


def outline(text: str, is_item: Callable[[str], bool] | None = None, *, bullets: bool = False) -> Outline:
    """Return the boxes of a Markdown text, and the text without them.

    `is_item` says of the words behind the brackets whether they begin with the system's own id: before one of them also
    a letter in the brackets makes a box. With `bullets`, so is a plain item below a heading on acceptance.
    """
    reader = _Reader(is_item, bullets=bullets)
    for number, line in enumerate(text.split("\n"), 1):
        reader.read(number, line)
    return reader.outline()


def prose(text: str) -> str:
    """Return the lines of a text that are no code, no quote and no comment, without what stands in code marks."""
    lines, fence, is_comment = list[str](), "", False
    for line in text.split("\n"):
        is_code, fence = bool(fence), _fence_after(fence, line)
        was_comment, is_comment = is_comment, not is_code and _is_comment_after(line, open_before=is_comment)
        if not (is_code or fence or was_comment or line.lstrip().startswith((">", "<!--"))):
            lines.append(" ".join(line.split("`")[::2]))
    return "\n".join(lines)


def part_of(box: Box, feature_id: str = "") -> Part:
    """Return a box as a part: its headings, the items above it, and its signs stand in its notes."""
    headings = box.headings[:-1] if box.headings and heading_line(box.headings[-1]) == _OURS else box.headings
    around = [*headings, *box.above]
    signs = [f"{box.sign} in the source"] if box.sign else []
    signs += [f"{box.star} in the source: optional"] if box.star else []
    notes = "\n".join(filter(None, (" / ".join(around), *signs, box.notes)))
    return Part(box.text, box.done, feature_id, notes)


def numbered(boxes: Sequence[Box]) -> list[str]:
    """Return an id for each box in order: `1`, `2`, and `2.1` for the first one that is nested in the second."""
    ids, counts = list[str](), dict[int, int]()
    for box in boxes:
        counts[box.parent] = counts.get(box.parent, 0) + 1
        ids.append(f"{ids[box.parent]}.{counts[box.parent]}" if box.parent >= 0 else str(counts[box.parent]))
    return ids


class Front(NamedTuple):
    """The front matter of a file: its values, the text below it, its last line, and the keys that were read leniently.

    `fault` says why it cannot be read, with the `line`. A file without one has no `values` (None) and no fault.
    """

    values: dict[str, Any] | None
    body: str
    lines: int = 0
    lenient: tuple[str, ...] = ()
    fault: str = ""
    line: int = 1


def front_matter(text: str) -> Front:
    """Return the front matter of a Markdown text: texts, truth values, lists, maps, and numbers as they are spelled.

    A scalar that YAML refuses because of `: `, ` #`, `@` or quotes is the text to its line's end.
    """
    text = text.removeprefix("\ufeff")
    match = re.match(r"---[ \t]*\n(.*?\n|)(?:---|\.\.\.)[ \t]*(?:\n|$)", text, re.DOTALL)
    if match is None:
        return Front(None, text)
    body, lines = text[match.end() :], text.count("\n", 0, match.end())
    root = read_front_matter(match[1], 0, len(match[1]))
    lenient = list[str]()
    if not isinstance(root, Node):
        quoted = re.sub(_BARE_NAME, r"\1'\2'", match[1])
        quoted = re.sub(r"(?m)^([A-Za-z_][\w -]*):[ \t]+(\S.*)$", partial(_quoted, lenient), quoted)
        again = read_front_matter(quoted, 0, len(quoted))
        if isinstance(again, Node):
            return Front(_plain(again), body, lines, tuple(lenient))
        first = root[0]
        line = match[1].count("\n", 0, first.span.start) + 2
        return Front(None, body, lines, fault=first.message, line=line)
    return Front(_plain(root) or {}, body, lines)


def _quoted(lenient: list[str], match: re.Match[str]) -> str:
    """Return a line of YAML with its value in quotes, if it is a scalar that only they make readable."""
    value = match[2].rstrip()
    is_text = value[0] not in "[{|>&*!" or re.match(r"\[[^\[\]]*\][ \t]*[^\s#,\]]", value)
    if not is_text or isinstance(read_front_matter(f"{match[0]}\n", 0, len(match[0]) + 1), Node):
        return match[0]
    lenient.append(match[1])
    inner = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
    return f"{match[1]}: {json.dumps(inner, ensure_ascii=False)}"


def _plain(node: Node) -> Any:  # noqa: ANN401 - any YAML value
    if node.kind == "mapping":
        return {str(entry.key.text): _plain(entry.value) for entry in node.entries}
    if node.kind == "sequence":
        return [_plain(each) for each in node.items]
    value = node.value()
    if value is None or isinstance(value, bool):
        return value
    return Number(node.text) if isinstance(value, int | float) else node.text


def values_in(lines: Iterable[str]) -> dict[str, str]:
    """Return the values of lines such as `**Created**: 2026-05-01` or `Status: done`, by their names in lower case."""
    found: dict[str, str] = {}
    for line in lines:
        match = re.match(r"\s*(?:[-*] )?\*{0,2}([A-Z][\w /-]{0,40}?)\*{0,2}\s*:\*{0,2}\s*(\S.*)$", line)
        if match:
            found.setdefault(match[1].strip().casefold(), match[2].strip())
    return found

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
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

MAX_NESTING = 64
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+|$)(.*)")
_BOX = re.compile(r"\[([^\]\n]{0,3})\](\*?)(?:[ \t]+|$)(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
# `@ann` in a list or as a value, which is no YAML
_BARE_NAME = r"(?m)((?:[\[,]|:[ \t]|-[ \t])[ \t]{0,99})(@[\w./-]{1,99})(?=[ \t]{0,99}(?:[,\]]|$))"
_DONE = frozenset("xX\u2713\u2714\u221a")
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


def sections(text: str) -> list[Section]:
    """Return the sections of a Markdown text in order, the one before the first heading included."""
    lines, found = text.split("\n"), [Section(0, "", "", 1)]
    begins = [0]
    for number, line, is_text in _lines(text):
        heading = _HEADING.match(line) if is_text else None
        if heading:
            found.append(Section(len(heading[1]), heading[2].strip(), "", number))
            begins.append(number)
    ends = [*(each.line - 1 for each in found[1:]), len(lines)]
    texts = ("\n".join(lines[begin:end]).strip("\n") for begin, end in zip(begins, ends, strict=True))
    return [each._replace(text=body) for each, body in zip(found, texts, strict=True)]


def chapters(text: str, *levels: int) -> list[Section]:
    """Return the sections of some levels; any other is part of the text above it, with its heading."""
    found = list[Section]()
    for each in sections(text):
        if each.level in levels or not found:
            found.append(each)
        else:
            found[-1] = found[-1]._replace(text=joined((found[-1]._replace(level=0), each)))
    return found


def joined(parts: Iterable[Section]) -> str:
    """Return sections as one text, with their headings."""
    texts = ((f"{'#' * each.level} {each.title}" if each.level else "", each.text) for each in parts)
    return "\n\n".join(text for pair in texts for text in pair if text)


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield each line with its number, and whether it stands outside of fences and comments."""
    fence, is_comment = "", False
    for number, line in enumerate(text.split("\n"), 1):
        was_code, was_comment = bool(fence), is_comment
        fence = _fence_after(fence, line)
        is_comment = not was_code and (was_comment or line.lstrip().startswith("<!--")) and "-->" not in line
        yield number, line, not (was_code or fence or was_comment or is_comment)


def _fence_after(fence: str, line: str) -> str:
    """Return the mark of the fence that is open after a line, given that before it; empty for none."""
    mark = _FENCE.match(line)
    if not mark or not fence:
        return mark[1] if mark else fence
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
        self.headings: list[tuple[int, str, int]] = []  # level, title, and the line in `rest`
        self.emptied: set[int] = set()
        self.open: list[_Open] = []
        self.after_blank = True
        self.too_deep = 0

    def read(self, number: int, line: str, *, is_text: bool) -> None:
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        heading, item = (_HEADING.match(line), _ITEM.match(line)) if is_text else (None, None)
        if heading:
            level = len(heading[1])
            self.headings = [each for each in self.headings if each[0] < level]
            self.headings.append((level, heading[2].strip(), len(self.rest)))
            self.open.clear()
            self.rest.append(line)
        elif item and (self.open or indent < _CODE_INDENT):
            self._item(number, line, item[4].strip(), indent)
        else:
            self._other(line, indent, is_text=is_text)
        self.after_blank = not line.strip()

    def _item(self, number: int, line: str, words: str, indent: int) -> None:
        self._close(indent)
        box = self._box(words, number)
        if box is None:
            self._put(line)
            self.open.append(_Open(indent, words, self.open[-1].box if self.open else -1))
        else:
            self.emptied.update(place for _, _, place in self.headings[-1:])
            self.boxes.append(box)
            self.notes.append([])
            self.open.append(_Open(indent, box.text, len(self.boxes) - 1))
        if len(self.open) > MAX_NESTING:
            self.too_deep = self.too_deep or number

    def _box(self, words: str, number: int) -> Box | None:
        """Return an item as a box; if that is asked for, also a plain one at the top below a heading on acceptance."""
        match, headings = _BOX.match(words), tuple(title for _, title, _ in self.headings)
        sign = match[1].strip() if match else ""
        is_known = sign in _DONE or not sign
        is_sign = is_known or (len(sign) == 1 and not sign.isalnum())
        if match and match[3] and (is_sign or (self.is_item and self.is_item(match[3]))):
            box = Box(match[3], sign in _DONE, number, sign="" if is_known else f"[{match[1]}]", star=match[2])
        elif self.bullets and words and not self.open and headings and re.search(_CRITERIA, headings[-1]):
            box = Box(words, done=False, line=number)
        else:
            return None
        above, parent = tuple(each.text for each in self.open), self.open[-1].box if self.open else -1
        return box._replace(headings=headings, above=above, parent=parent)

    def _other(self, line: str, indent: int, *, is_text: bool) -> None:
        """Put a line where it belongs: it may go on in the words of a box, or stand below them."""
        if line.strip() and self.after_blank:
            self._close(indent)
        box = self.open[-1].box if self.open else -1
        is_last = box >= 0 and box == len(self.boxes) - 1 and not self.notes[box]
        if is_last and is_text and line.strip() and not self.after_blank:
            self.boxes[box] = self.boxes[box]._replace(text=f"{self.boxes[box].text} {line.strip()}")
        else:
            self._put(line)

    def _close(self, indent: int) -> None:
        while self.open and indent <= self.open[-1].indent:
            self.open.pop()

    def _put(self, line: str) -> None:
        box = self.open[-1].box if self.open else -1
        (self.rest if box < 0 else self.notes[box]).append(line)


def _without_empty(lines: list[str], emptied: set[int]) -> str:
    """Return lines without the headings below which only boxes stood, and without runs of blank lines."""
    kept = list[str]()
    for number, line in enumerate(lines):
        below = next((each for each in lines[number + 1 :] if each.strip()), "# ") if number in emptied else ""
        if not _HEADING.match(below) and (line.strip() or (kept and kept[-1].strip())):
            kept.append(line)
    return "\n".join(kept).strip("\n")


def outline(text: str, is_item: Callable[[str], bool] | None = None, *, bullets: bool = False) -> Outline:
    """Return the boxes of a Markdown text, and the text without them.

    `is_item` says of the words behind the brackets whether they begin with the system's own id: before one of them also
    a letter in the brackets makes a box. With `bullets`, so is a plain item below a heading on acceptance.
    """
    reader = _Reader(is_item, bullets=bullets)
    for number, line, is_text in _lines(text):
        reader.read(number, line, is_text=is_text)
    notes = (textwrap.dedent("\n".join(lines)).strip("\n") for lines in reader.notes)
    boxes = tuple(box._replace(notes=each) for box, each in zip(reader.boxes, notes, strict=True))
    return Outline(boxes, _without_empty(reader.rest, reader.emptied), reader.too_deep)


def prose(text: str) -> str:
    """Return the lines of a text that are no code, no quote and no comment, without what stands in code marks."""
    lines = (line for _, line, is_text in _lines(text) if is_text and not line.lstrip().startswith((">", "<!--")))
    return "\n".join(" ".join(line.split("`")[::2]) for line in lines)


def part_of(box: Box, feature_id: str = "") -> Part:
    """Return a box as a part: its headings, the items above it, and its signs stand in its notes."""
    headings = box.headings[:-1] if box.headings and heading_line(box.headings[-1]) == _OURS else box.headings
    around = [*headings, *box.above]
    signs = [f"{box.sign} in the source"] if box.sign else []
    signs += [f"{box.star} in the source: optional"] if box.star else []
    notes = "\n".join(filter(None, (" / ".join(around), *signs, box.notes)))
    return Part(box.text, box.done, feature_id, notes)


def parts_of(boxes: Sequence[Box], ids: Iterable[str] = ()) -> dict[str, Any]:
    """Return boxes as the criteria and the features of a record."""
    pairs = [(box, part_of(box, own)) for box, own in zip(boxes, [*ids] or [""] * len(boxes), strict=True)]
    return {
        "criteria": tuple(part for box, part in pairs if box.is_criterion),
        "features": tuple(part for box, part in pairs if not box.is_criterion),
    }


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

"""Reads a state file of an older form: without front matter, its sections numbered in several ways, or not at all.

Such a file has the sections of a task, in whole or in part, and perhaps a json fence `## 0. Metadata`.
"""

from __future__ import annotations

from taskstate.model.older_sections import is_part_title, place_of
from taskstate.model.task_state import SECTION_LEVEL
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.syntax.document import Document, Section


class Part(NamedTuple):
    """A section of the older file: the section that it becomes ("" where none fits), its heading, and its text."""

    place: str
    title: str
    level: int
    body: str


class OlderFile(NamedTuple):
    """A state file of an older form: its text with LF line ends, its title line, the text below it, its sections."""

    document: Document
    title: str
    beginning: str
    parts: tuple[Part, ...]


def read_older(text: str) -> OlderFile:
    """Return a state file of an older form, taken apart."""
    document = parse(_ready(with_newlines(text.removeprefix("\ufeff"), "\n")))
    sections = [each for each in document.sections if each.level <= SECTION_LEVEL]
    title = sections[0] if sections and sections[0].level == 1 else None
    rest = sections[1:] if title else sections
    begin = title.body.start if title else 0
    end = rest[0].span.start if rest else len(document.text)
    return OlderFile(
        document=document,
        title=title.title if title else "",
        beginning=_bare(document.text[begin:end] if title else document.text[:end]),
        parts=tuple(_parts(document, rest)),
    )


def _parts(document: Document, sections: list[Section]) -> Iterator[Part]:
    stops = [*(each.span.start for each in sections[1:]), len(document.text)]
    for section, stop in zip(sections, stops, strict=False):  # without any, there is one stop more
        body = _bare(document.text[section.body.start : stop])
        yield Part(place_of(section), section.title, section.level, body)


def is_lifted(part: Part) -> bool:
    """Return whether a section of the older file is a part of one in the present form, with its own heading."""
    return is_part_title(part.title, part.place)


def _bare(body: str) -> str:
    """Return a section's text without blank lines around it, and without the rule that sets it off from the next."""
    lines = body.rstrip().split("\n")
    while len(lines) > 1 and lines[-1].strip() in {"---", "***", "___"} and not lines[-2].strip():
        lines = "\n".join(lines[:-1]).rstrip().split("\n")
    text = "\n".join(lines).strip("\n")
    return "" if text.strip() in {"---", "***", "___"} else text


def _ready(text: str) -> str:
    """Return a text in which no rule is taken for an underline, and no fence is left open.

    A line of dashes right below a paragraph makes a heading of it: few who separate sections that way know it.
    """
    document = parse(text)
    underlined = [each for each in document.sections if each.heading.of(text).rstrip().endswith("--")]
    if not any(place_of(each) for each in underlined):
        edits = [_above_rule(text, each) for each in underlined if not each.heading.of(text).lstrip().startswith("#")]
        text = apply(text, edits)
    text = _with_labels(text)
    open_fence = next((each for each in parse(text).blocks if each.kind == "fence" and not each.closed), None)
    if open_fence:
        mark = text[open_fence.span.start :].lstrip(" ")
        text = f"{text.rstrip(chr(10))}\n{mark[: len(mark) - len(mark.lstrip(mark[0]))]}\n"
    return text


def _with_labels(text: str) -> str:
    """Return a text in which each fence without a label that holds a JSON object or list is marked as JSON."""
    document = parse(text)
    bare = [each for each in document.blocks if each.kind == "fence" and not each.text and each.closed]
    read = ((each, document.json(each)) for each in bare if each.content.of(text).lstrip()[:1] in {"{", "["})
    ends = [text.find("\n", each.span.start) for each, root in read if isinstance(root, Node)]
    return apply(text, [Edit(end, end, "json") for end in ends])


def _above_rule(text: str, section: Section) -> Edit:
    """Return the edit that puts a blank line above the dashes below a paragraph."""
    last = text.rfind("\n", section.heading.start, section.heading.end)
    return Edit(last, last, "\n")

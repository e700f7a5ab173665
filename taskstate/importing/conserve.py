"""Proves that a record is whole in the files that it becomes: every line and every value of the source stands there."""

from __future__ import annotations

import re
from collections import Counter

from taskstate.syntax.conservation import content_lines, heading_line, leaf, leaves, plain_line, require_conserved
from taskstate.syntax.document import parse
from taskstate.syntax.nodes import Node
from taskstate.syntax.yaml_fast_parser import scan_yaml
from taskstate.syntax.yaml_parser import read_yaml
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.importing.planning.tasks import Task
    from taskstate.importing.text import Written
    from taskstate.syntax.document import Document

_LAYOUT = re.compile(
    r"^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t])|\[[^\]\n]{0,3}\]\*?(?=[ \t])))+[ \t]*"
)
_CLOSING = re.compile(r"^(#{1,6} .*) #+$")  # of a heading: `## Notes ##`
_NOTHING = re.compile(r"[-=*_~`|: \t>]*")
_MARKS = re.compile(r"[\\`*_]")


def require_whole(task: Task, written: Written) -> None:
    """Refuse a file that lacks a line or a value of its record: a bug of ours must not reach the disk.

    Raises:
        TaskstateError: code "unsafe"; the message names what would get lost.
    """
    gone = lacking(task.record.said, task.record.became, lines_of(written.text, *(text for _, text in written.others)))
    require_conserved(task.record.id, gone, ())


def lines_of(text: str, *others: str) -> Counter[str]:
    """Return the lines of a state file and of the files beside it, and the values in them, without their layout."""
    document = parse(text)
    values = leaves({key: document.front_matter[key] for key in document.front_matter})
    there = [
        *content_lines(document, document.body),
        *document.text[document.body :].split("\n"),  # as it stands also what is code in JSON
        *map(_value, values),
        *_in_yaml(document),
        *_in_json(document),
    ]
    for attached in others:
        there += (*attached.split("\n"), *_in_yaml(parse(attached)))
    return Counter(filter(None, map(_bare, there)))


def lacking(said: object, became: Iterable[str], stands: Counter[str]) -> list[str]:
    """Return the lines of what a source says that do not stand in a task, but for those that became others."""
    wanted = Counter(filter(None, map(_bare, _lines_of(said))))
    wanted -= Counter(filter(None, map(_bare, became)))
    gone = wanted - stands
    whole = "\n".join(stands.elements()) if gone else ""
    return [line for line in gone if line not in whole]


def _value(line: str) -> str:
    return line.partition(": ")[2]


def _lines_of(said: object) -> Iterator[str]:
    """Yield the lines of every text within a value."""
    if isinstance(said, str):
        yield from said.replace("\r", "\n").split("\n")
    elif isinstance(said, dict):
        for each in said.values():
            yield from _lines_of(each)
    elif isinstance(said, list | tuple):
        for each in said:
            yield from _lines_of(each)
    elif said is not None:
        yield _value(leaf("", said))


def _in_yaml(document: Document) -> Iterator[str]:
    """Yield the lines of every value in a YAML fence."""
    for fence in document.blocks:
        if fence.kind == "fence" and fence.text == "yaml":
            root = scan_yaml(document.text, *fence.content) or read_yaml(document.text, *fence.content)
            yield from _lines_of(root.value()) if isinstance(root, Node) else ()


def _in_json(document: Document) -> Iterator[str]:
    """Yield the lines of every JSON fence of the source as they stand: elsewhere its values count."""
    for fence in document.blocks:
        if fence.kind == "fence" and fence.text.casefold().startswith("json"):
            yield from fence.content.of(document.text).split("\n")


def _bare(line: str) -> str:
    """Return a line without its layout and escapes, in which nothing but the words counts; empty for a rule."""
    line = _LAYOUT.sub("", _CLOSING.sub(r"\1", plain_line(line)))
    return "" if _NOTHING.fullmatch(line) else heading_line(_MARKS.sub("", line))

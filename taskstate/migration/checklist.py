"""Turns the checklist of an older form into the json fence of the present one.

A key that the present form does not know gets the prefix `x-`, under which anything may stand.
"""

from __future__ import annotations

import re
import textwrap
from itertools import chain, repeat
from typing import Any

from taskstate.migration.facts import timestamp_in
from taskstate.model.document_kinds import built_in
from taskstate.model.task_state import is_json_fence
from taskstate.syntax.conservation import heading_line, leaf, plain_line
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.escaping import item_text
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.markdown_blocks import Block, Item

_FEATURE = ("id", "description", "passes", "tested_at", "evidence", "notes", "moved_to")
_PROGRESS = "overall_progress"
_CHECK = re.compile(r"\[([ xX])\](?:[ \t]+|(?=\n)|\Z)")
_BOX = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\](?:[ \t]|$)")
_ANY_BOX = re.compile(r"(?<![\w\]])\[[ xX]\](?![\w(:\[])")
_BELOW = re.compile(r"\n(?=[ \t]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|```|~~~|[>|<]|#{1,6}[ \t]))")

Renamed = tuple[tuple[str, str], ...]


class Checklist(NamedTuple):
    """The text of the Feature Checklist in the present form, and the lines that have become others.

    `left` is the number of check boxes that stay in the text, since they stand in no list.
    """

    text: str
    renamed: Renamed = ()
    left: int = 0


def read_checklist(body: str) -> Checklist:
    """Return the Feature Checklist of the present form from the text of the older one's."""
    if not body.strip():
        return Checklist(json_fence_of({"features": [], _PROGRESS: "0%"}))
    if built_in("task").is_placeholder(body):
        return Checklist(body)
    document = parse(body)
    top = next((each.span.start for each in document.sections), len(body))
    for block in document.blocks:
        value = _value(document, block) if is_json_fence(block) and block.span.start < top else None
        found = _features_of(value)
        if found is not None:
            new, renamed = found
            text = apply(body, [Edit(*block.span, json_fence_of(new))])
            return Checklist(text, renamed, boxes_in(body))
    if any(is_json_fence(block) and block.span.start < top for block in document.blocks):
        return Checklist(body)  # the linter says what is wrong with it
    return _from_lists(body)


def json_fence_of(value: object) -> str:
    """Return a value as a json fence."""
    return f"```json\n{json_text(value)}\n```"


def boxes_in(text: str) -> int:
    """Return how many check boxes stand in a text, wherever they stand."""
    return len(_ANY_BOX.findall(text))


def _value(document: Document, block: Block) -> object:
    root = document.json(block)
    return root.value() if isinstance(root, Node) else None


def _features_of(value: object) -> tuple[Mapping[str, Any], Renamed] | None:
    """Return the checklist of the present form, and the renamed lines; None for a value that is no checklist."""
    entries = value if isinstance(value, list) else value.get("features") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        return None
    renamed = list[tuple[str, str]]()
    features = [_feature(each, number, renamed) for number, each in enumerate(entries, 1)]
    others = {key: each for key, each in value.items() if key != "features"} if isinstance(value, dict) else {}
    progress = others.pop(_PROGRESS, None)
    shown = _progress(features)
    if progress is not None:
        renamed.append((leaf(_PROGRESS, progress), leaf(_PROGRESS, shown)))  # it follows from the features
    return {"features": features, _PROGRESS: shown, **foreign_keys(others, (), renamed)}, tuple(renamed)


def _feature(entry: Mapping[str, Any], number: int, renamed: list[tuple[str, str]]) -> dict[str, Any]:
    entry = dict(entry)
    if "description" not in entry:
        name = next((key for key in ("name", "title", "feature", "text") if isinstance(entry.get(key), str)), None)
        if name:
            entry["description"] = entry.pop(name)
            renamed.append((leaf(name, entry["description"]), leaf("description", entry["description"])))
    moved = entry.get("moved_to")
    feature: dict[str, Any] = {
        "id": str(entry.get("id") or f"f-{number}"),
        "description": str(entry.get("description", "")),
        "passes": entry.get("passes") if isinstance(entry.get("passes"), bool) else False,
        "tested_at": known_time("tested_at", entry.get("tested_at"), renamed),
    }
    if "passes" in entry and not isinstance(entry["passes"], bool):
        entry["was_passes"] = entry["passes"]
        renamed.append((leaf("passes", entry["passes"]), leaf("x-was_passes", entry["passes"])))
    feature |= {key: entry[key] for key in ("evidence", "notes") if isinstance(entry.get(key), str) and entry[key]}
    known = {key for key in _FEATURE if key in feature or entry.get(key) is None}
    if moved is not None:
        feature["moved_to"] = str(moved)
        known.add("moved_to")
    known.add("passes")
    return feature | foreign_keys(entry, tuple(known), renamed)


def foreign_keys(values: Mapping[str, Any], known: tuple[str, ...], renamed: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the keys that the present form does not know, under the prefix `x-`."""
    foreign: dict[str, Any] = {}
    for key, value in values.items():
        if key in known:
            continue
        new = key if key.startswith("x-") else f"x-{key}"
        foreign[new] = value
        plain = not isinstance(value, dict | list) and value is not None
        renamed += [(leaf(key, value), leaf(new, value))] if plain else []
        if isinstance(value, list):  # the values within a map keep their own keys
            own = [each for each in value if not isinstance(each, dict | list) and each is not None]
            renamed += [(leaf(key, each), leaf(new, each)) for each in own]
    return foreign


def known_time(key: str, value: object, renamed: list[tuple[str, str]]) -> object:
    """Return a time in the format of the files; one that cannot be read stays as it is, for a person to correct."""
    if value is None or value == "":
        return None
    time = timestamp_in(str(value))
    if time and time != value:
        renamed.append((leaf(key, value), leaf(key, time)))
    return time or str(value)


def _from_lists(body: str) -> Checklist:
    """Return a checklist whose features are the items of Markdown lists; text beside the lists stays."""
    boxes = _Boxes()
    rest = boxes.without_empty_groups(boxes.rest_of(body, (), also_bare=True))
    fence = json_fence_of({"features": boxes.features, _PROGRESS: _progress(boxes.features)})
    return Checklist(f"{fence}\n\n{rest.strip(chr(10))}".rstrip(), tuple(boxes.renamed), boxes_in(rest))


class _Boxes:
    """Takes features out of Markdown lists: the headings and items above one are its group, what is below its notes."""

    def __init__(self) -> None:
        self.features: list[dict[str, Any]] = []
        self.renamed: list[tuple[str, str]] = []
        self.groups: set[str] = set()

    def rest_of(self, text: str, groups: tuple[str, ...], *, also_bare: bool) -> str:
        """Return a text without the items that are features; `also_bare` takes items without a box, too."""
        document, edits = parse(text), list[Edit]()
        headings = [*document.sections]
        above: list[Section] = []
        for item in document.items(Span(0, len(text))):
            while headings and headings[0].span.start < item.span.start:
                heading = headings.pop(0)
                above = [*(each for each in above if each.level < heading.level), heading]
            inner = (*groups, *(each.title for each in above))
            edits.append(Edit(*item.span, self._rest_of_item(text, item, inner, also_bare=also_bare and not above)))
        return apply(text, edits)

    def without_empty_groups(self, text: str) -> str:
        """Return a text without the headings below which only features stood."""
        edits, kept = list[Edit](), len(text)
        for each in reversed(parse(text).sections):
            if each.title in self.groups and not each.own.of(text).strip() and kept >= each.body.end:
                edits.append(Edit(each.span.start, each.own.end, ""))
                self.renamed.append((heading_line(each.title), ""))
            else:
                kept = each.span.start
        return apply(text, edits)

    def _rest_of_item(self, text: str, item: Item, groups: tuple[str, ...], *, also_bare: bool) -> str:
        """Return what stays of an item in the text: nothing of one that is a feature, or that only held some."""
        raw = item.span.of(text)
        own = _BELOW.split(item_text(text, item.span, item.content), maxsplit=1)[0]
        lines, count = raw.split("\n"), own.count("\n") + 1
        rest = textwrap.dedent("\n".join(lines[count:]))
        mark, holds_boxes = _CHECK.match(own), _BOX.search(rest) is not None
        said = " ".join((own[mark.end() :] if mark else own).split())
        if not said or not (mark or also_bare or holds_boxes):
            return raw
        feature = {"id": f"f-{len(self.features) + 1}", "description": said, "passes": False, "tested_at": None}
        if mark or not holds_boxes:
            feature["passes"] = mark is not None and mark[1] != " "
            self.features.append(feature)
            self._become(lines[:count], "description", said)
        if holds_boxes:
            rest = self.rest_of(rest, (*groups, said), also_bare=False)
        if holds_boxes and not mark:
            if rest.strip():
                return "\n".join([*lines[:count], textwrap.indent(rest, "  ")])
            self.renamed += [(plain_line(line), "") for line in lines[:count]]
        elif rest.strip():
            feature["notes"] = notes = re.sub(r"\A\s*[-*+] (.*)\Z", r"\1", rest.strip("\n"))
            self._become(rest.split("\n"), "notes", notes)
        if groups:
            feature["x-group"] = " / ".join(groups)
            self.groups.update(groups)
        return ""

    def _become(self, lines: list[str], key: str, value: str) -> None:
        """Record that lines have become a value."""
        self.renamed += zip(filter(None, map(plain_line, lines)), chain([leaf(key, value)], repeat("")), strict=False)


def _progress(features: Sequence[Mapping[str, Any]]) -> str:
    """Return the share of the features that pass, those left out that were moved."""
    counted = [each["passes"] for each in features if not each.get("moved_to")]
    return f"{100 * sum(counted) // len(counted)}%" if counted else "0%"

"""Turns the checklist of an older form into the json fence of the present one.

A key that the present form does not know gets the prefix `x-`, under which anything may stand.
"""

from __future__ import annotations

import re
from typing import Any

from taskstate.migration.facts import timestamp_in
from taskstate.model.document_kinds import built_in
from taskstate.model.task_state import is_json_fence
from taskstate.syntax.conservation import leaf, plain_line
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.escaping import item_text
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.syntax.document import Document
    from taskstate.syntax.markdown_blocks import Block

_FEATURE = ("id", "description", "passes", "tested_at", "evidence", "notes", "moved_to")
_PROGRESS = "overall_progress"
_CHECK = re.compile(r"\[([ xX])\][ \t]*")

Renamed = tuple[tuple[str, str], ...]


class Checklist(NamedTuple):
    """The text of the Feature Checklist in the present form, and the lines that have become others."""

    text: str
    renamed: Renamed = ()


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
            return Checklist(apply(body, [Edit(*block.span, json_fence_of(new))]), renamed)
    if any(block.kind == "fence" and block.span.start < top for block in document.blocks):
        return Checklist(body)  # the linter says what is wrong with it
    return _from_list(body, top)


def json_fence_of(value: object) -> str:
    """Return a value as a json fence."""
    return f"```json\n{json_text(value)}\n```"


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
    passing = sum(each["passes"] for each in features if not each.get("moved_to"))
    counted = sum(not each.get("moved_to") for each in features)
    shown = f"{100 * passing // counted}%" if counted else "0%"
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


def _from_list(body: str, top: int) -> Checklist:
    """Return a checklist whose features are the items of a Markdown list; text beside the list stays."""
    document = parse(body)
    items = document.items(Span(0, top))
    features, renamed, edits = list[dict[str, Any]](), list[tuple[str, str]](), list[Edit]()
    for number, each in enumerate(items, 1):
        text = item_text(body, each.span, each.content)
        mark = _CHECK.match(text)
        description = " ".join((text[mark.end() :] if mark else text).split())
        if not description or each.span.of(body).count("\n"):
            return Checklist(f"{json_fence_of({'features': [], _PROGRESS: '0%'})}\n\n{body}")
        passes = bool(mark) and mark is not None and mark[1] != " "
        features.append({"id": f"f-{number}", "description": description, "passes": passes, "tested_at": None})
        renamed.append((plain_line(each.span.of(body)), leaf("description", description)))
        edits.append(Edit(*each.span, ""))
    passing = sum(each["passes"] for each in features)
    progress = f"{100 * passing // len(features)}%" if features else "0%"
    rest = apply(body, edits).strip("\n")
    return Checklist(f"{json_fence_of({'features': features, _PROGRESS: progress})}\n\n{rest}".rstrip(), tuple(renamed))

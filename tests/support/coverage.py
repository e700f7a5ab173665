"""Makes each damage of each part of a state file, from the format's own tables: what is added there, is damaged here.

A cell is a part and a damage. `tests/cases/coverage/state.json` says for each cell which rule tells it, or in a
sentence why nothing is told; `docs/rules/coverage.md` is that table.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.document_kinds import TASK, built_in
from taskstate.model.session_texts import SESSION_TEXTS
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).parents[1] / "cases" / "coverage" / "state.json"
WHOLE = TABLE.with_name("task-101-state.md")  # a file without a fault that has each part
NEW = "### Session 2"  # what no commit holds yet begins here, and ends with the section
_SCHEMAS = (
    ("front matter", "task", ()),
    ("checklist", "checklist", ()),
    ("feature", "checklist", ("$defs", "feature")),
    ("phase", "phase", ()),
    ("objective", "phase", ("properties", "objectives", "items")),
)


class Cell(NamedTuple):
    """A part, what is done to it, the text after that, and the line (counted from 1) where it was done."""

    part: str
    damage: str
    text: str
    line: int


def whole() -> str:
    """Return the text of the file that has each part."""
    return WHOLE.read_text(encoding="utf-8")


def committed() -> str:
    """Return what is committed of it: all but the newest session."""
    text = whole()
    return text[: text.index(NEW)] + text[text.index("## 5.") :]


def cells() -> Iterator[Cell]:
    """Yield all cells."""
    yield from _headings(whole())
    yield from _labels(whole())
    for name, of, path in _SCHEMAS:
        yield from _keys(whole(), name, of, path)


def _cell(part: str, damage: str, text: str, at: int) -> Cell:
    return Cell(part, damage, text, text.count("\n", 0, at) + 1)


def _headings(text: str) -> Iterator[Cell]:
    for section in built_in(TASK).sections:
        yield from _heading(text, section.name, r"##[ ]", r"\n## |\Z")
        for part in section.subsections:
            title = part.name if not part.pattern else part.form.split("{", maxsplit=1)[0].strip()
            yield from _heading(text, part.name, r"###[ ]", r"\n##", title=title)


def _heading(text: str, name: str, marks: str, end: str, title: str = "") -> Iterator[Cell]:
    lines = list(re.finditer(rf"(?m)^{marks}(?:\d\. )?{re.escape(title or name)}.*$", text))
    if not lines:
        yield Cell(name, "not there", text, 0)
        return
    line = lines[-1]
    stop = re.compile(end).search(text, line.end())
    start, until = line.start(), stop.start() + 1 if stop and stop[0] else len(text)
    entry, heading = text[start:until], line[0]
    rest = text[:start] + text[until:]
    yield _cell(name, "missing", rest, start)
    yield _cell(name, "twice", text[:until] + entry.rstrip("\n") + "\n\n" + text[until:], until)
    misspelt = re.sub(r"([a-z])(?!\1)([a-z])", r"\2\1", heading, count=1)
    yield _cell(name, "renamed", text[:start] + misspelt + text[line.end() :], start)
    top = text.index("## 1.")
    yield _cell(name, "moved", rest[:top] + entry.rstrip("\n") + "\n\n" + rest[top:] if start > top else text, top)


def _labels(text: str) -> Iterator[Cell]:
    new = text.index(NEW)
    for label in (each.label for each in SESSION_TEXTS):
        name, at = f"**{label}:**", text.index(f"**{label}:**", new)
        stop = text.index("\n\n", at) + 2
        yield _cell(name, "missing", text[:at] + text[stop:], new)
        yield _cell(name, "twice", text[:stop] + text[at:stop] + text[stop:], stop)
        yield _cell(name, "renamed", text[:at] + f"**{label}ly:**" + text[at + len(name) :], new)
        yield _cell(name, "wrong value", text[:at] + name + "\n\n" + text[stop:], at)


def _keys(text: str, name: str, of: str, path: tuple[str, ...]) -> Iterator[Cell]:
    node = schema.load(of)
    for each in path:
        node = node[each]
    for key in node["properties"]:
        is_yaml = name == "front matter"
        begin = 0 if is_yaml else text.index(f'"{key}"', text.index("{", text.index(_BEGINNINGS[name])))
        line = re.compile(rf"(?m)^{key}: .*\n" if is_yaml else rf'[ ]*"{key}": .*\n').search(text, begin)
        part = f"{name}: {key}"
        if line is None or (is_yaml and line.start() > text.index("\n---")):
            yield Cell(part, "not there", text, 0)
            continue
        start, stop = line.span()
        other = text[start:stop].replace(key, f"{key}z", 1)
        kind = re.sub(r": .*", ": [[]]" + "," * line[0].rstrip().endswith(","), line[0])
        without = text[:start] + text[stop:]
        yield _cell(part, "missing", re.sub(r",(\s*})", r"\1", without), start)
        again = line[0] if is_yaml or line[0].rstrip().endswith(",") else line[0].rstrip() + ",\n"
        yield _cell(part, "twice", text[:start] + again + text[start:], stop)
        yield _cell(part, "renamed", text[:start] + other + text[stop:], start)
        yield _cell(part, "wrong type", text[:start] + kind + text[stop:], start)


_BEGINNINGS = {"checklist": "## 3.", "feature": '"features"', "phase": "### Phase 1", "objective": '"objectives"'}


def table() -> dict[str, dict[str, str]]:
    """Return the table: for each part and damage the code of a rule, or a sentence."""
    rows: dict[str, dict[str, str]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return rows

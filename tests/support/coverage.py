"""Makes each damage of each part of each kind of document, from the format's own tables: what is added is damaged, too.

A cell is a part and a damage. `tests/cases/coverage/<kind>.json` says for each cell which rule tells it, or in a
sentence why nothing is told; `docs/rules/coverage.md` shows these tables. Beside them stand the files without a fault
that are damaged: each part is taken from the first file of its kind that has it. What follows from no table, such as
what contradicts another place, is written down in `<kind>-damages.json`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.handoff.document import LABELS
from taskstate.model.document_kinds import HANDOFF, PERMANENT, TASK, built_in
from taskstate.model.impact_map import SCHEMA as IMPACT_MAP
from taskstate.model.permanent import CHANGE_LOG, CONTENT, LoggedVersion, read_version_line
from taskstate.model.phases import SCHEMA as PHASE
from taskstate.model.session_texts import SESSION_TEXTS
from taskstate.syntax.document import parse
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span
from taskstate.validation import schema
from tests.support.lint_corpus import CaseQueries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from taskstate.syntax.nodes import MapEntry

CASES = Path(__file__).parents[1] / "cases" / "coverage"
PERMANENT_KEYS = ("kind", "version", "version_seal", "acks")
ABSENT = "not there"
CODE = re.compile(r"(TSP?\d+)( at its part)?")  # the finding is there, or above, where what holds the part begins
WRONG, CONTRADICTING, CHANGED = "wrong value", "contradicting another place", "changed since HEAD"
_SWAPPED = r"([a-z])(?!\1)([a-z])"  # two letters, which a rename puts the other way round
_IN_SUMMARY = r"(\*\*[^*\n]+:\*\*|\[Full session details\])(.*)"
_FENCED = {"## 3.": "checklist", "### Phase": "phase", "### Standards": "citations", "### Validation": "validation"}


class Cell(NamedTuple):
    """A part, what is done to it, the text after that, and the lines (from 1) of the place and of what holds it."""

    part: str
    damage: str
    text: str
    line: int
    within: int = 0
    name: str = ""


class Table(NamedTuple):
    """A kind of document: its healthy files with the folders that they belong into, and what yields their cells."""

    kind: str
    files: tuple[str, ...]
    cells_of: Callable[[str], Iterator[Cell]]

    @property
    def said(self) -> dict[str, dict[str, str]]:
        """For each part and damage the code of a rule, or a sentence."""
        rows: dict[str, dict[str, str]] = json.loads((CASES / f"{self.kind}.json").read_text(encoding="utf-8"))
        return rows

    @property
    def by_hand(self) -> dict[str, dict[str, list[str]]]:
        """The damages that are written down: for a part a text, what replaces it, and what is told instead of that."""
        path = CASES / f"{self.kind}-damages.json"
        damages: dict[str, dict[str, list[str]]] = json.loads(
            path.read_text(encoding="utf-8") if path.exists() else "{}"
        )
        return damages

    def cells(self) -> list[Cell]:
        """Return all cells: of a part that several files have those of the first, and then what is written down."""
        found: dict[tuple[str, str], Cell] = {}
        for name in self.files:
            for each in self.cells_of(whole(name)):
                found.setdefault((each.part, each.damage), each._replace(name=name))
        by_hand, first = self.by_hand, self.files[0]
        for part in dict.fromkeys(each.part for each in found.values() if by_hand and each.name == first):
            for damage in (WRONG, CONTRADICTING, CHANGED) if (part, ABSENT) not in found else ():
                edit = by_hand.get(part, {}).get(damage, ["", ""])
                found.setdefault((part, damage), _edited(whole(first), part, damage, edit)._replace(name=first))
        there = {part for part, damage in found if damage != ABSENT}
        return [each for each in found.values() if each.damage != ABSENT or each.part not in there]


@cache
def whole(name: str) -> str:
    """Return the text of a file without a fault."""
    return (CASES / name.rpartition("/")[2]).read_text(encoding="utf-8")


def committed(name: str) -> str:
    """Return what is committed of a file: all but the newest session."""
    text = whole(name)
    new = text.rfind("### Session ")
    return text if new < 0 else text[:new] + text[text.index("## 5.") :]


def queries(name: str, damage: str = "") -> CaseQueries:
    """Return what is known beside a file: its archive, what is committed (its newest session if that changes)."""
    earlier = whole(name) if damage == CHANGED else committed(name)
    archive = CASES / name.rpartition("/")[2].replace("-state", "-archive")
    beside = archive.read_text(encoding="utf-8") if "-state" in name and archive.exists() else ""
    parts = [("earlier", earlier), ("archive", beside), ("earlier_archive", beside)]
    header, around = ({**_AROUND}, _BESIDE) if "101-state" in name else ({}, [])
    return CaseQueries({"name": [name], **header}, [*parts, *around])


_AROUND = {"now": ["2026-02-02T08:00:00Z"], "missing": ["bad1bad"], "there": ["src/auth/a.py"]}
_AROUND |= {key: ["none"] for key in ("handoffs", CHANGED, "unmatched")}
UPSTREAM_FILE = (CASES / "task-100-state.md").read_text(encoding="utf-8")
STANDARD = "## Keys\n\nKeys rotate.\n"
_BESIDE = [("task 100", UPSTREAM_FILE), ("standard standards/auth.md", STANDARD)]


def _cell(part: str, damage: str, text: str, at: int, within: int = -1) -> Cell:
    line, holding = (text.count("\n", 0, each) + 1 if each >= 0 else 0 for each in (at, within))
    return Cell(part, damage, text, line, holding)


def _edited(text: str, part: str, damage: str, edit: list[str]) -> Cell:
    """Return the cell of a damage that is written down; without one nothing is done, and the table says why."""
    old, new, *mark = edit
    start = text.index(old, text.rindex("### Session ") if part.startswith("**") else 0)
    done = text[:start] + new + text[start + len(old) :]
    same = next((n for n, pair in enumerate(zip(old, new, strict=False)) if len({*pair}) > 1), min(len(old), len(new)))
    return _cell(part, damage, done, done.index(mark[0], start) if mark else start + same)


# Headings, labels and other lines


def _headings(text: str, kind: str) -> Iterator[Cell]:
    for section in built_in(kind).sections:
        yield from _heading(text, section.name, "##", r"\n## |\Z")
        for part in section.subsections:
            title = part.name if not part.pattern else part.form.split("{", maxsplit=1)[0].strip()
            yield from _heading(text, part.name, "###", r"\n##", title=title)


def _heading(text: str, name: str, marks: str, end: str, title: str = "") -> Iterator[Cell]:
    lines = list(re.finditer(rf"(?m)^{marks} (?:\d\. )?{re.escape(title or name)}.*$", text))
    if not lines:
        yield Cell(name, ABSENT, text, 0)
        return
    line = lines[-1]
    stop = re.compile(end).search(text, line.end())
    start, until = line.start(), stop.start() + 1 if stop and stop[0] else len(text)
    entry, heading = text[start:until].rstrip("\n") + "\n\n", line[0]
    rest, behind = text[:start] + text[until:], text[line.end() :]
    above = text.rindex("\n## ", 0, start) + 1 if marks == "###" else -1
    yield _cell(name, "missing", rest, start, above)
    yield _cell(name, "twice", text[:until].rstrip("\n") + "\n\n" + entry + text[until:], until)
    yield _cell(name, "renamed", text[:start] + re.sub(_SWAPPED, r"\2\1", heading, count=1) + behind, start)
    top = text.index("\n## ") + 1
    moved = rest[:top] + entry + rest[top:] if start > top else text
    yield _cell(name, "moved", moved, top, above + len(entry) if above > 0 else moved.find("## 1.", top))
    yield _cell(name, "emptied", text[: line.end()] + "\n\n" + text[until:], line.end() + 1)
    yield _cell(name, "wrong level", f"{text[:start]}#{heading}{behind}", start)
    yield _cell(name, "without its marks", text[:start] + heading.lstrip("# ") + behind, start)


def _labels(text: str) -> Iterator[Cell]:
    new = text.rindex("### Session ")
    for label in (each.label for each in SESSION_TEXTS):
        name = f"**{label}:**"
        at = text.find(name, new)
        if at < 0:
            yield Cell(name, ABSENT, text, 0)
            continue
        stop = text.index("\n\n", at) + 2
        first = text.index("**", new)
        yield _cell(name, "missing", text[:at] + text[stop:], new)
        yield _cell(name, "moved", text[:first] + text[at:stop] + text[first:at] + text[stop:], first)
        yield _cell(name, "twice", text[:stop] + text[at:stop] + text[stop:], stop)
        yield _cell(name, "renamed", text[:at] + f"**{label}ly:**" + text[at + len(name) :], new)
        yield _cell(name, "emptied", text[:at] + name + "\n\n" + text[stop:], at)


def _lines(text: str, of: str, lines: str, begin: str = "", end: str = r"\n#|\Z") -> Iterator[Cell]:
    """Yield the cells of each line behind `begin` that a pattern matches: its groups are the label, and the value."""
    offset = text.rfind(begin) if begin else 0
    stop_at = re.compile(end).search(text, text.index("\n", offset)) if offset >= 0 else None
    for line in re.finditer(rf"(?m)^{lines}$\n?", text[offset : stop_at.start()] if stop_at else ""):
        start, stop = line.start() + offset, line.end() + offset
        name, label, value = f"{of}: {line[1].strip('*:- ') or line[1]}", line[1], line[2]
        yield _cell(name, "missing", text[:start] + text[stop:], start)
        yield _cell(name, "twice", text[:stop] + line[0] + text[stop:], stop)
        swapped = re.sub(_SWAPPED, r"\2\1", label, count=1)
        if swapped != label:
            yield _cell(name, "renamed", text[:start] + line[0].replace(label, swapped, 1) + text[stop:], start)
        if value:
            yield _cell(name, "emptied", text[:start] + line[0].replace(value, "") + text[stop:], start)
            yield _cell(name, CHANGED, text[:start] + line[0].replace(value, _other(value)) + text[stop:], start)


def _other(value: str) -> str:
    """Return another text of the same form: its first digit is another one, or else its first letter."""
    found = re.search(r"\d", value) or re.search(r"[A-Za-z]", value)
    if found is None:
        return f"{value}x"
    first, second = "45" if found[0].isdigit() else "qp"
    return f"{value[: found.start()]}{second if found[0] == first else first}{value[found.end() :]}"


# Keys


def _keys(text: str, owner: str, node: Node, spec: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Cell]:
    """Yield the cells of each key that a schema gives a value, and of the keys below."""
    spec = _resolved(spec, root)
    for each in (spec, *spec.get("anyOf", ())):
        for item in node.items or ((_NOTHING,) if "items" in each else ()):
            yield from _keys(text, _owner(each["items"], owner), item, each["items"], root) if "items" in each else ()
        properties, others = each.get("properties", {}), each.get("additionalProperties")
        for key, below in properties.items():
            entry = node.entry(key)
            part = f"{owner}: {key}"
            yield from (
                _key(text, part, node, entry, _resolved(below, root)) if entry else (Cell(part, ABSENT, text, 0),)
            )
            yield from _keys(text, _owner(below, key), entry.value if entry else _NOTHING, below, root)
        for entry in node.entries if isinstance(others, dict) else ():
            if entry.key.text not in properties:
                yield from _keys(text, _owner(others, owner), entry.value, others, root)


def _resolved(spec: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    named = root["$defs"][spec["$ref"].rpartition("/")[2]] if "$ref" in spec else {}
    return {**named, **spec}


def _owner(spec: Mapping[str, Any], key: str) -> str:
    return str(spec.get("$ref", key)).rpartition("/")[2]


def _key(text: str, part: str, owner: Node, entry: MapEntry, spec: Mapping[str, Any]) -> Iterator[Cell]:
    key, value, last = entry.key.span, entry.value.span, owner.entries[-1].value.span.end
    begin = text.rindex("\n", 0, key.start) + 1
    start, stop = key.start, value.end
    between = ("," if text[start] == '"' else "") + "\n" + " " * (start - begin)
    following = re.compile(rf",?\n {{{start - begin}}}(?=[\w\"])").match(text, stop)
    without = text[:start] + text[following.end() :] if following else text[: begin - 1].rstrip(",") + text[stop:]
    yield _cell(part, "missing", without, start, owner.span.start)
    if following:
        end = last - following.end() + start
        yield _cell(part, "moved", without[:end] + between + text[start:stop] + without[end:], end + 1 + len(between))
    again = text[:stop] + between + text[start:stop] + text[stop:]
    yield _cell(part, "twice", again, stop + 1 + len(between))
    name = text[start : key.end]
    other = f'{name[:-1]}z"' if name.endswith('"') else f"{name}z"
    yield _cell(part, "renamed", text[:start] + other + text[key.end :], start)
    values = {
        "wrong type": "[[]]" if spec.get("type") != "array" else '"zzz"',
        "wrong value": _wrong(spec),
        CHANGED: _changed(entry.value, spec),
    }
    for damage, new in values.items():
        if new is not None:
            yield _cell(part, damage, f"{text[: key.end]}: {new}{text[stop:]}", start)


def _wrong(spec: Mapping[str, Any]) -> str | None:
    """Return a value of the right type that a schema does not allow; None where it allows all."""
    wrongs = {"enum": '"zzz"', "const": '"zzz"', "x-timestamp": '"yesterday"', "pattern": '"! !"', "minimum": "-1"}
    wrongs |= {"minLength": '""', "minItems": "[]", "x-path": '"../../out"', "x-state-path": '"../../out"'}
    return next((wrong for keyword, wrong in wrongs.items() if keyword in spec), None)


def _changed(value: Node, spec: Mapping[str, Any]) -> str | None:
    """Return another value that the schema allows; None where it is a list, a mapping or null."""
    now = value.value()
    if "enum" in spec:
        return json.dumps(next((each for each in spec["enum"] if each != value.text), None))
    if value.kind != "scalar" or now is None or "const" in spec:
        return None
    if isinstance(now, bool):
        return json.dumps(not now)
    return str(now + 1) if isinstance(now, int) else json.dumps(_other(str(now)))


# The kinds of documents


def _task(text: str) -> Iterator[Cell]:
    yield from chain(_headings(text, TASK), _labels(text), _front_matter(text, "task"))
    for line, name in _FENCED.items():
        yield from _fence(text, line, name, name)
    yield from _lines(
        text, "Archived Summary", r"(\*\*[^*\n]+:\*\*|\[Full session details\])(.*)", "### Archived Summary"
    )


def _front_matter(text: str, name: str, keys: tuple[str, ...] = ()) -> Iterator[Cell]:
    root, node = schema.load(name), parse(text).front_matter.node
    assert node
    for cell in _keys(text, "front matter", node, root, root):
        if not keys or cell.part.removeprefix("front matter: ") in keys:
            yield cell


def _fence(text: str, line: str, owner: str, name: str) -> Iterator[Cell]:
    """Yield the cells of the JSON in the first fence behind a line."""
    document, root = parse(text), schema.load(name)
    fence = next(each for each in document.blocks if each.kind == "fence" and each.span.start > text.index(f"\n{line}"))
    node = document.json(fence)
    assert isinstance(node, Node)
    yield from _keys(text, owner, node, root, root)


def _permanent(text: str) -> Iterator[Cell]:
    yield from chain(_headings(text, PERMANENT), _front_matter(text, "task", PERMANENT_KEYS))
    yield from _lines(text, "Decision", r"(\*\*[^*\n]+:\*\*) (.*)", "### AD-1:")
    yield from _fence(text, "## 2.", "Impact Map", IMPACT_MAP)
    for name in CONTENT:
        at = re.compile(r"(?m)^(?:- |\*\*Decision:\*\* |.*\"contract\": \")()").search(text, text.index(f". {name}"))
        assert at
        yield _cell(name, CHANGED, f"{text[: at.end()]}Not {text[at.end() :]}", at.end())
    yield from _lines(text, CHANGE_LOG, r"(- v\d+) (-.*)", "## 6.")
    line = text[text.index("- v2 ") :].partition("\n")[0]
    version = read_version_line(line)
    assert version
    changed = [
        version._replace(number=version.number + 7),
        version._replace(at=_other(version.at)),
        version._replace(actor=_other(version.actor)),
        version._replace(sections=("Constraints",)),
        version._replace(summary=_other(version.summary)),
        version._replace(level="cosmetic"),
    ]
    for field, new in zip(LoggedVersion._fields, changed, strict=True):
        yield _cell(f"version: {field}", CHANGED, text.replace(line, new.line), text.index(line))


def _handoff(text: str) -> Iterator[Cell]:
    yield from chain(_headings(text, HANDOFF), _front_matter(text, "handoff"))
    yield from _lines(text, HANDOFF, r"(# Phase) (.*)")
    yield from _lines(text, "Current State", rf"(- (?:{'|'.join(LABELS)}):) (.*)")


def _archive(text: str) -> Iterator[Cell]:
    yield from _lines(text, "archive", r"(# Task) (.*)")
    for title in ("Session", "Archived Summary", "Git History", "Events", "Document"):
        yield from _heading(text, title, "##", r"\n---|\n## |\Z")
    yield from _lines(text, "Session", r"(\*\*[^*\n]+:\*\*) (.*)", "## Session 2")
    yield from _lines(
        text, "Archived Summary", r"(\*\*[^*\n]+:\*\*|\[Full session details\])(.*)", "## Archived Summary"
    )
    yield from _lines(text, "closing lines", r"(---|[A-Z][\w -]+:|- \d+:)(.*)", "\n---\n\nArchived on")
    yield from _lines(text, "list", r"(- )(.*)", "## Git History")


def _json(owner: str, name: str) -> Callable[[str], Iterator[Cell]]:
    def cells(text: str) -> Iterator[Cell]:
        root, node = schema.load(name), read_json(text, 0, len(text))
        assert isinstance(node, Node)
        yield from _keys(text, owner, node, root, root)

    return cells


_NOTHING = Node("scalar", Span(0, 0), "plain")
_TASKS = ".taskstate/tasks/task-"
TABLES = (
    Table("state", (f"{_TASKS}101-state.md", f"{_TASKS}102-state.md", f"{_TASKS}103-state.md"), _task),
    Table("archive", (".taskstate/archives/task-102-archive.md",), _archive),
    Table("handoff", (".taskstate/handoffs/task-101/phase-1-handoff-20260201T120000Z.md",), _handoff),
    Table("permanent", (f"{_TASKS}1-state.md",), _permanent),
    Table("progress", (".taskstate/handoffs/task-101/phase-1-progress.json",), _json("phase", PHASE)),
    Table("impact-map", (f"{_TASKS}1-impact-map.json",), _json("map", IMPACT_MAP)),
)

"""The laws of exports: what goes out and comes back says the same, whatever the texts are."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from taskstate.errors import TaskstateError
from taskstate.exporting import backlog_md, rows, whole
from taskstate.exporting.items import Item
from taskstate.exporting.run import Wanted
from taskstate.importing.reading.sources import Source, open_source
from taskstate.importing.records import Options, Record
from taskstate.importing.systems import backlog_md as from_backlog_md
from taskstate.importing.systems import json as from_json
from taskstate.importing.words import priority_of, status_of
from taskstate.model.statuses import OF_TASKS
from taskstate.syntax import escaping
from tests.support.markdown_strategies import outside

WANTED = Wanted("")
FEW = max(10, settings().max_examples // 4)
ids = st.from_regex(r"[a-z1-9]{1,4}(-[1-9]{1,3})?", fullmatch=True).filter(
    lambda each: not each.startswith(("task", "draft"))
)
plain = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=40)
lines = (plain | outside).map(lambda text: " ".join(text.split())).filter(bool)


def _paragraphs(text: str) -> str:
    try:
        return escaping.paragraphs(text, deepest=escaping.SUBSECTION_LEVEL)
    except TaskstateError:
        return ""


@st.composite
def items(draw: st.DrawFn) -> Item:
    """Draw a task as it is exported."""
    own = draw(ids)
    values: dict[str, Any] = {
        "id": own,
        "title": draw(lines),
        "status": draw(st.sampled_from(OF_TASKS)),
        "priority": draw(st.sampled_from(["", "P0", "P1", "P2", "P3"])),
        "area": draw(plain),
        "epic": draw(plain).strip(),
        "parent": draw(st.just("") | ids),
        "created_at": "2026-01-31T12:00:00Z",
        "subtasks": [],
        "depends_on": draw(st.lists(ids, max_size=2)),
        "description": draw(outside.map(_paragraphs)),
        "criteria": draw(st.lists(st.fixed_dictionaries({"text": lines, "checked": st.booleans()}), max_size=2)),
        "features": draw(
            st.lists(
                st.fixed_dictionaries({"id": ids, "description": lines, "passes": st.booleans()}),
                max_size=2,
            )
        ),
        "sessions": [],
        "summary": "",
        "notes": "",
    }
    files = draw(st.dictionaries(st.just(f"tasks/task-{own}-archive.md"), st.text(st.characters(codec="utf-8"))))
    files[f"tasks/task-{own}-state.md"] = draw(st.text(st.characters(codec="utf-8")) | outside)
    return Item(own, "task", values, files, {})


@settings(max_examples=FEW)
@given(st.lists(items(), max_size=3))
def test_json_brings_every_byte_back(tasks: list[Item]) -> None:
    """The reader has the files as they were, and the file is known for an export as long as nobody edits it."""
    data = whole.render(tasks, WANTED)[""].encode()
    assert whole.is_ours(data)
    assert not whole.is_ours(data + b" ")
    found = [each for each in from_json.read(Source((), data), Options()) if isinstance(each, Record)]
    assert [(each.id, each.title, each.state, each.files) for each in found] == [
        (each.id, each.values["title"], each.values["status"], each.files) for each in tasks
    ]


@settings(max_examples=FEW)
@given(st.lists(items(), max_size=3))
def test_csv_calculates_nothing_and_loses_no_cell(tasks: list[Item]) -> None:
    """Without the guard each cell is the value; with it none begins as a formula does."""
    raw = [*csv.DictReader(io.StringIO(rows.render(tasks, WANTED._replace(raw=True))[""], newline=""))]
    for row, task in zip(raw, tasks, strict=True):
        assert {key: row[key] for key in ("title", "area", "epic", "description")} == {
            key: task.values[key] for key in ("title", "area", "epic", "description")
        }
    text = rows.render(tasks, WANTED)[""]
    assert not [
        cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row if cell[:1] in set("=+-@\t\r")
    ]
    assert rows.is_ours(text.encode())
    assert not rows.is_ours(text.encode() + b"x")


@settings(max_examples=FEW)
@given(items())
def test_backlog_md_says_the_same(task: Item) -> None:
    """Title, status, priority, relations, description, criteria and features come back, and nothing is structure."""
    assume(not any("[" in each for each in (task.values["epic"], task.values["area"])))
    ((name, text),) = ((name, text) for name, text in backlog_md.render([task], WANTED).items() if name != "config.yml")
    assert backlog_md.is_ours(text.encode())
    assert not backlog_md.is_ours(text.encode() + b"x")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode())
        source = open_source([(folder, Path(folder))])
        (found,) = (each for each in from_backlog_md.read(source, Options()) if isinstance(each, Record))
    values = task.values
    assert (found.exported, found.is_as_exported, found.title) == (task.id, True, values["title"])
    assert (found.state or status_of(found.status)) == values["status"]
    assert priority_of(found.priority) == values["priority"]
    assert found.epic == values["epic"]
    assert [each.removeprefix("TASK-") for each in found.depends_on] == values["depends_on"]
    assert found.parent.removeprefix("TASK-") == values["parent"]
    assert [(each.text.replace("&lt;!--", "<!--"), each.done) for each in found.criteria] == [
        (each["text"], each["checked"]) for each in values["criteria"]
    ]
    assert [(each.id, each.text.replace("&lt;!--", "<!--"), each.done) for each in found.features] == [
        (each["id"], each["description"], each["passes"]) for each in values["features"]
    ]
    assert found.description.split() == values["description"].split()

"""The list of all tasks is a table, and is cached from run to run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.storage import file_sources
from taskstate.tasks.decomposition_plan import guidance
from taskstate.views import task_list
from taskstate.views.task_list import READY, WAITING, list_tasks, listing, table
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file that was just written count as settled, so that it is cached."""
    monkeypatch.setattr(file_sources, "_COARSEST_NS", -(10**18))


def ids(place: Place, *, status: str = "", area: str = "", ready: bool = False) -> list[str]:
    """Return the ids of the tasks that fit."""
    return [
        each.id for each in list_tasks(place.workspace, status=status, area=area, standing=READY if ready else "").tasks
    ]


def test_tasks_are_listed_in_natural_order(place: Place) -> None:
    """9 comes before 10, and 101 before 101a."""
    for task in ("10", "9", "101a", "b", "A-2"):
        place.new(task)
    assert ids(place) == ["9", "10", "101", "101a", "A-2", "b"]


def test_tasks_are_chosen_by_status_and_area(place: Place) -> None:
    """Only the tasks of a status and area are listed where one is named."""
    place.new("2", area="web")
    place.add()
    assert ids(place, status="created") == ["2"]
    assert ids(place, status="in_progress") == ["101"]
    assert ids(place, area="web") == ["2"]
    assert ids(place, area="web", status="complete") == []


def test_ready_tasks_wait_for_nothing(place: Place) -> None:
    """A task is ready when it is not complete and all its dependencies are, whatever the case of their ids."""
    place.new("Up")
    place.new("2", depends_on=("uP",))
    place.new("3", depends_on=("2", "UP"))
    assert ids(place, ready=True) == ["101", "Up"]
    path = place.workspace.locate("up")
    path.write_text(path.read_text(encoding="utf-8").replace("status: created", "status: complete"), encoding="utf-8")
    assert ids(place, ready=True) == ["2", "101"]


def test_unreadable_file_hides_no_other(place: Place) -> None:
    """A file that cannot be read is reported by its name, and the others are listed."""
    (place.path.parent / "task-7-state.md").write_bytes(b"---\n\xff")
    (place.path.parent / "task-8-state.md").mkdir()
    place.new("9")
    path = place.workspace.locate("9")
    path.write_text("no front matter at all\n", encoding="utf-8")
    tasks, problems, _ = list_tasks(place.workspace)
    assert [each.id for each in tasks] == ["9", "101"]
    unreadable, folder, damaged = sorted(problems)
    assert "task-8-state.md is a folder, not a plain file" in problems[folder]
    assert "task-7-state.md is not UTF-8: byte 4 is 0xff, so it is damaged" in problems[unreadable]
    assert "task-9-state.md is damaged: line 1" in problems[damaged]
    assert "cannot be read fully" in listing(tasks, 20)
    assert [row.endswith("(damaged)") for row in listing(tasks, 20, problems).split("\n")[1:4]] == [True, False, True]
    assert listing(tasks, 20, problems).count("(damaged)") == 3


def test_a_long_title_is_cut_and_its_marks_stay(place: Place) -> None:
    """No row is wider than a pipe gets, or the terminal is; what a task is marked with can be read still."""
    (task, *_) = list_tasks(place.workspace).tasks
    long = task._replace(title="a long title " * 10, turn="ann works on it", status="in_progress")
    row = listing([long], 20).split("\n")[1]
    assert (len(row), row.endswith("\u2026 [ann works on it]")) == (100, True)
    for width in (40, 69, 70, 80):
        lines = listing([long], 20, width=width).split("\n")[:2]
        assert ("SIZING" in lines[0], max(map(len, lines))) == (width >= 70, width)
    assert len(listing([long], 20, width=200).split("\n")[1]) > 150


def test_listing_is_a_table(place: Place) -> None:
    """Each task has a line, under headings."""
    place.new("7", title="Other", features=())
    lines = listing(list_tasks(place.workspace)[0], 20).split("\n")
    assert [line.split() for line in lines] == [
        ["ID", "STATUS", "FEATURES", "SESSIONS", "SIZING", "KB", "TITLE"],
        ["7", "created", "0/0", "0", "simple", "2", "Other"],
        ["101", "created", "0/1", "0", "simple", "2", "JWT", "Service"],
        [],
        guidance(20).split(),
    ]


def test_no_tasks() -> None:
    """Where there is none, that is reported."""
    assert listing([], 20) == "no tasks"


@pytest.mark.usefixtures("settled")
def test_what_has_not_changed_is_not_read_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second list is the same and reads no file, also as JSON; what is changed, new or gone is noticed."""
    place.new("102", depends_on=("101",))
    place.fill(1, 2)

    def listed() -> tuple[str, list[object]]:
        tasks, problems, _ = list_tasks(place.workspace)
        shaped = list_tasks(place.workspace, shaped=True)
        assert not problems
        assert (shaped.tasks, shaped.problems) == (tasks, problems)
        assert [shaped.shapes[each.path]["title"] for each in tasks] == [each.title for each in tasks]
        return listing(tasks, 20), [*shaped.shapes.values()]

    before = listed()
    with monkeypatch.context() as patch:
        patch.setattr(task_list, "_read", None)
        assert listed() == before
    place.text = place.text.replace("title: JWT Service", "title: Another")
    text, shapes = listed()
    assert "Another" in text
    assert "Another" in str(shapes)
    assert ids(place) == ids(place) == ["101", "102"]  # also in the order that was cached
    (place.workspace.tasks / "task-102-state.md").unlink()
    assert ids(place) == ["101"]
    list_tasks(place.workspace, shaped=True)
    for name in ("list.json", "list-shapes.json"):
        assert "task-102" not in place.cache(name).read_text()


@pytest.mark.usefixtures("settled")
def test_what_is_damaged_or_rests_on_an_archive_is_read_again(place: Place) -> None:
    """An archive that is gone is noticed where a file counts the sessions in it; so is every damaged file."""
    place.fill(1, 2, 3)
    place.archive(keep=1)
    whole = place.text
    place.text = whole.replace(whole[whole.index("### Archived Summary") : whole.index("### Session 3")], "")

    def problems() -> list[str]:
        return [*list_tasks(place.workspace)[1].values()]

    assert problems() == []
    archive = place.workspace.state_root / place.workspace.archive_path("101")
    archive.rename(archive.with_suffix(".away"))
    found = problems()
    assert ["2 of the 3 sessions that it counts are missing" in each for each in found] == [True]
    assert problems() == found
    archive.with_suffix(".away").rename(archive)
    assert problems() == []


def test_what_changed_just_now_is_not_remembered(place: Place) -> None:
    """A file that was changed just now is not cached: it could change again and keep its times."""
    assert ids(place) == ["101"]
    assert not place.cache("list.json").exists()


@pytest.mark.usefixtures("settled")
def test_the_table_of_the_last_run_is_shown_until_anything_changes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question has its own; a file that changes, appears or goes, and another configuration, make it anew."""
    place.new("102", depends_on=("101",), area="web")

    def shown(*, again: bool) -> list[str]:
        questions: tuple[dict[str, Any], ...] = (
            {},
            {"status": "complete"},
            {"area": "web"},
            {"standing": READY},
            {"standing": WAITING},
        )
        with monkeypatch.context() as patch:
            if again:
                patch.setattr(task_list, "_all_tasks", None)
            tables = [table(place.workspace, **each) for each in questions]
        assert [each.unread for each in tables] == [()] * len(tables)
        tasks = [list_tasks(place.workspace, **each).tasks for each in questions]
        most = place.workspace.config.size.max_sessions
        assert [each.text for each in tables] == [listing(each, most) for each in tasks]
        return [each.text for each in tables]

    monkeypatch.setattr(task_list, "_MOST_TABLES", 5)
    before = shown(again=False)
    assert len({*before}) == 4  # what is of the area is what waits
    assert shown(again=True) == before
    place.text = place.text.replace("title: JWT Service", "title: Another")
    assert "Another" in shown(again=False)[0]
    place.new("103")
    assert "103" in shown(again=False)[0]
    (place.workspace.tasks / "task-103-state.md").unlink()
    assert "103" not in shown(again=False)[0]
    place.configure("[size]\nmax-sessions = 7")
    assert shown(again=False)[0].endswith(guidance(7))


@pytest.mark.usefixtures("settled")
def test_a_table_with_anything_wrong_is_not_remembered(place: Place) -> None:
    """What is damaged is told by each run, whoever has found it."""
    told = {"x/task-101-state.md": "damaged"}
    assert table(place.workspace, damaged=told).text == listing(list_tasks(place.workspace).tasks, 20, told)
    assert not place.cache("table.json").exists()
    whole = place.text
    place.text = whole.replace('"features"', "features")
    for _ in range(2):
        assert len(table(place.workspace).unread) == 1
        assert not place.cache("table.json").exists()
    place.path.write_bytes(b"\xff")
    for _ in range(2):
        assert ["not listed" in each for each in table(place.workspace).unread] == [True]
    assert not place.cache("table.json").exists()
    place.text = whole
    assert table(place.workspace).unread == ()
    remembered = place.cache("table.json").read_bytes()
    assert "(damaged)" in table(place.workspace, damaged={place.workspace.relative(place.path): "damaged"}).text
    assert place.cache("table.json").read_bytes() == remembered


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("other", [None, 7, ["x"], {"x": "y"}])
def test_a_damaged_cache_of_tables_is_none(place: Place, other: object) -> None:
    """Whatever stands in the place of a table: the answer is that of the files."""
    expected, cache = table(place.workspace), place.cache("table.json")
    content = json.loads(cache.read_text())
    content["entries"] = dict.fromkeys(content["entries"], other)
    cache.write_text(json.dumps(content))
    assert table(place.workspace) == expected


def test_a_table_of_what_changed_just_now_is_not_remembered(place: Place) -> None:
    """A file could change again and keep its times."""
    assert "101" in table(place.workspace).text
    assert not place.cache("table.json").exists()

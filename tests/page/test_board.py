"""The board of the page: which cards are in which column, what a card says, and that the address is the state."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.page.looking import cards, look, main_of, said, words
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.scene import Scene

MANY = 500


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with two tasks."""
    made = Place(tmp_path / "repository")
    made.path.with_name("task-102-state.md").write_text(made.text.replace('task_id: "101"', 'task_id: "102"'), "utf-8")
    return made


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with five hundred ready tasks of the usual size."""
    made = Place(tmp_path_factory.mktemp("many") / "repository")
    made.add("Worked on it.")
    text = made.text.replace("status: in_progress", "status: created", 1)
    for number in range(1_000, 1_000 + MANY - 1):
        changed = text.replace('task_id: "101"', f'task_id: "{number}"', 1)
        made.path.with_name(f"task-{number}-state.md").write_text(changed, "utf-8")
    return made.root


def test_the_columns_are_those_of_the_command(scene: Scene) -> None:
    """Each has the same cards in the same order as `board`; dropped tasks are left out."""
    columns = said(scene.root, "board")["columns"]
    assert cards(look(scene.root, "/board")) == {
        each["column"]: [task["id"] for task in each["tasks"]] for each in columns
    }


@pytest.mark.parametrize("status", ["blocked", "in_progress", "complete", "created"])
@pytest.mark.parametrize("area", ["billing", "auth", ""])
def test_a_status_and_an_area_show_what_the_list_has(scene: Scene, status: str, area: str) -> None:
    """The board of a status shows exactly the tasks of `list` with it; created ones are ready or waiting."""
    wanted = ("--area", area) if area else ()
    listed = {each["id"] for each in said(scene.root, "list", "--status", status, *wanted) if each["kind"] == "task"}
    shown = cards(look(scene.root, f"/board?status={status}&area={area}"))
    assert {each for column in shown.values() for each in column} == listed


def test_several_columns_can_be_asked_for(scene: Scene) -> None:
    """They stand in the order of the board, and the form shows what was asked for."""
    shown = look(scene.root, "/board?status=blocked&status=ready&priority=P2&q=invoices")
    assert [*cards(shown)] == ["ready", "blocked"]
    assert re.findall(r'value="(\w+)" checked', shown) == ["ready", "blocked"]
    assert "<option selected>P2</option>" in shown
    assert 'name="q" size="14" value="invoices"' in shown
    assert cards(shown)["blocked"] == ["27"]


@pytest.mark.parametrize(("query", "ids"), [("agent=dora", {"22"}), ("agent=nobody", set()), ("q=PASSKEY", {"21"})])
def test_filters(scene: Scene, query: str, ids: set[str]) -> None:
    """An agent, or a text in any case, leaves only what has it; one that nobody has stays chosen."""
    shown = look(scene.root, f"/board?{query}")
    assert {each for column in cards(shown).values() for each in column} == ids
    assert query != "agent=nobody" or "<option selected>nobody</option>" in shown


def test_a_role_is_a_filter(scene: Scene) -> None:
    """The roles that are at work can be chosen."""
    columns = said(scene.root, "board")["columns"]
    roles = {task["role"] for each in columns for task in each["tasks"]} - {""}
    assert roles
    for role in roles:
        shown = look(scene.root, f"/board?role={role}")
        found = {task["id"] for each in columns for task in each["tasks"] if task["role"] == role}
        assert {each for column in cards(shown).values() for each in column} == found


def test_what_is_complete_for_long_is_behind_a_link(scene: Scene) -> None:
    """Seven days are shown, with a link to all; as many days as are asked for, too."""
    shown = look(scene.root, "/board?area=")
    assert cards(shown)["complete"] == ["18"]
    (address,) = re.findall(r'<a href="([^"]*)">all 2</a>', shown)
    assert cards(look(scene.root, address.replace("&amp;", "&")))["complete"] == ["17", "18"]
    assert cards(look(scene.root, "/board?done=30"))["complete"] == ["17", "18"]
    assert "Complete, 30 days" in words(look(scene.root, "/board?done=30"))


def test_a_card(scene: Scene) -> None:
    """It says id, priority, area, what it needs, title, agent, features and age, and is one link."""
    shown = look(scene.root, "/board")
    card = shown[: shown.index('href="/tasks/22"')].rpartition("<li")[2] + shown.partition('href="/tasks/22"')[2]
    card = card.partition("</li>")[0]
    assert re.fullmatch(
        r".*22 P0 mail (?:silent )?.*A mail queue that survives a restart dora 0 of 2 \d+ h \d\d", words(f"<li{card}")
    )
    assert shown.count('href="/tasks/22"') == 1


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("status=nonsense", "there is no column nonsense"),
        ("status=ready&status=%00%3Cb%3E", "there is no column"),
        ("done=-1", "done=-1 is not a number of days up to 3650, nor all"),
        ("done=99999999999999999999", "is not a number of days"),
        ("done=²", "is not a number of days"),
        ("from=x", "from=x is not a number"),
        ("from=1e9", "from=1e9 is not a number"),
    ],
)
def test_what_makes_no_sense_is_told(scene: Scene, query: str, told: str) -> None:
    """A value that is none is named and not heeded; the board is there all the same."""
    shown = main_of(look(scene.root, f"/board?{query}"))
    assert f"Not heeded: {told}" in words(shown) or (told in words(shown) and "Not heeded" in words(shown))
    assert 'id="c-ready"' in shown
    assert "<b>" not in shown.partition("Not heeded")[2].partition("</p>")[0]


@pytest.mark.parametrize(
    "query", ["from=100000&area=%F0%9F%92%A9", "q=" + "x" * 5_000, "unknown=1&status=&area=&done="]
)
def test_other_values_find_what_there_is(scene: Scene, query: str) -> None:
    """What nothing has leaves empty columns, and what is empty or unknown asks for nothing."""
    assert 'id="c-ready"' in look(scene.root, f"/board?{query}")


def test_a_column_has_at_most_two_hundred_cards(many: Path) -> None:
    """Links lead to the others, forth and back, with the same filters."""
    shown = look(many, "/board?q=jwt")
    assert len(cards(shown)["ready"]) == 200
    (after,) = re.findall(r'<a href="([^"]*)">299 more in this column</a>', shown)
    rest = look(many, after.replace("&amp;", "&"))
    assert [*cards(rest)] == ["ready"]
    assert not {*cards(shown)["ready"]} & {*cards(rest)["ready"]}
    assert "q=jwt" in after
    assert "the ones before" in rest
    assert len(cards(look(many, "/board?status=ready&from=400"))["ready"]) == 99


def test_documents_stay_small(many: Path) -> None:
    """The board of five hundred tasks has at most 250 KB, the overview 60 KB."""
    assert len(look(many, "/board").encode()) < 250_000
    assert len(look(many).encode()) < 60_000


@pytest.mark.parametrize(
    ("old", "new", "column"),
    [
        ("status: created", "status: [created", "blocked"),
        ('"features": [', '"features": [[', "ready"),
        ("## 2. Acceptance", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n## 2. Acceptance", ""),
    ],
    ids=["front matter", "checklist", "conflict"],
)
def test_a_file_that_does_not_parse_is_a_card(place: Place, old: str, new: str, column: str) -> None:
    """It stays in its column, or stands among the blocked ones, and says that it is damaged."""
    before = place.text
    place.text = before.replace(old, new, 1) if old in before else f"{before}\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"
    shown = look(place.root, "/board")
    found = [name for name, ids in cards(shown).items() if "101" in ids]
    assert found == [column] if column else len(found) == 1
    card = words(shown[: shown.index('href="/tasks/101"')].rpartition("<li")[2])
    assert "damaged" in card or "does not parse" in words(shown) or "line" in words(shown)
    assert "102" in {each for ids in cards(shown).values() for each in ids}


def test_a_file_that_is_gone_is_no_card(place: Place) -> None:
    """What was deleted while the board was open is not on it any more, and the others are."""
    place.add("Worked.")
    place.path.unlink()
    shown = look(place.root, "/board")
    assert {each for ids in cards(shown).values() for each in ids} == {"102"}
    assert "Damaged" in words(look(place.root))


def test_without_tasks_the_board_says_so(place: Place) -> None:
    """It has its columns, and the command that creates a task."""
    shutil.rmtree(place.path.parent)
    assert "There are no tasks yet" in words(look(place.root, "/board"))

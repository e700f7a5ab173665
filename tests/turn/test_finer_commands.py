"""Turns stand beside the finer commands: who uses both is refused nothing, and loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.turns import Turns


def test_a_snapshot_that_is_taken_later_is_what_was_left(turns: Turns) -> None:
    """A role that is reopened and done again by the finer commands hands on what it left then."""
    turns.build()
    turns.cli.ok("role", "reopen", TASK, "implementer", "--note", "one more thing")
    turns.place.write("a.txt", "built again\n")
    turns.cli.ok("snapshot", "take", TASK, "--role", "implementer")
    turns.cli.ok("role", "set", TASK, "implementer", "--status", "done")
    assert "is not what the last turn left" not in turns.start("reviewer")


def test_drift_that_was_resolved_is_what_was_left(turns: Turns) -> None:
    """What `snapshot resolve` accepts is asked about no more."""
    turns.build()
    turns.place.write("a.txt", "edited by hand\n")
    turns.refused("reviewer")
    turns.cli.ok("snapshot", "resolve", TASK, "--note", "a typo")
    turns.start("reviewer")


def test_a_role_that_works_already_is_not_asked_about_its_own_edits(turns: Turns) -> None:
    """A role that `role set` began may go on with `start`, whatever it has changed since."""
    for role, text in (("implementer", "one\n"), ("reviewer", "two\n")):
        turns.cli.ok("role", "set", TASK, role, "--status", "in_progress")
        turns.place.write("a.txt", text)
        if role == "implementer":
            turns.cli.ok("snapshot", "take", TASK, "--role", role)
            turns.cli.ok("role", "set", TASK, role, "--status", "done")
    assert turns.start("reviewer").startswith(f"task {TASK}, reviewer")


def test_the_same_words_count_again_in_another_turn(turns: Turns) -> None:
    """Also where the numbers of the sessions have a gap, as a merge or a cure may leave one."""
    turns.place.add("Went on.")
    turns.place.text = turns.place.text.replace("### Session 1 ", "### Session 4 ")
    turns.start()
    turns.finish("Went on.", "--pause")
    turns.start()
    turns.finish("Went on.", "--pause")
    assert [number for number, _ in turns.place.numbers()] == [4, 5, 6]


def test_complete_names_an_open_turn(turns: Turns) -> None:
    """Its work is not recorded yet; forced, the task is complete without it."""
    turns.start()
    said = turns.cli("complete", TASK)
    assert said.status == 2
    assert f'`taskstate finish {TASK} --complete --did "WHAT" --state "HOW IT STANDS" --next "STEP"`' in said.err
    turns.cli.ok("complete", TASK, "--force", "--note", "as far as it goes")
    assert turns.turn is None


@pytest.fixture
def elsewhere(turns: Turns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Return the flags for a second worktree, in which the commands are given, while the turn is open in the first."""
    turns.place.commit("the task")
    turns.place.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    turns.start()
    monkeypatch.chdir(tmp_path / "other")
    return "--root", str(tmp_path / "other")


def test_what_is_next_while_another_worktree_is_at_work(turns: Turns, elsewhere: tuple[str, ...]) -> None:
    """Its task is not offered here, and is not said to be complete; a task that depends on it waits for it."""
    assert turns.cli.ok("next", *elsewhere) == "no other task is open\n"
    turns.cli.ok("new", "102", "--title", "After it", "--depends-on", TASK, *elsewhere)
    assert f"it waits for {TASK}\n" in turns.cli.ok("next", *elsewhere)


def test_a_turn_that_is_taken_over_from_another_worktree_is_asked_about_once(
    turns: Turns, elsewhere: tuple[str, ...]
) -> None:
    """The note of the first worktree goes, so that the next turn here begins without a word."""
    arguments = ("start", TASK, "--agent", "bob", *elsewhere)
    assert "works on it in the worktree main" in turns.cli.refused(*arguments)
    turns.cli.ok(*arguments, "--take-over", "she left")
    turns.cli.ok("finish", TASK, *turns.words("Took over."), "--pause", *elsewhere)
    turns.cli.ok(*arguments)


def test_nothing_is_run_in_the_middle_of_a_merge(turns: Turns) -> None:
    """The session is recorded, and the refusal comes before the checks."""
    turns.check("echo ran >> ../ran\n")
    turns.place.git("branch", "side", "HEAD~1")
    turns.start("implementer")
    ran = (turns.place.root.parent / "ran").read_text(encoding="utf-8")
    merging = turns.place.root / ".git" / "MERGE_HEAD"
    merging.write_text(turns.place.git("rev-parse", "side") + "\n", encoding="utf-8")
    assert "in the middle of a merge" in turns.fails("Built it.").err
    assert (turns.sessions, (turns.place.root.parent / "ran").read_text(encoding="utf-8")) == (1, ran)

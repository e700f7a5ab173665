from __future__ import annotations

import pytest

from taskstate.lint.compared_revision import RenameEvidence, find_renames

FIRST, SECOND = "2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z"


def state(task_id: str, folder: str = "tasks") -> str:
    """Return the path of a task's state file."""
    return f"{folder}/task-{task_id}-state.md"


def moved(
    gone: tuple[str, ...],
    new: tuple[str, ...],
    git: dict[str, str] | None = None,
    created: dict[str, str] | None = None,
) -> dict[str, str]:
    """Return the renamings that are seen, where the same times of creation hold for both sides."""
    times = created or {}
    moves = RenameEvidence(gone, new, git or {}, lambda name: times.get(name, ""), lambda name: times.get(name, ""))
    return dict(find_renames(moves))


def test_a_file_that_moved_keeps_its_name() -> None:
    """A file of the same name is the same one wherever it stands, also where git sees nothing of it yet."""
    assert moved((state("1"),), (state("1", "old"),)) == {state("1", "old"): state("1")}


def test_git_decides_between_files_of_one_name() -> None:
    """Of several that went under one name it is the one that git names."""
    gone = (state("1", "a"), state("1", "b"))
    assert moved(gone, (state("1", "c"),), {state("1", "c"): state("1", "b")}) == {state("1", "c"): state("1", "b")}


def test_an_id_may_change_its_case() -> None:
    """Ids that differ only in case are the same one."""
    assert moved((state("Auth"),), (state("auth"),)) == {state("auth"): state("Auth")}


def test_a_renumbered_task_keeps_the_second_of_its_creation() -> None:
    """A task with another id is followed by when it was created, whatever git thinks."""
    created = {state("1"): FIRST, state("2"): SECOND, state("8"): SECOND, state("9"): FIRST}
    git = {state("8"): state("1"), state("9"): state("2")}
    assert moved((state("1"), state("2")), (state("8"), state("9")), git, created) == {
        state("9"): state("1"),
        state("8"): state("2"),
    }


def test_a_new_task_is_not_the_one_that_went() -> None:
    """Two tasks from one template are alike to git, but they were not created at once."""
    created = {state("1"): FIRST, state("2"): SECOND}
    assert moved((state("1"),), (state("2"),), {state("2"): state("1")}, created) == {}


def test_git_is_believed_where_nothing_tells() -> None:
    """Where no time of creation can be read, git's word counts, and without it nothing does."""
    assert moved((state("1"),), (state("2"),), {state("2"): state("1")}) == {state("2"): state("1")}
    assert moved((state("1"),), (state("2"),)) == {}


def test_the_other_files_go_along() -> None:
    """Archive and handoffs of a renumbered task are followed with it; another type of file is never meant."""
    handoff = "handoffs/task-{}/phase-2-handoff-20260131T120000Z.md"
    gone = ("archives/task-1-archive.md", handoff.format("1"), state("1"))
    new = ("archives/task-2-archive.md", handoff.format("2"), state("2"))
    created = {state("1"): FIRST, state("2"): FIRST}
    assert moved(gone, new, created=created) == dict(zip(new, gone, strict=True))
    assert moved(("archives/task-1-archive.md",), (state("1"),)) == {}


def test_a_handoff_that_was_accepted_is_followed() -> None:
    """A handoff moves into the archive folder of its task; one of another time is another one."""
    name = "handoffs/task-1/{}phase-2-handoff-20260131T{}0000Z.md"
    accepted = name.format("archive/", 12)
    assert moved((name.format("", 12),), (accepted,)) == {accepted: name.format("", 12)}
    assert moved((name.format("", 11),), (accepted,)) == {}


@pytest.mark.parametrize(("gone", "new"), [((), (state("1"),)), ((state("1"),), ())])
def test_nothing_came_or_nothing_went(gone: tuple[str, ...], new: tuple[str, ...]) -> None:
    """Where nothing went or nothing came there is no renaming."""
    assert moved(gone, new) == {}

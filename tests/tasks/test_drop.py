"""A task is given up: who did it and why is recorded, nothing of it is missed afterwards, and it can be reopened."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from taskstate.brief.brief import brief
from taskstate.chain.inputs import pull, status
from taskstate.handoff.document_files import handoff_files
from taskstate.lint import engine
from taskstate.model.statuses import DROPPED
from taskstate.model.write_metadata import blocks_of, front_matter_values
from taskstate.tasks import complete, drop
from taskstate.tasks.dependency_graph import Graph, GraphTask, as_dot, as_mermaid, as_text
from taskstate.tasks.next_task import choose
from taskstate.views.facts import is_active
from taskstate.views.task_list import READY, WAITING, list_tasks
from taskstate.workspace import artifacts
from tests.support.chained import Chained
from tests.support.git_place import ROLE, GitPlace
from tests.support.place import TASK, Place, changes, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.writing.change import Outcome


@pytest.fixture
def place(tmp_path: Path) -> Chained:
    """Return a repository in which 102 depends on 101."""
    return Chained(tmp_path / "repository")


def give_up(place: Place, note: str = "the library does it", *, dry_run: bool = False) -> Outcome:
    """Drop task 101."""
    return drop.drop(place.workspace, TASK, place.request(dry_run=dry_run), note=note)


def events(place: Place) -> list[tuple[str | None, str | None, str | None]]:
    """Return the events of task 101: what, by whom, and why."""
    found = (each.entry for each in blocks_of(place.state.document).audit.events)
    return [(each.get("event"), each.get("actor"), each.get("note")) for each in found if isinstance(each, dict)]


# From each status


@pytest.mark.parametrize("before", ["created", "in_progress", "blocked"])
def test_an_open_task_is_dropped_from_each_status(place: Chained, before: str) -> None:
    """Only the status and an event with actor, time and note are written; the linter has nothing to say."""
    place.write(TASK, "status: created", f"status: {before}")
    text = place.text
    outcome = give_up(place)
    removed, added = changes(text, place.text)
    assert removed == f"status: {before}\n" + "".join(
        line for line in text.splitlines(keepends=True) if line.startswith("  seal:")
    )
    assert "status: dropped\n" in added
    assert "actor: somebody, event: dropped, note: the library does it}" in added
    assert events(place) == [("dropped", "somebody", "the library does it")]
    assert (outcome.changed, outcome.notes[0].startswith("102 depends on it")) == (True, True)
    assert engine.check(place.text, place.path.name, place.workspace.config) == ()


def test_a_complete_task_is_not_dropped(place: Chained) -> None:
    """Its output is handed down, so it is reopened first; a reason is needed; and nothing changes otherwise."""
    place.finish()
    place.complete()
    before = tree(place.root)
    error = refusal(lambda: give_up(place))
    assert (error.code, '`taskstate reopen 101 --note "WHY"`' in (error.help or "")) == ("complete", True)
    assert refusal(lambda: give_up(place, " ")).code == "empty"
    assert tree(place.root) == before
    complete.reopen(place.workspace, TASK, place.request(), note="wrong")
    give_up(place)
    assert place.state.status == "dropped"


def test_dropping_again_changes_nothing(place: Chained) -> None:
    """The second time says that it was so already; a status that was set by hand still gets its event."""
    give_up(place)
    before = tree(place.root)
    outcome = give_up(place, "another reason")
    assert (outcome.changed, outcome.notes) == (False, ("dropped already",))
    assert tree(place.root) == before
    complete.reopen(place.workspace, TASK, place.request(), note="still wanted")
    place.write(TASK, "status: in_progress", "status: dropped")
    assert give_up(place, "by hand").changed
    assert [event for event, _, _ in events(place)] == ["dropped", "reopened", "dropped"]


def test_a_dry_run_shows_it_and_writes_nothing(place: Chained) -> None:
    """The difference has the status and the event, and the disk is as before."""
    artifacts.write(place.workspace, TASK, "x", b"x")
    before = tree(place.root)
    diff = give_up(place, dry_run=True).diff
    assert "+status: dropped" in diff
    assert "event: dropped" in diff
    assert tree(place.root) == before


# What goes with it


def test_delta_data_artifacts_and_the_open_handoff_go(tmp_path: Path) -> None:
    """One write drops the paths of artifacts and the open handoff; its document stays, the artifacts are deleted."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "work\n")
    place.take()
    document = ".taskstate/handoffs/task-101/phase-1-handoff-20260131T120900Z.md"
    place.write(document, '---\ntaskstate: 1\nkind: handoff\ntask_id: "101"\nphase: 1\nstatus: open\n---\n')
    revision = place.state.revision
    outcome = give_up(place)
    assert place.state.revision == revision + 1
    assert [event for event, _, _ in events(place)] == ["dropped"]
    assert not blocks_of(place.state.document).delta.snapshots[ROLE].values["pack"]
    assert not (place.workspace.state_root / "artifacts/task-101").exists()
    assert [each.status for each in handoff_files(place.workspace, TASK)] == ["open"]
    assert outcome.warnings == ()


def test_the_entry_of_an_open_handoff_becomes_null(place: Chained) -> None:
    """The count stays, nothing is open, and the outcome names the document."""
    place.write(TASK, "created_at", 'handoffs: {count: 1, open: "handoffs/task-101/x.md"}\ncreated_at')
    place.write(TASK, '  seal: ".*"\n', "")
    outcome = give_up(place)
    assert front_matter_values(place.state.document)["handoffs"] == {"count": 1, "open": None}
    assert outcome.notes[0] == "the handoff handoffs/task-101/x.md was open, and stays as a document"


def test_artifacts_that_stay_are_a_warning(place: Chained, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they cannot be deleted, the task is dropped all the same."""
    artifacts.write(place.workspace, TASK, "x", b"x")

    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "denied", str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    outcome = give_up(place)
    assert place.state.status == "dropped"
    assert "`taskstate purge 101` tries again" in outcome.warnings[0]


def test_a_drift_is_resolved_first(tmp_path: Path) -> None:
    """A snapshot that nobody looked at may be the only copy of a role's work."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "work\n")
    place.take()
    place.write("a.txt", "other work\n")
    assert place.verify().drift
    before = tree(place.root)
    assert refusal(lambda: give_up(place)).code == "drift-unresolved"
    assert tree(place.root) == before


# What is missed afterwards


def lived(root: Path) -> Place:
    """Return a repository whose task has sessions, archived ones too, a proof, a check and a handoff document."""
    place = Place(root)
    for number in range(4):
        place.add(f"Did {number}.")
    place.archive(keep=2)
    place.prove()
    place.check()
    return place


def test_the_files_of_a_dropped_task_may_go(tmp_path: Path) -> None:
    """State file and archive are missed by nobody, and the id may be given to another task, which is missed."""
    place = lived(tmp_path / "repository")
    give_up(place)
    assert place.told() == ()
    place.archive_path.unlink()
    place.path.unlink()
    assert place.told() == ()
    place.new()
    place.add("Did another thing.")
    place.path.unlink()
    assert "the file itself, session 1, criterion" in place.told()[0]


def test_the_files_of_an_open_task_are_missed(tmp_path: Path) -> None:
    """Without `drop`, whose time has not come yet, the same deletion is told."""
    place = lived(tmp_path / "repository")
    give_up(place, dry_run=True)
    place.archive_path.unlink()
    place.path.unlink()
    assert "gone, recorded" in place.told()[0]


def test_what_was_reopened_is_missed_again(tmp_path: Path) -> None:
    """From the next write on everything in the file counts."""
    place = lived(tmp_path / "repository")
    give_up(place)
    complete.reopen(place.workspace, TASK, place.request(), note="still wanted")
    place.path.unlink()
    assert "session 4" in place.told()[0]


def test_no_session_of_a_dropped_task_gets_lost_by_a_command(tmp_path: Path) -> None:
    """Though nothing of it is owed, a command that would take a session away is refused as ever."""
    from taskstate.writing.change import Change
    from taskstate.writing.writer import change

    place = lived(tmp_path / "repository")
    give_up(place)
    text = place.text.replace("- Did 3.", "- Gone.").replace("### Session 4", "### Part 4")
    request = place.request()._replace(even_dropped=True)
    assert refusal(lambda: change(place.workspace, TASK, lambda _: Change(text=text), request)).code == "unsafe"


# What a dropped task refuses, and what not


def test_a_dropped_task_takes_sessions_alone(place: Chained) -> None:
    """A session is recorded and the way out told; what else would change it is refused with the same way out."""
    give_up(place)
    outcome = place.add("Went on.")
    assert outcome.notes == (
        "session 1 recorded",
        'the task is dropped: `taskstate reopen 101 --note "WHY"` reopens it',
    )
    assert place.state.status == "dropped"
    before = tree(place.root)
    for job in (place.check, place.prove, place.complete):
        error = refusal(job)
        assert str(error) == 'task 101 is dropped: `taskstate reopen 101 --note "WHY"` reopens it'
    assert tree(place.root) == before
    assert place.archive(keep=0).changed


def test_a_reopened_task_goes_on(place: Chained) -> None:
    """It is in progress, and can be worked on and dropped again."""
    give_up(place)
    complete.reopen(place.workspace, TASK, place.request(), note="still wanted")
    assert place.state.status == "in_progress"
    assert events(place)[-1] == ("reopened", "somebody", "still wanted")
    assert place.check().changed
    assert give_up(place).changed


def test_a_dropped_task_that_a_hand_has_opened_is_reopened(place: Chained) -> None:
    """The command records afterwards who took it up and why, once."""
    give_up(place)
    place.write(TASK, "status: dropped", "status: in_progress")
    complete.reopen(place.workspace, TASK, place.request(), note="still wanted")
    assert events(place)[-1] == ("reopened", "somebody", "still wanted")
    assert place.state.status == "in_progress"
    assert refusal(lambda: complete.reopen(place.workspace, TASK, place.request(), note="x")).code == "not-complete"


# What is said of it


def test_a_dropped_task_is_no_work(place: Chained) -> None:
    """It is listed with its status, is never ready or waiting, and is not at work; its brief says so."""
    give_up(place)
    workspace = place.workspace
    for standing, ids in (("", ["101", "102"]), (READY, []), (WAITING, ["102"])):
        found = list_tasks(workspace, standing=standing).tasks
        assert [each.id for each in found] == ids
    assert [each.id for each in list_tasks(workspace, status="dropped").tasks] == ["101"]
    assert not is_active(workspace.load(place.path))
    assert "dropped: nobody works on it" in brief(workspace, workspace.load(place.path)).text


def test_who_waits_for_it_is_told_once(place: Chained) -> None:
    """`next` and `chain status` say that the upstream task was dropped, and nothing is pulled from it."""
    give_up(place)
    choice = choose(place.workspace)
    assert [(each.task.id, each.why) for each in choice.waiting] == [("102", "it depends on 101, which was dropped")]
    (found,), _ = status(place.workspace, (place.file("102"),))
    assert [(link.state, link.is_wrong) for link in found.links] == [(DROPPED, True)]
    outcome = pull(place.workspace, "102", place.request())
    assert (outcome.changed, outcome.notes) == (False, ("task 101 was dropped, so it has no output",))
    drop.drop(place.workspace, "102", place.request(), note="neither")
    assert choose(place.workspace).why == "all tasks are complete or dropped"


def test_nothing_is_handed_down_to_it(place: Chained) -> None:
    """A task that is completed leaves a dropped one as it is."""
    drop.drop(place.workspace, "102", place.request(), note="not wanted")
    before = place.read("102")
    place.finish()
    assert place.complete().notes == ()
    assert place.read("102") == before


def test_it_is_drawn_as_dropped() -> None:
    """It has a mark and a colour of its own."""
    graph = Graph([GraphTask("1", "One", "dropped")])
    assert as_text(graph) == "[-] 1  One"
    assert ":::dropped" in as_mermaid(graph)
    assert "#bdbdbd" in as_dot(graph)

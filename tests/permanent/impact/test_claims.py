"""Claims of affected files in a git repository: compared with the change, recorded, confirmed by somebody else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.model.permanent import change_log
from taskstate.model.write_metadata import blocks_of
from taskstate.permanent.impact.claims import missing_analysis
from tests.support.impact_maps import map_with, module
from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.support.shared_context import SharedContext

MAP = map_with(
    module("web", "core") | {"paths": ["web/**", "a.txt"]},
    module("core", "store") | {"paths": ["src/b.py"]},
    module("store") | {"paths": ["src/c.py"]},
)
CHECK = ("impact", "check", TASK)
RECORD = (*CHECK, "--record", "--files")
CONFIRM = ("impact", "confirm", TASK, "--actor")
# Times of versions and tasks are in whole seconds: tests that compare them set them apart.
EARLY, LATE = "2025-01-01T00:00:00Z", "2099-01-01T00:00:00Z"


@pytest.fixture
def mapped(shared: SharedContext) -> SharedContext:
    """Return a permanent task with a map, and task 101 with an open turn, begun at a commit of all this."""
    shared.place.write("web/page.py", "import core\n")
    shared.update("Codebase Impact Map", json.dumps(MAP.values))
    shared.place.commit("the map")
    shared.cli.ok("start", TASK, "--agent", "ann")
    return shared


def events(shared: SharedContext) -> list[dict[str, Any]]:
    """Return the events of claims of task 101."""
    entries = [each.entry for each in blocks_of(shared.place.state.document).audit.events]
    return [each for each in entries if isinstance(each, dict) and str(each["event"]).startswith("impact-")]


def missing(shared: SharedContext) -> str:
    """Return what `start` is told of the analysis of task 101."""
    return missing_analysis(shared.place.workspace, shared.place.state, shared.state)


# The files of the change


def test_files_of_the_change_that_are_not_claimed(mapped: SharedContext) -> None:
    """All that the task has changed since its base belongs to it: edited, new and deleted files, committed or not."""
    place = mapped.place
    place.write("src/b.py", "b = 2\n")
    place.commit("half of it")
    place.write("src/new.py", "")
    (place.root / "a.txt").unlink()
    said = mapped.cli(*CHECK, "--files", "src/b.py")
    assert said.status == 1
    assert "files of the same change that are not claimed:\n  a.txt (web)\n  src/new.py (in no module)\n" in said.out
    assert "the claim is incomplete: it lacks 2 files\n" in said.out
    mapped.cli.ok(*CHECK, "--files", "src/b.py,src/new.py,a.txt")
    data = mapped.cli.json(*CHECK, "--diff")
    assert [each["path"] for each in data["files"]] == ["a.txt", "src/b.py", "src/new.py"]


def test_a_change_with_a_module_left_out_between(mapped: SharedContext) -> None:
    """The diff is the claim: also there the module between is missing."""
    mapped.place.write("a.txt", "")
    mapped.place.write("src/c.py", "")
    data = mapped.cli.json(*CHECK, "--diff", status=1)
    assert data["missing_modules"] == [{"id": "core", "path": ["web", "core", "store"]}]


def test_the_diff_since_the_last_snapshot(mapped: SharedContext) -> None:
    """It has what was changed after the snapshot, and nothing from before."""
    mapped.cli.refused(*CHECK, "--diff", "snapshot")
    mapped.place.write("src/b.py", "b = 2\n")
    mapped.cli.ok("snapshot", "take", TASK, "--role", "implementer")
    assert "has changed no file yet" in mapped.cli("impact", "check", TASK, "--diff", "snapshot").err
    mapped.place.write("src/c.py", "c = 2\n")
    data = mapped.cli.json(*CHECK, "--diff", "snapshot")
    assert [each["path"] for each in data["files"]] == ["src/c.py"]


def test_files_of_another_task_at_work(mapped: SharedContext) -> None:
    """What lies in its Repository Paths is told, and does not make the claim incomplete."""
    mapped.place.new("102", paths=("src/c.py",))
    mapped.place.write("src/c.py", "c = 2\n")
    assert mapped.cli(*CHECK, "--files", "a.txt").status == 1
    mapped.cli.ok("role", "set", "102", "implementer", "--status", "in_progress")
    said = mapped.cli.json(*CHECK, "--files", "a.txt")
    assert said["files_of_other_tasks"] == [{"path": "src/c.py", "task": "102"}]


def test_nothing_changed_is_no_claim(mapped: SharedContext) -> None:
    """The command that names files is told."""
    said = mapped.cli.refused(*CHECK, "--diff")
    assert said.endswith("name the files that it will touch: `taskstate impact check 101 --files F,F`")


def test_a_task_that_has_not_begun(shared: SharedContext) -> None:
    """Without a base only a diff that is asked for counts: what differs from HEAD."""
    shared.update("Codebase Impact Map", json.dumps({**MAP.values, "modules": MAP.values["modules"][1:]}))
    shared.place.commit("the map")
    shared.place.write("src/b.py", "b = 2\n")
    shared.cli.ok(*CHECK, "--files", "src/c.py")
    assert [each["path"] for each in shared.cli.json(*CHECK, "--diff")["files"]] == ["src/b.py"]


def test_paths_that_look_like_options(mapped: SharedContext) -> None:
    """A name is a name, whatever it begins with."""
    mapped.place.write("--help", "")
    mapped.place.write(":(top)x", "")
    data = mapped.cli.json(*CHECK, "--diff")
    assert [each["path"] for each in data["files"]] == ["--help", ":(top)x"]


# Recording and confirming


def test_a_claim_is_recorded_and_confirmed(mapped: SharedContext) -> None:
    """The events hold the claim, its answer and the version, and who confirmed it."""
    said = mapped.cli.ok(*RECORD, "src/b.py,README.md", "--note", "first look", "--actor", "ann")
    assert said.endswith(".taskstate/tasks/task-101-state.md: claim recorded at PT-v2\n")
    claim = events(mapped)[-1]
    assert {key: claim[key] for key in ("actor", "event", "note", "version", "complete", "files", "downstream")} == {
        "actor": "ann",
        "event": "impact-claimed",
        "note": "first look",
        "version": 2,
        "complete": True,
        "files": ["README.md", "src/b.py"],
        "downstream": ["web"],
    }
    said = mapped.cli.ok(*CONFIRM, "bob")
    assert "the claim of ann at PT-v2 is confirmed" in said
    confirmed = events(mapped)[-1]
    assert (confirmed["actor"], confirmed["event"], confirmed["claimed_by"]) == ("bob", "impact-confirmed", "ann")
    mapped.cli.ok("lint")


def test_the_same_claim_at_once_is_one(mapped: SharedContext) -> None:
    """Given again it says so, with the same answer; another claim is another one."""
    first, again = (mapped.cli(*RECORD, "src/b.py", "--actor", "ann") for _ in range(2))
    assert (again.status, "the same claim is recorded already" in again.out) == (first.status, True)
    assert again.out.partition("\n.taskstate")[0] == first.out.partition("\n.taskstate")[0]
    assert len(events(mapped)) == 1
    mapped.cli(*RECORD, "src/b.py", "--note", "second look", "--actor", "ann")
    assert len(events(mapped)) == 2


def test_an_incomplete_claim_is_recorded_too(mapped: SharedContext) -> None:
    """It ends with status 1, and is confirmed only with a reason."""
    data = mapped.cli.json(*RECORD, "a.txt,src/c.py", "--actor", "ann", status=1)
    assert (data["changed"], data["complete"]) == (True, False)
    said = mapped.cli.refused(*CONFIRM, "bob")
    assert (
        'it lacks core: claim again, or say why it is right: `taskstate impact confirm 101 --note "WHY" --actor bob`'
        in said
    )
    mapped.cli.ok(*CONFIRM, "bob", "--note", "core is generated")
    assert events(mapped)[-1]["note"] == "core is generated"


@pytest.mark.parametrize("actor", ["ann", "Ann", " ann "])
def test_nobody_confirms_their_own_claim(mapped: SharedContext, actor: str) -> None:
    """However they write their name."""
    mapped.cli.ok(*RECORD, "a.txt", "--actor", "ann")
    assert "somebody else confirms it" in mapped.cli.refused(*CONFIRM, actor)


def test_what_cannot_be_confirmed(mapped: SharedContext) -> None:
    """Nothing that was claimed, what is confirmed already, and a claim on an older architecture."""
    assert "task 101 has claimed nothing" in mapped.cli.refused(*CONFIRM, "bob")
    mapped.cli.ok(*RECORD, "a.txt", "--actor", "ann")
    mapped.cli.ok(*CONFIRM, "bob")
    assert "is confirmed already" in mapped.cli.refused(*CONFIRM, "bob")
    mapped.cli.ok(*RECORD, "a.txt", "--actor", "ann")
    mapped.cli.ok("impact", "remove", "module", "store", "--with-references")
    create_at(mapped, EARLY)
    said = mapped.cli.refused(*CONFIRM, "bob")
    assert "is outdated: PT-v3 changed the architecture: claim again: `taskstate impact check 101 --files F,F" in said


def test_a_dry_run_records_nothing(mapped: SharedContext) -> None:
    """It prints the diff."""
    before = mapped.place.text
    assert "impact-claimed" in mapped.cli.ok(*RECORD, "a.txt", "--dry-run")
    assert mapped.place.text == before


def test_a_long_claim_keeps_its_beginning(mapped: SharedContext) -> None:
    """The first twenty files stand in the event, with how many there are."""
    mapped.cli.ok(*RECORD, ",".join(f"web/{number:02}.py" for number in range(25)))
    claim = events(mapped)[-1]
    assert (len(claim["files"]), claim["files_count"]) == (20, 25)


# What is missing


def create_at(shared: SharedContext, time: str) -> None:
    """Let task 101 have been created at another time."""
    text = shared.place.text
    line = next(each for each in text.splitlines() if each.startswith("created_at"))
    shared.place.text = text.replace(line, f'created_at: "{time}"')


def test_an_architecture_change_asks_for_an_analysis(mapped: SharedContext) -> None:
    """From the change on until a claim on that version is confirmed by somebody else."""
    create_at(mapped, EARLY)
    assert missing(mapped) == ""
    mapped.cli.ok("impact", "add", "module", "more", "--planned")
    assert missing(mapped) == ""
    mapped.cli.ok("impact", "remove", "module", "more")
    assert missing(mapped) == (
        "the impact analysis of task 101 is missing, since PT-v4 changed the architecture: "
        "`taskstate impact check 101 --files F,F --record`, then `taskstate impact confirm 101` by another actor"
    )
    mapped.cli.ok(*RECORD, "a.txt", "--actor", "ann")
    assert missing(mapped).endswith("changed the architecture: `taskstate impact confirm 101` by another actor")
    mapped.cli.ok(*CONFIRM, "bob")
    assert missing(mapped) == ""
    mapped.cli.ok("permanent", "update", "--section", "Constraints", "--from", "-", stdin="- EU only\n")
    assert missing(mapped) == ""


def test_a_task_that_came_after_the_change(mapped: SharedContext) -> None:
    """It was planned on the newer version."""
    mapped.cli.ok("impact", "remove", "module", "store", "--with-references")
    create_at(mapped, LATE)
    assert missing(mapped) == ""


def test_a_task_of_the_same_second_is_asked_for_an_analysis(mapped: SharedContext) -> None:
    """Nobody can tell which of the two came first."""
    mapped.cli.ok("impact", "remove", "module", "store", "--with-references")
    create_at(mapped, change_log(mapped.state)[0].at)
    assert "changed the architecture" in missing(mapped)


def test_a_recovery_asks_for_an_analysis(mapped: SharedContext) -> None:
    """A claim from before the loss does not count, confirmed or not; one from after it does."""
    mapped.cli.ok(*RECORD, "a.txt", "--actor", "ann")
    mapped.cli.ok("permanent", "recover", "--agent", "ann")
    assert "since its agent lost its context: `taskstate impact check" in missing(mapped)
    assert "is outdated: its agent lost its context" in mapped.cli.refused(*CONFIRM, "bob")
    mapped.cli.ok(*RECORD, "a.txt", "--actor", "ann")
    mapped.cli.ok(*CONFIRM, "bob")
    assert missing(mapped) == ""


def test_events_in_the_archive_count(mapped: SharedContext) -> None:
    """A confirmation that was moved out of the state file still holds."""
    mapped.cli.ok("permanent", "recover", "--agent", "ann")
    mapped.cli.ok(*RECORD, "a.txt", "--actor", "ann")
    mapped.cli.ok(*CONFIRM, "bob")
    for number in range(21):
        mapped.cli.ok(*RECORD, "a.txt", "--note", f"look {number}", "--actor", "ann")
    assert "impact-confirmed" not in [each["event"] for each in events(mapped)]
    assert missing(mapped) == ""


def test_without_a_map_nothing_is_missing(shared: SharedContext) -> None:
    """There is nothing to check a claim against."""
    shared.update("User Intent", "- **Who:** employees\n")
    create_at(shared, EARLY)
    assert missing(shared) == ""

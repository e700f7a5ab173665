"""Tests of updating Chain Inputs and of reporting their state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.chain import inputs as chain_inputs
from taskstate.chain.inputs import Link
from taskstate.lint.runner import check_files
from taskstate.storage import replaced_texts
from tests.support.chained import Chained
from tests.support.place import refusal, tree
from tests.support.steps import FEW, LEAST, MANY, steps

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.writing.change import Outcome


@pytest.fixture
def place(tmp_path: Path) -> Chained:
    """Return a repository in which 102 depends on 101."""
    return Chained(tmp_path / "r")


def links(place: Chained, task_id: str = "102") -> list[Link]:
    """Return the state of the input of a task."""
    (standing,), unreadable = chain_inputs.status(place.workspace, (place.file(task_id),))
    assert unreadable == ()
    return list(standing.links)


def states(place: Chained, task_id: str = "102") -> list[tuple[str, str]]:
    """Return the upstream tasks and the state of the input from each."""
    return [(link.id, link.state) for link in links(place, task_id)]


def pull(place: Chained, task_id: str = "102", source: str = "") -> Outcome[str]:
    """Bring the inputs of a task up to date."""
    return chain_inputs.pull(place.workspace, task_id, place.request(), source=source)


# How inputs stand


def test_input_goes_its_way(place: Chained) -> None:
    """An input waits, is missing, is current, is stale, and waits again when the task is reopened."""
    assert states(place) == [("101", "waiting")]
    place.finish()
    place.write("101", "status: created", "status: complete")
    assert states(place) == [("101", "missing")]
    pull(place)
    assert states(place) == [("101", "current")]
    place.write("101", "issued", "revoked")
    assert states(place) == [("101", "stale")]
    place.write("101", "status: complete", "status: in_progress")
    assert links(place)[0].detail == "it is in_progress, pulled at revision 4"
    assert not links(place)[0].is_wrong


def test_what_cannot_come_is_told(place: Chained) -> None:
    """A task that is missing, unreadable, duplicate or circular has a state of its own."""
    place.write("102", r'depends_on: \["101"\]', 'depends_on: ["7", "8", "9", "101", "102"]')
    place.new("8")
    place.write("8", "title: JWT Service", "title: [")
    place.new("9")
    twice = place.root / "old"
    twice.mkdir()
    (twice / "task-9-state.md").write_text(place.read("9"))
    place.write("101", "status: created", 'status: created\ndepends_on: ["102"]')
    result = {link.id: link for link in links(place)}
    assert {each: link.state for each, link in result.items()} == {
        "7": "unknown",
        "8": "unreadable",
        "9": "unreadable",
        "101": "circular",
        "102": "circular",
    }
    assert "task-8-state.md, line " in result["8"].detail
    assert "several state files have the id 9" in result["9"].detail
    assert result["101"].detail == "it waits for itself: 102 → 101 → 102"
    assert all(link.is_wrong for link in result.values())


def test_upstream_that_is_not_utf8_is_unreadable(place: Chained) -> None:
    """A file that is no text is reported as such."""
    place.file("101").write_bytes(b"\xff")
    assert states(place) == [("101", "unreadable")]
    assert "not UTF-8" in links(place)[0].detail


def test_output_behind_an_open_fence_is_unreadable(place: Chained) -> None:
    """Where a fence never closes, it is unknown what the output is, so nothing is pulled."""
    place.output("### Summary\n\n```\nopen\n")
    place.write("101", "status: created", "status: complete")
    assert states(place) == [("101", "unreadable")]


def test_quote_that_was_changed_is_stale(place: Chained) -> None:
    """What the comment says is not enough: the quote must be what was pulled; an edited line gives way, and is kept."""
    place.finish()
    place.complete()
    place.write("102", "> Tokens are issued\\.", "> Tokens are never checked.")
    (link,) = links(place)
    assert (link.state, link.detail) == ("stale", "its quote is not what was pulled at revision 5")
    pull(place)
    assert "never checked" not in place.read("102")
    (kept,) = replaced_texts.texts(place.workspace.private)
    assert "> Tokens are never checked." in kept.data().decode()
    assert states(place) == [("101", "current")]
    place.write("102", "(?s)> ### Summary.*\n> ```\n", "")
    assert states(place) == [("101", "stale")]


def test_complete_task_without_output_is_not_wrong(place: Chained) -> None:
    """A task that was completed with nothing to hand down leaves nothing to do."""
    place.write("101", "status: created", "status: complete")
    assert states(place) == [("101", "empty")]
    assert not links(place)[0].is_wrong


def test_input_by_hand_counts(place: Chained) -> None:
    """What a user wrote under the task's heading is an input; one without a dependency is looked at too."""
    place.finish()
    place.write("101", "status: created", "status: complete")
    place.write("102", r"(?<=Chain Inputs\n\n)None\.", "### From Task #101: JWT\n\nTokens.")
    assert links(place) == [Link("101", "current", "written by hand")]
    place.write("102", r'depends_on: \["101"\]\n', "")
    assert links(place) == []
    place.write("102", r"### From Task #101: JWT\n\nTokens\.", "None.")
    place.write("102", "created_at", 'depends_on: ["101"]\ncreated_at')
    pull(place)
    place.write("102", r'depends_on: \["101"\]\n', "")
    assert states(place) == [("101", "current")]


def test_changed_files_are_told(place: Chained) -> None:
    """A file that the upstream task named, and that is not what it was then, is reported and is wrong."""
    place.finish()
    place.complete()
    assert links(place)[0].changed == ()
    (place.root / "app.py").write_bytes(b"other\n")
    link = links(place)[0]
    assert (link.state, link.changed, link.is_wrong) == ("current", ("app.py changed",), True)
    assert pull(place).notes[0].startswith("since task 101 was completed: app.py changed; ")
    (place.root / "app.py").unlink()
    assert links(place)[0].changed == ("app.py is gone",)


def test_file_list_by_hand_is_no_fault(place: Chained) -> None:
    """What a hand made of the list of files is passed over where it says nothing."""
    place.finish()
    place.complete()
    for files in ("{}", "[1, {path: 1}, {path: a, sha256: 1}, {path: ../a, sha256: null}]"):
        text = place.read("101")
        place.write("101", r"  files:\n(    - .*\n)+", f"  files: {files}\n")
        assert [link.state for link in links(place)] == ["current"]
        place.file("101").write_text(text)


def test_file_that_cannot_be_read_hides_no_other(place: Chained) -> None:
    """Of many tasks, one that cannot be read is reported, and the others are looked at."""
    place.file("101").write_bytes(b"\xff")
    standing, unreadable = chain_inputs.status(place.workspace, place.workspace.state_files())
    assert [each.id for each in standing] == ["102"]
    assert "task-101-state.md is not UTF-8" in unreadable[0]


# Pulling


def test_output_is_pulled_and_shown(place: Chained) -> None:
    """The output comes verbatim, the difference is reported, and a second time there is nothing to do."""
    place.finish()
    place.write("101", "status: created", "status: complete")
    first = pull(place)
    assert first.notes == ("pulled the output of task 101, revision 4",)
    assert "+>     indented stays indented\n" in first.result
    assert "revision:" not in first.result
    before = tree(place.root)
    again = pull(place)
    assert (again.changed, again.result, again.notes) == (False, "", ())
    assert tree(place.root) == before


def test_nothing_to_pull_says_so(place: Chained) -> None:
    """What is not complete, and what hands nothing down, is reported."""
    assert pull(place).notes == (
        "task 101 is created: its output comes when it is complete; `taskstate next` names what is ready",
    )
    place.write("101", "status: created", "status: complete")
    assert pull(place).notes == ("task 101 is complete, but has no output",)
    assert pull(place, "101").notes == ()


def test_one_source_alone_is_pulled(place: Chained) -> None:
    """With a source only that task's output comes; one that is none of its upstream tasks is refused."""
    place.new("100")
    place.write("102", r'depends_on: \["101"\]', 'depends_on: ["100", "101"]')
    for task in ("100", "101"):
        place.output(task_id=task)
        place.write(task, "status: created", "status: complete")
    pull(place, source="101")
    assert place.inputs() == [("101", 1)]
    pull(place)
    assert place.inputs() == [("100", 1), ("101", 1)]
    error = refusal(lambda: pull(place, source="9"))
    assert (error.code, "it depends on 100, 101" in str(error)) == ("no-dependency", True)


@pytest.mark.parametrize(("damage", "code"), [("gone", "not-found"), ("yaml", "unreadable"), ("bytes", "not-utf8")])
def test_upstream_that_cannot_be_read_is_one_error(place: Chained, damage: str, code: str) -> None:
    """Nothing is pulled where one of the upstream tasks cannot be read; another one can be named."""
    place.new("100")
    place.write("102", r'depends_on: \["101"\]', 'depends_on: ["100", "101"]')
    place.output(task_id="101")
    place.write("101", "status: created", "status: complete")
    if damage == "yaml":
        place.write("100", "title: JWT Service", "title: [")
    else:
        place.file("100").write_bytes(b"\xff") if damage == "bytes" else place.file("100").unlink()
    before = tree(place.root)
    assert refusal(lambda: pull(place)).code == code
    assert tree(place.root) == before
    assert pull(place, source="101").changed


def test_dry_run_pulls_nothing(place: Chained) -> None:
    """A dry run says what would come."""
    place.finish()
    place.write("101", "status: created", "status: complete")
    before = tree(place.root)
    result = chain_inputs.pull(place.workspace, "102", place.request(dry_run=True))
    assert result.notes == ("would pull the output of task 101, revision 4",)
    assert tree(place.root) == before


def test_complete_task_keeps_its_inputs(place: Chained) -> None:
    """What a complete task was built on is not rewritten, missed or called wrong; reopened, it takes what is new."""
    place.finish()
    place.complete()
    place.write("102", "status: created", "status: complete")
    place.write("101", "issued", "revoked")
    built = place.read("102")
    assert states(place) == [("101", "kept")]
    assert not links(place)[0].is_wrong
    assert pull(place).notes == ("task 102 is complete, and keeps the inputs on which it was built",)
    found = [each.diagnostic.code for each in check_files([place.file("102")], place.checking()).findings]
    assert not {"TS903", "TS904"}.intersection(found)
    place.write("101", "status: complete", "status: in_progress")
    place.complete()
    assert place.read("102") == built
    place.write("102", "status: complete", "status: in_progress")
    assert pull(place).changed
    assert states(place) == [("101", "current")]


def test_an_output_that_was_edited_is_told_and_not_spread(place: Chained) -> None:
    """Who took it sees that it differs, and no fix carries the edit on; the command does, by somebody's word."""
    place.finish()
    place.complete()
    assert pull(place).changed or states(place) == [("101", "current")]
    place.write("101", "issued", "revoked")
    before = place.read("102")
    (stale,) = (
        each.diagnostic
        for each in check_files([place.file("102")], place.checking()).findings
        if each.diagnostic.code == "TS904"
    )
    assert (stale.fix, "TS907" in stale.help) == (None, True)
    assert place.read("102") == before


# Outputs


def test_output_is_told_complete_or_not(place: Chained) -> None:
    """What is written so far is reported; where nothing is, or it is unknown what, that is an error."""
    assert refusal(lambda: chain_inputs.output(place.workspace, "101")).code == "no-output"
    place.output("### Summary\n\nSo far.\n")
    result = chain_inputs.output(place.workspace, "101")
    assert (result.id, result.status, result.text) == ("101", "created", "### Summary\n\nSo far.")
    place.output("### Summary\n\n~~~\n")
    assert "a code fence never closes" in refusal(lambda: chain_inputs.output(place.workspace, "101")).message


def test_many_tasks_that_are_not_there(place: Chained) -> None:
    """The repository's files are listed once, not for each of the tasks that an input should come from."""
    text = place.read("102")
    for number in range(MANY):
        place.file(f"other{number}").touch()

    def look(count: int) -> None:
        ids = ", ".join(f'"gone{number}"' for number in range(count))
        place.file("102").write_text(text.replace('depends_on: ["101"]', f"depends_on: [{ids}]"))
        assert {state for _, state in states(place)} == {"unknown"}

    look(LEAST)
    assert steps(lambda: look(FEW)) - steps(lambda: look(LEAST)) < MANY * (FEW - LEAST)

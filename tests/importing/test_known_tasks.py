"""What an import adds to tasks that are here already: it is taken back with the rest, and told like any other write."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from taskstate.importing.planning.plan import plan
from taskstate.importing.planning.tasks import Rules
from taskstate.importing.records import Place, Record
from taskstate.model.write_metadata import blocks_of
from tests.importing.test_again import comment
from tests.importing.test_bad_input import TOKEN, issue, written

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli


def test_what_was_added_to_a_known_task_is_taken_back(cli: Cli, tmp_path: Path) -> None:
    """Its features and comments go, what was written here stays, and nothing is missed afterwards."""
    cli.ok("import", "github", written(tmp_path, issue(1, body="- [ ] Axle")))
    cli.ok("session", "add", "1", "--did=w", "--issue=none", "--state=fine", "--next=more")
    more = issue(1, body="- [ ] Axle\n- [ ] Wheel", comments=[comment("ann", 1, "Look")])
    cli.ok("import", "github", written(tmp_path, more, issue(2)))
    assert cli.json("import", "--undo", "--dry-run") == cli.json("import", "--undo")
    assert [each["id"] for each in cli.json("list")] == ["1"]
    shown, text = cli.json("show", "1"), cli.place.workspace.locate("1").read_text(encoding="utf-8")
    assert (shown["open_features"], shown["sessions"]["total"], "Look" in text) == (["f-1"], 1, False)
    assert cli("status").err == ""
    assert cli("lint", "--against", "none").status == 0
    done = cli.json("import", "github", written(tmp_path, more, issue(2)))
    assert [each["why"] for each in done["records"]] == ["added: 1 feature, 1 comment", ""]


def test_a_known_task_that_was_changed_since_keeps_what_was_added(cli: Cli, tmp_path: Path) -> None:
    """The way back is for what nobody has built on."""
    cli.ok("import", "github", written(tmp_path, issue(1)))
    cli.ok("import", "github", written(tmp_path, issue(1, body="- [ ] Wheel")))
    cli.ok("feature", "pass", "1", "f-1", "--evidence=seen")
    assert "changed since, and kept" in cli.ok("import", "--undo")
    assert cli.json("show", "1")["features"] == {"passing": 1, "all": 1}


def test_a_credential_that_is_forced_into_a_known_task_is_an_event_of_it(cli: Cli, tmp_path: Path) -> None:
    """And a warning; the event stays when the rest is taken back."""
    cli.ok("import", "github", written(tmp_path, issue(1)))
    path = written(tmp_path, issue(1, comments=[comment("ann", 1, f"key {TOKEN}")]))
    done = cli("import", "github", path, "--force-secrets")
    assert "written anyway" in done.err
    assert TOKEN not in done.out + done.err
    workspace = cli.place.workspace
    with_it = workspace.load(workspace.locate("1")).document
    cli.ok("import", "--undo")
    without = workspace.load(workspace.locate("1")).document
    for document in (with_it, without):
        assert [each.event for each in blocks_of(document).audit.events] == ["secrets-forced"]
    assert (TOKEN in with_it.text, TOKEN in without.text) == (True, False)


def test_what_was_done_elsewhere_is_handed_down(cli: Cli, tmp_path: Path) -> None:
    """Its summary stands among the inputs of an open task that needs it, whether both came in one run or in two."""
    head = "---\nid: TASK-{}\ntitle: T{}\nstatus: {}\ndependencies: {}\n---\n"
    tasks = tmp_path / "backlog" / "tasks"
    tasks.mkdir(parents=True)
    done = head.format(1, 1, "Done", "[]") + "## Final Summary\n\nThe wheel turns.\n"
    (tasks / "task-1 - a.md").write_text(done, encoding="utf-8")
    for number, status in ((2, "To Do"), (3, "Done"), (4, "In Progress")):
        text = head.format(number, number, status, "[task-1]")
        (tasks / f"task-{number} - a.md").write_text(text, encoding="utf-8")
        cli.ok("import", "backlog-md", tmp_path)
    texts = {each: cli.place.workspace.locate(each).read_text(encoding="utf-8") for each in ("2", "3", "4")}
    assert {each: "The wheel turns." in text for each, text in texts.items()} == {"2": True, "3": False, "4": True}
    assert "No findings" in cli.ok("lint", "--against", "none")
    assert "The wheel turns." in cli.ok("brief", "2")


@pytest.mark.parametrize("key", ["depends_on", "parent", "subtasks"])
def test_a_long_chain_is_planned_in_a_moment(key: str) -> None:
    """Each record names the one before it, or behind it; only the last edge, which would close a circle, is lost."""
    number = 6_000
    records = [
        Record(str(each), "T", Place("a"), "", **{key: before if key == "parent" else (before,)})  # type: ignore[arg-type]
        for each, before in ((each, str((each - 1) % number)) for each in range(number))
    ]
    records = [*records[1:], records[0]]
    begin = time.process_time()
    planned = plan(records, Rules("github"), ())
    assert time.process_time() - begin < 5
    assert [each.code for each in planned.told] == ["circular"]

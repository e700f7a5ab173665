"""The permanent task is no work: what belongs to work is refused, with the right way named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.shared_context import SharedContext


@pytest.mark.parametrize(
    ("command", "cure"),
    [
        ("complete 1", "`taskstate permanent close 1`"),
        ("drop 1 --note x", "`taskstate permanent close 1`"),
        ("start 1", "`taskstate next`"),
        ("finish 1 --did a --state b --next c", "`taskstate permanent update --section S --from FILE`"),
        ("session add 1 --did a --state b --next c", "`taskstate permanent update --section S --from FILE`"),
        ("role set 1 implementer --status in_progress", "`taskstate next`"),
        ("role block 1 reviewer --finding x", "`taskstate next`"),
        ("feature add 1 f-1 text", '--section "Phase Status"'),
        ("feature pass 1 f-1 --evidence x", '--section "Phase Status"'),
        ("criterion check 1 1", '--section "Phase Status"'),
        ("phase add 1 2 --name x", "`taskstate next`"),
        ("snapshot take 1 --role implementer", "`taskstate next`"),
        ("snapshot verify 1 --role implementer", "`taskstate next`"),
        ("handoff new 1 --phase 1 --action x --file a.py --location x --goal y", "`taskstate next`"),
        ("qa baseline 1", "`taskstate next`"),
        ("git-history sync 1", "`taskstate next`"),
        ("chain output 1", "`taskstate show 1`"),
        ("context init 1", "is a permanent task"),
        ("decompose 1", "is a permanent task"),
    ],
)
def test_work_on_it_is_refused(shared: SharedContext, command: str, cure: str) -> None:
    """One line says what the permanent task has not, and what to do; nothing is changed."""
    assert cure in shared.cli.refused(*command.split())


def test_show_lists_its_sections_and_prints_each(shared: SharedContext) -> None:
    """A large document can be read in pieces: the version, the sections with their sizes, one section, one decision."""
    shared.cli.ok("permanent", "decide", "--title", "Tokens", "--decision", "Signed ones.", "--accepted")
    shared.cli.ok("permanent", "ack", "--agent", "ada", "--version", "1")
    shown = shared.cli.ok("show", "1")
    assert "1  [PERMANENT] Login platform\n" in shown
    assert "  PT-v2, status in_progress\n  confirmed: ada PT-v1\n" in shown
    assert "    Architecture Decisions  about " in shown
    shape = shared.cli.json("show", "1")
    assert (shape["version"], shape["acks"], shape["parts"][0]["section"]) == (2, {"ada": 1}, "User Intent")
    assert shared.cli.ok("show", "1", "--section", "user intent") == "## 1. User Intent\n\nOne account.\n"
    assert shared.cli.ok("show", "1", "--section", "AD-1").startswith("### AD-1: Tokens\n")
    assert "no section" in shared.cli.refused("show", "1", "--section", "AD-9")


def test_list_and_status_show_it_as_permanent(shared: SharedContext) -> None:
    """It has a version instead of features, sessions and roles."""
    shared.cli.ok("permanent", "ack", "--agent", "ada", "--version", "1")
    row = next(line for line in shared.cli.ok("list").splitlines() if line.startswith("1 "))
    assert row.split() == ["1", "in_progress", "PT-v1", "-", "-", "1", "[PERMANENT]", "Login", "platform"]
    assert "1  Login platform  PT-v1  (permanent, in progress)\n  ada  PT-v1  up to date" in shared.cli.ok(
        "status", "1"
    )
    shape = shared.cli.json("status", "1")
    assert (shape["kind"], shape["version"], shape["roles"], shape["role"]) == ("permanent", 1, [], None)


def test_next_does_not_wait_for_it(shared: SharedContext) -> None:
    """With all other tasks closed there is nothing left to do."""
    assert "[PERMANENT]" not in shared.cli.ok("next")
    shared.cli.ok("drop", "101", "--note", "done elsewhere")
    assert "all tasks are complete or dropped" in shared.cli.ok("next")


def test_fmt_leaves_its_content_and_version(shared: SharedContext) -> None:
    """Formatting is no change of content: nothing counts as edited by hand."""
    shared.update("Constraints", "- **Latency:** 200 ms\n")
    shared.text = shared.text.replace("- **Latency:**", "*   **Latency:**").replace(
        "## 5. Constraints", "##  5. Constraints  "
    )
    shared.cli.ok("fmt")
    assert "\n## 5. Constraints\n" in shared.text
    assert shared.version == 2
    assert "No findings" in shared.cli.ok("lint", "--against", "none")


def test_doctor_names_a_second_one_and_a_map_that_is_another(shared: SharedContext) -> None:
    """Several active ones are a note, each with the command that closes it; a map file that differs is wrong."""
    shared.cli.ok("new", "7", "--kind", "permanent", "--title", "Another", "--another")
    assert "`taskstate permanent close 7`" in shared.cli("doctor").out
    shared.cli.ok("permanent", "close", "7")
    assert "permanent" not in shared.cli("doctor").out
    modules = [{"id": f"module-{number}", "paths": ["src/**"], "depends_on": []} for number in range(400)]
    shared.update("Codebase Impact Map", json.dumps({"modules": modules, "interfaces": [], "ripple_paths": []}))
    path = shared.place.workspace.map_file("1")
    assert "permanent" not in shared.cli("doctor").out
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert "permanent" not in shared.cli("doctor").out
    path.write_bytes(path.read_bytes().replace(b"module-399", b"module-x"))
    assert "its SHA-256 differs" in shared.cli("doctor").out
    assert "TSP07" in shared.cli("lint").out


def test_lint_names_a_second_one_and_is_told_when_it_closes(shared: SharedContext) -> None:
    """What is remembered of the file with the higher id is looked up again when the other one is closed."""
    shared.cli.ok("new", "7", "--kind", "permanent", "--title", "Another", "--another", "--description", "x")
    for _ in range(2):
        assert shared.cli("lint").out.count("TSP06") == 1
    shared.cli.ok("permanent", "close", "1")
    assert "TSP06" not in shared.cli("lint").out


def test_no_task_waits_for_it(shared: SharedContext) -> None:
    """A command refuses it as an upstream task; written by hand it is a finding, and is told where it counts."""
    file = shared.place.root / "TASK-9.yaml"
    file.write_text('id: "9"\ntitle: Nine\ndepends_on: ["1"]\n')
    for command in ("new 9 --title Nine --depends-on 1", "new 9 --from TASK-9.yaml"):
        said = shared.cli.refused(*command.split())
        assert "task 1 is the permanent task, which has no output to wait for" in said
        assert "leave it out of the dependencies" in said
    path = shared.place.workspace.locate("101")
    path.write_text(path.read_text().replace("\nstatus:", '\ndepends_on: ["1"]\nstatus:'))
    assert "TSP08 upstream-permanent: task 1 is a permanent task" in shared.cli("lint").out
    assert "it depends on 1, which is a permanent task: it has no output" in shared.cli.ok("next")
    assert "1  permanent   a permanent task has no output to pull" in shared.cli("chain", "status", "101").out
    assert "remove it from `depends_on`" in shared.cli("chain", "pull", "101").out


def test_the_graph_leaves_it_out(shared: SharedContext) -> None:
    """It is neither drawn nor an upstream task or parent of any that is drawn; asked for by itself, it is refused."""
    path = shared.place.workspace.locate("101")
    path.write_text(path.read_text().replace("\nstatus:", '\ndepends_on: ["1", "77"]\nparent: "1"\nstatus:'))
    for output in ("text", "mermaid", "dot"):
        drawn = shared.cli.ok("graph", "--output-format", output)
        assert "Login platform" not in drawn
        assert "101" in drawn
        assert "77" in drawn
    shape = shared.cli.json("graph")
    assert [each["id"] for each in shape["tasks"]] == ["77", "101"]
    assert (shape["chains"], shape["subtasks"]) == ([["77", "101"]], [])
    assert "task 1 is a permanent task" in shared.cli.refused("graph", "1")

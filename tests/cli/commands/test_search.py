"""`search` finds a text in the files of all tasks: where, in which order, and what stands in the way."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import programs
from taskstate.views import search
from tests.support.terminal import seen

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

STATE = ".taskstate/tasks/task-101-state.md"


def say(cli: Cli, words: str, task: str = "101") -> None:
    """Record a session with these words."""
    cli.ok("session", "add", task, "--did", words, "--state", "fine", "--next", "go on")


def found(cli: Cli, *arguments: str) -> list[tuple[str, str, str]]:
    """Return the task, the path and the text of each line that is found."""
    hits = cli.json("search", *arguments)["found"]
    assert [{*hit} for hit in hits] == [{"path", "task", "number", "line"}] * len(hits)
    return [(hit["task"], hit["path"].rpartition("/")[2], hit["line"]) for hit in hits]


def test_a_line_is_found_with_its_place(cli: Cli, place: Place) -> None:
    """Path from the root, number of the line in the file, and the line without the blanks around it."""
    say(cli, "Signed with a Rotating key")
    line = "**What I did:** Signed with a Rotating key"
    number = place.text.split("\n").index(line) + 1
    assert cli.ok("search", "rotating key") == f"{STATE}:{number}: {line}\n"
    assert cli.json("search", "rotating key") == {
        "found": [{"path": STATE, "task": "101", "number": number, "line": line}],
        "unreadable": [],
    }


@pytest.mark.parametrize("text", ["STRASSE im nebel", "straße  im\tnebel", " Straße im Nebel ", "straße\nim nebel"])
def test_case_and_blanks_do_not_count(cli: Cli, text: str) -> None:
    """A text is the same text in other case, and with other blanks between its words and around them."""
    say(cli, "Die Straße im  Nebel")
    assert len(found(cli, text)) == 1


@pytest.mark.parametrize("text", [".*", "[a-z]", "$(x)", "%", "*"])
def test_a_text_is_no_pattern(cli: Cli, text: str) -> None:
    """Each character stands for itself."""
    assert found(cli, text + "z") == []
    say(cli, f"Look for {text}z here")
    assert [hit[0] for hit in found(cli, text + "z")] == ["101"]


def test_one_line_has_all_of_it(cli: Cli) -> None:
    """Words that stand on two lines are not one text."""
    cli.ok("session", "add", "101", "--did", "needle", "--did", "thread", "--state", "fine", "--next", "go on")
    assert found(cli, "needle thread") == []


def test_archives_and_handoffs_are_searched(cli: Cli, place: Place) -> None:
    """What was archived and what was handed over is found like all else, and nothing beside them is."""
    for number in range(7):
        say(cli, f"needle {number}")
    cli.ok("archive", "101", "--force")
    cli.ok("phase", "add", "101", "1", "--name", "One", "--objective", "All")
    (place.root / "a.py").touch()
    where = ("--file", "a.py", "--location", "line 1", "--goal", "it runs")
    cli.ok("handoff", "new", "101", "--phase", "1", "--action", "Thread the needle.", *where)
    (place.root / "notes.md").write_text("needle")
    (place.workspace.state_root / "artifacts/task-101").mkdir(parents=True)
    (place.workspace.state_root / "artifacts/task-101/x.log").write_text("needle")
    names = [*dict.fromkeys(path for _, path, _ in found(cli, "needle"))]
    assert names[:2] == ["task-101-state.md", "task-101-archive.md"]
    assert [name.startswith("phase-1-handoff-") for name in names[2:]] == [True]
    assert ("101", "task-101-archive.md", "**What I did:** needle 0") in found(cli, "needle 0")


def test_hits_stand_in_the_order_of_tasks_and_lines(cli: Cli, place: Place) -> None:
    """By id as people count, so that 9 comes before 101; within a file from its beginning to its end."""
    for task in ("9", "20", "a-1"):
        place.new(task, title=f"needle of {task}")
    say(cli, "needle one")
    say(cli, "needle two")
    hits = found(cli, "needle")
    assert [*dict.fromkeys(task for task, _, _ in hits)] == ["9", "20", "101", "a-1"]
    assert [line for task, _, line in hits if task == "101"] == [f"**What I did:** needle {n}" for n in ("one", "two")]


def test_only_the_files_of_one_task(cli: Cli, place: Place) -> None:
    """A task is named in any of its forms; one that does not exist is refused."""
    place.new("9", title="needle")
    say(cli, "needle")
    for name in ("101", "#101", "TASK-101", STATE):
        assert {task for task, _, _ in found(cli, "needle", "--task", name)} == {"101"}
    assert "there is no task 77" in cli.refused("search", "needle", "--task", "77")


def test_states_and_sessions_come_first(cli: Cli, place: Place) -> None:
    """What the state files of all tasks say comes before what was archived of any."""
    for number in range(3):
        say(cli, f"needle {number}")
    cli.ok("archive", "101", "--force", "--keep", "1")
    place.new("102", title="needle")
    names = [name for _, name, _ in found(cli, "needle")]
    assert [*dict.fromkeys(names)] == ["task-101-state.md", "task-102-state.md", "task-101-archive.md"]


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_nothing_to_look_for_is_refused(cli: Cli, text: str) -> None:
    """An empty text would be on every line."""
    assert "the text is empty: say what to look for" in cli.refused("search", text)


def test_nothing_found(cli: Cli) -> None:
    """That no file has the text is an answer, and no error."""
    assert cli.ok("search", "no such words") == "no file says that\n"
    assert cli.json("search", "no such words") == {"found": [], "unreadable": []}


def test_many_hits_are_all_there(cli: Cli, place: Place) -> None:
    """Nothing is cut: a pipe may count the lines, and the pages of an agent's tool are cut by the server."""
    place.text += "\n" + "needle\n" * 3_000
    assert len(cli.ok("search", "needle").splitlines()) == 3_000


def test_a_terminal_is_not_steered(cli: Cli, place: Place) -> None:
    """Control characters and invisible ones in a file reach nobody's terminal, nor a program raw."""
    place.text += "\nneedle \x1b]0;title\x07\x1b[31mred\u202egnp\x00\n"
    said = cli("search", "needle")
    assert not {"\x1b", "\x07", "\x00", "\u202e"} & {*said.out, *said.err}
    assert "needle" in said.out
    raw = cli("search", "needle", "--format", "json").out
    assert not {"\x1b", "\x07", "\x00", "\u202e"} & {*raw}


def test_a_file_that_cannot_be_read_is_named(cli: Cli, place: Place) -> None:
    """The others are searched all the same, and the exit status says that one was not."""
    place.new("9", title="needle")
    path = place.workspace.locate("101")
    path.unlink()
    path.symlink_to(place.root / "elsewhere.md")
    (place.root / "elsewhere.md").write_text("needle in a file that a link leads to")
    said = cli("search", "needle")
    assert said.status == 1
    assert "task-101-state.md" in said.err
    assert "that a link leads to" not in said.out
    assert {task for task, _, _ in [*_hits(cli)]} == {"9"}


def _hits(cli: Cli) -> list[tuple[str, str, str]]:
    shape = cli.json("search", "needle", status=1)
    assert ["task-101-state.md" in each for each in shape["unreadable"]] == [True]
    return [(hit["task"], hit["path"], hit["line"]) for hit in shape["found"]]


def test_damaged_files_are_searched(cli: Cli, place: Place) -> None:
    """What does not parse, has conflict markers or is no UTF-8 is text all the same, line by line."""
    path = place.workspace.locate("101")
    path.write_bytes(b"---\ntitle: [\n---\n<<<<<<< ours\nneedle one\r\nneedle \xff two\rneedle three")
    said = cli("search", "needle")
    assert [line.partition(": ")[2][:6] for line in said.out.splitlines()] == ["needle"] * 3
    assert [line.split(":")[1] for line in said.out.splitlines()] == ["5", "6", "7"]


def test_thousands_of_files_are_searched_as_few_are(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where several processes share the files, their lines come in the same order, and so does what cannot be read."""
    for number in range(1, 1_100):
        path = place.workspace.tasks / f"task-{number}-state.md"
        if number % 100:
            path.write_bytes(
                f"Stra\xdfe {number}\r\n\r needle {number % 7} \u2028\n{'needle 3' * (number % 3)}".encode()
            )
        else:
            path.symlink_to("elsewhere")
    command = (sys.executable, "-m", "taskstate", "search", "NEEDLE 3", "--format", "json")
    printed = subprocess.run(command, cwd=place.root, capture_output=True, text=True, check=False)
    monkeypatch.setattr(programs, "cores", lambda: 1)
    expected = search.search(place.workspace, "needle 3")
    assert (len(expected.found), len(expected.unreadable)) == (882, 10)
    assert json.loads(printed.stdout)["data"] == {
        "found": [each.shape for each in expected.found],
        "unreadable": [*expected.unreadable],
    }


@pytest.mark.parametrize("words", [("a needle",), ("--task", "101", "needle"), ("--root", ".", "--", "-needle")])
def test_a_terminal_gets_the_first_lines(cli: Cli, place: Place, words: tuple[str, ...]) -> None:
    """Of thousands it says how many more there are, and the command that shows them; a pipe gets each."""
    said = (word for number in range(300) for word in ("--did", f"found a needle-needle {number}"))
    cli.ok("session", "add", "101", *said, "--state", "fine", "--next", "go on")
    lines = cli.ok("search", *words).splitlines()
    status, written = seen((sys.executable, "-m", "taskstate", "search", *words), cwd=place.root)
    *shown, last = written.splitlines()
    assert (status, len(lines), shown) == (0, 300, lines[:200])
    assert last == f"\u2026 100 more lines: `taskstate {shlex.join(('search', *words))} | less`"

"""`export`: what each format holds, what it says of the rest, what must not go out, and which files it replaces."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from taskstate.exporting.run import FORMATS
from taskstate.operations.export import OPERATIONS
from taskstate.syntax.invisible import shown
from tests.cli.conftest import Cli
from tests.support.importing import Empty, shape_of, text_of
from tests.support.place import Place, tree

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HIDDEN = "\u200b"
HANDOFF = ("--file=code.py", "--location=all of it", "--goal=No key stays.", "--context=It is old.")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return the command line in a repository with two tasks: 101 is at work, and 102 waits for it."""
    place = Place(tmp_path / "repository")
    place.new("102", title="=Second: a+b", depends_on=("101",))
    place.add()
    place.prove()
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("TASKSTATE_ACTOR", "ann")
    return Cli(place, monkeypatch, capfd)


@pytest.fixture
def other(tmp_path: Path, cli: Cli) -> Cli:
    """Return the command line in another repository, without a task."""
    return Cli(Empty(tmp_path / "other"), cli.monkeypatch, cli.capfd)


def _files(place: Place) -> dict[str, str]:
    return {name: data for name, data in tree(place.root).items() if name.startswith(".taskstate/") and data}


def _in(cli: Cli) -> Cli:
    cli.monkeypatch.chdir(cli.place.root)
    return cli


def test_the_formats_of_the_command_line_are_those_that_there_are() -> None:
    """Its choices stand in a module that every start loads, and so are written there once more."""
    assert OPERATIONS[0].fields[0].choices == tuple(FORMATS)


# JSON


def test_a_task_comes_back_word_for_word_from_json(cli: Cli, other: Cli, tmp_path: Path) -> None:
    """With its archive, an accepted handoff, what an import kept beside it, and line ends of Windows."""
    place = cli.place
    for number in range(3):
        place.add(f"Worked {number}.")
    place.archive()
    (place.root / "code.py").write_text("pass\n", encoding="utf-8")
    cli.ok("handoff", "new", "101", "--action=Go on.", *HANDOFF)
    cli.ok("handoff", "accept", "101", "--agent=bob")
    kept = place.workspace.state_root / "imports/101.md"
    kept.parent.mkdir()
    kept.write_text("# Imported\n", encoding="utf-8")
    path = place.workspace.tasks / "task-102-state.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = {name: data for name, data in _files(place).items() if any(each in name for each in ("/task-", "imports"))}
    cli.ok("export", "json", "--output", tmp_path / "tasks.json")
    counts = _in(other).json("import", "json", tmp_path / "tasks.json")["counts"]
    assert counts["task"] == 2
    assert {name: _files(other.place)[name] for name in before} == before
    assert len(before) == 5
    assert "unchanged since the last import: 2 tasks" in other.ok("import", "json", tmp_path / "tasks.json")
    other.ok("import", "--undo")
    assert not [name for name in _files(other.place) if "task-" in name]


def test_json_has_the_values_for_other_programs(cli: Cli) -> None:
    """Also where no file is written; what was imported from there is known by the mark."""
    first, second = json.loads(cli.ok("export", "json", "--output=-"))
    assert (first["mark"], first["title"], first["status"]) == ("taskstate:101", "JWT Service", "in_progress")
    assert first["criteria"] == [
        {"text": "Tokens verify", "checked": False},
        {"text": "Tokens expire", "checked": False},
    ]
    assert [(each["id"], each["passes"], each["evidence"]) for each in first["features"]] == [("jwt-1", True, "seen")]
    assert first["sessions"][0]["did"] == ["Worked."]
    assert second["depends_on"] == ["101"]
    assert [each["id"] for each in json.loads(cli.ok("export", "json", "--status=created"))] == ["102"]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"title": "Another"}, "edited"),
        ({"files": {}}, "edited"),
        ({"format": 2}, "newer-format"),
        ({"mark": 1}, "bad-record"),
    ],
    ids=("title", "files", "format", "mark"),
)
def test_json_that_was_edited_is_refused(
    cli: Cli, other: Cli, tmp_path: Path, values: dict[str, object], code: str
) -> None:
    """One by one: the others come in."""
    first, second = json.loads(cli.ok("export", "json"))
    (tmp_path / "tasks.json").write_text(json.dumps([{**first, **values}, second]), encoding="utf-8")
    done = _in(other).json("import", "json", tmp_path / "tasks.json", status=1)
    refused = [each["why"].partition(":")[0] for each in done["records"] if each["outcome"] == "refused"]
    assert (refused, done["counts"]["task"]) == ([code], 1)


@pytest.mark.parametrize("path", ["../../x", "tasks/task-102-state.md", "tasks/.git/task-101-state.md", "config.toml"])
def test_a_path_in_json_leads_nowhere_else(cli: Cli, other: Cli, tmp_path: Path, path: str) -> None:
    """Also where the hash is right: only places of the files of that task are written."""
    from taskstate.exporting.whole import _SHA
    from taskstate.model.canonical_json import canonical_json, sha256

    value = json.loads(cli.ok("export", "json", "101"))[0]
    value["files"][path] = ["text"]
    value[_SHA] = sha256(canonical_json({key: each for key, each in value.items() if key != _SHA}))
    (tmp_path / "tasks.json").write_text(json.dumps([value]), encoding="utf-8")
    done = _in(other).json("import", "json", tmp_path / "tasks.json", status=1)
    assert done["counts"]["refused"] == 1
    assert "not a path of a file" in done["records"][0]["why"]


def test_a_task_that_is_here_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    """What differs is named; what the flags of `import` say of tasks has no meaning here."""
    cli.ok("export", "json", "101", "--output", tmp_path / "tasks.json")
    cli.ok("edit", "101", "--title=Keys")
    before = cli.place.text
    assert "101: title: JWT Service" in cli("import", "json", tmp_path / "tasks.json").out
    assert cli.place.text == before
    assert "--done has no meaning" in cli.refused("import", "json", tmp_path / "tasks.json", "--done=open")


# CSV


def test_a_spreadsheet_calculates_nothing(cli: Cli) -> None:
    """A cell that would be a formula is guarded, unless it is wanted raw; what is only counted is told."""
    rows = [*csv.DictReader(io.StringIO(cli.ok("export", "csv")))]
    assert [each["title"] for each in rows] == ["JWT Service", "'=Second: a+b"]
    assert [each["features_passing"] for each in rows] == ["1", "0"]
    raw = [*csv.DictReader(io.StringIO(cli.ok("export", "csv", "--raw")))]
    assert raw[1]["title"] == "=Second: a+b"
    said = cli("export", "csv", "101")
    assert "csv has no place for criteria (2), features (1), proofs (1), sessions (1)" in said.err
    assert "csv has no place for" in cli.refused("export", "csv", "--strict")


# Files that are there


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_file_is_replaced_only_if_it_was_exported(cli: Cli, tmp_path: Path, form: str) -> None:
    """One that was changed since, or that another wrote, is refused; and so is one of taskstate's own."""
    path = tmp_path / "out"
    cli.ok("export", form, "101", "--output", path)
    written = path.read_bytes()
    assert len(cli.json("export", form, "--output", path, "--dry-run")["written"]) == 1
    assert path.read_bytes() == written
    cli.ok("export", form, "--output", path)
    assert len(path.read_bytes()) > len(written)
    for data in (path.read_bytes().replace(b"JWT Service", b"JWT service"), path.read_bytes() + b"\n", b"", b"text\n"):
        path.write_bytes(data)
        assert "is not an export as it was written" in cli.refused("export", form, "--output", path)
        assert path.read_bytes() == data
    assert "taskstate's own" in cli.refused("export", form, "--output", cli.place.path)


def test_a_folder_of_backlog_md_follows_its_tasks(cli: Cli, tmp_path: Path) -> None:
    """A new title moves the file, a dropped task goes to the archive, and again writes nothing."""
    folder = tmp_path / "backlog"
    assert "a folder is needed" in cli.refused("export", "backlog-md")
    cli.ok("export", "backlog-md", folder)
    assert sorted(tree(folder)) == [
        "config.yml",
        "tasks/task-101 - JWT-Service.md",
        "tasks/task-102 - Second-a-b.md",
    ]
    cli.ok("edit", "101", "--title=Keys")
    cli.ok("drop", "102", "--note=no")
    assert len(cli.json("export", "backlog-md", folder)["written"]) == 2
    assert sorted(tree(folder)) == [
        "archive/tasks/task-102 - Second-a-b.md",
        "config.yml",
        "tasks/task-101 - Keys.md",
    ]
    assert cli.json("export", "backlog-md", "--output", folder)["written"] == []


def test_what_was_edited_in_backlog_md_stays(cli: Cli, tmp_path: Path) -> None:
    """It is found by its mark under whatever name, and so is another's file with the id; the rest is written."""
    folder = tmp_path / "backlog"
    cli.ok("export", "backlog-md", folder, "101")
    path = folder / "tasks/task-101 - JWT-Service.md"
    edited = path.read_text(encoding="utf-8").replace('"taskstate:101"', "'taskstate:101'").replace("To Do", "Done")
    path.unlink()
    (folder / "completed").mkdir()
    (folder / "completed/renamed.md").write_text(edited, encoding="utf-8")
    (folder / "config.yml").write_text("statuses: [To Do, Done]\n", encoding="utf-8")
    done = cli.json("export", "backlog-md", folder, status=1)
    assert [each.rpartition("/")[2] for each in done["kept"]] == ["renamed.md"]
    assert [each.rpartition("/")[2] for each in done["written"]] == ["task-102 - Second-a-b.md"]
    assert (folder / "config.yml").read_text(encoding="utf-8") == "statuses: [To Do, Done]\n"
    assert not path.exists()
    (folder / "tasks/task-102 - Second-a-b.md").rename(folder / "tasks/task-102 - Mine.md")
    (folder / "tasks/task-102 - Mine.md").write_text("---\nid: TASK-102\n---\n", encoding="utf-8")
    done = cli.json("export", "backlog-md", folder, "102", status=1)
    assert [each.rpartition("/")[2] for each in done["kept"]] == ["task-102 - Mine.md"]


def test_what_comes_back_from_backlog_md_is_known(cli: Cli, tmp_path: Path) -> None:
    """By its mark: nothing is made twice, and what was edited there is told with what differs."""
    folder = tmp_path / "backlog"
    cli.ok("export", "backlog-md", folder)
    before = tree(cli.place.root)
    assert "unchanged since the last import: 2 tasks" in cli.ok("import", "backlog-md", folder)
    path = folder / "tasks/task-102 - Second-a-b.md"
    path.write_text(path.read_text(encoding="utf-8").replace("To Do", "Done"), encoding="utf-8")
    said = cli("import", "backlog-md", folder)
    assert (said.status, "102: status: complete" in said.out) == (1, True)
    assert tree(cli.place.root) == before


@pytest.mark.parametrize("prefix", ["", "b-"])
def test_tasks_come_into_another_repository_from_backlog_md(cli: Cli, other: Cli, tmp_path: Path, prefix: str) -> None:
    """With their criteria, features, relations and states; sessions and the notes are text there."""
    folder = tmp_path / "backlog"
    cli.ok("criterion", "check", "101", "2")
    cli.ok("export", "backlog-md", folder)
    target = _in(other) if not prefix else cli  # where a task has the id, a prefix makes it another one
    target.ok("import", "backlog-md", folder, *(["--prefix", prefix] if prefix else []))
    first, second = (shape_of(target.place.workspace, f"{prefix}{each}") for each in ("101", "102"))
    assert (first["title"], first["status"]) == ("JWT Service", "in_progress")
    assert (first["criteria"], first["criteria_texts"]) == ([2, 1], ["Tokens verify", "Tokens expire"])
    assert (first["features"], first["feature_ids"]) == ([1, 1], ["jwt-1"])
    assert (second["title"], second["depends_on"]) == ("=Second: a+b", [f"{prefix}101"])
    assert "Half-way." in text_of(target.place.workspace, f"{prefix}101")
    assert target("lint", "--against", "none").status == 0


def test_what_was_imported_goes_out_and_comes_back(cli: Cli, other: Cli, tmp_path: Path) -> None:
    """A task keeps where it once came from, on its way through JSON."""
    (tmp_path / "todo.md").write_text("# List\n\n- [x] one\n- [ ] two\n", encoding="utf-8")
    cli.ok("import", "checklist", tmp_path / "todo.md")
    cli.ok("export", "json", "todo", "--output", tmp_path / "tasks.json")
    _in(other).ok("import", "json", tmp_path / "tasks.json")
    name = ".taskstate/tasks/task-todo-state.md"
    assert (other.place.root / name).read_bytes() == (cli.place.root / name).read_bytes()


# What must not go out


@pytest.mark.parametrize("form", [*FORMATS])
def test_no_credential_and_no_hidden_text_goes_out(cli: Cli, tmp_path: Path, form: str) -> None:
    """The place is named, nothing is written, and a credential goes out only if that is forced."""
    place, path = cli.place, tmp_path / "out"
    before = place.text
    place.text = before.replace("Issue tokens.", f"Issue {TOKEN}.")
    said = cli.refused("export", form, "--output", path)
    assert "task-101-state.md, line" in said
    assert TOKEN not in said
    assert not path.exists()
    assert cli("export", form, "--output", path, "--force-secrets").status == 0
    place.text = before.replace("Issue tokens.", f"Issue to{HIDDEN}kens.")
    assert shown(HIDDEN) in cli.refused("export", form, "--output", tmp_path / "other")
    place.text = before.replace('"makes a JWT"', '"makes a \\u202eJWT"')
    assert shown("\u202e") in cli.refused("export", form, "--output", tmp_path / "other")

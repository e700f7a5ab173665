"""`taskstate fmt`: the canonical form on disk, to look at, and on standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place

STATE = ".taskstate/tasks/task-101-state.md"
SPOIL = ("## 4. Progress Log\n\n", "##  progress log ##\n")


@pytest.fixture
def spoiled(place: Place) -> Place:
    """Return a repository whose task has not its form."""
    place.text = place.text.replace(*SPOIL)
    return place


def test_what_has_its_form_is_not_written(cli: Cli, place: Place) -> None:
    """A file in its form keeps every byte, whatever a metadata would change, and its revision."""
    before = tree(place.root)
    assert cli.ok("fmt") == "1 file already in form\n"
    assert cli.json("fmt") == {"files": 1, "changed": [], "failed": []}
    assert tree(place.root) == before


def test_formatting_is_a_write_like_every_other(cli: Cli, spoiled: Place) -> None:
    """What changes is stamped; formatting again leaves the bytes alone."""
    assert cli.ok("fmt") == f"reformatted: {STATE}\n1 file reformatted\n"
    assert SPOIL[0] in spoiled.text
    assert spoiled.state.revision == 2
    once = spoiled.text
    assert "already in form" in cli.ok("fmt", spoiled.path)
    assert spoiled.text == once


def test_check_names_what_would_change(cli: Cli, spoiled: Place) -> None:
    """--check exits with 1, names the files and writes nothing; with 0 when all have their form."""
    before = tree(spoiled.root)
    result = cli("fmt", "--check")
    assert (result.status, result.out) == (1, f"would be reformatted: {STATE}\n1 file would be reformatted\n")
    assert cli.json("fmt", "--check", status=1) == {"files": 1, "changed": [STATE], "failed": []}
    assert tree(spoiled.root) == before
    cli.ok("fmt")
    assert cli.ok("fmt", "--check") == "1 file already in form\n"


def test_diff_shows_what_would_change(cli: Cli, spoiled: Place) -> None:
    """--diff prints a unified diff, without the marks of a write, exits with 1 and writes nothing."""
    before = tree(spoiled.root)
    result = cli("fmt", "--diff")
    assert result.status == 1
    assert result.out.startswith(f"--- a/{STATE}\n+++ b/{STATE}\n")
    assert "-##  progress log ##\n+## 4. Progress Log\n+\n" in result.out
    assert "revision" not in result.out
    assert cli.json("fmt", "--diff", status=1)["diff"] == result.out
    assert tree(spoiled.root) == before
    cli.ok("fmt")
    assert cli("fmt", "--diff") == (0, "", "")


def test_dry_run_shows_the_whole_write(cli: Cli, spoiled: Place) -> None:
    """--dry-run shows what would be written, its marks included, as with every command that writes."""
    before = tree(spoiled.root)
    output = cli.ok("fmt", "--dry-run")
    assert "+## 4. Progress Log" in output
    assert "+revision: 2" in output
    assert tree(spoiled.root) == before


def test_what_cannot_be_read_is_told_and_the_others_go_on(cli: Cli, spoiled: Place) -> None:
    """A file of which a part cannot be read is named with its line, exit status 2; the others are formatted."""
    broken = spoiled.path.with_name("task-7-state.md")
    broken.write_text("---\ntaskstate: 1\ntask_id: 7\ntitle: a: b\n---\n\n##  chain inputs\n", encoding="utf-8")
    latin = spoiled.path.with_name("task-8-state.md")
    latin.write_bytes(b"---\n\xff\n---\n")
    for flags in (["--check"], ["--diff"], []):
        result = cli("fmt", *flags)
        assert result.status == 2
        first, second = result.err.splitlines()
        assert first.startswith(".taskstate/tasks/task-7-state.md, line 4: ")
        assert "nothing was changed" in first
        assert "byte 4 is 0xff" in second
    assert SPOIL[0] in spoiled.text
    assert "##  chain inputs" in broken.read_text(encoding="utf-8")
    assert latin.read_bytes() == b"---\n\xff\n---\n"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("taskstate: 1\n", "taskstate: 2\n", "format version 2 is newer"),
        ("## 5. Git History", "<<<<<<< a\n=======\n>>>>>>> b\n## 5. Git History", "merge conflict"),
        ('"passes": false', '"passes": maybe', "maybe"),
        ("## 5. Git History", "```sh\n", "never closes"),
    ],
)
def test_why_a_file_is_skipped(cli: Cli, spoiled: Place, old: str, new: str, why: str) -> None:
    """A newer format, a conflict, broken JSON and an open fence are reasons, and nothing is changed."""
    spoiled.text = before = spoiled.text.replace(old, new, 1)
    result = cli("fmt")
    assert result.status == 2
    assert why in result.err
    assert spoiled.text == before


def test_a_broken_seal_is_not_laundered(cli: Cli, spoiled: Place) -> None:
    """A tool-written block that was changed by hand keeps the file from being written."""
    spoiled.text = before = spoiled.text.replace("audit:\n", 'audit:\n  events: [{at: "2026-01-31T12:00:00Z"}]\n')
    result = cli("fmt")
    assert result.status == 2
    assert "audit.seal" in result.err
    assert spoiled.text == before
    assert cli("fmt", "--check").status == 1


def test_only_state_files_are_formatted(cli: Cli, place: Place) -> None:
    """Archives are left alone; a named file that is none of ours is reported."""
    place.fill(1, 2, 3)
    place.archive()
    place.archive_path.write_bytes(place.archive_path.read_bytes() + b"\n\n\n")
    (place.root / "README.md").write_text("x  \n", encoding="utf-8")
    before = tree(place.root)
    result = cli("fmt", place.archive_path, "README.md")
    assert (result.status, result.out) == (0, "no state files\n")
    assert "README.md" in result.err
    assert tree(place.root) == before


def test_a_folder_and_a_path_that_is_not_there(cli: Cli, spoiled: Place) -> None:
    """A folder stands for the files in it; a path that does not exist is an error."""
    assert "does not exist" in cli.refused("fmt", "nothing.md")
    assert cli("fmt", "--check", ".taskstate/archives").status == 0
    assert cli("fmt", "--check", ".taskstate").status == 1
    assert spoiled.state.revision == 1


def test_standard_input(cli: Cli, spoiled: Place) -> None:
    """`-` prints the form of what it reads, byte for byte, without a metadata; --check and --diff look only."""
    text = spoiled.text.replace("\n", "\r\n")
    flags = ("fmt", "-", "--stdin-filename", "task-101-state.md")
    formatted = cli.ok(*flags, stdin=text)
    assert formatted.count("\r\n") == formatted.count("\n")
    assert SPOIL[0].replace("\n", "\r\n") in formatted
    assert "revision: 1\r\n" in formatted
    assert cli.ok(*flags, stdin=formatted) == formatted
    assert cli(*flags, "--check", stdin=text).status == 1
    assert "+## 4. Progress Log" in cli(*flags, "--diff", stdin=text).out
    assert cli(*flags, "--check", stdin=formatted) == (0, "", "")
    data = cli.json(*flags, stdin=text)
    assert data == {"path": "task-101-state.md", "changed": True, "text": formatted}
    assert cli.ok("fmt", "-", "--stdin-filename", "README.md", stdin="x  ") == "x  "


def test_standard_input_needs_a_name(cli: Cli) -> None:
    """Without a name nobody knows what kind of file it is; what cannot be read is refused."""
    assert "--stdin-filename" in cli.refused("fmt", "-", stdin="x")
    assert "line 1" in cli.refused("fmt", "-", "--stdin-filename", "task-1-state.md", stdin="x")


def test_a_stale_revision_is_refused(cli: Cli, spoiled: Place) -> None:
    """--expect-revision holds for every file that would be written."""
    result = cli("fmt", STATE, "--expect-revision", "7")
    assert (result.status, spoiled.state.revision) == (2, 1)
    assert "is at revision 1" in result.err
    assert cli("fmt", STATE, "--expect-revision", "1").status == 0


def test_the_linter_agrees(cli: Cli, spoiled: Place) -> None:
    """What fmt has formatted gives no finding on its form, and --fix fixes what fmt does."""
    spoiled.text = spoiled.text.replace("taskstate: 1\n", "", 1).replace("title: ", "taskstate: 1\ntitle: ", 1)
    codes = {finding["code"] for finding in cli.json("lint")["findings"]}
    assert {"TS106", "TS205"} <= codes
    assert cli("lint", "--fix").status == 0
    assert cli.json("lint")["findings"] == []
    assert SPOIL[0].split("\n")[0] in spoiled.text


def test_a_file_outside_of_any_set_up(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To look takes no set-up; to write does."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "task-1-state.md").write_text("---\ntaskstate: 1\n---\n", encoding="utf-8")
    monkeypatch.chdir(other)
    assert cli("fmt", "--check").status == 0
    assert "taskstate init" in cli("fmt").err

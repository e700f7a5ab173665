from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import files
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place

TITLE = ("# Task #101: JWT Service", "# Task #101: JWT service")
STATE = ".taskstate/tasks/task-101-state.md"


@pytest.fixture
def wrong(place: Place) -> Place:
    """Return a repository whose task has an error that can be fixed."""
    place.text = place.text.replace(*TITLE)
    return place


def codes(cli: Cli, *arguments: str | Path, status: int = 1) -> list[str]:
    """Return the codes that linting finds."""
    return [finding["code"] for finding in cli.json("lint", *arguments, status=status)["findings"]]


def test_clean_repository(cli: Cli) -> None:
    """Without findings the exit status is 0, and the files are counted."""
    assert "1 file" in cli.ok("lint")
    assert cli.json("lint") == {"files": 1, "findings": []}


def test_finding_stands_at_its_place(cli: Cli, wrong: Place) -> None:
    """A finding has path, line, column, code, name, message and help, and an error exits with 1."""
    line = wrong.text[: wrong.text.index("# Task #101")].count("\n") + 1
    data = cli.json("lint", status=1)
    (finding,) = data["findings"]
    assert list(finding) == [
        *("path", "line", "column", "end_line", "end_column", "code", "name", "severity", "message", "help", "fixable")
    ]
    assert (finding["path"], finding["line"], finding["code"], finding["fixable"]) == (STATE, line, "TS206", True)
    result = cli("lint")
    assert result.status == 1
    assert f"{STATE}:{line}:" in result.out
    assert "TS206" in result.out


def test_output_formats(cli: Cli, wrong: Place) -> None:
    """Concise is a line for each finding, json is bare."""
    result = cli("lint", "--output-format", "concise")
    assert (result.status, result.out.count("\n")) == (1, 1)
    bare = json.loads(cli("lint", "--output-format", "json").out)
    assert bare == cli.json("lint", status=1)
    assert wrong.text.count("JWT service") == 1


def test_warnings_count_when_strict(cli: Cli, place: Place) -> None:
    """A warning exits with 0, and with 1 under --strict."""
    place.text = place.text.replace("file_size_kb: 2", "file_size_kb: 7")
    assert codes(cli, status=0) == ["TS105"]
    assert codes(cli, "--strict") == ["TS105"]


def test_codes_are_chosen(cli: Cli, wrong: Place) -> None:
    """--select and --ignore take codes and prefixes, in any case, with commas."""
    wrong.text = wrong.text.replace("file_size_kb: 2", "file_size_kb: 7")
    assert codes(cli) == ["TS105", "TS206"]
    assert codes(cli, "--select", "ts2, TS3") == ["TS206"]
    assert codes(cli, "--select", "title-mismatch") == ["TS206"]
    assert codes(cli, "--select", "ALL", "--ignore", "secret,counts-differ") == ["TS206"]
    assert codes(cli, "--select", "TS3", "--extend-select", "Title-Mismatch") == ["TS206"]
    assert codes(cli, "--ignore", "TS1,TS2", "--extend-select", "TS206") == ["TS206"]
    assert codes(cli, "--select", "TS3", status=0) == []
    assert codes(cli, "--ignore", "TS105") == ["TS206"]
    assert codes(cli, "--ignore", "TS206,TS1", status=0) == []


def test_paths_are_relative_to_the_root(
    cli: Cli, wrong: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A path is the same wherever one stands, in every format, so that a report can be read elsewhere."""
    stdin = ("-", "--stdin-filename", wrong.path.name)
    monkeypatch.chdir(wrong.path.parent)
    for arguments in ((), (wrong.path.name,), (str(wrong.path),), stdin):
        found = cli.json("lint", *arguments, stdin=wrong.text, status=1)["findings"]
        assert [each["path"] for each in found] == [STATE]
    assert all(f"{STATE}:" in cli("lint", "--output-format", form).out for form in ("text", "concise", "github"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(wrong.root)
    assert codes(cli, tmp_path / "link" / STATE) == ["TS206"]
    assert codes(cli, "link") == ["TS206"]


def test_exclusion_counts_through_a_link_too(cli: Cli, wrong: Place, tmp_path: Path) -> None:
    """A file that the configuration excludes is excluded on whatever way it is named."""
    wrong.configure('exclude = [".taskstate/tasks/**"]\n')
    (tmp_path / "link").symlink_to(wrong.root)
    assert codes(cli, tmp_path / "link" / STATE, status=0) == []


def test_file_that_is_none_of_ours_is_told(cli: Cli, place: Place) -> None:
    """A named file that would not be checked is reported, and is no error."""
    (place.root / "README.md").write_text("x", encoding="utf-8")
    result = cli("lint", "README.md")
    assert (result.status, "README.md was not checked" in result.err) == (0, True)


def test_unreadable_file_is_told_and_the_others_are_checked(cli: Cli, wrong: Place) -> None:
    """What cannot be read exits with 2, and is reported also when quiet."""
    wrong.path.with_name("task-7-state.md").symlink_to("nowhere")
    result = cli("lint", "--quiet")
    assert result.status == 2
    assert "task-7-state.md" in result.err
    assert "TS206" in result.out


def test_standard_input_is_checked(cli: Cli, wrong: Place) -> None:
    """`-` checks the text of an editor, under the name that is given."""
    text = wrong.path.read_bytes()
    wrong.path.unlink()
    result = cli.json("lint", "-", "--stdin-filename", "x/task-101-state.md", stdin=text, status=1)["findings"]
    assert [(each["path"], each["code"]) for each in result] == [("x/task-101-state.md", "TS206")]
    assert cli("lint", "-", "--stdin-filename", "task-101-state.md", stdin=b"\xff").status == 1


# Fixing


def test_fix_mends_and_checks_again(cli: Cli, wrong: Place) -> None:
    """What can be fixed is fixed, reported on standard error, and the rest is found."""
    result = cli("lint", "--fix")
    assert result.status == 0
    assert f"{STATE}: fixed TS206" in result.err
    assert TITLE[0] in wrong.text
    assert wrong.state.revision == 2
    assert cli("lint", "--fix").err == ""
    assert wrong.state.revision == 2


def test_what_is_mended_is_not_called_damaged(cli: Cli, place: Place) -> None:
    """The run that mends a damaged file says so and nothing else; the one before it said that it is damaged."""
    place.add("Begun.")
    place.text = place.text.replace("title: JWT Service", "title: Fix: the bug", 1)
    assert "is damaged: line 4" in cli("lint").err
    mended = cli("lint", "--fix")
    assert (mended.status, mended.err) == (0, ".taskstate/tasks/task-101-state.md: fixed TS003, TS206\n")


def test_fix_mends_only_what_is_selected(cli: Cli, wrong: Place) -> None:
    """A rule that is not selected, or ignored, fixes nothing."""
    before = tree(wrong.root)
    cli.ok("lint", "--fix", "--select", "TS3")
    cli.ok("lint", "--fix", "--ignore", "TS206")
    assert tree(wrong.root) == before


def test_unsafe_fixes_are_asked_for(cli: Cli, place: Place) -> None:
    """A fix that may change the meaning is made with --unsafe-fixes alone."""
    place.text = place.text.replace("status: created", "status: created\npriorty: P1")
    assert cli("lint", "--fix").status == 1
    assert "priorty" in place.text
    assert cli("lint", "--fix", "--unsafe-fixes").status == 0
    assert "priority: P1" in place.text


def test_dry_run_shows_the_diff_and_what_is_found(cli: Cli, wrong: Place) -> None:
    """A dry run prints the diff before the findings, in JSON the findings alone, and writes nothing."""
    wrong.text = wrong.text.replace("Issue tokens.", "Issue \x9btokens.")
    before = tree(wrong.root)
    result = cli("lint", "--fix", "--dry-run")
    assert f"+{TITLE[0]} - State" in result.out
    assert "\x9b" not in result.out
    assert codes(cli, "--fix", "--dry-run") == ["TS206", "TS006"]
    assert json.loads(cli("lint", "--fix", "--dry-run", "--output-format", "json").out)["files"] == 1
    assert tree(wrong.root) == before


def test_what_cannot_be_mended_is_told(cli: Cli, wrong: Place) -> None:
    """A file that must not be written is reported, and keeps its findings."""
    wrong.text = wrong.text.replace("audit:", "context: {}\naudit:")
    result = cli("lint", "--fix", "--quiet")
    assert result.status == 1
    assert "not fixed: " in result.err
    assert "changed by hand" in result.err


def test_file_elsewhere_is_checked_and_not_mended(cli: Cli, wrong: Place, tmp_path: Path) -> None:
    """A file of another repository is checked, and left to that."""
    other = tmp_path / "task-101-state.md"
    other.write_bytes(wrong.path.read_bytes())
    result = cli("lint", "--fix", other)
    assert (result.status, "not fixed: " in result.err, "lies outside of" in result.err) == (1, True, True)
    assert other.read_bytes() == wrong.path.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("nowhere",), "does not exist"),
        (("\x1b[31m",), "\\x1b[31m does not exist"),
        (("--select", "TS99"), "no lint rule has the code or name TS99"),
        (("--ignore", "X"), "no lint rule has the code or name X"),
        (("--output-format", "xml"), "invalid choice"),
        (("-",), "- needs --stdin-filename"),
        (("-", "x"), "does not exist"),
    ],
)
def test_what_cannot_be_checked_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error."""
    assert what in cli.refused("lint", *arguments)


# How files are checked


def test_a_second_run_remembers(cli: Cli, wrong: Place) -> None:
    """The findings are the same with what is recorded and without; where `--no-cache` is given nothing is."""
    folder = wrong.cache("x").parent
    before = files.names(folder)
    first = cli.json("lint", "--no-cache", status=1)
    assert files.names(folder) == before
    assert cli.json("lint", status=1) == cli.json("lint", status=1) == first
    assert len([name for name in files.names(folder) if name.startswith("lint-")]) == 1


def test_where_nothing_is_set_up_nothing_is_written(
    cli: Cli, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state file that a user sent is checked where it lies, and nothing appears beside it."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "task-101-state.md").write_text(place.text, encoding="utf-8")
    monkeypatch.chdir(elsewhere)
    assert cli.ok("lint", ".", "--root", elsewhere) == "No findings in 1 file.\n"
    assert [path.name for path in elsewhere.iterdir()] == ["task-101-state.md"]


def test_what_is_configured_holds_from_any_folder(cli: Cli, wrong: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The globs of `per-file-ignores` are measured from the root, and a severity decides about the exit status."""
    wrong.configure('[lint.severity]\nTS206 = "warning"\n')
    monkeypatch.chdir(wrong.path.parent)
    assert [finding["severity"] for finding in cli.json("lint")["findings"]] == ["warning"]
    assert cli("lint", "--strict").status == 1
    wrong.configure('[lint]\nper-file-ignores = { ".taskstate/tasks/*" = ["TS206"] }\n')
    assert cli.json("lint", wrong.path.name)["findings"] == []


def test_an_editor_sees_what_lies_around_its_file(cli: Cli, place: Place) -> None:
    """The text comes from standard input, what it refers to from the repository that its name is in."""
    text = place.text.replace("status: ", 'depends_on: ["777"]\nstatus: ', 1)
    result = cli("lint", "-", "--stdin-filename", STATE, "--output-format", "concise", stdin=text)
    assert result.status == 1
    assert f"{STATE}:" in result.out
    assert "TS902" in result.out


@pytest.mark.parametrize(
    "arguments", [("--staged", "--fix"), ("--staged", "--diff"), ("--jobs", "-1"), ("--jobs", "x")]
)
def test_flags_that_make_no_sense_are_refused(cli: Cli, place: Place, arguments: tuple[str, ...]) -> None:
    """What cannot be done is one line, with exit status 2."""
    before = tree(place.root)
    result = cli("lint", *arguments)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert tree(place.root) == before


def test_nothing_is_staged_where_there_is_no_git(cli: Cli) -> None:
    """That is one line which says what to do."""
    assert cli.refused("lint", "--staged").endswith("is in no git repository: leave out --staged")

"""What a task says of itself is changed by commands, with the checks that an edit by hand would meet."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from taskstate.model.static_context import read_static
from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.place import Place

CRITERION, EDIT = ("criterion", "add", "101"), ("edit", "101")


@pytest.fixture
def git_place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path / "git")


@pytest.fixture
def git_cli(git_place: GitPlace, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return the command line in that repository."""
    monkeypatch.chdir(git_place.root)
    return Cli(git_place, monkeypatch, capfd)


def lints(cli: Cli, place: Place) -> None:
    """Let the file be as the linter and the formatter want it."""
    cli.ok("lint", place.path)
    cli.ok("fmt", "--check", place.path)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_criteria_are_added_below_the_others(cli: Cli, place: Place, end: str) -> None:
    """They are open, stand in the order given, and leave what is there as it is, its marks included."""
    place.text = place.text.replace("\n", end)
    cli.ok("criterion", "check", "101", "1")
    before = place.text
    assert cli.ok(*CRITERION, "Keys rotate", "Two\nlines").endswith(": 2 criteria added\n")
    assert [each.text for each in place.state.criteria[2:]] == ["Keys rotate", "Two\nlines"]
    assert [each.checked for each in place.state.criteria] == [True, False, False, False]
    added = end.join(["- [ ] Keys rotate", "- [ ] Two", "  lines", ""])
    assert added in place.text
    assert place.text.replace(added, "").splitlines()[30:] == before.splitlines()[30:]
    lints(cli, place)


def test_the_first_criterion_takes_the_place_of_the_placeholder(cli: Cli, place: Place) -> None:
    """A task that was made without criteria has them then."""
    cli.ok("new", "7", "--title", "T")
    assert cli.ok("criterion", "add", "7", "- [ ] odd").endswith(": criterion added\n")
    loaded = place.workspace.load(place.workspace.locate("7"))
    assert [each.text for each in loaded.state.criteria] == ["- [ ] odd"]
    assert loaded.document.text.count("*To be completed.*") == 6
    cli.ok("lint", loaded.relative)


def test_title_is_written_in_both_places(cli: Cli, place: Place) -> None:
    """Front matter and title line agree afterwards, and a title line in somebody's own words is kept."""
    assert cli.ok(*EDIT, "--title", "Token: service").endswith("101-state.md: edited\n")
    assert 'title: "Token: service"' in place.text
    assert "# Task #101: Token: service - State\n" in place.text
    place.text = place.text.replace("# Task #101: Token: service - State", "# All that Ann knows of tokens")
    said = cli.ok(*EDIT, "--title", "Tokens")
    kept = said.partition("`")[2].partition("`")[0]
    assert "All that Ann knows" in cli.ok(*kept.split()[1:])
    lints(cli, place)


@pytest.mark.parametrize(
    "line", ["# Task #101: JWT issuer - State", "# Task #100: It's Ann's - State", "# Ann's words"]
)
def test_the_cure_of_two_titles_works_as_printed(cli: Cli, place: Place, line: str) -> None:
    """The linter names the command that takes the words of the title line, and nobody's words are gone after it."""
    place.text = place.text.replace("# Task #101: JWT Service - State", line)
    cure = cli("lint", place.path).out.partition("help: `taskstate ")[2].partition("` keeps this title")[0]
    cli.ok(*shlex.split(cure))
    title = line.removeprefix("# ").partition(": ")[2].removesuffix(" - State") or line.removeprefix("# ")
    assert place.state.title == title
    assert f"# Task #101: {title} - State\n" in place.text
    cli.ok("lint", place.path)


def test_the_other_parts(cli: Cli, place: Place) -> None:
    """Description, priority and area take their places; what the old description said is kept."""
    said = cli.ok(*EDIT, "--description", "New words.\n\n## No heading", "--priority", "P0", "--area", "web")
    assert "what it replaced: `taskstate doctor kept show" in said
    assert place.state.description == "New words.\n\n\\## No heading"
    assert (place.state.text("priority"), place.state.text("area")) == ("P0", "web")
    again = ("--description", "New words.\n\n## No heading", "--priority", "P0")
    assert cli.ok(*EDIT, *again).endswith("nothing to change\n")
    lints(cli, place)


def test_dependencies_are_set_and_their_output_pulled(cli: Cli, place: Place) -> None:
    """The list is replaced; what is complete hands its output down at once, and stays where the list is emptied."""
    for number in ("7", "8"):
        cli.ok("new", number, "--title", "T", "--description", "d", "--criterion", "c")
    (place.root / "out.md").write_text("Tokens are issued.\n", encoding="utf-8")
    cli.ok("chain", "output", "set", "7", "summary", "--from", "out.md")
    cli.ok("complete", "7", "--force", "--note", "done")
    cli.ok(*EDIT, "--depends-on", "8,TASK-7")
    assert place.state.depends_on == ("7", "8")
    assert "### From Task #7" in place.text
    lints(cli, place)
    cli.ok(*EDIT, "--no-depends-on")
    assert "### From Task #7" in place.text
    assert "depends_on: []\n" in place.text
    cli.ok("lint", place.path)


def test_blocked_and_back(cli: Cli, place: Place) -> None:
    """The reason stands where people and agents look; afterwards the status is what it was, begun or not."""
    cli.ok("feature", "add", "101", "f1", "It works")
    for before in ("created", "in_progress"):
        assert place.state.status == before
        cli.ok(*EDIT, "--blocked", "no schema")
        cli.ok(*EDIT, "--blocked", "waits for the schema")
        assert place.state.status == "blocked"
        assert "it is blocked (waits for the schema)" in cli("next").out
        for command in (("show", "101"), ("brief", "101"), ("status", "101")):
            assert "waits for the schema" in cli.ok(*command), command
        lints(cli, place)
        assert "`taskstate edit 101 --unblocked`" in cli("complete", "101").err
        cli.ok(*EDIT, "--unblocked")
        assert place.state.status == before
        assert "it is not blocked" in cli.ok(*EDIT, "--unblocked")
        cli("session", "add", "101", "--did", "x", "--state", "y", "--next", "z")


def test_unblocking_what_was_not_begun_is_no_step_back(git_cli: Cli, git_place: GitPlace) -> None:
    """Since the committed status somebody blocked and unblocked the task by command; by hand it is a finding."""
    git_cli.ok(*EDIT, "--blocked", "no schema")
    git_place.commit("blocked")
    git_cli.ok(*EDIT, "--unblocked")
    git_cli.ok("lint", git_place.path)
    git_place.git("checkout", "--quiet", "HEAD", "--", str(git_place.path))
    git_place.text = git_place.text.replace("status: blocked", "status: created")
    assert "TS107" in git_cli("lint", git_place.path).out


def test_a_sealed_context_is_sealed_anew(git_cli: Cli, git_place: GitPlace) -> None:
    """In the same write, with the reason in an event where one is given; its exports follow."""
    git_cli.ok("context", "init", "101")
    git_cli.ok(*CRITERION, "Keys rotate")
    git_cli.ok(*EDIT, "--title", "Other", "--priority", "P0", "--note", "the plan changed")
    git_cli.ok(*EDIT, "--description", "Other words.")
    git_cli.ok("context", "check", "101")
    lints(git_cli, git_place)
    events = git_place.values["audit"]["events"]
    assert [(each["event"], each["note"]) for each in events] == [("context-rebuilt", "the plan changed")]
    assert "Keys rotate" in read_static(git_place.state).criteria


def test_what_does_not_hold_is_not_sealed_along(git_cli: Cli, git_place: GitPlace) -> None:
    """An edit by hand, or another word of the task file, is refused with what to do, and nothing changes."""
    git_place.write("plan.yaml", "title: JWT Service\ndescription: D\npriority: P1\nacceptance_criteria: [A]\n")
    git_cli.ok("new", "7", "--from", "plan.yaml")
    git_place.commit("a plan")
    git_cli.ok("context", "init", "7")
    for words in (
        ("edit", "7", "--priority", "P0"),
        ("criterion", "add", "7", "B"),
        ("edit", "7", "--description", "E"),
    ):
        said = git_cli.refused(*words)
        assert "this comes from plan.yaml, which says otherwise: change it there; then `taskstate context" in said
    git_cli.ok("context", "init", "101")
    git_place.text = git_place.text.replace("Tokens verify", "Tokens are verified")
    for given in ((*CRITERION, "B"), (*EDIT, "--title", "Other")):
        assert '`taskstate context rebuild 101 --note "WHY"` seals what is there now' in git_cli.refused(*given)
    git_cli.ok(*EDIT, "--blocked", "the context is in doubt")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("edit", "101"), "nothing to change is given: say what"),
        (("edit", "101", "--title", ""), "--title is empty"),
        (("edit", "101", "--title", "a\nb"), "several lines"),
        (("edit", "101", "--title", "a\x1bb"), "U+001B"),
        (("edit", "101", "--priority", "P9"), "P9"),
        (("edit", "101", "--blocked", ""), "--blocked is empty"),
        (("edit", "101", "--blocked", "x", "--unblocked"), "does not go with"),
        (("edit", "101", "--depends-on", "101"), "in a circle: 101 → 101: leave 101 out"),
        (("edit", "101", "--depends-on", "8"), "in a circle: 101 → 8 → 101: leave 8 out"),
        (("edit", "101", "--depends-on", "9"), "there is no task 9: `taskstate list`"),
        (("edit", "101", "--depends-on", "1"), "is the permanent task, which has no output to wait for"),
        (("edit", "101", "--depends-on", "8", "--no-depends-on"), "does not go with"),
        (("edit", "1", "--title", "x"), "`taskstate permanent update` changes a section of it"),
        (("edit", "99", "--title", "x"), "there is no task 99"),
        (("edit", "101", "--title", "x", "--expect-revision", "1-0000"), "is at revision"),
        (("criterion", "add", "101"), "required: TEXT"),
        (("criterion", "add", "101", "  "), "is empty"),
        (
            ("criterion", "add", "101", "tokens  VERIFY."),
            "already: tokens VERIFY.: `taskstate show 101` lists",
        ),
        (("criterion", "add", "101", "a", "A"), "has the criterion already: A"),
        (("criterion", "add", "1", "a"), "is the permanent task"),
        (
            ("criterion", "add", "7", "a"),
            "task 7 is complete, and other tasks may use its output: `taskstate reopen 7 --note",
        ),
        (("edit", "7", "--title", "a"), "`taskstate reopen 7 --note"),
        (("edit", "6", "--title", "a"), "task 6 is dropped: `taskstate reopen 6 --note"),
    ],
)
def test_what_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """Each in one line that says what to do; nothing changes."""
    cli.ok("new", "1", "--kind", "permanent", "--title", "P", "--description", "d")
    for number in ("6", "7"):
        cli.ok("new", number, "--title", "T", "--description", "d", "--criterion", "c")
    cli.ok("drop", "6", "--note", "why")
    cli.ok("complete", "7", "--force", "--note", "done")
    cli.ok("new", "8", "--title", "T", "--depends-on", "101")
    assert what in cli.refused(*arguments)

"""What `lint` prints: colours on a terminal, statistics, diffs, standard input fixed, formats for programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.reporters import FORMATS
from tests.support.terminal import seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Cli
    from tests.support.place import Place

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

TITLE = ("# Task #101: JWT Service", "# Task #101: JWT service")
BACK = (TITLE[1], TITLE[0])
STATE = ".taskstate/tasks/task-101-state.md"
FOUND = "Found 1 error and 1 warning in 1 of 1 file. 2 can be fixed with --fix.\n"
STDIN = ("lint", "-", "--stdin-filename", STATE)


@pytest.fixture
def wrong(place: Place) -> Place:
    """Return a repository whose task has an error that can be fixed."""
    place.text = place.text.replace(*TITLE)
    return place


@pytest.fixture
def terminal(wrong: Place) -> Callable[..., str]:
    """Return a function that lints in a real terminal, and returns what is seen there."""

    def lint(*arguments: str, status: int = 1, **env: str) -> str:
        command = (sys.executable, "-m", "taskstate", "lint", *arguments)
        ended, written = seen(command, cwd=wrong.root, env={"TASKSTATE_ACTOR": "somebody"} | env)
        assert ended == status, written
        return written

    return lint


# Colours


def test_colours_are_for_terminals(terminal: Callable[..., str], cli: Cli) -> None:
    """A terminal shows colours, in the text and in a diff; a pipe gets the same words without."""
    shown = terminal()
    assert "\x1b[1;31mTS206\x1b[0m title-mismatch: " in shown
    assert "\x1b[1;31mTS206\x1b[0m" in terminal("--output-format", "concise")
    assert "\x1b[32m+# Task #101: JWT Service - State\x1b[0m" in terminal("--diff")
    assert "\x1b" not in cli("lint").out


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (("--no-color",), {}),
        ((), {"NO_COLOR": "1"}),
        ((), {"NO_COLOR": "1", "FORCE_COLOR": "1"}),
        ((), {"TERM": "dumb"}),
        ((), {"TERM": ""}),
        (("--output-format", "github"), {}),
        (("--output-format", "junit"), {"FORCE_COLOR": "1"}),
        (("--format", "json"), {"FORCE_COLOR": "1"}),
    ],
)
def test_colours_can_be_refused(terminal: Callable[..., str], arguments: tuple[str, ...], env: dict[str, str]) -> None:
    """--no-color, NO_COLOR and a dumb terminal get none, and no format for programs does."""
    assert "\x1b" not in terminal("--quiet", *arguments, **env)  # on a slow machine there would be a progress bar


@pytest.mark.usefixtures("wrong")
def test_colours_can_be_forced(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """FORCE_COLOR brings colours into a pipe too, such as a log that shows them; 0 means no, and so does NO_COLOR."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in cli("lint").out  # NO_COLOR is set in tests
    monkeypatch.setenv("NO_COLOR", "")
    assert "\x1b[1;31mTS206" in cli("lint").out
    assert "\x1b" not in cli("lint", "--no-color").out
    monkeypatch.setenv("FORCE_COLOR", "0")
    assert "\x1b" not in cli("lint").out


def test_what_a_file_holds_never_reaches_a_terminal_raw(wrong: Place, terminal: Callable[..., str]) -> None:
    """Escapes in a file are spelled out, in a coloured report and in a coloured diff."""
    wrong.text = wrong.text.replace("## 1. Static Context", "\x1b]0;owned\x07\n\n## 1. Static Context")
    for arguments in ((), ("--diff",), ("--fix", "--dry-run"), ("--output-format", "concise")):
        shown = terminal(*arguments)
        assert r"\x1b]0;owned\x07" in shown or "concise" in arguments
        assert "\x1b]" not in shown
        assert "\x07" not in shown


# Formats


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_what_is_wrong(cli: Cli, wrong: Place, name: str) -> None:
    """Each output format names the finding, exits with 1, and says nothing on standard error."""
    result = cli("lint", wrong.path, "--output-format", name)
    assert (result.status, result.err) == (1, "")
    assert "TS206" in result.out
    assert STATE in result.out


@pytest.mark.parametrize("name", ["json", "sarif", "gitlab", "junit"])
def test_a_report_for_programs_is_never_empty(cli: Cli, name: str) -> None:
    """Where nothing is found a program still gets a whole report, also when quiet."""
    result = cli("lint", "--quiet", "--output-format", name)
    assert result.status == 0
    assert result.out
    if name != "junit":
        json.loads(result.out)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_documented(name: str) -> None:
    """docs/linting.md has a part with an example for each output format."""
    page = (Path(__file__).parents[3] / "docs" / "linting.md").read_text(encoding="utf-8")
    part = page.split(f"### {name}\n")[1].split("\n#")[0]
    assert name == "text" or "```" in part


def test_quiet_prints_nothing_where_nothing_is_wrong(cli: Cli) -> None:
    """Without findings --quiet prints nothing for people."""
    assert cli("lint", "--quiet") == (0, "", "")


def test_statistics_stand_for_the_findings(cli: Cli, wrong: Place) -> None:
    """--statistics counts the findings of each rule, for people and as JSON; other formats have no such numbers."""
    wrong.text = wrong.text.replace("file_size_kb: 2", "file_size_kb: 7")
    result = cli("lint", "--statistics")
    assert (result.status, result.out) == (
        1,
        "1  TS105  counts-differ   fix\n1  TS206  title-mismatch  fix\n\n" + FOUND,
    )
    bare = cli("lint", "--output-format", "json", "--statistics")
    numbers = [
        {"code": "TS105", "name": "counts-differ", "count": 1, "fixable": 1},
        {"code": "TS206", "name": "title-mismatch", "count": 1, "fixable": 1},
    ]
    assert (bare.status, json.loads(bare.out), bare.err) == (1, {"files": 1, "statistics": numbers}, "")
    assert cli.json("lint", "--statistics", status=1) == json.loads(bare.out)
    refused = cli("lint", "--output-format", "junit", "--statistics")
    assert (refused.status, refused.out) == (2, "")
    assert "there are no statistics in the format junit: use one of text, concise, json" in refused.err


def test_quiet_prints_findings_and_nothing_else(cli: Cli, wrong: Place) -> None:
    """-q leaves the summary out, shows warnings all the same, and says nothing where nothing is found."""
    for flag in ("-q", "--quiet"):
        shown = cli("lint", flag)
        assert (shown.status, shown.out.count("TS206"), "Found" in shown.out) == (1, 1, False)
    wrong.text = wrong.text.replace(*BACK).replace("file_size_kb: 2", "file_size_kb: 7")
    warned = cli("lint", "-q")
    assert (warned.status, "TS105" in warned.out, "Found" in warned.out) == (0, True, False)
    assert cli("lint", "-q", "--statistics").out == "1  TS105  counts-differ  fix\n"
    wrong.text = wrong.text.replace("file_size_kb: 7", "file_size_kb: 2")
    assert cli("lint", "-q") == (0, "", "")


@pytest.mark.parametrize("flags", [(), ("--strict",), ("--format", "json"), ("--diff",), ("--statistics",)])
def test_exit_zero(cli: Cli, wrong: Place, flags: tuple[str, ...]) -> None:
    """--exit-zero reports findings with status 0, in every way; what cannot be done is 2 all the same."""
    told, again = cli("lint", *flags), cli("lint", *flags, "--exit-zero")
    assert (told.status, again.status) == (1, 0)
    first, second = (re.sub(r"\d\d:\d\d:\d\dZ", "", each.out) for each in (told, again))  # a diff has the time
    assert first == second
    wrong.path.with_name("task-7-state.md").symlink_to("nowhere")
    assert cli("lint", "--exit-zero").status == 2
    assert cli("lint", "--exit-zero", "--select", "TS99").status == 2


@pytest.mark.parametrize("form", FORMATS)
def test_output_file_holds_the_report(cli: Cli, wrong: Place, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """--output-file gets what standard output gets else, without colours, and the exit status stays."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    (wrong.root / "report").write_text("an earlier one", encoding="utf-8")
    plain = cli("lint", "--output-format", form, "--no-color").out
    assert cli("lint", "--output-format", form, "--output-file", "report") == (1, "", "")
    assert (wrong.root / "report").read_text(encoding="utf-8") == plain


def test_output_file_of_standard_input(cli: Cli, wrong: Place) -> None:
    """With a text from standard input the report goes to the file, and the fixed text stays where it is."""
    fixed = cli(*STDIN, "--fix", "--output-file", "report", stdin=wrong.text)
    assert (fixed.status, fixed.out, fixed.err) == (0, wrong.text.replace(*BACK), "")
    assert (wrong.root / "report").read_text(encoding="utf-8") == "No findings in 1 file.\n"


def test_a_report_replaces_nothing_of_gits(cli: Cli, wrong: Place) -> None:
    """A repository whose configuration is a report is none for git any more."""
    subprocess.run(["git", "init", "--quiet"], cwd=wrong.root, check=True)
    config = wrong.root / ".git" / "config"
    before = config.read_bytes()
    for name in (".git/config", ".git/new", "other/../.git/config"):
        said = cli("lint", "--output-file", name)
        assert said.status == 2
        assert "lies in git's own folder" in said.err
    assert config.read_bytes() == before
    assert not (wrong.root / ".git" / "new").exists()


def test_output_file_that_is_refused(cli: Cli, wrong: Place) -> None:
    """The report replaces no file of taskstate's own and no link, and is not asked for beside other output."""
    before = wrong.text
    (wrong.root / "link").symlink_to("elsewhere")
    own, link = (cli("lint", "--output-file", name) for name in (STATE, "link"))
    assert (own.status, own.out, "is one of taskstate's own files" in own.err) == (2, "", True)
    assert (link.status, "link is a symbolic link" in link.err, wrong.text) == (2, True, before)
    for arguments in (("--output-file", ""), ("--output-file", "report", "--diff")):
        assert cli("lint", *arguments).status == 2
    assert cli("lint", "--output-file", "report", "--format", "json").status == 2
    assert not (wrong.root / "report").exists()


# Diffs


def test_diff_shows_what_fixes_would_change(cli: Cli, wrong: Place) -> None:
    """--diff, alone or with --fix, prints a unified diff and nothing else there, exits with 1, and writes nothing."""
    before = wrong.text
    for flags in (("--diff",), ("--fix", "--diff")):
        result = cli("lint", *flags)
        assert result.status == 1
        assert result.out.startswith(f"--- a/{STATE}\n+++ b/{STATE}\n@@ ")
        assert f"\n-{TITLE[1]} - State\n+{TITLE[0]} - State\n" in result.out
        assert all(line[:1] in "-+ @" for line in result.out.splitlines())
        assert result.err == f"{STATE}: would fix TS206\nSomething would change; nothing was written.\n"
    assert wrong.text == before


def test_diff_is_what_fix_writes(cli: Cli, wrong: Place) -> None:
    """What --diff announces is what --fix does, but for the times of the write."""
    announced = {
        line[1:] for line in cli("lint", "--diff").out.splitlines() if line.startswith("+") and "_at" not in line
    }
    cli.ok("lint", "--fix")
    assert announced - set(wrong.text.splitlines()) == {f"++ b/{STATE}"}


def test_diff_without_a_change(cli: Cli, place: Place) -> None:
    """Where nothing would change the diff is empty; the exit status says whether errors remain."""
    result = cli("lint", "--diff")
    assert (result.status, result.out, result.err) == (0, "", "Nothing would change. No findings in 1 file.\n")
    place.text = place.text.replace('"passes": false', '"passes": maybe')
    result = cli("lint", "--diff")
    assert (result.status, result.out, result.err) == (1, "", "Nothing would change. Found 1 error in 1 of 1 file.\n")


def test_diff_of_unsafe_fixes_is_asked_for(cli: Cli, place: Place) -> None:
    """--diff shows unsafe fixes with --unsafe-fixes alone."""
    place.text = place.text.replace("status: created", "status: created\npriorty: P1")
    assert cli("lint", "--diff").out == ""
    assert "+priority: P1\n" in cli("lint", "--diff", "--unsafe-fixes").out


def test_diff_in_json(cli: Cli, wrong: Place) -> None:
    """In JSON the diff stands beside the findings as they are, and is empty where nothing would change."""
    data = cli.json("lint", "--diff", status=1)
    assert [finding["code"] for finding in data["findings"]] == ["TS206"]
    assert f"+{TITLE[0]} - State\n" in data["diff"]
    wrong.text = wrong.text.replace(*BACK)
    assert cli.json("lint", "--diff") == {"files": 1, "findings": [], "diff": ""}


def test_diff_counts_what_is_no_error(cli: Cli, place: Place) -> None:
    """A warning that can be fixed is no error, but there is something to show, which is status 1."""
    place.text = place.text.replace("file_size_kb: 2", "file_size_kb: 7")
    assert cli("lint").status == 0
    assert cli("lint", "--diff").status == 1
    assert cli("lint", "--diff", "--format", "json").status == 1
    assert cli("lint", "--fix", "--dry-run").status == 0


# Standard input


def test_standard_input_is_mended(cli: Cli, wrong: Place) -> None:
    """With --fix the text comes back fixed, what is left is reported on standard error, and no file is touched."""
    before = wrong.text
    text = wrong.text.replace('"passes": false', '"passes": maybe').replace("\n", "\r\n")
    result = cli(*STDIN, "--fix", stdin=text)
    assert result.status == 1
    assert "TS005" in result.err
    assert "TS206" not in result.err
    assert wrong.text == before


def test_mended_text_comes_back_byte_for_byte(cli: Cli, wrong: Place) -> None:
    """What the fixes do not touch comes back as it is: line ends, a byte order mark, a missing last line end."""
    for text in (wrong.text, wrong.text.replace("\n", "\r\n"), "\ufeff" + wrong.text, wrong.text.rstrip("\n")):
        result = cli(*STDIN, "--fix", "--select", "TS206", stdin=text)
        assert (result.status, result.out) == (0, text.replace(*BACK))


def test_what_is_not_utf8_comes_back_as_it_is(wrong: Place) -> None:
    """A text that cannot be read is given back unchanged, with the finding, so that an editor loses nothing."""
    command = (sys.executable, "-m", "taskstate", *STDIN, "--fix")
    done = subprocess.run(command, cwd=wrong.root, input=b"a\xffb", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"a\xffb")
    assert b"TS001" in done.stderr


def test_standard_input_in_json(cli: Cli, wrong: Place) -> None:
    """In JSON the fixed text stands beside the findings that are left."""
    data = cli.json(*STDIN, "--fix", stdin=wrong.text)
    assert data == {"files": 1, "findings": [], "text": wrong.text.replace(*BACK)}


def test_standard_input_as_a_diff(cli: Cli, wrong: Place) -> None:
    """--diff shows what fixes would make of standard input, under the name that was given."""
    result = cli(*STDIN, "--diff", stdin=wrong.text)
    assert result.status == 1
    assert result.out.startswith(f"--- a/{STATE}\n+++ b/{STATE}\n")
    assert f"+{TITLE[0]} - State\n" in result.out
    assert cli(*STDIN, "--diff", stdin=wrong.text.replace(*BACK)).out == ""
    assert cli(*STDIN, "--diff", stdin=b"\xff").status == 1


def test_a_terminal_is_shown_the_mended_text_safely(wrong: Place, tmp_path: Path) -> None:
    """On a terminal the fixed text is shown with its control characters spelled out."""
    (tmp_path / "input").write_text(wrong.text.replace("Issue tokens.", "Issue \x1b]0;owned\x07."), encoding="utf-8")
    lint = f"{sys.executable} -m taskstate {' '.join(STDIN)} --fix < {tmp_path / 'input'}"
    status, shown = seen(("sh", "-c", lint), cwd=wrong.root, env={"NO_COLOR": "1"})
    assert status == 1
    assert r"Issue \x1b]0;owned\x07." in shown
    assert "\x1b" not in shown


# Refusals


def test_a_rule_that_there_is_not_is_refused_in_the_configuration(cli: Cli, place: Place) -> None:
    """A code or name that no rule has is an error wherever the configuration names it, as on the command line."""
    for setting, key in (
        ("select = ['TS999']", "lint.select"),
        ("ignore = ['TS404', 'TSP999']", "lint.ignore"),
        ("extend-select = ['no-such-rule']", "lint.extend-select"),
        ("severity = { TS777 = 'error' }", "lint.severity"),
        ("per-file-ignores = { 'a/**' = ['TS999'] }", 'lint.per-file-ignores."a/**"'),
    ):
        place.configure(f"[lint]\n{setting}\n")
        error = cli.refused("lint")
        assert "taskstate.toml: no lint rule has the code or name " in error
        assert f"(in `{key}`)" in error
    place.configure("[lint]\nignore = ['session-field-mising']\n")
    assert "did you mean session-field-missing? `taskstate rule` lists the rules" in cli.refused("lint")
    place.configure("[lint]\nignore = ['TS605', 'head-moved', 'TS4', 'ts101', 'secret', 'ALL']\n")
    assert cli("lint").status == 0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--diff", "--output-format", "sarif"), "--diff prints a diff: leave out --diff or --output-format sarif"),
        (("--watch", "--output-format", "json"), "--watch prints for people: leave out --watch, or the format"),
        (("--watch", "-", "--stdin-filename", "task-1-state.md"), "--watch cannot watch standard input"),
    ],
)
def test_flags_that_cannot_be_had_together(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """Flags that contradict each other are refused, with what to leave out."""
    result = cli("lint", *arguments)
    assert (result.status, result.out) == (2, "")
    assert what in result.err


def test_watching_is_not_for_json(cli: Cli) -> None:
    """JSON is one object, so there is no watching with it."""
    assert cli("lint", "--watch", "--format", "json").status == 2


def test_unknown_key_of_a_real_configuration_is_refused(cli: Cli, place: Place) -> None:
    """A key that is not known stops the command with the nearest known one, from either file."""
    place.configure("[lint]\nslect = ['TS4']\n")
    assert "taskstate.toml: `lint.slect` is not a known key; did you mean `select`?" in cli.refused("lint")
    (place.root / "taskstate.toml").unlink()
    (place.root / "pyproject.toml").write_text("[tool.taskstate.size]\nmaxkb = 1\n", encoding="utf-8")
    output = cli.refused("lint")
    assert "pyproject.toml [tool.taskstate]: `size.maxkb` is not a known key; did you mean `max-kb`?" in output

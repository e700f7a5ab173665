"""`fleet` and `query --index` on the command line: what is printed, the exit status, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.fleet import run, sources
from taskstate.model.config import Fleet
from taskstate.storage import installed
from tests.support.bare_repositories import NOW, bare, commit, tasks
from tests.support.place import refusal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    """Return a folder with a repository that has findings, and one that has none."""
    folder = tmp_path / "m"
    folder.mkdir()
    bare(folder / "bad.git", tasks(1, broken=True))
    bare(folder / "good.git", tasks(1))
    (folder / "empty.txt").write_text("# none\n", "utf-8")
    return folder


def test_lint_prints_findings_of_all_repositories(cli: Cli, mirrors: Path) -> None:
    """Each format has the same findings; the status is 1 where one is an error, and nothing is left without --out."""
    kept = ("fleet", "lint", mirrors, "--out", mirrors.with_name("out"))
    said = cli(*kept)
    first = said.out.splitlines()[0]
    assert said.status == 1
    assert first.startswith("bad.git/.taskstate/tasks/task-1-state.md:")
    assert said.err.startswith(f"{len(said.out.splitlines())} findings in 2 repositories; 2 repositories, 2 files")
    data = cli.json(*kept, status=1)
    assert (data["repositories"], data["files"], len(data["findings"])) == (2, 2, len(said.out.splitlines()))
    assert json.loads(cli(*kept, "--output-format", "json").out) == data
    read = [*csv.DictReader(io.StringIO(cli(*kept, "--output-format", "csv").out))]
    assert [row["code"] for row in read] == [each["code"] for each in data["findings"]]
    logs = json.loads(cli(*kept, "--output-format", "sarif").out)["runs"]
    assert [log["automationDetails"] for log in logs] == [{"id": "bad.git/"}, {"id": "good.git/"}]
    results = [(each, log["tool"]["driver"]["rules"]) for log in logs for each in log["results"]]
    assert [rules[each["ruleIndex"]]["id"] for each, rules in results] == [row["code"] for row in read]
    assert [each["ruleId"] for each, _ in results] == [row["code"] for row in read]


@pytest.mark.parametrize("most", [1, 3])
def test_findings_are_fetched_by_ranges_of_repositories(
    cli: Cli, mirrors: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """However many are sorted at once, all are there, in order, and none twice."""
    for number in range(4):
        bare(mirrors / f"more{number}.git", tasks(number + 1, broken=True))
    asked = ("fleet", "lint", mirrors, "--out", mirrors.with_name("out"))
    whole = cli(*asked).out
    monkeypatch.setattr("taskstate.fleet.report._AT_ONCE", most)
    assert cli(*asked).out == whole
    assert len(whole.splitlines()) > 10


def test_lint_takes_the_flags_of_lint(cli: Cli, mirrors: Path, tmp_path: Path) -> None:
    """Rules are selected in place of those of each repository; a file gets the report; the status can be 0."""
    report, out = tmp_path / "report.csv", ("--out", tmp_path / "out")
    said = cli("fleet", "lint", mirrors, "--exit-zero", "--output-format", "csv", "--output-file", report, *out)
    assert (said.status, said.out, report.read_text("utf-8").partition(",")[0]) == (0, "", "repo")
    assert cli("fleet", "lint", mirrors, "--strict", *out).status == 1
    assert cli("fleet", "lint", mirrors, "--select", "TS9").status == 0
    config = tmp_path / "all.toml"
    config.write_text('exclude = ["*"]\n', "utf-8")
    assert cli.json("fleet", "lint", mirrors, "--config", config)["files"] == 0


def test_an_index_is_made_asked_looked_at_and_cleaned(cli: Cli, mirrors: Path, tmp_path: Path) -> None:
    """From the first run to the deletion of older ones, each command says what it did."""
    out = tmp_path / "out"
    assert cli.ok("fleet", "index", mirrors, "--out", out) == "2 repositories, 2 files: 1 bucket read, 0 unchanged\n"
    assert cli.ok("fleet", "index", mirrors, "--out", out) == "2 repositories, 2 files: 0 buckets read, 1 unchanged\n"
    asked = ("query", "--index", out, "--output-format", "csv")
    assert cli.ok(*asked, "--sql", "SELECT repo FROM tasks ORDER BY repo") == "repo\r\nbad.git\r\ngood.git\r\n"
    assert cli.ok(*asked, "rules").startswith("code,name,severity")
    commit(mirrors / "good.git", tasks(2))
    assert cli.json("fleet", "index", mirrors, "--out", out, "--no-lint")["rows"].get("lint") is None
    assert "all of it is as it was written" in cli.ok("fleet", "status", out, "--verify")
    assert cli.json("fleet", "status", out)["number"] == 3
    assert cli.ok("fleet", "clean", out, "--keep", "1") == "deleted 2 runs and 1 part\n"
    assert cli.ok(*asked, "--sql", "SELECT count(*) AS n FROM tasks") == "n\r\n3\r\n"


def test_the_configuration_names_the_index(cli: Cli, mirrors: Path, tmp_path: Path) -> None:
    """What is not given as a flag comes from `[fleet]`."""
    with (cli.place.root / "taskstate.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[fleet]\nout = "{tmp_path / "there"}"\njobs = 1\n')
    cli.ok("fleet", "index", mirrors)
    assert cli.ok("fleet", "status").startswith("run 1 at ")


def test_what_could_not_be_read_is_said(cli: Cli, mirrors: Path, tmp_path: Path) -> None:
    """It is a line on standard error and status 1; of many the first ones are named."""
    (mirrors / "bad.git" / "HEAD").write_text("\x1b[31mx", "utf-8")
    said = cli("fleet", "index", mirrors, "--out", tmp_path / "out")
    assert (said.status, said.err) == (1, "bad.git: HEAD holds neither a commit nor a reference\n")
    listed = tmp_path / "repos.txt"
    listed.write_text("".join(f"n{number:02}\t{tmp_path}/none{number}\n" for number in range(25)), "utf-8")
    said = cli("fleet", "index", f"@{listed}", "--out", tmp_path / "other", "--keep-errors")
    assert said.err.splitlines()[0] == "n00: it does not exist"
    assert said.err.splitlines()[-1] == "and 5 more could not be read"
    assert (said.status, len(said.err.splitlines())) == (1, 21)


def test_a_log_says_how_far_a_long_run_is(
    cli: Cli, mirrors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no terminal a line stands on standard error from time to time; --quiet leaves it out."""
    monkeypatch.setattr("taskstate.operations.fleet._OFTEN", -1)
    said = cli("fleet", "index", mirrors, "--out", tmp_path / "out")
    assert said.err == "0 of 2 repositories are read\n"
    assert cli("fleet", "index", mirrors, "--out", tmp_path / "out2", "--quiet").err == ""


REFUSED = [
    (("index", "MIRRORS"), "no folder of an index is named"),
    (("index", "MIRRORS", "--out", "ROOT"), "is not an index, and not empty"),
    (("index", "MIRRORS", "--out", "ROOT/taskstate.toml"), "taskstate.toml"),
    (("index", "MIRRORS", "--out", "/proc/x"), "/proc/x"),
    (("index", "MIRRORS", "--out", "OUT\udcff"), "is not UTF-8: give the folder another name"),
    (("index", "@MIRRORS/empty.txt", "--out", "OUT"), "the list of sources is empty"),
    (("index", "MIRRORS", "--out", "OUT", "--jobs", "-1"), "--jobs -1 is not a number"),
    (("index", "MIRRORS", "--out", "OUT", "--scheduler", "10.0.0.1:8786"), "or say --insecure-scheduler"),
    (("index", "", "--out", "OUT"), "a source is empty"),
    (("index", "https://ann:pa55@host.invalid/x.git", "--out", "OUT"), "https://host.invalid/x.git is not a folder"),
    (("index", "file:///etc", "--out", "OUT"), "file:///etc is not a folder: nothing is fetched"),
    (("index", "s3://ann:pa55@bucket/x", "--out", "OUT"), "s3://bucket/x is not the plain address of a place"),
    (("index", "s3://bucket/x?pa55=1", "--out", "OUT"), "s3://bucket/x is not the plain address of a place"),
    (("index", "@none.txt", "--out", "OUT"), "none.txt"),
    (("index", "MIRRORS/none", "--out", "OUT"), "1 of 1 repository cannot be read, such as none: it does not exist"),
    (("lint", "MIRRORS", "--select", "TSX"), "no lint rule has the code or name TSX"),
    (("lint", "MIRRORS", "--output-file", "ROOT/taskstate.toml"), "taskstate.toml is one of taskstate's own files"),
    (("status", "OUT"), "there is no index in"),
    (("status",), "no folder of an index is named"),
    (("clean", "OUT"), "there is no index in"),
]


@pytest.mark.parametrize(("words", "says"), REFUSED)
def test_what_cannot_be_is_refused(cli: Cli, mirrors: Path, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    """One line says what is wrong, the status is 2, and nothing has changed."""
    places = {"MIRRORS": mirrors, "ROOT": cli.place.root, "OUT": tmp_path / "nothing"}
    given = words
    for name, path in places.items():
        given = tuple(word.replace(name, str(path)) for word in given)
    said = cli.refused("fleet", *given)
    assert says in said
    assert "pa55" not in said


def test_without_the_extra_one_line_says_which(cli: Cli, mirrors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is named with the command that installs it."""
    monkeypatch.setattr(installed, "lacks", lambda _: True)
    assert "`taskstate fleet` needs the package duckdb: run `" in cli.refused("fleet", "lint", mirrors)


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


def test_a_full_disk_is_one_line_and_leaves_nothing(mirrors: Path, tmp_path: Path) -> None:
    """The command says how far it is and to run it again; nothing unfinished stays."""
    out = tmp_path / "out"
    words = [sys.executable, "-m", "taskstate", "fleet", "index", str(mirrors), "--out", str(out)]
    said = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=_bounded, cwd=tmp_path)
    assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1), said
    assert "0 of 1 bucket are done: run it again" in said.stderr
    assert [*(out / "parts").iterdir()] == []


# Which repositories there are


def _names(given: list[str], folder: Path) -> list[str]:
    return [each.name for each in sources.find(given, folder).repositories]


def test_repositories_are_found_below_folders(tmp_path: Path) -> None:
    """To depth 4, not in a repository, through no link; each is called after its path."""
    for path in ("a.git", "x/b.git", "1/2/3/c.git", "1/2/3/4/d.git", "1/2/3/4/5/e.git", "a.git/inner.git"):
        (tmp_path / "m" / path / "refs").mkdir(parents=True)
        (tmp_path / "m" / path / "objects").mkdir()
        (tmp_path / "m" / path / "HEAD").touch()
    (tmp_path / "m" / "work" / ".git").mkdir(parents=True)
    (tmp_path / "m" / "link").symlink_to(tmp_path / "m" / "x")
    assert _names(["m"], tmp_path) == ["1/2/3/c.git", "a.git", "work", "x/b.git"]
    assert _names(["m/a.git"], tmp_path) == ["a.git"]
    assert _names(["m/a.git", "m/x"], tmp_path) == ["a.git", "x/b.git"]
    listed = tmp_path / "repos.txt"
    listed.write_text("# mirrors\n\nm/x\nshop\tm/a.git\tmain\n", "utf-8")
    found = sources.find([f"@{listed}"], tmp_path).repositories
    assert [(each.name, each.ref) for each in found] == [("shop", "main"), ("x/b.git", "")]
    listed.write_text("shop\tm/a.git\nshop\tm/x/b.git\n", "utf-8")
    told = refusal(lambda: _names([f"@{listed}"], tmp_path))
    assert told.message == f"two repositories are called 'shop': {tmp_path}/m/a.git and {tmp_path}/m/x/b.git"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b"\xef\xbb\xbfm/a\r\nm/b\r\n", ["a", "b"]),
        (b"\xef\xbb\xbf# m/a\n\nm/b", ["b"]),
        (b"n\tm/a\t main \r\n", ["n"]),
        ("m/c\u2028d\nm/c\x0cd\n".encode(), ["c\u2028d", "c\ufffdd"]),
        (b"https://ann:pa55@host.invalid/x\tm/a\n", ["https://host.invalid/x"]),
        (b"../x\tm/a\n=1+1\tm/b\n", ["../x", "=1+1"]),
    ],
)
def test_a_list_is_read_line_by_line(tmp_path: Path, text: bytes, names: list[str]) -> None:
    """Whatever program wrote it: with a byte order mark, other line ends, and no end of a line in a name."""
    for name in ("a", "b", "c\u2028d", "c\x0cd"):
        (tmp_path / "m" / name / ".git").mkdir(parents=True)
    (tmp_path / "repos.txt").write_bytes(text)
    found = sources.find(["@repos.txt"], tmp_path).repositories
    assert [each.name for each in found] == sorted(names)
    assert not any(each.error for each in found)


def test_a_list_with_a_nul_is_refused(tmp_path: Path) -> None:
    """No folder has such a name."""
    (tmp_path / "repos.txt").write_bytes(b"m\0x\n")
    assert refusal(lambda: _names(["@repos.txt"], tmp_path)).message == "a source is empty, or holds a NUL"


def test_a_name_is_one_line_of_text(tmp_path: Path) -> None:
    """What a terminal would act on, and what is no Unicode, is no part of a name."""
    (tmp_path / "m" / "a\n\x1b[31m.git" / ".git").mkdir(parents=True)
    assert _names(["m"], tmp_path) == ["a\ufffd\ufffd[31m.git"]


def test_a_branch_is_another_row(tmp_path: Path, mirrors: Path) -> None:
    """One repository stands in an index as often as a list of sources names it, each time as another commit."""
    commit(mirrors / "good.git", tasks(3), branch="next")
    listed = tmp_path / "repos.txt"
    listed.write_text("now\tm/good.git\nnext\tm/good.git\tnext\n", "utf-8")
    request = run.Request([f"@{listed}"], tmp_path, NOW, jobs=1)
    made = run.index(tmp_path / "out", request, Fleet(), lambda *_: None)
    assert (made.manifest.repositories, made.manifest.rows["tasks"]) == (2, 4)

"""`report --output`: one file that shows all tasks without a network, and names nothing of the machine."""

from __future__ import annotations

import base64
import hashlib
import re
import stat
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from taskstate.cli.commands import report
from taskstate.storage import installed
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.support.place import Place

NOW = "1769869200"  # 2026-01-31T14:20:00Z
LONG_AGO, LATELY = "2025-12-01T12:00:00Z", "2026-01-20T12:00:00Z"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a git repository with four tasks: 101 has a session, 102 builds on it, two are complete."""
    place = GitPlace(tmp_path.resolve() / "repository")
    place.add(f"Asked ann@example.org about {place.root}/src/b.py and /home/ann/notes, not x@1.2.3")
    for number, more in (("103", {}), ("102", {"depends_on": ("101", "103")}), ("104", {})):
        place.new(number, title=f"Title of {number}", **more)
    for number, at in (("103", LONG_AGO), ("104", LATELY)):
        path = place.workspace.locate(number)
        done = re.sub(r"(?m)^updated_at: .*$", f"updated_at: {at}", path.read_text(encoding="utf-8"))
        path.write_text(done.replace("status: created", "status: complete"), encoding="utf-8")
    place.commit("tasks")
    return place


@pytest.fixture(autouse=True)
def one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be the same time in each report."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", NOW)


def made(cli: Cli, *arguments: str | Path, status: int = 0) -> str:
    """Return the report."""
    said = cli("report", *arguments, "--output", "-")
    assert said.status == status, said
    return said.out


def whole(text: str) -> list[str]:
    """Return the ids of the tasks that are told whole."""
    return [unquote(each) for each in re.findall(r'<article aria-labelledby="task-([^"]+)"', text)]


def history(text: str) -> list[str]:
    """Return what the entries of the history are."""
    return re.findall(r'<div class="it"><b class="[a-z]*">([^<]+)</b>', text)


def test_it_is_one_file_that_asks_nobody(cli: Cli) -> None:
    """Its style and script stand in it, allowed by what they are; nothing is fetched, sent or framed."""
    text = made(cli)
    assert "JWT Service" in text
    assert "2026-01-31 14:20Z" in text
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        sha = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{sha}'" in text
    assert "default-src 'none'" in text
    assert "img-src data:; base-uri 'none'; form-action 'none'" in text
    assert not re.search(r"(?i)<(?:link(?! rel=\"icon\" href=\"data:,\")|img|iframe|object|base)\b|\ssrc=|url\(", text)
    assert "<form method" not in text
    assert "<button" not in text


def test_a_report_in_the_working_tree_counts_there(cli: Cli, place: Place) -> None:
    """A line says so, unless git ignores it."""
    said = "r.html is in the working tree, so it counts as a change there"
    assert said in cli("report", "--output", place.root / "r.html").err
    (place.root / ".gitignore").write_text("r.html\n", encoding="utf-8")
    assert said not in cli("report", "--output", place.root / "r.html").err


def test_the_same_repository_and_time_give_the_same_bytes(cli: Cli, tmp_path: Path) -> None:
    """What was computed before changes nothing; another time changes what says it."""
    output = tmp_path / "elsewhere" / "report.html"
    output.parent.mkdir()
    said = cli.ok("report", "--output", output)
    first = output.read_bytes()
    assert re.fullmatch(r"\S+/report\.html: 3 tasks, \d+ KB", " ".join(said.split()))
    told = cli.json("report", "--output", output)
    assert told == {"output": str(output), "tasks": 3, "bytes": len(first)}
    assert output.read_bytes() == first
    assert made(cli).encode() == first


def test_without_a_time_given_two_reports_differ_in_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The present time stands once in it."""
    first = made(cli).splitlines()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(NOW) + 60))
    second = made(cli).splitlines()
    assert len([each for each in zip(first, second, strict=True) if each[0] != each[1]]) == 1


def test_it_names_nothing_of_the_machine(cli: Cli) -> None:
    """Paths below the root are told from there; homes and addresses are left out."""
    text = made(cli)
    assert str(cli.place.root) not in text
    assert "Asked (address) about src/b.py and ~/notes, not x@1.2.3" in text
    assert "somebody@example.invalid" not in text


def test_links_lead_to_places_in_it(cli: Cli) -> None:
    """No id is given twice, and what is named but not told whole has its title at the end."""
    text = made(cli)
    assert whole(text) == ["101", "102", "104"]
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert sorted(ids) == sorted(set(ids))
    assert {unquote(each) for each in re.findall(r'href="#([^"]+)"', text)} <= set(ids)
    assert '<li id="task-103">' in text


def test_tasks_that_are_named_are_told_alone(cli: Cli) -> None:
    """They are told whole however long they are closed; one that is not there is an error."""
    text = made(cli, "103", "task-103")
    assert whole(text) == ["103"]
    assert 'id="overview"' not in text
    assert cli.refused("report", "999", "--output", "x.html").startswith("there is no task 999")


def test_since_says_what_is_old(cli: Cli) -> None:
    """Tasks closed before are not told, and of the others what happened later; --since means what it does for `log`."""
    assert whole(made(cli, "--since", "2026-01-25")) == ["101", "102"]
    assert whole(made(cli, "--since", "2025-11-30")) == ["101", "102", "103", "104"]
    assert history(made(cli, "101")) == ["Commit", "Commit", "Session", "Created"]
    later = made(cli, "101", "--since", "2026-01-31T13:00")
    assert history(later) == ["Commit", "Commit"]
    assert "What happened since 2026-01-31T13:00:00Z" in later
    assert "--since 'x' is neither a date" in cli.refused("report", "--since", "x", "--output", "x.html")


def test_what_the_linter_finds_is_told_of_its_task(cli: Cli) -> None:
    """Each finding stands in the task whose file has it, as where that is linted alone."""
    path = cli.place.workspace.locate("102")
    path.write_text(path.read_text(encoding="utf-8").replace("status: created", "status: creates"), encoding="utf-8")
    (found,) = cli.json("lint", path, status=1)["findings"]
    before, after = made(cli, status=1).split('<article aria-labelledby="task-102"')
    line = f"line {found['line']}, {found['code']}"
    own, others = after.split("<article", 1)
    assert [line in each for each in (before, own, others)] == [False, True, False]


def test_a_file_that_cannot_be_read_is_told_first(cli: Cli) -> None:
    """The report is made all the same, says what is missing before all else, and ends with 1."""
    path = cli.place.workspace.locate("102")
    path.write_text("---\ntitle: [\n---\n", encoding="utf-8")
    said = cli("report", "--output", "report.html")
    assert said.status == 1
    assert "line 2" in said.err
    text = (cli.place.root / "report.html").read_text(encoding="utf-8")
    unread = text.index("1 file could not be read")
    assert unread < text.index('id="overview"')
    assert "JWT Service" in text


def test_the_output_is_a_file_like_any_that_a_person_names(cli: Cli, tmp_path: Path) -> None:
    """One that is there is replaced and keeps its mode; no state file, no link and nothing in git's folder is."""
    output = tmp_path / "report.html"
    output.write_text("old", encoding="utf-8")
    output.chmod(0o640)
    cli.ok("report", "--output", output)
    assert output.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert stat.S_IMODE(output.stat().st_mode) == 0o640
    state = cli.place.workspace.locate("101")
    assert "is one of taskstate's own files" in cli.refused("report", "--output", state)
    assert "git's own folder" in cli.refused("report", "--output", cli.place.root / ".git" / "x.html")
    (tmp_path / "link").symlink_to(output)
    assert "link" in cli.refused("report", "--output", tmp_path / "link")
    assert "no-folder" in cli.refused("report", "--output", tmp_path / "no-folder" / "x.html")


def test_flags_that_do_not_go_together_are_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull request is one form, the file the other; --since is for the file."""
    assert "--pull-request does not go with --output" in cli.refused("report", "--pull-request", "--output", "x")
    assert "--base does not go with --output" in cli.refused("report", "--base", "main", "--output", "x")
    assert "--since needs --output" in cli.refused("report", "--since", "today")
    assert "--output is empty" in cli.refused("report", "--output", "")
    said = cli("report", "--output", "-", "--format", "json")
    assert said.status == 2
    assert "--output - prints HTML" in said.err
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert "SOURCE_DATE_EPOCH is 'yesterday', which is not a time" in cli.refused("report", "--output", "x")


def test_without_the_extra_it_says_how_to_add_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it needs is that of the page; the report of a branch needs nothing more."""
    monkeypatch.setattr(installed, "lacks", lambda extra: extra == "page")
    assert "taskstate[page]" in cli.refused("report", "--output", "x.html")
    cli.ok("report", "--pull-request", "--base", "HEAD")


def test_a_large_report_says_what_to_leave_out(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written all the same."""
    monkeypatch.setattr(report, "_LARGE", 1000)
    said = cli("report", "--output", "x.html")
    assert said.status == 0
    assert "name the tasks that matter, or leave out what is old by --since" in said.err
    assert (cli.place.root / "x.html").exists()


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("file:///home/maria/x, /home/maria, /var/home/maria/x", "~/x, ~, ~/x"),
        (r"C:\Users\maria\x and /root/y, not /usr/home/z", r"~\x and ~/y, not /usr/home/z"),
        ("/mnt/c/Users/maria/x; see https://example.org/home/page", "~/x; see https://example.org/home/page"),
    ],
)
def test_a_home_is_left_out_however_it_is_written(cli: Cli, written: str, left: str) -> None:
    """Homes of all systems are, as paths and as addresses of files; parts of other addresses are none."""
    cli.place.add(f"Saw {written}.")
    assert f"Saw {left}." in made(cli, "101")


def test_a_root_with_signs_in_it_is_left_out(cli: Cli, tmp_path: Path) -> None:
    """Templates and Markdown write a quote in several ways."""
    cli.place.root = cli.place.root.rename(tmp_path.resolve() / "o'brien & co")
    cli.place.add(f"Saw {cli.place.root}/src/b.py")
    text = made(cli, "101")
    assert text.count("Saw src/b.py") > 1
    assert str(tmp_path / "o") not in text


def test_a_worktree_that_cannot_be_read_is_told_by_its_folder(cli: Cli, tmp_path: Path) -> None:
    """Where it lies is nobody's business."""
    other = tmp_path.resolve() / "deep" / "other"
    subprocess.run(["git", "worktree", "add", "-q", other], cwd=cli.place.root, check=True)
    (other / "taskstate.toml").write_text("[", encoding="utf-8")
    text = made(cli)
    assert "the worktree other:" in text
    assert str(other) not in text


@pytest.mark.parametrize("name", ["a link", "a folder", "a blank"])
def test_an_odd_entry_among_the_tasks_is_told_first(cli: Cli, name: str) -> None:
    """The others are told all the same, and the exit status is 1."""
    state, folder = cli.place.path, cli.place.path.parent
    if name == "a link":
        (folder / "task-200-state.md").symlink_to(state)
    elif name == "a folder":
        (folder / "task-200-state.md").mkdir()
    else:
        (folder / "task-2 00-state.md").write_bytes(state.read_bytes())
    text = made(cli, status=1)
    assert text.index("1 file could not be read") < text.index('id="overview"')
    assert whole(text) == ["101", "102", "104"]


def test_ids_with_signs_have_places_of_their_own(cli: Cli) -> None:
    """What is a part of one task's page is not another task."""
    for each in ("1", "1-file", "auth-2"):
        cli.place.new(each, title=f"Title of {each}")
    text = made(cli)
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert sorted(ids) == sorted(set(ids))
    assert {unquote(each) for each in re.findall(r'href="#([^"]+)"', text)} <= set(ids)

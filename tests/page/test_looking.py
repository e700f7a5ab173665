"""What the page finds: the search, the findings of the linter, the pages of the rules; and the frame around all."""

from __future__ import annotations

import re
import shutil
import subprocess
from threading import Event
from typing import TYPE_CHECKING

import pytest

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.page.findings import Linter
from taskstate.version import VERSION
from tests.page.looking import RULES, look, main_of, said, site_of, words
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.operations.call import Call
    from tests.page.scene import Scene


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with a session that lacks its fields."""
    made = Place(tmp_path / "repository")
    made.fill(log="### Session 1 - 2026-01-31 12:00\n\nNothing of it.\n\n")
    return made


# The search


def test_a_word_of_an_archive_is_found(scene: Scene) -> None:
    """A line of a state file leads to that line, one of an archive to what happened, and its file is named."""
    shown = main_of(look(scene.root, "/search?q=WINTERGREEN"))
    found = said(scene.root, "search", "wintergreen")["found"]
    assert f"{len(found)} lines in 1 task." in words(shown)
    state = next(each for each in found if "archive" not in each["path"])
    assert f'href="/tasks/23#L{state["number"]}">line {state["number"]}</a>' in shown
    archived = next(each for each in found if "archive" in each["path"])
    assert f'href="/tasks/23#timeline">archive {archived["number"]}</a>' in shown
    assert "archives/task-23-archive.md" in shown
    assert "<mark>wintergreen</mark>-0" in shown


def test_kinds_are_a_filter(scene: Scene) -> None:
    """Each kind has its number, and leaves only its own lines; one that is none takes all."""
    shown = look(scene.root, "/search?q=wintergreen&kind=archive")
    assert 'value="archive" selected' in shown
    assert "#L" not in main_of(shown)
    everything = words(look(scene.root, "/search?q=wintergreen"))
    assert words(look(scene.root, "/search?q=wintergreen&kind=nonsense")) == everything


def test_a_task_with_many_lines_shows_few(place: Place) -> None:
    """The others are behind a link, which looks in the files of that task alone."""
    place.text = place.text.replace("Nothing of it.", "\n\n".join(f"Nothing of it, {number}" for number in range(30)))
    shown = look(place.root, "/search?q=nothing+of+it")
    (address,) = re.findall(r'<a href="([^"]*)">25 more in this task</a>', shown)
    assert look(place.root, address.replace("&amp;", "&")).count("<mark>Nothing of it</mark>") == 30


@pytest.mark.parametrize("query", ["", "q=", "q=%20%20", "kind=state"])
def test_without_a_text_nothing_is_looked_for(scene: Scene, query: str) -> None:
    """The page says what it looks for."""
    assert "Looks for a text" in words(look(scene.root, f"/search?{query}"))


@pytest.mark.parametrize("text", ["there%20is%20no%20such%20line", "%00", "%28%5B", "x" * 3_000, "%F0%9F%92%A9", "%FF"])
def test_what_no_file_says(scene: Scene, text: str) -> None:
    """Whatever is asked for, the answer is a page."""
    assert "No file says that." in words(look(scene.root, f"/search?q={text}"))


def test_what_a_worktree_alone_has_is_found_there(scene: Scene, tmp_path: Path) -> None:
    """A line of another worktree has its branch, and its link shows the task as that one has it."""
    root, other = tmp_path / "shop", tmp_path / "other"
    shutil.copytree(scene.root, root)
    subprocess.run(["git", "worktree", "add", "-q", "-b", "other", other], cwd=root, check=True, capture_output=True)
    path = other / ".taskstate/tasks/task-26-state.md"
    path.write_text(path.read_text("utf-8") + "\nA hornbeam stands here.\n", "utf-8")
    shown = main_of(look(root, "/search?q=hornbeam"))
    assert re.search(r'href="/tasks/26\?branch=other#L\d+"', shown)
    assert "[other]" in words(shown)
    found = main_of(look(root, "/lint"))
    assert "[other]" not in words(found) or "branch=other" in found


@pytest.mark.parametrize("text", ["R7kQ2mZx9LwVbT4nYc8HsJd", "token", "ghp_"])
def test_a_credential_is_masked_whatever_part_of_it_is_looked_for(place: Place, text: str) -> None:
    """A line is masked before it is told in parts."""
    token = "ghp_" + "R7kQ2mZx9LwVbT4nYc8HsJd3FgPa6UeW1oXi"
    place.text = place.text.replace("Nothing of it.", f"The token {token} is here.")
    shown = look(place.root, f"/search?q={text}")
    assert f"token {'*' * len(token)} is here." in words(main_of(shown).replace("<mark>", "").replace("</mark>", ""))


# The linter


def test_findings_stand_by_file_and_line(place: Place) -> None:
    """Each says severity, rule, message and cure, and leads to the rule and to the line in the task's page."""
    shown = main_of(look(place.root, "/lint"))
    assert re.search(r'href="/tasks/101#L\d+">line \d+:\d+</a>', shown)
    assert '<b class="bad">error</b> <a href="/rules/TS404">TS404</a>' in shown
    lines = [int(each) for each in re.findall(r">line (\d+):", shown)]
    assert lines == sorted(lines)
    finding = next(each for each in said(place.root, "lint")["findings"] if each["code"] == "TS404")
    assert finding["message"] in words(shown)
    assert " ".join(finding["help"].split()) in words(shown)


def test_findings_are_filtered(place: Place) -> None:
    """A rule or a file leaves only its own findings; one that has none is still chosen."""
    site = site_of(place.root)
    shown = main_of(look(site, "/lint?code=ts404"))
    assert {*re.findall(r'href="/rules/(TS\d+)"', shown)} == {"TS404"}
    assert "<option selected>TS404</option>" in shown
    assert "Nothing of that kind is found." in words(look(site, "/lint?path=nowhere.md"))
    assert "<option selected>nowhere.md</option>" in look(site, "/lint?path=nowhere.md")


def test_a_change_is_seen_at_once(place: Place) -> None:
    """The next answer tells what was mended meanwhile, and the navigation has the number with its time."""
    site = site_of(place.root)
    number = int(
        re.findall(r'Lint <b title="found at 20[^"]*">(\d+)<span class="vh"> found at 20', look(site, "/lint"))[0]
    )
    assert number > 0
    assert re.search(rf'Lint <b title="found[^"]*">{number}<', look(site, "/"))
    place.text = place.text.replace("### Session 1 - 2026-01-31 12:00\n\nNothing of it.\n\n", "")
    assert "TS404" not in look(site, "/lint")


def test_nothing_is_found(tmp_path: Path) -> None:
    """A repository without faults says so; without a look the navigation has no number."""
    root = Place(tmp_path / "repository").root
    assert "Lint</a>" in look(root)
    assert "0 errors" in words(look(root, "/lint"))


def test_a_long_look_is_not_waited_for(place: Place) -> None:
    """An answer comes before the look has ended, and says so; the next ones tell what it found."""
    site, may_go = site_of(place.root), Event()

    def slow(root: str) -> Call:
        may_go.wait(20)
        return (site._replace(root=place.root) if root == "" else site).call()

    site.__dict__["linter"] = Linter(slow)
    assert "for the first time" in words(look(site, "/lint"))
    may_go.set()
    assert any("TS404" in look(site, "/lint") for _ in range(20))


def test_what_the_linter_cannot_read_is_told(place: Place) -> None:
    """A file that is a link is named, one without words has a finding, and the others are looked at."""
    place.path.with_name("task-102-state.md").write_bytes(b"\xff")
    place.path.with_name("task-103-state.md").symlink_to(place.path)
    shown = words(main_of(look(place.root, "/lint")))
    assert "save the file as UTF-8" in shown
    assert "task-103-state.md" in shown.partition("TS")[0]
    assert "TS404" in shown


@pytest.mark.parametrize("code", ["TS404", "ts404", "session-field-missing"])
def test_a_rule_has_its_page(scene: Scene, code: str) -> None:
    """It is that of `taskstate rule`, found by code or name, as a document."""
    shown = main_of(look(scene.root, RULES, code=code))
    assert "<h1>TS404 session-field-missing</h1>" in shown
    assert re.search(r"<h2[^>]*>Why</h2>", shown)
    assert "A session lacks one of its three fields" in words(shown)


def test_an_unknown_rule_is_refused(scene: Scene) -> None:
    """It is named, with the way to those that there are."""
    with pytest.raises(TaskstateError, match="there is no lint rule TS9999"):
        look(scene.root, RULES, code="TS9999")


def test_all_rules_are_listed(scene: Scene) -> None:
    """Each leads to its page."""
    codes = {each["code"] for each in said(scene.root, "rule")}
    assert {*re.findall(r'href="/rules/(TS\w+)"', look(scene.root, "/rules"))} == codes


# The frame


@pytest.mark.parametrize(
    ("address", "label"), [("/", "Overview"), ("/board", "Board"), ("/lint", "Lint"), ("/search", "Search")]
)
def test_the_frame(scene: Scene, address: str, label: str) -> None:
    """It has a skip link, landmarks, where one is, and a foot that says what is read, when, and who writes."""
    shown = look(scene.root, address)
    (current,) = re.findall(r'<a [^>]*aria-current="page">(\w+)', shown)
    assert current == label
    assert '<a class="skip" href="#main">' in shown
    assert shown.count("<h1>") == 1
    foot = words(shown.partition("<footer")[2])
    assert f"taskstate {VERSION}" in foot
    assert "you write as" in foot
    assert re.search(r"read at \d{4}-\d\d-\d\d \d\d:\d\dZ", foot)
    assert not re.search(r"<style|\sstyle=|<script>|\son\w+=", shown)


def test_the_foot_shortens_the_home(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the repository is told from the home of who serves it; who only reads writes as nobody."""
    monkeypatch.setenv("HOME", str(scene.root.parent))
    foot = words(look(site_of(scene.root, is_read_only=True)).partition("<footer")[2])
    assert f"~/{scene.root.name}" in foot
    assert "read only" in foot


def test_the_style_is_small_and_complete() -> None:
    """It has at most 16 KB, and looks for itself at dark schemes, print, narrow screens and motion."""
    style = resources.text("templates/page/page.css")
    assert len(style.encode()) <= 16_384
    for each in ("prefers-color-scheme:dark", "@media print", "max-width:44rem", "prefers-reduced-motion"):
        assert each in style
    assert not re.search(r"url\(|@import|@font-face", style)

"""The changes of a task as a page: each line as git has it, what is no line in words, and no page too large."""

from __future__ import annotations

import contextlib
import io
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.__main__ import main
from taskstate.page import diff
from tests.page.pages import Element, answer, page, read
from tests.page.scene import ALERT, Scene

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK = "\n".join(f'  "package-{number}": "https://registry.example/{number}.tgz",' for number in range(30_000))
MOVED = "".join(f"def moved_{number}():\n    return {number}\n" for number in range(20))
LONG = "".join(f"line_{number} = {number}\n" for number in range(500))
ODD = 'src/"quoted" ü\t.py'


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Return a repository in which a role has left changes of every kind."""
    scene = Scene.new(tmp_path_factory.mktemp("work") / "shop")
    scene.write("src/a.py", "".join(f"a_{number} = {number}\n" for number in range(60)))
    scene.write("src/old.py", MOVED)
    scene.write("src/gone.py", "gone = 1\n")
    scene.write("run.sh", "#!/bin/sh\n")
    (scene.root / "logo.png").write_bytes(bytes(range(256)) * 4)
    scene("init")
    scene("new", "1", "--title", "Work", "--description", "Work.", "--criterion", "It works", "--feature", "a-1=it")
    scene("new", "2", "--title", "Nobody worked on this", "--description", "Work.")
    scene.commit("Set up")
    scene("start", "1", "--role", "implementer", "--agent", "ada", by="ada")
    text = (scene.root / "src/a.py").read_text(encoding="utf-8")
    scene.write("src/a.py", text.replace("a_3 = 3", f"a_3 = '{ALERT} & </span>'").replace("a_50 = 50\n", ""))
    (scene.root / "src/old.py").rename(scene.root / "src/new.py")
    (scene.root / "src/gone.py").unlink()
    (scene.root / "run.sh").chmod(0o755)
    (scene.root / "logo.png").write_bytes(bytes(reversed(range(256))) * 4)
    (scene.root / "link").symlink_to("src/a.py")
    scene.write("src/long.py", LONG)
    scene.write(ODD, "odd = 1")  # no line end
    scene.write("src/dos.py", "a = 1\r\nb = 2\r\n")
    scene.write("package-lock.json", LOCK)
    scene.finish("1", "Did it all", by="ada")
    return scene


@pytest.fixture(scope="module")
def shown(work: Scene) -> Element:
    """Return the page of what the role has left."""
    return page(work.root, "/tasks/1/changes")


def printed(root: Path, *words: str) -> Any:  # noqa: ANN401 - the data of a command
    """Return what a command prints as JSON."""
    said = io.StringIO()
    with contextlib.chdir(root), contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        main((*words, "--format", "json"))
    return json.loads(said.getvalue())["data"]


def lines(shown: Element) -> list[str]:
    """Return the lines of all diffs of a page."""
    return [each.text for each in shown.all("span", class_="l")]


def of_file(shown: Element, path: str) -> Element:
    """Return the part of a page that is about one file."""
    return next(each for each in shown.all("details") if each.one("summary").words.startswith(path))


def split(text: str, *without: str) -> Iterator[str]:
    """Yield the lines of a diff, without the files that have one of these words in their first line."""
    for part in text.split("diff --git ")[1:]:
        if not any(each in part.split("\n")[0] for each in without):
            yield from f"diff --git {part}".replace("\r", "\\r").removesuffix("\n").split("\n")


def test_each_line_is_that_of_the_command(work: Scene, shown: Element) -> None:
    """What is copied from the page is what `snapshot diff` prints, but for what is named and not drawn."""
    text = printed(work.root, "snapshot", "diff", "1", "--role", "implementer")["diff"]
    drawn = [each for each in lines(shown) if "logo.png" not in each and not each.startswith("index ")]
    wanted = split(text, "package-lock.json", "logo.png")
    assert drawn == [each for each in wanted if not each.startswith("index ")]
    assert "+a_3 = '<img src=x onerror=alert(1)> & </span>'" in drawn
    assert r"\ No newline at end of file" in drawn


def test_numbers_stand_beside_the_lines(shown: Element) -> None:
    """A line that stays has two numbers, one that goes the old, one that comes the new."""
    shown = of_file(shown, "src/a.py")
    numbers = {each.text: each.attributes.get("data-n", "").split() for each in shown.all("span", class_="l")}
    assert numbers[" a_0 = 0"] == ["1", "1"]
    assert numbers["-a_3 = 3"] == ["4"]
    assert numbers["+a_3 = '<img src=x onerror=alert(1)> & </span>'"] == ["4"]
    assert numbers["-a_50 = 50"] == ["51"]
    assert numbers[" a_51 = 51"] == ["52", "51"]
    assert {each.attributes["class"] for each in shown.all("span", data_n="")} <= {"l h"}
    assert [each.attributes["id"][-2:] for each in shown.all("span") if "id" in each.attributes] == ["-1", "-2"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("logo.png", "binary"),
        ("run.sh", "was a plain file, is executable"),
        ("src/new.py", "new, was src/old.py"),
        ("src/old.py", "deleted, now src/new.py"),
        ("src/gone.py", "deleted"),
        ("link", "new, a symbolic link"),
        ("src/long.py", "new"),
    ],
)
def test_what_is_no_line_is_said_in_words(shown: Element, path: str, words: str) -> None:
    """Binary files, modes and moves are not left to who reads the header of a diff."""
    summary = of_file(shown, path).one("summary").words
    assert summary.partition(" +")[0] == f"{path}, {words}"


def test_a_path_with_signs_in_it_is_told_as_it_is(shown: Element) -> None:
    """A name that git quotes is shown so that somebody knows it."""
    assert of_file(shown, '"src/\\"quoted\\"').words


def test_files_come_first_with_their_counts(shown: Element) -> None:
    """Who looks sees how much it is, and goes to the file."""
    links = {each.attributes["href"]: each.words for each in shown.one("p", class_="files").all("a")}
    assert len(links) == 11
    places = {each.attributes.get("id") for each in shown.all("details")}
    assert {each.removeprefix("#") for each in links} <= places
    assert "src/a.py +1 \u22122" in links.values()
    assert "11 files, +" in shown.one("p", class_="lede").words


def test_what_is_long_is_closed(shown: Element) -> None:
    """Over 400 lines nobody scrolls past; a lock file nobody reads at all."""
    is_open = {each.one("summary").words.partition(" +")[0]: "open" in each.attributes for each in shown.all("details")}
    assert is_open["src/a.py"]
    assert is_open["src/gone.py, deleted"]
    assert not is_open["src/long.py, new"]
    assert not is_open["package-lock.json, new"]


@pytest.mark.parametrize("name", ["uv.lock", "js/package-lock.json", "go.sum", "pnpm-lock.yaml"])
def test_a_lock_file_is_closed_however_short(name: str) -> None:
    """What a program writes about packages nobody reads line by line."""
    text = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n"
    (only,) = diff.files_of(text)
    assert (only.path, only.is_open, len(lines(read(only.lines)))) == (name, False, 6)


def test_a_huge_lock_file_is_counted_and_not_drawn(work: Scene) -> None:
    """A page stays under 1 MB and a second; the command that prints the lines is named."""
    answer(work.root, "/tasks/1/changes")
    begin = time.process_time()
    status, html = answer(work.root, "/tasks/1/changes")
    assert time.process_time() - begin < 1
    assert (status, len(html) < 1_000_000) == (200, True)
    shown = of_file(read(html), "package-lock.json")
    assert "+30000" in shown.one("summary").words
    assert "taskstate snapshot diff 1 --role implementer --type from-base prints it" in shown.words
    assert not [*shown.all("pre")]


def _made(paths: int, size: int) -> str:
    """Return a diff of so many new files with so many lines each."""
    added = "".join(f"+line {number}\n" for number in range(size))
    head = "diff --git a/f{0}.py b/f{0}.py\nnew file mode 100644\nindex 0000..{0:04}\n--- /dev/null\n+++ b/f{0}.py\n"
    return "".join(f"{head.format(number)}@@ -0,0 +1,{size} @@\n{added}" for number in range(paths))


def test_of_many_files_those_that_fit_are_drawn_and_each_by_itself() -> None:
    """A page does not grow with the work; what is left out is one click away."""
    text = _made(60, 399)
    files = diff.files_of(text)
    assert sum(len(each.lines) for each in files) < 700_000
    assert files[0].lines
    assert (files[59].lines, files[59].why_not, files[59].is_alone) == ("", "400 lines, left out here", True)
    alone = diff.files_of(text, 60)
    assert (bool(alone[59].lines), alone[59].is_open, alone[0].lines) == (True, True, "")
    assert diff.totals(files) == "60 files, +23940 -0"


def test_a_file_over_a_megabyte_is_not_drawn_even_alone() -> None:
    """No browser is asked to show that."""
    (only,) = diff.files_of(_made(1, 120_000), 1)
    assert (only.lines, only.is_alone, only.added) == ("", False, 120_000)
    assert "too much for a page" in only.why_not


def test_what_looks_like_a_diff_within_a_file_is_a_line() -> None:
    """A patch in a repository is text of it."""
    body = "+diff --git a/x b/x\n+@@ -1 +1 @@\n+--- a/x\n--- b\n \n"
    text = f"diff --git a/p.patch b/p.patch\n--- a/p.patch\n+++ b/p.patch\n@@ -1,2 +1,4 @@\n{body}"
    (only,) = diff.files_of(text)
    assert (only.path, only.added, only.removed) == ("p.patch", 3, 1)
    assert lines(read(only.lines)) == text.removesuffix("\n").split("\n")


def test_what_differs_in_a_line_stands_out() -> None:
    """Of lines that replace one another, if they are alike; the text stays what it is."""
    pairs = "-total = <a> + b\n-x\n+total = <a> - b\n+entirely other\n"
    text = f"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n{pairs}"
    (only,) = diff.files_of(text)
    shown = read(only.lines)
    assert [each.text for each in shown.all("b")] == ["+", "-"]
    assert lines(shown) == text.removesuffix("\n").split("\n")
    (only,) = diff.files_of(text.replace("+entirely other\n", ""))
    assert not [*read(only.lines).all("b")]


def test_a_move_that_git_tells_is_told() -> None:
    """An older diff may say by itself what moved."""
    head = "diff --git a/a.py b/b.py\nsimilarity index 90%\nrename from a.py\nrename to b.py\n"
    (only,) = diff.files_of(head)
    assert (only.path, only.words, only.added) == ("b.py", "renamed from a.py", 0)


def test_secrets_in_a_diff_are_masked() -> None:
    """A page is shown to others, and pictures of it are taken."""
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    text = f"diff --git a/e b/e\n--- a/e\n+++ b/e\n@@ -1 +1 @@\n-{token}\n+TOKEN = '{token}'\n"
    (only,) = diff.files_of(text)
    assert token not in only.lines
    assert len(lines(read(only.lines))) == 6


def test_no_diff_no_files() -> None:
    """Where nothing differs, that is said."""
    assert diff.files_of("") == ()
    assert diff.totals(()) == "0 files, +0 -0"


def test_changes_since_are_those_of_the_working_tree(work: Scene) -> None:
    """Of a role, and of the last turn: what is there now, against what was left."""
    for address in ("/tasks/1/changes?role=implementer&against=now", "/tasks/1/changes?against=now"):
        assert "Nothing differs." in page(work.root, address).words
    place = work.root / "src/a.py"
    before = place.read_text(encoding="utf-8")
    try:
        place.write_text(before.replace("a_9 = 9", "a_9 = 10"), encoding="utf-8")
        for address in ("/tasks/1/changes?role=implementer&against=now", "/tasks/1/changes?against=now"):
            assert [each for each in lines(page(work.root, address)) if each[:2] in {"-a", "+a"}] == [
                "-a_9 = 9",
                "+a_9 = 10",
            ]
    finally:
        place.write_text(before, encoding="utf-8")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/tasks/1/changes?role=implementer&against=previous", "no role comes before it"),
        ("/tasks/1/changes?role=reviewer", "snapshot"),
        ("/tasks/1/changes?role=nobody", "there is no role 'nobody'"),
        ("/tasks/2/changes", "no turn has left a tree yet"),
        ("/tasks/1/changes?role=implementer&against=%3Cscript%3E", "What changed since implementer left it"),
        ("/tasks/1/changes?role=%3Cscript%3E&file=99999999999999999999", "there is no role '<script>'"),
    ],
)
def test_what_is_not_there_is_said_in_the_page(work: Scene, address: str, words: str) -> None:
    """Whoever asked can go on to another one."""
    shown = page(work.root, address)
    assert words in shown.one("main").words
    assert [*shown.all("nav", **{"aria-label": "Whose changes"})]


def test_the_brief_is_that_of_the_command(work: Scene) -> None:
    """Its text to the letter, its size, and what did not fit."""
    wanted = printed(work.root, "brief", "1", "--role", "reviewer", "--budget", "120")
    shown = page(work.root, "/tasks/1/brief?role=reviewer&budget=120")
    assert shown.one("pre", **{"aria-label": "The brief"}).text == wanted["text"]
    assert f"{wanted['tokens']} of 120 tokens" in shown.words
    assert wanted["cut"]
    for each in wanted["cut"]:
        assert each["what"] in shown.words
        assert each["command"] in shown.words
    assert "there is no role" in page(work.root, "/tasks/1/brief?role=nobody").words


def test_what_html_makes_longer_counts_as_long_as_it_is() -> None:
    """A file of signs that HTML escapes is four times as long in a page."""
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+" + "<" * 500_000 + "\n"
    (only,) = diff.files_of(text)
    assert (only.lines, only.why_not, only.is_alone) == ("", "2 lines, left out here", False)

"""The page of a task: each part says what a file or a command says, and no text of a file does anything."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from functools import cache
from typing import TYPE_CHECKING

import pytest

from taskstate.model.config import Config
from tests.page.pages import Element, answer, page, read
from tests.page.scene import ALERT, BRANCH, EVERYTHING, Scene
from tests.page.test_diff import printed
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

PATHS = "### Repository Paths\n\n- src/\n"
seen = cache(page)  # of repositories that no test writes to
DAMAGES = {  # how: what stands somewhere in the file, what is put there, and what is said
    "a fence": ('"features": [', '"features": [{', "Feature Checklist"),
    "front matter": ("status: ", "status: [", "the bracket that begins here"),
    "a conflict": ("### Acceptance", "<<<<<<< ours\n=======\n>>>>>>> theirs\n### Acceptance", "conflict"),
    "nothing": ("", "", ""),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Return a repository with proofs of each kind, two of them stale, an output, and inputs that are out of date."""
    scene = Scene.new(tmp_path_factory.mktemp("proofs") / "shop")
    scene.write("src/a.py", "a = 1\n")
    scene("init")
    criteria = ("--criterion", "It works", "--criterion", "It is fast")
    features = [word for name in ("text", "run", "commit", "none") for word in ("--feature", f"f-{name}=does {name}")]
    scene("new", "5", "--title", "Upstream", "--description", "First.\n\nSecond.", *criteria, *features)
    scene("new", "6", "--title", "Downstream", "--description", "Down.", "--depends-on", "5", *criteria)
    text = scene.state("5").read_text(encoding="utf-8")
    scene.state("5").write_text(text.replace("## 2. ", f"{PATHS}\n## 2. ", 1), encoding="utf-8")
    scene.commit("Set up")
    scene("start", "5", "--role", "implementer", "--agent", "ada", by="ada")
    scene("feature", "pass", "5", "f-run", "--run", "echo 'the tail of it'", by="ada")
    scene("feature", "pass", "5", "f-commit", "--commit", "HEAD", by="ada")
    scene.ago -= 2
    scene.write("src/a.py", "a = 2\n")
    passed = ("--pass", "f-text", "--evidence", "pytest: 3 passed", "--check", "1")
    scene.finish("5", "Wrote it", "--did", "Tried it", *passed, by="ada", later=1)
    return scene


def section(shown: Element, name: str) -> Element:
    """Return a section of a page by its name in addresses."""
    return shown.one("section", id=name)


def facts(shown: Element) -> dict[str, str]:
    """Return the facts of a task."""
    return {each.one("dt").words: each.one("dd").words for each in shown.one("dl", class_="facts").all("div")}


# What it is about


def test_the_head_says_what_it_is_about(shop: Scene, scene: Scene) -> None:
    """Title, the first paragraph, and the facts, with links to the tasks before and behind it."""
    shown = seen(shop.root, "/tasks/5")
    assert shown.one("h1").words == "Upstream"
    assert shown.one("p", class_="lede").words == "First."
    assert shown.one("title").words == "5 Upstream · shop"
    token = printed(shop.root, "show", "5")["token"]
    told = facts(shown)
    assert (told["Status"], told["Sessions"], told["Revision"]) == ("in progress", "1", token)
    assert told["Waited for by"] == "6 Downstream created"
    assert facts(seen(shop.root, "/tasks/6"))["Builds on"] == "5 Upstream in progress"
    told = facts(seen(scene.root, "/tasks/23"))
    assert (told["Priority"], told["Sessions"]) == ("P2", "5, 3 archived")


def test_a_task_is_named_as_commands_take_it(shop: Scene) -> None:
    """What is no task, or not there, is not found; it is no fault."""
    assert seen(shop.root, "/tasks/TASK-5").one("h1").words == "Upstream"
    for name in ("999", "%00", "..", "a b", "task-5-state.md.bak", "x" * 300, "<script>", "5-"):
        status, text = answer(shop.root, f"/tasks/{name}")
        assert status == 404, name
        assert "<script>alert" not in text


def test_the_roles_are_a_pipeline(shop: Scene, scene: Scene) -> None:
    """As many as the configuration has, each with how far it is, by whom, and what it changed."""
    stages = [*seen(shop.root, "/tasks/5").one("ol", class_="pipe").all("li")]
    assert len(stages) == len(Config().roles)
    assert stages[0].attributes["class"] == "done"
    assert re.fullmatch(r"implementer, done .* by ada 1 file, \+1 -1", stages[0].words)
    assert stages[1].words == "reviewer, not begun"
    stages = [*seen(scene.root, "/tasks/21").one("ol", class_="pipe").all("li")]
    assert (stages[0].attributes["class"], "1 finding, 1 open" in stages[0].words) == ("stuck", True)
    stages = [*seen(scene.root, "/tasks/20").one("ol", class_="pipe").all("li")]
    assert (stages[0].attributes["class"], "drift, not accepted yet" in stages[0].words) == ("stuck", True)
    turn = seen(scene.root, "/tasks/25").one("section", id="timeline")
    assert "Turn, fay: begun" in turn.words


def test_the_permanent_task_has_no_work(scene: Scene) -> None:
    """It is read, and what needs a person in it is told."""
    shown = seen(scene.root, "/tasks/1")
    assert not [*shown.all("ol", class_="pipe")]
    assert not [*shown.all("section", id="criteria")]
    assert "AD-1 is proposed by fay: Money is counted in cents" in section(shown, "needs").words
    assert "open" in section(shown, "file").one("details").attributes


# What it needs


def test_drift_is_shown_where_it_is_accepted(scene: Scene) -> None:
    """The lines that differ, in the files that differ alone, and a form for the tree and the file that are shown."""
    need = section(seen(scene.root, "/tasks/20"), "needs")
    lines = [each.text for each in need.all("span", class_="l") if each.text[:2] in {"+ ", "- "}]
    assert lines == ["-    return 2", "+    return 3  # quick fix"]
    form = need.one("form", class_="note")
    sent = {each.attributes["name"]: each.attributes.get("value", "") for each in form.all("input")}
    assert form.attributes["action"] == "/tasks/20/drift/accept"
    assert sent["expect"] == printed(scene.root, "show", "20")["token"]
    assert re.fullmatch("[0-9a-f]{40}", sent["tree"])
    assert sent["note"] == ""
    assert any("taskstate snapshot resolve 20" in each.text for each in need.all("pre"))


def test_drift_of_many_files_says_how_many_more_there_are(shop: Scene, tmp_path: Path) -> None:
    """Each is known by its path, though that may hold what stands between two of them."""
    shutil.copytree(shop.root, tmp_path / "shop")
    for name in ("a, b.py", "c.py", "d.py", "e.py", "f.py"):
        (tmp_path / "shop/src" / name).write_text("x = 1\n", encoding="utf-8")
    need = section(page(tmp_path / "shop", "/tasks/5"), "needs")
    drawn = [each.attributes["aria-label"] for each in need.all("pre", class_="diff")]
    assert drawn[0] == "Difference of src/a, b.py"
    assert len(drawn) == 3
    assert "The whole difference, with 2 more files" in need.words


def test_a_finding_can_be_withdrawn_where_it_stands(scene: Scene) -> None:
    """What was sent back twice leads to the finding, with its form."""
    shown = seen(scene.root, "/tasks/21")
    assert "finding 1 was answered twice" in section(shown, "needs").words
    assert [*section(shown, "needs").all("a", href="#findings")]
    finding = section(shown, "findings")
    assert "a replayed challenge is accepted" in finding.words
    assert finding.one("form").attributes["action"] == "/tasks/21/findings/1/withdraw"


def test_who_only_reads_has_no_forms(scene: Scene) -> None:
    """Everything is said, and nothing can be sent."""
    for task in ("20", "21"):
        shown = seen(scene.root, f"/tasks/{task}", is_read_only=True)
        assert not [each for each in shown.all("form") if each.attributes.get("method") == "post"]
        assert section(shown, "criteria").one("span", class_="st").words in {"met", "open"}


# What is proved


def test_a_criterion_is_a_button_with_who_checked_it(shop: Scene) -> None:
    """It says its state, and the session that tells of it."""
    rows = [*section(seen(shop.root, "/tasks/5"), "criteria").all("li", class_="check")]
    buttons = [row.one("button").attributes for row in rows]
    assert [each["aria-pressed"] for each in buttons] == ["true", "false"]
    assert "session 1, ada" in rows[0].words
    assert rows[1].words == "open It is fast"


def test_a_feature_has_its_proof(shop: Scene) -> None:
    """A text, a commit, or a command with its exit status, its log and its last lines; older than the work: stale."""
    rows = [each.words for each in section(seen(shop.root, "/tasks/5"), "features").all("li", class_="check")]
    by_name = {re.split(" ", each)[1]: each for each in rows}
    head = printed(shop.root, "show", "5")["features"]
    assert head == {"passing": 3, "all": 4}
    assert by_name["f-text"].startswith("passes f-text does text")
    assert "pytest: 3 passed" in by_name["f-text"]
    assert re.search(r"echo 'the tail of it' exit 0, log [0-9a-f]{8} The end of what it printed", by_name["f-run"])
    assert "the tail of it" in by_name["f-run"]
    assert re.search(r"commit [0-9a-f]{40}", by_name["f-commit"])
    assert by_name["f-none"] == "open f-none does none"
    for each in ("f-run", "f-commit"):
        assert by_name[each].startswith("stale")
        assert "src/a.py: test it again" in by_name[each]


# What happened


@pytest.mark.parametrize("task", ["20", "21", "23"])
def test_the_history_is_that_of_the_log(scene: Scene, task: str) -> None:
    """The same entries in the same order, archived sessions among them."""
    wanted = [
        (each["at"], " ".join(each["text"].split()))
        for each in printed(scene.root, "log", task)["entries"]
        if each["text"]
    ]
    shown = [
        (each.one("time").attributes["datetime"], each.one("div", class_="it"))
        for each in section(seen(scene.root, f"/tasks/{task}"), "timeline").one("div", class_="box").all("li")
        if [*each.all("time")]
    ]
    assert [at for at, _ in shown] == [at for at, _ in wanted]
    for (_, text), (_, entry) in zip(wanted, shown, strict=True):
        assert text in entry.words


def test_an_archived_session_tells_all_that_it_says(scene: Scene) -> None:
    """Archiving takes nothing away from who looks."""
    told = section(seen(scene.root, "/tasks/23"), "timeline").words
    said = "Compared country 0 with the law: wintergreen-0 State, next, outcome State: Fine Next: Go on Outcome: "
    assert f"Session, eli: 1. {said}" in told


def test_what_a_session_did_is_a_list(shop: Scene) -> None:
    """Several things are several lines."""
    told = section(seen(shop.root, "/tasks/5"), "timeline")
    entry = next(each for each in told.all("div", class_="it") if each.one("b").words == "Session")
    assert [each.words for each in entry.one("ul").all("li")] == ["Wrote it", "Tried it"]


def test_the_history_is_filtered_by_kind(scene: Scene) -> None:
    """The address says what is shown, the form says it too, and it is what the command gives."""
    told = section(seen(scene.root, "/tasks/21?kind=finding&kind=role&kind=nonsense"), "timeline")
    wanted = printed(scene.root, "log", "21", "--kind", "finding", "--kind", "role")["entries"]
    assert len([*told.all("div", class_="it")]) == len(wanted)
    checked = {each.attributes["value"] for each in told.all("input", name="kind") if "checked" in each.attributes}
    assert checked == {"finding", "role"}
    assert told.one("form").attributes.get("method", "get") == "get"
    assert "Nothing of these kinds." in section(seen(scene.root, "/tasks/21?kind=claim"), "timeline").words


# Its inputs, its output, its file


def test_inputs_and_output_are_told(shop: Scene, scene: Scene) -> None:
    """What comes from other tasks, and how it stands."""
    told = section(seen(shop.root, "/tasks/6"), "chain").words
    (wanted,) = printed(shop.root, "chain", "status", "6")["tasks"][0]["inputs"]
    assert told == f"Inputs and output {wanted['state']} 5: {wanted['detail']}"
    assert not [*seen(scene.root, "/tasks/20").all("section", id="chain")]


def test_findings_of_the_linter_lead_to_the_line(scene: Scene, tmp_path: Path) -> None:
    """Each with its rule, its cure, and a link to where it stands in the text."""
    shutil.copytree(scene.root, tmp_path / "shop")
    path = tmp_path / "shop/.taskstate/tasks/task-26-state.md"
    path.write_text(path.read_text(encoding="utf-8").replace("priority: P3", "priority: P9"), encoding="utf-8")
    shown = page(tmp_path / "shop", "/tasks/26")
    (wanted, *_) = printed(tmp_path / "shop", "lint", str(path))["findings"]
    told = section(shown, "lint")
    assert wanted["message"] in told.words
    line = told.one("a").attributes["href"]
    assert line == f"#L{wanted['line']}"
    assert "priority: P9" in section(shown, "file").one("span", id=line[1:]).text
    assert told.one("a", href=f"/rules/{wanted['code']}").words == wanted["code"]


def test_the_file_is_there_as_text_and_rendered(shop: Scene) -> None:
    """Each line has its number and its anchor; what is rendered has no front matter."""
    shown = section(seen(shop.root, "/tasks/5"), "file")
    text = shop.state("5").read_text(encoding="utf-8")
    lines = [*shown.all("span", class_="l")]
    assert [each.text for each in lines] == text.removesuffix("\n").split("\n")
    assert [each.attributes["id"] for each in lines] == [f"L{number}" for number in range(1, len(lines) + 1)]
    rendered = shown.one("div", class_="text")
    assert "revision:" not in rendered.words
    assert rendered.one("h4").words.endswith("Static Context")


def test_the_size_is_told_with_what_comes_next(scene: Scene) -> None:
    """In KB against the limit, with the archive, and features session by session."""
    shown = seen(scene.root, "/tasks/23")
    told = shown.one("aside").words
    assert re.search(r"The file: \d KB of 75 KB Sessions: 5, and over 20 are too many", told)
    assert re.search(r"About [\d,]+ tokens\. The archive has \d+ KB\.", told)
    shown = seen(scene.root, "/tasks/18")
    assert not [*shown.all("svg", class_="plot")]  # of one session there is no line


def test_the_contents_lead_to_each_section(scene: Scene) -> None:
    """No link of the list beside is dead, and no name is given twice."""
    for task in ("1", "20", "21", "23"):
        shown = seen(scene.root, f"/tasks/{task}")
        names = [each.attributes["id"] for each in shown.all() if "id" in each.attributes]
        assert len(names) == len({*names})
        for each in shown.all("a"):
            if each.attributes["href"].startswith("#"):
                assert each.attributes["href"][1:] in names


# What is not as it should be


def test_a_branch_that_has_no_version_is_told(scene: Scene) -> None:
    """The newest is shown, and not as if it were that of the branch."""
    shown = seen(scene.root, "/tasks/20?branch=nonsense")
    assert "The branch nonsense has no version of its own" in shown.words
    assert "no version of its own" not in seen(scene.root, "/tasks/20").words


def test_each_worktree_has_its_version(shop: Scene, tmp_path: Path) -> None:
    """A task that differs is shown by branch, the newest first, and forms write where it was read."""
    scene = Scene(shutil.copytree(shop.root, tmp_path / "shop"))
    scene.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other"))
    there = Scene(tmp_path / "other", 0.3)
    there("edit", "6", "--title", "Downstream, otherwise")
    shown = page(scene.root, "/tasks/6")
    tabs = [*shown.one("nav", **{"aria-label": "Versions"}).all("a")]
    assert [each.words for each in tabs] == ["other: created, revision 2, the newest", "main: created, revision 1"]
    assert shown.one("h1").words == "Downstream, otherwise"
    assert shown.one("input", name="worktree").attributes["value"] == str(tmp_path / "other")
    main = page(scene.root, tabs[1].attributes["href"])
    assert main.one("h1").words == "Downstream"
    assert not [*main.all("input", name="worktree")]
    for address in ("/tasks/6/changes", "/tasks/6/brief"):
        assert "Downstream, otherwise" in page(scene.root, address).words
        assert "otherwise" not in page(scene.root, f"{address}?branch=main").words


@pytest.mark.parametrize("how", DAMAGES)
def test_a_file_that_does_not_parse_shows_what_can_be_read(scene: Scene, tmp_path: Path, how: str) -> None:
    """Its text line by line, and why it cannot be read."""
    shutil.copytree(scene.root, tmp_path / "shop")
    path = tmp_path / "shop/.taskstate/tasks/task-24-state.md"
    old, new, words = DAMAGES[how]
    text = path.read_text(encoding="utf-8").replace(old, new, 1) if old else ""
    path.write_text(text, encoding="utf-8")
    shown = page(tmp_path / "shop", "/tasks/24")
    assert words.casefold() in shown.one("main").words.casefold()
    lines = [each.text for each in section(shown, "file").all("span", class_="l")]
    assert lines == text.removesuffix("\n").split("\n")
    assert "Damaged" in section(shown, "needs").words or how == "a conflict"


def test_what_is_damaged_here_comes_before_a_copy_elsewhere(scene: Scene, tmp_path: Path) -> None:
    """Its fault is told, and another worktree's copy is not called the newest."""
    root = tmp_path / "shop"
    shutil.copytree(scene.root, root)
    git = ("git", "-C", str(root), "worktree", "add", "--quiet", "-b", "elsewhere", str(tmp_path / "copy"))
    subprocess.run(git, check=True)
    copy = tmp_path / "copy/.taskstate/tasks/task-24-state.md"
    copy.write_text(copy.read_text(encoding="utf-8").replace("Overview of tax", "Another"), encoding="utf-8")
    path = root / ".taskstate/tasks/task-24-state.md"
    path.write_bytes(b"\xff" + path.read_bytes())
    shown = page(root, "/tasks/24").one("main")
    assert "What cannot be read" in shown.words
    assert "newest" not in shown.one("nav", class_="tabs").words


def test_a_file_that_is_no_text_is_shown_as_far_as_it_is_one(scene: Scene, tmp_path: Path) -> None:
    """Bytes that are no characters are marked, and the fault is told with its cure."""
    shutil.copytree(scene.root, tmp_path / "shop")
    path = tmp_path / "shop/.taskstate/tasks/task-24-state.md"
    path.write_bytes(path.read_bytes().replace(b"Overview of tax", b"\xffverview of tax"))
    shown = page(tmp_path / "shop", "/tasks/24")
    for address in ("/tasks/24/changes", "/tasks/24/brief"):
        assert "is not UTF-8" in page(tmp_path / "shop", address).words
    assert "is not UTF-8" in shown.one("main").words
    assert "doctor --fix" in shown.one("main").words
    assert "\ufffdverview of tax rates" in section(shown, "file").one("pre", class_="diff").text


def test_a_file_that_is_gone_is_not_found(scene: Scene, tmp_path: Path) -> None:
    """A page of it that is open keeps what it shows, and this answer tells it why nothing new comes."""
    shutil.copytree(scene.root, tmp_path / "shop")
    (tmp_path / "shop/.taskstate/tasks/task-24-state.md").unlink()
    assert answer(tmp_path / "shop", "/tasks/24")[0] == 404


# Hostile files


VIEWS = ("/", "/board?status=ready&status=waiting&status=in_progress&status=blocked&status=complete&done=all")
ADDRESSES = (
    *VIEWS,
    *("/lint", "/search?q=evil", "/search?q=%3Cimg", "/rules/TS001", "/tasks/2/changes?role=implementer"),
    *(f"/tasks/{task}" for task in "123456789"),
    *(f"/tasks/{task}{page}" for task in "1267" for page in ("/changes", "/brief")),
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_text_of_a_file_becomes_an_element(hostile: Scene, address: str) -> None:
    """Whatever somebody wrote is words: no tag, no attribute and no address is made of it."""
    status, html = answer(hostile.root, address)
    assert status == 200
    _has_words_alone(read(html))


def _has_words_alone(shown: Element) -> None:
    """Check that a page has no element that hostile text would make."""
    for each in shown.all():
        assert each.tag not in {"img", "iframe", "style", "object", "embed", "base", "video", "audio", "template"}
        assert not [name for name in each.attributes if name.startswith("on") or name in {"style", "srcdoc"}]
        assert "autofocus" not in each.attributes
        for name in ("src", "href", "action", "formaction", "xlink:href"):
            target = each.attributes.get(name, "/")
            assert re.match(r"/(?!/)|#|https?://evil\.example/|mailto:", target), (each.tag, target)
        if each.tag in {"script", "link"}:
            assert "evil" not in str(each.attributes)


def test_each_kind_of_hostile_text_is_shown(hostile: Scene) -> None:
    """What the pages say is what somebody wrote, of each kind of document; else they would show that nothing runs."""
    everything, alert = " ".join(EVERYTHING.split()), ALERT
    shown = seen(hostile.root, "/tasks/2")
    assert alert in shown.one("h1").text
    assert "{{ 7 * 7 }}" in shown.words
    assert everything in section(shown, "criteria").words
    assert everything in section(shown, "findings").words
    assert everything in section(shown, "timeline").words
    assert f"0 {alert}" in section(seen(hostile.root, "/tasks/4"), "timeline").words  # of the archive
    assert f"src/{alert}.py" in seen(hostile.root, "/tasks/2/changes?role=implementer").words
    assert BRANCH in seen(hostile.root, "/tasks/3").one("nav", **{"aria-label": "Versions"}).words
    assert everything in section(seen(hostile.root, "/tasks/1"), "file").words  # the Impact Map among it
    for kind in ("state", "archive", "handoff"):
        found = seen(hostile.root, f"/search?q=img+src&kind={kind}").one("main")
        assert [*found.all("mark")]
        assert alert in found.words
    assert str(hostile.root.parent / alert) in str(
        seen(hostile.root, "/tasks/3").one("input", name="worktree").attributes
    )


@pytest.mark.parametrize("line", ["roles = [{}]", "{} = 1", "[lint]\nselect = [{}]", "a = {}, {}"])
def test_a_hostile_configuration_is_told_as_text(tmp_path: Path, line: str) -> None:
    """What stands in the configuration and is refused is quoted, and is no more than words."""
    place = Place(tmp_path / "shop")
    quoted = json.dumps(ALERT)
    (place.root / "taskstate.toml").write_text(line.format(quoted, ALERT), encoding="utf-8")
    for address in ("/", "/tasks/101", "/lint"):
        _, html = answer(place.root, address)
        shown = read(html)
        assert "taskstate.toml" in shown.words
        _has_words_alone(shown)


# How long it takes


def test_a_large_task_is_there_at_once(scene: Scene, tmp_path: Path) -> None:
    """A file of 75 KB with 25 sessions: what was rendered once is not rendered again."""
    own = Scene(shutil.copytree(scene.root, tmp_path / "shop"))
    path = own.state("24")
    entry = "### Session {0} - 2026-11-{0:02} 10:00\n\n**What I did:**\n{1}\n**Current state:**\nGood\n\n"
    done = "".join(
        f"- Compared **country {number}** with [the law](https://example.org/{number})\n" for number in range(42)
    )
    entries = "".join(entry.format(number, done) for number in range(1, 26))
    text = re.sub(r"(## .*Progress Log\n\n)(?s:.*?)(?=\n## |\Z)", rf"\1{entries}", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    assert path.stat().st_size > 70_000
    shown = page(own.root, "/tasks/24")
    assert facts(shown)["Sessions"] == "25"
    begin = time.process_time()
    status, html = answer(own.root, "/tasks/24")
    assert (status, time.process_time() - begin < 0.5) == (200, True)  # measured: 0.04 s
    assert len(html) < 600_000

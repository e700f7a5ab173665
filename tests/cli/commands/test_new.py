from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.model.static_context import read_static
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.task_state import TaskState
    from tests.support.place import Place

FILE = "title: From file\ndescription: D\npriority: P2\narea: web\nacceptance_criteria: [A, B]\n"


def made(place: Place, task_id: str = "7") -> TaskState:
    """Return what a new state file says."""
    return read_state(parse(place.workspace.locate(task_id).read_text(encoding="utf-8")))


def test_task_is_created(cli: Cli, place: Place) -> None:
    """The new file is reported, with the commands for what work cannot begin without, and lints clean."""
    created, following = cli.ok("new", "TASK-7", "--title", "T").splitlines()
    assert created == ".taskstate/tasks/task-7-state.md: created"
    describe, add = '`taskstate edit 7 --description "TEXT"`', '`taskstate criterion add 7 "TEXT"`'
    assert following == f"  next: {describe}, {add}, `taskstate start 7`"
    whole = cli.ok("new", "8", "--title", "T", "--description", "D", "--criterion", "C").splitlines()
    assert whole[1:] == ["  next: `taskstate start 8`"]
    assert cli("lint", ".taskstate/tasks/task-7-state.md").status == 0
    assert made(place).title == "T"


def test_checks_that_are_not_allowed_come_first(cli: Cli, place: Place) -> None:
    """Where nobody has allowed the checks, the command for that is named before the one that begins the work."""
    place.configure('[validation]\n"*" = ["true"]\n')
    begin = cli.ok("new", "7", "--title", "T", "--description", "D", "--criterion", "C").splitlines()[-1]
    assert begin == "  next: `taskstate trust 7`, which shows the checks and allows them, `taskstate start 7`"


def test_every_flag_has_its_place(cli: Cli, place: Place) -> None:
    """Each flag fills its part, and lists take it again."""
    data = cli.json(
        *("new", "#7", "--title", "T", "--description", "-", "--criterion", "A", "--criterion", "B"),
        *("--feature", "f-1=a = b", "--feature", "f-2=c", "--depends-on", "TASK-101", "--depends-on", "#101"),
        *(
            "--priority",
            "P0",
            "--area",
            "web",
            "--prd",
            "docs/p.md",
            "--epic",
            "E",
            "--repository",
            "R",
            "--agent",
            "A",
        ),
        *("--validation", "make test", "--validation", "make lint", "--path", "src/**", "--path", ":ui"),
        stdin="From outside.\n## 4. Progress Log\n",
    )
    assert data["id"] == "7"
    state = made(place)
    assert state.description == "From outside.\n\\## 4. Progress Log"
    assert [each.text for each in state.criteria] == ["A", "B"]
    assert state.checklist
    assert [(each.id, each.description) for each in state.checklist.features] == [("f-1", "a = b"), ("f-2", "c")]
    assert state.depends_on == ("101",)
    assert (state.text("priority"), state.text("area")) == ("P0", "web")
    assert [state.text(key) for key in ("prd", "epic", "repository", "agent")] == ["docs/p.md", "E", "R", "A"]
    static = read_static(state)
    assert (static.commands, static.paths) == (("make test", "make lint"), ("src/**", ":ui"))


def test_upstream_tasks_in_a_list(cli: Cli, place: Place) -> None:
    """Commas separate them, with or without blanks; a value without an id is refused by name."""
    cli.ok("new", "8", "--title", "T", "--depends-on", "101")
    cli.ok("new", "7", "--title", "T", "--depends-on", "101, TASK-8,")
    assert made(place).depends_on == ("8", "101")
    assert "',' names no task" in cli.refused("new", "9", "--title", "T", "--depends-on", ",")


def test_unknown_key_of_the_task_file_is_a_warning(cli: Cli, place: Place) -> None:
    """The task is created, and the key is named on standard error and in JSON."""
    (place.root / "x.task.yaml").write_text("title: T\nvalidation: [make]\n", encoding="utf-8")
    warning = "x.task.yaml, line 2: `validation` is not a known key; did you mean `qa.commands`?"
    result = cli("new", "7", "--from", "x.task.yaml")
    assert (result.status, result.err) == (0, f"{warning}\n")
    assert cli.json("new", "8", "--from", "x.task.yaml")["notes"] == [warning]


def test_task_file_gives_the_rest(cli: Cli, place: Place) -> None:
    """What is not given comes from the task file, which is recorded by its path from the root."""
    (place.root / "tasks").mkdir()
    (place.root / "tasks" / "x.task.yaml").write_text(FILE, encoding="utf-8")
    cli.ok("new", "7", "--from", "tasks/x.task.yaml", "--area", "api")
    state = made(place)
    assert (state.title, state.description, state.text("area")) == ("From file", "D", "api")
    assert state.document.front_matter["context"]["task_file"] == "tasks/x.task.yaml"


def test_dry_run_prints_the_diff(cli: Cli, place: Place) -> None:
    """A dry run prints the whole file and creates nothing."""
    before = tree(place.root)
    assert "+# Task #7: T - State\n" in cli.ok("new", "7", "--title", "T", "--dry-run")
    assert tree(place.root) == before


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "--title is missing"),
        (("7",), "--title is missing"),
        (("7", "--title", ""), "--title is missing"),
        (("7", "--title", "a\nb"), "the title has several lines"),
        (("7", "--title", "\x1b[2J"), "U+001B"),
        (("../evil", "--title", "T"), "names no task"),
        (("a/b", "--title", "T"), "names no task"),
        (("x" * 65, "--title", "T"), "names no task"),
        (("task-task-7", "--title", "T"), "names no task"),
        (("a..b", "--title", "T"), "names no task"),
        (("\u0661", "--title", "T"), "names no task"),
        (("101", "--title", "T"), "exists already"),
        (("7", "--title", "T", "--feature", "x"), "has no ="),
        (("7", "--title", "T", "--feature", "=x"), "is not an id of a feature"),
        (("7", "--title", "T", "--feature", "a="), "is empty"),
        (("7", "--title", "T", "--feature", "a=b", "--feature", "a=c"), "is given twice"),
        (("7", "--title", "T", "--criterion", ""), "is empty"),
        (("7", "--title", "T", "--depends-on", "999"), "there is no task 999"),
        (("7", "--title", "T", "--depends-on", "../x"), "names no task"),
        (("7", "--title", "T", "--priority", "high"), "invalid choice"),
        (("7", "--title", "T", "--area", "a\nb"), "the area has several lines"),
        (("7", "--title", "T", "--expect-revision", "1"), "at no revision yet"),
        (("7", "--title", "T", "--path", "../x"), "the repository path '../x'"),
        (("7", "--title", "T", "--epic", "a\nb"), "the epic has several lines"),
        (("7", "--from", "nowhere.yaml"), "does not exist"),
        (("7", "--from", "/etc/hosts"), "outside the repository"),
        (("7", "--from", ".."), "outside the repository"),
        (("7", "--from", ".taskstate"), "folder"),
        (("7", "--from", ".gitattributes"), ".gitattributes, line"),
        (("7", "--title", "T", "--description", "\u202e"), "U+202E"),
        (("7", "8", "--title", "T"), "unrecognized arguments"),
    ],
)
def test_what_cannot_be_created_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error, and nothing is created."""
    assert what in cli.refused("new", *arguments)


def test_task_file_from_standard_input(cli: Cli, place: Place) -> None:
    """`-` reads it; no file is recorded, which is reported, and paths are taken from it nevertheless."""
    output = cli.ok("new", "7", "--from", "-", stdin=f"{FILE}scope: {{in: [b/**, a/**]}}\n")
    assert "the task file came from standard input, so it is not recorded: section 1 is the source" in output
    state = made(place)
    assert (state.title, state.description) == ("From file", "D")
    assert "context" not in state.document.front_matter
    assert "- `a/**`\n- `b/**`\n" in state.document.text
    assert cli.refused("new", "8", "--from", "-", stdin="- a\n").startswith("standard input, line 1: ")
    both = cli.refused("new", "8", "--from", "-", "--description", "-", stdin=FILE)
    assert both.startswith("standard input cannot be both --from and --description")


def test_words_in_a_scope_are_told(cli: Cli, place: Place) -> None:
    """Paths beside them are repository paths."""
    (place.root / "x.yaml").write_text(f"{FILE}scope: {{in: [all of it, 'src/**']}}\n", encoding="utf-8")
    message = "repository paths: left out what looks like words in the scope: all of it"
    assert message in cli.ok("new", "7", "--from", "x.yaml")
    assert "- `src/**`\n" in made(place).document.text
    assert cli.refused("new", "8", "--from", "").startswith("--from is empty")


def sh(place: Place, *commands: str) -> None:
    """Run shell commands in the repository."""
    for command in commands:
        subprocess.run(["sh", "-c", command], cwd=place.root, check=True, capture_output=True)


STATE = ".taskstate/tasks/task-101-state.md"
COMMITTED = (
    *("git init -q -b main", "git config user.name x", "git config user.email x@example.invalid"),
    *("git add --all", "git commit -qm begin"),
)
GONE = {
    "removed": f"rm {STATE}",
    "removed with git": f"git rm -q {STATE}",
    "left out": f"git sparse-checkout set --no-cone '/*' '!{STATE}'",
    "left out with its folder": "git sparse-checkout set --cone docs && mkdir -p .taskstate/tasks",
}


@pytest.mark.parametrize("gone", GONE.values(), ids=GONE)
@pytest.mark.parametrize("command", [("new", "101", "--title", "T"), ("doctor", "renumber", "102", "101")], ids=str)
def test_a_committed_task_is_not_begun_anew(cli: Cli, place: Place, command: tuple[str, ...], gone: str) -> None:
    """A task that HEAD has and the folder has not keeps its id, and the command that is named brings it."""
    text = place.text
    sh(place, *COMMITTED, gone)
    cli("new", "102", "--title", "Another")
    before = tree(place.root)
    line = cli.refused(*command)
    assert f"{STATE} is committed, and only gone from here" in line
    assert tree(place.root) == before
    sh(place, line.split("`")[1])
    assert place.text == text


def test_what_a_commit_removed_may_be_begun_anew(cli: Cli, place: Place) -> None:
    """Whoever commits that a task is gone may use its id again."""
    sh(place, *COMMITTED, f"git rm -q {STATE}", "git commit -qm away")
    cli.ok("new", "101", "--title", "T")
    assert made(place, "101").title == "T"


def test_a_committed_task_does_not_become_a_part(cli: Cli, place: Place) -> None:
    """Splitting a task asks for the ids of its parts as `new` does."""
    for number in range(2):
        cli.ok("feature", "add", "101", f"ui-{number}", "shows a form")
    part = STATE.replace("101", "101a")
    cli.ok("new", "101a", "--title", "T")
    sh(place, *COMMITTED, f"rm {part}")
    assert f"{part} is committed" in cli.refused("decompose", "101", "--apply")


# What is done before, and then the ids that tasks get without one of their own: `{other}` is a linked worktree.
NUMBERS = {
    "behind the highest, not in a gap": ("new 7 --title T", "102"),
    "behind a subtask and a word": ("new 200a --title T;new auth-9 --title T", "102"),
    "not that of a dropped task": ("new 300 --title T;drop 300 --note why", "301"),
    "not that of one that is gone": ("new 300 --title T;rm 300", "301"),
    "not that of one that was let go": ("new 300 --title T;rm 300;doctor --let-go 300", "301"),
    "not that of one on a branch": ("git checkout -q -b b;new 300 --title T;commit;git checkout -q main", "301"),
    "not that of one in history": ("new 300 --title T;commit;rm 300;commit", "301"),
    "not that of one in another worktree": ("git worktree add -q {other};in {other} new 300 --title T", "301"),
    "not that of a worktree that is gone": (
        "git worktree add -q {other};in {other} new 300 --title T;git worktree remove --force {other}",
        "301",
    ),
    "not that of an archive alone": ("archive 300", "301"),
    "also in a worktree of its own": ("git worktree add -q {other};cd {other};new 300 --title T", "301"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_without_an_id_the_next_number_is_taken(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It is the one behind the highest that was ever given, as far as this clone can see; a note says which that is."""
    place = GitPlace(tmp_path / "repository")
    monkeypatch.chdir(place.root)
    cli, other = Cli(place, monkeypatch, capfd), tmp_path / "other"
    steps, number = NUMBERS[name]
    for step in steps.format(other=other).split(";"):
        first, *words = step.split()
        if first == "git":
            place.git(*words)
        elif first == "commit":
            place.commit("all")
        elif first == "rm":
            place.workspace.locate(words[0]).unlink()
        elif step == "archive 300":
            place.write(".taskstate/archives/task-300-archive.md", "# Task #300 Archive - Full Session History\n")
        elif first == "cd":
            monkeypatch.chdir(words[0])
        elif first == "in":
            with contextlib.chdir(words[0]):
                cli.ok(*words[1:])
        else:
            cli(first, *words)
    said = cli.json("new", "--title", "Next")
    assert (said["id"], said["path"]) == (number, f".taskstate/tasks/task-{number}-state.md")
    assert f"number {number} is the next: {int(number) - 1} is the highest number" in said["notes"][0]
    assert cli.json("new", "--title", "Over next")["id"] == str(int(number) + 1)


def test_the_first_number_is_one(cli: Cli, place: Place) -> None:
    """Where no id is a number the note names the ids that are taken; the permanent task gets a number, too."""
    place.path.unlink()
    cli.ok("new", "auth-2", "--title", "T")
    assert cli.json("new", "--title", "T")["notes"][0] == "number 1 is the next: other ids are auth-2"
    assert cli.json("new", "--kind", "permanent", "--title", "P", "--description", "d")["id"] == "2"
    assert (place.root / ".taskstate/tasks/task-2-state.md").exists()


def test_two_at_once_get_two_numbers(tmp_path: Path) -> None:
    """Several commands that run at the same time take a number each, also in two worktrees."""
    place = GitPlace(tmp_path / "repository")
    other = tmp_path / "other"
    place.git("worktree", "add", "-q", str(other))
    command = [sys.executable, "-m", "taskstate", "new", "--title", "T", "--format", "json"]
    roots = [place.root, other] * 3
    running = [subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) for root in roots]
    ids = [json.loads(each.communicate()[0])["data"]["id"] for each in running]
    assert sorted(ids) == ["102", "103", "104", "105", "106", "107"]

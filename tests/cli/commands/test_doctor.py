from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.doctor.examine import CHECKS
from taskstate.storage import files, folders, journal, kept_records
from taskstate.storage.replaced_texts import ReplacedText, keep
from tests.support.crashing import leave_plan
from tests.support.place import TASK, Place, tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Cli

SEALED = 'output: {completed_at: "2026-01-01T00:00:00Z"}\naudit:'


@pytest.fixture(autouse=True)
def command_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have git's merge driver be found, as where the command is installed."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@pytest.fixture
def git(place: Place) -> Place:
    """Return the place as a git repository that is set up."""
    subprocess.run(["git", "init", "--quiet", str(place.root)], check=True)
    from taskstate.setup.repository import set_up

    set_up(place.workspace, pre_commit=False)
    return place


def found(cli: Cli, *arguments: str, status: int = 1) -> list[dict[str, Any]]:
    """Return what doctor finds wrong, notes left out."""
    data = cli.json("doctor", *arguments, status=status)
    return [ailment for ailment in data["ailments"] if not ailment["note"]]


def checks(cli: Cli, status: int = 1) -> set[str]:
    """Return the names of the checks that find something wrong."""
    return {ailment["check"] for ailment in found(cli, status=status)}


def test_sound_repository_has_nothing_wrong(git: Place, cli: Cli) -> None:
    """All checks are named, none finds anything, and nothing is changed."""
    git.add()
    before = tree(git.root)
    data = cli.json("doctor")
    assert data == {"checks": ["configuration", *CHECKS], "ailments": [], "mended": []}
    assert cli.ok("doctor") == f"{len(CHECKS) + 1} checks, nothing is wrong\n"
    assert tree(git.root) == before


def test_without_git_that_is_a_note(place: Place, cli: Cli) -> None:
    """A folder without git works; it is reported, and is no fault."""
    del place
    data = cli.json("doctor")
    assert [(each["check"], each["note"]) for each in data["ailments"]] == [("git", True)]


def test_missing_git_is_wrong(place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where git is not installed, that is reported."""
    del place
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git" in checks(cli)


def test_wrong_configuration_is_told(git: Place, cli: Cli) -> None:
    """A configuration that cannot be read is the one thing that is reported."""
    git.configure("[size]\nmax-kb = 'x'\n")
    (ailment,) = found(cli)
    assert ailment["check"] == "configuration"
    assert "taskstate.toml" in ailment["message"]


def test_what_init_makes_is_looked_for_and_made_again(git: Place, cli: Cli) -> None:
    """Lines of git's files that a user took out are found, and put back by --fix."""
    (git.root / ".gitattributes").unlink()
    (git.root / ".gitignore").write_text("x\n", encoding="utf-8")
    command = ["git", "-C", str(git.root), "config", "taskstate.program"]
    subprocess.run([*command, "/nonexistent/taskstate"], check=True)
    assert checks(cli) == {"set-up", "merge-driver"}
    assert found(cli, "--fix", status=0) == []
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.endswith("/taskstate\n")
    assert (git.root / ".gitignore").read_text(encoding="utf-8").startswith("x\n.taskstate-")


def test_merge_driver_that_is_not_reached_is_found(git: Place, cli: Cli) -> None:
    """A later line in the attributes undoes it, and only git can tell."""
    with (git.root / ".gitattributes").open("a", encoding="utf-8") as stream:
        stream.write("*.md -merge\n")
    assert checks(cli) == {"merge-driver"}


def test_a_clone_that_was_never_set_up_is_called_that(git: Place, cli: Cli) -> None:
    """Git gives a clone our files, and not its configuration: one line says so, and both its cures make it quiet."""
    for command in (("init",), ("doctor", "--fix")):
        subprocess.run(["git", "-C", str(git.root), "config", "--remove-section", "merge.taskstate"], check=True)
        (ailment,) = found(cli)
        assert ailment["message"].startswith("this clone was never set up: ")
        assert ailment["help"] == "run `taskstate init`"
        cli.ok(*command)
        assert found(cli, status=0) == []


def test_merge_driver_that_is_not_installed_is_found(git: Place, cli: Cli) -> None:
    """Git calls a command by its name: it has to be there."""
    subprocess.run(
        ["git", "-C", str(git.root), "config", "merge.taskstate.driver", "nowhere-to-be-found %O"], check=True
    )
    (ailment,) = found(cli)
    assert "nowhere-to-be-found" in ailment["message"]


def test_hooks_that_are_not_installed_are_a_note(git: Place, cli: Cli) -> None:
    """The repository asks for hooks, and this clone has none."""
    cli.ok("init", "--pre-commit")
    (note,) = cli.json("doctor")["ailments"]
    assert (note["check"], note["note"], note["help"]) == ("hooks", True, "run `pre-commit install`")
    hook = git.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.touch()
    config = git.root / ".pre-commit-config.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace(", pre-merge-commit]", "]"), encoding="utf-8")
    (note,) = cli.json("doctor")["ailments"]
    assert "(pre-merge-commit): nothing is checked at a merge" in note["message"]
    assert note["help"].startswith("add pre-merge-commit to its `default_install_hook_types`, then run `pre-commit")
    config.write_text(text, encoding="utf-8")
    hook.with_name("pre-merge-commit").touch()
    assert cli.json("doctor")["ailments"] == []


@pytest.mark.parametrize("what", ["state file", "archive"])
def test_a_committed_file_that_is_gone_is_found(git: Place, cli: Cli, what: str) -> None:
    """The state file of an open task, or an archive that it needs, is missed though the last commit has it."""
    for _ in range(3):
        git.add("work")
    git.archive()
    run = ["git", "-C", str(git.root), "-c", "user.name=x", "-c", "user.email=x@localhost"]
    subprocess.run([*run, "add", "--all"], check=True)
    subprocess.run([*run, "commit", "--quiet", "--message", "work"], check=True)
    assert found(cli, status=0) == []
    path = git.path if what == "state file" else git.archive_path
    path.unlink()
    gone = next(each for each in found(cli) if each["check"] == "removed")
    assert gone["path"] == path.relative_to(git.root).as_posix()
    assert f"the {what} of task 101 is gone" in gone["message"]
    assert "`git checkout HEAD -- :/" in gone["help"]


@pytest.mark.parametrize("kind", ["bytes", "link", "fifo", "folder"])
def test_unreadable_files_are_found(git: Place, cli: Cli, kind: str) -> None:
    """What cannot be read, or is no plain file, is named with what to do."""
    path = git.workspace.tasks / "task-9-state.md"
    make: dict[str, Callable[[], object]] = {
        "bytes": lambda: path.write_bytes(b"---\n\xff\n---\n"),
        "link": lambda: path.symlink_to(git.path),
        "fifo": lambda: os.mkfifo(path),
        "folder": path.mkdir,
    }
    make[kind]()
    (ailment,) = found(cli)
    assert (ailment["check"], ailment["path"]) == ("files", ".taskstate/tasks/task-9-state.md")
    assert ailment["help"]


def test_ids_that_two_files_bear_are_found(git: Place, cli: Cli) -> None:
    """Two branches created the same id: both files are named, and what to do."""
    (git.root / "sub").mkdir()
    (git.root / "sub/task-101-state.md").write_text(git.text, encoding="utf-8")
    (ailment,) = found(cli)
    assert ailment["check"] == "ids"
    assert ".taskstate/tasks/task-101-state.md" in ailment["message"]
    assert "sub/task-101-state.md" in ailment["message"]
    assert "`taskstate doctor renumber sub/task-101-state.md NEW`" in ailment["help"]
    cli.ok("doctor", "renumber", "sub/task-101-state.md", "7")
    assert found(cli, status=0) == []


def test_orphans_are_found(git: Place, cli: Cli) -> None:
    """Archives, handoffs and artifacts of a task that is missing are named; an empty folder holds none of them."""
    root = git.workspace.state_root
    (root / "archives/task-9-archive.md").write_text("# Old\n", encoding="utf-8")
    (root / "handoffs/task-8/accepted").mkdir(parents=True)  # left by a command that was killed
    for folder in ("handoffs/task-9", "artifacts/task-9", "artifacts/task-101"):
        (root / folder).mkdir(parents=True)
        (root / folder / "x").touch()
    paths = {ailment["path"] for ailment in found(cli) if ailment["check"] == "orphans"}
    assert paths == {
        f".taskstate/{name}" for name in ("archives/task-9-archive.md", "handoffs/task-9", "artifacts/task-9")
    }


def test_artifacts_of_a_deleted_task_are_purged(git: Place, cli: Cli) -> None:
    """What doctor names is what the command deletes; a task that is missed keeps its artifacts."""
    cli.ok("session", "add", "101", "--did", "x", "--state", "s", "--next", "n")
    folder = git.workspace.state_root / "artifacts/task-101"
    folder.mkdir(parents=True)
    (folder / "x").write_text("x", encoding="utf-8")
    git.path.unlink()
    assert "let-go" in cli.refused("purge", "101")
    cli.ok("doctor", "--let-go", "101")
    (ailment,) = (each for each in found(cli) if each["check"] == "orphans")
    assert "`taskstate purge 101`" in ailment["help"]
    cli.ok("purge", "101", "--dry-run")
    assert folder.exists()
    cli.ok("purge", "101")
    assert not folder.exists()
    assert "there is no task 101" in cli.refused("purge", "101")


def test_artifacts_that_completing_could_not_delete_are_named(git: Place, cli: Cli) -> None:
    """Doctor names the folder of a closed task and the command that tries again."""
    cli.ok("drop", "101", "--note", "Not wanted.")
    (git.workspace.state_root / "artifacts/task-101").mkdir(parents=True)
    (ailment,) = (each for each in found(cli) if each["check"] == "artifacts")
    assert (ailment["path"], "is dropped" in ailment["message"]) == (".taskstate/artifacts/task-101", True)
    cli.ok("purge", "101")
    assert [each for each in found(cli, status=0) if each["check"] == "artifacts"] == []


def test_replaced_texts_are_listed_and_discarded(git: Place, cli: Cli) -> None:
    """One line each, the oldest first, and the same as JSON; what is discarded is named."""
    assert cli.ok("doctor", "kept", "list") == "nothing is kept\n"
    private = git.workspace.private
    texts = (ReplacedText("b\n\x1b[2J", b"x" * 1234, "migrate"), ReplacedText("a.md", b"\xff", "doctor --fix"))
    second, first = (keep(private, text, f"2026-01-0{2 - n}T00:00:00Z") for n, text in enumerate(texts))
    assert cli.ok("doctor", "kept", "list").splitlines() == [
        f"{first}  2026-01-01T00:00:00Z  1 byte  doctor --fix  a.md",
        f"{second}  2026-01-02T00:00:00Z  1234 bytes  migrate  b\\n\\x1b[2J",
    ]
    row = {"id": first, "path": "a.md", "at": "2026-01-01T00:00:00Z", "bytes": 1, "command": "doctor --fix"}
    assert cli.json("doctor", "kept", "list")["texts"][0] == row
    assert cli.json("doctor", "kept", "show", first) == {**row, "text": "\N{REPLACEMENT CHARACTER}"}
    (note,) = cli.json("doctor")["ailments"]
    assert (note["check"], note["note"]) == ("kept", True)
    assert note["message"] == "2 texts that commands replaced are kept"
    assert cli.ok("doctor", "kept", "discard", second, first).splitlines() == [
        f"discarded {second}: b\\n\\x1b[2J",
        f"discarded {first}: a.md",
    ]
    assert cli.json("doctor", "kept", "list") == {"texts": []}
    assert cli.json("doctor")["ailments"] == []


def test_temporary_files_are_swept(git: Place, cli: Cli) -> None:
    """What killed writers left is found wherever we write, and removed by --fix; nothing else is."""
    names = [".taskstate-1-ab.tmp", ".taskstate/tasks/.taskstate-2-ab.tmp", ".taskstate/templates/.taskstate-3-ab.tmp"]
    names.append(".git/taskstate/main/.taskstate-4-ab.tmp")
    (git.root / names[-1]).parent.mkdir(parents=True, exist_ok=True)
    for name in (*names, ".taskstate/tasks/mine.tmp"):
        (git.root / name).write_text("half", encoding="utf-8")
    assert {ailment["path"] for ailment in found(cli)} == set(names)
    assert found(cli, "--fix", status=0) == []
    assert (git.root / ".taskstate/tasks/mine.tmp").exists()
    assert not any((git.root / name).exists() for name in names)


def test_dry_run_mends_nothing(git: Place, cli: Cli) -> None:
    """--fix --dry-run is a look."""
    (git.root / ".taskstate-1-ab.tmp").touch()
    assert len(found(cli, "--fix", "--dry-run")) == 1


def test_name_of_a_killed_holder_is_a_note_and_cleared(git: Place, cli: Cli) -> None:
    """The text in the lock file decides nothing."""
    git.workspace.lock.write_text("process 1 on nowhere", encoding="utf-8")
    (note,) = cli.json("doctor")["ailments"]
    assert (note["check"], note["note"]) == ("lock", True)
    git.workspace.lock.write_text("process 1 on nowhere", encoding="utf-8")
    cli.ok("doctor", "--fix")
    assert git.workspace.lock.read_text(encoding="utf-8").strip() == ""


def newest_kept(place: Place) -> Path:
    """Return the path of the newest kept record."""
    return kept_records.records(place.workspace.private)[0][-1].path


def _interrupt(place: Place, *, appended: bool) -> None:
    """Leave the files of a killed archiving whose state file a user has edited since."""
    for text in ("First.", "Second.", "Third."):
        place.add(text)
    before, archived = place.text, place.workspace.state_root / "archives/task-101-archive.md"
    place.archive(keep=1)
    batch = archived.read_bytes()
    relative = place.workspace.relative(place.path)
    plan = (
        journal.Create(place.workspace.relative(archived), batch),
        journal.Replace(relative, files.digest(before.encode()), place.text.encode()),
    )
    place.text = before.replace("## 5. Git", "<!-- by hand -->\n\n## 5. Git")
    newest_kept(place).unlink()  # the killed writer had not come so far
    if not appended:
        archived.unlink()
    leave_plan(place.workspace.private, plan, {relative: before.encode()})


@pytest.mark.parametrize(("appended", "how"), [(True, "is taken back"), (False, "nothing of it is there")])
def test_interrupted_archiving_of_an_edited_file_is_settled(git: Place, cli: Cli, *, appended: bool, how: str) -> None:
    """The hand edit stays, each session appears once, and what was added is taken back, which is told truthfully."""
    _interrupt(git, appended=appended)
    assert how in cli("list").err
    assert found(cli, status=0) == []
    assert git.numbers() == [(1, False), (2, False), (3, False)]
    assert "<!-- by hand -->" in git.text


def test_archiving_that_a_stale_save_undid_is_done_again(git: Place, cli: Cli) -> None:
    """An older copy over an archived file, and more that is gone by it: each session appears once, archived or not."""
    for text in ("First.", "Second.", "Third."):
        git.add(text)
    before = git.text
    git.archive(keep=1)
    git.add("Fourth.")
    git.text = before.replace("## 6.", "<!-- by hand -->\n\n## 6.")
    assert "session 4 is gone" in cli("list").err
    assert found(cli, "--fix", status=0) == []
    assert git.numbers() == [(1, True), (2, True), (3, False), (4, False)]
    assert "<!-- by hand -->" in git.text


def test_plan_that_cannot_be_finished_waits(git: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed command's plan on a file that is read-only now is told and named by doctor; other tasks go on."""
    git.new("102")
    text = git.text.replace("- [ ] Tokens verify", "- [x] Tokens verify")
    sha = files.digest(git.path.read_bytes())
    other = f".taskstate/archives/task-{TASK}-archive.md"
    plan = (
        journal.Create(other, b"# Task #101 Archive\n"),
        journal.Replace(git.workspace.relative(git.path), sha, text.encode()),
    )
    leave_plan(git.workspace.private, plan)
    with monkeypatch.context() as patch:
        really = folders.may  # root may write everything, so permissions alone would not show it
        patch.setattr(folders, "may", lambda path, mode: path != git.path and really(path, mode))
        assert "waits until it can be finished" in cli("list").err
        (ailment,) = found(cli)
        assert (ailment["check"], "task-101-state.md waits" in ailment["message"]) == ("unfinished", True)
        assert cli("criterion", "check", "102", "1").status == 0
        assert "has to be finished first" in cli("criterion", "check", TASK, "2").err
    assert "finished an interrupted change" in cli("list").err
    assert found(cli, status=0) == []
    assert [each.checked for each in git.state.criteria] == [True, False]


def test_stale_save_is_found_and_mended(git: Place, cli: Cli) -> None:
    """What an older copy removed is reported by every command, shown by doctor, and put back by --fix."""
    old = git.text
    git.add("Gone.")
    git.text = old.replace("## 5. Git", "<!-- by hand -->\n\n## 5. Git")
    assert "session 1 is gone" in cli("lint").err
    (ailment,) = found(cli)
    assert (ailment["check"], ailment["fixable"]) == ("kept", True)
    data = cli.json("doctor", "--fix")
    assert "session 1 is back" in data["mended"][0]
    assert git.numbers() == [(1, False)]
    assert "<!-- by hand -->" in git.text
    assert found(cli, status=0) == []


def test_broken_seal_is_found_and_accepted(git: Place, cli: Cli) -> None:
    """A hand edit of a sealed block stops commands, which name what to do; --reseal keeps who took it, and why."""
    git.text = git.text.replace("audit:", SEALED)
    said = cli("session", "add", TASK, "--did", "x", "--state", "s", "--next", "n")
    assert (said.status, f"`taskstate doctor --reseal {TASK} --note " in said.err) == (2, True)
    kept = re.search(r"session add 101 --from (\S+\.json)", said.err)  # the words are recorded later
    assert "files" in [ailment["check"] for ailment in found(cli)]
    cli.ok("doctor", "--reseal", TASK, "--note", "completed by hand", "--actor", "me")
    event = git.state.document.front_matter["audit"]["events"][-1]
    assert (event["event"], event["note"], event["actor"]) == ("resealed", "completed by hand", "me")
    assert kept
    cli.ok("session", "add", TASK, "--from", kept[1])
    assert found(cli, status=0) == []
    git.add()


def test_reseal_wants_a_reason(git: Place, cli: Cli) -> None:
    """Without a note nothing is accepted."""
    git.text = git.text.replace("audit:", SEALED)
    assert "--note is missing" in cli.refused("doctor", "--reseal", TASK)
    assert "the note is empty" in cli.refused("doctor", "--reseal", TASK, "--note", " \n")
    assert "belongs to --reseal" in cli.refused("doctor", "--note", "x")


@pytest.mark.parametrize(
    "action", [("renumber",), ("renumber", "101"), ("x", "1", "2"), ("renumber", "101", "../x"), ("renumber", "5", "6")]
)
def test_wrong_actions_are_refused(git: Place, cli: Cli, action: tuple[str, ...]) -> None:
    """What is no action, no id or no task is one line, and changes nothing."""
    before = tree(git.root)
    cli.refused("doctor", *action)
    assert tree(git.root) == before


def test_renumber_tells_what_it_did(git: Place, cli: Cli) -> None:
    """Each file is named; the result is as of every command that writes."""
    data = cli.json("doctor", "renumber", TASK, "7")
    assert data["path"] == ".taskstate/tasks/task-7-state.md"
    assert data["changed"] is True
    assert cli.ok("show", "7")
    assert json.dumps(data["notes"]).count("task-101-state.md") == 1
    assert not git.path.exists()


def test_what_a_configuration_weakens_is_listed(place: Place, cli: Cli) -> None:
    """Each key that lets something pass which the default would not is a note."""
    assert "weakened" not in checks(cli, status=0)
    place.configure(
        'exclude = ["old/**"]\nsecrets.allow = ["^EXAMPLE_"]\nhandoff.minimum-progress = false\nsize.max-kb = 500\n'
        '[lint]\nignore = ["TS951"]\nappend-only = "pushed"\n'
        '[lint.severity]\nTS404 = "warning"\n[lint.per-file-ignores]\n"a.md" = ["TS5"]\n'
    )
    notes = [each for each in cli.json("doctor")["ailments"] if each["check"] == "weakened"]
    assert all(each["note"] and each["path"] == "taskstate.toml" for each in notes)
    keys = [each["message"].partition(":")[0].strip("`") for each in notes]
    assert keys == [
        *("secrets.allow", "exclude", "lint", "lint.per-file-ignores", "lint.severity", "lint.append-only"),
        *("size.max-kb", "handoff.minimum-progress"),
    ]
    assert "^EXAMPLE_" in notes[0]["message"]
    assert "TS951" in notes[2]["message"]


def test_a_configuration_that_asks_for_more_is_no_note(place: Place, cli: Cli) -> None:
    """Smaller limits and more rules weaken nothing."""
    place.configure('size.max-kb = 60\n[lint]\nselect = ["ALL"]\n[lint.severity]\nTS404 = "error"\n')
    assert "weakened" not in checks(cli, status=0)


def test_a_configuration_that_allows_every_secret_is_wrong(place: Place, cli: Cli) -> None:
    """It is no configuration, for any command."""
    place.configure('secrets.allow = [".*"]\n')
    assert checks(cli) == {"configuration"}

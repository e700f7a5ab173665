"""`lint` and `lint --staged` on real repositories: what was committed may not be rewritten."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.storage.git import client
from tests.support.place import SESSION, Place, said

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli
    from tests.conftest import RunCli

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

STATE = ".taskstate/tasks/task-101-state.md"
LOG = "## 4. Progress Log"
WRONG = ("- did 2\n", "- did something else\n")


def git(root: Path, *arguments: str, check: bool = True) -> str:
    """Return what git says."""
    done = subprocess.run(["git", *arguments], cwd=root, check=check, capture_output=True, encoding="utf-8")
    return done.stdout.strip()


def commit(place: Place) -> None:
    """Commit all that there is."""
    git(place.root, "add", "--all")
    git(place.root, "commit", "--quiet", "--allow-empty", "--message", "work")


@pytest.fixture
def place(repository: Path) -> Place:
    """Return a git repository whose first commit holds task 101, in progress, with three sessions."""
    place = Place(repository, features=(("jwt-1", "makes a JWT"), ("jwt-2", "refuses an expired one")))
    place.fill(1, 2, 3)
    place.text = place.text.replace("status: created", "status: in_progress")
    place.prove("jwt-1")
    commit(place)
    return place


def codes(cli: Cli, *arguments: str | Path) -> list[str]:
    """Return the codes that linting finds, the same ones twice: when all is read, and when it is recorded."""
    matches = [each["code"] for each in _findings(cli, *arguments)]
    assert [each["code"] for each in _findings(cli, *arguments)] == matches
    return matches


def _findings(cli: Cli, *arguments: str | Path) -> list[dict[str, str]]:
    result = cli("lint", *arguments, "--output-format", "json")
    matches: list[dict[str, str]] = json.loads(result.out)["findings"]
    assert result.status == int(any(each["severity"] == "error" for each in matches))
    return matches


# Sessions


def test_an_edited_session(cli: Cli, place: Place) -> None:
    """A committed session that was edited is an error where it stands, and the help says how to get it back."""
    place.text = place.text.replace(*WRONG)
    assert codes(cli, "--against", "none") == []
    assert codes(cli) == codes(cli, place.path) == codes(cli, "--against", "HEAD") == ["TS405"]
    output = cli("lint").out
    line = place.text[: place.text.index(WRONG[1])].count("\n") + 1
    assert f"{STATE}:{line}:1 TS405" in output
    assert "session 2 (2026-01-03 10:00) was rewritten" in output
    assert "`taskstate session restore 101 2 --from HEAD` puts it back as committed" in output
    assert "`taskstate session restore 101 2 --from main` puts" in cli("lint", "--against", "main").out
    cli.ok("session", "restore", "101", "2", "--from", "main")
    assert codes(cli) == []


def test_a_session_in_an_altered_archive(cli: Cli, place: Place) -> None:
    """Nothing can be taken out of an archive with a fault: the cure is the committed text, until that is mended."""
    cli.ok("archive", "101", "--force", "--keep", "1")
    cure, good = "archive restore 101 &&", place.archived
    place.archive_path.write_text(good.replace("did 2", "did nothing"), encoding="utf-8")
    said = cli("lint").out
    assert cure not in said
    assert f"put it back as `git show HEAD:{STATE}` has it" in said


def test_a_removed_session(cli: Cli, place: Place) -> None:
    """A committed session that is missing is an error at the log; one that is not committed may go."""
    whole = place.text
    place.add("more")
    assert codes(cli, "--against", "HEAD") == []
    place.text = whole
    assert codes(cli, "--against", "HEAD") == []
    place.text = whole.replace(SESSION.format(3, 4, said(3)), "")
    assert "TS405" in codes(cli, "--against", "HEAD")


def test_an_archived_session(cli: Cli, place: Place) -> None:
    """Archiving loses nothing, unless its file is not committed with it."""
    cli.ok("archive", "101", "--force", "--keep", "1")
    assert codes(cli, "--against", "HEAD") == []
    git(place.root, "add", STATE)
    git(place.root, "add", "--intent-to-add", "--all")
    assert "TS405" not in codes(cli, "--against", "HEAD")
    place.archive_path.unlink()
    assert "TS405" in codes(cli, "--against", "HEAD")
    assert "help: `taskstate doctor --fix` brings back" in cli("lint").out


@pytest.mark.parametrize("staged", [True, False])
def test_a_renamed_file(cli: Cli, place: Place, staged: bool) -> None:  # noqa: FBT001 - both ways
    """A file that moved is compared with what it was, staged and before it is."""
    target = place.root / "docs" / "task-101-state.md"
    target.parent.mkdir()
    place.path.rename(target)
    text = target.read_bytes().decode()
    assert codes(cli, "--against", "HEAD") == []
    target.write_bytes(text.replace(*WRONG).encode())
    if staged:
        git(place.root, "add", "--all")
    assert codes(cli, "--against", "HEAD") == ["TS405"]
    assert codes(cli, "--against", "HEAD", target) == ["TS405"]
    assert "`taskstate session restore 101 2 --from HEAD` puts" in cli("lint", "--against", "HEAD").out


def test_a_task_with_another_id(cli: Cli, place: Place) -> None:
    """A task that was renumbered keeps its past, its archive too."""
    cli.ok("archive", "101", "--force", "--keep", "2")
    commit(place)
    cli.ok("doctor", "renumber", "101", "202")
    assert codes(cli, "--against", "HEAD") == []
    target = place.path.with_name("task-202-state.md")
    target.write_bytes(target.read_bytes().replace(WRONG[0].encode(), WRONG[1].encode()))
    assert codes(cli, "--against", "HEAD") == ["TS405"]
    git(place.root, "add", "--all")
    assert codes(cli, "--staged") == ["TS405"]


def test_a_new_file(cli: Cli, place: Place) -> None:
    """A file that no commit holds has no past."""
    place.new("102")
    place.path.unlink()
    place.path.with_name("task-102-state.md").rename(place.path.with_name("task-103-state.md"))
    assert "TS405" not in codes(cli, "--against", "HEAD", place.path.with_name("task-103-state.md"))


def test_several_edited_sessions(cli: Cli, place: Place) -> None:
    """Sessions that were rewritten together are one finding, whose command puts all of them back."""
    place.text = place.text.replace("- did ", "- made ")
    assert codes(cli) == ["TS405"]
    assert "`taskstate session restore 101 1 2 3 --from HEAD` puts them back" in cli("lint").out
    cli.ok("session", "restore", "101", "1", "2", "3", "--from", "HEAD")
    assert codes(cli) == []


def test_an_archive_with_uncommitted_sessions_is_not_taken_back(cli: Cli, place: Place) -> None:
    """The committed archive would lose what was archived since, so nothing advises to take it back."""
    cli.ok("archive", "101", "--force", "--keep", "2")
    commit(place)
    place.archive_path.write_bytes(place.archive_path.read_bytes().replace(b"- did 1", b"- did nothing"))
    assert "`git restore --source HEAD --" in cli("lint").out
    git(place.root, "checkout", "--quiet", "--", ".")
    cli.ok("archive", "101", "--force", "--keep", "1")
    place.archive_path.write_bytes(place.archive_path.read_bytes().replace(b"- did 1", b"- did nothing"))
    said = cli("lint").out
    assert "session 1 was altered" in said
    assert "--source HEAD" not in said
    assert "`git log --oneline -- " in said


def test_the_file_of_an_upstream_task_is_gone(cli: Cli, place: Place) -> None:
    """One finding says that the file is gone, and how it comes back; beside it the dependent task has none."""
    place.new("102", depends_on=("101",))
    commit(place)
    before = place.text
    place.path.unlink()
    assert codes(cli) == codes(cli, "--against", "HEAD") == ["TS012"]
    git(place.root, "add", "--all")
    assert codes(cli, "--staged") == ["TS012"]
    other = place.path.with_name("task-102-state.md")
    assert codes(cli, other) == codes(cli, "--against", "none") == ["TS902"]
    said = cli("lint", str(other)).out
    assert "the state file of task 101 is gone, and `depends_on` names it" in said
    command = f"git checkout HEAD -- :/{STATE}"
    assert f"`{command}` restores it" in said
    git(place.root, *command.split()[1:])
    assert (place.text, codes(cli)) == (before, [])


# Merging


@pytest.fixture
def merging(place: Place) -> Place:
    """Return a repository in which two branches are being merged that each recorded a session 4."""
    git(place.root, "switch", "--quiet", "--create", "theirs")
    place.add("theirs")
    commit(place)
    git(place.root, "switch", "--quiet", "main")
    place.add("ours")
    commit(place)
    git(place.root, "merge", "--no-commit", "theirs", check=False)
    return place


def test_a_merge_keeps_both_sides(cli: Cli, merging: Place) -> None:
    """While merging, sessions of both sides are looked for, under whatever number."""
    ours = git(merging.root, "show", f"HEAD:{STATE}") + "\n"
    theirs = git(merging.root, "show", f"MERGE_HEAD:{STATE}") + "\n"
    assert ours.count("### Session 4") == theirs.count("### Session 4") == 1
    session = theirs[theirs.index("### Session 4") : theirs.index("## 5. Git History")]
    merged = ours.replace("## 5. Git History", session.replace("Session 4", "Session 5") + "## 5. Git History")
    merging.text = merged
    assert "TS405" not in codes(cli, "--against", "HEAD")
    merging.text = ours
    assert "TS405" in codes(cli, "--against", "HEAD")
    merged = git(merging.root, "rev-parse", "--short=10", "MERGE_HEAD")
    assert f"`taskstate session restore 101 4 --from {merged}` puts" in cli("lint", "--against", "HEAD").out
    cli.ok("session", "restore", "101", "4", "--from", merged)
    assert "TS405" not in codes(cli, "--against", "HEAD")
    merging.text = theirs
    assert "`taskstate session restore 101 4 --from HEAD` puts" in cli("lint", "--against", "HEAD").out
    cli.ok("session", "restore", "101", "4", "--from", "HEAD")
    assert "TS405" not in codes(cli, "--against", "HEAD")


@pytest.mark.skipif(sys.platform == "win32", reason="the hook is a script of a shell")
def test_a_merge_that_git_finishes_itself(place: Place) -> None:
    """In its own hook for merges git tells what is merged in another way; what the merge loses is seen there too."""
    git(place.root, "switch", "--quiet", "--create", "theirs")
    place.add("theirs")
    (place.root / "theirs.py").touch()
    commit(place)
    git(place.root, "switch", "--quiet", "main")
    (place.root / "ours.py").touch()
    commit(place)
    hook = place.root / ".git" / "hooks" / "pre-merge-commit"
    hook.write_text(f"#!/bin/sh\n{shlex.quote(sys.executable)} -m taskstate lint --staged >&2\n", encoding="utf-8")
    hook.chmod(0o755)
    merge = ["git", "merge", "--message", "merge", "theirs"]
    refused = subprocess.run([*merge, "--strategy", "ours"], cwd=place.root, capture_output=True, check=False)
    assert refused.returncode != 0
    assert b"TS405" in refused.stderr
    git(place.root, "merge", "--abort", check=False)
    assert subprocess.run(merge, cwd=place.root, capture_output=True, check=False).returncode == 0


def test_a_merge_is_renumbered(cli: Cli, merging: Place) -> None:
    """What a merge brought twice is renumbered where that is requested, and nothing is lost by it."""
    ours = git(merging.root, "show", f"HEAD:{STATE}") + "\n"
    theirs = git(merging.root, "show", f"MERGE_HEAD:{STATE}") + "\n"
    session = ours[ours.index("### Session 4") : ours.index("## 5. Git History")]
    merging.text = theirs.replace("## 5. Git History", session + "## 5. Git History")
    assert "TS402" in codes(cli, "--against", "HEAD")
    cli("lint", "--against", "HEAD", "--fix")
    assert merging.text.count("### Session 4") == 2
    cli("lint", "--against", "HEAD", "--fix", "--unsafe-fixes")
    assert (merging.text.count("### Session 4"), merging.text.count("### Session 5")) == (1, 1)
    assert codes(cli, "--against", "HEAD") == []


def test_a_number_given_twice_is_mended_where_it_is_new(cli: Cli, place: Place) -> None:
    """The second of two sessions with a number is renumbered safely where no commit holds it."""
    place.fill(3)
    place.text = place.text.replace("- did 3\n", "- did another\n").replace("- did another\n", "- did 3\n", 1)
    place.text = place.text.replace("Session 3 - 2026-01-04", "Session 3 - 2026-01-05").replace(
        "Session 3 - 2026-01-05", "Session 3 - 2026-01-04", 1
    )
    assert "TS402" in codes(cli, "--against", "HEAD")
    cli("lint", "--fix", "--against", "none")
    assert place.text.count("### Session 3 ") == 2
    cli("lint", "--fix", "--against", "HEAD")
    assert (place.text.count("### Session 3 "), place.text.count("### Session 4 ")) == (1, 1)
    assert codes(cli, "--against", "HEAD") == ["TS403"]  # its time lies before the task was created


# The index


def test_the_index_is_what_will_be_committed(cli: Cli, place: Place) -> None:
    """What is staged is checked, whatever is on disk; and what is on disk is not, before it is staged."""
    good = place.text
    place.text = good.replace(*WRONG)
    assert codes(cli, "--staged") == []
    assert codes(cli, "--against", "HEAD") == ["TS405"]
    git(place.root, "add", "--all")
    place.text = good
    assert codes(cli, "--staged") == ["TS405"]
    assert codes(cli, "--against", "HEAD") == []


def test_an_archive_that_is_not_staged(cli: Cli, place: Place) -> None:
    """Sessions that went into an archive file which is not committed with them are lost."""
    cli.ok("archive", "101", "--force", "--keep", "2")
    commit(place)
    cli.ok("archive", "101", "--force", "--keep", "1")
    git(place.root, "add", STATE)
    assert "TS405" in codes(cli, "--staged")
    git(place.root, "add", "--all")
    assert codes(cli, "--staged") == []


def test_a_file_that_has_not_changed_costs_no_git(
    cli: Cli, place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A result from the cache holds as long as file and HEAD are the same, without git; a new HEAD is noticed."""
    place.text = place.text.replace(*WRONG)
    expected = codes(cli, place.path)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path / "nothing"))
        assert codes(cli, place.path) == expected == ["TS405"]
    commit(place)
    assert codes(cli, place.path) == []
    git(place.root, "reset", "--quiet", "--soft", "HEAD~1")
    assert codes(cli, place.path) == ["TS405"]


def test_only_what_differs_is_read_from_git(cli: Cli, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is compared by its hash; where that is HEAD's, git is not asked for the content."""
    read: list[str] = []
    monkeypatch.setattr(client.Objects, "read", lambda _, name: read.append(name))
    assert codes(cli, "--no-cache") == []
    assert read == []
    place.add("more")
    codes(cli, "--no-cache")
    assert read


def test_an_empty_revision_is_refused(cli: Cli, place: Place) -> None:
    """A variable of a script that is not set must not switch the comparison off."""
    assert "--against names no revision" in cli.refused("lint", "--against", "")
    assert place.text


def test_what_is_not_pushed_may_be_amended(cli: Cli, place: Place) -> None:
    """With `append-only = "pushed"` a committed session may be changed until it is pushed."""
    place.configure('[lint]\nappend-only = "pushed"\n')
    place.text = place.text.replace(*WRONG)
    assert codes(cli) == []
    assert codes(cli, "--against", "HEAD") == ["TS405"]
    remote = place.root.parent / "remote.git"
    git(place.root, "init", "--quiet", "--bare", str(remote))
    git(place.root, "remote", "add", "origin", str(remote))
    git(place.root, "push", "--quiet", "--set-upstream", "origin", "main")
    assert codes(cli) == ["TS405"]
    assert "append-only" not in cli("lint").out
    git(place.root, "commit", "--quiet", "--all", "--amend", "--message", "amended")
    assert codes(cli) == ["TS405"]


# Other rules


def test_a_state_file_that_is_gone(cli: Cli, place: Place) -> None:
    """A state file that is missing is an error, where its folder is checked; the command named brings it back."""
    place.new("102")
    commit(place)
    place.path.unlink()
    assert codes(cli, "--against", "none") == []
    assert codes(cli) == codes(cli, place.path.parent) == ["TS012"]
    assert codes(cli, place.path.with_name("task-102-state.md")) == []
    assert codes(cli, "--staged") == []
    git(place.root, "add", "--all")
    assert codes(cli, "--staged") == ["TS012"]
    cure = f"git checkout HEAD -- :/{STATE}"
    assert f"`{cure}` restores it" in cli("lint").out
    git(place.path.parent, *shlex.split(cure)[1:])
    assert codes(cli) == codes(cli, "--staged") == []


def test_an_archive_that_is_gone(cli: Cli, place: Place) -> None:
    """An archive that the state file stands for is an error once it is missing, wherever the task is checked."""
    cli.ok("archive", "101", "--force", "--keep", "1")
    commit(place)
    place.archive_path.unlink()
    assert codes(cli) == codes(cli, place.path) == codes(cli, place.archive_path.parent) == ["TS012"]
    git(place.root, "add", "--all")
    assert codes(cli, "--staged") == ["TS012"]
    cure = f"git checkout HEAD -- :/.taskstate/archives/{place.archive_path.name}"
    assert f"`{cure}` restores it" in cli("lint").out
    git(place.root, *shlex.split(cure)[1:])
    assert codes(cli) == []
    cli.ok("archive", "restore", "101", "--all")
    place.archive_path.unlink(missing_ok=True)
    assert "TS012" not in codes(cli)


@pytest.mark.parametrize(
    "target",
    [
        *("notes.md", "task-101.md", "old/task-101-state.md", "task-101-archive.md"),
        ".taskstate/artifacts/task-101-state.md",
    ],
)
def test_a_state_file_out_of_reach(cli: Cli, place: Place, target: str) -> None:
    """A state file is gone, too, under a name or in a folder where it is not looked for."""
    place.configure('exclude = ["old/**"]\n')
    commit(place)
    (place.root / target).parent.mkdir(exist_ok=True, parents=True)
    place.path.rename(place.root / target)
    assert "TS012" in codes(cli)
    git(place.root, "add", "--all", "--force")
    assert "TS012" in codes(cli, "--staged")


@pytest.mark.parametrize("command", [("complete", "101", "--force"), ("drop", "101", "--note", "the library does it")])
def test_a_task_that_is_closed_may_go(cli: Cli, place: Place, command: tuple[str, ...]) -> None:
    """The state file of a task that is closed may be deleted, its archive with it."""
    cli.ok("archive", "101", "--force", "--keep", "1")
    if command[0] == "drop":
        cli.ok(*command)
    else:
        place.text = place.text.replace("status: in_progress", "status: complete")
    commit(place)
    place.path.unlink()
    place.archive_path.unlink()
    assert codes(cli) == []


def test_work_without_a_session(cli: Cli, place: Place) -> None:
    """Work on files of the task wants a session; files of a like name do not matter."""
    head = "### Acceptance Criteria"
    place.text = place.text.replace(head, f"### Scope\n\nTokens.\n\n{head}", 1).replace(
        "## 2. Chain Inputs", "### Repository Paths\n\n- `src/auth/**`\n- `:ui`\n\n## 2. Chain Inputs", 1
    )
    place.configure('[scope]\nui = ["web/*.css"]\n')
    commit(place)
    (place.root / "src" / "authentication").mkdir(parents=True)
    (place.root / "src" / "authentication" / "a.py").touch()
    assert codes(cli, "--against", "HEAD") == []
    (place.root / "web").mkdir()
    (place.root / "web" / "a.css").touch()
    assert codes(cli, "--against", "HEAD") == ["TS408"]
    assert codes(cli, "--staged") == []
    git(place.root, "add", "--all")
    assert codes(cli, "--staged") == ["TS408"]
    cli.ok("session", "add", "101", "--did", "styled", "--state", "works", "--next", "go on")
    git(place.root, "add", "--all")
    assert codes(cli, "--staged") == []


COMMANDS = {
    "session add": (("session", "add", "101", "--did", "more", "--state", "works", "--next", "go on"), set()),
    "feature pass": (("feature", "pass", "101", "jwt-2", "--evidence", "seen"), {"TS408"}),
    "feature fail": (("feature", "fail", "101", "jwt-1"), {"TS308"}),
    "feature add": (("feature", "add", "101", "jwt-3", "signs with Ed25519"), {"TS408"}),
    "criterion check": (("criterion", "check", "101", "1"), set()),
    "archive": (("archive", "101", "--force", "--keep", "1"), set()),
    "new": (("new", "103", "--title", "T", "--depends-on", "101", "--description", "D", "--criterion", "C"), set()),
    "fix": (("lint", "--fix", "--unsafe-fixes"), set()),
    "fmt": (("fmt",), set()),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_our_own_commands_rewrite_nothing(cli: Cli, place: Place, name: str, newline: str) -> None:
    """No command causes a finding, except that work without a session is reported until there is one."""
    place.text = place.text.replace("\n", newline)
    place.configure('[lint]\nignore = ["TS902"]\n')
    commit(place)
    command, expected = COMMANDS[name]
    cli.ok(*command)
    assert set(codes(cli, "--against", "HEAD")) == expected
    cli.ok(*COMMANDS["session add"][0])
    assert set(codes(cli, "--against", "HEAD")) == expected - {"TS408"}
    git(place.root, "add", "--all")
    assert set(codes(cli, "--staged")) == expected - {"TS408"}
    commit(place)
    assert codes(cli, "--against", "HEAD") == []
    assert set(codes(cli, "--against", "HEAD~1")) == expected - {"TS408"}


# What cannot be compared


def test_a_missing_revision_is_one_warning(cli: Cli, place: Place) -> None:
    """A revision that is missing is reported in one line; the other rules speak, and decide the exit status."""
    result = cli("lint", "--against", "nope")
    assert (result.status, result.err) == (
        0,
        "not compared with nope: there is no such commit here; name another one, or fetch it first\n",
    )
    for words in (("--against", "--output=x"), ("--against=--output=x",)):  # never a flag for git
        assert cli("lint", *words).status == 0
    assert not (place.root / "x").exists()
    place.text = place.text.replace("# Task #101: JWT Service", "# Task #101: JWT service")
    result = cli("lint", "--against", "nope")
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert "TS206" in result.out


def test_a_shallow_clone_is_one_warning(cli: Cli, place: Place, tmp_path: Path, run_cli: RunCli) -> None:
    """In a shallow clone what is there is compared, and what is not is reported."""
    cli.ok(*COMMANDS["session add"][0])
    commit(place)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{place.root}", str(clone))
    (clone / STATE).write_bytes((clone / STATE).read_bytes().replace(WRONG[0].encode(), WRONG[1].encode()))
    lacking = run_cli("lint", "--against", "HEAD~1", cwd=clone)
    assert (lacking.returncode, lacking.stderr.count("\n")) == (0, 1)
    assert "this clone is shallow and lacks it" in lacking.stderr
    assert run_cli("lint", "--against", "HEAD", cwd=clone).returncode == 1


def test_before_the_first_commit(repository: Path, run_cli: RunCli) -> None:
    """Before the first commit nothing is compared, and nothing is reported."""
    Place(repository)
    git(repository, "add", "--all")
    for flags in (("--against", "HEAD"), ("--staged",)):
        done = run_cli("lint", *flags)
        assert (done.returncode, done.stderr) == (0, ""), done


def test_taking_a_fix_back_is_no_loss(cli: Cli, place: Place) -> None:
    """`git checkout` of a file that was fixed brings the committed text back: no command tells of anything gone."""
    place.text = place.text.replace("# Task #101: JWT Service", "# Task #101: JWT service")
    commit(place)
    before = place.text
    cli.ok("lint", "--fix")
    assert place.text != before
    git(place.root, "checkout", "--", STATE)
    assert place.text == before
    for command in (("list",), ("doctor",), ("session", "add", "101", "--did", "x", "--state", "y", "--next", "z")):
        result = cli(*command)
        assert (result.status, result.err) == (0, "")

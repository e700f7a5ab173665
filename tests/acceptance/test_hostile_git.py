"""What a repository makes git do: every program that its configuration can name, and every connection."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.storage.git import process
from tests.support.kept_place import TASK, Repo, story

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

# Settings that name a program, a place for one, or something to connect to; `!` stands for the program.
DRIVERS = {
    "monitor": {"core.fsmonitor": "!"},
    "pager": {"core.pager": "!", "pager.log": "!", "pager.diff": "!", "pager.status": "true"},
    "editor": {"core.editor": "!", "sequence.editor": "!"},
    "textconv": {"diff.hostile.textconv": "!", "diff.hostile.cachetextconv": "true"},
    "external diff": {"diff.external": "!", "diff.hostile.command": "!"},
    "merge": {"merge.hostile.driver": "! %O %A %B", "merge.tool": "hostile", "mergetool.hostile.cmd": "!"},
    "askpass": {"core.askPass": "!", "credential.helper": "!"},
    "ssh": {"core.sshCommand": "!", "core.gitProxy": "!", "ssh.variant": "simple"},
    "signing": {"gpg.program": "!", "log.showSignature": "true", "commit.gpgSign": "true", "gpg.ssh.program": "!"},
    "alias": {f"alias.{name}": "!!" for name in ("status", "log", "diff", "ls-files", "cat-file", "add", "rev-parse")},
    "trailer": {"trailer.x.cmd": "!", "interactive.diffFilter": "!", "sendemail.sendmailCmd": "!"},
    "split index": {"core.splitIndex": "true", "core.untrackedCache": "true", "index.threads": "8"},
}
COMMANDS = (
    ("list",),
    ("status",),
    ("next",),
    ("brief", TASK),
    ("lint",),
    ("lint", "--against", "HEAD"),
    ("lint", "--against", "HEAD~1"),
    ("lint", "--staged"),
    ("doctor",),
    ("git-history", "sync", TASK),
    ("report", "--pull-request", "--base", "HEAD~1"),
    ("start", TASK, "--role", "implementer"),
    ("snapshot", "take", TASK, "--role", "implementer"),
    ("snapshot", "verify", TASK, "--role", "implementer"),
    ("snapshot", "diff", TASK, "--role", "implementer", "--format", "json"),
    ("snapshot", "diff", TASK, "--role", "implementer", "--type", "from-base", "--format", "json"),
    ("snapshot", "verify", TASK, "--role", "implementer", "--restore", "app.py"),
    ("session", "add", TASK, "--did", "x", "--state", "s", "--next", "n"),
    ("archive", TASK, "--force", "--keep", "1"),
    ("handoff", "new", TASK, "--action", "Go", "--file", "app.py", "--location", "here", "--goal", "Works"),
    ("complete", TASK),
    ("doctor", "--fix"),
)


class Trap:
    """A program that leaves a note when somebody runs it."""

    def __init__(self, folder: Path) -> None:
        self.notes = folder / "ran"
        self.program = folder / "hostile"
        self.program.write_text(f'#!/bin/sh\necho "$0 $@" >> {self.notes}\nexit 1\n', encoding="utf-8")
        self.program.chmod(0o755)

    def ran(self) -> str:
        """Return what was noted."""
        return self.notes.read_text(encoding="utf-8") if self.notes.exists() else ""


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """Return a program that must not be run."""
    return Trap(tmp_path)


def armed(root: Path, settings: dict[str, str], trap: Trap) -> Repo:
    """Return a repository with these settings, attributes that name its drivers, and work that is not committed."""
    repo = story(root)
    repo.write(".gitattributes", "* diff=hostile merge=hostile\n*.md diff=hostile merge=hostile\n")
    repo.commit("attributes")
    for key, value in settings.items():
        repo.git("config", key, f"!{trap.program}" if value == "!!" else value.replace("!", str(trap.program)))
    repo.write("app.py", "print('changed')\n")
    repo.write("new.py", "print('new')\n")
    return repo


def sweep(repo: Repo) -> None:
    """Run all commands; what each of them says is none of this test's business."""
    for command in COMMANDS:
        repo.run(*command)


@pytest.mark.parametrize("but", ["textconv", "external diff"])  # which git asks for one after the other
def test_no_driver_of_git_is_started(tmp_path: Path, trap: Trap, but: str) -> None:
    """Whatever program the repository's configuration names for git, no command of ours starts it."""
    settings = {key: value for kind, named in DRIVERS.items() if kind != but for key, value in named.items()}
    sweep(armed(tmp_path / "repository", settings, trap))
    assert trap.ran() == ""


def test_the_trap_works(tmp_path: Path, trap: Trap) -> None:
    """Git itself would have started these."""
    repo = armed(tmp_path / "repository", DRIVERS["monitor"] | DRIVERS["textconv"], trap)
    repo.git("status", fails=True)
    repo.git("diff", fails=True)
    assert trap.ran() != ""


def test_no_hook_is_run(tmp_path: Path, trap: Trap) -> None:
    """Neither those in git's folder nor those in a folder that the configuration names, committed or not."""
    repo = armed(tmp_path / "repository", {"core.hooksPath": "hooks"}, trap)
    for folder in (repo.root / "hooks", repo.root / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for name in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction"):
            shutil.copy(trap.program, folder / name)
    sweep(repo)
    assert trap.ran() == ""


def test_included_configuration_starts_nothing(tmp_path: Path, trap: Trap) -> None:
    """Not what the configuration includes, from the tree or on a condition."""
    repo = armed(tmp_path / "repository", {"include.path": "../evil", "includeIf.onbranch:**.path": "../evil"}, trap)
    repo.write("evil", f"[core]\n\tfsmonitor = {trap.program}\n\tpager = {trap.program}\n")
    sweep(repo)
    assert trap.ran() == ""


def test_committed_folder_is_no_repository(tmp_path: Path, trap: Trap) -> None:
    """Files that look like a bare repository, with a configuration of their own, are files."""
    repo = story(tmp_path / "repository")
    bare = repo.root / "vendor"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    settings = {"core.fsmonitor": trap.program, "core.bare": "false", "core.worktree": bare}
    for key, value in (settings | {"filter.x.clean": trap.program, "filter.x.process": trap.program}).items():
        subprocess.run(["git", "-C", str(bare), "config", key, str(value)], check=True)
    repo.write("vendor/.gitattributes", "* filter=x\n")
    shutil.copytree(repo.root / ".taskstate", bare / ".taskstate", dirs_exist_ok=True)
    repo.commit("vendor")
    inner = Repo(bare, init=False)
    for command in COMMANDS:
        inner.run(*command)
    assert trap.ran() == ""


def test_submodule_starts_nothing(tmp_path: Path, trap: Trap) -> None:
    """Git looks into submodules for changes; what their configuration names is not started there either."""
    library = story(tmp_path / "library")
    repo = story(tmp_path / "repository")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "sub")
    repo.commit("sub")
    for key in ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand"):
        repo.git("-C", "sub", "config", key, str(trap.program))
    repo.write("sub/app.py", "changed\n")
    sweep(repo)
    assert trap.ran() == ""


@pytest.mark.parametrize("name", ["config", "config.worktree"])
def test_working_tree_elsewhere_is_not_read(tmp_path: Path, name: str) -> None:
    """An unpacked archive may say that git's working tree is a folder of the user's: nothing is copied from there."""
    repo = story(tmp_path / "repository")
    outside = tmp_path / "outside"
    outside.mkdir()
    for each in ("app.py", "private.txt"):
        (outside / each).write_text("what only its owner may read\n", encoding="utf-8")
    repo.git("config", "extensions.worktreeConfig", "true")
    with (repo.root / ".git" / name).open("a", encoding="utf-8") as config:
        config.write(f"[core]\n\tworktree = {outside}\n")
    commands = (*COMMANDS, ("snapshot", "verify", TASK, "--role", "implementer", "--restore", "app.py"))
    said = [repo.run(*command) for command in commands]
    assert [each for each in said if "its owner" in each.out + each.err] == []
    listed = [repo.git("verify-pack", "-v", each) for each in (repo.root / ".taskstate").rglob("*.idx")]
    private = subprocess.run(
        ["git", "hash-object", str(outside / "private.txt")], capture_output=True, check=True, encoding="utf-8"
    ).stdout
    assert listed
    assert private.strip() not in "".join(listed)
    assert (repo.root / "app.py").read_text(encoding="utf-8") == "print('hello')\n"


def test_reading_leaves_the_index_as_it_is(tmp_path: Path) -> None:
    """What only reads does not lock and refresh git's index, not even where all times in it are old."""
    repo = story(tmp_path / "repository")
    for command in COMMANDS[:9]:
        for path in repo.root.glob("*.py"):
            os.utime(path, (1, 1))
        before = (repo.root / ".git/index").read_bytes()
        repo.run(*command)
        assert (repo.root / ".git/index").read_bytes() == before, command


# A partial clone


def partial(tmp_path: Path, trap: Trap) -> Repo:
    """Return a clone without the contents of older versions, which git would get by running the trap."""
    origin = story(tmp_path / "origin")
    origin.commit("last")
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.git("clone", "-q", "--filter=blob:none", f"file://{origin.root}", str(tmp_path / "clone"))
    repo = Repo(tmp_path / "clone", init=False)
    repo.name_author()
    repo.git("config", "remote.origin.url", f"ext::{trap.program} %S")
    for key in ("protocol.allow", "protocol.ext.allow"):
        repo.git("config", key, "always")
    return repo


@pytest.mark.parametrize("lazy", ["1", "0"], ids=["forbidden", "known to git too late"])
def test_partial_clone_fetches_nothing(tmp_path: Path, trap: Trap, lazy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command gets what is missing, with a git that can be told so and with one that cannot."""
    monkeypatch.setitem(process._SETTINGS, "GIT_NO_LAZY_FETCH", lazy)  # noqa: SLF001 - an older git does not know it
    repo = partial(tmp_path, trap)
    repo.write("app.py", "print('changed')\n")
    sweep(repo)
    assert trap.ran() == ""
    repo.git("cat-file", "-p", "HEAD~1:app.py", fails=True)
    repo.git("cat-file", "-p", "HEAD~1:.taskstate/tasks/task-101-state.md", fails=True)
    assert trap.ran() != "", "git itself would have run it"


def test_partial_clone_says_what_is_missing(tmp_path: Path, trap: Trap) -> None:
    """A version that is not here is no version that does not exist; the advice works in one step."""
    repo = partial(tmp_path, trap)
    repo.run("list")
    said = repo.run("lint", "--against", "HEAD~1")
    assert said.status == 2
    assert "this clone is partial" in said.err
    assert "git fetch --refetch --no-filter" in said.err
    repo.git("config", "remote.origin.url", f"file://{tmp_path / 'origin'}")
    repo.git("fetch", "-q", "--refetch", "--no-filter")
    assert repo.run("lint", "--against", "HEAD~1").status in {0, 1}


def test_configuration_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    """Where `.git/config` is a link, as an unpacked archive may have it, `init` leaves what it leads to as it is."""
    root, outside = tmp_path / "repository", tmp_path / "outside"
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    outside.write_text("", encoding="utf-8")
    (root / ".git" / "config").unlink()
    (root / ".git" / "config").symlink_to(outside)
    done = subprocess.run(
        [sys.executable, "-m", "taskstate", "init"], cwd=root, capture_output=True, check=False, timeout=60
    )
    assert b"is a link, and git would write where it leads: look at it, then run `git config" in done.stderr
    assert outside.read_text(encoding="utf-8") == ""


# Another repository's git directory


@pytest.mark.parametrize("way", ["a file", "a link", "commondir", "a worktree's"])
def test_another_repositorys_git_directory_is_left_alone(tmp_path: Path, way: str) -> None:
    """A folder whose `.git` leads to the user's repository gets nothing of it, and leaves no trace there."""
    victim = story(tmp_path / "victim")
    victim.git("worktree", "add", "-q", "-b", "side", tmp_path / "side")
    Repo(tmp_path / "side", init=False).session("secret of the worktree")
    victim.session("secret plan")
    before = {path: path.read_bytes() for path in (victim.root / ".git").rglob("*") if path.is_file()}
    evil = Repo(tmp_path / "evil", init=False)
    (evil.root / ".taskstate/tasks").mkdir(parents=True)
    (evil.root / "taskstate.toml").touch()
    if way == "a link":
        (evil.root / ".git").symlink_to(victim.root / ".git")
    elif way == "commondir":
        evil.git("init", "-q")
        evil.write(".git/commondir", f"{victim.root / '.git'}\n")
    else:
        evil.write(".git", f"gitdir: {victim.root / '.git'}{'/worktrees/side' if way.startswith('a w') else ''}\n")
    for command in (*COMMANDS, ("new", TASK, "--title", "x"), ("drop", TASK, "--note", "r"), ("init",)):
        assert "the repository of another folder" in evil.run(*command).err, command
    assert "which is neither read nor written" in evil.run("doctor").out
    texts = [path.read_bytes() for path in evil.root.rglob("*") if path.is_file() and ".git" not in path.parts]
    assert not any(b"secret" in text or b"Did 1" in text for text in texts)
    assert {path: path.read_bytes() for path in before} == before
    assert {path for path in (victim.root / ".git").rglob("*") if path.is_file()} == set(before)
    victim.git("checkout", "-q", "--", ".")
    victim.tells()

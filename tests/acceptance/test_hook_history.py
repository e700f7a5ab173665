"""The hooks, run by real managers, refuse a commit or a range of commits that loses or rewrites what was committed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.checkout import run, succeed
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

MANAGERS = ("pre-commit", "prek")
pytestmark = pytest.mark.slow
by_each_manager = pytest.mark.parametrize("manager", MANAGERS)  # where what they hand to a hook may differ

STATE = ".taskstate/tasks/task-101-state.md"
ARCHIVE = ".taskstate/archives/task-101-archive.md"
REWRITTEN = ("** one\n", "** another\n")


class Hooked:
    """A git repository with the hooks that `init` writes, installed by a manager; task 101 has a session."""

    def __init__(self, root: Path, manager: str, home: Path) -> None:
        self.root = root
        self.manager = manager
        self.env = {
            "PRE_COMMIT_HOME": str(home / "pre-commit"),
            "PREK_HOME": str(home / "prek"),
            "TASKSTATE_ACTOR": "somebody",
        }

    def ok(self, *command: str | Path) -> str:
        """Run a command that must end well."""
        return succeed(*command, cwd=self.root, env=self.env)

    def git(self, *arguments: str) -> str:
        """Run git, which must end well."""
        return self.ok("git", *arguments)

    def refused(self, *command: str) -> str:
        """Run a command that a hook must refuse, and return what was said."""
        done = run(*command, cwd=self.root, env=self.env)
        assert done.returncode != 0, done.stdout
        assert "taskstate lint" in done.stdout
        return done.stdout

    def save(self, *flags: str) -> None:
        """Commit everything; with `--no-verify` past the hooks."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "work", *flags)

    def session(self, did: str, task: str = "101") -> None:
        """Record a session."""
        self.ok("taskstate", "session", "add", task, "--did", did, "--state", "fine", "--next", "go on")

    def edit(self, old: str, new: str, name: str = STATE) -> None:
        """Change a file by hand."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def install(self) -> None:
        """Have git run the hooks, at merges too."""
        self.ok(self.manager, "install")


@pytest.fixture
def manager() -> str:
    """Return the manager that runs the hooks where a test does not say which."""
    return MANAGERS[0]


@pytest.fixture(scope="module")
def origins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return where the repository of each manager is made once; tests work on copies."""
    return {manager: tmp_path_factory.mktemp(manager) / "repository" for manager in MANAGERS}


@pytest.fixture
def there(repository: Path, manager: str, tmp_path: Path, origins: dict[str, Path]) -> Hooked:
    """Return a repository with hooks, in which task 101 with a session is committed."""
    origin = origins[manager]
    if not origin.exists():
        shutil.copytree(repository, origin)
        _make(Hooked(origin, manager, tmp_path))
    shutil.rmtree(repository)
    shutil.copytree(origin, repository)
    return Hooked(repository, manager, tmp_path)


def _make(there: Hooked) -> None:
    there.ok("taskstate", "init", "--pre-commit")
    there.install()
    for task in ("101", "102"):
        there.ok(
            *("taskstate", "new", task, "--title", "JWT Service", "--description", "Issue tokens."),
            *("--criterion", "Tokens verify", "--feature", "jwt-1=makes a JWT"),
        )
    there.session("one")
    there.save()


@by_each_manager
def test_a_state_file_that_goes_is_refused(there: Hooked) -> None:
    """An open task's file may not be deleted, nor get a name or folder under which nobody finds it."""
    (there.root / ".taskstate" / "artifacts").mkdir(exist_ok=True)
    for steps in (
        ("rm", "--quiet", "--cached", STATE),
        ("mv", STATE, "notes.md"),
        ("mv", STATE, ".taskstate/artifacts/task-101-state.md"),
    ):
        there.git(*steps)
        assert "TS012" in there.refused("git", "commit", "--message", "gone")
        there.git("reset", "--quiet", "--hard")
    there.save()


def test_an_archive_that_goes_is_refused(there: Hooked) -> None:
    """An archive stays as long as the state file stands for sessions in it."""
    there.session("two")
    there.ok("taskstate", "archive", "101", "--force", "--keep", "1")
    there.save()
    there.git("rm", "--quiet", ARCHIVE)
    assert "TS012" in there.refused("git", "commit", "--message", "gone")


def test_a_closed_task_may_go(there: Hooked) -> None:
    """The file of a dropped task may be deleted."""
    there.ok("taskstate", "drop", "101", "--note", "the library does it")
    there.save()
    there.git("rm", "--quiet", STATE)
    there.git("commit", "--message", "gone")


def test_warnings_are_shown_and_nothing_is_short(there: Hooked) -> None:
    """A hook that passes shows its warnings; where nothing of ours changes it says so in a line."""
    (there.root / "code.py").touch()
    there.git("add", "--all")
    quiet = there.ok("git", "commit", "--message", "code")
    assert "No findings in 0 files." in quiet
    there.ok("taskstate", "feature", "pass", "102", "jwt-1", "--evidence", "seen")
    there.edit("status: created", "status: in_progress", STATE.replace("101", "102"))
    there.git("add", "--all")
    assert "TS408" in there.ok("git", "commit", "--message", "work")


def test_other_faults_do_not_block_a_commit(there: Hooked) -> None:
    """A commit is judged by what it changes, and `--all-files` looks at everything."""
    there.edit('"passes": false', '"passes": maybe')
    there.save("--no-verify")
    there.session("more", "102")
    there.save()
    assert "TS005" in there.refused(there.manager, "run", "--all-files")


def test_partial_staging(there: Hooked) -> None:
    """What is staged counts: a good file on disk saves no bad one in the index, nor the other way round."""
    good = (there.root / STATE).read_bytes()
    there.edit(*REWRITTEN)
    there.git("add", STATE)
    (there.root / STATE).write_bytes(good)
    assert "TS405" in there.refused("git", "commit", "--message", "staged")
    there.git("reset", "--quiet")
    there.edit(*REWRITTEN)
    (there.root / "code.py").touch()
    there.git("add", "code.py")
    there.git("commit", "--message", "code")


def test_an_amended_commit(there: Hooked) -> None:
    """A session that is committed is not amended, unless only what was pushed is protected, and it was not."""
    there.edit(*REWRITTEN)
    there.git("add", "--all")
    said = there.refused("git", "commit", "--amend", "--no-edit")
    assert "TS405" in said
    assert 'append-only = "pushed"' in said
    (there.root / "taskstate.toml").write_text('[lint]\nappend-only = "pushed"\n', encoding="utf-8")
    there.git("add", "--all")
    there.git("commit", "--amend", "--no-edit")
    remote = there.root.parent / "remote.git"
    there.git("init", "--quiet", "--bare", str(remote))
    there.git("push", "--quiet", "--set-upstream", str(remote), "main")
    there.git("remote", "add", "origin", str(remote))
    there.git("fetch", "--quiet", "origin")
    there.git("branch", "--set-upstream-to", "origin/main")
    there.edit(*reversed(REWRITTEN))
    there.git("add", "--all")
    assert "TS405" in there.refused("git", "commit", "--amend", "--no-edit")


@by_each_manager
def test_a_merge_that_loses_a_session(there: Hooked) -> None:
    """A merge that git finishes itself is checked by its own hook type, which `init` sets up."""
    there.git("switch", "--quiet", "--create", "theirs")
    there.session("theirs")
    there.save()
    there.git("switch", "--quiet", "main")
    there.session("ours", "102")
    there.save()
    assert "TS405" in there.refused("git", "merge", "--strategy", "ours", "--message", "merge", "theirs")
    there.git("merge", "--abort")
    there.git("merge", "--message", "merge", "theirs")


def test_a_merge_that_is_finished_by_hand(there: Hooked) -> None:
    """A merge that deletes the file of an open task is refused as a commit is."""
    there.git("switch", "--quiet", "--create", "theirs")
    there.session("theirs")
    there.save()
    there.git("switch", "--quiet", "main")
    there.session("ours", "102")
    there.save()
    there.git("merge", "--no-commit", "theirs")
    there.git("rm", "--quiet", "--force", STATE)
    assert "TS012" in there.refused("git", "commit", "--message", "merge")


@by_each_manager
def test_a_range_of_commits(there: Hooked) -> None:
    """`--from-ref` and `--to-ref` compare with the place where the first was left, whatever came there since."""
    there.git("switch", "--quiet", "--create", "work")
    there.session("mine")
    there.save()
    there.git("switch", "--quiet", "main")
    there.session("theirs")
    there.save()
    there.git("switch", "--quiet", "work")
    between = ("run", "--from-ref", "main", "--to-ref", "work")
    there.ok(there.manager, *between)
    there.edit(*REWRITTEN)
    there.save("--no-verify")
    assert "TS405" in there.refused(there.manager, *between)
    there.git("rm", "--quiet", STATE)
    there.save("--no-verify")
    assert "TS012" in there.refused(there.manager, *between)
    there.git("switch", "--quiet", "main")
    assert "TS012" in there.refused(there.manager, *between)
    there.ok(there.manager, "run", "--from-ref", "main", "--to-ref", "main")


def test_all_files_check_the_last_commit(there: Hooked) -> None:
    """Where nothing is staged, as in a service, the last commit is compared with the one before it."""
    there.ok(there.manager, "run", "--all-files")
    there.edit(*REWRITTEN)
    there.save("--no-verify")
    assert "TS405" in there.refused(there.manager, "run", "--all-files")


@by_each_manager
def test_a_push(there: Hooked) -> None:
    """A commit that went past its hook is refused when it is pushed."""
    remote = there.root.parent / "remote.git"
    there.git("init", "--quiet", "--bare", str(remote))
    there.git("remote", "add", "origin", str(remote))
    there.ok(there.manager, "install", "--hook-type", "pre-push")
    there.git("push", "--quiet", "--set-upstream", "origin", "main")
    there.session("two")
    there.save()
    there.git("push", "--quiet")
    there.edit(*REWRITTEN)
    there.save("--no-verify")
    assert "TS405" in there.refused("git", "push")
    there.git("reset", "--quiet", "--hard", "HEAD~1")
    there.edit("** two", "** second")
    there.git("commit", "--quiet", "--all", "--no-verify", "--amend", "--no-edit")
    assert "TS405" in there.refused("git", "push", "--force")


def test_a_shallow_clone(there: Hooked, manager: str, tmp_path: Path) -> None:
    """In a shallow clone what is there is compared, and what is lacking is told in a line."""
    there.session("two")
    there.save()
    clone = Hooked(tmp_path / "clone", manager, tmp_path)
    there.git("clone", "--quiet", "--depth", "1", f"file://{there.root}", str(clone.root))
    for key in ("user.name", "user.email"):
        clone.git("config", key, "somebody@example.invalid")
    clone.install()
    clone.edit(*REWRITTEN)
    clone.git("add", "--all")
    assert "TS405" in clone.refused("git", "commit", "--message", "rewritten")
    clone.git("reset", "--quiet", "--hard")
    assert "this clone is shallow" in clone.ok(manager, "run", "--all-files")


def test_a_worktree(there: Hooked, manager: str, tmp_path: Path) -> None:
    """A linked worktree has a HEAD and an index of its own."""
    there.git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    tree = Hooked(tmp_path / "tree", manager, tmp_path)
    tree.session("two")
    tree.save()
    tree.edit("** two", "** second")
    tree.git("add", "--all")
    assert "TS405" in tree.refused("git", "commit", "--message", "rewritten")
    tree.git("reset", "--quiet", "--hard")
    tree.git("rm", "--quiet", STATE)
    assert "TS012" in tree.refused("git", "commit", "--message", "gone")


def test_a_submodule(there: Hooked, manager: str, tmp_path: Path) -> None:
    """In a submodule its own commits count; around it, the files in it do not."""
    outer = Hooked(tmp_path / "outer", manager, tmp_path)
    there.git("init", "--quiet", str(outer.root))
    for key in ("user.name", "user.email"):
        outer.git("config", key, "somebody@example.invalid")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(there.root), "inner")
    outer.git("commit", "--quiet", "--message", "inner")
    inner = Hooked(outer.root / "inner", manager, tmp_path)
    for key in ("user.name", "user.email"):
        inner.git("config", key, "somebody@example.invalid")
    inner.install()
    inner.git("rm", "--quiet", STATE)
    assert "TS012" in inner.refused("git", "commit", "--message", "gone")
    inner.git("reset", "--quiet", "--hard")
    inner.session("two")
    inner.save()
    shutil.copy(there.root / ".pre-commit-config.yaml", outer.root)
    outer.git("add", ".pre-commit-config.yaml")  # a manager reads only a configuration that is staged
    outer.install()
    outer.save()


def test_a_project_in_a_subfolder(repository: Path, manager: str, tmp_path: Path) -> None:
    """A project that lies in a folder of the repository is checked from there, and a commit elsewhere passes."""
    Place(repository / "project")
    project = Hooked(repository / "project", manager, tmp_path)
    whole = Hooked(repository, manager, tmp_path)
    (repository / ".pre-commit-config.yaml").write_text(
        "repos:\n  - repo: local\n    hooks:\n      - id: taskstate-lint\n        name: taskstate lint\n"
        "        entry: taskstate lint --root project --staged\n        language: system\n        always_run: true\n"
        "        pass_filenames: false\n        verbose: true\n",
        encoding="utf-8",
    )
    whole.git("add", ".pre-commit-config.yaml")
    whole.install()
    project.session("one")
    whole.save()
    project.edit(*REWRITTEN)
    whole.git("add", "--all")
    assert "TS405" in whole.refused("git", "commit", "--message", "rewritten")
    whole.git("reset", "--quiet", "--hard")
    whole.git("rm", "--quiet", f"project/{STATE}")
    assert "`git checkout HEAD -- :/project/" in project.refused("git", "commit", "--message", "gone")

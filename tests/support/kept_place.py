"""A repository with real git for tests of what was acknowledged and then lost, driven through the command line alone.

Commands run in this process, since there are hundreds; `Repo.bound` runs one as a process that permissions bind.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from taskstate.__main__ import main
from tests.support import cures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TASK = "101"
STATE = ".taskstate/tasks/task-101-state.md"
ARCHIVE = ".taskstate/archives/task-101-archive.md"
BACK = "doctor --fix"
STANDARDS = '\n[[standards]]\narea = "*"\ncite = ["rules.md#tokens"]\n'
# Root is bound by permissions, too, once it has none of the capabilities that pass over them.
_UNPRIVILEGED = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search,-fowner", "--inh-caps", "-all")


class Said(NamedTuple):
    """What a command said: its exit status, standard output, standard error."""

    status: int
    out: str
    err: str


class Story(NamedTuple):
    """How task 101 got where it is: two sessions committed, one more committed, two not, and a feature proved."""

    sealed: bool = False
    archived: bool = False  # all but the last session, after the last commit
    tracked: bool = False  # the first two sessions, in an archive that is committed


PLAIN = Story()
STORIES = {
    "plain": PLAIN,
    "sealed": Story(sealed=True),
    "archived": Story(archived=True),
    "tracked": Story(archived=True, tracked=True),
}
_FIRST = Path(tempfile.mkdtemp(prefix="taskstate-stories-"))
atexit.register(shutil.rmtree, _FIRST, ignore_errors=True)
LAST = 5  # the number of sessions of a story
COMMITTED = 3  # of these, in HEAD


class Repo:
    """A git repository in `root`, set up for taskstate, and whatever is done to it."""

    def __init__(self, root: Path, *, init: bool = True) -> None:
        self.root = root
        if not init:
            return
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", "--template=")
        self.name_author()
        self.write("app.py", "print('hello')\n")
        self.ok("init")
        self.commit("begin")

    def name_author(self) -> None:
        """Give the repository an author of its own."""
        self.git("config", "user.name", "Somebody")
        self.git("config", "user.email", "somebody@example.invalid")

    def clone(self, place: Path) -> Repo:
        """Return a clone that is set up as one is by its owner."""
        self.git("clone", "-q", str(self.root), str(place))
        other = Repo(place, init=False)
        other.name_author()
        other.ok("init")
        return other

    # What is done

    def run(self, *arguments: str | Path) -> Said:
        """Run a command here, in this process, and return what it said; there is never a traceback."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([str(argument) for argument in arguments])
        said = Said(status, out.getvalue(), err.getvalue())
        assert "Traceback" not in said.err
        assert status in {0, 1, 2}, said
        if cures.ALL:
            cures.met([*map(str, arguments)], self.root, status, said.out + said.err)
        return said

    def ok(self, *arguments: str | Path) -> str:
        """Run a command that succeeds, and return what it printed."""
        said = self.run(*arguments)
        assert said.status == 0, (arguments, said)
        return said.out

    def bound(self, *arguments: str | Path) -> Said:
        """Run a command as a process that permissions bind, also where the tests run as root."""
        prefix = () if os.geteuid() else _UNPRIVILEGED
        done = subprocess.run(
            [*prefix, sys.executable, "-m", "taskstate", *map(str, arguments)],
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return Said(done.returncode, done.stdout, done.stderr)

    def git(self, *arguments: str | Path, fails: bool = False) -> str:
        """Run git here, which succeeds unless it may fail, and return what it printed."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert fails or done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def do(self, *steps: str) -> None:
        """Take steps, each of which begins with a verb: `git`, `fails` (git that may), `taskstate`, `session`, …."""
        verbs: dict[str, Callable[..., object]] = {
            "git": self.git,
            "fails": lambda *arguments: self.git(*arguments, fails=True),
            "taskstate": self.ok,
            "session": self.session,
            "archive": self.archive,
            "commit": self.commit,
            "edit": self.edit,
            "write": self.write,
            "rm": self.remove,
        }
        for step in steps:
            verb, *arguments = shlex.split(step)
            verbs[verb](*arguments)

    def commit(self, message: str) -> str:
        """Commit everything, and return the commit's id."""
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file, its folders too."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def edit(self, old: str, new: str) -> None:
        """Replace a piece of the state file, as somebody does by hand."""
        before = self.text
        assert old in before
        self.text = before.replace(old, new, 1)

    def remove(self, name: str) -> None:
        """Delete a file or a folder."""
        path = self.root / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    def new(self, task: str = TASK) -> Said:
        """Try to create a task."""
        features = ("--feature", "jwt-1=makes a JWT", "--feature", "jwt-2=checks one")
        criteria = ("--criterion", "Tokens verify", "--criterion", "Tokens expire")
        return self.run("new", task, "--title", "JWT Service", "--description", "Issue tokens.", *criteria, *features)

    def try_session(self, what: object, task: str = TASK) -> Said:
        """Try to add a session."""
        return self.run("session", "add", task, "--did", f"Did {what}.", "--state", said(what), "--next", "Go on.")

    def session(self, what: object, task: str = TASK) -> None:
        """Add a session, whose text is that of no other."""
        done = self.try_session(what, task)
        assert done.status == 0, done

    def archive(self) -> None:
        """Archive all sessions but the last."""
        self.ok("archive", TASK, "--force", "--keep", "1")

    # What there is

    @property
    def state(self) -> Path:
        """The state file of task 101."""
        return self.root / STATE

    @property
    def text(self) -> str:
        """The text of the state file, its line ends as they are."""
        return self.state.read_bytes().decode()

    @text.setter
    def text(self, text: str) -> None:
        self.state.write_bytes(text.encode())

    @property
    def archived(self) -> Path:
        """The archive of task 101."""
        return self.root / ARCHIVE

    @property
    def common(self) -> Path:
        """What is private to the tool, in git's common directory, for this worktree."""
        return self.root / ".git" / "taskstate" / "main"

    def in_place(self) -> str:
        """Return the text of task 101 and its archive."""
        return "".join(path.read_bytes().decode() for path in (self.state, self.archived) if path.exists())

    def everything(self) -> str:
        """Return the text of all files of taskstate's that are not private to it."""
        return "".join(data.decode() for name, data in self.tree().items() if name.startswith(".taskstate/"))

    def count(self, what: object) -> int:
        """Return how often a session stands in the state file and its archive."""
        return self.in_place().count(said(what))

    def tree(self, *but: str) -> dict[str, bytes]:
        """Return every file of the working tree that is not private to git or the tool."""
        private = {".git", "private", "lock", "artifacts", *but}
        found = (path for path in sorted(self.root.rglob("*")) if path.is_file() and not path.is_symlink())
        names = {path.relative_to(self.root): path for path in found}
        return {str(name): path.read_bytes() for name, path in names.items() if not private.intersection(name.parts)}

    # What is told

    def told(self, task: str = TASK) -> list[str]:
        """Return the lines in which a command that only reads tells that something of a task is gone."""
        return lines_of_loss(self.run("list"), task)

    def tells(self) -> str:
        """Return the one line that tells the loss; `doctor` finds it, too."""
        lines = self.told()
        assert len(lines) == 1, self.run("list")
        assert self.run("doctor").status == 1
        return lines[0]

    def quiet(self) -> None:
        """Check that no command finds anything wrong."""
        for command in (("list",), ("lint",), ("doctor",)):
            done = self.run(*command)
            assert (done.status, done.err) == (0, ""), (command, done)

    def silent(self) -> str:
        """Check that nothing is told as gone, and that the cure finds nothing to do; return what `doctor` printed."""
        before, printed = self.tree(), ""
        for command in (("list",), ("lint",), ("doctor",), ("doctor", "--fix")):
            done = self.run(*command)
            assert lines_of_loss(done) == [], (command, done)
            assert done.status == 0 or command == ("lint",), (command, done)
            printed += done.out if command[0] == "doctor" else ""
        assert self.tree() == before
        return printed

    def whole(self, back: Iterable[object] = range(1, LAST + 1)) -> None:
        """Check that a loss is told, that `doctor --fix` mends it, and that nothing is doubled or wrong then."""
        self.tells()
        fixed = self.run("doctor", "--fix")
        assert {what: self.count(what) for what in back} == dict.fromkeys(back, 1), fixed
        assert fixed.status == 0, fixed
        self.quiet()


def said(what: object) -> str:
    """Return the text by which a session is known."""
    return f"thing-{what}-end"


def lines_of_loss(done: Said, task: str = TASK) -> list[str]:
    """Return the lines on standard error that name both ways out of a loss."""
    return [line for line in done.err.splitlines() if BACK in line and re.search(rf"--let-go {task}\b", line)]


def story(root: Path, how: Story = PLAIN) -> Repo:
    """Return a repository in which a story has happened: a copy of the first one, which takes a tenth of the time."""
    first = _FIRST / "-".join(map(str, how))
    if not first.exists():
        happen(first, how)
    shutil.copytree(first, root, symlinks=True)
    return Repo(root, init=False)


def happen(root: Path, how: Story = PLAIN) -> Repo:
    """Make a story happen, and return its repository."""
    repo = Repo(root)
    if how.sealed:
        repo.write("rules.md", "# Rules\n\n## Tokens\n\nA token expires.\n")
        repo.write("taskstate.toml", (repo.root / "taskstate.toml").read_text(encoding="utf-8") + STANDARDS)
        repo.commit("rules")
    assert repo.new().status == 0
    if how.sealed:
        repo.ok("context", "init", TASK)
    repo.session(1)
    repo.session(2)
    repo.commit("two")
    if how.tracked:
        repo.archive()
    repo.session(COMMITTED)
    repo.commit("three")
    for number in range(COMMITTED + 1, LAST + 1):
        repo.session(number)
    repo.ok("feature", "pass", TASK, "jwt-1", "--evidence", said("proof"))
    if how.archived:
        repo.archive()
    return repo


def needs_binding() -> None:
    """Skip a test that needs permissions to bind, where the tests run as root and nothing can take its powers."""
    if not os.geteuid() and not shutil.which("setpriv"):
        pytest.skip("the tests run as root, whom permissions do not bind, and there is no setpriv")

"""Repositories on real git as somebody outside sees them: commands, files, and what git's history holds of the tasks.

Nothing here reads a task file with code of ours: texts are looked for as they are.
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
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from unittest import mock

from taskstate.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TASKS = ("101", "707")
TASK = TASKS[0]  # the one that most steps are about
PERMANENT = "1"

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "TASKSTATE_ACTOR": "somebody",
}
_CITED = '\n[[standards]]\narea = "*"\ncite = ["rules.md#tokens"]\n'

_FOLDERS = ("tasks", "archives", "handoffs")
_ID = re.compile(r"task-(\w+)")
_STATUS = re.compile(r"^status: (\w+)", re.MULTILINE)
_BEGUN: dict[str, Path] = {}


class Said(NamedTuple):
    """What a command answered."""

    status: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """What it printed on either stream."""
        return self.out + self.err


# The files of tasks with their texts, each below a line of its name and the status in it.
Files: TypeAlias = "Mapping[str, str]"


class History(NamedTuple):
    """What HEAD, other refs, the stash and reflogs alone reach: commits, with the files of all tasks."""

    head: Mapping[str, Files]
    refs: Mapping[str, Files]
    stash: Mapping[str, Files]
    reflog: Mapping[str, Files]

    @property
    def reached(self) -> list[Files]:
        """The files of all commits that a ref reaches."""
        return [*self.head.values(), *self.refs.values()]


@contextlib.contextmanager
def nobodys_environment() -> Iterator[None]:
    """Take the settings of whoever runs this out of the environment, and let git find the merge driver."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "TASKSTATE_"))}
    with mock.patch.dict(os.environ, kept | _ENVIRONMENT | {"PATH": path}, clear=True):
        yield


def state_name(task: str) -> str:
    """Return where the state file of a task lies in a working tree."""
    return f".taskstate/tasks/task-{task}-state.md"


def archive_name(task: str) -> str:
    """Return where the archive of a task lies in a working tree."""
    return f".taskstate/archives/task-{task}-archive.md"


def task_of(name: str) -> str:
    """Return the task that a file belongs to."""
    found = _ID.search(name)
    return found[1] if found else ""


class World:
    """Repositories on real git, with their linked working trees; `here` is the tree in which one works."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trees = {"main": folder / "main"}
        self.where = "main"
        self.driver = False
        self.trace: list[str] = []
        self._families = {
            task: task for task in (*TASKS, PERMANENT)
        }  # the first id of each task, and of what it became
        self._commits: dict[str, dict[str, str]] = {}
        self._texts: dict[tuple[str, str], str] = {}

    @property
    def here(self) -> Path:
        """The working tree in which one works."""
        return self.trees[self.where]

    def begin(self, *, sealed: bool, driver: bool, committed: bool) -> None:
        """Make the repository with its tasks; branch `early` is older than all of them."""
        self.driver = driver
        name = f"{'sealed' * sealed}-{'driver' * driver}-{'committed' * committed}"
        if name not in _BEGUN:
            _BEGUN[name] = Path(tempfile.mkdtemp(prefix="taskstate-kept-begun-"))
            atexit.register(shutil.rmtree, _BEGUN[name], ignore_errors=True)
            World(_BEGUN[name])._make(sealed=sealed, driver=driver, committed=committed)
        shutil.copytree(_BEGUN[name] / "main", self.here, symlinks=True)
        self.ask("update-index", "-q", "--refresh")

    def _make(self, *, sealed: bool, driver: bool, committed: bool) -> None:
        self.here.mkdir()
        self.git("init", "-q", "-b", "main")
        self.name_author()
        self.taskstate("init")
        (self.here / "rules.md").write_text("# Rules\n\n## Tokens\n\nA token expires.\n", encoding="utf-8")
        (self.here / "checks.log").write_text("$ pytest\n3 passed in 0.1s\n", encoding="utf-8")
        if sealed:
            with (self.here / "taskstate.toml").open("a", encoding="utf-8") as file:
                file.write(_CITED)
        if not driver:
            self.git("config", "--remove-section", "merge.taskstate")
        self.git("add", "-A")
        self.git("commit", "-qm", "begin")
        self.git("branch", "early")
        for task in TASKS:
            self.taskstate(*new_words(task, f"Task {task}"))
            self.taskstate(
                "phase", "add", task, "7", "--name", "Build", "--objective", "first", "--objective", "second"
            )
            if sealed:
                self.taskstate("context", "init", task)
        self.taskstate("new", PERMANENT, "--kind", "permanent", "--title", "Shared", "--description", "It is shared.")
        for module in ("core", "page"):
            self.taskstate("impact", "add", "module", module, "--planned")
        if committed:
            self.git("add", "-A")
            self.git("commit", "-qm", "tasks")

    def clone(self) -> str:
        """Return which clone the working tree here belongs to: `main` or `other`."""
        return "other" if self.where.startswith("other") else "main"

    def name_author(self) -> None:
        """Give the repository here an author of its own."""
        for setting in ("user.name=Somebody", "user.email=somebody@example.invalid", "commit.gpgsign=false"):
            self.ask("config", *setting.split("=", 1))

    def git(self, *arguments: str) -> Said:
        """Run git here, and note that in the trace."""
        said = self.ask(*arguments)
        self.note(f"git {' '.join(arguments)}", said)
        return said

    def ask(self, *arguments: str, stdin: str = "") -> Said:
        """Run git here, for the model's own use."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.here, input=stdin.encode(), capture_output=True, check=False
        )
        return Said(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def taskstate(self, *arguments: str, quiet: bool = False) -> Said:
        """Run a command of ours here, in this process; a traceback counts as exit status 3."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.here), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main([*arguments])
            except SystemExit as stop:
                status = stop.code if isinstance(stop.code, int) else 1
        said = Said(status, out.getvalue(), err.getvalue())
        if not quiet:
            self.note(f"taskstate {shlex.join(arguments)}", said)
        return said

    def process(self, *arguments: str) -> str:
        """Run a command of ours here as a process, and return the bytes that it printed, as text."""
        command = [sys.executable, "-m", "taskstate", *arguments]
        return subprocess.run(command, cwd=self.here, capture_output=True, check=False).stdout.decode(errors="replace")

    def note(self, what: str, said: Said | None = None) -> None:
        """Put a line into the trace; of what failed, with the status and the first line of the reason."""
        reason = (said.err or said.out).strip().split("\n")[0][:100] if said and said.status else ""
        self.trace.append(f"{what}  -> {said.status} {reason}" if said and said.status else what)

    # Files of tasks. A task, what it was renumbered to and what it was divided into are one family.

    def join(self, task: str, family: str) -> None:
        """Count a task to a family."""
        self._families[task] = family

    def family(self, task: str) -> str:
        """Return the family of a task."""
        return self._families.setdefault(task, task)

    def families(self) -> list[str]:
        """Return all families."""
        return sorted(set(self._families.values()))

    def ids(self, family: str) -> list[str]:
        """Return the ids of a family, the first one first."""
        return [task for task, first in self._families.items() if first == family]

    def standing(self, family: str) -> list[str]:
        """Return the ids of a family that have a state file here."""
        return [task for task in self.ids(family) if (self.here / state_name(task)).exists()]

    def state(self, task: str) -> str | None:
        """Return the text of the state file here, None without one."""
        return _read(self.here / state_name(task))

    def archive(self, task: str) -> str:
        """Return the text of the archive here, nothing without one."""
        return _read(self.here / archive_name(task)) or ""

    def files(self) -> Files:
        """Return the files of all tasks here."""
        root = self.here / ".taskstate"
        paths = [path for folder in _FOLDERS for path in sorted((root / folder).rglob("*.*")) if path.is_file()]
        names = {path.relative_to(self.here).as_posix(): path for path in paths}
        return {name: _headed(name, _read(path) or "") for name, path in names.items()}

    def of(self, files: Files, family: str) -> list[str]:
        """Return the texts of those files that belong to a family."""
        return [text for name, text in files.items() if self._owner(name) == family]

    def texts(self) -> dict[str, str]:
        """Return the files of each family here, one after the other."""
        files = self.files()
        return {family: "\n".join(self.of(files, family)) for family in self.families()}

    def artifacts(self) -> dict[str, str]:
        """Return the files that were put aside here, with their texts."""
        folder = self.here / ".taskstate/artifacts"
        return {str(path): _read(path) or "" for path in sorted(folder.rglob("*")) if path.is_file()}

    def branches(self) -> list[str]:
        """Return the names of the branches."""
        return self._lines("for-each-ref", "--format=%(refname:short)", "refs/heads")

    def history(self) -> History:
        """Return what git holds now."""
        head = self._lines("rev-list", "HEAD")
        refs = [c for c in self._lines("rev-list", "--exclude=refs/stash", "--all") if c not in set(head)]
        # A stash entry is what the files were, and as its third parent what was not tracked; the second parent is the
        # index, which `git stash pop` does not bring back without being asked to.
        entries = [line.split() for line in self._lines("log", "-g", "--format=%H %P", "refs/stash", "--")]
        stash = [commit for entry in entries for commit in (entry[0], *entry[3:])]
        of_stash = {commit for entry in entries for commit in (entry[0], *entry[2:])}
        known = {*head, *refs, *of_stash}
        reflog = [commit for commit in self._lines("rev-list", "--reflog") if commit not in known]
        self._read_commits([*head, *refs, *stash, *reflog])
        return History(*({c: self._commits[c] for c in commits} for commits in (head, refs, stash, reflog)))

    def _owner(self, name: str) -> str:
        task = task_of(name)
        return self.family(task) if task else ""

    def _lines(self, *arguments: str) -> list[str]:
        said = self.ask(*arguments)
        return said.out.splitlines() if said.status == 0 else []

    def _read_commits(self, commits: Iterable[str]) -> None:
        """Read the files of the tasks in the commits that were not read before."""
        trees: dict[str, list[tuple[str, str]]] = {}
        places = [f".taskstate/{folder}" for folder in _FOLDERS]
        for commit in dict.fromkeys(commits):
            if commit not in self._commits:
                rows = self._lines("ls-tree", "-r", "--format=%(objectname) %(path)", commit, "--", *places)
                trees[commit] = [(blob, name) for blob, _, name in (row.partition(" ") for row in rows)]
        new = [
            each for each in dict.fromkeys(each for tree in trees.values() for each in tree) if each not in self._texts
        ]
        if new:
            asked = "".join(f"{blob}\n" for blob, _ in new).encode()
            done = subprocess.run(
                ["git", "cat-file", "--batch"], cwd=self.here, input=asked, capture_output=True, check=True
            )
            rest = io.BytesIO(done.stdout)
            for blob, name in new:
                size = int(rest.readline().split()[2])
                self._texts[blob, name] = _headed(name, _plain(rest.read(size)))
                rest.readline()
        for commit, tree in trees.items():
            self._commits[commit] = {name: self._texts[blob, name] for blob, name in tree}


def new_words(task: str, title: str) -> list[str]:
    """Return the words that make a task with two criteria and two features."""
    parts = [p for n in (1, 2) for p in ("--criterion", f"crit-{task}-{n}", "--feature", f"f{n}=the feature {n}")]
    upstream = ["--depends-on", TASK] if task == TASKS[1] else []
    return ["new", task, "--title", title, "--description", "d", *parts, *upstream]


def _headed(name: str, text: str) -> str:
    status = _STATUS.search(text)
    return f"=== {Path(name).name} {status[1] if status else ''} ===\n{text}"


def _plain(data: bytes) -> str:
    return data.decode(errors="replace").replace("\r\n", "\n")


def _read(path: Path) -> str | None:
    try:
        return _plain(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None

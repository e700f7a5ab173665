"""A repository on real git as somebody outside sees it: commands, files, and what git's history holds of each task.

Nothing here reads a task file with code of ours: texts are looked for as they are.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

from taskstate.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TASKS = ("101", "707")
TASK = TASKS[0]  # the one that most steps are about

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "TASKSTATE_ACTOR": "somebody",
}
_CITED = '\n[[standards]]\narea = "*"\ncite = ["rules.md#tokens"]\n'


class Said(NamedTuple):
    """What a command answered."""

    status: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """What it printed on either stream."""
        return self.out + self.err


class History(NamedTuple):
    """What HEAD, other refs, the stash and reflogs alone reach: commits, with the texts of each task."""

    head: Mapping[str, Mapping[str, str]]
    refs: Mapping[str, Mapping[str, str]]
    stash: Mapping[str, Mapping[str, str]]
    reflog: Mapping[str, Mapping[str, str]]


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


class World:
    """One repository with its linked working trees; `here` is the one in which one works."""

    def __init__(self, folder: Path) -> None:
        self.trees = {"main": folder / "main"}
        self.where = "main"
        self.trace: list[str] = []
        self.handoffs: list[str] = []  # where documents of the first task lie or will lie, once they are accepted
        self._texts: dict[str, dict[str, str]] = {}

    @property
    def here(self) -> Path:
        """The working tree in which one works."""
        return self.trees[self.where]

    def begin(self, *, sealed: bool, driver: bool, committed: bool) -> None:
        """Make the repository with two tasks; branch `early` is older than both."""
        self.here.mkdir()
        self.git("init", "-q", "-b", "main")
        for setting in ("user.name=Somebody", "user.email=somebody@example.invalid", "commit.gpgsign=false"):
            self.git("config", *setting.split("=", 1))
        self.taskstate("init")
        (self.here / "rules.md").write_text("# Rules\n\n## Tokens\n\nA token expires.\n", encoding="utf-8")
        if sealed:
            with (self.here / "taskstate.toml").open("a", encoding="utf-8") as file:
                file.write(_CITED)
        if not driver:
            self.git("config", "--remove-section", "merge.taskstate")
        self.git("add", "-A")
        self.git("commit", "-qm", "begin")
        self.git("branch", "early")
        for task in TASKS:
            parts = [p for n in (1, 2) for p in ("--criterion", f"crit-{n}", "--feature", f"f{n}=the feature {n}")]
            self.taskstate("new", task, "--title", f"Task {task}", "--description", "d", *parts)
            if sealed:
                self.taskstate("context", "init", task)
        if committed:
            self.git("add", "-A")
            self.git("commit", "-qm", "tasks")
        self.trace.clear()

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
            self.note(f"taskstate {' '.join(arguments)}", said)
        return said

    def note(self, what: str, said: Said | None = None) -> None:
        """Put a line into the trace; of what failed, with the status and the first line of the reason."""
        reason = (said.err or said.out).strip().split("\n")[0][:100] if said and said.status else ""
        self.trace.append(f"{what}  -> {said.status} {reason}" if said and said.status else what)

    def state(self, task: str) -> str | None:
        """Return the text of the state file here, None without one."""
        return _read(self.here / state_name(task))

    def archive(self, task: str) -> str:
        """Return the text of the archive here, nothing without one."""
        return _read(self.here / archive_name(task)) or ""

    def text(self, task: str) -> str:
        """Return the state file, the archive and the handoffs here, one after the other."""
        return "\n".join(_read(self.here / name) or "" for name in self._names(task))

    def handoffs_named(self) -> bool:
        """Return whether the state file of the first task names the documents that lie open here, and no other."""
        state = self.state(TASK) or ""
        opened = [name for name in self.handoffs if "/archive/" not in name]
        return all((self.here / name).exists() == (Path(name).name in state) for name in opened)

    def artifacts(self, task: str) -> dict[str, str]:
        """Return the files that were put aside for the task here, with their texts."""
        folder = self.here / f".taskstate/artifacts/task-{task}"
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
        return History(*({c: self._texts[c] for c in commits} for commits in (head, refs, stash, reflog)))

    def _names(self, task: str) -> list[str]:
        return [state_name(task), archive_name(task), *(self.handoffs if task == TASK else [])]

    def _lines(self, *arguments: str) -> list[str]:
        said = self.ask(*arguments)
        return said.out.splitlines() if said.status == 0 else []

    def _read_commits(self, commits: Iterable[str]) -> None:
        """Read the files of the tasks in the commits that were not read before."""
        new = [commit for commit in dict.fromkeys(commits) if commit not in self._texts]
        names = [(task, name) for task in TASKS for name in self._names(task)]
        asked = [(commit, task, f"{commit}:{name}") for commit in new for task, name in names]
        done = subprocess.run(
            ["git", "cat-file", "--batch"],
            cwd=self.here,
            input="".join(f"{what}\n" for _, _, what in asked).encode(),
            capture_output=True,
            check=True,
        )
        self._texts |= {commit: dict.fromkeys(TASKS, "") for commit in new}
        rest = io.BytesIO(done.stdout)
        for commit, task, _ in asked:
            line = rest.readline().split()
            if line[-1] != b"missing":
                self._texts[commit][task] += rest.read(int(line[2])).decode(errors="replace") + "\n"
                rest.readline()


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode(errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None

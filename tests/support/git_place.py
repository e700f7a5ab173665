"""A real git repository with task 101, for tests of what compares working trees."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskstate.model.write_metadata import blocks_of, front_matter_values
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import diffs as snapshot_diffs
from taskstate.snapshots import packs
from taskstate.snapshots import restore as snapshot_restore
from taskstate.snapshots import take as snapshot_take
from taskstate.snapshots import verify as snapshot_verify
from taskstate.snapshots.changed_files import recorded_files
from taskstate.snapshots.file_list import item
from taskstate.syntax.document import parse
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from taskstate.model.delta_block import Delta
    from taskstate.snapshots.drift import DriftReport
    from taskstate.writing.change import Outcome

ROLE = "implementer"
_STORE = Path(tempfile.mkdtemp(prefix="taskstate-git-place-"))
atexit.register(shutil.rmtree, _STORE, ignore_errors=True)
_FIRST = _STORE / "first"  # made once: its git folder is copied, which takes a fifth of the time of making one


class GitPlace(Place):
    """A git repository whose first commit holds some files and the task; work on it goes on in the tests."""

    def __init__(self, root: Path, *settings: str, init: tuple[str, ...] = ()) -> None:
        root.mkdir(parents=True)
        self.root = root
        if settings or init:
            self._begin(settings, init)
            return
        if not _FIRST.exists():
            GitPlace(_FIRST, "core.bare=false")
        shutil.copytree(_FIRST / ".git", root / ".git")
        self._write_files()
        self.git("update-index", "-q", "--refresh")  # the index remembers the files of the first one

    def _begin(self, settings: tuple[str, ...], init: tuple[str, ...]) -> None:
        """Make the repository: the first one, and each with settings of its own."""
        self.git("init", "--quiet", "--initial-branch=main", *init)
        for setting in ("user.name=Somebody", "user.email=somebody@example.invalid", *settings):
            self.git("config", *setting.split("=", 1))
        self._write_files()
        self.commit("begin")

    def _write_files(self) -> None:
        super().__init__(self.root)
        self.write("a.txt", "one\ntwo\nthree\n")
        self.write("src/b.py", "b = 1\n")
        self.write("src/c.py", "c = 1\n")
        self.write("data.bin", bytes(range(256)))

    def clone(self, root: Path, *how: str) -> GitPlace:
        """Return another clone of this repository, as a colleague has it: what git holds, and no artifacts."""
        subprocess.run(["git", "clone", "--quiet", *how, self.root.as_uri(), root], check=True)
        other = object.__new__(GitPlace)
        other.root, other.now = root, self.now
        other.git("config", "user.name", "Another")
        other.git("config", "user.email", "another@example.invalid")
        return other

    def git(self, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> str:
        """Run git here, and return what it says."""
        around = os.environ | (env or {})
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, input=stdin, env=around, capture_output=True, check=False
        )
        assert done.returncode == 0, (done.stderr + done.stdout).decode()
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def commit(self, message: str) -> str:
        """Commit all that is here, and return the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-verify", "--allow-empty", f"--message={message}")
        return self.git("rev-parse", "HEAD")

    def write(self, path: str | bytes, content: str | bytes) -> Path:
        """Write a file, its folders too."""
        place = self.root / os.fsdecode(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def kept_by_git(self) -> dict[str, str]:
        """Return the hash of every file in git's own folder, except those that are private to the tool."""
        folder = self.root / ".git"
        found = (
            path for path in sorted(folder.rglob("*")) if path.is_file() and folder / "taskstate" not in path.parents
        )
        return {str(path.relative_to(self.root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}

    def take(self, role: str = ROLE) -> Outcome[snapshot_take.NewSnapshot]:
        """Take a role's snapshot."""
        return snapshot_take.take(self.workspace, TASK, role, self.request())

    def verify(self, role: str = ROLE) -> DriftReport:
        """Compare the tree with a role's snapshot."""
        return snapshot_verify.verify(self.workspace, TASK, role, self.request())

    def restore(self, *names: str, role: str = ROLE) -> snapshot_restore.RestoreResult:
        """Put files of a role's snapshot back."""
        return snapshot_restore.restore(self.workspace, TASK, role, names, self.request())

    @property
    def values(self) -> Any:  # noqa: ANN401 - a front matter
        """The front matter of the task."""
        return front_matter_values(parse(self.text))

    def snapshot(self, role: str = ROLE) -> Any:  # noqa: ANN401 - a snapshot's entry
        """Return what the file says of a role's snapshot, and its artifacts as long as they are here."""
        snapshot = packs.whole(self.workspace, self.delta.snapshots[role])
        listed = recorded_files(self.workspace, snapshot)
        said = {key: getattr(snapshot, key) for key in ("diff_sha", "scope_hash", "incremental_diff_sha")}
        said["files_changed"] = None if listed is None else [item(each) for each in listed]
        return {**{key: value for key, value in said.items() if value is not None}, **snapshot.values}

    @property
    def delta(self) -> Delta:
        """The delta block of the task."""
        return blocks_of(parse(self.text)).delta

    @property
    def base_tree(self) -> str:
        """The tree that the task's work starts from."""
        with snapshot_base.snapshot_base(self.workspace, TASK, self.delta, self.git("rev-parse", "HEAD")) as current:
            return str(current.base_tree(self.delta))

    def changed_files(self, role: str = ROLE) -> Any:  # noqa: ANN401 - a list from JSON
        """Return the list of changed files that a role's snapshot has among its artifacts."""
        folder = self.workspace.state_root / self.snapshot(role)["pack"]
        return json.loads((folder / f"{role}-files.json").read_bytes())

    def budget(self, role: str = ROLE) -> int:
        """Return the drift budget of a role."""
        found: int = self.values.get("coordination", {}).get(role, {}).get("drift_budget", 0)
        return found

    def diff(self, kind: str = snapshot_diffs.FROM_BASE, role: str = ROLE) -> bytes:
        """Return a diff that a snapshot kept."""
        return snapshot_diffs.diff_of(self.workspace, TASK, role, kind).content

    def applied(self, tree: str, diff: bytes) -> str:
        """Return the id of the tree that a diff makes of another tree, in an index of its own, without our files."""
        packs = os.pathsep.join(map(str, self.root.glob(".taskstate/artifacts/*/*/*/")))
        index = {
            "GIT_INDEX_FILE": str(self.root / ".git" / "applied"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": packs,
        }
        self.git("read-tree", tree, env=index)
        ours = [name for name in self.git("ls-files", "-z", env=index).split("\0") if self.workspace.is_ours(name)]
        self.git(
            "update-index",
            "--force-remove",
            "-z",
            "--stdin",
            stdin="".join(f"{each}\0" for each in ours).encode(),
            env=index,
        )
        if diff:
            self.git("apply", "--cached", "--binary", "--whitespace=nowarn", "-", stdin=diff, env=index)
        return self.git("write-tree", "--missing-ok", env=index)

"""The laws of drift with commits: whatever is edited, committed, pulled, merged or rebased, and by whom.

Content that differs from what a role left and that no commit explains is drift; all else is not. A role's diff goes
from the tree before its work to the tree after it. What should be so is said by `tests/support/drift_model`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskstate.errors import TaskstateError
from taskstate.model.delta_block import read_delta
from taskstate.model.write_metadata import front_matter_values, set_front_matter
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import diffs, drift
from taskstate.snapshots import take as snapshot_take
from taskstate.snapshots import verify as snapshot_verify
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.writing.change import Change
from taskstate.writing.writer import change
from tests.support import drift_model
from tests.support.drift_model import Left
from tests.support.place import TASK, Place
from tests.support.working_tree import Entry, WorkingTree, tree_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.workspace.workspace import Loaded

ROLES = ("implementer", "reviewer", "validator")
PATHS = ("a.py", "b.py", "docs/c.md", "d e.txt", "e.py", "f.py")
MINE, THEIRS = PATHS[:4], PATHS[2:]  # some files are edited by both
ACTS = ("edit", "edit", "delete", "commit", "commit one", "amend", "reword", "soft reset", "reset", "branch", "back")
OTHERS = (
    "pull",
    "pull",
    "rebase",
    "rebase",
    "commit and rebase",
    "commit and rebase",
    "merge branch",
    "stash",
    "edit pulled",
)


class World:
    """A working tree with a task, and the repository that somebody else pushes to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("theirs", "here"):
            self.run(folder, "init", "-q", "-b", "main", name)
        self.tree, self.theirs = WorkingTree(folder / "here"), WorkingTree(folder / "theirs")
        for each in (self.tree, self.theirs):
            for key, value in (("user.name", "Somebody"), ("user.email", "somebody@example.invalid")):
                each.git("config", key, value)
        self.theirs.write("a.py", lines("a"))
        self.theirs.write("b.py", lines("b"))
        self.theirs.git("add", "-A")
        self.theirs.git("commit", "-qm", "begin")
        self.tree.git("pull", "-q", str(self.theirs.root), "main")
        self.tree.write(".git/info/exclude", b".taskstate/\n")
        self.place = Place(self.tree.root)
        self.tree.git("add", "-A")
        self.tree.git("commit", "-qm", "settings")
        self.base = self.tree.git("rev-parse", "HEAD").strip()
        self.left: dict[str, Left] = {}
        self.pushed = PATHS[0]
        change(self.place.workspace, TASK, self.pinned, self.place.request())

    def pinned(self, loaded: Loaded) -> Change:
        """Begin the work at HEAD, as the first turn does."""
        with snapshot_base.snapshot_base(self.place.workspace, TASK, read_delta({}), self.base) as current:
            delta = snapshot_take.pinned(current, TASK, read_delta({}))
        return Change(text=apply(loaded.document.text, set_front_matter(loaded.document, "delta", delta.values)))

    def run(self, where: Path, *args: str) -> None:
        """Run git somewhere; what it refuses does not happen."""
        around = os.environ | {"GIT_EDITOR": "true"}
        subprocess.run(["git", *args], cwd=where, capture_output=True, check=False, env=around)

    def here(self, *args: str) -> None:
        """Run git in the working tree; an operation that it does not finish is given up."""
        self.run(self.tree.root, *args)
        for operation in ("merge", "rebase"):
            self.run(self.tree.root, operation, "--abort")
        self.run(self.tree.root, "checkout", "-q", "-f", "--theirs", "--", ".") if self.conflict() else None

    def conflict(self) -> bool:
        """Return whether something is left unmerged."""
        return bool(self.tree.git("ls-files", "--unmerged"))

    # What is done

    def act(self, what: str, pick: int, number: int) -> None:
        """Do one thing."""
        names = MINE if number % 2 else PATHS
        path = names[pick % len(names)]
        if "pull" in what or "rebase" in what:
            self.push(THEIRS[pick % len(THEIRS)], pick, number)
        if what == "edit pulled":
            path = self.pushed
        if what.startswith("edit"):
            self.tree.write(path, lines(path[0], pick, number))
        elif what == "delete":
            self.tree.delete(path)
        elif what == "stash":
            self.here("stash", "-q")
            self.here("stash", "pop", "-q")
        else:
            self.with_git(what, path, number)

    def push(self, path: str, pick: int, number: int) -> None:
        """Let somebody else commit a file in a repository of their own."""
        self.pushed = path
        self.theirs.write(path, lines(path[0], pick, number))
        self.theirs.git("add", "-A")
        self.theirs.git("commit", "-qm", f"theirs {number}", "--allow-empty")

    def with_git(self, what: str, path: str, number: int) -> None:
        """Commit, rewrite, pull, merge, rebase or switch."""
        commands: Mapping[str, tuple[tuple[str, ...], ...]] = {
            "commit": (("add", "-A"), ("commit", "-qm", f"work {number}")),
            "commit one": (("add", "--", path), ("commit", "-qm", f"one {number}", "--only", "--", path)),
            "amend": (("commit", "-qa", "--amend", "--no-edit"),),
            "reword": (("commit", "-q", "--amend", "--only", "-m", f"reworded {number}"),),
            "soft reset": (("reset", "-q", "--soft", "HEAD~1"),),
            "reset": (("reset", "-q", "HEAD~1"),),
            "branch": (("switch", "-q", "-c", f"side{number}"),),
            "back": (("switch", "-q", "main"),),
            "pull": (("pull", "-q", "--no-rebase", "--no-edit", str(self.theirs.root), "main"),),
            "rebase": (("pull", "-q", "--rebase", str(self.theirs.root), "main"),),
            "commit and rebase": (
                ("add", "-A"),
                ("commit", "-qm", f"mine {number}"),
                ("pull", "-q", "--rebase", str(self.theirs.root), "main"),
            ),
            "merge branch": (("merge", "-q", "--no-ff", "--no-edit", "main"),),
        }
        for command in commands[what]:
            self.here(*command)

    # What must hold

    def take(self, role: str) -> None:
        """Take a role's snapshot, and hold its trees and diffs against what is known."""
        entries = self.tree.entries()
        is_unchanged = self.tree.as_committed(entries) == self.tree.committed(self.base)
        try:
            snapshot_take.take(self.place.workspace, TASK, role, self.place.request())
        except TaskstateError as error:
            assert (error.code, is_unchanged) == ("nothing-to-snapshot", True)  # noqa: PT017 - it may be refused
        else:
            self.check_taken(role, entries)

    def check_taken(self, role: str, entries: dict[str, Entry]) -> None:
        """A role's diff is the tree before its work against the tree after it, and empty only where they are equal."""
        values: Any = front_matter_values(parse(self.place.text))
        base, after = self.tree.committed(self.base), self.tree.as_committed(entries)
        before = self.left.get(ROLES[max(0, ROLES.index(role) - 1)]) if role != ROLES[0] else None
        start = self.tree.as_committed(before.entries) if before else base
        record = values["delta"]["snapshots"][role]
        assert record["tree"] == tree_id(entries)
        changed = drift_model.changed_between(base, after)
        assert {*self.named(self.diff(role, diffs.FROM_BASE))} == changed
        if before:
            assert {*self.named(self.diff(role, diffs.INCREMENTAL))} == drift_model.changed_between(start, after)
        known = self.left.get(role)
        own = changed | drift_model.changed_between(start, after) | (known.changed if known else frozenset())
        self.left[role] = Left(entries, self.tree.git("rev-parse", "HEAD").strip(), own)

    def diff(self, role: str, kind: str) -> bytes:
        """Return a diff that a snapshot kept."""
        return diffs.diff_of(self.place.workspace, TASK, role, kind).content

    def named(self, diff: bytes) -> list[str]:
        """Return the paths that a diff names."""
        heads = (line for line in diff.split(b"\n") if line.startswith(b"diff --git "))
        return [os.fsdecode(head[len(b"diff --git a/") : (len(head) + len(b"diff --git ") - 1) // 2]) for head in heads]

    def check(self) -> None:
        """Drift is told where content differs that nothing explains, with exactly these files, and nowhere else."""
        workspace = self.place.workspace
        own = {path for left in self.left.values() for path in left.changed}
        for role, left in self.left.items():
            differing = drift_model.differing(left, self.tree.entries())
            explained = drift_model.explained(self.tree, left, own)
            report = snapshot_verify.compare(workspace, workspace.load(self.place.path), role)
            told = {os.fsdecode(drift.unquoted(each.path)) for each in report.files}
            assert (report.drift, told) == (bool(differing - explained), differing - explained), (role, report)
            assert {each.path for each in report.explained} == explained


def lines(name: str, place: int = 0, number: int = 0) -> bytes:
    """Return a file of a few lines, one of which is changed: edits at two places can be merged."""
    return b"".join(f"{name}{at} {number if at == place % 20 else 0}\n".encode() for at in range(20))


@pytest.mark.slow
@settings(max_examples=max(3, settings().max_examples // 30), deadline=None)
@given(
    rounds=st.lists(
        st.lists(st.tuples(st.sampled_from((*ACTS, *OTHERS)), st.integers(0, 19)), min_size=1, max_size=4),
        min_size=2,
        max_size=6,
    )
)
def test_drift_is_what_differs_and_is_not_explained(rounds: list[list[tuple[str, int]]]) -> None:
    """Roles leave their work, everybody edits and commits, and the comparison says what the definition says."""
    folder = Path(tempfile.mkdtemp(prefix="taskstate-laws-"))
    try:
        world, number = World(folder), 0
        world.act("edit", 0, 0)
        for at, acts in enumerate(rounds):
            for what, pick in acts:
                number += 1
                world.act(what, pick, number)
            if at % 2 == 0 and at // 2 < len(ROLES):  # between two roles, all kinds of things happen
                world.take(ROLES[at // 2])
            world.check()
    finally:
        shutil.rmtree(folder)

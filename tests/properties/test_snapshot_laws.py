"""The laws of snapshots: whatever is done to a working tree, drift is told when it differs, and only then.

Agents work as roles, one after the other; somebody else edits, stages, commits and moves files about meanwhile. What
the tree holds is known from `working_tree`, which asks git for nothing but the names in its index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from taskstate.errors import TaskstateError
from taskstate.model.write_metadata import front_matter_values
from taskstate.roles import role_changes
from taskstate.roles.role_rules import RoleChange
from taskstate.snapshots import accept_drift, drift
from taskstate.snapshots import restore as snapshot_restore
from taskstate.snapshots import take as snapshot_take
from taskstate.snapshots import verify as snapshot_verify
from taskstate.syntax.document import parse
from taskstate.workspace import artifacts
from tests.support import drift_model
from tests.support.drift_model import Left
from tests.support.place import TASK, Place
from tests.support.working_tree import IGNORED, Entry, WorkingTree, tree_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROLES = ("implementer", "reviewer", "validator")
# Names of every kind: some stand in each other's way, some look like something else to git or to a shell.
PATHS = (
    *("a.py", "b.py", "d", "d/x y", "d/sub/\u00fc.py", 'q"uo\\te', "new\nline", os.fsdecode(b"\xff.bin")),
    *("-dash", ":colon", "*", "plain", "x.ignored", "build/out", "tasks/task.md"),
)
OURS = ("docs/task-7-state.md", "task-8-state.md")
# Some of equal length, so that neither size nor time shows the edit.
CONTENTS = (b"", b"one\n", b"two\n", b"one\r\ntwo\r\n", bytes(range(256)), b"no end", b"line\n" * 30)
KEPT = {".gitignore", ".gitattributes", "taskstate.toml"}  # what says how everything else is read
WHERE = ("a.py", "nowhere", "../outside", "d")

# What somebody may do to a file that is there, with another path or another content.
CHANGES: Mapping[str, Callable[[WorkingTree, str, str, bytes], None]] = {
    "write": lambda tree, _, path, data: tree.write(path, data),
    "edit": lambda tree, there, _, data: tree.write(there, data),
    "delete": lambda tree, there, *_: tree.delete(there),
    "mode": lambda tree, there, *_: tree.switch_mode(there),
    "rename": lambda tree, there, path, _: tree.rename(there, path),
    "link": lambda tree, _, path, data: tree.link(path, WHERE[len(data) % len(WHERE)]),
}
GIT = (
    *(
        "add -A",
        "add -- ONE",
        "reset -q",
        "add -N .",
        "rm -rqf --cached --ignore-unmatch .",
        "add -f .",
        "reset -q --soft FIRST",
    ),
    "update-index --assume-unchanged -- TRACKED",
    *("commit -qam early --allow-empty", "commit -qm early --allow-empty", "gc -q --prune=now"),
)
ACTS = (*CHANGES, *GIT, "ours", "put back", "put back")

paths = st.sampled_from(PATHS)
contents = st.sampled_from(CONTENTS)
picks = st.integers(0, 99)


class Worked(RuleBasedStateMachine):
    """A working tree, who works in it, and what each role left."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="taskstate-laws-"))
        self.tree = WorkingTree(self.folder / "repository")
        self.left: dict[str, Left] = {}
        self.done: list[str] = []
        self.begun = False
        self.budgets: dict[str, int] = {}
        self.resolved = False

    def teardown(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder)

    @initialize(
        first=st.dictionaries(paths, contents, max_size=4),
        both=st.booleans(),
        early=st.sampled_from([True, True, True, False]),
    )
    def begin(self, first: dict[str, bytes], *, both: bool, early: bool) -> None:
        """Commit a few files; our own ones are tracked or not. Often the first role has left something already."""
        root = self.tree.root
        subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
        self.place = Place(root)
        for key, value in (("user.name", "Somebody"), ("user.email", "somebody@example.invalid"), ("gc.auto", "0")):
            self.tree.git("config", key, value)
        self.tree.write(".gitignore", "".join(f"{line}\n" for line in IGNORED).encode())
        for path, data in first.items():
            self.tree.write(path, data)
        self.tree.git("add", *(["-A"] if both else ["--", ".", ":(exclude).taskstate"]))
        self.tree.git("commit", "-q", "--allow-empty", "-m", "begin")
        if early:
            self.role_begins()
            self.tree.write("a.py", b"worked\n")
            self.role_takes_a_snapshot()

    # What is known

    @property
    def values(self) -> Mapping[str, Any]:
        """The front matter of the task."""
        return front_matter_values(parse(self.place.text))

    @property
    def role(self) -> str | None:
        """The role whose turn it is."""
        return next((role for role in ROLES if role not in self.done), None)

    def differing(self, role: str) -> set[str]:
        """Return the paths that differ from what a role left."""
        then, now = self.left[role].entries, self.tree.entries()
        return {path for path in {*then, *now} if then.get(path) != now.get(path)}

    def unexplained(self, role: str) -> set[str]:
        """Return the paths that differ from what a role left, and that no commit explains.

        Where a later role went on from it and is done, they are those that this one left otherwise.
        """
        later = self.superseded_by(role)
        if later:
            return drift_model.differing(self.left[role], self.left[later].entries)
        own = {path for left in self.left.values() for path in left.changed}
        return self.differing(role) - drift_model.explained(self.tree, self.left[role], own)

    def is_at_work(self, role: str) -> bool:
        """Return whether a later role is in progress, whose work it is that differs."""
        return self.begun and role in self.done

    def superseded_by(self, role: str) -> str:
        """Return the next role, if it is done and none is at work."""
        later = self.done[self.done.index(role) + 1 :] if role in self.done and not self.begun else []
        return later[0] if later else ""

    def drifted(self, role: str) -> bool:
        """Return whether there is drift since what a role left."""
        return bool(self.unexplained(role)) and not self.is_at_work(role) and not self.superseded_by(role)

    def refusal(self, call: Callable[[], object]) -> str:
        """Return the code with which a job refuses, or nothing where it does not."""
        try:
            call()
        except TaskstateError as error:
            return error.code
        return ""

    def set_role(self, role: str, status: str) -> str:
        """Set a role's status, and return the code of the refusal."""
        workspace, request = self.place.workspace, self.place.request()
        return self.refusal(lambda: role_changes.set_role(workspace, TASK, role, RoleChange(status), request))

    def counted(self, role: str) -> None:
        """Note that a check of a role's snapshot failed."""
        self.budgets[role] = self.budgets.get(role, 0) + 1

    # What agents do

    @precondition(lambda self: self.role)
    @rule(takes=st.booleans())
    def role_goes_on(self, *, takes: bool) -> None:
        """The role whose turn it is begins, takes a snapshot, or is done."""
        step = self.role_takes_a_snapshot if takes else self.role_is_done
        (step if self.begun else self.role_begins)()

    def role_begins(self) -> None:
        """A role begins on what the one before left, and on nothing else."""
        role = self.role or ""
        before = ROLES[ROLES.index(role) - 1] if self.done else None
        code = self.set_role(role, "in_progress")
        if self.budgets:
            assert code == "drift-unresolved"
        elif before and self.drifted(before):
            assert code == "drift"
            self.counted(before)
        else:
            assert code == ""
            self.begun = True

    def role_takes_a_snapshot(self) -> None:
        """It is of exactly the tree that is there, unless there is nothing to take yet."""
        role, entries = self.role or "", self.tree.entries()
        workspace, request = self.place.workspace, self.place.request()
        base = self.base()
        code = self.refusal(lambda: snapshot_take.take(workspace, TASK, role, request))
        if self.budgets:
            assert code == "drift-unresolved"
        elif self.tree.committed(base) == self.tree.as_committed(entries) and not self.done and not self.resolved:
            assert code == "nothing-to-snapshot"
        else:
            assert code == ""
            self.note(role, entries)

    def base(self) -> str:
        """Return the commit that the next snapshot starts from."""
        told = self.values.get("delta")
        return str(told["base_commit"]) if told else self.tree.git("rev-parse", "HEAD").strip()

    def note(self, role: str, entries: dict[str, Entry]) -> None:
        """Note what a role left, and hold the record against it."""
        record, base = self.values["delta"]["snapshots"][role], self.tree.committed(self.base())
        after = self.tree.as_committed(entries)
        before = self.left.get(ROLES[max(0, ROLES.index(role) - 1)])
        changed = drift_model.changed_between(base, after)
        if before and role != ROLES[0]:
            changed |= drift_model.changed_between(self.tree.as_committed(before.entries), after)
        known = self.left.get(role)  # its start stays, whatever the role before has left meanwhile
        changed |= known.changed if known else frozenset()
        self.left[role] = Left(entries, self.tree.git("rev-parse", "HEAD").strip(), changed)
        assert record["tree"] == tree_id(entries)
        self.diffs_bring_the_tree_about(role, record)
        assert self.compared(role) == (False, set())

    def role_is_done(self) -> None:
        """It is done when its own snapshot is there and matches."""
        role = self.role or ""
        code = self.set_role(role, "done")
        if self.budgets:
            assert code == "drift-unresolved"
        elif role not in self.left:
            assert code == "no-snapshot"
        elif self.drifted(role):
            assert code == "drift"
            self.counted(role)
        else:
            assert code == ""
            self.done.append(role)
            self.begun = False

    @precondition(lambda self: self.done)
    @rule(pick=picks)
    def role_is_reopened(self, pick: int) -> None:
        """A role goes back to work, with what somebody changed since; the later ones lose what they left."""
        role = self.done[pick % len(self.done)]
        adopts = not self.begun and self.drifted(self.done[-1])
        workspace, request = self.place.workspace, self.place.request()
        code = self.refusal(lambda: role_changes.reopen(workspace, TASK, role, "again", request))
        if self.budgets:
            assert code == "drift-unresolved"
            return
        assert code == ""
        at = ROLES.index(role)
        self.done, self.begun = self.done[:at], True
        self.resolved = self.resolved or adopts
        self.left = {name: left for name, left in self.left.items() if name in ROLES[: at + 1]}

    @precondition(lambda self: self.budgets)
    @rule()
    def drift_is_resolved(self) -> None:
        """What is there is accepted: nothing has drifted any more."""
        drifted = {role for role in self.budgets if self.differing(role) and not self.is_at_work(role)}
        entries = self.tree.entries()
        accept_drift.resolve(self.place.workspace, TASK, "as it is", self.place.request())
        for role in drifted:
            self.note(role, entries)
        for role in self.budgets:
            assert self.compared(role) == (False, set())
        self.budgets, self.resolved = {}, True

    # What somebody else does

    @rule(acts=st.lists(st.tuples(st.sampled_from(ACTS), picks, paths, contents), min_size=1, max_size=3))
    def somebody_acts(self, acts: list[tuple[str, int, str, bytes]]) -> None:
        """Files are changed, staged and committed, in whatever order."""
        for act, pick, path, data in acts:
            if act in CHANGES:
                there = sorted(self.tree.entries().keys() - KEPT)
                if there or act in {"write", "link"}:
                    CHANGES[act](self.tree, there[pick % len(there)] if there else path, path, data)
            elif act == "ours":
                self.own_files_are_written(OURS[pick % len(OURS)], data, commit=pick % 3 > 0)
            elif act == "put back":
                self.tree_is_put_back(pick)
            else:
                self.git_is_used(act, pick)

    def git_is_used(self, how: str, pick: int) -> None:
        """Stage all, one, nothing or only the intent, forget or know even ignored files, commit, or go back."""
        there = sorted(self.tree.entries())
        first = self.tree.git("rev-list", "--max-parents=0", "HEAD").strip()
        words = {"FIRST": first, "ONE": f":(literal){there[pick % len(there)]}" if there else "."}
        tracked = sorted(self.tree.tracked())
        if "TRACKED" in how:
            if not tracked:
                return
            words["TRACKED"] = tracked[pick % len(tracked)]
        self.tree.git(*(words.get(word, word) for word in how.split()))

    def own_files_are_written(self, path: str, data: bytes, *, commit: bool) -> None:
        """Record a session, write one of our files elsewhere, and perhaps commit both and nothing else."""
        self.place.add("Worked.")
        self.tree.write(path, data)
        if commit:
            ours = ("--", path, ".taskstate/tasks")
            self.tree.git("add", "-f", *ours)
            self.tree.git("commit", "-q", "--allow-empty", "-m", "ours", "--only", *ours)

    def tree_is_put_back(self, pick: int) -> None:
        """Bring the tree back to exactly what a role left, perhaps after something else was committed."""
        roles, tracked = sorted(self.left), sorted(self.tree.tracked() & self.tree.entries().keys() - KEPT)
        if roles and tracked and pick % 2:
            self.tree.write(tracked[pick // 2 % len(tracked)], b"early\n")
            self.tree.git("commit", "-qam", "early", "--allow-empty")
        if roles:
            self.tree.put_back(self.left[roles[pick % len(roles)]].entries)

    @precondition(lambda self: self.left)
    @rule(pick=picks)
    def files_are_restored(self, pick: int) -> None:
        """Put back what differs from the snapshot alone: each file is what it was, whatever git has forgotten."""
        roles = [role for role in sorted(self.left) if not self.superseded_by(role)]
        role = roles[pick % len(roles)]
        differing, wanted = self.differing(role), self.left[role].entries
        for path in (*differing, *(differing & wanted.keys())):  # the second time it may be an empty folder
            self.tree.delete(path)
        names = [drift.quoted(os.fsencode(path)) for path in sorted(differing & wanted.keys())]
        snapshot_restore.restore(self.place.workspace, TASK, role, names, self.place.request())
        self.tree.git("add", "-Af", ".")  # a file that git ignores was in the snapshot because git knew it
        assert not self.differing(role) & wanted.keys()
        self.tree.git("reset", "-q")

    # What must hold

    def compared(self, role: str) -> tuple[bool, set[str]]:
        """Return whether a comparison tells drift, and which files it names."""
        workspace = self.place.workspace
        verified = snapshot_verify.compare(workspace, workspace.load(self.place.path), role)
        return verified.drift, {os.fsdecode(drift.unquoted(each.path)) for each in verified.files}

    @invariant()
    def drift_is_told_if_and_only_if_there_is_some(self) -> None:
        """The tree differs, and no commit explains it; exactly the files that differ so are named."""
        for role in self.left:
            assert self.compared(role) == (self.drifted(role), self.unexplained(role))

    @invariant()
    def file_says_what_is_known(self) -> None:
        """The statuses and budgets of the front matter are those that the jobs left."""
        if not hasattr(self, "place"):
            return
        told = self.values.get("coordination", {})
        statuses = dict.fromkeys(self.done, "done") | ({self.role: "in_progress"} if self.begun else {})
        assert {name: role["status"] for name, role in told.items() if role["status"] != "pending"} == statuses
        assert {name: role["drift_budget"] for name, role in told.items() if role.get("drift_budget")} == self.budgets

    def diffs_bring_the_tree_about(self, role: str, record: Mapping[str, Any]) -> None:
        """Applied to the base commit, or to what the role before left, the diffs of a snapshot give its tree."""
        at = ROLES.index(role)
        before = self.left.get(ROLES[at - 1]) if at else None
        self.applied(f"{record['pack']}/{role}-from-base.diff.gz", self.base(), record["tree"])
        if before:
            self.applied(f"{record['pack']}/{role}-incremental.diff.gz", self.stored(before.entries), record["tree"])

    def stored(self, entries: Mapping[str, Entry]) -> str:
        """Put files into git's objects, and return the id of their tree."""
        other = WorkingTree(self.folder / "other")
        shutil.rmtree(other.root, ignore_errors=True)
        other.root.mkdir()
        other.put(entries)
        place = {"GIT_INDEX_FILE": str(self.folder / "index"), "GIT_WORK_TREE": str(other.root)}
        return self.plumbing(place, ("read-tree", "--empty"), ("add", "-Af", "."), ("write-tree",))

    def applied(self, path: str, base: str, wanted: str) -> None:
        """Apply a diff to a tree, and hold what comes of it against the wanted one, our own files left out."""
        data = artifacts.read(self.place.workspace, path)
        assert data is not None
        patch = self.folder / "patch"
        patch.write_bytes(artifacts.gunzipped(data, path))
        ours = (".taskstate", *OURS)
        place = {"GIT_INDEX_FILE": str(self.folder / "index")}
        apply = [("apply", "--cached", "--whitespace=nowarn", str(patch))] if patch.stat().st_size else []
        forget = ("rm", "-rqf", "--cached", "--ignore-unmatch", "--", *ours)
        assert self.plumbing(place, ("read-tree", base), *apply, forget, ("write-tree",)) == wanted

    def plumbing(self, place: Mapping[str, str], *commands: tuple[str, ...]) -> str:
        """Run commands of git with an index of their own, and return what the last one prints."""
        told = ""
        for command in commands:
            done = subprocess.run(
                ["git", *command], cwd=self.tree.root, env=os.environ | place, capture_output=True, check=False
            )
            assert done.returncode == 0, (command, done.stderr)
            told = os.fsdecode(done.stdout).strip()
        return told


TestWorked = pytest.mark.slow(Worked.TestCase)
# An example is a whole life of a working tree, with dozens of git processes in each step.
FEW = max(1, settings().max_examples // 40)
TestWorked.settings = settings(max_examples=FEW, stateful_step_count=12, deadline=None)

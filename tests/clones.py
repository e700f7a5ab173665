"""Several clones of one repository, in each of which people work: what each says of drift and diffs is so.

A full clone, another one, a shallow one, a sparse one, and a linked worktree inside the first. `python -m tests.clones`
runs the long form and prints the history of each failure, which `--replay` runs again; the tests run a small one.

What must hold, of every snapshot that a clone's state file names: whatever is said of a file's content is so; and where
the clone has the tree, in its artifacts or in a commit, exactly the files that differ are named, and the diff is that
of the clone where the snapshot was taken.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.__main__ import main
from taskstate.errors import TaskstateError
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import diffs
from taskstate.snapshots import verify as snapshot_verify
from taskstate.workspace.workspace import find_workspace
from tests.support.git_place import GitPlace
from tests.support.kept_world import nobodys_environment
from tests.support.long_run import parser_of, say
from tests.support.place import TASK
from tests.support.working_tree import Entry, WorkingTree, tree_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from taskstate.model.delta_block import Snapshot
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.snapshots.drift import DriftReport

ROLES = ("implementer", "reviewer", "validator")
CLONES = ("ann", "bob", "shallow", "sparse", "worktree")
FILES = ("a.txt", "src/b.py", "docs/c.txt", "new.txt")
LEFT_OUT = "docs/"  # of the sparse clone
NUMBERS = 6  # each step takes a number below this
_INSIDE = "work/tree"
_NEVER = ("lost", "none, is none")  # words for what was never there


class Step(NamedTuple):
    """What happens in a clone, with a number that it reads as it likes."""

    name: str
    clone: str
    number: int

    def __str__(self) -> str:
        return ":".join(map(str, self))


class Left(NamedTuple):
    """What a role left: the files, and its diff from the base where it was taken."""

    entries: dict[str, Entry]
    diff: bytes


class Clone(WorkingTree):
    """The working tree of somebody."""

    def entries(self) -> dict[str, Entry]:
        """Return the files, as the index has them where a sparse checkout leaves them out."""
        listed = super().entries().items()
        found = {path: each for path, each in listed if path != ".git" and not path.startswith(f"{_INSIDE}/")}
        lines = [line.split(maxsplit=1) for line in self.git("ls-files", "-v", "-z").split("\0") if line]
        for _, path in (pair for pair in lines if pair[0] == "S" and not pair[1].startswith(".taskstate/")):
            found.setdefault(path, Entry("100644", self.git("show", f":{path}").encode()))
        return found

    def tries(self, *args: str) -> bool:
        """Run git, and return whether it went well."""
        return subprocess.run(["git", *args], cwd=self.root, capture_output=True, check=False).returncode == 0

    def run(self, *args: str) -> tuple[int, str]:
        """Run a command of ours here, and return its exit status and all that it printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main([*args, "--root", str(self.root)])
        return status, out.getvalue()

    def has(self, entries: dict[str, Entry]) -> bool:
        """Return whether a commit here has exactly these files."""
        wanted = self.as_committed(entries)
        return any(self.committed(each) == wanted for each in self.git("rev-list", "--all", "HEAD").split())


class World:
    """The clones, and what was left in any of them, by its tree and its diff: its base may be another one."""

    def __init__(self, folder: Path) -> None:
        first = GitPlace(folder / "first")
        first.write("docs/c.txt", "c\n")
        first.commit("more")
        first.git("clone", "--quiet", "--bare", ".", str(folder / "origin"))
        self.left: dict[tuple[object, ...], Left] = {}
        self.clones = {name: self._clone(folder, name) for name in CLONES}

    def _clone(self, folder: Path, name: str) -> Clone:
        if name == "worktree":
            Clone(folder / "ann").git("worktree", "add", "--quiet", _INSIDE, "-b", "other")
            return Clone(folder / "ann" / _INSIDE)
        depth = ("--depth=1",) if name == "shallow" else ()
        subprocess.run(["git", "clone", "--quiet", *depth, (folder / "origin").as_uri(), folder / name], check=True)
        clone = Clone(folder / name)
        for key, value in (("name", name), ("email", f"{name}@example.invalid")):
            clone.git("config", f"user.{key}", value)
        if name == "sparse":
            clone.git("sparse-checkout", "set", "--no-cone", "/*", f"!/{LEFT_OUT}")
        return clone

    def do(self, step: Step) -> Iterator[str]:
        """Do a step, and yield what is wrong with what was said."""
        clone = self.clones[step.clone]
        yield from ACTS[step.name](self, clone, step.number) or ()

    # What people do

    def edit(self, clone: Clone, number: int) -> None:
        """Change, make or delete a file."""
        path = FILES[number % len(FILES)]
        if number == NUMBERS - 1:
            clone.delete(path)
        else:
            clone.write(path, f"{number % 3}\n".encode() * 3)

    def work(self, clone: Clone, number: int) -> list[str]:
        """Do the turn of the role that is due, or be refused with words that are so, and perhaps accept it."""
        blocks = _blocks(clone)
        role = next((each for each in ROLES if blocks and blocks.role(each).status != "done"), "")
        if not role:
            return _honest(clone.run("role", "reopen", TASK, ROLES[number % len(ROLES)], "--note", "again")[1])
        accept = ("--accept-drift", "meant") if number == 1 else ()
        status, said = clone.run("start", TASK, "--role", role, "--agent", clone.root.name, *accept)
        if status:
            accepted = clone.run("snapshot", "resolve", TASK, "--note", "meant")[1] if number % 2 else ""
            return _honest(said + accepted)
        self.edit(clone, number)
        _, said = clone.run("finish", TASK, "--did", "Did it.", "--state", "It is done.", "--next", "Go on.")
        entries = clone.entries()
        snapshot = next((each for each in _snapshots(clone) if each.tree == tree_id(entries)), None)
        if snapshot:
            self.left[_key(snapshot)] = Left(entries, _diff(clone, snapshot.role, diffs.FROM_BASE) or b"")
        return _honest(said)

    def commit(self, clone: Clone, number: int) -> None:
        """Commit all that is there, or only the state file."""
        clone.git("add", "--all", "--", *((".taskstate",) if number < 2 else (".", f":(exclude){_INSIDE}")))
        clone.tries("commit", "--quiet", "--no-verify", "--message=work")

    def push(self, clone: Clone, number: int) -> None:
        """Push what was committed, and first get what others pushed."""
        self.pull(clone, number)
        clone.tries("push", "--quiet", "origin", "HEAD:main")

    def pull(self, clone: Clone, number: int) -> None:
        """Get what others pushed, by a merge or a rebase; a conflict is given up."""
        how = "--rebase" if number % 2 else "--no-rebase"
        if not clone.tries("pull", "--quiet", how, "origin", "main"):
            _ = clone.tries("merge", "--abort") or clone.tries("rebase", "--abort")

    def share(self, clone: Clone, number: int) -> None:
        """Commit, push, and let another one pull."""
        self.commit(clone, number)
        self.push(clone, number)
        others = [each for each in self.clones.values() if each is not clone]
        self.pull(others[number % len(others)], number)

    def deepen(self, clone: Clone, _: int) -> None:
        """Get all commits, in a shallow clone."""
        clone.tries("fetch", "--quiet", "--unshallow")

    # What must hold

    def look(self, clone: Clone, _: int = 0) -> Iterator[str]:
        """Yield what a clone says that is not so, and what it should say and does not."""
        for snapshot in _snapshots(clone):
            left = self.left.get(_key(snapshot))
            if left:
                is_known = (clone.root / ".taskstate" / str(snapshot.folder) / "pack").exists() or clone.has(
                    left.entries
                )
                for fault in (*_of_drift(clone, snapshot, left, is_known=is_known), *_of_diffs(clone, snapshot, left)):
                    yield f"{clone.root.name}, {snapshot.role}: {fault}"


ACTS: dict[str, Callable[[World, Clone, int], Sequence[str] | Iterator[str] | None]] = {
    **{name: getattr(World, name) for name in ("edit", "work", "commit", "share", "push", "pull", "deepen", "look")},
}
WEIGHTS = {"edit": 2, "work": 5, "commit": 2, "share": 6, "push": 2, "pull": 3, "deepen": 1, "look": 2}


def _blocks(clone: Clone) -> ToolBlocks | None:
    workspace = find_workspace(clone.root, root=str(clone.root))
    try:
        return blocks_of(workspace.load(workspace.locate(TASK)).document)
    except TaskstateError:  # a conflict
        return None


def _snapshots(clone: Clone) -> tuple[Snapshot, ...]:
    blocks = _blocks(clone)
    return tuple(each for each in blocks.delta.snapshots.values() if each.tree) if blocks else ()


def _key(snapshot: Snapshot) -> tuple[object, ...]:
    """Return what tells a snapshot from others that left the same tree."""
    return snapshot.tree, snapshot.head, snapshot.diff_stat, snapshot.folder


def _diff(clone: Clone, role: str, kind: str) -> bytes | None:
    try:
        return diffs.diff_of(find_workspace(clone.root, root=str(clone.root)), TASK, role, kind).content
    except TaskstateError as error:
        if error.code not in {"artifact-lost", "objects-lost", "under-way", "no-diff"}:
            raise
        return None


def _honest(said: str) -> list[str]:
    return [f"`{each}` is said: {said}" for each in _NEVER if each in said]


def _of_drift(clone: Clone, snapshot: Snapshot, left: Left, *, is_known: bool) -> Iterator[str]:
    """Yield what is wrong with the comparison of a working tree with a snapshot."""
    workspace = find_workspace(clone.root, root=str(clone.root))
    try:
        report = snapshot_verify.compare(workspace, workspace.load(workspace.locate(TASK)), snapshot.role)
    except TaskstateError as error:
        yield from [] if error.code == "under-way" else [f"refused: {error}"]
        return
    yield from _honest(f"{report.message} {report.help} {report.notes}")
    if report.superseded_by:
        return
    now = clone.entries()
    really = {path for path in {*left.entries, *now} if left.entries.get(path) != now.get(path)}
    told = {each.path for each in report.files} | {each.path for each in report.explained}
    if is_known and told != really:
        yield f"{sorted(told)} are told to differ, and {sorted(really)} do"
    if not is_known and report.is_here and now != left.entries:
        yield "it is said to be here"
    yield from _of_contents(report, left, now)
    committed, wanted = clone.committed("HEAD"), clone.as_committed(left.entries)
    yield from (
        f"{each} is not committed as left" for each in report.committed if committed.get(each) != wanted.get(each)
    )


def _of_contents(report: DriftReport, left: Left, now: dict[str, Entry]) -> Iterator[str]:
    """Yield the hashes of files that are not what they are said to be."""
    for each in report.files:
        then = left.entries.get(each.origin or each.path)
        if each.expected is not None and (then is None or then.sha256 != each.expected):
            yield f"{each.path} was not {each.expected}"
        if each.current is not None and (each.path not in now or now[each.path].sha256 != each.current):
            yield f"{each.path} is not {each.current}"
        if each.expected is not None and each.expected == each.current and each.change == "modified":
            yield f"{each.path} is said to be modified, and is not"


def _of_diffs(clone: Clone, snapshot: Snapshot, left: Left) -> Iterator[str]:
    """Yield what is wrong with the diff from the base: another one than that where the snapshot was taken, or none."""
    found, blocks = _diff(clone, snapshot.role, diffs.FROM_BASE), _blocks(clone)
    if found is not None and found != left.diff:
        yield f"its diff is {hashlib.sha256(found).hexdigest()}, and was another"
    base = blocks.delta.base_commit if blocks else None
    if found is None and clone.tries("cat-file", "-e", f"{base}^{{commit}}") and clone.has(left.entries):
        yield "a commit has what it left, and its diff is refused"


def play(steps: Sequence[Step], folder: Path) -> list[str]:
    """Do the steps, look everywhere, and return what is wrong, each with the step after which it was seen."""
    with nobodys_environment():
        return _played(World(folder), steps)


def _played(world: World, steps: Sequence[Step]) -> list[str]:
    wrong = [f"{step}: {fault}" for step in steps for fault in world.do(step)]
    return wrong + [f"at the end: {fault}" for clone in world.clones.values() for fault in world.look(clone)]


def drawn(number: int, source: random.Random) -> tuple[Step, ...]:
    """Return a history: anything happens anywhere."""
    names, weights = zip(*WEIGHTS.items(), strict=True)
    rest = source.choices(names, weights, k=number)
    return tuple(Step(name, source.choice(CLONES), source.randrange(NUMBERS)) for name in rest)


def parsed(text: str) -> tuple[Step, ...]:
    """Return the history that is written as words such as `work:ann:1`."""
    words = (word.split(":") for word in text.split())
    return tuple(Step(name, clone, int(number)) for name, clone, number in words)


def report() -> int:
    """Run the long form, and print the histories after which something was wrong."""
    parser = parser_of("clones", __doc__, histories=60, steps=24)
    parser.add_argument("--replay", default="", metavar="HISTORY")
    how = parser.parse_args()
    source, begun, failed = random.Random(how.seed), time.monotonic(), 0  # noqa: S311 - no secret is drawn
    histories = [parsed(how.replay)] if how.replay else [drawn(how.steps, source) for _ in range(how.histories)]
    say(f"{len(histories)} histories of {len(CLONES)} clones, seed {how.seed}")
    for steps in histories:
        with tempfile.TemporaryDirectory(prefix="taskstate-clones-") as folder:
            wrong = play(steps, Path(folder).resolve())
        failed += bool(wrong)
        for fault in wrong[:3]:
            say(f"wrong: {fault}\n  --replay '{' '.join(map(str, steps))}'")
    say(f"{failed} histories went wrong, after {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(report())

"""Says where a turn takes place: repository, branch, commit and working tree; which role is due; what is new there."""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import first_of
from taskstate.model import roles
from taskstate.model.delta_block import Left
from taskstate.model.statuses import COMPLETE, DONE, DROPPED
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import base as snapshot_base
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.turn.ownership import owner
from taskstate.turn.tree_changes import TreeChanges, changes
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns
from taskstate.writing.preconditions import require_work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.delta_block import Turn
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.turn.tree_changes import EarlierTree
    from taskstate.workspace.open_turns import OpenTurn
    from taskstate.workspace.workspace import Loaded, Workspace

_NAMED = 5  # files in a line


class Position(NamedTuple):
    """Branch, commit and working tree (our own files aside) as they are now.

    All are None without git; in a repository without commits there is no `head`, and nothing watches the tree.
    """

    branch: str | None
    head: str | None
    tree: str | None

    @property
    def words(self) -> str:
        """The branch and the commit in words."""
        if self.head is None:
            return f"branch {self.branch}, without a commit yet" if self.branch else "no git repository"
        return f"{f'branch {self.branch}' if self.branch else 'no branch (detached HEAD)'} at {self.head[: git.SHORT]}"

    def left(self, start_tree: str | None = None) -> Left | None:
        """Return what a turn that ends here leaves."""
        return Left(self.tree, self.head, self.branch, start_tree) if self.tree else None


NOWHERE = Position(None, None, None)


class Base(NamedTuple):
    """The commit and the tree that a task's work starts from, and whether the commit says the tree."""

    commit: str
    tree: str
    is_said: bool


class Look(NamedTuple):
    """Where the working tree is, the base of the task's work, and how the tree differs from an earlier one."""

    where: Position
    base: Base | None
    changes: TreeChanges


def look(workspace: Workspace, loaded: Loaded, earlier: EarlierTree | None) -> Look:
    """Look at the working tree.

    Without git, and in a repository without commits, there is nothing to compare.

    Raises:
        TaskstateError: git is in the middle of an operation, or the tree cannot be read.
    """
    if git.toplevel(workspace.root) is None:
        return Look(NOWHERE, None, TreeChanges())
    from taskstate.snapshots.take import pinned  # a turn that is paused takes no snapshot

    branch = git.branch(workspace.root)
    try:
        head, delta = snapshot_base.require_at_rest(workspace), blocks_of(loaded.document).delta
        with snapshot_base.snapshot_base(workspace, loaded.state.id, delta, head) as current:
            with_base = pinned(current, loaded.state.id, delta)
            base = Base(str(with_base.base_commit), str(current.base_tree(with_base)), with_base.base_tree is None)
            return Look(Position(branch, head, current.tree), base, changes(current, loaded, earlier))
    except TaskstateError as error:
        if error.code != "unborn":
            raise
        return Look(Position(branch, None, None), None, TreeChanges())


def kept_position(workspace: Workspace, loaded: Loaded) -> Position:
    """Return where the working tree is, after keeping its objects, so that it can be compared later.

    Raises:
        TaskstateError: as `look`.
    """
    if git.toplevel(workspace.root) is None:
        return NOWHERE
    try:
        tree, head, branch = snapshot_base.keep_current_tree(workspace, loaded)
    except TaskstateError as error:
        if error.code != "unborn":
            raise
        return Position(git.branch(workspace.root), None, None)
    return Position(branch, head, tree)


def require_open(state: TaskState) -> None:
    """Refuse a task that is complete or dropped, and the permanent one.

    Raises:
        TaskstateError: code "task-complete" or "kind".
    """
    help_ = f"`taskstate next` names the task to work on; `taskstate show {state.id}` reads this one"
    require_work(state, "turns", help_)
    if state.status in {COMPLETE, DROPPED}:
        message = f"task {state.id} is {state.status}"
        help_ = f'`taskstate reopen {state.id} --note "WHY"` reopens it'
        raise TaskstateError(message, help=help_, code="task-complete")


def beginning(state: TaskState) -> str:
    """Return the command with which a turn begins, behind the one that takes the task back to work."""
    start = f"`taskstate start {state.id}`"
    is_over = state.status in {COMPLETE, DROPPED}
    return f'`taskstate reopen {state.id} --note "WHY"` and then {start}' if is_over else start


def turn_elsewhere(turn: OpenTurn) -> TaskstateError:
    """Return the error for a task whose turn is open in another worktree: whose it is, and what to hand back."""
    hand_back = f"hand back to {turn.agent} what you did: the files, what was checked, and what is left"
    take_over = f'take the turn over: `taskstate start {turn.task} --take-over "WHY"`'
    help_ = f"begin and end no turn here, and {hand_back}; or {take_over}"
    return TaskstateError(f"task {turn.task}: {turn.words}", help=help_, code="turn-open")


def due_role(blocks: ToolBlocks, names: tuple[str, ...], asked: str, task_id: str) -> str:
    """Return the role that a turn is for: the one asked for, else, once coordination has begun, the first not done.

    It is empty for work without roles.

    Raises:
        TaskstateError: code "usage": there is no such role; code "all-done": every role is done.
    """
    if asked:
        return roles.require_role(asked, names)
    if not roles.has_begun(blocks):
        return ""
    due = next((name for name in names if blocks.role(name).status != DONE), "")
    if not due:
        message = f"task {task_id}: every role is done"
        back = f'`taskstate role reopen {task_id} {names[-1]} --note "WHY"` reopens the last one'
        help_ = f"{back}; `taskstate complete {task_id}` ends the task, or lists what is missing"
        raise TaskstateError(message, help=help_, code="all-done")
    return due


# What is said of it


def resumed_notes(workspace: Workspace, turn: Turn, seen: Look) -> tuple[str, ...]:
    """Return what a person should know who goes on with an open turn: what moved and changed since it began.

    One that began in another clone came with a commit, and may go on there.
    """
    is_of_here = any(each.started_at == turn.started_at for each in open_turns.here(workspace))
    came = f"{owner(turn)} began it in another clone, and it came with a commit: let it end there, or go on and end it"
    changed = (f"changed since: {seen.changes.stat}",) if seen.changes.stat else ()
    moved = (f"it began on {turn.branch or 'no branch'}",) if turn.branch != seen.where.branch else ()
    return (f"resumed: the turn is open since {turn.started_at}", *(() if is_of_here else (came,)), *moved, *changed)


def begun_notes(workspace: Workspace, loaded: Loaded, role: str, seen: Look) -> tuple[str, ...]:
    """Return what a person should know who begins a turn: what to look at first, and what is not as it was left."""
    blocks = blocks_of(loaded.document)
    left, where, changes = blocks.delta.left, seen.where, seen.changes
    notes: list[str] = []
    notes += _to_look_at(loaded.state.id, blocks, role, workspace.config.roles)
    if left and left.branch != where.branch:
        notes.append(f"the last turn was on {left.branch or 'no branch'}")
    if changes.drift:
        notes.append("\n".join(("the working tree is not what the last turn left:", *changes.told(loaded.state.id))))
    notes += changes.notes
    if blocks.delta.base_commit is None and where.head:
        notes.append(_uncommitted(workspace))
    if where.tree is None:
        notes.append("drift is not noticed here: it needs git, and a first commit")
    if roles.unresolved(blocks):
        notes.append(f"a drift is counted and not resolved: `taskstate role show {loaded.state.id}`")
    return tuple(filter(None, notes))


def _to_look_at(task_id: str, blocks: ToolBlocks, role: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the diffs that a later role looks at first: what changed since its own last look, then the whole."""
    previous = roles.previous_role(role, names) if role else None
    snapshot = blocks.delta.snapshots.get(previous or "")
    if role in blocks.delta.last_seen and blocks.role(role).snapshot is None:
        yield f"changed since your last look: `taskstate snapshot diff {task_id} --role {role} --type seen`"
    if snapshot:
        shown = f"`taskstate snapshot diff {task_id} --role {previous}`"
        yield f"{previous} left {snapshot.diff_stat or 'no changes'}: {shown}"


def _uncommitted(workspace: Workspace) -> str:
    """Return a line that names what is not committed; empty where all is."""
    dirty: tuple[str, ...] = ()
    with suppress(GitFailed):
        dirty = worktree.dirty_files(workspace.root, workspace.is_ours)
    return f"not committed, so part of this work: {first_of(dirty, _NAMED)}" if dirty else ""

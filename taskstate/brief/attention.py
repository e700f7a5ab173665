"""Says what to look at before working on a task: open findings, drift, a stale context, parts that cannot be read.

`brief`, `status` and `doctor` show these lines. Nothing is written or counted here.
"""

from __future__ import annotations

from taskstate.context.readable_parts import broken_fences
from taskstate.errors import TaskstateError
from taskstate.messages import counted, first_of
from taskstate.model import roles
from taskstate.model.permanent import PERMANENT
from taskstate.model.statuses import BLOCKED, COMPLETE, DROPPED, IN_PROGRESS
from taskstate.model.write_metadata import blocks_of
from taskstate.permanent.readers import standings
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.permanent.readers import Standings
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.snapshots.drift import Difference
    from taskstate.workspace.workspace import Loaded, Workspace

FINDINGS, DRIFT, STALE, UNHANDED, UNREADABLE = "findings", "drift", "stale", "handoff", "cannot be read"
SHARED = "shared context"
_NAMED = 3  # stale sources in a line


class Attention(NamedTuple):
    """One thing to look at: what it is, and a line that says more and names the command that shows it."""

    label: str
    text: str

    @property
    def line(self) -> str:
        """The label and the text."""
        return f"{self.label}: {self.text}"


def attention(
    workspace: Workspace,
    loaded: Loaded,
    reader: str = "",
    *,
    without: Collection[str] = (),
    standing: Standings | None = None,
) -> tuple[Attention, ...]:
    """Return what to look at first in a task, at most one line of a kind; nothing of a task that is complete.

    `reader` is the agent that reads this, as far as it is known and the task's open turn does not say it. What has one
    of the labels `without` is not looked for. Whoever asks about many tasks gives the same `standing` (see `standings`)
    for all of them.
    """
    if loaded.state.status == COMPLETE:
        return ()
    if loaded.state.status == DROPPED:
        again = f'`taskstate reopen {loaded.state.id} --note "WHY"` reopens it'
        return (Attention(DROPPED, f"nobody works on it: {again}"),)
    from taskstate.handoff.accept import unhanded_work  # who only names what to look at makes no lines

    blocks = blocks_of(loaded.document)
    makers: dict[str, Callable[[], str]] = {
        BLOCKED: lambda: _blocked(loaded, blocks),
        FINDINGS: lambda: _findings(loaded, blocks),
        DRIFT: lambda: _drift(workspace, loaded, blocks),
        STALE: lambda: _stale(workspace, loaded),
        UNHANDED: lambda: unhanded_work(workspace, loaded),
        UNREADABLE: lambda: _unreadable(loaded),
        SHARED: lambda: shared_context(loaded, standing or standings(workspace), reader, behind=True),
    }
    lines = ((label, text) for label, make in makers.items() if label not in without and (text := make()))
    return tuple(Attention(label, text) for label, text in lines)


def shared_context(loaded: Loaded, standing: Standings, reader: str = "", *, behind: bool = False) -> str:
    """Return the version of the permanent task that all agents share, and whether the reader is behind.

    With `behind` only where there is something to do; empty for the permanent task itself, and where there is none.
    """
    turn = blocks_of(loaded.document).delta.turn
    agent = (turn and turn.agent) or reader
    now = standing(agent) if loaded.state.kind != PERMANENT else None
    if now is None or (behind and not now.by_hand and not (agent and now.is_behind)):
        return ""
    return now.line


def open_findings(blocks: ToolBlocks) -> tuple[str, ...]:
    """Return the findings that wait for an answer, each with the role that it blocks."""
    return tuple(f"{role.name}: {finding}" for role in blocks.roles.values() for finding in role.open_findings)


def _blocked(loaded: Loaded, blocks: ToolBlocks) -> str:
    if loaded.state.status != BLOCKED:
        return ""
    again = f"`taskstate edit {loaded.state.id} --unblocked` when nothing stops it"
    return f"{blocks.why_blocked}: {again}" if blocks.why_blocked else again


def _findings(loaded: Loaded, blocks: ToolBlocks) -> str:
    number = len(open_findings(blocks))
    return f"{counted(number, 'open finding')} (`taskstate role show {loaded.state.id}`)" if number else ""


def _drift(workspace: Workspace, loaded: Loaded, blocks: ToolBlocks) -> str:
    """Return a line on drift that a check has found, or that the working tree shows while no role is at work."""
    task_id, drifted = loaded.state.id, roles.unresolved(blocks)
    if drifted:
        show = f"`taskstate {look_at(task_id, drifted[0])}`"
        accept = f'`taskstate snapshot resolve {task_id} --note "WHY"`'
        return f"the tree was not what {' and '.join(drifted)} left ({show}); {accept} accepts what is there"
    is_at_work = any(role.status in {IN_PROGRESS, BLOCKED} for role in blocks.roles.values()) or blocks.delta.turn
    return "" if is_at_work else _tree_difference(workspace, loaded)


def look_at(task_id: str, role: str) -> str:
    """Return the command that shows how the tree differs from what a role left, and counts nothing."""
    return f"snapshot verify {task_id} --role {role} --dry-run"


class Differing(NamedTuple):
    """The files that differ from what a role, or without a name the last turn, left; and the command that shows it.

    There are none to be told where this clone never had what was left (`is_here`). `put_down` says which other files
    count as the work of open turns. `back` is the command that puts changed and deleted files back, where they are few.
    """

    role: str
    paths: tuple[str, ...]
    look: str
    is_here: bool = True
    put_down: tuple[str, ...] = ()
    back: str = ""

    @property
    def who(self) -> str:
        """Who left the tree, in words."""
        return self.role or "the last turn"


def differing(workspace: Workspace, loaded: Loaded, read: SnapshotBase | None = None) -> Differing | None:
    """Return which files differ from what the open turn began with, the newest snapshot has, or the last turn left.

    None where there is none of these. The working tree may have been `read` already.

    Raises:
        TaskstateError: the repository cannot be compared: there is no git, or a merge is under way.
    """
    from taskstate.snapshots.drift import TreeDifferences
    from taskstate.snapshots.drift_report import put_down
    from taskstate.snapshots.tree_comparison import Earlier, compare_trees
    from taskstate.snapshots.verify import compare, newest_role

    task_id, delta = loaded.state.id, blocks_of(loaded.document).delta
    newest, left = newest_role(delta, workspace.config.roles), delta.turn or delta.left
    if newest and not delta.turn:
        report = compare(workspace, loaded, newest, read=read)
        paths, command = tuple(each.path for each in report.files), look_at(task_id, newest)
        back = _back(task_id, newest, report.files) if report.is_here else ""
        return Differing(newest, paths, command, report.is_here, put_down(report.explained), back)
    if left and left.tree:
        nothing = TreeDifferences(task_id, "the last turn")
        found = compare_trees(workspace, loaded, Earlier(left.tree, left.head, read=read), nothing)
        paths, command = tuple(each.path for each in found.files or ()), f"snapshot diff {task_id} --type now"
        back = "" if delta.turn else _back(task_id, "", found.files or ())  # a turn is at work on them
        return Differing("", paths, command, found.files is not None, put_down(found.explained), back)
    return None


def _back(task_id: str, role: str, differences: Sequence[Difference]) -> str:
    """Return the command that puts files back as they were left; empty where they cannot be named in a line."""
    from taskstate.snapshots.drift_report import to_restore

    named = to_restore(differences)
    return f"snapshot verify {task_id}{f' --role {role}' if role else ''} {named}" if named else ""


def _tree_difference(workspace: Workspace, loaded: Loaded) -> str:
    """Return a line on files that differ from what the last turn left, or the newest snapshot has; empty if unknown."""
    from taskstate.snapshots.drift import count_files, first_paths

    try:
        found = differing(workspace, loaded)
    except TaskstateError:  # no git, another clone, a merge that is under way: the commands that need a tree say so
        return ""
    if not found or not found.paths:
        return "; ".join(found.put_down) if found else ""
    count, shown = count_files(len(found.paths)), first_paths(found.paths)
    differs = f"the tree is not what {found.who} left: {count}, {shown} (`taskstate {found.look}`)"
    back = (f"`taskstate {found.back}` puts back what was left",) if found.back else ()
    return "; ".join((differs, *back, *found.put_down))


def _stale(workspace: Workspace, loaded: Loaded) -> str:
    from taskstate.context.check import stale_parts

    stale = stale_parts(workspace, loaded)
    shown = first_of([files.shown(each) for each in stale], _NAMED)
    return f"{shown} changed since the context was taken (`taskstate context check {loaded.state.id}`)" if stale else ""


def _unreadable(loaded: Loaded) -> str:
    broken, problems = tuple(broken_fences(loaded.state)), loaded.state.problems
    messages = (*(each.message for each in broken), *(each.message for each in problems))
    return f"{'; '.join(messages)} (`taskstate lint`)" if messages else ""

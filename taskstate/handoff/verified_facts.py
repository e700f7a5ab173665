"""What the tool sees of the working tree when work is handed over, and what of that no longer holds later."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed
from taskstate.messages import first_of
from taskstate.model.phases import objectives_digest
from taskstate.model.write_metadata import blocks_of
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.git import worktree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import SeenState
    from taskstate.workspace.workspace import Workspace

_MAINS = ("@{upstream}", "origin/HEAD", "main", "master")  # what a branch is measured by, the first that there is
_NAMED = 3  # paths
_SHORT = 10  # digits of a commit


class WorkingTree(NamedTuple):
    """The working tree as it is now; nothing is known of it outside git."""

    branch: str | None
    git_head: str | None
    tree: str | None
    dirty_files: int


def state_facts(state: TaskState, phases: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return what a handoff document keeps of the state file under `verified`."""
    return {
        "baseline": blocks_of(state.document).baseline.status,
        "sessions": newest_session_number(state),
        "objectives": objectives_digest(phases),
    }


def current_tree(workspace: Workspace) -> WorkingTree:
    """Return branch, commit and tree as they are now, nothing of them outside git.

    A file that git cannot read leaves the tree unknown. In a large repository this takes a second, so it is done
    before anything is locked.
    """
    root = workspace.root
    tree, dirty = None, tuple[str, ...]()
    with suppress(GitFailed):
        dirty = worktree.dirty_files(root, workspace.is_ours)
        tree = worktree.tree_id(root, workspace.is_ours, folder=workspace.config.root)
    return WorkingTree(worktree.branch(root), git.head(root), tree, len(dirty))


def newest_session_number(state: TaskState) -> int:
    """Return the highest number of a session that a state file knows of; 0 where there is none."""
    return max([state.archived, *(session.number for session in state.sessions)])


def differences(
    workspace: Workspace, verified: SeenState, state: TaskState, *, revision: int | None
) -> tuple[str, ...]:
    """Return in words what no longer holds of what was seen, and what the working tree lacks.

    `revision` is that of the state file then; None where it does not matter any more.
    """
    return (
        *_git_differences(workspace, verified),
        *_baseline_differences(verified, state),
        *_revision_differences(state, revision),
    )


def _baseline_differences(verified: SeenState, state: TaskState) -> Iterator[str]:
    then, now = verified.baseline, blocks_of(state.document).baseline.status
    if "baseline" in verified.values and then != now:
        yield f"the QA baseline is {now or 'gone'} now; it was {then or 'not there'} then"


def _revision_differences(state: TaskState, revision: int | None) -> Iterator[str]:
    more = state.revision - revision if revision is not None else 0
    if more > 0:
        times = "once" if more == 1 else f"{more} times"
        yield f"the state file has been written {times} since: it is at revision {state.revision}, then at {revision}"


def _git_differences(workspace: Workspace, verified: SeenState) -> Iterator[str]:
    then = verified.git_head
    if then is None or git.head(workspace.root) is None:
        if then is not None:
            yield f"there is no git repository here; the handoff was written at commit {then[:_SHORT]}"
        return
    now = current_tree(workspace)
    if verified.branch != now.branch:
        was, is_ = verified.branch or "no branch", now.branch or "no branch"
        yield f"{is_} is checked out; the handoff was written on {was}"
    if then != now.git_head:
        yield from _head_differences(workspace, then)
    if verified.tree and verified.tree != now.tree:
        counts = f"there were {verified.dirty_files} then, now {now.dirty_files}"
        yield f"files have changed since (of those that differ from the commit {counts})"
    yield from _behind(workspace.root)


def _head_differences(workspace: Workspace, then: str) -> Iterator[str]:
    """Yield how HEAD has moved; commits of taskstate's own files alone are none."""
    root, short = workspace.root, then[:_SHORT]
    try:
        touched = [path for path in git_log.touched(root, then) if not workspace.is_ours(path)]
        counts = git.run(["rev-list", "--left-right", "--count", "--end-of-options", f"{then}...HEAD"], root)
    except GitFailed:
        yield f"this repository does not have the commit {short} that the handoff was written at"
        return
    gone, new = (int(count) for count in counts.split()[:2])
    if gone:
        commits = "commit" if gone == 1 else "commits"
        yield f"HEAD no longer comes after {short}, which the handoff was written at: it lacks {gone} {commits}"
    elif touched:
        commits = "commit" if new == 1 else "commits"
        yield f"HEAD has moved by {new} {commits} since {short}, which touch {first_of(touched, _NAMED)}"


def _behind(root: Path) -> Iterator[str]:
    """Yield how far the branch is behind the one that it is measured by."""
    here = worktree.branch(root)
    for name in _MAINS:
        if name == here:
            continue
        try:
            git.commit(root, name)
            count = int(git.run(["rev-list", "--count", f"HEAD..{name}", "--"], root))
        except GitFailed:
            continue
        if count:
            shown = "its upstream branch" if name == _MAINS[0] else name
            yield f"the working tree is {count} commit{'' if count == 1 else 's'} behind {shown}"
        return

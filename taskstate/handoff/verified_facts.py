"""Records facts about the working tree and the task in a handoff, and compares them with the present ones later."""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import GitFailed
from taskstate.handoff.document import OPEN
from taskstate.messages import first_of
from taskstate.model.phases import objectives_digest
from taskstate.model.session_texts import HANDED_OVER, OUTCOME
from taskstate.model.write_metadata import blocks_of
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.git import worktree
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from taskstate.handoff.document_files import HandoffFile
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import SeenState
    from taskstate.workspace.workspace import Workspace

# A branch is compared with the first of these that exists.
_BASE_BRANCHES = ("@{upstream}", "origin/HEAD", "main", "master")
_NAMED = 3  # paths
_SHORT = 10  # digits of a commit id


class WorkingTree(NamedTuple):
    """The state of the working tree; None and 0 outside git."""

    branch: str | None
    git_head: str | None
    tree: str | None
    dirty_files: int


def state_facts(state: TaskState, phases: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return the facts about the state file for the `verified` block of a handoff document."""
    return {
        "baseline": blocks_of(state.document).baseline.status,
        "sessions": state.last_session,
        "objectives": objectives_digest(phases),
    }


def newer_sessions(file: HandoffFile, state: TaskState, documents: Iterable[HandoffFile]) -> str:
    """Return a line on the sessions that were recorded since an open handoff was written; empty where there are none.

    Whoever takes over from the document alone would not learn of them. A merge gives sessions other numbers, so that a
    higher one may stand in the document all the same, or in another of the open ones among `documents`.
    """
    known = state.last_session if file.verified.sessions is None else file.verified.sessions
    written = [each.text("created_at")[:16].replace("T", " ") for each in documents if each.status == OPEN]
    now, later = max(written, default=""), [*range(known + 1, state.archived + 1)]
    for each in state.sessions:
        earliest = f"{now}~" if len(written) > 1 or HANDED_OVER in each.values(OUTCOME) else now  # of minutes
        later += [each.number] if each.number > known and (each.time or now) >= earliest else []
    if not later:
        return ""
    named = f"session {later[0]} was" if len(later) == 1 else f"sessions {later[0]}-{later[-1]} were"
    return f"{named} recorded after this handoff was written, and the work is in no handoff"


def current_tree(workspace: Workspace) -> WorkingTree:
    """Return the present branch, commit and tree.

    The tree is None where git cannot read a file. In a large repository this takes a second, so call it before the lock
    is taken.
    """
    root = workspace.root
    tree, dirty = None, tuple[str, ...]()
    with suppress(GitFailed):
        dirty = worktree.dirty_files(root, workspace.is_ours)
        tree = worktree.tree_id(root, workspace.is_ours, folder=workspace.config.root)
    return WorkingTree(git.branch(root), git.head(root), tree, len(dirty))


def differences(
    workspace: Workspace, verified: SeenState, state: TaskState, *, revision: int | None
) -> tuple[str, ...]:
    """Return notes on what has changed since a handoff, and on how far the branch is behind its base.

    `revision` is the revision of the state file then, None to leave it out.
    """
    return (*_git_differences(workspace, verified), *_state_differences(verified, state, revision))


def _state_differences(verified: SeenState, state: TaskState, revision: int | None) -> Iterator[str]:
    baseline_then, baseline = verified.baseline, blocks_of(state.document).baseline.status
    if "baseline" in verified.values and baseline_then != baseline:
        yield f"the QA baseline is {baseline or 'gone'} now; it was {baseline_then or 'not there'} then"
    writes = state.revision - revision if revision is not None else 0
    if writes > 0:
        times = "once" if writes == 1 else f"{writes} times"
        yield f"the state file has been written {times} since: it is at revision {state.revision}, then at {revision}"


def _git_differences(workspace: Workspace, verified: SeenState) -> Iterator[str]:
    head_then = verified.git_head
    if head_then is None or git.head(workspace.root) is None:
        if head_then is not None:
            yield f"there is no git repository here; the handoff was written at commit {head_then[:_SHORT]}"
        return
    now = current_tree(workspace)
    if verified.branch != now.branch:
        branch_then, branch_now = verified.branch or "no branch", now.branch or "no branch"
        yield f"{branch_now} is checked out; the handoff was written on {branch_then}"
    if head_then != now.git_head:
        yield from _head_differences(workspace, head_then)
    if verified.tree and verified.tree != now.tree:
        counts = f"there were {verified.dirty_files} then, now {now.dirty_files}"
        yield f"files have changed since (of those that differ from the commit {counts})"
    yield from _behind(workspace.root)


def _head_differences(workspace: Workspace, head_then: str) -> Iterator[str]:
    """Yield a note on how HEAD has moved; commits that only touch taskstate's own files do not count."""
    root, short_id = workspace.root, head_then[:_SHORT]
    try:
        touched = [path for path in git_log.changed_paths(root, head_then) if not workspace.is_ours(path)]
        counts = git.run(["rev-list", "--left-right", "--count", "--end-of-options", f"{head_then}...HEAD"], root)
    except GitFailed:
        yield f"this repository does not have the commit {short_id} that the handoff was written at"
        return
    lost, new = (int(count) for count in counts.split()[:2])
    if lost:
        commits = "commit" if lost == 1 else "commits"
        yield f"HEAD no longer comes after {short_id}, which the handoff was written at: it lacks {lost} {commits}"
    elif touched:
        moved = "1 commit" if new == 1 else f"{new} commits"
        yield f"HEAD has moved by {moved} since {short_id}; changed there: {first_of(touched, _NAMED)}"


def _behind(root: Path) -> Iterator[str]:
    """Yield a note on how far the branch is behind its upstream or main branch."""
    current = git.branch(root)
    for name in _BASE_BRANCHES:
        if name == current:
            continue
        try:
            git.resolve_commit(root, name)
            count = int(git.run(["rev-list", "--count", f"HEAD..{name}", "--"], root))
        except GitFailed:
            continue
        if count:
            shown = "its upstream branch" if name == _BASE_BRANCHES[0] else name
            yield f"the working tree is {count} commit{'' if count == 1 else 's'} behind {shown}"
        return

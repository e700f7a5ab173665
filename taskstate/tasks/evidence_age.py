"""Finds evidence that is older than the files that it is about: those that the Repository Paths of a task cover.

A file that differs from HEAD was changed when its time on disk says so. One that is as HEAD has it was changed no later
than the last commit that touched it: git gives it a new time whenever it checks it out. Where that commit holds the
evidence as well, as in another clone, the evidence was made of what the commit holds.
"""

from __future__ import annotations

import os
from contextlib import closing
from math import inf

from taskstate.chain.output import Gap
from taskstate.errors import GitFailed
from taskstate.messages import first_of
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of, moment
from taskstate.snapshots.changed_files import scope_of
from taskstate.snapshots.verify import newest_role
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.git import worktree
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace

_NAMED = 3  # files in a message


class _Evidence(NamedTuple):
    """An evidence of a task: its key and name in a message, and when it was made, in seconds."""

    key: str
    name: str
    time: float


def gaps(workspace: Workspace, loaded: Loaded, *, matches: bool) -> tuple[Gap, ...]:
    """Return a gap for each evidence older than the last change of the task's files; none without Repository Paths.

    `matches`: the working tree is what the newest snapshot recorded, so nothing was changed since.
    """
    scope, blocks = scope_of(loaded.state, workspace.config), blocks_of(loaded.document)
    unchanged_since = _unchanged_since(blocks, workspace.config.roles) if matches else None
    evidence = [
        each for each in _evidence(loaded.state, blocks) if unchanged_since is None or each.time < unchanged_since
    ]
    if not scope.inside or not evidence:
        return ()
    oldest = min(each.time for each in evidence)
    changed = {path: time for path, time in _times(workspace, oldest) if scope.covers(path)}
    if not changed:
        return ()
    commits = _last_commits(workspace, oldest)
    found = []
    for each in evidence:
        newer = [
            path for path in sorted(changed) if _is_newer(workspace, loaded, each, changed[path], commits.get(path))
        ]
        if newer:
            words = f"{each.name} is older than the last change of {first_of([*map(files.shown, newer)], _NAMED)}"
            found.append(Gap(each.key, f"{words}: test it again"))
    return tuple(found)


def _evidence(state: TaskState, blocks: ToolBlocks) -> Iterator[_Evidence]:
    for feature in state.checklist.counted if state.checklist else ():
        at = moment(feature.tested_at) if feature.passes else None
        if at is not None:
            yield _Evidence(f"age:{feature.id}", f"the evidence of feature {feature.id}", at)
    for entry in blocks.evidence:
        at = moment(entry.get("added_at"))
        if at is not None:
            yield _Evidence(f"age:{entry.get('id')}", f"the evidence {entry.get('id')}", at)


def _unchanged_since(blocks: ToolBlocks, names: tuple[str, ...]) -> float | None:
    """Return the time of the first snapshot with the tree of the newest one; None where there is no snapshot."""
    snapshots = blocks.delta.snapshots
    newest = newest_role(blocks.delta, names)
    if newest is None:
        return None
    same = (each for each in snapshots.values() if each.tree == snapshots[newest].tree)
    times = [time for time in (moment(each.snapshot_time) for each in same) if time is not None]
    return min(times, default=None)


class _Time(NamedTuple):
    """When a file was changed as the disk has it, and whether it differs from HEAD."""

    on_disk: float
    dirty: bool


def _times(workspace: Workspace, since: float) -> Iterator[tuple[str, _Time]]:
    """Yield the files of the working tree with a time on disk after `since`, without our own."""
    try:
        dirty = {*worktree.dirty_files(workspace.root, workspace.is_ours)}
        tracked = {os.fsdecode(each) for each in git.run(["ls-files", "-z"], workspace.root).split(b"\0") if each}
    except GitFailed:
        return
    for path in sorted(dirty | {each for each in tracked if not workspace.is_ours(each)}):
        try:
            on_disk = float(int(folders.status(workspace.root / path).st_mtime))  # evidence is dated in whole seconds
        except OSError:
            continue  # it is deleted, and leaves no time
        if on_disk > since:
            yield path, _Time(on_disk, path in dirty)


def _last_commits(workspace: Workspace, since: float) -> Mapping[str, git_log.Commit]:
    try:
        return git_log.last_touches(workspace.root, since)
    except GitFailed:
        return {}


def _is_newer(
    workspace: Workspace, loaded: Loaded, evidence: _Evidence, time: _Time, commit: git_log.Commit | None
) -> bool:
    """Return whether a file was changed after an evidence was made."""
    if time.on_disk <= evidence.time:
        return False
    if time.dirty:
        return True
    committed = commit and (moment(commit.time) or inf)  # one that is no time was behind the last year
    if commit is None or committed is None or committed <= evidence.time:
        return False  # no commit since touched it
    return time.on_disk <= committed or not _holds(workspace, loaded.relative, commit.id, evidence)


def _holds(workspace: Workspace, relative: str, commit: str, evidence: _Evidence) -> bool:
    """Return whether the state file of a commit holds an evidence."""
    with closing(git.Objects(workspace.root)) as objects:
        data = objects.read(f"{commit}:./{relative}") if "\n" not in relative else None
    if data is None:
        return False
    document = parse(data.decode("utf-8", "replace"))
    return evidence in _evidence(read_state(document), blocks_of(document))

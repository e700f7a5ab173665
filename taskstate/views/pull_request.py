"""Compares the tasks of HEAD with those of the place where it left its target, as a pull request does.

All files are read from the two commits and none from disk, so that the answer is the same in every clone.
"""

from __future__ import annotations

import os
import re
from contextlib import closing
from functools import cached_property

from taskstate.archive.archiver import sessions_in
from taskstate.context.path_scope import Scope
from taskstate.errors import GitFailed, TaskstateError
from taskstate.lint.compared_revision import ComparedCommit, CurrentFiles
from taskstate.model.names import id_key, own_file, own_id, own_type
from taskstate.model.task_state import read_state
from taskstate.snapshots.changed_files import scope_of
from taskstate.storage.git import bases
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.git.index import blobs_in_commit
from taskstate.syntax.document import parse
from taskstate.tasks.git_history import ids_named
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.changes import REMOVED, Side, TaskChange, archived_events, change_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path
    from typing import Any

    from taskstate.workspace.workspace import Workspace

_BRANCHES = ("GITHUB_HEAD_REF", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME")  # HEAD is detached in a job of these services


class PullRequest(NamedTuple):
    """What changed in the tasks between two commits, those with open findings first.

    `named` are tasks without a change that commits or the branch name, `unchanged` those that were asked for.
    `unnamed_files` are the changed files that no task names: by its Repository Paths, or in a commit that touched them.
    """

    base: str
    head: str
    tasks: tuple[TaskChange, ...]
    named: tuple[str, ...]
    unchanged: tuple[str, ...]
    unnamed_files: tuple[str, ...]

    @property
    def shape(self) -> dict[str, Any]:
        """The record as JSON values."""
        return {key: shape_of(value) for key, value in self._asdict().items()}


def compare(workspace: Workspace, ids: Sequence[str] = (), *, base: str | None = None) -> PullRequest:
    """Return what changed between HEAD and its merge base with `base` (None: the branch that HEAD goes to).

    With `ids` it is about these tasks alone.

    Raises:
        TaskstateError: there is no git repository, no commit, nothing to compare with, or no such task.
    """
    root, head = workspace.root, git.head(workspace.root)
    if head is None:
        raise GitFailed("there is no commit here", help="commit first, in a git repository", code="no-commit")
    start = bases.merge_base(root, bases.target(root) if base is None else git.resolve_commit(root, base), head)
    with closing(git.Objects(root)) as objects:
        now = CurrentFiles(workspace, objects, head, blobs_in_commit(root, head))
        two = _TwoCommits(ComparedCommit(start, start, blobs_in_commit(root, start), now))
        wanted = two.known(ids)
        changed = tuple(sorted(two.changes(wanted), key=_rank))
        if wanted:
            return PullRequest(start, head, changed, (), two.unchanged(wanted, changed), ())
        commits = tuple((ids_named(each), paths) for each, paths in git_log.with_paths(root, start, head))
        ids_in_commits = {task for tasks, _ in commits for task in tasks}
        named = two.unchanged(ids_in_commits | _by_branch(root, two.states), changed)
        return PullRequest(start, head, changed, named, (), two.unnamed_files(commits))


def _rank(change: TaskChange) -> tuple[bool, bool, object]:
    """Return the place of a task among the others: what waits for somebody comes first."""
    is_lost = change.change == REMOVED or change.unread or change.sessions_gone
    return not change.findings, not (is_lost or change.worse), id_key(change.id)


def _by_branch(root: Path, known: Iterable[str]) -> set[str]:
    """Return the tasks that the name of the branch names, such as `task-101-tokens`, of those that are known."""
    name = next((os.environ[each] for each in _BRANCHES if os.environ.get(each)), "") or git.branch(root) or ""
    found = re.search(r"(?<![a-z0-9])task[-_/]?(.+)", name.casefold())
    rest = found[1] if found else ""
    fitting = [task for task in known if rest.startswith(task) and not rest[len(task) : len(task) + 1].isalnum()]
    return {max(fitting, key=len)} if fitting else set()


class _TwoCommits:
    """The tasks at two commits; `states` are the names of the state files at the later one, by the task's id."""

    def __init__(self, then: ComparedCommit) -> None:
        self.then, self.now = then, then.now
        self.workspace = then.now.workspace
        self.states = self._by_id(self.now.ids, "state")
        self._scopes = dict[str, Scope]()

    def _by_id(self, names: Iterable[str], type_: str) -> dict[str, str]:
        return {own_id(each): each for each in names if own_type(each) == type_ and self.workspace.lists(each)}

    @cached_property
    def _archives(self) -> tuple[dict[str, str], dict[str, str]]:
        return self._by_id(self.then.tree, "archive"), self._by_id(self.now.ids, "archive")

    @cached_property
    def _removed(self) -> dict[str, str]:
        return self._by_id(self.then.removed_for_good, "state")

    def known(self, ids: Iterable[str]) -> frozenset[str]:
        """Return ids in lower case; one that neither commit has is refused."""
        for each in ids:
            if each.casefold() not in self.states and each.casefold() not in self._removed:
                message = f"there is no task {each}, neither at HEAD nor where it left its target"
                raise TaskstateError(message, help="`taskstate list` lists the tasks", code="not-found")
        return frozenset(each.casefold() for each in ids)

    def changes(self, wanted: Collection[str]) -> Iterator[TaskChange]:
        """Yield what changed in each task, or in those that are wanted."""
        roles = self.workspace.config.roles
        for task, name in self.states.items():
            if not wanted or task in wanted:
                before, after = self._sides(task, name)
                if after:
                    yield change_of(before, after, roles)
        for task, name in self._removed.items():
            if not wanted or task in wanted:
                yield change_of(self._side(name, self.then.tree[name]), None, roles)

    def _sides(self, task: str, name: str) -> tuple[Side | None, Side | None]:
        """Return a task before and after; nothing where neither its file nor its archive changed."""
        former = name if name in self.then.tree else self.then.renames.get(name, "")
        blobs = self.then.tree.get(former, ""), self.now.ids[name]
        (kept_before, kept_now) = self._archives
        archives = kept_before.get(own_id(former), ""), kept_now.get(task, "")
        archive_ids = self.then.tree.get(archives[0], ""), self.now.ids.get(archives[1], "")
        if blobs[0] == blobs[1] and archive_ids[0] == archive_ids[1] and own_id(former) == task:
            return None, None
        after = self._side(name, blobs[1], archive_ids[1])
        return self._side(former, blobs[0], archive_ids[0]) if former else None, after

    def _side(self, name: str, blob: str, archive: str = "") -> Side:
        """Return a task as a commit has it."""
        wanted = [blob, *([archive] if archive else [])]
        data, *rest = self.now.objects.contents(wanted)
        problem = "" if data is not None else "it is too large"
        try:
            text = (data or b"").decode()
        except UnicodeDecodeError:
            text, problem = "", "it is not UTF-8"
        own = own_file(name)
        state = read_state(parse(text, self.workspace.kinds), (own and own.id) or "")
        for each in state.problems[:1]:
            problem = problem or f"line {state.document.position(each.span.start).line + 1}: {each.message}"
        self._scopes[own_id(name)] = scope_of(state, self.workspace.config)
        archived = b"".join(each or b"" for each in rest).decode("utf-8", "replace")
        return Side(state, sessions_in(archived), archived_events(archived), problem)

    def unchanged(self, ids: AbstractSet[str], changed: Iterable[TaskChange]) -> tuple[str, ...]:
        """Return those of some ids whose tasks are at HEAD, and are not among the changed ones."""
        left = (ids & self.states.keys()) - {each.id.casefold() for each in changed}
        return tuple(
            self._side(self.states[each], self.now.ids[self.states[each]]).state.id for each in sorted(left, key=id_key)
        )

    def unnamed_files(self, commits: Iterable[tuple[Collection[str], Sequence[str]]]) -> tuple[str, ...]:
        """Return the changed files, but for taskstate's own, that no known task names."""
        own = f"{self.workspace.config.root}/"
        named = {path for tasks, paths in commits if not self.states.keys().isdisjoint(tasks) for path in paths}
        others = (path for path in self.then.changed if not path.startswith(own) and not own_type(path))
        return tuple(sorted(path for path in others if path not in named and not self._is_covered(path)))

    def _is_covered(self, path: str) -> bool:
        return any(scope.inside and scope.covers(path) for scope in self._scopes.values())

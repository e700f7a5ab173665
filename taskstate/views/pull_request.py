"""Compares the tasks of HEAD with those of the place where it left its target, as a pull request does.

All files are read from the two commits and none from disk, so that the answer is the same in every clone.
"""

from __future__ import annotations

import os
import re
from contextlib import closing

from taskstate.archive.archiver import sessions_in
from taskstate.context.path_scope import Scope
from taskstate.errors import GitFailed, TaskstateError
from taskstate.lint.compared_revision import ComparedCommit, CurrentFiles
from taskstate.model.archive_format import rolled_items
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
from taskstate.views.changes import REMOVED, Side, TaskChange, change_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

_BRANCHES = ("GITHUB_HEAD_REF", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME")  # HEAD is detached in a job of these services


class PullRequest(NamedTuple):
    """What changed in the tasks between two commits, those with open findings first.

    `named` are tasks without a change that commits or the branch name; `unnamed_files` are the changed files that none
    of all these names, by its Repository Paths or in a commit that touched them.
    """

    base: str
    head: str
    tasks: tuple[TaskChange, ...]
    named: tuple[str, ...]
    unnamed_files: tuple[str, ...]


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
            return PullRequest(start, head, changed, (), ())
        commits = tuple((ids_named(each), each.paths) for each in git_log.with_paths(root, f"{start}..{head}"))
        told = {task for tasks, _ in commits for task in tasks} | _by_branch(root, two.states)
        return PullRequest(start, head, changed, two.unchanged(told, changed), two.unnamed_files(commits))


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
        self.then, self.now, self.workspace = then, then.now, then.now.workspace
        # A file that became a link is gone, too: nobody reads what it leads to.
        gone = then.tree.keys() - self.now.ids.keys() - {*then.renames.values()}
        self.states, self._removed = self._by_id(self.now.ids, "state"), self._by_id(sorted(gone), "state")
        self._archives = self._by_id(then.tree, "archive"), self._by_id(self.now.ids, "archive")
        self._scopes = list[Scope]()

    def _by_id(self, names: Iterable[str], type_: str) -> dict[str, str]:
        return {own_id(each): each for each in names if own_type(each) == type_ and self.workspace.lists(each)}

    def known(self, ids: Iterable[str]) -> frozenset[str]:
        """Return ids in lower case; one that neither commit has is refused."""
        for each in ids:
            if each.casefold() not in self.states | self._removed:
                message = f"there is no task {each}, neither at HEAD nor where it left its target"
                raise TaskstateError(message, help="`taskstate list` lists the tasks", code="not-found")
        return frozenset(each.casefold() for each in ids)

    def changes(self, wanted: Collection[str]) -> Iterator[TaskChange]:
        """Yield what changed in each task, or in those that are wanted."""
        roles, tree, ids = self.workspace.config.roles, self.then.tree, self.now.ids
        for task, name in self.states.items():
            former = name if name in tree else self.then.renames.get(name, "")
            before = tree.get(former, ""), tree.get(self._archives[0].get(own_id(former), ""), "")
            after = ids[name], ids.get(self._archives[1].get(task, ""), "")
            if (not wanted or task in wanted) and (before != after or own_id(former) != task):
                yield change_of(self._side(former, *before) if former else None, self._side(name, *after), roles)
        for task, name in self._removed.items():
            if not wanted or task in wanted:
                yield change_of(self._side(name, tree[name]), None, roles)

    def _side(self, name: str, blob: str, archive: str = "") -> Side:
        """Return a task as a commit has it, given the ids of its two files."""
        data, kept = self.now.objects.contents([blob, archive])
        text, archived = ((each or b"").decode("utf-8", "replace") for each in (data, kept))
        is_large = data is None or (kept is None and archive)
        problem = "it is too large" if is_large else "it is not UTF-8" if text.encode() != data else ""
        own = own_file(name)
        state = read_state(parse(text, self.workspace.kinds), (own and own.id) or "")
        for each in state.problems[:1]:
            problem = problem or f"line {state.document.position(each.span.start).line + 1}: {each.message}"
        self._scopes.append(scope_of(state, self.workspace.config))
        return Side(state, sessions_in(archived), rolled_items(archived, "Events"), problem)

    def unchanged(self, ids: set[str], changed: Iterable[TaskChange]) -> tuple[str, ...]:
        """Return those of some ids whose tasks are at HEAD, and are not among the changed ones."""
        left = (ids & self.states.keys()) - {each.id.casefold() for each in changed}
        names = [self.states[each] for each in sorted(left, key=id_key)]
        return tuple(self._side(name, self.now.ids[name]).state.id for name in names)

    def unnamed_files(self, commits: Iterable[tuple[Collection[str], Sequence[str]]]) -> tuple[str, ...]:
        """Return the changed files, but for taskstate's own, that none of the tasks that were looked at names."""
        own = f"{self.workspace.config.root}/"
        named = {path for tasks, paths in commits if not self.states.keys().isdisjoint(tasks) for path in paths}
        others = (each for each in self.then.changed - named if not (each.startswith(own) or own_type(each)))
        return tuple(sorted(each for each in others if not any(scope.covers(each) for scope in self._scopes)))

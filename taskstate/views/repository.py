"""Reads what the views show of a repository: the tasks of all worktrees, by the index, and the files of open ones.

Five agents usually have a worktree each. A task that is the same in several is shown once, as the first of them has it,
with this worktree before all others; one that differs is shown as often, labelled by branch, the newest first. What a
worktree that is gone has newer counts as older. No state file is written.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cached_property

from taskstate.brief.attention import Differing
from taskstate.errors import TaskstateError
from taskstate.messages import first_of, quoted
from taskstate.model.names import id_key
from taskstate.model.statuses import BLOCKED, CLOSED, COMPLETE, CREATED, IN_PROGRESS
from taskstate.storage import kept_records
from taskstate.storage.cache import Cache
from taskstate.storage.git import client as git
from taskstate.storage.private import Private
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.task_list import Remembered, TaskList, read_tasks
from taskstate.workspace import task_index, worktrees
from taskstate.workspace.workspace import find_workspace
from taskstate.writing.ledger import newest_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taskstate.snapshots.base import CurrentTree, SnapshotBase
    from taskstate.views.facts import Facts
    from taskstate.views.task_list import Listed
    from taskstate.workspace.open_turns import OpenTurn
    from taskstate.workspace.task_index import IndexedTask, StateFiles
    from taskstate.workspace.workspace import Workspace

_NAMED = 1  # branches in a label
_MOST_IDS = 10  # tasks in a line
_STALE = "out of date"


class Shown(NamedTuple):
    """A task as it is in one worktree: as the index has it, and the row of the list, where its whole file was read.

    `branch` is empty where it is the same in all worktrees; `problem` says what is wrong with it. It `is_stale` if
    another worktree has it newer, also one that is gone, and `is_first` if it is the newest that can be read.
    """

    tree: Tree
    task: IndexedTask
    row: Listed | None
    branch: str = ""
    problem: str = ""
    is_stale: bool = False
    is_first: bool = True

    @property
    def facts(self) -> Facts | None:
        """What its whole file says, where it is open and was read."""
        return self.row.facts if self.row else None

    @property
    def turn(self) -> OpenTurn | None:
        """The open turn that the file tells of."""
        return None if self.task.status in CLOSED else self.task.open_turn

    @property
    def status(self) -> str:
        """Its status; where a role is blocked, it is, and where a turn is open, it is in progress."""
        if self.facts and self.facts.stuck and self.task.status in {CREATED, IN_PROGRESS}:
            return BLOCKED
        return IN_PROGRESS if self.turn and self.task.status == CREATED else self.task.status

    @property
    def place(self) -> dict[str, str]:
        """Where it is, as JSON values, if it differs between worktrees."""
        places = {"branch": self.branch, "worktree": self.tree.name}
        return {key: value for key, value in places.items() if value}

    @property
    def agent(self) -> str:
        """Who works on it."""
        return self.turn.agent if self.turn else ""

    @property
    def role(self) -> str:
        """The role that is at work."""
        return self.facts.role if self.facts else ""


class _Tree(NamedTuple):
    workspace: Workspace
    name: str = ""
    flags: str = ""


class Tree(_Tree):
    """A worktree of the repository; `name` is its path, and empty for the one in which the command runs.

    A command needs the `flags` to work there.
    """

    @cached_property
    def files(self) -> StateFiles:
        """The state files in it."""
        return task_index.state_files(self.workspace)

    @cached_property
    def tasks(self) -> tuple[IndexedTask, ...]:
        """All tasks, by their front matter."""
        return task_index.all_tasks(self.workspace, self.files)

    @cached_property
    def now(self) -> CurrentTree:
        """The working tree as it is.

        Raises:
            TaskstateError: it cannot be read: there is no git, or a merge is under way.
        """
        from taskstate.snapshots.base import current_tree

        return current_tree(self.workspace)

    @property
    def known_tree(self) -> str:
        """The id of the working tree, where something was compared with it; empty otherwise."""
        return self.now.tree if "now" in self.__dict__ else ""

    @cached_property
    def drifts(self) -> Cache[Differing]:
        """What was found to differ in the working tree as it is, by the path of the task's file."""
        rests_on = f"{Differing._fields} {self.now.tree} {self.now.head} {self.files.mark()}"
        return Cache(self.workspace.private.cache("drift.json"), Differing._make, rests_on=rests_on)

    @cached_property
    def read(self) -> SnapshotBase:
        """The working tree, read once for all comparisons, until this is closed.

        Raises:
            TaskstateError: as `now`.
        """
        from taskstate.model.delta_block import read_delta
        from taskstate.snapshots.base import snapshot_base

        return self._opened.enter_context(snapshot_base(self.workspace, "", read_delta({}), self.now.head))

    @cached_property
    def _opened(self) -> ExitStack:
        return ExitStack()

    def close(self) -> None:
        """Remember what was found to differ, and let go of the working tree."""
        if "drifts" in self.__dict__:
            self.drifts.save()
        self._opened.close()

    @cached_property
    def branch(self) -> str:
        """The branch that is checked out, or the name of the folder."""
        return git.branch(self.workspace.root) or self.workspace.root.name

    @cached_property
    def complete(self) -> frozenset[str]:
        """The case-folded ids of the tasks that are complete."""
        return frozenset(each.id.casefold() for each in self.tasks if each.status == COMPLETE)

    @cached_property
    def _remembered(self) -> Remembered:
        return Remembered(self.workspace, self.files, whole=False)

    def rows(self, paths: Iterable[str]) -> tuple[Mapping[str, Listed], Mapping[str, str]]:
        """Return the rows of the list for these paths, and what is wrong with any of the files."""
        found = read_tasks(self._remembered, tuple(paths))
        parts = {each.path: each.unread for each in found.tasks if each.unread}
        return {each.path: each for each in found.tasks}, parts | found.problems


class Repository(NamedTuple):
    """The tasks of all worktrees in natural order, and which worktrees cannot be read and why."""

    trees: tuple[Tree, ...]
    tasks: tuple[Shown, ...]
    unread: tuple[str, ...]


def read(workspace: Workspace, flags: str = "", *, whole: bool = False) -> Repository:
    """Return all tasks of a repository as the views show them; the files of open ones are read, or the `whole` of them.

    A command needs the `flags` to work in this worktree.
    """
    trees, unread = trees_of(workspace, flags)
    shown = [each for tree in trees for each in _read(tree, _own(tree, trees), closed=whole)]
    shown.sort(key=lambda each: each.task.updated, reverse=True)  # of one time, this worktree's stays the first
    shown.sort(key=lambda each: id_key(each.task.id))
    firsts = {each.task.id.casefold(): each for each in reversed(shown)}
    gone, marked = _newer_where_gone(workspace, firsts, unread), []
    for each in shown:
        key = each.task.id.casefold()
        is_stale = key in gone or "" < each.task.updated < firsts[key].task.updated
        is_usual = not is_stale and each is firsts[key]  # as nearly all of ten thousand
        marked.append(each if is_usual else each._replace(is_stale=is_stale, is_first=each is firsts[key]))
    return Repository(tuple(trees), tuple(marked), tuple(unread))


def task_list(found: Repository, *, shaped: bool) -> TaskList:
    """Return the tasks as the list has them; the paths of what is in another worktree are in full."""
    listed = TaskList([], {}, {})
    remembered = {each.name: Remembered(each.workspace, each.files, shaped=True) for each in found.trees if shaped}
    read_of = {name: read_tasks(each) for name, each in remembered.items()}
    for each in found.tasks:
        tree, row, path = each.tree, each.row, os.path.join(each.tree.name, each.task.path)
        if each.problem:
            listed.problems[path] = f"{tree.name}: {each.problem}".removeprefix(": ")
        if row:
            branch = _STALE if each.is_first and each.is_stale else each.branch
            listed.tasks.append(row._replace(path=path, branch=branch, is_stale=each.is_stale))
        if row and shaped:
            listed.shapes[path] = read_of[tree.name].shapes[each.task.path] | each.place
    return listed


def trees_of(workspace: Workspace, flags: str = "") -> tuple[list[Tree], list[str]]:
    """Return the worktrees of a repository, this one first, and which others cannot be read or are gone."""
    trees, unread = [Tree(workspace, flags=flags)], []
    for path in worktrees.others(workspace.root, workspace.config.root):
        try:
            there = find_workspace(path, root=str(path))
            trees.append(Tree(there, str(path), f" --root {quoted(str(path))}"))
            len(trees[-1].tasks)
        except TaskstateError as error:
            trees = [each for each in trees if each.name != str(path)]
            unread.append(f"the worktree {path}: {error.message}")
    return trees, [*unread, *(message for message, _ in worktrees.gone(workspace.root))]


def _newer_where_gone(workspace: Workspace, firsts: Mapping[str, Shown], unread: list[str]) -> set[str]:
    """Return the case-folded ids of the tasks that commands wrote last in worktrees that are gone, and name them."""
    found = set[str]()
    for _, private in worktrees.gone(workspace.root):
        kept, _ = kept_records.records(Private((private,), None))
        last = {each: newest_entry(kept, each) for each in {task for record in kept for task in record.ids}}
        here = {each: first.task.updated for each, first in firsts.items() if each in last}
        found |= {each for each, entry in last.items() if entry and entry.at > here.get(each, "")}
    ids = first_of(sorted(found, key=id_key), _MOST_IDS)
    unread += [f"the newest state of {ids}, written in a worktree that is gone"] if found else []
    return found


def _own(tree: Tree, trees: list[Tree]) -> Mapping[str, str]:
    """Return the paths of the tasks to be shown of a worktree, each with its label: those that none before it has."""
    if len(trees) == 1:
        return {task.path: "" for task in tree.tasks}
    versions = {each.name: {task.path: _version(task) for task in each.tasks} for each in trees}
    before = [versions[each.name] for each in trees[: trees.index(tree)]]
    own = {}
    for path, version in versions[tree.name].items():
        if all(each.get(path) != version for each in before):
            same = [each.branch for each in trees if versions[each.name].get(path) == version]
            is_alone = all(versions[each.name].get(path, version) == version for each in trees)
            own[path] = "" if is_alone and not tree.name else first_of(same, _NAMED, last=" +")
    return own


def _version(task: IndexedTask) -> IndexedTask:
    """Return a task so that it is equal in two worktrees if its file is, as far as the index tells."""
    return task._replace(mark=task.mark.partition("-")[0])  # of the mark only the size


def _read(tree: Tree, own: Mapping[str, str], *, closed: bool) -> Iterator[Shown]:
    tasks = [each for each in tree.tasks if each.path in own]
    rows, problems = tree.rows(each.path for each in tasks if closed or each.status not in CLOSED)
    for task in tasks:
        problem = problems.get(task.path, "" if task.path in rows else task.problem)
        yield Shown(tree, task, rows.get(task.path), own[task.path], problem)

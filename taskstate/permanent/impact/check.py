"""Checks a claim, the list of files that a change is said to touch, against the Impact Map.

The answer says which modules the files are in, what the claim leaves out, and whom the change reaches: ripple paths,
modules downstream, interfaces with their contracts, and the other tasks and roles at work there. Nothing is written.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import impact_graph, permanent
from taskstate.model.impact_map import files_by_module
from taskstate.model.names import id_key
from taskstate.model.permanent import PERMANENT
from taskstate.model.statuses import CLOSED, IN_PROGRESS
from taskstate.model.write_metadata import blocks_of
from taskstate.permanent import find
from taskstate.permanent.impact.claimed_files import BASE, changed_files, has_base, named_files
from taskstate.permanent.impact.storage import repository_files, require_map
from taskstate.snapshots.changed_files import scope_of
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import task_index

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from taskstate.context.path_scope import Scope
    from taskstate.model.impact_graph import Between, Started
    from taskstate.model.impact_map import ImpactMap, Interface
    from taskstate.workspace.workspace import Loaded, Workspace


class Claim(NamedTuple):
    """What is claimed: files that are named, or where none are, those of the diff since the base or a snapshot.

    `since` is empty where no diff was asked for.
    """

    files: tuple[str, ...] = ()
    since: str = ""


class Neighbour(NamedTuple):
    """Another open task whose Repository Paths reach into modules of the change, and its roles in progress."""

    task: str
    title: str
    roles: tuple[str, ...]
    agent: str
    modules: tuple[str, ...]


class Answer(NamedTuple):
    """What the Impact Map says of a claim.

    `files` are the claimed files with their modules; those in no module have none. `missing_files` are files of the
    same change that are not claimed, and `foreign_files` such files that lie in the Repository Paths of another task
    at work. `downstream` has the path on which the change reaches each module.
    """

    task: str
    permanent: str
    version: int
    map: ImpactMap
    files: Mapping[str, tuple[str, ...]]
    modules: tuple[str, ...]
    missing_files: Mapping[str, tuple[str, ...]]
    foreign_files: Mapping[str, str]
    missing_modules: tuple[Between, ...]
    ripples: tuple[Started, ...]
    neighbours: tuple[Neighbour, ...]
    downstream: Mapping[str, tuple[str, ...]]
    interfaces: tuple[Interface, ...]
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the claim leaves out no file of the change, and no module between two claimed ones."""
        return not self.missing_files and not self.missing_modules

    @property
    def outside(self) -> tuple[str, ...]:
        """The claimed files that are in no module."""
        return tuple(path for path, modules in self.files.items() if not modules)


def check(workspace: Workspace, loaded: Loaded, claim: Claim) -> Answer:
    """Return what the Impact Map of the permanent task says of a claim that a task makes.

    Raises:
        TaskstateError: code "no-permanent", "no-map" or "impact-map"; code "usage": nothing is claimed; code
            "nothing-changed"; or the repository cannot be compared.
    """
    if loaded.state.kind == PERMANENT:
        help_ = "name the task that makes the change; the permanent task is found"
        raise TaskstateError(f"task {loaded.state.id} is a permanent task", help=help_, code="usage")
    found = find.require(workspace)
    shared = workspace.load(workspace.locate(found.id))
    map_, paths = require_map(workspace, shared), repository_files(workspace)
    changed, notes = _changed(workspace, loaded, claim)
    claimed = named_files(claim.files, paths) if claim.files else changed
    if not claimed:
        help_ = f"name the files that it will touch: `taskstate impact check {loaded.state.id} --files F,F`"
        raise TaskstateError(f"task {loaded.state.id} has changed no file yet", help=help_, code="nothing-changed")
    files = map_.modules_of(claimed)
    modules = _in_order(map_, {name for names in files.values() for name in names})
    ripples = impact_graph.ripples_started(map_, modules)
    downstream = impact_graph.downstream(map_, modules)
    between = impact_graph.modules_between(map_, modules)
    reached = {*modules, *downstream, *(each.module for each in between), *(n for each in ripples for n in each.after)}
    files_of = files_by_module(map_.modules_of((*paths, *claimed)), _in_order(map_, reached))
    others = tuple(_others(workspace, loaded, files_of))
    missing = [path for path in changed if path not in files]
    own = scope_of(loaded.state, workspace.config)
    foreign = {path: task for path in missing if not own.covers(path) and (task := _owner(others, path))}
    return Answer(
        task=loaded.state.id,
        permanent=found.id,
        version=permanent.version_of(shared.state),
        map=map_,
        files=files,
        modules=modules,
        missing_files=map_.modules_of(path for path in missing if path not in foreign),
        foreign_files=foreign,
        missing_modules=between,
        ripples=ripples,
        neighbours=tuple(each for each, _ in others if each.modules),
        downstream=downstream,
        interfaces=impact_graph.interfaces_crossed(map_, modules, downstream),
        notes=(*found.notes, *notes),
    )


def _changed(workspace: Workspace, loaded: Loaded, claim: Claim) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files of the task's change so far, with a note where they cannot be told and nobody asked for them."""
    if claim.since:
        return changed_files(workspace, loaded, claim.since), ()
    if not claim.files:
        help_ = f"`taskstate impact check {loaded.state.id} --files F,F`, or `--diff` for what it has changed so far"
        raise TaskstateError("nothing is claimed", help=help_, code="usage")
    if not has_base(loaded):
        return (), ()
    try:
        return changed_files(workspace, loaded, BASE), ()
    except TaskstateError as error:
        return (), (f"not compared with what the task has changed so far: {error.message}",)


def _in_order(map_: ImpactMap, ids: Collection[str]) -> tuple[str, ...]:
    return tuple(each.id for each in map_.modules if each.id in ids)


# Other tasks


def _others(workspace: Workspace, loaded: Loaded, files: Mapping[str, list[str]]) -> Iterator[tuple[Neighbour, Scope]]:
    """Yield the other open tasks that name Repository Paths, with the modules that these reach into."""
    open_tasks = (each for each in task_index.all_tasks(workspace) if not each.problem and each.status not in CLOSED)
    for each in sorted(open_tasks, key=lambda task: id_key(task.id)):
        if each.kind == PERMANENT or each.id.casefold() == loaded.state.id.casefold():
            continue
        other = workspace.load(workspace.root / each.path)
        scope = scope_of(other.state, workspace.config)
        if scope.inside:
            modules = tuple(name for name, paths in files.items() if any(map(scope.covers, paths)))
            yield _neighbour(other, modules), scope


def _neighbour(other: Loaded, modules: tuple[str, ...]) -> Neighbour:
    blocks = blocks_of(other.document)
    turn = blocks.delta.turn
    roles = {name for name, each in blocks.roles.items() if each.status == IN_PROGRESS}
    roles |= {turn.role} if turn and turn.role else set()
    agent = (turn.agent if turn else None) or ""
    return Neighbour(other.state.id, other.state.title, tuple(sorted(roles)), agent, modules)


def _owner(others: tuple[tuple[Neighbour, Scope], ...], path: str) -> str:
    """Return another task with a role in progress whose Repository Paths a file lies in, or an empty text."""
    return next((each.task for each, scope in others if each.roles and scope.covers(path)), "")

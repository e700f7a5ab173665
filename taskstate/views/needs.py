"""Says what needs a person: one list for the terminal, for programs and for the page.

Eight kinds are told one by one; the others are counted behind them, so that nothing cries wolf. Each follows from what
a file, git or the clock says, and names the commands that see to it. What cannot be looked at here is told as unknown.
"""

from __future__ import annotations

import re
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import cache

from taskstate.brief.attention import Differing, differing, look_at
from taskstate.errors import TaskstateError
from taskstate.messages import counted, first_of, quoted
from taskstate.model import config
from taskstate.model.derived_values import exceeded
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.permanent import COSMETIC, highest_level, shown_version
from taskstate.model.statuses import BLOCKED as IS_BLOCKED
from taskstate.model.statuses import IN_PROGRESS
from taskstate.model.write_metadata import moment, timestamp
from taskstate.permanent.readers import standings
from taskstate.snapshots import drift
from taskstate.storage import folders
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.removed import removed
from taskstate.views.repository import Shown
from taskstate.workspace import allowed_commands, task_index
from taskstate.workspace.allowed_commands import Command
from taskstate.writing.damage import had_front_matter
from taskstate.writing.startup import losses_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taskstate.views.facts import Facts
    from taskstate.views.repository import Repository, Tree
    from taskstate.workspace.open_turns import OpenTurn
    from taskstate.writing.notices import Told

DAMAGED, DRIFT, TRUST, SENT_BACK = "damaged", "drift", "trust", "sent back"
SILENT, BLOCKED, DECISION, READY = "silent", "blocked", "decision", "ready"
HANDOFF, BEHIND, CLAIM, STALE, LARGE = "handoff", "behind", "claim", "stale", "large"
PUT_DOWN = "put down"
UNKNOWN = "unknown"
# 1 comes first. What is counted has a 0, and so has what cannot be looked at.
SEVERITY = {DAMAGED: 1, DRIFT: 1, TRUST: 2, SENT_BACK: 2, SILENT: 2, BLOCKED: 2, DECISION: 3, READY: 3}
COUNTED = (HANDOFF, BEHIND, CLAIM, STALE, PUT_DOWN, LARGE)

_HOUR = 3600
_SILENT_AFTER = 2 * _HOUR
_NEARLY = 0.9  # of the limit of a file's size
_MOST_SEALED = 50  # contexts whose sources are read
_FIX = "doctor --fix"
_LATEST = "~"  # sorts behind every time


class Need(NamedTuple):
    """One thing that needs a person: its kind, the task, since when, and the commands that see to it.

    `text` says in a few words what it is, `detail` more; the `paths` are those of a drift. `since` is empty where no
    file tells it; `branch` says in which worktree it is where the task differs between two. The `severity` is 0 for
    what is only counted, and for what is unknown. Of the `others` the same is true.
    """

    kind: str
    task: str
    since: str
    text: str
    detail: str = ""
    actions: tuple[str, ...] = ()
    severity: int = 0
    branch: str = ""
    others: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    @property
    def is_listed(self) -> bool:
        """Whether it is told by itself, and not only counted."""
        return self.severity > 0


def needs(repository: Repository, now: str, told: Sequence[Told] = ()) -> tuple[Need, ...]:
    """Return what needs a person, the gravest and oldest first, then what is counted, and what is unknown.

    `told` are the losses in this worktree, as every command tells them.
    """
    with ExitStack() as stack:
        for tree in repository.trees:
            stack.callback(tree.close)
        found = [need for shown in repository.tasks for need in _of_task(shown, now)]
        found += [need for tree in repository.trees for need in _of_tree(tree, repository, told)]
    found += [Need(UNKNOWN, "", "", f"not looked at: {each}") for each in repository.unread]
    once: dict[tuple[object, ...], Need] = {}
    for each in found:
        once.setdefault((each.kind, each.task, each.text, each.kind == DRIFT and each.branch), each)
    return tuple(sorted(once.values(), key=_order))


def _order(need: Need) -> tuple[object, ...]:
    kinds = (*SEVERITY, *COUNTED, UNKNOWN)
    return not need.is_listed, need.severity, need.since or _LATEST, kinds.index(need.kind), need.task, need.branch


def _need(kind: str, shown: Shown, text: str, *actions: str, since: str = "", detail: str = "") -> Need:
    """Return a need of a task, with commands that work in its worktree."""
    own, root = shown.tree.flags, shown.tree.workspace.root
    git = f"git -C {quoted(str(root))} " if own else "git "
    ours = (f"{git}{each[4:]}" if each.startswith("git ") else f"taskstate {each}{own}" for each in actions)
    return Need(kind, shown.task.id, since, text, detail, tuple(ours), SEVERITY.get(kind, 0), shown.branch)


# What a file says


def _of_task(shown: Shown, now: str) -> Iterator[Need]:
    task, facts = shown.task, shown.facts
    if shown.problem:
        yield _damaged(shown, shown.problem)
    if facts is None or shown.is_stale:
        return
    for each in facts.sent_back:
        text = f"finding {each.number} was answered {_times(each.answers)}, and is open again"
        show, take = f"role show {task.id}", f"role unblock {task.id} {each.role} --finding {each.number}"
        yield _need(SENT_BACK, shown, text, show, take, since=each.at or task.updated, detail=each.text)
    if shown.turn and _is_older(since := max(task.updated, shown.turn.started_at), now, _SILENT_AFTER):
        yield _silent(shown, shown.turn, since, facts.words)
    if task.status == IS_BLOCKED and _waits_for_nobody(shown):
        text = task.blocked or facts.words or "no reason is recorded"
        since = facts.blocked_at or task.updated
        yield _need(BLOCKED, shown, text, f"show {task.id}", f"edit {task.id} --unblocked", since=since)
    for decision in facts.proposed:
        by = f" by {decision.by}" if decision.by else ""
        text = f"AD-{decision.number} is proposed{by}: {decision.title}"
        accept = f"permanent decide {task.id} --accept {decision.number}"
        look = f'show {task.id} --section "Architecture Decisions"'
        reject = f'permanent decide {task.id} --reject {decision.number} --rationale "WHY"'
        yield _need(DECISION, shown, text, look, accept, reject, since=decision.at or task.updated)
    if facts.is_done:
        text = "criteria and features are met, but the task is still open"
        yield _need(READY, shown, text, f"complete {task.id} --dry-run", since=task.updated)
    yield from _counted(shown, facts, now)


def _silent(shown: Shown, turn: OpenTurn, since: str, words: str) -> Need:
    """Return the need of a turn in which nobody writes, with the files that count as its work meanwhile."""
    who, task = turn.agent or "somebody", shown.task.id
    role, why, look = f", {turn.role}," if turn.role else "", quoted(f"{who} is silent"), f"show {task}"
    text = f"{who}{role} has an open turn and has not written"
    try:
        found = _difference(shown)
    except TaskstateError:  # without git nobody can tell
        found = None
    if found and found.paths:
        text = f"{drift.first_paths(found.paths)}: changed and recorded by nobody; {who}{role} is silent"
        look = found.look
    take = f"finish {task} --take-over {why} --abandon --note {why}"
    return _need(SILENT, shown, text, look, take, since=since, detail=words)


def _counted(shown: Shown, facts: Facts, now: str) -> Iterator[Need]:
    task, row, size = shown.task, shown.row, shown.tree.workspace.config.size
    if facts.handoff and _is_older(task.updated, now, _HOUR):
        yield _need(HANDOFF, shown, facts.handoff, f"handoff show {task.id}", since=task.updated)
    if facts.is_claimed:
        yield _need(CLAIM, shown, "a claim waits to be confirmed", f"impact confirm {task.id}", since=task.updated)
    is_large = row is not None and row.size_kb > size.max_kb * _NEARLY
    if row and task.kind != PERMANENT and (is_large or (row.sessions > size.max_sessions and not row.divided)):
        text = f"{row.size_kb} of {size.max_kb} KB" if is_large else counted(row.sessions, "session")
        command = _smaller(shown) if is_large else f"decompose {task.id}"
        yield _need(LARGE, shown, text, command, since=task.updated)


def _smaller(shown: Shown) -> str:
    """Return the command that makes a large file smaller, as the finding on its size has it."""
    workspace, size = shown.tree.workspace, shown.tree.workspace.config.size
    with suppress(TaskstateError):  # it was deleted just now
        state = workspace.load(workspace.root / shown.task.path).state
        forced = "" if exceeded(state.size, kb=size.max_kb, tokens=size.max_tokens) else " --force"
        if len(state.sessions) > size.keep_sessions:
            return f"archive {state.id}{forced}"
        if len(state.sessions) > 1:
            return f"archive {state.id}{forced} --keep 1"
    return f"lint {_file(shown)}"


def _file(shown: Shown) -> str:
    """Return the path of a task's file for a command: whole in another worktree, since a path goes out from here."""
    path = shown.task.path
    return quoted(str(shown.tree.workspace.root / path) if "--root" in shown.tree.flags else path)


def _damaged(shown: Shown, message: str) -> Need:
    """Return the need of a file that cannot be read: its message names the ways out."""
    workspace, task = shown.tree.workspace, shown.task
    text = re.sub(r"^(?:not listed: )?(?:cannot read )?.+?-state\.md'?(?: is damaged:|[,:]| is| has)? ", "", message)
    look, is_conflict = f"lint {_file(shown)}", "it holds a merge conflict" in text
    commands = [each.removeprefix("taskstate ") for each in re.findall(r"`((?:taskstate|git) [^`]+)`", message)]
    if is_conflict:
        from taskstate.recovery.conflicted import merged_again  # hardly any file holds one

        brings_back = merged_again(workspace.root, task.path, workspace.read(workspace.root / task.path)) is not None
    else:
        brings_back = had_front_matter(workspace, task.path, task.id)
    named = commands or [_FIX] * is_conflict  # a conflict has a way out where its message names none
    commands = [look if each == "lint" or (each == _FIX and not brings_back) else each for each in named]
    text = re.sub(r"^(.{1,1000}?)(?: is| are)? gone, recorded .*", r"gone: \1", text)
    text = re.sub(r"[:;,]? (?:fix it|convert it|keep the right|or name the real file|`taskstate|`git).*", "", text)
    if is_conflict and not brings_back:
        text = text.replace("it holds a merge conflict", "merge conflict: keep the right lines, delete its markers")
    text = text if commands else f"{task.path.rpartition('/')[2]}: {text}"
    return _need(DAMAGED, shown, text, *commands, since=_written(task.mark), detail=message)


def _written(mark: str) -> str:
    """Return the time of a file's last change, from its mark."""
    nanoseconds = mark.split("-")[1:2]
    return _at(int(nanoseconds[0]) / 1e9) if nanoseconds and nanoseconds[0].isdigit() else ""


def _at(seconds: float) -> str:
    return timestamp(datetime.fromtimestamp(seconds, UTC)) if seconds else ""


def _is_older(then: str, now: str, seconds: int) -> bool:
    """Return whether a time is so long ago; one that is no time, or lies ahead of the clock, is not."""
    begin, end = moment(then), moment(now)
    return begin is not None and end is not None and end - begin >= seconds


def _times(number: int) -> str:
    return "twice" if number == 2 else f"{number} times"  # noqa: PLR2004 - a word


def _waits_for_nobody(shown: Shown) -> bool:
    upstream = {each.casefold() for each in shown.task.depends_on}
    return shown.tree.complete >= upstream


# What also rests on the worktree, on git, or on what the user has allowed


def _of_tree(tree: Tree, repository: Repository, told: Sequence[Told]) -> Iterator[Need]:
    own = [each for each in repository.tasks if each.tree is tree]
    known = {each.task.path for each in own if each.problem}
    by_path = {each.task.path: each for each in own}
    losses = losses_of(tree.workspace) if tree.name else told
    for each in losses:
        if each.path not in known:
            shown = by_path.get(each.path) or _absent(tree, each.path)
            yield _damaged(shown, each.message)
    for path, message in removed(tree.workspace, {*tree.files.marks, *(each.path for each in losses)}):
        yield _damaged(_absent(tree, path), f"{path}: {message}")
    yield from _drifts(tree, own)
    current = [each for each in own if not each.is_stale]
    yield from _untrusted(tree, current)
    yield from _behind(tree, current)
    yield from _stale(tree, current)


def _absent(tree: Tree, path: str) -> Shown:
    """Return the task of a state file that is gone."""
    fields = ("", path, task_index.id_in(path), *[""] * 9)
    return Shown(tree, task_index.IndexedTask(*fields), None, tree.branch if tree.name else "")


def _drifts(tree: Tree, own: Iterable[Shown]) -> Iterator[Need]:
    """Yield where the working tree is not what was left, once for the same files.

    With one look at the tree, most tasks need no other.
    """
    candidates = [(each, each.facts) for each in own if each.facts and (each.facts.drifted or each.facts.left)]
    try:
        now = tree.now.tree if candidates else ""
    except TaskstateError as error:
        yield Need(UNKNOWN, "", "", f"drift: {error}")
        now = ""
    same: dict[tuple[object, ...], list[Need]] = {}
    for shown, facts in candidates:
        if facts.drifted or (now and facts.left != now):
            for each in _drift(shown, facts.drifted, now):
                same.setdefault((each.kind, each.paths or each.task + each.text, each.branch), []).append(each)
    yield from map(_once, same.values())


def _once(same: Sequence[Need]) -> Need:
    """Return the first of needs that are the same, with the tasks of the others."""
    first, *more = same
    others = tuple(each.task for each in more)
    return first._replace(text=f"{first.text} (and so of {first_of(others, 2)})", others=others) if more else first


def _drift(shown: Shown, drifted: Sequence[str], now: str) -> Iterator[Need]:
    """Yield that the tree is not what was left: as it was counted, or as it differs `now`, if that is known."""
    task, roles = shown.task, shown.tree.workspace.config.roles
    role = drifted[0] if drifted else ""
    found: Differing | None = Differing(role, (), look_at(task.id, role))
    try:
        seen = _difference(shown) if now else None
        found = found if drifted and not (seen and seen.is_here) else seen
    except TaskstateError as error:
        yield Need(UNKNOWN, "", "", f"drift of task {task.id}: {error}")
    if found and found.role and not found.is_here:  # without a role nothing waits for it
        yield Need(UNKNOWN, "", "", f"drift: {found.role} of {task.id} left files in another clone: push them there")
    elif found and (found.paths or drifted):
        what = f"{drift.first_paths(found.paths)} {'is' if len(found.paths) == 1 else 'are'}" if found.paths else ""
        resolve = f'snapshot resolve {task.id} --expect-tree {now[: drift.TREE_DIGITS]} --note "WHY"'
        accept = [resolve] if now and found.role in {"", *roles} else []
        who = shown.facts.left_by if shown.facts and found.role in {"", drifted[0] if drifted else found.role} else ""
        text = f"{what or 'the tree was'} not what {who or found.who} left"
        text += ", perhaps by a commit hook" if git.has_hook(shown.tree.workspace.root, "pre-commit") else ""
        since = _newest_change(shown, found.paths) or task.updated
        back = [found.back] if found.back else []
        drifts = _need(DRIFT, shown, text, found.look, *accept, *back, since=since)
        yield drifts._replace(paths=tuple(found.paths))
    elif found and found.put_down:
        who = (shown.facts and shown.facts.left_by) or found.who
        text = f"{'; '.join(found.put_down)}, not what {who} left"
        yield _need(PUT_DOWN, shown, text, found.look, since=task.updated)


def _newest_change(shown: Shown, paths: Iterable[str]) -> str:
    """Return when the newest of these files was changed; empty where none is there."""
    root = shown.tree.workspace.root
    statuses = (folders.find(root / drift.unquoted(each).decode("utf-8", "replace")) for each in paths)
    return _at(max((each.st_mtime for each in statuses if each), default=0.0))


def _difference(shown: Shown) -> Differing | None:
    """Compare the working tree with what a task's last turn left; remembered until a file or the tree changes."""
    tree, workspace = shown.tree, shown.tree.workspace
    found = tree.drifts.get(shown.task.path)
    if found is None:
        found = differing(workspace, workspace.load(workspace.root / shown.task.path), tree.read)
        if found and not tree.files.unsettled:
            tree.drifts.put(shown.task.path, found)
    return found


def _untrusted(tree: Tree, own: Sequence[Shown]) -> Iterator[Need]:
    """Yield the checks that nobody has allowed to run: of many tasks that want the same ones, once."""
    granted = allowed_commands.read_grants(tree.workspace.root)
    allowed = cache(lambda command: granted.allows(Command("shell", command)))
    waiting: dict[tuple[str, ...], list[Shown]] = {}
    for shown in own:
        facts = shown.facts
        if facts and facts.is_active and shown.task.kind != PERMANENT:
            wanted = facts.commands or config.validation_commands(tree.workspace.config, shown.task.area)[1]
            refused = tuple(each for each in wanted if not allowed(each))
            if refused:
                waiting.setdefault(refused, []).append(shown)
    for refused, tasks in waiting.items():
        # Whole: a command that is cut, or not named, would be allowed unseen.
        text = f"nobody has allowed {', '.join(f'`{each}`' for each in refused)} to run"
        asks = ((each, f"trust {each.task.id}") for each in tasks)
        yield _once([_need(TRUST, each, text, f"{ask} --dry-run", ask) for each, ask in asks])


def _behind(tree: Tree, current: Iterable[Shown]) -> Iterator[Need]:
    """Yield the agents at work that lack a change of the permanent task which asks something of them."""
    agents = {turn.agent: (each, turn) for each in current if (turn := each.turn) and turn.agent}
    standing_of = standings(tree.workspace)
    for agent, (shown, turn) in agents.items():
        now = standing_of(agent)
        missed = now.reader.missed if now else ()
        own = next((at for at, version in enumerate(missed) if version.actor == agent), len(missed))
        missed = missed[:own]  # who has written a version has those before it, too
        if now and missed and highest_level(missed) != COSMETIC:
            text = f"{agent} lacks {shown_version(now.version)}"
            yield _need(BEHIND, shown, text, "permanent status", since=max(missed[0].at, turn.started_at))


def _stale(tree: Tree, own: Iterable[Shown]) -> Iterator[Need]:
    sealed = [each for each in own if each.facts and each.facts.is_sealed and each.task.status == IN_PROGRESS]
    if len(sealed) > _MOST_SEALED:
        yield Need(UNKNOWN, "", "", f"stale contexts: of {len(sealed)} sealed ones, the newest {_MOST_SEALED} are read")
    for shown in sorted(sealed, key=lambda each: each.task.updated, reverse=True)[:_MOST_SEALED]:
        from taskstate.context.check import stale_parts  # most repositories seal none

        try:
            parts = stale_parts(tree.workspace, tree.workspace.load(tree.workspace.root / shown.task.path))
        except TaskstateError:  # it was deleted just now
            continue
        if parts:
            yield _need(STALE, shown, first_of(parts, 1), f"context check {shown.task.id}")


def shape(found: Iterable[Need]) -> Mapping[str, object]:
    """Return what needs a person as JSON values: the list, the counts, and what is unknown."""
    everything = [*found]
    return {
        "needs": [each._asdict() | {"actions": [*each.actions]} for each in everything if each.is_listed],
        "counted": {kind: [each.task for each in everything if each.kind == kind] for kind in COUNTED},
        "unknown": [each.text for each in everything if each.kind == UNKNOWN],
    }

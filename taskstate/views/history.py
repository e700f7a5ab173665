"""What happened to tasks, as one history: sessions, events, roles, handoffs, archivings and commits, the newest first.

Each entry says from which part of the files it is, and how exact its time is. Nothing is in it that no file says.
"""

from __future__ import annotations

import re
from contextlib import suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import counted, first_of
from taskstate.model import roles
from taskstate.model.loose_values import listed, map_of, text_of
from taskstate.model.session_texts import FINDING_VERBS, FINDINGS, OUTCOME, by_of
from taskstate.model.statuses import DONE
from taskstate.model.write_metadata import blocks_of
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.damage import why_unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taskstate.model.progress_log import Session
    from taskstate.model.tool_blocks import Role, ToolBlocks
    from taskstate.views.repository import Tree
    from taskstate.workspace.workspace import Loaded, Workspace

SECOND, MINUTE = "second", "minute"
# In the order of the help: what `--kind` takes.
TASK, SESSION, FINDING, ROLE, DRIFT, TURN = "task", "session", "finding", "role", "drift", "turn"
HANDOFF, ARCHIVE, COMMIT, CHECKS, CLAIM, OTHER = "handoff", "archive", "commit", "checks", "claim", "other"
KINDS = (TASK, SESSION, FINDING, ROLE, DRIFT, TURN, HANDOFF, ARCHIVE, COMMIT, CHECKS, CLAIM, OTHER)

_NAMED = 3  # names in a line
_MOST_COMMITS = 5_000  # that are looked at
_MOST_READ = 400  # state files of all tasks, unless all entries are wanted: they take a second
_MOST_TASKS = 3  # that a commit touches without naming one: of more it is one entry, and of no task
# By the event's name: its kind, and what is said of it before its note, out of its own keys.
_EVENTS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("blocked", "unblocked", "dropped", "reopened", "closed", "renumbered"), (TASK, "")),
    "waived": (TASK, "complete without all that was wanted"),
    "finding-raised": (FINDING, "{finding}."),
    "finding-answered": (FINDING, "{finding} answered"),
    "finding-cleared": (FINDING, "{finding} withdrawn: {text}"),  # what a reviewer clears, a session tells
    "role-reopened": (ROLE, "{role} reopened"),
    "drift-accepted": (DRIFT, "accepted in {files}"),
    "drift-found": (DRIFT, "changed in no turn: {files}"),
    "drift-restored": (DRIFT, "put back as {role} left it: {files}"),
    "committed-as-left": (COMMIT, "committed as it was left: {files}"),
    "turn-taken-over": (TURN, "taken over from {from}"),
    "turn-paused": (TURN, "paused"),
    "turn-abandoned": (TURN, "given up"),
    "regression-waived": (CHECKS, "{checks} may fail"),
    "baseline-late": (CHECKS, "baseline taken after work had begun"),
    "baseline-redone": (CHECKS, "baseline taken again"),
    "impact-claimed": (CLAIM, "{modules}"),
    "impact-confirmed": (CLAIM, "that of {claimed_by} is confirmed"),
}
_LISTS = ("files", "checks", "modules")
_FINDING = rf"({'|'.join(FINDING_VERBS)}) (\d{{1,9}})"
_ARCHIVED = r"(?m)^Archived on: (\S+)\r?\nReason: ([^\r\n]*)\r?\nSessions archived: ([0-9-]+)"
_STAT = r"(?<!\d)(\d{1,9}) files? changed(?:, (\d{1,9}) insertions?\(\+\))?(?:, (\d{1,9}) deletions?\(-\))?"


class Entry(NamedTuple):
    """Something that happened: when, what, to which task, by whom, in words, and which part of the files says so.

    `at` is in UTC; of an entry whose `precision` is a minute, its seconds say nothing. `event` is the kind more
    exactly. `number` is that of a session or a finding, and 0 for others. `path` is the file of a handoff, and the id
    of a commit; one that touches many tasks and names none has no `task`. What only another worktree has is told with
    its `branch`.
    """

    at: str
    precision: str
    kind: str
    event: str
    task: str
    by: str
    text: str
    source: str
    number: int = 0
    path: str = ""
    branch: str = ""


class Asked(NamedTuple):
    """Which part of a history is wanted: from a time on, of some kinds or of all, and how many entries; 0 for all."""

    since: str = ""
    kinds: tuple[str, ...] = ()
    most: int = 0

    def wants(self, entry: Entry) -> bool:
        """Return whether an entry is of a wanted kind and time; one of a minute that has begun by then is."""
        since = self.since[:16] if entry.precision == MINUTE else self.since
        return entry.at >= since and (not self.kinds or entry.kind in self.kinds)


class History(NamedTuple):
    """The entries that were asked for, the newest first, whether there are older ones, and files that are not read."""

    entries: tuple[Entry, ...]
    has_more: bool
    unread: tuple[str, ...] = ()


class _Found:
    """The entries found so far that are wanted, in the order of their sources."""

    def __init__(self, asked: Asked) -> None:
        self._asked, self._known, self._entries = asked, set[Entry](), list[Entry]()

    def add(self, entries: Iterable[Entry], branch: str) -> None:
        """Add those of the entries of one source that are wanted, and that no worktree before had."""
        new = [each for each in entries if self._asked.wants(each) and each not in self._known]
        self._known.update(new)
        self._entries += (each._replace(branch=branch) for each in new)

    def needs(self, updated: str) -> bool:
        """Return whether a file that was written last at a time may add to the newest ones."""
        return not (updated and 0 < self._asked.most < sum(each.at >= updated for each in self._entries))

    def newest(self) -> list[Entry]:
        """Return the entries, the newest first: of those of one moment the last of a file."""
        return sorted(self._entries, key=_order)[::-1]


def _order(entry: Entry) -> tuple[str, bool, str, str, bool]:
    # A session, of which the minute alone is known, stands behind what happened in that minute: its words are written
    # before what ends its turn.
    return entry.at[:16], entry.precision == SECOND, entry.at, entry.task, entry.kind != COMMIT


class Source(NamedTuple):
    """Where a history is read: a worktree, of some tasks there or of all (None)."""

    tree: Tree
    tasks: tuple[Loaded, ...] | None = None

    @property
    def branch(self) -> str:
        """The branch of another worktree; empty for this one."""
        return self.tree.branch if self.tree.name else ""


def history(sources: Iterable[Source], asked: Asked) -> History:
    """Return the history of tasks in one or several worktrees, their commits included."""
    found, unread, has_more = _Found(asked), list[str](), False
    for each in sources:
        if each.tasks is None:
            has_more = _add_all(found, each, asked, unread) or has_more
        elif each.tasks:
            workspace, paths = each.tree.workspace, {loaded.relative: loaded.state.id for loaded in each.tasks}
            first = min(loaded.state.text("created_at") or "" for loaded in each.tasks)
            found.add(_commits(workspace, paths, [f":(literal){path}" for path in paths], first), each.branch)
            for loaded in each.tasks:
                found.add(of_task(workspace, loaded), each.branch)
    entries = found.newest()
    most = asked.most or len(entries)
    return History(tuple(entries[:most]), has_more or len(entries) > most, tuple(unread))


def _add_all(found: _Found, source: Source, asked: Asked, unread: list[str]) -> bool:
    """Add what happened to all tasks of a worktree; return whether there are files that were not looked at.

    The files are read from the one that was written last on, as the index tells, until no older one can say more, or
    very many were read.
    """
    workspace, indexed = source.tree.workspace, source.tree.tasks
    paths = {each.path: each.id for each in indexed}
    found.add(_commits(workspace, paths, ["*-state.md"], asked.since), source.branch)
    unread += why_unread(workspace, sorted(indexed, key=lambda each: each.path))
    whole = [each for each in indexed if not (each.problem or "" < each.updated < asked.since)]
    whole.sort(key=lambda each: (not each.updated, each.updated, each.path), reverse=True)
    for task in whole[: _MOST_READ if asked.most else None]:
        if not found.needs(task.updated):
            break
        try:
            found.add(of_task(workspace, workspace.load(workspace.root / task.path)), source.branch)
        except TaskstateError as error:
            unread.append(error.message)
    return bool(asked.most) and len(whole) > _MOST_READ


# One task


def of_task(workspace: Workspace, loaded: Loaded) -> Iterator[Entry]:
    """Yield what the files of a task say; of what is of one moment, the last comes last."""
    from taskstate.archive.archiver import sessions_in
    from taskstate.archive.verify import archive_text

    state, blocks = loaded.state, blocks_of(loaded.document)
    archive = archive_text(workspace, state.id) or ""
    sessions = sorted((*(sessions_in(archive) if archive else ()), *state.sessions), key=lambda each: each.number)
    yield from _of_front_matter(loaded, blocks)
    yield from _events(state.id, blocks, archive)
    yield from (entry for session in sessions for entry in _of_session(state.id, session))
    yield from (entry for role in roles.pipeline(blocks, ()) for entry in _of_role(state.id, role, sessions))
    for at, reason, numbers in re.findall(_ARCHIVED, archive):
        text = f"session{'s' if '-' in numbers else ''} {numbers}: {reason}"
        yield Entry(at, SECOND, ARCHIVE, "archived", state.id, "", text, "archive")
    yield from _handoffs(workspace, state.id)


def _of_front_matter(loaded: Loaded, blocks: ToolBlocks) -> Iterator[Entry]:
    """Yield when the task was created and completed, and the turn that is open."""
    state, turn = loaded.state, blocks.delta.turn
    completed = text_of(map_of(blocks.values.get("output")).get("completed_at"))
    for event, at in (("created", state.text("created_at")), ("completed", completed)):
        if at:
            yield Entry(at, SECOND, TASK, event, state.id, "", state.title, "front matter")
    if turn and turn.started_at:
        text = f"begun as {turn.role}" if turn.role else "begun"
        by = turn.agent or turn.actor or ""
        yield Entry(turn.started_at, SECOND, TURN, "turn-begun", state.id, by, text, "front matter")


def _events(task: str, blocks: ToolBlocks, archive: str) -> Iterator[Entry]:
    """Yield the events of the audit, and those that were moved to the archive."""
    older: list[object] = []
    if "## Events" in archive:
        import json

        from taskstate.model.archive_format import rolled_items

        for line in rolled_items(archive, "Events"):
            with suppress(ValueError):
                older.append(json.loads(line))
    for source, entries in (("archive", older), ("event", [each.entry for each in blocks.audit.events])):
        for entry in map(map_of, entries):
            name, at = str(entry.get("event") or ""), text_of(entry.get("at"))
            if name and at:
                number = entry.get("finding")
                by = str(entry.get("agent") or entry.get("actor") or "")
                kind = _EVENTS.get(name, (OTHER, ""))[0]
                shown = number if isinstance(number, int) else 0
                if began := text_of(entry.get("began")):  # of a turn that was taken over
                    former = str(entry.get("from") or "")
                    yield Entry(began, SECOND, TURN, "turn-begun", task, former, "begun", source)
                yield Entry(at, SECOND, kind, name, task, by, _words(name, entry), source, shown)


def _words(name: str, entry: Mapping[str, object]) -> str:
    """Return an event in words: what it is about, and its note."""
    form = _EVENTS[name][1] if name in _EVENTS else re.sub(r"[-{}]", " ", name)
    lists = {key: first_of(listed(entry, key), _NAMED) or "what is there" for key in _LISTS}
    said = {key: str(entry.get(key) or "?") for key in ("finding", "text", "role", "from", "claimed_by")}
    words, note = form.format(**lists, **said), str(entry.get("note") or "")
    via = f"(via {entry['via']})" if entry.get("via") else ""
    return " ".join(filter(None, (words if not note or words[-1:] in {"", "."} else f"{words}:", note, via)))


def _of_session(task: str, session: Session) -> Iterator[Entry]:
    """Yield a session, and before it what it tells of findings and of the end of its turn."""
    at = f"{session.time.replace(' ', 'T')}:00Z" if session.time else ""
    said = Entry(at, MINUTE, SESSION, "session", task, by_of(session.agent).name, "", "session", session.number)
    for text in reversed(session.values(OUTCOME)):
        if text == "paused":
            yield said._replace(kind=TURN, event="turn-paused", text=text)
        elif text.startswith("sent back to "):
            yield said._replace(kind=ROLE, event="sent-back", text=text)
    for text in reversed(session.values(FINDINGS)):
        found = re.match(_FINDING, text)
        if found:
            verb, number, rest = found[1], found[2], text[found.end() :]
            shown = f"{number}{rest.replace(':', '.', 1)}" if verb == FINDING_VERBS[0] else text
            event = f"finding-{verb.replace(' ', '-')}"
            yield said._replace(kind=FINDING, event=event, text=shown, number=int(number))
    yield said._replace(text=f"{session.number}. {' '.join(session.did) or session.state}")


def _of_role(task: str, role: Role, sessions: Sequence[Session]) -> Iterator[Entry]:
    """Yield when a role was handed over the last time, and by whom: its last session until then says that.

    Of a snapshot that was taken anew since, as when drift was accepted, nobody knows any more what it was then.
    """
    at = role.completed_at
    if role.status != DONE or not at:
        return
    until = at[:16].replace("T", " ")
    own = (by for each in reversed(sessions) if (each.time or "") <= until for by in (by_of(each.agent),))
    then = role.snapshot if is_as_handed_on(role) else None
    by = next((each.name for each in own if each.role == role.name), (then and then.actor) or "")
    changed = short((then and then.diff_stat) or "")
    text = f"{role.name}: {changed}" if changed else role.name
    yield Entry(at, SECOND, ROLE, "role-done", task, by, text, "role")


def is_as_handed_on(role: Role) -> bool:
    """Return whether the snapshot of a role is the one that it was handed on with."""
    handed_on = role.completed_at  # none where it was sent back, which leaves its snapshot as it is
    return bool(role.snapshot and (handed_on is None or (role.snapshot.snapshot_time or "") <= handed_on))


def short(stat: str) -> str:
    """Return the summary of a diff as `9 files, +412 -96`."""
    found = re.search(_STAT, stat)
    return f"{counted(int(found[1]), 'file')}, +{found[2] or 0} -{found[3] or 0}" if found else stat


def _handoffs(workspace: Workspace, task: str) -> Iterator[Entry]:
    from taskstate.handoff.document_files import handoff_files

    for each in handoff_files(workspace, task):
        phase = f"phase {each.text('phase')}: " if each.text("phase") else ""
        action, path = each.reading.handoff.action, f"{workspace.config.root}/{each.path}"
        for event, key, by in (("written", "created_at", "from_agent"), ("accepted", "accepted_at", "accepted_by")):
            if each.text(key):
                text = f"{event}, {phase}{action}"
                yield Entry(
                    each.text(key), SECOND, HANDOFF, f"handoff-{event}", task, each.text(by), text, "handoff", 0, path
                )


# Commits


def _commits(workspace: Workspace, paths: Mapping[str, str], patterns: list[str], after: str) -> Iterator[Entry]:
    """Yield the commits that name one of the tasks, or touch the state file of one; the oldest first.

    Without git, or where it fails, there are none.
    """
    from taskstate.tasks.git_history import ids_named

    ids = {each.casefold(): each for each in paths.values()}
    try:
        if not ids or git.toplevel(workspace.root) is None:
            return
        commits = git_log.log(workspace.root, after=after, most=_MOST_COMMITS)
        oldest = commits[-1].id if commits else "HEAD"
        touching = git_log.with_paths(workspace.root, f"^{oldest}^@", "HEAD", patterns=patterns)
    except GitFailed:
        return
    touched = {each.id: each.paths for each in touching}
    for each in reversed(commits):
        tasks = [ids[key] for key in sorted(ids_named(each) & ids.keys())]
        own = sorted({paths[path] for path in touched.get(each.id, ()) if path in paths})
        text, by = f"{each.short} {each.subject}", each.author
        if not tasks and len(own) > _MOST_TASKS:
            tasks, text = [""], f"{text} ({len(own)} tasks)"
        tasks = tasks or own
        yield from (Entry(each.time, SECOND, COMMIT, "commit", task, by, text, "git", 0, each.id) for task in tasks)

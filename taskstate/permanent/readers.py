"""Says how agents stand to the permanent task: which version each has confirmed, and what it missed since."""

from __future__ import annotations

from functools import cache

from taskstate.errors import TaskstateError
from taskstate.messages import counted, quoted
from taskstate.model import permanent
from taskstate.model.permanent import LEVELS, level_named, shown_version
from taskstate.model.statuses import CLOSED
from taskstate.model.write_metadata import front_matter_values
from taskstate.permanent.find import find
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import task_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from taskstate.model.permanent import LoggedVersion
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Workspace

    Standings: TypeAlias = Callable[[str], "Standing | None"]


class Reader(NamedTuple):
    """An agent and the version that it has confirmed, None for none; `missed` are the versions since, newest first."""

    name: str
    confirmed: int | None
    missed: tuple[LoggedVersion, ...]

    @property
    def level(self) -> str:
        """What the versions since ask of the agent."""
        return permanent.highest_level(self.missed)


class Standing(NamedTuple):
    """The permanent task as an agent stands to it: its id and version, and the sections edited without a version."""

    id: str
    version: int
    by_hand: tuple[str, ...]
    reader: Reader

    @property
    def is_behind(self) -> bool:
        """Whether the agent has not confirmed the newest version."""
        return self.reader.confirmed != self.version

    @property
    def line(self) -> str:
        """The version, and what the agent has to do to be at it."""
        said = f"{shown_version(self.version)}, `taskstate show {self.id}`"
        edited = "; edited by hand since: `taskstate permanent update` gives that a version" if self.by_hand else ""
        if not self.reader.name or not self.is_behind:
            return said + edited
        if self.reader.confirmed is None:
            cure = f"`taskstate permanent ack --agent {quoted(self.reader.name)} --version {self.version}`"
            return f"{said}; {self.reader.name} has confirmed none: read it, then {cure}{edited}"
        notify = f"`taskstate permanent notify --since {self.reader.confirmed} --agent {quoted(self.reader.name)}`"
        confirmed = shown_version(self.reader.confirmed)
        return f"{said}; {self.reader.name} has confirmed {confirmed} ({self.reader.level} since): {notify}{edited}"


def readers(state: TaskState, at_work: Iterable[str] = ()) -> tuple[Reader, ...]:
    """Return the agents that have confirmed a version, or are `at_work`, who is furthest behind first."""
    acks = dict.fromkeys(at_work, 0) | permanent.confirmed(front_matter_values(state.document))
    return tuple(reader_of(state, name) for name in sorted(acks, key=lambda each: (acks[each], each)))


def agents_at_work(workspace: Workspace) -> frozenset[str]:
    """Return the agents that have an open turn in this worktree."""
    turns = (task.open_turn for task in task_index.all_tasks(workspace) if task.status not in CLOSED)
    return frozenset(turn.agent for turn in turns if turn and turn.agent)


def reader_of(state: TaskState, agent: str) -> Reader:
    """Return how an agent stands to a permanent task; one without a name has confirmed nothing."""
    version = permanent.confirmed(front_matter_values(state.document)).get(agent)
    log = permanent.change_log(state)
    return Reader(agent, version, tuple(each for each in log if each.number > (version or 0)))


def standing(workspace: Workspace, agent: str) -> Standing | None:
    """Return how an agent stands to the permanent task of the repository, or None where there is none to be read."""
    return standings(workspace)(agent)


def standings(workspace: Workspace) -> Standings:
    """Return the function that says the same of any agent; it looks for the permanent task once, when first called.

    Whoever asks for each of a thousand tasks would else look at a thousand files each time.
    """

    @cache
    def permanent_state() -> TaskState | None:
        found = find(workspace)
        try:
            return workspace.load(workspace.locate(found.id)).state if found else None
        except TaskstateError:
            return None  # a file that cannot be read is told by the command that reads it

    def standing_of(agent: str) -> Standing | None:
        state = permanent_state()
        if state is None:
            return None
        version, by_hand = permanent.version_of(state), permanent.edited_sections(state)
        return Standing(state.id, version, by_hand, reader_of(state, agent))

    return standing_of


def require_confirmed(workspace: Workspace, agent: str) -> None:
    """Refuse an agent that has not confirmed a change of the level that the configuration requires.

    Raises:
        TaskstateError: code "not-confirmed".
    """
    required = level_named(workspace.config.permanent.require_ack)
    now = standing(workspace, agent) if required else None
    if now is None or not now.is_behind or LEVELS.index(now.reader.level) < LEVELS.index(required):
        return
    read, behind = f"`taskstate show {now.id}`", "confirmed no version"
    if now.reader.confirmed is not None:
        read = f"`taskstate permanent notify --since {now.reader.confirmed}`"
        behind = f"confirmed {shown_version(now.reader.confirmed)}"
    message = f"{agent} has {behind} of the permanent task, which is {shown_version(now.version)} ({now.reader.level})"
    help_ = f"read {read}, then `taskstate permanent ack --agent {quoted(agent)} --version {now.version}`"
    raise TaskstateError(message, help=help_, code="not-confirmed")


def table(state: TaskState, at_work: Iterable[str] = ()) -> str:
    """Return who has confirmed which version, as a table with the newest version above it; also who is `at_work`."""
    newest = permanent.version_of(state)
    lines = [f"{state.id}  {state.title}  {shown_version(newest)}"]
    listed = readers(state, at_work)
    rows = [(r.name, f"PT-v{r.confirmed}" if r.confirmed else "none", _behind(r, newest)) for r in listed]
    width = max((len(name) for name, _, _ in rows), default=0)
    lines += [f"  {name.ljust(width)}  {version.ljust(len(str(newest)) + 4)}  {words}" for name, version, words in rows]
    lines += [] if rows else ["  nobody has confirmed a version"]
    by_hand = permanent.edited_sections(state)
    if by_hand:
        lines.append(f"  edited by hand since: {', '.join(by_hand)}; `taskstate permanent update` gives that a version")
    return "\n".join(lines)


def _behind(reader: Reader, newest: int) -> str:
    gap = newest - (reader.confirmed or 0)
    return f"{counted(gap, 'version')} behind, {reader.level}" if gap > 0 else "up to date"


def shape(state: TaskState, at_work: Iterable[str] = ()) -> dict[str, object]:
    """Return the same as JSON values."""
    newest = permanent.version_of(state)
    return {
        "id": state.id,
        "title": state.title,
        "version": newest,
        "edited_by_hand": list(permanent.edited_sections(state)),
        "agents": [_reader_shape(each, newest) for each in readers(state, at_work)],
    }


def _reader_shape(reader: Reader, newest: int) -> dict[str, object]:
    behind = newest - (reader.confirmed or 0)
    return {"agent": reader.name, "confirmed": reader.confirmed, "behind": behind, "level": reader.level}

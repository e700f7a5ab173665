"""Tells an agent what changed since the version that it has confirmed.

Who is one version behind gets the difference alone, section by section. Who is further behind, or has lost its context,
is told to read the task anew: differences are read wrongly by somebody who does not know what they differ from.
"""

from __future__ import annotations

import json
import re

from taskstate.context.past_versions import earlier_versions
from taskstate.errors import TaskstateError
from taskstate.messages import quoted
from taskstate.model import permanent
from taskstate.model.entries import entries
from taskstate.model.permanent import ARCHITECTURE, CONTENT, COSMETIC, INTERFACE, shown_version
from taskstate.model.task_state import json_fence, read_state
from taskstate.syntax.document import parse
from taskstate.syntax.nodes import Fault
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.entries import Entry
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace

ADDED, CHANGED, REMOVED = "added", "changed", "removed"
_MARKS = {ADDED: "+", CHANGED: "~", REMOVED: "-"}
_ACTS = {
    COSMETIC: "nobody needs to act",
    INTERFACE: "read what changed before you go on",
    ARCHITECTURE: "read what changed, and plan again",
}


class Difference(NamedTuple):
    """An entry that was added, changed or removed between two versions; `before` is its text in the older one."""

    section: str
    kind: str
    text: str
    before: str = ""


class Notice(NamedTuple):
    """What an agent is told: the version now and then, the level of what changed, and the differences.

    Without differences although the versions differ, the agent is to read the task anew; `why` says the reason.
    """

    id: str
    title: str
    version: int
    since: int
    level: str
    agent: str
    differences: tuple[Difference, ...]
    why: str = ""


def notice(workspace: Workspace, loaded: Loaded, since: int, *, agent: str = "", lost: bool = False) -> Notice:
    """Return what an agent is told that has confirmed the version `since`; with `lost` it has lost its context.

    Raises:
        TaskstateError: code "version": there is no such version.
    """
    state, newest = loaded.state, permanent.version_of(loaded.state)
    if not 1 <= since <= newest:
        message = f"there is no {shown_version(since)}: the newest is {shown_version(newest)}"
        raise TaskstateError(message, help="`taskstate permanent status` shows who has confirmed which", code="version")
    missed = tuple(each for each in permanent.change_log(state) if each.number > since)
    told = Notice(state.id, state.title, newest, since, permanent.highest_level(missed), agent, ())
    if since == newest:
        return told
    if lost or newest - since > 1:
        why = "you lost your context" if lost else f"you are {newest - since} versions behind"
        return told._replace(why=why)
    before = find_version(workspace, loaded.relative, since)
    if before is None:
        return told._replace(why=f"the text of {shown_version(since)} is not here")
    return told._replace(differences=tuple(differences(before, state)))


def find_version(workspace: Workspace, relative: str, version: int) -> TaskState | None:
    """Return the permanent task as it was at a version, from kept copies or git; None where neither has it."""
    has_version = re.compile(rf"(?m)^version:[ \t]*{version}[ \t]*\r?$")
    for data in earlier_versions(workspace, relative):
        text = data.decode("utf-8", "replace")
        if has_version.search(text):
            state = read_state(parse(text, workspace.kinds))
            if permanent.version_of(state) == version and not permanent.edited_sections(state):
                return state
    return None


def differences(before: TaskState, after: TaskState) -> Iterator[Difference]:
    """Yield what differs between two versions, in the order of the sections."""
    for section in CONTENT:
        if section == permanent.IMPACT_MAP:
            yield from _map_differences(before, after)
        else:
            yield from _entry_differences(section, before, after)


def _entry_differences(section: str, before: TaskState, after: TaskState) -> Iterator[Difference]:
    old, new = ([*entries(permanent.content_of(state, section))] for state in (before, after))
    kept = {each.same for each in old} & {each.same for each in new}
    gone, come = ([each for each in part if each.same not in kept] for part in (old, new))
    for entry in come:
        match = next((each for each in gone if entry.key and each.key == entry.key), None)
        if match:
            gone.remove(match)
        yield Difference(section, CHANGED if match else ADDED, _text(entry), _text(match) if match else "")
    for entry in gone:
        yield Difference(section, REMOVED, _text(entry))


def _text(entry: Entry) -> str:
    return re.sub(r"\A[ \t]*[-*+][ \t]+", "", entry.text)


def _map_differences(before: TaskState, after: TaskState) -> Iterator[Difference]:
    old, new = (map_entries(state) for state in (before, after))
    for name in [*new, *(each for each in old if each not in new)]:
        if old.get(name) == new.get(name):
            continue
        kind = CHANGED if name in old and name in new else ADDED if name in new else REMOVED
        text, was = (json.dumps(side[name], ensure_ascii=False) if name in side else "" for side in (new, old))
        yield Difference(permanent.IMPACT_MAP, kind, f"{name}: {text or was}", was if kind == CHANGED else "")


def map_entries(state: TaskState) -> dict[str, object]:
    """Return the entries of the Impact Map by kind and id, such as `module api`; empty where it cannot be read."""
    section = state.section(permanent.IMPACT_MAP)
    fence = json_fence(state.document, section.own) if section else None
    node = state.document.json(fence) if fence else None
    values = node.value() if node is not None and not isinstance(node, Fault) else None
    found: dict[str, object] = {}
    for kind, name in (("modules", "module"), ("interfaces", "interface"), ("ripple_paths", "ripple path")):
        each_kind = values.get(kind) if isinstance(values, dict) else None
        for entry in each_kind if isinstance(each_kind, list) else ():
            if isinstance(entry, dict):
                found[f"{name} {entry.get('id')}"] = {key: value for key, value in entry.items() if key != "id"}
    return found


# As text


def text_of(told: Notice) -> str:
    """Return a notice as text for an agent."""
    head = f"{shown_version(told.version)} of task {told.id}, {told.title}"
    if told.version == told.since:
        return f"{head}: nothing changed since {shown_version(told.since)}"
    confirm = f"Then: `taskstate permanent ack --agent {quoted(told.agent or 'NAME')} --version {told.version}`"
    first = f"{head}, was {shown_version(told.since)}. {told.level.capitalize()}: {_ACTS[told.level]}."
    if told.why:
        return f"{first}\nRead all of it again, since {told.why}: `taskstate show {told.id}`\n{confirm}"
    lines = [first]
    for section in dict.fromkeys(each.section for each in told.differences):
        lines += ["", f"{section}:"]
        lines += [_line(each) for each in told.differences if each.section == section]
    return "\n".join([*lines, "", confirm])


def _line(each: Difference) -> str:
    """Return a difference as text; of a long entry that changed only its first line and the new ones."""
    first, *rest = (line for line in each.text.splitlines() if line.strip())
    if each.before and not rest:
        return f"{_MARKS[each.kind]} {first} (was: {' '.join(each.before.split())})"
    unchanged = set(each.before.splitlines())
    return "\n  ".join((f"{_MARKS[each.kind]} {first}", *(line for line in rest if line not in unchanged)))


def shape(told: Notice) -> dict[str, object]:
    """Return a notice as JSON values."""
    return {
        **told._asdict(),
        "read_anew": bool(told.why),
        "why": told.why or None,
        "differences": [each._asdict() for each in told.differences],
    }

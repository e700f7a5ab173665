"""Counts what a task's files hold by item: what a command has acknowledged must stay, wherever it stands.

Items are sessions, events, proofs of features, checks of criteria, acks, handoffs, and the blocks that a command writes
in one step (the seal, the baseline, a role's status, a snapshot, the output). A session is known by its text
without its number, since a merge may change the number; it is the same item in the state file and in the archive.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache

from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.model.canonical_json import sha256
from taskstate.model.session_references import identity
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.spans import with_newlines, without_comments
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taskstate.model.names import OwnType
    from taskstate.model.progress_log import Session
    from taskstate.syntax.document import Document

SESSION, EVENT, PROOF, CHECK, ACK, HANDOFF = "session", "event", "proof", "check", "ack", "handoff"
BLOCK = "block"
MAP = "map"  # an Impact Map in a file of its own, which goes back into its document when it gets shorter
FILES = (HANDOFF, MAP)  # kinds of items that are a file each
_ONCE = frozenset({SESSION, EVENT, HANDOFF})  # kinds of which nothing may be there twice
_DIGITS = 16


class Item(NamedTuple):
    """One thing that a command acknowledged: its kind, its place, and the beginning of the hash of its text.

    The place is a feature's id, a criterion's text as a hash, an agent's name, or the name of a file; empty for what
    may stand anywhere.
    """

    kind: str
    place: str
    sha: str


def state_items(state: TaskState) -> Counter[Item]:
    """Return the items of a state file; a session with conflict markers is none."""
    items = state.document.of_body(_items_of_body).copy()
    items.update(item for item, _ in _named_in_front_matter(state.document))
    return items


def named_items(state: TaskState) -> Iterator[tuple[Item, str]]:
    """Yield the items of a state file, each with its name for a message."""
    yield from _named_in_body(state)
    yield from _named_in_front_matter(state.document)


def _items_of_body(document: Document, _given: None) -> Counter[Item]:
    return Counter(item for item, _ in _named_in_body(read_state(document)))


def _named_in_body(state: TaskState) -> Iterator[tuple[Item, str]]:
    for session in state.sessions:
        if not find_conflicts(session.entry):
            yield session_item(session), f"session {session.number}"
    for feature in state.checklist.features if state.checklist else ():
        if feature.passes:
            proof = f"{feature.tested_at}\0{event_line(feature.evidence)}"
            yield _item(PROOF, feature.id, proof), f"the proof of {feature.id}"
    for criterion in state.criteria:
        if criterion.checked:
            text = " ".join(criterion.text.split())
            yield _item(CHECK, place_of(criterion.text), text), f"the check of criterion {criterion.number}"


def _named_in_front_matter(document: Document) -> Iterator[tuple[Item, str]]:
    blocks = blocks_of(document)
    for event in blocks.audit.events:
        yield event_item(event.entry), f"the event {event.event or '?'}"
    for place, value in _blocks(blocks.values):
        yield _item(BLOCK, place, event_line(value)), f"the block {place}"
    for agent, version in _map(blocks.values.get("acks")).items():
        yield _item(ACK, str(agent), str(version)), f"the ack of {agent}"


def _blocks(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the sealed blocks that commands write in one step, each with its place: a role's status, a snapshot."""
    delta = values.get("delta")
    blocks = {"coordination": values.get("coordination"), "snapshot": _map(delta).get("snapshots")}
    yield from ((key, values[key]) for key in ("context", "baseline", "output") if key in values)
    yield from ((f"{name} {key}", each) for name, block in blocks.items() for key, each in _map(block).items())


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def session_item(session: Session) -> Item:
    """Return the item of a session of the Progress Log."""
    return entry_item(session.entry)


@lru_cache(maxsize=20_000)  # nearly all sessions of a file are there before a change and after it
def entry_item(entry: str) -> Item:
    """Return the item of a session, given its text in the log or in the archive, where its heading is a level higher.

    Comments and blank lines do not count: people and tools put them between sessions.
    """
    text = without_comments(identity(with_newlines(entry, "\n")), keep_open=True)
    text = "\n".join(filter(None, map(str.rstrip, text.split("\n")))).lstrip("# ")
    return Item(SESSION, "", sha256(text)[:_DIGITS])


def event_item(entry: object) -> Item:
    """Return the item of an event, given its entry in the audit."""
    return _item(EVENT, "", event_line(entry))


def archive_items(text: str) -> Counter[Item]:
    """Return the items in an archive file, or in a part that is appended to one."""
    from taskstate.model.archive_format import batch_contents, rolled_items  # most writes archive nothing

    items = Counter(
        entry_item(text[entry.start : entry.end]) for batch in batch_contents(text) for entry in batch.entries
    )
    for line in rolled_items(text, "Events"):
        items[_item(EVENT, "", line)] += 1
    return items


def place_of(criterion: str) -> str:
    """Return the place of a criterion's check, given its text."""
    return sha256(" ".join(criterion.split()))[:_DIGITS]


def event_line(event: object) -> str:
    """Return an event as JSON on one line; `<` is escaped, since it could start HTML or a comment in Markdown."""
    return json.dumps(event, sort_keys=True).replace("<", "\\u003c")


def items_in(kind: OwnType, name: str, data: bytes) -> Counter[Item]:
    """Return the items in one of our own files of this kind, given its name and its bytes."""
    text = data.decode("utf-8", "replace")
    if kind == "state":
        return state_items(read_state(parse(text))) if text else Counter()
    if kind == "archive":
        return archive_items(text)
    place = name.rpartition("/")[2]
    if kind == "impact-map":
        return Counter([_item(MAP, place, with_newlines(text, "\n"))] if text else ())
    return Counter([Item(HANDOFF, place, "")] if text and kind == "handoff" else ())


def lost_between(before: Counter[Item], after: Counter[Item]) -> list[Item]:
    """Return the items that stand before a change and not after it."""
    return [item for item, count in before.items() if after[item] < count]


def require_conserved(wanted: Counter[Item], after: Counter[Item], subject: str) -> None:
    """Refuse a change after which an item would not stand exactly once (`wanted`: as often as it must).

    Archiving, restoring, merging and repairing are checked by it before they write.

    Raises:
        TaskstateError: code "unsafe".
    """
    wrong = lost_between(wanted, after)
    wrong += [item for item, count in after.items() if item.kind in _ONCE and count > max(wanted[item], 1)]
    if wrong:
        raise TaskstateError(
            f"{subject} cannot be changed safely: {described(wrong)} would not stand there exactly once",
            help="run `taskstate lint` on it and mend what it finds first",
            code="unsafe",
        )


def described(items: Iterable[Item]) -> str:
    """Return items in words without their names: how many there are of which kind."""
    kinds = Counter(item.kind for item in dict.fromkeys(items))
    return ", ".join(counted(number, kind) for kind, number in kinds.items())


def _item(kind: str, place: str, text: str) -> Item:
    return Item(kind, place, sha256(text)[:_DIGITS])

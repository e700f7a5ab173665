"""Updates what the tool records at every write: revision, times, derived values, audit and its seal.

Pure: who writes, when, and at which commit is passed in.
"""

from __future__ import annotations

from functools import cache

from taskstate.errors import TaskstateError
from taskstate.model.canonical_json import audit_seal
from taskstate.model.derived_values import COUNTS, SIZE, derived_edits, front_matter_edits, progress_edits, set_value
from taskstate.model.names import own_file
from taskstate.model.task_state import read_state
from taskstate.model.tool_blocks import read_tool_blocks
from taskstate.syntax.document import Document, parse, parse_head
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.syntax.nodes import Node


# By key, the maps that are written on one line each.
_ONE_LINE: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "context": ((),),
    "coordination": (("*",),),
    "delta": (("turn",), ("left",), ("last_seen",), ("snapshots", "*")),
}


_SAID_ABOVE = ("updated_at", "update_count")  # in an older audit: what the keys `updated_at` and `revision` say


class WriteMetadata(NamedTuple):
    """The actor of a write, its time (UTC), and the commit that is checked out, or None.

    `agent` is who acts in the actor's name where the command itself says it; else the open turn does (`by_agent`).
    `via` names the way by which a write came that only a person takes; such an event is the actor's own. `note` says
    why, in events that have no note of their own.
    """

    actor: str
    now: datetime
    git_head: str | None = None
    agent: str = ""
    via: str = ""
    note: str = ""

    def event(self, name: str, **more: object) -> dict[str, object]:
        """Return an event of the audit that this write adds."""
        agent = {"agent": self.agent} if self.agent else {}
        note = {"note": self.note} if self.note else {}
        via = {"via": self.via} if self.via else {}
        return {"at": timestamp(self.now), "actor": self.actor, **agent, "event": name, **note, **more, **via}


def timestamp(moment: datetime) -> str:
    """Return a moment in UTC in the format of the files."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: object) -> float | None:
    """Return a time in the format of the files in seconds; None for anything else."""
    from datetime import UTC, datetime

    try:
        return datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def with_write_metadata(text: str, metadata: WriteMetadata, *, revision: int, state: TaskState | None = None) -> str:
    """Return `text` with revision, times, audit and derived values updated.

    `state` spares reading the text a second time.
    """
    state = state or read_state(parse(text))
    document = _without_older_keys(state.document)
    state = state if document is state.document else read_state(document)
    edits = _metadata_edits(document, metadata, revision)
    if all(edit.start < edit.end for edit in edits) and all(key in document.front_matter for key in (COUNTS, SIZE)):
        return apply(
            document.text, derived_edits(document, edits, state)
        )  # no key is added, so all edits apply to the same text at once
    text = apply(document.text, (*edits, *progress_edits(document, state)))
    updated = Document(text, parse_head(text).front_matter, len(text))  # what is counted in the body is known
    return apply(text, front_matter_edits(updated, state))


def has_write_metadata(document: Document) -> bool:
    """Return whether a command has written a file before; one that people made has no such keys."""
    return any(key in document.front_matter for key in ("revision", "audit"))


def front_matter_values(document: Document) -> Mapping[str, object]:
    """Return the values of the front matter, typed by its schema: what the schema calls a string is one.

    They are read once for each document, and must not be changed.
    """
    return document.derived(_typed_values, "task")


def _typed_values(document: Document, name: str) -> Mapping[str, object]:
    node = document.front_matter.node
    values: Mapping[str, object] = schema.typed_value(node, name) if node else {}
    return values


def blocks_of(document: Document) -> ToolBlocks:
    """Return the tool-written blocks of a document's front matter."""
    return document.derived(_tool_blocks, None)


def _tool_blocks(document: Document, _given: None) -> ToolBlocks:
    return read_tool_blocks(front_matter_values(document))


def check_seal(document: Document, name: str) -> None:
    """Refuse a file whose tool-written blocks were changed by hand: a write would make the change look like the tool's.

    Raises:
        TaskstateError: code "seal-broken".
    """
    if blocks_of(document).edited:
        own = own_file(name)
        accept = f'`taskstate doctor --reseal {own.id if own and own.id else name} --note "WHY"`'
        raise TaskstateError(
            f"{name}: a block of the front matter that only the tool writes was changed by hand (see audit.seal)",
            help=f"undo it, for example with git, or accept it: {accept}",
            code="seal-broken",
        )


def _metadata_edits(document: Document, metadata: WriteMetadata, revision: int) -> list[Edit]:
    root = _root(document)
    blocks = blocks_of(document)
    now = timestamp(metadata.now)
    edits = [*set_value(document, root, "updated_at", now), *set_value(document, root, "revision", revision)]
    audit = {"updated_by": metadata.actor, "git_head": metadata.git_head, "seal": audit_seal(blocks.values)}
    node = root.get("audit")
    if node is None or not node.entries:
        return [*edits, *set_value(document, root, "audit", audit)]
    for key, value in audit.items():
        edits += set_value(document, node, key, value, order=_audit_keys())
    return edits


def _without_older_keys(document: Document) -> Document:
    """Return a document without the keys of an older audit that say what the front matter does above it."""
    for key in _SAID_ABOVE:
        audit = _root(document).get("audit")
        if audit and audit.entry(key):
            from taskstate.syntax.yaml_edit import remove_key  # only a file of an earlier version has them

            document = document.with_text(apply(document.text, remove_key(document.text, audit, key)))
    return document


@cache
def _audit_keys() -> tuple[str, ...]:
    return tuple(schema.load("task")["properties"]["audit"]["properties"])


def set_front_matter(document: Document, key: str, value: object) -> tuple[Edit, ...]:
    """Return the edits that set a key of the front matter, at its canonical place if it is new."""
    return set_value(document, _root(document), key, _in_lines(value, *_ONE_LINE.get(key, ())))


def _in_lines(value: object, *places: tuple[str, ...]) -> object:
    """Return a value with its maps at these places marked as written on one line; `*` stands for every key."""
    if not isinstance(value, dict) or not places:
        return value
    if () in places:
        from taskstate.syntax.yaml_emitter import OneLine  # reading does not need it

        return OneLine(value)
    below = {key: [place[1:] for place in places if place[0] in {key, "*"}] for key in value}
    return {key: _in_lines(each, *below[key]) for key, each in value.items()}


def with_event(text: str, event: Mapping[str, object]) -> str:
    """Return a state file's text with one more event in its audit, which names the agent whose turn is open."""
    document = parse(text)
    recorded = _root(document).get("audit", "events")
    before = recorded.value() if recorded and recorded.kind == "sequence" else ()
    return with_events(text, [*before, by_agent(document, event)])


def by_agent(document: Document, event: Mapping[str, object]) -> dict[str, object]:
    """Return an event with the agent that acts in its actor's name, if that is another name."""
    actor = event.get("actor")
    agent = "" if event.get("via") else agent_of(document, str(actor), str(event.get("agent") or ""))
    others = {key: value for key, value in event.items() if key != "agent"}
    is_other = agent not in {"", str(actor)}
    return {"at": event.get("at"), "actor": actor, "agent": agent, **others} if is_other else others


def agent_of(document: Document, actor: str, said: str = "") -> str:
    """Return who acts in an actor's name: who is `said` to, else the agent of the turn that the actor has open.

    One person lets several agents work, and they all write as the same actor.
    """
    turn = blocks_of(document).delta.turn
    return said or (turn.agent if turn and turn.actor == actor else None) or actor


def with_events(text: str, events: Sequence[object]) -> str:
    """Return a state file's text with its audit's events replaced."""
    document = parse(text)
    audit = _root(document).get("audit")
    if audit is None or not audit.entries:
        return apply(text, set_front_matter(document, "audit", {"events": [*events]}))
    return apply(text, set_value(document, audit, "events", [*events], order=_audit_keys()))


def sealed(text: str) -> str:
    """Return a state file's text with a valid seal in its audit, if there is one."""
    document = parse(text)
    audit = _root(document).get("audit")
    if audit is None or audit.get("seal") is None:
        return text
    return apply(text, set_value(document, audit, "seal", audit_seal(front_matter_values(document))))


def _root(document: Document) -> Node:
    node = document.front_matter.node
    if node is None:
        raise TaskstateError(
            "the front matter cannot be read", help="run `taskstate lint` to see why", code="unreadable"
        )
    return node

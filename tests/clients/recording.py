"""What a client gives to the hooks, as fixtures of the tests that always run: `tests/cases/hooks/CLIENT-VERSION.json`.

A fixture holds, for each kind of event, what came in and the form of the answer. What a scenario wrote stands as
`{path}`, `{old}`, `{new}`, `{content}` and `{command}`, the repository as `{root}`; what is personal is replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.clients.model import Step
from tests.clients.room import STATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.clients.model import JSON
    from tests.clients.room import HookCall, Room, Session

_PERSONAL: Mapping[str, Any] = {
    "session_id": "session-1",
    "prompt_id": "prompt-1",
    "turn_id": "turn-1",
    "agent_id": "agent-1",
    "tool_use_id": "call-1",
    "transcript_path": "/home/ann/transcript.jsonl",
    "agent_transcript_path": "/home/ann/agent.jsonl",
    "timestamp": "2026-01-31T12:00:00.000Z",
    "duration_ms": 1,
}
_LONGEST = 200  # characters of a text that is kept as a whole
_PARTS = ("session: 0", '"passes": false')  # of the lines that are edited: one is refused, one malformed after it
_COMMAND = "git commit -qam 'TASK-101 work'"
FULL = {"claude": 196_000, "codex": 270_000}  # tokens at which a client compacts by itself
SMALL = {  # the settings with which Claude Code does
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "10",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000",
    "ANTHROPIC_MODEL": "claude-sonnet-4-5",
}


def compacting(room: Room) -> Session:
    """Return a session with an open turn whose context is full after a change, and compacted."""
    return room.play(
        Step(calls=[room.call("write", path="src/new.py", content="x = 1")]),
        Step(calls=[room.call("shell", command="echo one")], usage=FULL[room.client.name]),
        Step("<summary>SUMMARY</summary>"),
        Step(calls=[room.call("shell", command="echo two")]),
        Step("Done."),
        Step("Done."),
        env=SMALL,
    )


def events_of(room: Room) -> dict[str, JSON]:
    """Return the events of a client by their kind, from sessions in a room whose turn is open.

    Of a kind the first call counts that was answered with something, since that shows the form of the answer.
    """
    turn, feature = (next(each for each in room.place.text.splitlines() if part in each) for part in _PARTS)
    wrote = {
        "edit": {"old": turn, "new": turn.replace("session: 0", "session: 7"), "path": STATE},
        "feature": {"old": feature, "new": feature.replace("false", "true"), "path": STATE},
        "over": {"content": "Nothing.", "path": STATE},
        "write": {"content": "x = 1", "path": "src/new.py"},
        "shell": {"command": _COMMAND},
        "look": {"command": "git status --short"},
    }
    tools = {"feature": "edit", "over": "write", "look": "shell"}
    steps = [Step(calls=[room.call(tools.get(name, name), **given)]) for name, given in wrote.items()]
    sessions = [room.play(Step(calls=[room.call("read")]), *steps, Step("Done."), Step("Done again."))]
    if room.client.name in FULL:
        room.place.git("checkout", "--quiet", "--", STATE)
        sessions.append(compacting(room))
        room.configure(model="invented")
        wait = Step(calls=[room.call("shell", command="sleep 3")])
        delegate = Step(calls=[room.call("agent", script="part")])
        sessions.append(room.play(delegate, wait, Step("Done."), Step("Done."), part=[Step("Looked.")]))
    events: dict[str, JSON] = {}
    for kind, event in (each for session in sessions for call in session.hooks for each in _event(room, call, wrote)):
        if kind not in events or (event["answer"] and not events[kind]["answer"]):
            events[kind] = event
    return dict(sorted(events.items()))


def _event(room: Room, call: HookCall, wrote: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, JSON]]:
    """Yield the kind of a call and its event, if it is about what the scenario wrote or about no tool at all."""
    names = {str(room.place.root): "{root}", str(room.folder): "/home/ann"}
    names |= {value: f"{{{name}}}" for given in wrote.values() for name, value in given.items()}
    given = _general(call.given, names)
    tool = str(given.get("tool_input", ""))
    marks = {"{old}": " edit", "{content}": " write", "{command}": " shell"}
    about = next((kind for mark, kind in marks.items() if mark in tool), "")
    if about or not tool:
        again = " again" if call.given.get("stop_hook_active") else ""
        yield f"{call.event}{about}{again}", {"input": given, "answer": _form(call.answer)}


def _general(value: Any, names: Mapping[str, str], key: str = "") -> Any:  # noqa: ANN401 - JSON
    if key in _PERSONAL and value is not None:
        return _PERSONAL[key]
    if isinstance(value, dict):
        return {key: _general(each, names, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_general(each, names) for each in value]
    if not isinstance(value, str):
        return value
    for name, general in names.items():
        value = value.replace(name, general)
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST // 4]} …"


def _form(answer: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(answer, dict):
        return {key: _form(value) for key, value in answer.items()}
    return "{text}" if " " in str(answer) else answer

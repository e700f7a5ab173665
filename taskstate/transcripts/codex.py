"""Reads the lines of Codex's rollouts: completed items where it writes them, else the calls of tools and their output.

A fork is a file of its own that holds no history, and is read like others.
"""

from __future__ import annotations

import re

from taskstate.transcripts import events as told
from taskstate.transcripts import records as take
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.transcripts.records import Record

USAGE = (b'"token_count"', b'"token_usage_record"', b'"compacted"', b'"task_started"')
_TOOLS = frozenset({"exec_command", "shell", "shell_command", "local_shell_call", "apply_patch"})
_HEAD = 120
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,10})\n?")
_IN_BACKGROUND = "Process running with session ID"
_PATCHED = re.compile(r"(?m)^\*\*\* (Add|Update|Delete) File: (.+)\n((?:(?!\*\*\* (?:Add|Update|Delete|End) ).*\n?)*)")
_OUTPUT = "Output:\n"


def skips(line: bytes) -> bool:
    """Return whether a line begins as those do that hold the state of the world."""
    return b'"type":"world_state"' in line[:_HEAD]


class Reader:
    """Reads the lines of one session in their order."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, str, str]] = {}  # by id: when, the command's line, the patch
        self._done = set[str]()  # calls whose end is told
        self._usage = told.Usage("", 0)

    def events(self, line: Record) -> Iterator[told.Event]:
        """Yield what a line tells that no line before it did."""
        at, kind, payload = take.moment(line.get("timestamp")), line.get("type"), take.record(line.get("payload"))
        if kind == "event_msg":
            yield from self._happened(payload, at)
        elif kind == "response_item":
            yield from self._item(payload, at)
        elif kind == "token_usage_record":
            yield from self._used(take.record(payload.get("usage")), at)
        elif kind == "compacted":
            yield told.Compaction(at)
            yield told.Words(at, take.text(payload.get("message")), summary=True)

    def running(self) -> tuple[told.Event, ...]:
        """Return the commands whose end no line tells."""
        return tuple(told.Command(at, line, None) for at, line, patch in self._calls.values() if not patch)

    def _happened(self, payload: Record, at: str) -> Iterator[told.Event]:
        kind, info = payload.get("type"), take.record(payload.get("info"))
        window = take.count(payload.get("model_context_window")) or take.count(info.get("model_context_window"))
        self._usage = self._usage._replace(window=window or self._usage.window)
        if kind == "item_completed":
            yield from self._completed(take.record(payload.get("item")), at)
        elif kind == "token_count":
            yield from self._used(take.record(info.get("last_token_usage")), at)
        elif kind == "turn_aborted" and payload.get("reason", "interrupted") == "interrupted":
            yield told.Interruption(at)
        elif kind == "user_message":  # so it was written before there were items
            yield told.Prompt(at, take.text(payload.get("message")))
        elif kind == "agent_message":
            yield told.Words(at, take.text(payload.get("message")))

    def _used(self, usage: Record, at: str) -> Iterator[told.Usage]:
        found = self._usage._replace(at=at, used=take.count(usage.get("total_tokens")))
        if found.used and found != self._usage._replace(at=at):  # two kinds of lines tell the same
            self._usage = found
            yield found

    def _completed(self, item: Record, at: str) -> Iterator[told.Event]:
        kind, name = item.get("type"), take.text(item.get("id"))
        if kind == "UserMessage":
            yield told.Prompt(at, take.spoken(item.get("content")))
        elif kind == "AgentMessage":
            yield told.Words(at, take.spoken(item.get("content")))
        elif kind in {"CommandExecution", "FileChange"} and name not in self._done:
            self._calls.pop(name, None)
            self._done.add(name)
            yield from _ended(item, at)

    def _item(self, payload: Record, at: str) -> Iterator[told.Event]:
        kind, name = take.text(payload.get("type")), take.text(payload.get("call_id"))
        if kind.endswith("_call_output") and name in self._calls:
            yield from self._output(name, payload.get("output"), at)
        elif kind.endswith("_call"):
            tool = take.text(payload.get("name")) or kind
            given = take.parsed(take.text(payload.get("arguments")).encode()) or take.record(payload.get("action"))
            if tool == "update_plan":
                yield take.to_do(at, given.get("plan"), "step")
            elif tool == "spawn_agent":
                yield told.SubAgent(at)
            elif tool in _TOOLS and name not in self._done:
                line = _line(given)
                is_patch = tool == "apply_patch" or line.startswith("apply_patch")
                patch = take.text(payload.get("input")) or take.text(given.get("input")) or line
                self._calls[name] = at, line, patch if is_patch else ""

    def _output(self, name: str, output: object, at: str) -> Iterator[told.Event]:
        """Yield what the output of a call says, which nothing else has told: its exit status stands in its text."""
        _, line, patch = self._calls.pop(name)
        said = take.spoken(output) if not isinstance(output, dict) else take.text(output.get("content"))
        found = _EXIT.search(said.partition(_OUTPUT)[0])
        older = (take.parsed(said.encode()) if said.startswith("{") else None) or {}
        ended = int(found[1]) if found else take.status(take.record(older.get("metadata")).get("exit_code"))
        if ended is not None:
            self._done.add(name)
        if said.rstrip().endswith("rejected by user"):
            yield told.Interruption(at)
        elif patch:
            for change, path, body in _PATCHED.findall(patch):
                added, removed = take.changed_lines(body.split("\n"))
                yield told.FileEdit(at, path, added, removed, change == "Add", "" if ended == 0 else take.fault(said))
        elif ended is not None:
            yield told.Command(at, line, ended, take.text(older.get("output")) or said.partition(_OUTPUT)[2])
        elif _IN_BACKGROUND in said:
            yield told.Command(at, line, None)


def _ended(item: Record, at: str) -> Iterator[told.Event]:
    """Yield the command, or the edits, of an item that is completed."""
    is_declined = item.get("status") == "declined"
    if is_declined:
        yield told.Interruption(at)
    if item.get("type") == "FileChange":
        why_not = "declined" if is_declined else take.fault(take.text(item.get("stderr")))
        for path, change in take.record(item.get("changes")).items():
            made = take.record(change)
            added, removed = take.changed_lines(take.text(made.get("unified_diff")).split("\n"))
            whole = len(take.text(made.get("content")).splitlines())
            is_new = made.get("type") == "add"
            added, removed = (whole, 0) if is_new else (added, removed + whole)
            yield told.FileEdit(at, path, added, removed, is_new, "" if item.get("status") == "completed" else why_not)
    elif not is_declined:
        output = take.text(item.get("aggregated_output"))
        yield told.Command(at, _line(item), take.status(item.get("exit_code")), output)


def _line(given: Record) -> str:
    """Return the command line in what a shell is given: a text, or words, of which a shell's own are left out."""
    words = given.get("cmd") or given.get("command")
    if isinstance(words, str):
        return take.text(words)
    line = [take.text(word) for word in take.listed(words)]
    return line[-1] if line[1:-1] in (["-c"], ["-lc"]) else " ".join(line)

"""Reads the lines of Gemini CLI's chats, in which a later line replaces an earlier one of the same id.

What a message told already it does not tell again. A line that sets all messages anew, as after a compression, is no
news: it holds what was said before, without the calls of tools.
"""

from __future__ import annotations

import re

from taskstate.transcripts import events as told
from taskstate.transcripts import records as take
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.transcripts.records import Record

USAGE = (b'"tokens":{', b'"tokens": {', b"<state_snapshot>")
_EDITS = frozenset({"write_file", "replace"})
_AGENTS = frozenset({"invoke_agent", "delegate_to_agent", "codebase_investigator"})
_EXIT = re.compile(r"^Exit Code: (-?\d{1,10})$", re.MULTILINE)
_END = 200  # characters, in which the client itself adds it to the output
_OF_HOOK, _END_OF_HOOK = "<hook_context>", "</hook_context>"
_NOT_WORDS = ("<session_context>", "<state_snapshot>")
_CUT_OFF = "Command was cancelled"
_SNAPSHOT = "<state_snapshot>"


def skips(line: bytes) -> bool:
    """Return whether a line tells nothing, by how it begins."""
    return line.startswith(b'{"$set":{"lastUpdated"')


class Reader:
    """Reads the lines of one session in their order."""

    def __init__(self) -> None:
        self._told = set[tuple[str, str]]()  # the id of a message, and what of it is told

    def events(self, line: Record) -> Iterator[told.Event]:
        """Yield what a line tells that no line before it did."""
        at, kind = take.moment(line.get("timestamp")), line.get("type")
        words = take.spoken(line.get("content"))
        if kind == "user":
            words = words.partition(_END_OF_HOOK)[2].lstrip() if words.startswith(_OF_HOOK) else words
            if self._is_new(line, "words", words) and not words.startswith(_NOT_WORDS):
                yield told.Prompt(at, words)
        elif kind == "gemini":
            used = take.count(take.record(line.get("tokens")).get("input"))
            if self._is_new(line, "usage", used):
                yield told.Usage(at, used)
            if self._is_new(line, "words", words.strip()):
                yield told.Words(at, words)
            for call in take.records(line.get("toolCalls")):
                if self._is_new(call, "call", call.get("status") in {"success", "error", "cancelled"}):
                    yield from _call(call, take.moment(call.get("timestamp")) or at)
        elif kind is None:
            yield from self._set_anew(take.records(take.record(line.get("$set")).get("messages")))

    def _set_anew(self, messages: list[Record]) -> Iterator[told.Event]:
        for message in messages:
            at, said = take.moment(message.get("timestamp")), take.spoken(message.get("content"))
            if self._is_new(message, "words", said) and _SNAPSHOT in said:
                yield told.Compaction(at)
                yield told.Words(at, said, summary=True)

    def running(self) -> tuple[told.Event, ...]:
        """Return nothing: a call stands in the file only when it is over."""
        return ()

    def _is_new(self, line: Record, what: str, value: object) -> bool:
        """Return whether there is something that this message, or call, has not told yet; from now on it has."""
        key = take.text(line.get("id")), what
        is_new = bool(value) and key not in self._told
        if is_new:
            self._told.add(key)
        return is_new


def _call(call: Record, at: str) -> Iterator[told.Event]:
    tool, given, state = take.text(call.get("name")), take.record(call.get("args")), call.get("status")
    shown, path = take.record(call.get("resultDisplay")), take.text(given.get("file_path"))
    said = "\n".join(_answer(each) for each in take.records(call.get("result")))
    is_cut_off = _CUT_OFF in said
    if state == "cancelled" or is_cut_off:
        yield told.Interruption(at)
    if tool == "run_shell_command":
        ended, in_background = _EXIT.search(said[-_END:]), given.get("is_background") is True
        status = None if is_cut_off or in_background else int(ended[1]) if ended else 0
        if ended or state == "success":
            output = take.text(call.get("resultDisplay")) or said
            yield told.Command(at, take.text(given.get("command")), status, output)
    elif tool in _EDITS:
        stat = take.record(shown.get("diffStat"))
        added = take.count(stat.get("model_added_lines")) + take.count(stat.get("user_added_lines"))
        removed = take.count(stat.get("model_removed_lines")) + take.count(stat.get("user_removed_lines"))
        why_not = "" if state == "success" else take.fault(said)
        yield told.FileEdit(at, path, added, removed, shown.get("isNewFile") is True, why_not)
    elif tool == "write_todos" and state == "success":
        yield take.to_do(at, given.get("todos"), "description")
    elif tool in _AGENTS or "agentName" in shown:
        yield told.SubAgent(at)


def _answer(result: Record) -> str:
    response = take.record(take.record(result.get("functionResponse")).get("response"))
    return take.text(response.get("output")) or take.text(response.get("error"))

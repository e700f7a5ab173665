"""Reads the lines of Claude Code's transcripts, of versions 2.1.7 to 2.1.332."""

from __future__ import annotations

import re

from taskstate.transcripts import events as told
from taskstate.transcripts import records as take
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.transcripts.records import Record

USAGE = (b'"usage":', b'"compact_boundary"')  # what is in each line that tells how full the context is
_HEAD = 240
_EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_AGENTS = frozenset({"Agent", "Task"})
_TOOLS = _EDITS | {"Bash", "TodoWrite", "TaskCreate", "TaskUpdate"}
_NOT_WORDS = ("<command-", "<local-command", "<task-notification", "<system-reminder", "<bash-")
_INTERRUPTED = "[Request interrupted by user"
_REFUSED = "The user doesn't want to proceed"
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,10})\n?")
_SMALL, _LARGE = 200_000, 1_000_000
# The windows of models, from the client's own list. Those that it calls small unless `[1m]` is asked for have either
# one where the line does not say what was asked for, as lines of older versions do not.
_IS_LARGE = re.compile(r"claude-(?:(?:sonnet|opus|haiku)-5(?:-5)?|(?:fable|mythos)-5(?:-[12])?|opus-4-[78])(?:-\d{8})?")
_IS_SMALL = re.compile(r"claude-(?:haiku-4-5|opus-4-[15])(?:-\d{8})?")
_IS_SMALL_IF_ASKED = re.compile(r"claude-(?:sonnet-4-[56]|opus-4-6)(?:-\d{8})?")


def skips(line: bytes) -> bool:
    """Return whether a line begins as those do that hold whole requests, or what only the model reads."""
    head = line[:_HEAD]
    return head.startswith(b'{"type":"api-request') or (
        b'"attachment":{' in head and b'"type":"queued_command"' not in head
    )


class Reader:
    """Reads the lines of one session in their order."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[str, str, Record]] = {}  # by id: when, which tool, and its input
        self._tasks: dict[str, Record] = {}  # by id: subject and status
        self._usage = told.Usage("", 0)
        self._is_refused = False
        self._large = set[str]()  # models that were seen to hold more than the smaller window

    def events(self, line: Record) -> Iterator[told.Event]:
        """Yield what a line tells that no line before it did.

        What a sub-agent does is not of the session itself. The lines that a fork has from another session fill its
        context, but tell of the other one.
        """
        for event in () if line.get("isSidechain") is True else self._events(line):
            if "forkedFrom" not in line or isinstance(event, told.Usage):
                yield event

    def _events(self, line: Record) -> Iterator[told.Event]:
        at, kind = take.moment(line.get("timestamp")), line.get("type")
        if kind == "assistant":
            yield from self._answer(line, at)
        elif kind == "user":
            yield from self._given(line, at)
        elif kind == "system" and line.get("subtype") == "compact_boundary":
            yield told.Compaction(at, take.count(take.record(line.get("compactMetadata")).get("postTokens")))
        elif kind == "attachment":  # a prompt that was written while the agent worked
            attached = take.record(line.get("attachment"))
            if not (attached.get("isMeta") or attached.get("carriedByCompaction")):
                yield from self._said(at, take.spoken(attached.get("prompt")))

    def running(self) -> tuple[told.Event, ...]:
        """Return the commands whose end no line tells."""
        begun = ((at, take.text(given.get("command"))) for at, tool, given in self._calls.values() if tool == "Bash")
        return tuple(told.Command(at, line, None) for at, line in begun)

    def _answer(self, line: Record, at: str) -> Iterator[told.Event]:
        message = take.record(line.get("message"))
        if message.get("model") == "<synthetic>":
            return
        usage = self._used(line, message)
        if usage.used and usage != self._usage:  # an answer is several lines with the same usage
            self._usage = usage
            yield usage._replace(at=at)
        for block in take.records(message.get("content")):
            self._is_refused = False
            tool, words = take.text(block.get("name")), take.text(block.get("text"))
            given = take.record(block.get("input"))
            if block.get("type") == "text" and words.strip():
                yield told.Words(at, words)
            elif tool in _AGENTS:
                yield told.SubAgent(at)
            elif tool in _TOOLS:
                self._calls[take.text(block.get("id"))] = at, tool, given

    def _used(self, line: Record, message: Record) -> told.Usage:
        usage = take.record(message.get("usage"))
        usage = (usage, *take.records(usage.get("iterations")))[-1]
        used = sum(take.count(usage.get(f"{key}input_tokens")) for key in ("", "cache_read_", "cache_creation_"))
        model, asked = take.text(message.get("model")), take.text(line.get("requestedModel"))
        if used > _SMALL or asked.endswith("[1m]"):
            self._large.add(model)
        return told.Usage("", used and used + take.count(usage.get("output_tokens")), self._window(model, asked))

    def _window(self, model: str, asked: str) -> int:
        if model in self._large or _IS_LARGE.fullmatch(model):
            return _LARGE
        return _SMALL if _IS_SMALL.fullmatch(model) or (asked and _IS_SMALL_IF_ASKED.fullmatch(model)) else 0

    def _given(self, line: Record, at: str) -> Iterator[told.Event]:
        content = take.record(line.get("message")).get("content")
        if line.get("isCompactSummary") is True:
            yield told.Words(at, take.spoken(content), summary=True)
            return
        for block in take.records(content):
            if block.get("type") == "tool_result":
                yield from self._result(line, block, at)
        for block in () if line.get("isMeta") is True else take.records(content) or [{"text": content}]:
            yield from self._said(at, take.text(block.get("text")))

    def _said(self, at: str, words: str) -> Iterator[told.Event]:
        if not words.strip() or words.lstrip().startswith(_NOT_WORDS):
            return
        was_refused, self._is_refused = self._is_refused, False
        if not words.startswith(_INTERRUPTED):
            yield told.Prompt(at, words)
        elif not was_refused:  # else it is told already
            yield told.Interruption(at)

    def _result(self, line: Record, block: Record, at: str) -> Iterator[told.Event]:
        _, tool, given = self._calls.pop(take.text(block.get("tool_use_id")), ("", "", {}))
        said, failed = take.spoken(block.get("content")), block.get("is_error") is True
        if failed and said.startswith(_REFUSED):
            self._is_refused = True
            yield told.Interruption(at)
        done = take.record(line.get("toolUseResult"))
        if tool == "Bash":
            yield from _ran(at, take.text(given.get("command")), said, None if failed else done)
        elif tool in _EDITS:
            path = take.text(given.get("file_path")) or take.text(given.get("notebook_path"))
            hunks, is_new = take.records(done.get("structuredPatch")), done.get("type") == "create"
            added, removed = take.changed_lines(line for hunk in hunks for line in take.listed(hunk.get("lines")))
            added = len(take.text(done.get("content")).splitlines()) if is_new else added
            yield told.FileEdit(at, path, added, removed, is_new, take.fault(said) if failed else "")
        elif tool and not failed:
            yield self._to_do(at, tool, given, done)

    def _to_do(self, at: str, tool: str, given: Record, done: Record) -> told.ToDo:
        if tool == "TodoWrite":
            return take.to_do(at, given.get("todos"), "content")
        name = str(take.record(done.get("task")).get("id") or given.get("taskId"))
        kept = self._tasks.setdefault(name, {})
        kept.update({key: given[key] for key in ("subject", "status") if given.get(key)})
        return take.to_do(at, list(self._tasks.values()), "subject")


def _ran(at: str, line: str, said: str, done: Record | None) -> Iterator[told.Command]:
    """Yield the command, if it ran; the exit status of one that failed stands in what it said, and nowhere else."""
    ended = _EXIT.match(said)
    if done is None:
        if ended:
            yield told.Command(at, line, int(ended[1]), said[ended.end() :])
    elif done.get("backgroundTaskId"):
        yield told.Command(at, line, None)
    else:
        printed = f"{take.text(done.get('stdout'))}\n{take.text(done.get('stderr'))}".strip("\n")
        yield told.Command(at, line, None if done.get("interrupted") is True else 0, printed if done else said)

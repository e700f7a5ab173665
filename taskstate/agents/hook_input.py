"""Reads the JSON that a client gives to a hook; fields that are missing or of another type count as absent.

Clients name the same thing differently, and from version to version: each value is looked up under all known names.
"""

from __future__ import annotations

import json
import os

from taskstate.agents.patches import BEGIN, Edit, edits_in_patch
from taskstate.errors import TaskstateError
from taskstate.storage import folders
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_PATH = ("file_path", "path", "filePath", "target_file")
_OLD, _NEW = ("old_string", "old_str"), ("new_string", "new_str")
_CONTENT = ("content", "contents", "file_text")


class HookCall(NamedTuple):
    """A call by a client: the working folder, why a session starts, the sub-agent, and what a tool does.

    Of a sub-agent `role` is its type and `agent_id` its id; `reads_only` says that its client lets it write nothing.
    `repeats` says that the agent goes on already because of a block at its last stop. `mode` is the client's word for
    what it lets the agent do without asking. A command runs in `command_folder`. `session` is its id, `transcript` the
    path of what the client keeps of it, `last_words` what the agent said at last, and `model` what it names its model.
    """

    folder: str
    source: str = ""
    role: str = ""
    agent_id: str = ""
    reads_only: bool = False
    command: str = ""
    edits: tuple[Edit, ...] = ()
    repeats: bool = False
    mode: str = ""
    command_folder: str = ""
    session: str = ""
    transcript: str = ""
    last_words: str = ""
    model: str = ""


def read_call(data: bytes) -> HookCall:
    """Return the call that the bytes on standard input describe; nothing at all is a call without fields.

    Raises:
        TaskstateError: it is not a JSON object.
    """
    try:
        values = json.loads(data.decode("utf-8")) if data.strip() else {}
    except (ValueError, RecursionError) as error:
        raise TaskstateError("the input is not JSON", help="the client writes it", code="input") from error
    if not isinstance(values, dict):
        raise TaskstateError("the input is not a JSON object", help="the client writes it", code="input")
    tool = values.get("tool_input") or values.get("toolInput")
    if isinstance(tool, str):
        tool = _object(tool)
    tool = tool if isinstance(tool, dict) else {}
    folder = _folder(values)
    where = os.path.join(folder, _text(tool, "dir_path"))
    return HookCall(
        folder=folder,
        source=_text(values, "source", "trigger", "reason"),
        role=_text(values, "agent_type", "subagent_type"),
        agent_id=_text(values, "agent_id", "agentId", "subagent_id"),
        reads_only=values.get("permission_mode") == "plan" or values.get("is_read_only") is True,
        command=_command(tool) or _command(values),
        edits=tuple(_edits(tool, where)) or tuple(_edits(values, where)),
        repeats=bool(values.get("stop_hook_active")) or bool(values.get("loop_count")),
        mode=_text(values, "permission_mode"),
        command_folder=where,
        session=_text(values, "session_id", "conversation_id"),
        transcript=_text(values, "transcript_path"),
        last_words=_text(values, "last_assistant_message", "prompt_response"),
        model=_text(values, "model"),
    )


def _object(text: str) -> object:
    """Return the value of JSON in a string, as some versions give it; a text that is none is a patch."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {"patch": text}


def _folder(values: Mapping[str, Any]) -> str:
    roots = values.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    for folder in (values.get("cwd"), first):
        if isinstance(folder, str) and "\0" not in folder and folders.is_folder(folder):
            return folder
    return os.getcwd()


def _text(values: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := values.get(name), str) and value), "")


def _command(values: Mapping[str, Any]) -> str:
    command = values.get("command")
    if isinstance(command, list):
        from shlex import join  # most clients give a text

        return join(map(str, command))
    return command if isinstance(command, str) else ""


def _edits(values: Mapping[str, Any], folder: str) -> Iterator[Edit]:
    path = _text(values, *_PATH)
    patch = next((text for text in _patches(values) if BEGIN in text), "")
    if patch.lstrip().startswith((BEGIN, "<<")):
        yield from edits_in_patch(patch)
    elif patch:
        yield from _edits_by_shell(_command(values) or patch, folder)
    elif path and isinstance(values.get("edits"), list):
        pieces = [each for each in values["edits"] if isinstance(each, dict)]
        yield Edit(path, replaced=tuple((_text(each, *_OLD), _text(each, *_NEW)) for each in pieces))
    elif path and any(name in values for name in _OLD):
        everywhere = values.get("replace_all") is True
        yield Edit(path, replaced=((_text(values, *_OLD), _text(values, *_NEW)),), everywhere=everywhere)
    elif path and any(isinstance(values.get(name), str) for name in _CONTENT):
        yield Edit(path, content=_text(values, *_CONTENT))
    elif path:
        yield Edit(path)


def _edits_by_shell(command: str, folder: str) -> Iterator[Edit]:
    """Yield the edits of the patches in a shell command; their paths go out from where it has gone by then."""
    from taskstate.agents.shell_commands import patches  # most calls have none

    for patch in patches(command, folder):
        yield from (each._replace(path=os.path.join(patch.folder, each.path)) for each in edits_in_patch(patch.text))


def _patches(values: Mapping[str, Any]) -> Iterator[str]:
    for name in ("command", "input", "patch"):
        value = values.get(name)
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str))

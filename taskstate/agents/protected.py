"""Says why an edit must not be made: it would change a part of a file that only a command writes, or that is sealed."""

from __future__ import annotations

from taskstate.messages import counted
from taskstate.model.canonical_json import SEALED_KEYS
from taskstate.model.names import own_file
from taskstate.model.static_context import seal_broken
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.syntax.document import parse
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from taskstate.agents.patches import Edit
    from taskstate.model.names import OwnType
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace

# The commands that write a block of the front matter.
COMMANDS: Mapping[str, str] = {
    "context": "taskstate context rebuild {id}",
    "baseline": "taskstate qa baseline {id}",
    "coordination": "taskstate role set {id} ROLE STATUS",
    "delta": "taskstate start {id}`, `taskstate finish {id}",
    "evidence": "taskstate evidence add {id} --type T --path P",
    "handoffs": "taskstate handoff new {id}",
    "output": "taskstate chain output set {id} --from FILE",
    "acks": "taskstate permanent ack --agent NAME --version V",
    "audit": "taskstate doctor --reseal {id} --note WHY",
}
_WHOLE: dict[OwnType, str] = {"archive": "taskstate archive {id}", "impact-map": "taskstate impact add"}


def refusal(workspace: Workspace, path: Path, edit: Edit) -> str:
    """Return why an edit of a file of the repository is refused, with the command that does it; empty if it is not."""
    relative = workspace.relative(path)
    own = own_file(relative)
    if own is None or not own.id or not workspace.is_ours(relative) or files.size(path) is None:
        return ""
    if own.type in _WHOLE:
        return f"{relative} may be written by commands alone: `{_WHOLE[own.type].format(id=own.id)}`"
    if own.type != "state":
        return ""
    text = with_newlines(workspace.read(path).decode("utf-8", "replace"), "\n")  # as the tools of clients show it
    new = edit.applied(text)
    if new is None or with_newlines(new, "\n") == text:
        return ""
    if edit.goes or not new.strip():
        return f"{relative} holds the record of task {own.id}: `taskstate drop {own.id} --note WHY` gives it up"
    return _changed_part(relative, own.id, parse(text, workspace.kinds), parse(new, workspace.kinds))


def _changed_part(relative: str, task_id: str, before: Document, after: Document) -> str:
    old_blocks, new_blocks = blocks_of(before), blocks_of(after)
    changed = [key for key in (*SEALED_KEYS, "audit") if _differs(key, old_blocks, new_blocks)]
    if changed:
        named = ", ".join(f"`{key}`" for key in changed)
        commands = "; ".join(f"`{COMMANDS[key].format(id=task_id)}`" for key in changed[:2])
        what = counted(len(changed), "block")
        return f"{relative}: the edit changes {what} of the front matter that only commands write, {named}: {commands}"
    old_state, new_state = read_state(before, task_id), read_state(after, task_id)
    if seal_broken(new_state, new_blocks) and not seal_broken(old_state, old_blocks):
        return (
            f"{relative}: the edit changes section 1 (Static Context), which is sealed. To change what the task asks "
            f"for, change its sources, then `taskstate context rebuild {task_id}`; a criterion that is met: "
            f"`taskstate criterion check {task_id} N`"
        )
    return ""


def _differs(key: str, old: ToolBlocks, new: ToolBlocks) -> bool:
    before, after = old.values.get(key), new.values.get(key)
    return before is not None and before != after

"""The prompts: the protocol, what a successor reads, and what a reviewer reads; each is the text of an operation."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.mcp_server import call
from taskstate.mcp_server.arguments import ToolCall
from taskstate.operations.index import operation
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.mcp_server.arguments import Place


class Prompt(NamedTuple):
    """A prompt: its name, what it is for, the operation that writes it, for which role, and whether it needs a task."""

    name: str
    summary: str
    operation: str
    role: str = ""
    needs_task: bool = True


PROMPTS = (
    Prompt("protocol", "The rules for a session of work", "protocol", needs_task=False),
    Prompt("successor", "What the next agent reads to take a phase over", "handoff successor"),
    Prompt("reviewer", "What a reviewer of a task reads", "protocol", "reviewer"),
)


def text_of(name: str, given: Mapping[str, str], place: Place) -> str:
    """Return the text of a prompt.

    Raises:
        TaskstateError: there is no such prompt, its task is missing, or the command refuses.
    """
    prompt = next((each for each in PROMPTS if each.name == name), None)
    if prompt is None:
        known = ", ".join(each.name for each in PROMPTS)
        raise TaskstateError(f"there is no prompt {name[:100]!r}", help=f"it is one of {known}", code="not-found")
    task = given.get("id", "")
    unknown = next((each for each in given if each != "id"), "")
    if unknown or "/" in task or "\\" in task or (prompt.needs_task and not task):
        what = f"takes no {unknown!r}" if unknown else "needs the id of a task"
        raise TaskstateError(f"the prompt {name} {what}", help="give id, such as 101", code="usage")
    fields = {name: value for name, value in (("id", task), ("role", prompt.role)) if value}
    return call.run(ToolCall(operation(prompt.operation), fields), place).text

"""Puts answers and errors of commands into the shape of tool results."""

from __future__ import annotations

from mcp_types import CallToolResult, TextContent

from taskstate.mcp_server.pages import ANSWER, RESOURCE, page_of
from taskstate.mcp_server.tools import PAGE
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.errors import TaskstateError
    from taskstate.mcp_server.call import Answer

_MOST_NOTES = 2_000  # characters


def result_of(answer: Answer, page: int) -> CallToolResult:
    """Return the result of a command: a page of its text, or with page 0 all of it; below it what else was said.

    It has no structured content, since clients show a model that in the place of the text.

    Raises:
        TaskstateError: code "usage": there is no such page.
    """
    shown = page_of(answer.text, page or 1, ANSWER if page else RESOURCE)
    notes = "\n".join(answer.notes)[:_MOST_NOTES]
    status = f"(exit status {answer.status}: something was found)" if answer.status else ""
    following = f"; {PAGE} {page + 1} is the next" if 0 < page < shown.of else ""
    more = f"({PAGE} {shown.number} of {shown.of}{following})" if shown.of > 1 else ""
    content = "\n\n".join(filter(None, (shown.text.rstrip("\n"), notes, status, more)))
    return CallToolResult(content=[TextContent(text=content)])


def failed(error: TaskstateError) -> CallToolResult:
    """Return the result of a command that refuses: code, message and cure."""
    structured = parts_of(error)
    code, message, cure = structured.values()
    text = f"{code}: {message}" + (f": {cure}" if cure else "")
    return CallToolResult(content=[TextContent(text=text)], structured_content={**structured}, is_error=True)


def parts_of(error: TaskstateError) -> dict[str, str]:
    """Return code, message and cure of an error, which may quote what a client has sent."""
    message, cure = printable(error.message)[:ANSWER], printable(error.help)[:_MOST_NOTES]
    return {"code": error.code, "message": message, "cure": cure}

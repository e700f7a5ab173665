"""Puts answers and errors of commands into the shape of tool results."""

from __future__ import annotations

import json

from mcp_types import CallToolResult, TextContent

from taskstate.mcp_server.pages import ANSWER, page_of
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from taskstate.errors import TaskstateError
    from taskstate.mcp_server.call import Answer

_MOST_NOTES = 2_000  # characters


def result_of(answer: Answer, page: int) -> CallToolResult:
    """Return the result of a command: its data where they fit a page, else the page of its text.

    Raises:
        TaskstateError: code "usage": there is no such page.
    """
    data = json.dumps(answer.data, ensure_ascii=False)
    text = answer.text or json.dumps(answer.data, ensure_ascii=False, indent=1)
    shown = page_of(text, page)
    structured: dict[str, Any] = {"status": answer.status, "page": shown.number, "pages": shown.of}
    structured |= {"data": answer.data} if len(data) <= ANSWER and shown.of == 1 else {"text": shown.text}
    notes = "\n".join(answer.notes)[:_MOST_NOTES]
    if notes:
        structured["notes"] = notes
    more = f"(page {shown.number} of {shown.of})" if shown.of > 1 else ""
    content = "\n\n".join(filter(None, (shown.text.rstrip("\n"), notes, more)))
    return CallToolResult(content=[TextContent(text=content)], structured_content=structured)


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

"""Text from outside that is kept as an artifact, such as a log: it is looked through for credentials like all else.

What is written to our own files is looked through where it is written; an artifact is not among those files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate import plan_secrets, secret_guard
from taskstate.plan_secrets import Found
from taskstate.rolling import remember

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.storage.journal import Plan
    from taskstate.workspace import Workspace
    from taskstate.writing import Request

_WARNED = 3  # findings of one text


class Checked(NamedTuple):
    """A text that may be kept: what to warn of, and what the audit has to remember of it, if anything."""

    warnings: tuple[str, ...] = ()
    event: dict[str, object] | None = None

    def remembered(self, workspace: Workspace, text: str) -> tuple[str, Plan]:
        """Return a state file's text with the event in its audit, and the change of the archive that goes with it."""
        return remember(workspace, text, self.event) if self.event else (text, ())


def check(workspace: Workspace, pieces: Iterable[str], request: Request, *, what: str) -> Checked:
    """Refuse a text, given in pieces of whole lines, in which something looks like a credential, unless it is forced.

    `what` is how messages call the text; they name lines and kinds, and never a value.

    Raises:
        TaskstateError: code "secret".
    """
    lines: list[str] = []
    kinds: list[str] = []
    number = 1
    for text in pieces:
        at = 0
        for each in sorted(secret_guard.new_in(text, workspace.config)):
            number += text.count("\n", at, each.span.start)
            at = each.span.start
            lines.append(f"{what}, line {number}: this looks like {each.kind}")
            kinds.append(each.kind)
        number += text.count("\n", at)
    if not lines:
        return Checked()
    if not request.force_secrets:
        raise secret_guard.refusal(lines)
    more = (f"{what}: {len(lines) - _WARNED} more such lines",) if len(lines) > _WARNED else ()
    told = secret_guard.warnings([*lines[:_WARNED], *more])
    return Checked(told, plan_secrets.event(Found(tuple(lines), tuple(kinds)), request.stamp))

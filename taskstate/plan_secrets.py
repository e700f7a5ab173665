"""Tells what looks like a credential in the texts that a plan writes, where it did not stand as often before.

A secret that somebody put into a file by hand is lint's to tell: archiving the session that holds it, or mending the
line above it, is not refused; writing it once more is. So occurrences are counted: those that a file has more than
before are new, unless they may have come out of another file of the plan. Files are read again only where something is
found.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from taskstate import secret_guard
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files
from taskstate.storage.transaction import Append, Create, Replace, paths_of
from taskstate.syntax.spans import Span
from taskstate.validation import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.write_metadata import Stamp
    from taskstate.storage.transaction import Plan
    from taskstate.validation.secrets import Secret
    from taskstate.workspace import Workspace


EVENT = "secrets-forced"  # what the audit calls a write that was forced


class Found(NamedTuple):
    """What a plan would write: one line for each finding, and what each looks like."""

    lines: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


def found_in(workspace: Workspace, plan: Plan, path: str = "", old: str = "") -> Found:
    """Return what looks like a credential in the new texts of a plan, and is new.

    Of the file at `path`, which holds the text `old`, only the lines that change are looked at.
    """
    lines: list[str] = []
    kinds: list[str] = []
    for operation in plan:
        if isinstance(operation, Create | Replace | Append):
            text = operation.data.decode(errors="replace")
            parts = changed_parts(old, text) if operation.path == path else (Span(0, len(text)),)
            found = _new_in(workspace, plan, operation, parts)
            what = f"what is added to {operation.path}" if isinstance(operation, Append) else operation.path
            lines += secret_guard.told(text, found, what)
            kinds += [each.kind for each in found]
    return Found(tuple(lines), tuple(kinds))


def _new_in(
    workspace: Workspace, plan: Plan, operation: Create | Replace | Append, parts: tuple[Span, ...]
) -> tuple[Secret, ...]:
    text = operation.data.decode(errors="replace")
    found = [each for part in parts for each in _found(text, part, workspace)]
    if not found:
        return ()
    old = "".join(_old_texts(workspace, (operation,))) if isinstance(operation, Replace) else ""
    others = "\n".join(_old_texts(workspace, tuple(each for each in plan if each is not operation)))

    def more(value: str) -> int:
        return sum(sign * secret_guard.times(value, each) for sign, each in ((1, text), (-1, old), (-1, others)))

    return secret_guard.beyond(text, found, old, more)


def _found(text: str, part: Span, workspace: Workspace) -> Iterator[Secret]:
    for each in secrets.find(part.of(text), workspace.config.secrets.allow):
        yield each._replace(span=Span(part.start + each.span.start, part.start + each.span.end))


def changed_parts(old: str, new: str) -> tuple[Span, ...]:
    """Return the lines of a text that an older one does not have: some of the front matter, some of the body.

    All of it where a line that did not change may make a secret of one that did, as the header of a private key does.
    """
    if any(sign in new for sign in secrets.MULTILINE):
        return (Span(0, len(new)),)
    heads = [max(text.find(_HEAD_END, 1), 0) for text in (old, new)]
    head = _changed(old[: heads[0]], new[: heads[1]])
    body = _changed(old[heads[0] :], new[heads[1] :])
    return head, Span(heads[1] + body.start, heads[1] + body.end)


_HEAD_END = "\n---"


def _changed(old: str, new: str) -> Span:
    """Return the lines of `new` from the first that differs to the last one."""
    if old == new:
        return Span(0, 0)
    start = _same(old, new, 0)
    end = len(new) - _same(old, new, start, backwards=True)
    line_end = re.compile(r"[\r\n]|\Z").search(new, end)
    return Span(max(new.rfind("\n", 0, start), new.rfind("\r", 0, start)) + 1, line_end.start() if line_end else end)


def _same(old: str, new: str, least: int, *, backwards: bool = False) -> int:
    """Return how many characters are the same at the beginning of two texts, or at their ends, `least` left aside."""
    low, high = 0, min(len(old), len(new)) - least
    while low < high:
        middle = (low + high + 1) // 2
        if backwards:
            same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        else:
            same = old[low:middle] == new[low:middle]
        low, high = (middle, high) if same else (low, middle - 1)
    return low


def accepted(found: Found, *, force: bool) -> tuple[str, ...]:
    """Return what to warn of where findings are written all the same.

    Raises:
        TaskstateError: code "secret": something was found, and nobody forces it.
    """
    if found.lines and not force:
        # These lines are on no disk: whoever looks for them there would not find them.
        raise secret_guard.refusal([f"what would be written: {line}" for line in found.lines])
    return secret_guard.warnings(found.lines)


def event(found: Found, by: Stamp) -> dict[str, object]:
    """Return what the audit remembers of a write that was forced: who and when, what kinds and how many."""
    counts = ", ".join(f"{kind} ({count})" for kind, count in sorted(Counter(found.kinds).items()))
    return {"at": timestamp(by.now), "actor": by.actor, "event": EVENT, "note": counts}


def _old_texts(workspace: Workspace, plan: Plan) -> Iterator[str]:
    """Yield the texts that stand in the files of a plan before it is carried out."""
    for operation in plan:
        path = workspace.root / paths_of(operation)[0]
        if not isinstance(operation, Create) and path.is_file():
            yield files.read(path).decode(errors="replace")

"""Refuses to write what looks like a credential, unless the write is forced; a forced one is noted in the audit.

Only what is new counts: a secret that already stood in the file, or that moves from one file of the plan to another, is
for lint to report. Messages name the kind and the line, never the value. Logs and other text that becomes an artifact
go through the same check.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files
from taskstate.storage.transaction import Append, Create, Replace, paths_of
from taskstate.syntax.spans import Span
from taskstate.validation import secrets
from taskstate.workspace.event_log import add_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from taskstate.model.config import Config
    from taskstate.model.write_metadata import WriteMetadata
    from taskstate.storage.transaction import Plan
    from taskstate.validation.secrets import Secret
    from taskstate.workspace.change import Request
    from taskstate.workspace.workspace import Workspace


_HELP = (
    "take it out of the text or the source that it comes from, and name the place where it is kept; if it is none, let"
    " `secrets.allow` of the configuration fit it, or write it with --force-secrets; in free text the comment"
    " `taskstate: allow secret` at the end of its line does as well"
)
_MAX_LISTED = 3  # findings that a refusal names


def warnings(lines: Iterable[str]) -> tuple[str, ...]:
    """Return what to warn of where findings that `describe` put into words are written all the same."""
    return tuple(f"warning: {line}; written all the same" for line in lines)


def refusal(lines: Sequence[str]) -> TaskstateError:
    """Return the error for findings that `describe` put into words."""
    return TaskstateError(first_of(lines, _MAX_LISTED, separator="; ", last="; and "), help=_HELP, code="secret")


def new_secrets(text: str, config: Config, known: Iterable[str] = ()) -> tuple[Secret, ...]:
    """Return what looks like a credential in `text` more often than in the `known` texts together."""
    found = secrets.find(text, config.secrets.allow)
    if not found:
        return ()
    old = "\n".join(known)
    return exceeding(text, found, old, lambda value: occurrences(value, text) - occurrences(value, old))


def exceeding(text: str, found: Sequence[Secret], old: str, more: Callable[[str], int]) -> tuple[Secret, ...]:
    """Return, of each value among findings, as many as it is written `more` often.

    One whose line is no more frequent than in the `old` text is none of them: another line, which is allowed, may be.
    """
    fresh = Counter(text.split("\n"))
    fresh.subtract(old.split("\n"))
    by_value: dict[str, list[Secret]] = {}
    for each in found:
        value = each.span.of(text)
        if "\n" in value or fresh[_line_of(text, each)] > 0:
            by_value.setdefault(value, []).append(each)
    return tuple(sorted(each for value, those in by_value.items() for each in those[: max(more(value), 0)]))


def _line_of(text: str, secret: Secret) -> str:
    end = text.find("\n", secret.span.start)
    return text[text.rfind("\n", 0, secret.span.start) + 1 : end if end >= 0 else len(text)]


def occurrences(value: str, text: str) -> int:
    """Return how often a value stands in a text; one of several lines may be indented or quoted otherwise there."""
    if "\n" not in value:
        return text.count(value)
    return _unquoted(text).count(_unquoted(value))


def _unquoted(text: str) -> str:
    return "\n".join(line.strip("> \t\r") for line in text.split("\n"))


def describe(text: str, found: Sequence[Secret], what: str) -> tuple[str, ...]:
    """Return one line for each finding: where it stands and what it looks like, never the value."""
    lines = (text.count("\n", 0, each.span.start) + 1 for each in found)
    return tuple(f"{what}, line {line}: this looks like {each.kind}" for each, line in zip(found, lines, strict=True))


EVENT = "secrets-forced"  # what the audit calls a write that was forced


class SecretFindings(NamedTuple):
    """What a plan would write: one line for each finding, and what each looks like."""

    lines: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


def new_secrets_in_plan(workspace: Workspace, plan: Plan, path: str = "", old: str = "") -> SecretFindings:
    """Return what looks like a credential in the new texts of a plan, and is new.

    Of the file at `path`, which holds the text `old`, only the lines that change are looked at.
    """
    lines: list[str] = []
    kinds: list[str] = []
    for operation in plan:
        if isinstance(operation, Create | Replace | Append):
            text = operation.data.decode(errors="replace")
            parts = changed_parts(old, text) if operation.path == path else (Span(0, len(text)),)
            found = _new_in_operation(workspace, plan, operation, parts)
            what = f"what is added to {operation.path}" if isinstance(operation, Append) else operation.path
            lines += describe(text, found, what)
            kinds += [each.kind for each in found]
    return SecretFindings(tuple(lines), tuple(kinds))


def _new_in_operation(
    workspace: Workspace, plan: Plan, operation: Create | Replace | Append, parts: tuple[Span, ...]
) -> tuple[Secret, ...]:
    text = operation.data.decode(errors="replace")
    found = [each for part in parts for each in _secrets_in(text, part, workspace)]
    if not found:
        return ()
    old = "".join(_old_texts(workspace, (operation,))) if isinstance(operation, Replace) else ""
    others = "\n".join(_old_texts(workspace, tuple(each for each in plan if each is not operation)))

    def more(value: str) -> int:
        return sum(sign * occurrences(value, each) for sign, each in ((1, text), (-1, old), (-1, others)))

    return exceeding(text, found, old, more)


def _secrets_in(text: str, part: Span, workspace: Workspace) -> Iterator[Secret]:
    for each in secrets.find(part.of(text), workspace.config.secrets.allow):
        yield each._replace(span=Span(part.start + each.span.start, part.start + each.span.end))


def changed_parts(old: str, new: str) -> tuple[Span, ...]:
    """Return the lines of a text that an older one does not have: some of the front matter, some of the body.

    All of it where a line that did not change may make a secret of one that did, as the header of a private key does.
    """
    if any(sign in new for sign in secrets.MULTILINE_MARKERS):
        return (Span(0, len(new)),)
    heads = [max(text.find(_HEAD_END, 1), 0) for text in (old, new)]
    head = _changed_lines(old[: heads[0]], new[: heads[1]])
    body = _changed_lines(old[heads[0] :], new[heads[1] :])
    return head, Span(heads[1] + body.start, heads[1] + body.end)


_HEAD_END = "\n---"


def _changed_lines(old: str, new: str) -> Span:
    """Return the lines of `new` from the first that differs to the last one."""
    if old == new:
        return Span(0, 0)
    start = _common_length(old, new, 0)
    end = len(new) - _common_length(old, new, start, backwards=True)
    line_end = re.compile(r"[\r\n]|\Z").search(new, end)
    return Span(max(new.rfind("\n", 0, start), new.rfind("\r", 0, start)) + 1, line_end.start() if line_end else end)


def _common_length(old: str, new: str, least: int, *, backwards: bool = False) -> int:
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


def require_allowed(found: SecretFindings, *, force: bool) -> tuple[str, ...]:
    """Return what to warn of where findings are written all the same.

    Raises:
        TaskstateError: code "secret": something was found, and nobody forces it.
    """
    if found.lines and not force:
        # These lines are on no disk: whoever looks for them there would not find them.
        raise refusal([f"what would be written: {line}" for line in found.lines])
    return warnings(found.lines)


def audit_event(found: SecretFindings, by: WriteMetadata) -> dict[str, object]:
    """Return what the audit remembers of a write that was forced: who and when, what kinds and how many."""
    counts = ", ".join(f"{kind} ({count})" for kind, count in sorted(Counter(found.kinds).items()))
    return {"at": timestamp(by.now), "actor": by.actor, "event": EVENT, "note": counts}


def _old_texts(workspace: Workspace, plan: Plan) -> Iterator[str]:
    """Yield the texts that stand in the files of a plan before it is carried out."""
    for operation in plan:
        path = workspace.root / paths_of(operation)[0]
        if not isinstance(operation, Create) and path.is_file():
            yield files.read(path).decode(errors="replace")


_MAX_WARNINGS = 3  # findings of one text


class AcceptedText(NamedTuple):
    """A text that may be kept: what to warn of, and what the audit has to remember of it, if anything."""

    warnings: tuple[str, ...] = ()
    event: dict[str, object] | None = None

    def remembered(self, workspace: Workspace, text: str) -> tuple[str, Plan]:
        """Return a state file's text with the event in its audit, and the change of the archive that goes with it."""
        return add_event(workspace, text, self.event) if self.event else (text, ())


def check_text(workspace: Workspace, pieces: Iterable[str], request: Request, *, what: str) -> AcceptedText:
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
        for each in sorted(new_secrets(text, workspace.config)):
            number += text.count("\n", at, each.span.start)
            at = each.span.start
            lines.append(f"{what}, line {number}: this looks like {each.kind}")
            kinds.append(each.kind)
        number += text.count("\n", at)
    if not lines:
        return AcceptedText()
    if not request.force_secrets:
        raise refusal(lines)
    more = (f"{what}: {len(lines) - _MAX_WARNINGS} more such lines",) if len(lines) > _MAX_WARNINGS else ()
    told = warnings([*lines[:_MAX_WARNINGS], *more])
    return AcceptedText(told, audit_event(SecretFindings(tuple(lines), tuple(kinds)), request.stamp))

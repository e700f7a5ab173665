"""Refuses to write text that looks like a credential or is invisible, unless the write is forced, which is audited.

Only new findings count: one that is already in the file, or moves from one file of a plan to another, is reported by
lint. Messages contain the kind and the line, never the value of a secret. Logs and other texts that become artifacts
are checked for secrets here too.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from functools import partial

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model.names import own_file
from taskstate.model.task_state import is_json_fence
from taskstate.secrets import scan
from taskstate.secrets.scan import Secret
from taskstate.storage import files, folders
from taskstate.storage.cache import Cache
from taskstate.storage.transaction import Append, Create, Replace, paths_of
from taskstate.syntax import invisible
from taskstate.syntax.document import parse
from taskstate.syntax.spans import Span, line_end, line_start, line_starts
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.credential_signs import MULTILINE_MARKERS
from taskstate.validation.occurrences import occurrences
from taskstate.writing.event_log import add_event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.model.config import Config
    from taskstate.model.write_metadata import WriteMetadata
    from taskstate.storage.transaction import Plan
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request


_HELP = (
    "delete it in the text or its source, and name the place where it is kept; if it is not a secret, add a pattern for"
    " it to `secrets.allow` of the configuration, write it with --force-secrets or, in free text, end its line with the"
    " comment `taskstate: allow secret`"
)
INVISIBLE = "invisible text"  # the kind of a finding that is no secret: what nobody sees, and a program reads
_INVISIBLE_HELP = (
    "delete these characters from the text or the source that it comes from, or write their names; what a script or an"
    " emoji needs is allowed beside it; if they are meant, write them with --force-secrets"
)
_MAX_LISTED = 3  # findings in the message of an error


def warnings(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the warnings for findings, as worded by `describe`, that are written because the write is forced."""
    return tuple(f"warning: {line}; written anyway" for line in lines)


def refusal(lines: Sequence[str], kinds: Iterable[str] = ()) -> TaskstateError:
    """Return the error for findings of the given kinds, as worded by `describe`."""
    message = first_of(lines, _MAX_LISTED, separator="; ", last="; and ")
    if set(kinds) == {INVISIBLE}:
        return TaskstateError(message, help=_INVISIBLE_HELP, code="invisible-text")
    return TaskstateError(message, help=_HELP, code="secret")


def new_secrets(text: str, config: Config, old_texts: Iterable[str] = ()) -> tuple[Secret, ...]:
    """Return the possible credentials that `text` contains more often than the `old_texts` together."""
    findings = scan.find(text, config.secrets.allow)
    if not findings:
        return ()
    return exceeding(text, findings, "\n".join(old_texts))


def exceeding(text: str, findings: Sequence[Secret], old: str, others: str = "") -> tuple[Secret, ...]:
    """Return the findings that are new: for each value as many as it occurs more often than in `old` and `others`.

    A finding on a line that is no more frequent than in the `old` text is not new; the value may have been added on
    another line, where it is allowed.
    """
    lines, ends = re.split(_LINE_END, text), [each.start() for each in re.finditer(_LINE_END, text)]
    new_lines = Counter(lines)
    new_lines.subtract(re.split(_LINE_END, old))
    by_value: dict[str, list[Secret]] = {}
    for each in findings:
        value = each.span.of(text)
        if "\n" in value or new_lines[lines[bisect_left(ends, each.span.start)]] > 0:
            by_value.setdefault(value, []).append(each)
    more = occurrences(by_value, text)
    more.subtract(occurrences(by_value, old))
    more.subtract(occurrences(by_value, others))
    return tuple(sorted(each for value, same in by_value.items() for each in same[: max(more[value], 0)]))


def describe(text: str, findings: Sequence[Secret], name: str) -> tuple[str, ...]:
    """Return a line for each finding with its place and kind, never the value; `name` is how the text is called."""
    starts = line_starts(text) if findings else []
    lines = (bisect_right(starts, each.span.start) for each in findings)
    return tuple(f"{name}, line {line}: {_wording(text, each)}" for each, line in zip(findings, lines, strict=True))


def _wording(text: str, finding: Secret) -> str:
    if finding.kind == INVISIBLE:
        return f"there is invisible text here: {invisible.shown(finding.span.of(text))}"
    return f"this looks like {finding.kind}"


EVENT = "secrets-forced"  # of a forced write, in the audit


class SecretFindings(NamedTuple):
    """The findings in texts that are to be written: a line about each, and the kind of each.

    `allowed` has a line about each that is none because `secrets.allow` of the configuration says so.
    """

    lines: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


def new_secrets_in_plan(workspace: Workspace, plan: Plan, path: str = "", old: str = "") -> SecretFindings:
    """Return the new secrets in the texts that a plan writes, and what is invisible in those that are taskstate's own.

    In the file at `path`, which holds the text `old`, only changed lines are searched.
    """
    lines: list[str] = []
    kinds: list[str] = []
    allowed: list[str] = []
    for operation in plan:
        if isinstance(operation, Create | Replace | Append):
            name = f"what is added to {operation.path}" if isinstance(operation, Append) else operation.path
            before = old if operation.path == path else None
            for text, findings, is_allowed in _new_in_operation(workspace, plan, operation, before):
                described = describe(text, findings, name)
                allowed += described if is_allowed else ()
                lines += () if is_allowed else described
                kinds += () if is_allowed else [each.kind for each in findings]
    return SecretFindings(tuple(lines), tuple(kinds), tuple(allowed))


def _new_in_operation(
    workspace: Workspace, plan: Plan, operation: Create | Replace | Append, old: str | None
) -> Iterator[tuple[str, tuple[Secret, ...], bool]]:
    """Yield the text that an operation writes, in each form that is searched, what is new in it, and if it is allowed.

    Of a text that replaces the text `old` only changed lines are searched.
    """
    written = operation.data.decode(errors="replace")
    is_hidden = own_file(operation.path) and (not written.isascii() or "\\" in written)
    searches = (_secrets_in, *((_allowed_in,) if workspace.config.secrets.allow else ()))
    for searched in (*searches, _invisible_in) if is_hidden else searches:
        form = partial(_with_characters, name=operation.path) if searched is _invisible_in else str
        text = form(written)
        parts = (Span(0, len(text)),) if old is None else changed_parts(form(old), text)
        findings = [each for part in parts for each in searched(text, part, workspace)]
        if findings:
            before = "".join(map(form, _old_texts(workspace, (operation,)))) if isinstance(operation, Replace) else ""
            others = "\n".join(map(form, _old_texts(workspace, tuple(each for each in plan if each is not operation))))
            yield text, exceeding(text, findings, before, others), searched is _allowed_in


def _with_characters(text: str, name: str) -> str:
    """Return the text of a file of ours in which no hidden character of YAML and JSON is written as an escape."""
    unescaped = invisible.unescaped(text)
    if unescaped == text or name.endswith(".json"):
        return unescaped
    document = parse(text)
    fences = (block.content for block in document.blocks_in(Span(0, len(text)), "fence") if is_json_fence(block))
    parts, at = list[str](), 0
    for span in (document.front_matter.span or Span(0, 0), *fences):
        parts += [text[at : span.start], invisible.unescaped(span.of(text))]
        at = span.end
    return "".join([*parts, text[at:]])


def _secrets_in(text: str, part: Span, workspace: Workspace) -> Iterator[Secret]:
    yield from _moved(scan.find(part.of(text), workspace.config.secrets.allow), part)


def _only_allowed(text: str, allow: tuple[str, ...]) -> tuple[Secret, ...]:
    """Return what looks like a credential, and `find` leaves out because an expression of `allow` matches in it."""
    if not allow:
        return ()
    starts = [each.span.start for each in scan.find(text, allow)]
    return tuple(
        each for each in scan.find(text) if bisect_left(starts, each.span.start) == bisect_left(starts, each.span.end)
    )


def _allowed_in(text: str, part: Span, workspace: Workspace) -> Iterator[Secret]:
    yield from _moved(_only_allowed(part.of(text), workspace.config.secrets.allow), part)


def _moved(findings: Iterable[Secret], part: Span) -> Iterator[Secret]:
    for each in findings:
        yield each._replace(span=Span(part.start + each.span.start, part.start + each.span.end))


def _invisible_in(text: str, part: Span, _workspace: Workspace) -> Iterator[Secret]:
    for start, end in invisible.find(part.of(text)):
        yield Secret(Span(part.start + start, part.start + end), INVISIBLE)


def changed_parts(old: str, new: str) -> tuple[Span, ...]:
    """Return the parts of `new` that differ from `old`: a range of lines of the front matter, and one of the body.

    All of `new`, if it may contain a secret of several lines, such as a private key: an unchanged line can make a
    changed one part of a secret.
    """
    if any(sign in new for sign in MULTILINE_MARKERS):
        return (Span(0, len(new)),)
    # Two ranges: every write changes the front matter, and one range would reach from there to the end of the change.
    ends = [max(text.find(_HEAD_END, 1), 0) for text in (old, new)]
    head = _changed_lines(old[: ends[0]], new[: ends[1]])
    body = _changed_lines(old[ends[0] :], new[ends[1] :])
    return head, Span(ends[1] + body.start, ends[1] + body.end)


_LINE_END = r"\r\n?|\n"
_HEAD_END = "\n---"


def _changed_lines(old: str, new: str) -> Span:
    """Return the span of whole lines of `new` from the first to the last difference."""
    if old == new:
        return Span(0, 0)
    start = _common_length(old, new, 0)
    end = len(new) - _common_length(old, new, start, backwards=True)
    return Span(line_start(new, start), line_end(new, end))


def _common_length(old: str, new: str, excluded: int, *, backwards: bool = False) -> int:
    """Return the length of the common beginning of two texts, or of their common end without `excluded` characters.

    A binary search, which compares slices in C: comparing the characters one by one in Python would be slow.
    """
    low, high = 0, min(len(old), len(new)) - excluded
    while low < high:
        middle = (low + high + 1) // 2
        if backwards:
            same = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        else:
            same = old[low:middle] == new[low:middle]
        low, high = (middle, high) if same else (low, middle - 1)
    return low


def require_allowed(workspace: Workspace, findings: SecretFindings, request: Request) -> tuple[str, ...]:
    """Refuse a write with findings, or if it is forced return the warnings.

    Raises:
        TaskstateError: code "secret": there are findings and the write is not forced.
    """
    if findings.lines and not request.force_secrets:
        # The prefix, since these line numbers are not those of the file on disk.
        raise refusal([f"what would be written: {line}" for line in findings.lines], findings.kinds)
    return warnings_of(workspace, findings)


def warnings_of(workspace: Workspace, findings: SecretFindings) -> tuple[str, ...]:
    """Return the warnings for a write: what is forced, and what only the configuration allows unless that was said."""
    forced = warnings(findings.lines)
    if not findings.allowed or _said(workspace).get(_SAID):
        return forced
    shown = first_of(findings.allowed, _MAX_LISTED, separator="; ", last="; and ")
    return (*forced, f"warning: {shown}; it is written since `secrets.allow` says that it is not a secret")


def remember_said(workspace: Workspace, findings: SecretFindings, request: Request) -> None:
    """Remember that a write told what only the configuration allows: a clone says so once for the same patterns."""
    said = _said(workspace)
    if findings.allowed and not request.dry_run and not said.get(_SAID):
        said.put(_SAID, True)  # noqa: FBT003 - the entry, not a flag
        said.save()


_SAID = "said"


def _said(workspace: Workspace) -> Cache[bool]:
    patterns = "\n".join(workspace.config.secrets.allow)
    return Cache(workspace.private.cache("allowed-secrets.json"), bool, rests_on=patterns)


def audit_event(findings: SecretFindings, metadata: WriteMetadata) -> dict[str, object]:
    """Return the event that records a forced write in the audit: who, when, what kinds and how many of each."""
    counts = ", ".join(f"{kind} ({count})" for kind, count in sorted(Counter(findings.kinds).items()))
    return metadata.event(EVENT, note=counts)


def _old_texts(workspace: Workspace, plan: Plan) -> Iterator[str]:
    """Yield the present texts of the files that a plan changes."""
    for operation in plan:
        path = workspace.root / paths_of(operation)[0]
        if not isinstance(operation, Create) and folders.is_file(path):
            yield files.read(path).decode(errors="replace")


_MAX_WARNINGS = 3  # for one text


class AcceptedText(NamedTuple):
    """The result of checking a text that may be written: warnings, and the event for the audit if it was forced."""

    warnings: tuple[str, ...] = ()
    event: dict[str, object] | None = None

    def with_event(self, workspace: Workspace, text: str) -> tuple[str, Plan]:
        """Return a state file's text with the event in its audit, and the operations on its archive, as `add_event`."""
        return add_event(workspace, text, self.event) if self.event else (text, ())


def check_text(workspace: Workspace, pieces: Iterable[str], request: Request, *, name: str) -> AcceptedText:
    """Refuse a text that contains possible credentials, unless the write is forced.

    The text is given in pieces of whole lines. `name` is how messages call it.

    Raises:
        TaskstateError: code "secret".
    """
    lines: list[str] = []
    kinds: list[str] = []
    allowed: list[str] = []
    number = 1
    for text in pieces:
        counted = 0  # characters of this piece whose line ends are in `number` already
        refused = frozenset(new_secrets(text, workspace.config))
        for each in sorted((*refused, *_only_allowed(text, workspace.config.secrets.allow))):
            number += text.count("\n", counted, each.span.start)
            counted = each.span.start
            (lines if each in refused else allowed).append(f"{name}, line {number}: this looks like {each.kind}")
            kinds += [each.kind] if each in refused else []
        number += text.count("\n", counted)
    if lines and not request.force_secrets:
        raise refusal(lines)
    more = (f"{name}: {len(lines) - _MAX_WARNINGS} more such lines",) if len(lines) > _MAX_WARNINGS else ()
    found = SecretFindings((*lines[:_MAX_WARNINGS], *more), tuple(kinds), tuple(allowed))
    warned = warnings_of(workspace, found)
    remember_said(workspace, found, request)
    return AcceptedText(warned, audit_event(found, request.metadata) if lines else None)

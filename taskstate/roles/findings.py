"""Raises findings on roles, answers and clears them: each a step from text to text.

A later role raises a finding on the one whose work it looked at; that one answers it, and who raised it clears what was
answered. The steps take no lock and write nothing, so that several of them can be one change of the file.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.model.role_findings import Finding
from taskstate.model.statuses import BLOCKED, DONE, IN_PROGRESS, PENDING
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.roles.role_rules import clean_finding
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.model.write_metadata import WriteMetadata
    from taskstate.syntax.document import Document

RAISED, ANSWERED, CLEARED = "finding-raised", "finding-answered", "finding-cleared"


class Writing(NamedTuple):
    """The configured roles in their order, and who writes when; `in_log` says that a session tells what is written.

    What no session tells leaves an event.
    """

    names: tuple[str, ...]
    metadata: WriteMetadata
    in_log: bool = False


def with_raised(text: str, role: str, findings: tuple[str, ...], *, by: str, writing: Writing) -> str:
    """Return the text with findings on a role, numbered on from the highest; a text that is there is not added again.

    Raises:
        TaskstateError: one is longer than a line or two.
    """
    document = parse(text)
    blocks = blocks_of(document)
    known, number = list(blocks.role(role).all_findings), roles.highest_finding(blocks)
    events = []
    for line in dict.fromkeys(map(clean_finding, findings)):
        if all(each.text != line for each in known):
            number += 1
            known.append(Finding(number, by, line, None, None))
            events.append(writing.metadata.event(RAISED, note=line, role=role, finding=number, by=by))
    return _with_findings(document, {role: tuple(known)}, events, writing)


def with_answers(text: str, role: str, answers: Mapping[int, str], writing: Writing) -> str:
    """Return the text with answers to findings on a role, by their numbers; it is no longer blocked without open ones.

    Raises:
        TaskstateError: code "not-found": it has no such finding; an answer is longer than a line or two.
    """
    document = parse(text)
    own = blocks_of(document).role(role)
    lines = {number: clean_finding(answer, "the answer") for number, answer in answers.items()}
    _require_numbers(document, own.findings, lines, f"{role} has no finding")
    after = tuple(
        each._replace(answer=lines[each.number]) if each.number in lines else each for each in own.all_findings
    )
    new = [each for each in after if each.number in lines and each not in own.all_findings]
    event_of = writing.metadata.event
    events = [
        event_of(ANSWERED, note=lines[each.number], role=role, finding=each.number, text=each.text) for each in new
    ]
    return _with_findings(document, {role: after}, events, writing)


def with_cleared(text: str, by: str, writing: Writing, *, keep: Collection[int] = ()) -> str:
    """Return the text without the answered findings that `by` raised; those to `keep` lose their answer instead.

    Raises:
        TaskstateError: code "not-found": `by` raised no finding of a number to keep.
    """
    document = parse(text)
    own = [each for role in blocks_of(document).roles.values() for each in role.findings if each.by == by]
    _require_numbers(document, own, keep, f"{by} raised no finding")
    answered = {each.number for each in own if each.answer is not None} - {*keep}
    return _without(document, answered, writing, keep=keep)


def with_withdrawn(text: str, role: str, numbers: Collection[int], writing: Writing) -> str:
    """Return the text without some findings on a role, answered or not; without open ones it is no longer blocked.

    Raises:
        TaskstateError: code "not-found": it has no such finding.
    """
    document = parse(text)
    _require_numbers(document, blocks_of(document).role(role).findings, numbers, f"{role} has no finding")
    return _without(document, numbers, writing)


def unblocked_status(blocks: ToolBlocks, name: str, names: tuple[str, ...]) -> str:
    """Return the status of a role on which no finding is open: a blocked one is at work, or waits for the previous."""
    status = blocks.role(name).status
    if status != BLOCKED:
        return status
    previous = roles.previous_role(name, names) if name in names else None
    return IN_PROGRESS if previous is None or blocks.role(previous).status == DONE else PENDING


# Steps of them


def _without(document: Document, numbers: Collection[int], writing: Writing, *, keep: Collection[int] = ()) -> str:
    """Return the text with findings cleared, and an event for each with who raised, answered and cleared what.

    Those to `keep` stay, without their answer.
    """
    at, every = timestamp(writing.metadata.now), blocks_of(document).roles.values()

    def after(each: Finding) -> Finding:
        if each.is_cleared or each.number not in {*numbers, *keep}:
            return each
        return each._replace(answer=None) if each.number in keep else Finding(each.number, None, "", None, at)

    events = [
        writing.metadata.event(CLEARED, role=role.name, **_entry(each), finding=each.number)
        for role in every
        for each in role.findings
        if each.number in numbers
    ]
    changed = {role.name: tuple(map(after, role.all_findings)) for role in every}
    return _with_findings(document, changed, events, writing)


def _entry(finding: Finding) -> dict[str, object]:
    """Return what an event keeps of a finding."""
    return {key: value for key, value in finding.values().items() if key != "id"}


def _require_numbers(document: Document, known: Collection[Finding], numbers: Collection[int], what: str) -> None:
    missing = sorted({*numbers} - {each.number for each in known})
    if missing:
        task_id = read_state(document).id
        hint = f"these are there: {', '.join(str(each.number) for each in known)}" if known else "there is none"
        raise TaskstateError(f"task {task_id}: {what} {missing[0]}", help=hint, code="not-found")


def _with_findings(
    document: Document,
    findings: Mapping[str, tuple[Finding, ...]],
    events: Sequence[Mapping[str, object]],
    writing: Writing,
) -> str:
    """Return the text with the findings of some roles replaced, and with events.

    A role that none blocks any more is not blocked.
    """
    text, blocks = document.text, blocks_of(document)
    changed = {name: each for name, each in findings.items() if each != blocks.role(name).all_findings}
    if changed:
        unblocked = [name for name, each in changed.items() if not any(finding.is_open for finding in each)]
        statuses = {name: {"status": unblocked_status(blocks, name, writing.names)} for name in unblocked}
        block = roles.with_role_values(blocks, statuses, writing.names, findings_of=changed)
        text = apply(text, set_front_matter(document, "coordination", block))
    for event in () if writing.in_log else events:
        text = with_event(text, event)
    return text

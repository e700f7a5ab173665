"""Reads planning-with-files: a plan with phases of check boxes, its log of progress and its findings."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from taskstate.importing.reading.documents import outline_of
from taskstate.importing.reading.items import is_of_items, items
from taskstate.importing.reading.log import with_log
from taskstate.importing.reading.markdown import chapters, part_of, sections
from taskstate.importing.records import Count, Note, Other, Part, Record, Refused, Told
from taskstate.importing.words import status_of, time_of
from taskstate.model.statuses import COMPLETE
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from taskstate.importing.reading.markdown import Box, Outline
    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_PLAN, _LOG, _FINDINGS = "task_plan.md", "progress.md", "findings.md"
_FOLDER = ".planning"
_TITLE = re.compile(r"(?i)(?:task )?plan {0,3}[:\uff1a\u2013\u2014-] {0,3}")
_PHASE = re.compile(r"(?i)(?:phase|阶段) {0,3}(\d{1,4}(?:\.\d{1,4})?)")
_STATUS = re.compile(r"(?i)^[ \t]*(?:[-*+] )?\*{0,2}status:?\*{0,2}:? {0,9}(\S.*)$")
_GOALS = frozenset({"goal", "goals", "objective", "目标"})
_NEXT = frozenset({"next step", "next steps", "next action", "下一步"})
_PHASES = frozenset({"phases", "阶段"})
_GROUP = 2  # level of the headings of sections


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield a task for each plan."""
    source = source.beside(_LOG, _FINDINGS)
    plans = [name for name in source.names if _is_plan(source, name)]
    if not plans:
        yield Told("no-plan", f"no {_PLAN} lies in {source.own_name}: name its folder")
    yield from source.links(named=(_PLAN, _LOG, _FINDINGS))
    used = set[str]()
    for name in plans:
        beside = [f"{name.rpartition('/')[0]}/{each}".lstrip("/") for each in (_LOG, _FINDINGS)]
        used.update((name, *beside))
        yield from _plan(source, name, *(each if each in source.names else "" for each in beside))
    others = sum(name not in used and _FOLDER in PurePosixPath(name).parts for name in source.names)
    if others:
        yield Other("other file" + "s" * (others > 1), others)


def _is_plan(source: Source, name: str) -> bool:
    own = PurePosixPath(name).name
    return own == _PLAN or (not source.is_folder and own.endswith(".md") and own not in {_LOG, _FINDINGS})


def _id(source: Source, name: str) -> str:
    """Return the id of a plan: its folder's name, where it has one of its own."""
    parts = PurePosixPath(source.place(name).path).parts
    is_own = "/" in name or _FOLDER in parts[:-2]
    return source.folder_of(name).casefold() if is_own and parts[-2] != _FOLDER else "plan"


def _plan(source: Source, name: str, log: str, findings: str) -> Iterator[Found]:
    """Yield a plan as a task, with the files beside it."""
    whole, text = outline_of(source, name), str(source.markdown(name))
    if isinstance(whole, Refused):
        yield Count(1)
        yield whole
        return
    yield Count(1 + len(whole.boxes))
    record = Record(_id(source, name), "", source.place(name), text, is_container=True)
    if log:
        record, told = with_log(source, log, record)
        yield from told
    found = source.markdown(findings) if findings else ""
    if isinstance(found, Refused):
        yield Count(1)
        yield found
    elif found.strip():
        record = record._replace(notes=(*record.notes, Note(_FINDINGS, found)), said=[record.said, found])
    yield from _contradictions(whole, text, record.place)
    yield _record(record, text, whole)


def _record(record: Record, text: str, whole: Outline) -> Record:
    """Return the task of a plan, given what the files beside it say."""
    heading = next((each.title for each in sections(text) if each.level == 1), "")
    groups = chapters(whole.rest.replace(f"# {heading}\n", "", 1) if heading else whole.rest, _GROUP)
    goal, ahead, lead = (
        "\n\n".join(each.text for each in groups if each.title.casefold() in titles) for titles in (_GOALS, _NEXT, {""})
    )
    dated = [each for each in record.sessions if time_of(each.time)]
    newest = max(dated, key=lambda each: time_of(each.time), default=None)
    steps = [item.text for item in items(ahead)] if newest else []
    placed = _GOALS | {""} | (_NEXT if steps and is_of_items(ahead) else frozenset())
    notes = [Note(each.title, each.text) for each in groups if each.title.casefold() not in placed and each.text]
    shown = {each.title for each in (*notes, *record.notes)}
    gone = (each.title for each in sections(text) if each.level == _GROUP and each.title not in shown)
    criterion = next((Part(each.text) for each in items(goal)), None)
    if newest:
        with_steps = newest._replace(next=tuple(dict.fromkeys((*newest.next, *steps))))
        record = record._replace(sessions=tuple(with_steps if each is newest else each for each in record.sessions))
    return record._replace(
        title=_TITLE.sub("", heading, count=1).strip() or record.id,
        description="\n\n".join(filter(None, (lead, goal))),
        criteria=(criterion,) if criterion else (),
        features=tuple(_features(whole.boxes, {heading.casefold(), *_PHASES})),
        notes=(*notes, *record.notes),
        became=(heading, *gone),
    )


def _features(boxes: Sequence[Box], unsaid: Collection[str]) -> Iterator[Part]:
    """Yield a feature for each box: `p1-2` is the second of phase 1, and `p1` a box that is itself a phase.

    Headings that say nothing of a box, as the title does, are `unsaid`.
    """
    numbers: dict[str, int] = {}
    for box in boxes:
        own = _PHASE.match(box.text)
        phase = next((match[1] for each in reversed(box.headings) if (match := _PHASE.search(each))), "")
        if own and not phase:
            feature_id = f"p{own[1]}"
        else:
            numbers[phase] = numbers.get(phase, 0) + 1
            feature_id = f"p{phase}-{numbers[phase]}" if phase else ""
        headings = tuple(each for each in box.headings if each.casefold() not in unsaid)
        yield part_of(box._replace(headings=headings), feature_id)


def _contradictions(whole: Outline, text: str, place: Place) -> Iterator[Told]:
    """Yield a line for each phase whose status is done while a box of it is open, or the other way round."""
    for each in sections(text):
        match = next((match for line in each.text.split("\n") if (match := _STATUS.match(line))), None)
        boxes = [box.done for box in whole.boxes if box.headings and box.headings[-1] == each.title]
        if match and boxes and _PHASE.search(each.title) and (status_of(match[1]) == COMPLETE) != all(boxes):
            why = (
                f"{each.title} is {match[1]!r}, and {sum(boxes)} of its {len(boxes)} boxes are ticked: the boxes count"
            )
            yield Told("phase-status", why, place._replace(line=each.line))

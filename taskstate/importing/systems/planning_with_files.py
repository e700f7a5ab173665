"""Reads planning-with-files: a plan with phases of check boxes, its log of progress and its findings."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from taskstate.importing.reading.items import items
from taskstate.importing.reading.log import Log, entries_in, log
from taskstate.importing.reading.markdown import grouped, outline, part_of, sections
from taskstate.importing.records import Count, Note, Other, Part, Record, Refused, Told
from taskstate.importing.words import status_of, time_of
from taskstate.model.statuses import COMPLETE
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from taskstate.importing.reading.markdown import Box, Outline
    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Dated, Found, Options, Place

_PLAN, _LOG, _FINDINGS = "task_plan.md", "progress.md", "findings.md"
_FOLDER = ".planning"
_TITLE = re.compile(r"(?i)(?:task )?plan {0,3}[:\uff1a\u2013\u2014-] {0,3}")
_PHASE = re.compile(r"(?i)(?:phase|阶段) {0,3}(\d{1,4}(?:\.\d{1,4})?)")
_STATUS = re.compile(r"(?i)^[ \t]*(?:[-*+] )?\*{0,2}status:?\*{0,2}:? {0,9}(\S.*)$")
_GOALS = frozenset({"goal", "goals", "objective", "目标"})
_NEXT = frozenset({"next step", "next steps", "next action", "下一步"})
_PHASES = frozenset({"phases", "阶段"})
_GROUP = 2  # level of the headings of sections


class _Files(NamedTuple):
    """What a plan is made of: its text, its boxes, its log and its findings."""

    text: str
    whole: Outline
    log: Log
    findings: str


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield a task for each plan."""
    source = source.beside(_LOG, _FINDINGS)
    plans = [name for name in source.names if _is_plan(source, name)]
    if not plans:
        yield Told("no-plan", f"no {_PLAN} lies in {source.own_name}: name its folder")
    for refused in source.links_named(_PLAN, _LOG, _FINDINGS):
        yield Count(1)
        yield refused
    used = set[str]()
    for name in plans:
        beside = {each: f"{name.rpartition('/')[0]}/{each}".lstrip("/") for each in (_LOG, _FINDINGS)}
        used.update((name, *beside.values()))
        yield from _plan(source, name, {key: each for key, each in beside.items() if each in source.names})
    others = [name for name in source.names if name not in used and _FOLDER in PurePosixPath(name).parts]
    if others:
        yield Other("other file" + "s" * (len(others) > 1), len(others))


def _is_plan(source: Source, name: str) -> bool:
    own = PurePosixPath(name).name
    return own == _PLAN or (not source.is_folder and own.endswith(".md") and own not in {_LOG, _FINDINGS})


def _id(source: Source, name: str) -> str:
    """Return the id of a plan: its folder's name, where it has one of its own."""
    parts = PurePosixPath(source.place(name).path).parts
    is_own = "/" in name or _FOLDER in parts[:-2]
    return source.folder_of(name).casefold() if is_own and parts[-2] != _FOLDER else "plan"


def _plan(source: Source, name: str, beside: dict[str, str]) -> Iterator[Found]:
    text = source.markdown(name)
    whole = outline(text) if isinstance(text, str) else None
    if isinstance(text, Refused) or whole is None or whole.too_deep:
        yield Count(1)
        place = source.place(name, whole.too_deep if whole else 1)
        deep = Refused(place, "too-deep", "lists are nested more than 64 levels deep")
        yield text if isinstance(text, Refused) else deep
        return
    yield Count(1 + len(whole.boxes))
    found, findings = Log((), "", ()), ""
    for key, each in beside.items():
        other = source.markdown(each)
        if isinstance(other, Refused):
            yield Count(1)
            yield other
        elif key == _LOG:
            found = log(other)
            yield Count(entries_in(other))
        else:
            findings = other
    yield from _contradictions(whole, text, source.place(name))
    yield _record(source, name, _Files(text, whole, found, findings))


def _record(source: Source, name: str, files_: _Files) -> Record:
    text, whole, found, findings = files_
    heading = next((each.title for each in sections(text) if each.level == 1), "")
    title = _TITLE.sub("", heading, count=1).strip() or _id(source, name)
    groups = grouped(whole.rest.replace(f"# {heading}\n", "", 1) if heading else whole.rest)
    goal = "\n\n".join(body for group, body in groups if group.casefold() in _GOALS)
    ahead = [body for group, body in groups if group.casefold() in _NEXT]
    lead = "\n\n".join(body for group, body in groups if not group)
    newest = max(
        (each for each in found.sessions if time_of(each.time)), key=lambda each: time_of(each.time), default=None
    )
    steps = tuple(item.text for body in ahead for item in items(body)) if newest else ()
    placed = _GOALS | {""} | (_NEXT if steps else frozenset())
    notes = [Note(group, body) for group, body in groups if group.casefold() not in placed and body]
    notes += [Note(key, body) for key, body in ((_LOG, found.rest), (_FINDINGS, findings)) if body.strip()]
    shown = {each.title for each in notes}
    criterion = next((each.text for each in items(goal)), "")
    return Record(
        id=_id(source, name),
        title=title,
        place=source.place(name),
        said=[text, *found.said, found.rest, findings],
        is_container=True,
        description="\n\n".join(filter(None, (lead, goal))),
        criteria=(Part(criterion),) if criterion else (),
        features=tuple(_features(whole.boxes, {heading.casefold(), *_PHASES})),
        sessions=tuple(_with_next(each, steps) if each is newest else each for each in found.sessions),
        notes=tuple(notes),
        became=(heading, *(each.title for each in sections(text) if each.level == _GROUP and each.title not in shown)),
    )


def _with_next(session: Dated, steps: Sequence[str]) -> Dated:
    return session._replace(next=(*session.next, *(each for each in steps if each not in session.next)))


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

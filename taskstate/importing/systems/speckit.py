"""Reads Spec Kit: a folder below `specs/` is a task, a box in its `tasks.md` a feature.

With `--split` each phase or user story becomes a task of its own below that of its folder.
"""

from __future__ import annotations

import re
from collections import Counter

from taskstate.importing.reading import documents
from taskstate.importing.reading.markdown import Section, chapters, joined, sections
from taskstate.importing.records import Count, Note, Other, Record
from taskstate.importing.systems.checklist import slug
from taskstate.model.names import MAX_ID
from taskstate.model.statuses import IN_PROGRESS
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Part, Place

_SPEC, _TASKS = "spec.md", "tasks.md"
_ID = re.compile(r"\A\[?\*{0,2}(T-?\d+[A-Za-z]?(?:\.\d+)*)\]?[:.)]?\*{0,2}[:.)]?(?:\s+|$)")
_FORM = documents.Form(
    ("specs", ".specify/specs"), (_TASKS, _SPEC, "plan.md"), _ID, re.compile(r"(?i)(?:spec|tasks)\.md"), may_stay=True
)
_NUMBER = re.compile(r"\d{8}-\d{6}|\d+")
_KIND = re.compile(
    r"(?i)(?:(?:feature )?spec(?:ification)?(?: \d+)?|(?:implementation )?(?:tasks?|plan)|feature)(?:: *|$)"
)
_HEADER = re.compile(r"(?m)^(?:> *)?\*{0,2}(Feature Branch|Created|Status)\*{0,2} *:\*{0,2} *(\S.*)$\n?")
_DESCRIBED = re.compile(r"(?i)user (?:scenario|stor)|requirement|overview|summary")
_LABEL = re.compile(r"(?i)\*{0,2}acceptance (?:scenarios?|criteria)\*{0,2} *:?\*{0,2}")
_DEMAND = re.compile(r"(?is)\A\*{0,2}(?:given\b.*\bthen\b|SC-\d+)")
_SUCCESS = re.compile(r"(?i)\*{0,2}SC-\d+")
_STORY = re.compile(r"(?i)\b(?:user story|US)[ -]?(\d+)\b")
_STORY_LEVEL = 3
_KEY = 20  # characters of a title in an id
_OWN_FIELDS = ("Status", "Created")
_PHASE = re.compile(r"(?i)\bphase +(\d+(?:\.\d+)*)")
_PRIORITY = re.compile(r"(?i)\(priority: *(p\d)\)")
_CHECKPOINT = re.compile(r"(?im)^\*{0,2}checkpoint\*{0,2} *:\*{0,2} *(\S.*)$")
_WAITS = re.compile(r"(?i)\((depends on [^()\n]{1,200})\)")


class _Spec(NamedTuple):
    """What a `spec.md` says; each criterion stands as it stood, with the number of its user story."""

    title: str
    fields: Mapping[str, object]
    text: str
    described: str
    notes: tuple[Note, ...]
    criteria: tuple[tuple[str, str], ...]


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield a task for each folder of a feature, or one for it and one for each of its phases."""
    for each in documents.folders_in(source, _FORM):
        if isinstance(each, documents.Folder):
            place, spec, tasks = source.place(each.first), _spec_of(each.text(_SPEC)), each.text(_TASKS)
            split = _split(each, place, spec, *documents.body_of(tasks)) if options.split else []
            yield from split or [_task(each, place, spec, *documents.body_of(tasks))]
        else:
            yield each
    rules = [each for each in source.names if each.rpartition("/")[2] == "constitution.md"]
    if rules:
        yield Other("constitution", len(rules), "`taskstate permanent update` takes its rules")


def _spec_of(text: str) -> _Spec:
    """Return what a specification says, with its criteria taken out."""
    fields, body = documents.body_of(text)
    title, parts = documents.titled(body)
    kept, criteria, story = list[Section](), list[tuple[str, str]](), ""
    for each in parts:
        said = each.text
        if not each.level:
            fields |= {match[1]: match[2].strip("` \t") for match in _HEADER.finditer(said)}
            said = _HEADER.sub("", said)
        elif each.level <= _STORY_LEVEL:
            story = _number(_STORY, each.title)
        rest, found = documents.demands_in(said, _LABEL, _DEMAND, below=_LABEL.fullmatch(each.title) is not None)
        criteria += [("" if _is_measure(raw) else story, raw) for raw in found]
        kept.append(each._replace(text=rest))
    pruned, _ = documents.pruned(kept)
    described, notes = documents.told_apart(pruned, _DESCRIBED)
    criteria.sort(key=lambda each: _is_measure(each[1]))
    return _Spec(_name(title), fields, joined(pruned), described, notes, tuple(criteria))


def _name(heading: str) -> str:
    """Return what a heading names; empty for one that was left as the template has it."""
    name = _KIND.sub("", heading, count=1)
    return "" if name[:1] == "[" else name


def _is_measure(raw: str) -> bool:
    return _SUCCESS.match(documents.criterion(raw).text) is not None


def _number(pattern: re.Pattern[str], title: str) -> str:
    match = pattern.search(title)
    return match[1] if match else ""


def _task(folder: documents.Folder, place: Place, spec: _Spec, values: dict[str, Any], body: str) -> Record:
    """Return a folder as a task, with the boxes that stand in a text of its `tasks.md`."""
    tasks = documents.tasks_in(body, _ID)
    words = re.sub(r"^[\d-]+|[-_]+", " ", folder.name).strip().capitalize()
    title = spec.title or _name(tasks.heading) or words or folder.name
    status, created = (str(spec.fields.get(key, "")) for key in _OWN_FIELDS)
    fields = {key: each for key, each in spec.fields.items() if key not in _OWN_FIELDS} | values
    is_other = _KIND.sub("", tasks.heading, count=1) not in {"", title}
    fields |= {"title of tasks.md": tasks.heading} if is_other else {}
    demands = [raw for _, raw in spec.criteria]
    said = {_SPEC: [spec.title, spec.fields, spec.text, demands], _TASKS: [values, tasks.said], **folder.said}
    return Record(
        id=_short(folder.name, MAX_ID),
        title=title,
        place=place,
        said=said,
        is_container=True,
        status=status,
        created_at=created,
        description=spec.described,
        criteria=tuple(map(documents.criterion, demands)),
        features=_features(tasks, body),
        fields=fields,
        notes=(*spec.notes, Note(_TASKS, tasks.rest), *folder.notes),
        became=(tasks.heading, status, created, *tasks.gone),
    )


def _short(own: str, most: int) -> str:
    """Return the name of a folder as an id: one that is too long is its number."""
    number = _NUMBER.match(own)
    return number[0] if number and len(own) > most else own


def _features(tasks: documents.Tasks, text: str) -> tuple[Part, ...]:
    """Return the boxes of a text as features; what they wait for, and at a phase's end its check, is in their notes."""
    checks = {each.title: match[1] for each in chapters(text, 1, 2) if (match := _CHECKPOINT.search(each.text))}
    found: list[Part] = []
    following = [*(each.headings for each in tasks.boxes[1:]), ()]  # one too many where there is no box
    for box, part, after in zip(tasks.boxes, tasks.features, following, strict=False):
        ended = [f"Checkpoint: {checks[each]}" for each in box.headings if each in checks and each not in after]
        notes = "\n".join(filter(None, (part.notes, *ended, *_WAITS.findall(box.text))))
        found.append(part._replace(notes=notes))
    return tuple(found)


def _split(
    folder: documents.Folder, place: Place, spec: _Spec, values: dict[str, Any], body: str
) -> list[Record | Count]:
    """Return a folder as a task and one for each of its phases; nothing if these do not hold all its boxes."""
    level = min((each.level for each in sections(body) if each.level > 1 and _key(each.title)), default=2)
    parts = [(each, documents.boxes_in(each.text, _ID).boxes) for each in chapters(body, *range(1, level + 1))]
    phases = [each for each, boxes in parts if each.level == level and boxes]
    rest = joined(each for each, boxes in parts if each.level != level or not boxes)
    boxes = [box for _, found in parts for box in found]
    if not phases or len(boxes) != folder.boxes:
        return []
    stories = {_number(_STORY, each.title) for each in phases} - {""}
    own = spec._replace(criteria=tuple(each for each in spec.criteria if each[0] not in stories))
    begun = IN_PROGRESS if any(box.done for box in boxes) else ""
    parent = _task(folder, place, own, values, rest)._replace(is_epic=True, state=begun)
    return [Count(len(phases)), parent, *_phases(spec, phases, parent)]


def _key(title: str) -> str:
    """Return what the id of a phase ends with, by its number or that of its user story; empty for another heading."""
    phase, story = _number(_PHASE, title), _number(_STORY, title)
    return f"p{phase}" if phase else f"us{story}" if story else ""


def _phases(spec: _Spec, phases: Sequence[Section], parent: Record) -> Iterator[Record]:
    """Yield the tasks of phases, each after that before it."""
    seen, before, used = Counter[str](), "", {""}
    for part in phases:
        key = _key(part.title) or slug(part.title)[:_KEY] or "part"
        seen[key] += 1
        suffix = f"-{key}" if seen[key] == 1 else f"-{key}-{seen[key]}"
        tasks, story = documents.tasks_in(part.text, _ID), _number(_STORY, part.title)
        criteria = [raw for of, raw in spec.criteria if of == story and story not in used]
        used.add(story)
        own = f"{_short(parent.id, MAX_ID - len(suffix))}{suffix}"
        yield Record(
            id=own,
            title=part.title,
            place=parent.place._replace(line=part.line),
            said=[part.title, tasks.said, criteria],
            is_container=True,
            status=parent.status,
            priority=_number(_PRIORITY, part.title),
            description=tasks.rest,
            criteria=tuple(map(documents.criterion, criteria)),
            features=_features(tasks, part.text),
            depends_on=(before,) if before else (),
            parent=parent.id,
            became=tasks.gone,
        )
        before = own

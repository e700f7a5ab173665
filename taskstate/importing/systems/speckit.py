"""Reads Spec Kit: a folder below `specs/` is a task, a box in its `tasks.md` a feature.

With `--split` each phase or user story becomes a task of its own below that of its folder.
"""

from __future__ import annotations

import re
from collections import Counter

from taskstate.importing.reading import documents
from taskstate.importing.reading.markdown import Section, sections
from taskstate.importing.records import Count, Note, Other, Part, Place, Record
from taskstate.importing.systems.checklist import slug
from taskstate.model.names import MAX_ID
from taskstate.model.statuses import IN_PROGRESS
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options

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
    """What a `spec.md` says; each criterion stands with the number of its user story, and as it stood."""

    title: str
    fields: Mapping[str, object]
    text: str
    described: str
    notes: tuple[Note, ...]
    criteria: tuple[tuple[str, Part, str], ...]


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield a task for each folder of a feature, or one for it and one for each of its phases."""
    for each in documents.folders_in(source, _FORM):
        yield from _feature(source, each, options) if isinstance(each, documents.Folder) else [each]
    rules = [each for each in source.names if each.rpartition("/")[2] == "constitution.md"]
    if rules:
        yield Other("constitution", len(rules), "`taskstate permanent update` takes its rules")


def _feature(source: Source, folder: documents.Folder, options: Options) -> list[Found]:
    split = _split(source, folder) if options.split else []
    if split:
        return split
    record = _task(folder, _spec_of(folder.text(_SPEC)), *documents.body_of(folder.text(_TASKS)))
    return [record._replace(place=source.place(folder.first))]


# The specification


def _spec_of(text: str) -> _Spec:
    """Return what a specification says, with its criteria taken out."""
    values, body = documents.body_of(text)
    title, parts = documents.titled(body)
    fields = dict(values)
    kept, scenarios, measures, story = list[Section](), list[tuple[str, Part, str]](), list[tuple[str, Part, str]](), ""
    for each in parts:
        said = each.text
        if not each.level:
            fields |= {match[1]: match[2].strip("` \t") for match in _HEADER.finditer(said)}
            said = _HEADER.sub("", said)
        elif each.level <= _STORY_LEVEL:
            story = _number(_STORY, each.title)
        found = documents.demands_in(said, _LABEL, _DEMAND, is_labelled=_LABEL.fullmatch(each.title) is not None)
        for part, raw in found.found:
            is_measure = _SUCCESS.match(part.text) is not None
            (measures if is_measure else scenarios).append(("" if is_measure else story, part, raw))
        kept.append(each._replace(text=found.rest))
    pruned, _ = documents.pruned(kept)
    described, notes = documents.told_apart(pruned, _DESCRIBED)
    name = _KIND.sub("", title, count=1)
    criteria = (*scenarios, *measures)
    return _Spec("" if name[:1] == "[" else name, fields, documents.joined(pruned), described, notes, criteria)


def _number(pattern: re.Pattern[str], title: str) -> str:
    match = pattern.search(title)
    return match[1] if match else ""


# The tasks


def _task(folder: documents.Folder, spec: _Spec, values: dict[str, Any], body: str) -> Record:
    """Return a folder as a task but for its place, with the boxes that stand in a text of its `tasks.md`."""
    tasks = documents.tasks_in(body, _ID)
    name = _KIND.sub("", tasks.heading, count=1)
    words = re.sub(r"^[\d-]+|[-_]+", " ", folder.name).strip().capitalize()
    title = spec.title or ("" if name[:1] == "[" else name) or words or folder.name
    status, created = (str(spec.fields.get(key, "")) for key in _OWN_FIELDS)
    fields = {key: each for key, each in spec.fields.items() if key not in _OWN_FIELDS} | values
    fields |= {"title of tasks.md": tasks.heading} if name not in {"", title} else {}
    criteria = [raw for _, _, raw in spec.criteria]
    said = {_SPEC: [spec.title, spec.fields, spec.text, criteria], _TASKS: [values, tasks.said], **folder.others.said}
    return Record(
        id=_short(folder.name, MAX_ID),
        title=title,
        place=Place(folder.first),
        said=said,
        is_container=True,
        status=status,
        created_at=created,
        description=spec.described,
        criteria=tuple(part for _, part, _ in spec.criteria),
        features=_features(tasks, body),
        fields=fields,
        notes=(*spec.notes, Note(_TASKS, tasks.rest), *folder.others.notes),
        became=(tasks.heading, status, created, *tasks.gone),
    )


def _short(own: str, most: int) -> str:
    """Return the name of a folder as an id: one that is too long is its number."""
    number = _NUMBER.match(own)
    return number[0] if number and len(own) > most else own


def _features(tasks: documents.Tasks, text: str) -> tuple[Part, ...]:
    """Return the boxes of a text as features; what they wait for, and at a phase's end its check, is in their notes."""
    checks = {each.title: match[1] for each in documents.chapters(text) if (match := _CHECKPOINT.search(each.text))}
    found = list[Part]()
    following = [*(each.headings for each in tasks.boxes[1:]), ()]  # one too many where there is no box
    for box, part, after in zip(tasks.boxes, tasks.features, following, strict=False):
        ended = [f"Checkpoint: {checks[each]}" for each in box.headings if each in checks and each not in after]
        notes = "\n".join(filter(None, (part.notes, *ended, *_WAITS.findall(box.text))))
        found.append(part._replace(notes=notes))
    return tuple(found)


# Phases as tasks


def _split(source: Source, folder: documents.Folder) -> list[Found]:
    """Return a folder as a task and one for each of its phases; nothing if these do not hold all its boxes."""
    values, body = documents.body_of(folder.text(_TASKS))
    level = min((each.level for each in sections(body) if each.level > 1 and _key(each.title)), default=2)
    parts = [(each, documents.boxes_in(each.text, _ID)) for each in documents.chapters(body, level)]
    phases = [each for each, found in parts if each.level == level and found.boxes]
    rest = documents.joined(each for each, found in parts if each.level != level or not found.boxes)
    boxes = [box for text in (*(each.text for each in phases), rest) for box in documents.boxes_in(text, _ID).boxes]
    if not phases or len(boxes) != folder.boxes:
        return []
    spec = _spec_of(folder.text(_SPEC))
    stories = {_number(_STORY, each.title) for each in phases} - {""}
    own = spec._replace(criteria=tuple(each for each in spec.criteria if each[0] not in stories))
    parent = _task(folder, own, values, rest)
    begun = IN_PROGRESS if any(box.done for box in boxes) else ""
    parent = parent._replace(place=source.place(folder.first), is_epic=True, state=begun)
    tasks = _phases(spec, phases, parent)
    return [
        Count(len(phases)),
        parent,
        *(each._replace(place=source.place(folder.first, part.line)) for each, part in zip(tasks, phases, strict=True)),
    ]


def _key(title: str) -> str:
    """Return what the id of a phase ends with, by its number or that of its user story; empty for another heading."""
    phase, story = _number(_PHASE, title), _number(_STORY, title)
    return f"p{phase}" if phase else f"us{story}" if story else ""


def _phases(spec: _Spec, phases: Sequence[Section], parent: Record) -> Iterator[Record]:
    """Yield the tasks of phases, each after that before it."""
    seen, before, used = Counter[str](), "", set[str]()
    for part in phases:
        key = _key(part.title) or slug(part.title)[:_KEY] or "part"
        seen[key] += 1
        suffix = f"-{key}" if seen[key] == 1 else f"-{key}-{seen[key]}"
        own = f"{_short(parent.id, MAX_ID - len(suffix))}{suffix}"
        tasks = documents.tasks_in(part.text, _ID)
        story = _number(_STORY, part.title)
        criteria = [(each, raw) for of, each, raw in spec.criteria if of == story and story not in used | {""}]
        used.add(story)
        yield Record(
            id=own,
            title=part.title,
            place=parent.place,
            said=[part.title, tasks.said, [raw for _, raw in criteria]],
            is_container=True,
            status=parent.status,
            priority=_number(_PRIORITY, part.title),
            description=tasks.rest,
            criteria=tuple(each for each, _ in criteria),
            features=_features(tasks, part.text),
            depends_on=(before,) if before else (),
            parent=parent.id,
            became=tasks.gone,
        )
        before = own

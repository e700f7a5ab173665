"""Reads OpenSpec: a change is a task, a box in its `tasks.md` a feature, a scenario of its delta specs a criterion."""

from __future__ import annotations

import re

from taskstate.importing.reading import documents
from taskstate.importing.reading.markdown import Section, front_matter, sections
from taskstate.importing.records import Note, Other, Part, Place, Record
from taskstate.model.statuses import COMPLETE
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options

_PROPOSAL, _TASKS, _SETTINGS = "proposal.md", "tasks.md", ".openspec.yaml"
_ARCHIVE = "archive"
_OPERATION = 2  # level of the headings that say what becomes of requirements
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?=-)")
_KIND = re.compile(r"(?i)(?:change(?: proposal)?|proposal): *")
_NO_TITLE = re.compile(r"(?i)(?:change )?proposal|\W*")
_TASKS_TITLE = re.compile(r"(?i)(?:implementation )?tasks?(?: list)?")
_ID = re.compile(r"\A\*{0,2}(\d+(?:\.\d+)+[a-z]?|\d+(?=[.)]))[.):]?\*{0,2}[.):]?(?:\s+|$)")
_DESCRIBED = re.compile(r"(?i)^(?:why|what changes)")
_READ = re.compile(r"(?i)\A(?:(?:tasks|proposal)\.md|\.openspec\.yaml|specs/.+/spec\.md)")
_FORM = documents.Form(("openspec/changes", "changes"), (_TASKS, _PROPOSAL, _SETTINGS), _ID, _READ)
_GONE = re.compile(r"(?i)\b(?:removed|renamed)\b")
_REQUIREMENT = re.compile(r"(?i)requirement: *(.*)")
_SCENARIO = re.compile(r"(?i)scenario(?: *\d+)?: *(.*)")
_KEYWORD = re.compile(r"\*\*(GIVEN|WHEN|THEN|AND|BUT)\*\*")


class _Delta(NamedTuple):
    """What a delta spec demands, and what else it says; and what it says at all."""

    criteria: tuple[Part, ...]
    note: Note
    said: tuple[object, ...]


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield a task for each change, those in the archive included."""
    del options
    archived = list[Record]()  # they come last: an open change keeps a name that both have
    for each in documents.folders_in(source, _FORM):
        found = _change(source, each) if isinstance(each, documents.Folder) else each
        if isinstance(found, Record) and found.is_archived:
            archived.append(found)
        else:
            yield found
    yield from archived
    specs = source.below("openspec/specs") or (source.below("specs") if source.below("changes") else ())
    if specs:
        yield Other("specs describe what is", len(specs), "they are not tasks")


def _change(source: Source, folder: documents.Folder) -> Record:
    record = _record(folder)._replace(place=source.place(folder.first))
    if source.folder_of(folder.first, 1) != _ARCHIVE:
        return record
    return record._replace(state=COMPLETE, is_archived=True, closed_at=_date(folder.name))


def _date(name: str) -> str:
    match = _DATE.match(name)
    return match[0] if match else ""


def _record(folder: documents.Folder) -> Record:
    """Return a change as a task, but for its place and what the archive says of it."""
    own, proposal, settings = folder.name, folder.text(_PROPOSAL), folder.text(_SETTINGS)
    heading, parts = documents.titled(proposal)
    kept, gone = documents.pruned(parts)
    description, notes = documents.told_apart(kept, _DESCRIBED)
    all_titles = (_KIND.sub("", each.title) for each in sections(proposal) if each.level == 1)
    title = next((each for each in all_titles if not _NO_TITLE.fullmatch(each)), "")
    title = title or " ".join(re.split(r"[-_]+", own.removeprefix(_date(own)).lstrip("-"))) or own
    todo = documents.tasks_in(folder.text(_TASKS), _ID)
    values, unread = _settings(settings)
    is_named = todo.heading and not _TASKS_TITLE.fullmatch(todo.heading)
    fields = values | ({"title of tasks.md": todo.heading} if is_named else {})
    deltas = [_delta(called, text) for called, text in sorted(folder.texts.items()) if "/" in called]
    said: dict[str, object] = {
        _PROPOSAL: [heading, documents.joined(kept)],
        _TASKS: todo.said,
        _SETTINGS: values or settings,
    }
    said |= {**{each.note.title: each.said for each in deltas}, **folder.others.said}
    return Record(
        id=own,
        title=f"{title[:1].upper()}{title[1:]}",
        place=Place(own),
        said=said,
        is_container=True,
        created_at=str(values.get("created") or ""),
        description=description,
        criteria=tuple(part for each in deltas for part in each.criteria),
        features=todo.features,
        fields=fields,
        notes=(*notes, *(each.note for each in deltas), Note(_TASKS, todo.rest), *unread, *folder.others.notes),
        became=(heading, todo.heading, *todo.gone, *gone),
    )


def _settings(text: str) -> tuple[dict[str, object], tuple[Note, ...]]:
    """Return the values of a change's settings; as a note what is no YAML."""
    front = front_matter(f"---\n{text}\n---\n")
    return (front.values, ()) if front.values else ({}, (Note(_SETTINGS, documents.fenced(text)),))


def _delta(called: str, text: str) -> _Delta:
    """Return what a delta spec demands: each scenario, unless it is of requirements that go or get another name."""
    kept, criteria, said = list[Section](), list[Part](), list[object]()
    operation = requirement = ""
    for each in sections(text):
        operation = each.title if each.level <= _OPERATION else operation
        named, scenario = _REQUIREMENT.fullmatch(each.title), _SCENARIO.fullmatch(each.title)
        if named or each.level <= _OPERATION:
            requirement = named[1] if named else ""
        if scenario is None or _GONE.search(operation):
            kept.append(each)
            continue
        part = documents.criterion(_KEYWORD.sub(r"\1", each.text))
        about = ", ".join(filter(None, (requirement, scenario[1])))
        criteria.append(part._replace(text=": ".join(filter(None, (about, part.text)))))
        said.append([scenario[1], each.text])
    pruned, _ = documents.pruned(kept)
    rest = documents.joined(pruned)
    return _Delta(tuple(criteria), Note(called, rest), (rest, *said))

"""Reads OpenSpec: a change is a task, a box in its `tasks.md` a feature, a scenario of its delta specs a criterion."""

from __future__ import annotations

import re

from taskstate.importing.reading import documents
from taskstate.importing.reading.markdown import Section, front_matter, joined, sections
from taskstate.importing.records import Note, Other, Part, Record
from taskstate.model.statuses import COMPLETE
from taskstate.typed import TYPE_CHECKING

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


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield a task for each change, those in the archive included."""
    each_found = (
        _change(source, each) if isinstance(each, documents.Folder) else each
        for each in documents.folders_in(source, _FORM)
    )
    # Those in the archive come last: an open change keeps a name that both have.
    yield from sorted(each_found, key=lambda each: isinstance(each, Record) and each.is_archived)
    specs = source.below("openspec/specs") or (source.below("specs") if source.below("changes") else ())
    if specs:
        yield Other("specs describe what is", len(specs), "they are not tasks")


def _change(source: Source, folder: documents.Folder) -> Record:
    own, proposal, settings = folder.name, folder.text(_PROPOSAL), folder.text(_SETTINGS)
    heading, parts = documents.titled(proposal)
    kept, gone = documents.pruned(parts)
    description, notes = documents.told_apart(kept, _DESCRIBED)
    dated = _DATE.match(own)
    all_titles = (_KIND.sub("", each.title) for each in sections(proposal) if each.level == 1)
    words = " ".join(re.split(r"[-_]+", own[dated.end() if dated else 0 :].lstrip("-"))) or own
    title = next((each for each in all_titles if not _NO_TITLE.fullmatch(each)), words)
    todo = documents.tasks_in(folder.text(_TASKS), _ID)
    values = front_matter(f"---\n{settings}\n---\n").values or {}
    is_named = todo.heading and not _TASKS_TITLE.fullmatch(todo.heading)
    deltas = {called: _delta(text) for called, text in sorted(folder.texts.items()) if "/" in called}
    said: dict[str, object] = {_PROPOSAL: [heading, joined(kept)], _TASKS: todo.said, _SETTINGS: values or settings}
    unread = "" if values else documents.fenced(settings)
    texts = {called: rest for called, (_, rest, _) in deltas.items()} | {_TASKS: todo.rest, _SETTINGS: unread}
    is_archived = source.folder_of(folder.first, 1) == _ARCHIVE
    return Record(
        id=own,
        title=f"{title[:1].upper()}{title[1:]}",
        place=source.place(folder.first),
        said={**said, **{called: each for called, (_, _, each) in deltas.items()}, **folder.said},
        state=COMPLETE if is_archived else "",
        is_container=True,
        is_archived=is_archived,
        created_at=str(values.get("created") or ""),
        closed_at=dated[0] if dated and is_archived else "",
        description=description,
        criteria=tuple(part for found, _, _ in deltas.values() for part in found),
        features=todo.features,
        fields=values | ({"title of tasks.md": todo.heading} if is_named else {}),
        notes=(*notes, *(Note(called, text) for called, text in texts.items() if text), *folder.notes),
        became=(heading, todo.heading, *todo.gone, *gone),
    )


def _delta(text: str) -> tuple[list[Part], str, tuple[object, ...]]:
    """Return what a delta spec demands, what else it says, and what it says at all.

    Each scenario is a demand, unless it is of requirements that go or get another name.
    """
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
    rest = joined(documents.pruned(kept)[0])
    return criteria, rest, (rest, *said)

"""Reads Backlog.md: a folder with a Markdown file for each task, draft, and completed or archived task."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from taskstate.exporting import backlog_md
from taskstate.importing.reading.documents import TOO_DEEP
from taskstate.importing.reading.items import items
from taskstate.importing.reading.markdown import Section, chapters, front_matter, outline, part_of
from taskstate.importing.reading.values import Taking
from taskstate.importing.records import Count, Dated, Note, Other, Place, Record, Refused, Told
from taskstate.importing.words import status_of
from taskstate.model.statuses import COMPLETE, CREATED, DROPPED, IN_PROGRESS
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from taskstate.importing.reading.markdown import Box, Front
    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Part

_FOLDERS = ("tasks", "drafts", "completed", "archive/tasks", "archive/drafts")
_ROOT_CONFIG = "backlog.config.yml"
_OTHERS = {
    "docs": ("document", "a task can link what it needs"),
    "decisions": ("decision", "`taskstate permanent decide` records them"),
    "milestones": ("milestone", "the title of one is the epic of its tasks"),
    "": ("other file", ""),
}
_MARKER = re.compile(r"(?m)^[ \t]*<!-- ((?:SECTION:)?[A-Z_]{1,40}):(BEGIN|END) -->[ \t]*\n?")
_INDEX = re.compile(r"(?m)^([ \t]*[-*+] \[[^\]\n]?\] )#\d{1,9} ")
_REFERENCES = ("dependencies", "subtasks", "parent_task_id")
_DESCRIPTION, _SUMMARY, _DONE = "description", "final summary", "Definition of Done"
_PLAN, _NOTES = "implementation plan", "implementation notes"
_FEATURES = backlog_md.FEATURES.casefold()
_LISTS = ("acceptance criteria", _DONE.casefold())  # in this order
_PLACED = frozenset({"", _DESCRIPTION, _SUMMARY})


class _Project(NamedTuple):
    """What the whole folder says: its statuses in order, the prefix of its ids, and the titles of its milestones."""

    statuses: tuple[str, ...]
    prefix: str
    milestones: Mapping[str, str]


class _File(NamedTuple):
    """A task file: the folder that it lies in, its place and its text, its front matter, and its id as all spell it."""

    folder: str
    place: Place
    text: str
    front: Front
    id: str
    key: str


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield the tasks of a folder, or of the files that are named; the live ones first, which keep their ids."""
    base = _base(source)
    names = _task_files(source, base)
    if not names:
        where = "name the folder that holds `config.yml` and `tasks`, or a task file"
        yield Told("no-tasks", f"no task of Backlog.md lies in {source.own_name}: {where}")
    yield from _others(source, base, names)
    project = _project(source, base)
    yield Count(len(names))
    known = list[_File]()
    for each in (_file(source, name, folder, project) for name, folder in names.items()):
        if isinstance(each, Refused):
            yield each
            continue
        known.append(each)
        if each.front.lenient:
            why = f"{', '.join(each.front.lenient)}: no YAML as it stands, read as text to the end of the line"
            yield Told("lenient-front-matter", why, each.place)
    yield from source.links(*(f"{base}{folder}" for folder in _FOLDERS))
    spelled = {each.key: each.id for each in reversed(known)}
    spelled |= {each.id.casefold(): each.id for each in reversed(known)}  # one of exactly an id comes first
    for each in known:
        yield from _task(each, project, spelled)


def _base(source: Source) -> str:
    """Return where the folder of the tasks lies in the source: there itself, or in the repository that holds it."""
    if not source.is_folder or source.below(*_FOLDERS) or "config.yml" in source.names:
        return ""
    wanted = str(_values(source, _ROOT_CONFIG).get("backlog_directory") or "").strip("./")
    places = [each for each in (wanted, "backlog", ".backlog") if each]
    return next((f"{each}/" for each in places if source.below(each) or any(source.links(each))), "")


def _values(source: Source, name: str, frame: str = "---\n{}\n---\n") -> dict[str, Any]:
    """Return the values of a file of settings, or of a front matter; nothing of one that cannot be read."""
    text = source.text(name) if name in source.names else ""
    return front_matter(frame.format(text)).values or {} if isinstance(text, str) else {}


def _task_files(source: Source, base: str) -> dict[str, str]:
    """Return the files that are records with their folders, in the order in which ids are given."""
    if not source.is_folder:
        return {name: _folder_of(source, name) for name in source.names}
    return {
        name: folder
        for folder in _FOLDERS
        for name in source.below(f"{base}{folder}", ending=".md")
        if not name.casefold().endswith("/readme.md")
    }


def _folder_of(source: Source, name: str) -> str:
    """Return which of the folders a file that was itself named lies in."""
    whole = f"/{PurePosixPath(source.place(name).path).parent.parent.name}/{source.folder_of(name)}"
    return next((each for each in reversed(_FOLDERS) if whole.endswith(f"/{each}")), "tasks")


def _others(source: Source, base: str, tasks: Mapping[str, str]) -> Iterator[Other]:
    """Yield how many files are no tasks, by what they are."""
    others = [name.removeprefix(base) for name in source.names if name.startswith(base) and name not in tasks]
    numbers = Counter(next((each for each in name.split("/")[:-1] if each in _OTHERS), "") for name in others)
    for key, (what, advice) in _OTHERS.items():
        if numbers[key]:
            yield Other(what if numbers[key] == 1 else f"{what}s", numbers[key], advice)


def _project(source: Source, base: str) -> _Project:
    config = _values(source, _ROOT_CONFIG) | _values(source, f"{base}config.yml")
    files = source.below(f"{base}archive/milestones", f"{base}milestones", ending=".md")
    found = [_values(source, name, "{}") for name in files]
    titles = {str(each["id"]).casefold(): str(each["title"]) for each in found if each.get("id") and each.get("title")}
    return _Project(tuple(_texts(config.get("statuses"))), str(config.get("task_prefix") or "task"), titles)


def _texts(value: object) -> list[str]:
    """Return the texts of a list, or of a text with commas."""
    each = value if isinstance(value, list) else str(value or "").split(",")
    return [text for one in each if isinstance(one, str | int) and (text := str(one).strip())]


def _file(source: Source, name: str, folder: str, project: _Project) -> _File | Refused:
    text = source.markdown(name)
    if isinstance(text, Refused):
        return text
    front = front_matter(text)
    if front.fault:
        return Refused(source.place(name, front.line), "bad-yaml", f"its front matter cannot be read: {front.fault}")
    if front.values is None:
        why = "a task file begins with `---`; `import checklist` reads it as a list"
        return Refused(source.place(name), "no-front-matter", why)
    deep = outline(front.body).too_deep
    own, _, words = PurePosixPath(name).stem.partition(" - ")
    own_id = str(front.values.get("id") or own).strip()
    if deep:
        return Refused(source.place(name, front.lines + deep), "too-deep", TOO_DEEP, own_id)
    if not str(front.values.get("title") or "").strip():
        front.values["title"] = words.replace("-", " ").strip() or own
    at = re.search(r"(?m)^id:", text)
    place = source.place(name, text.count("\n", 0, at.start()) + 1 if at else 1)
    return _File(folder, place, text, front, own_id, _key(own_id, project.prefix))


def _key(own_id: str, prefix: str) -> str:
    """Return an id as all its spellings: case and zeros in front do not matter, and the usual prefix may stand or not.

    A project that changed its prefix keeps `task-7` in the references of older files.
    """
    text = own_id.casefold()
    bare = (text.removeprefix(f"{each.casefold()}-") for each in (prefix, "task"))
    return re.sub(r"(?<!\d)0{1,9}(?=\d)", "", next((each for each in bare if each[:1].isdigit()), text))


def _task(file: _File, project: _Project, spelled: Mapping[str, str]) -> Iterator[Found]:
    values = {**(file.front.values or {})}
    taking, (parts, unclosed) = Taking(values), _sections(file.front.body)
    if unclosed:
        why = f"{', '.join(unclosed)} begins and does not end: it goes on to the next heading"
        yield Told("unclosed-section", why, file.place)
    texts = taking.texts("title", "status", "priority", created_at="created_date", epic="milestone")
    status, milestone = texts["status"], texts["epic"]
    references = [_texts(taking.pop(key, None)) for key in _REFERENCES]
    depends_on, subtasks, parents = (
        tuple(spelled.get(each.casefold()) or spelled.get(_key(each, project.prefix)) or each for each in ids)
        for ids in references
    )
    state, word = _state(file.folder, status, project)
    taking.pop("id", None)
    fields = taking.fields() | ({} if word or not status or status_of(status) else {"status": status})
    became = [file.id, *[*texts.values()][1:], *(each for ids in references for each in ids)]
    became += [each for key in _REFERENCES if isinstance(each := values.get(key), str)]
    content = _content(parts)
    exported = next(iter(backlog_md.ids_in(file.text)), "")
    yield content._replace(
        **texts | {"status": word, "epic": project.milestones.get(milestone.casefold(), milestone)},
        id=file.id.casefold() if file.id.casefold().startswith("draft-") else file.id,
        place=file.place,
        said=[
            values,
            _INDEX.sub(r"\1", _MARKER.sub("", file.front.body)),
            [[each.id, each.text] for each in content.features],
        ],
        state=state,
        is_archived=file.folder.startswith("archive/"),
        updated_at=str(values.get("updated_date") or ""),
        closed_at=str(values.get("completed_date") or values.get("updated_date") or ""),
        depends_on=depends_on,
        parent=next(iter(parents), ""),
        subtasks=subtasks,
        labels=tuple(_texts(values.get("labels"))),
        fields=fields,
        became=(*became, *content.became, *(f"{each.id}: {each.text}" for each in content.features)),
        exported=exported,
        is_as_exported=bool(exported) and backlog_md.is_ours(file.text.encode()),
    )


def _state(folder: str, status: str, project: _Project) -> tuple[str, str]:
    """Return our status where the folder or the place of the word among the statuses decides, and the word else."""
    known = [each.casefold() for each in project.statuses]
    at = known.index(status.casefold()) if status.casefold() in known else -1
    by_place = {-1: "", 0: CREATED, len(known) - 1: COMPLETE}.get(at, IN_PROGRESS)
    ours = status_of(status) or by_place
    if folder == "completed" or (folder.startswith("archive/") and ours == COMPLETE):
        return COMPLETE, ""
    if folder.startswith("archive/"):
        return DROPPED, ""
    return ("" if status_of(status) else by_place), status


def _content(parts: Sequence[tuple[str, str]]) -> Record:
    """Return what the sections of a file make of its record."""
    shown = {title.casefold(): title for title, _ in reversed(parts)}
    bodies = {
        key: "\n\n".join(text for title, text in parts if text and title.casefold() == key)
        for key in dict.fromkeys(title.casefold() for title, _ in parts)
    }
    is_list = {key: key.startswith(_LISTS) or key == _FEATURES for key in bodies}
    lists = {key: outline(_INDEX.sub(r"\1", text)) for key, text in bodies.items() if is_list[key]}
    features = lists[_FEATURES].boxes if _FEATURES in lists else ()
    criteria = [
        part._replace(notes="\n".join(filter(None, (_DONE if key == _DONE.casefold() else "", part.notes))))
        for key in sorted(lists.keys() - {_FEATURES})
        for part in map(part_of, lists[key].boxes)
    ]
    plan, done = items(bodies.get(_PLAN, "")), items(bodies.get(_NOTES, ""))
    did = [each.text for each in done if not each.is_open] + [each.text for each in plan if each.is_done]
    ahead = [each.text for each in done if each.is_open] + [each.text for each in plan if not each.is_done]
    return Record(
        id="",
        title="",
        place=Place(""),
        said="",
        description="\n\n".join(filter(None, (bodies.get("", ""), bodies.get(_DESCRIPTION, "")))),
        summary=bodies.get(_SUMMARY, ""),
        criteria=tuple(criteria),
        features=tuple(map(_feature, features)),
        progress=Dated("", tuple(did), tuple(ahead)),
        notes=tuple(
            Note(shown[key], text.replace("\n---", "\n\n---"))
            for key, text in (bodies | {key: each.rest for key, each in lists.items()}).items()
            if key not in _PLACED and text.strip()
        ),
        became=tuple(title for title, _ in parts if title.casefold() in _PLACED | lists.keys()),
    )


def _feature(box: Box) -> Part:
    """Return a feature that was exported, with the id that stands before its text."""
    part = part_of(box)
    own_id, colon, text = part.text.partition(": ")
    return part._replace(id=own_id, text=text) if colon else part


def _sections(body: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return titles and texts of the sections, and the marks without end; a heading within marks begins no section."""
    ends: dict[str, re.Match[str]] = {}
    pairs: list[tuple[re.Match[str] | None, re.Match[str] | None]] = [(None, None)]
    unclosed = list[str]()
    for match in reversed([*_MARKER.finditer(body)]):
        if match[2] == "END":
            ends[match[1]] = match
        elif match[1] in ends:
            pairs.append((match, ends[match[1]]))
        else:
            unclosed.append(match[1].removeprefix("SECTION:"))
    found, at = [Section(0, "", "", 1)], 0
    for begin, end in reversed(pairs):
        if begin and begin.start() < at:
            continue
        outside = chapters(_MARKER.sub("", body[at : begin.start() if begin else len(body)]), 2)
        inside = body[begin.end() : end.start()] if begin and end else ""
        at = end.end() if end else at
        found[-1] = found[-1]._replace(text=f"{found[-1].text}\n\n{outside[0].text}".strip("\n"))
        found += outside[1:]
        found[-1] = found[-1]._replace(text=f"{found[-1].text}\n\n{inside}".strip("\n"))
    return [(each.title, each.text) for each in found if each.title or each.text], unclosed

"""Reads Backlog.md: a folder with a Markdown file for each task, draft, and completed or archived task."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from taskstate.exporting import backlog_md
from taskstate.importing.reading.items import items
from taskstate.importing.reading.markdown import front_matter, grouped, outline, part_of
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
_PLACED = frozenset({"", _DESCRIPTION, _SUMMARY, _FEATURES})


class _Project(NamedTuple):
    """What the whole folder says: its statuses in order, the prefix of its ids, and the titles of its milestones."""

    statuses: tuple[str, ...]
    prefix: str
    milestones: Mapping[str, str]


class _File(NamedTuple):
    """A task file: the folder that it lies in, its place, its values, its text, and its id as all spellings of it.

    `exported` is the id of the task that it was exported from, and `is_as_exported` where nobody edited it since.
    """

    folder: str
    place: Place
    front: Front
    id: str
    key: str
    exported: str
    is_as_exported: bool


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield the tasks of a folder, or of the files that are named; the live ones first, which keep their ids."""
    base = _base(source)
    names = _task_files(source, base)
    if not names:
        where = "name the folder that holds `config.yml` and `tasks`, or a task file"
        yield Told("no-tasks", f"no task of Backlog.md lies in {source.own_name}: {where}")
    yield from _others(source, base, names)
    project = _project(source, base)
    files_ = list[_File]()
    yield Count(len(names))
    for name, folder in names.items():
        found = _file(source, name, folder, project)
        if isinstance(found, Refused):
            yield found
            continue
        files_.append(found)
        if found.front.lenient:
            why = f"{', '.join(found.front.lenient)}: no YAML as it stands, read as text to the end of the line"
            yield Told("lenient-front-matter", why, found.place)
    for refused in source.links(*(f"{base}{folder}" for folder in _FOLDERS)):
        yield Count(1)
        yield refused
    spelled: dict[str, str] = {}
    for key, own_id in [(each.id.casefold(), each.id) for each in files_] + [(each.key, each.id) for each in files_]:
        spelled.setdefault(key, own_id)
    for each in files_:
        yield from _task(each, project, spelled)


# The folder


def _base(source: Source) -> str:
    """Return where the folder of the tasks lies in the source: there itself, or in the repository that holds it."""
    if not source.is_folder or source.below(*_FOLDERS) or "config.yml" in source.names:
        return ""
    config = front_matter(f"---\n{_text(source, _ROOT_CONFIG)}\n---\n").values or {}
    wanted = str(config.get("backlog_directory") or "").strip("./")
    places = [each for each in (wanted, "backlog", ".backlog") if each]
    return next((f"{each}/" for each in places if source.below(each) or any(source.links(each))), "")


def _text(source: Source, name: str) -> str:
    text = source.text(name) if name in source.names else ""
    return text if isinstance(text, str) else ""


def _task_files(source: Source, base: str) -> dict[str, str]:
    """Return the files that are records with their folders, in the order in which ids are given."""
    if not source.is_folder:
        return {name: _folder_of(source, name) for name in source.names}
    return {
        name: folder
        for folder in _FOLDERS
        for name in source.below(f"{base}{folder}", ending=".md")
        if PurePosixPath(name).name.casefold() != "readme.md"
    }


def _folder_of(source: Source, name: str) -> str:
    """Return which of the folders a file that was itself named lies in."""
    path = PurePosixPath(source.place(name).path)
    whole = f"{path.parent.parent.name}/{source.folder_of(name)}"
    return next((each for each in reversed(_FOLDERS) if whole == each or whole.endswith(f"/{each}")), "tasks")


def _others(source: Source, base: str, tasks: Mapping[str, str]) -> Iterator[Other]:
    """Yield how many files are no tasks, by what they are."""
    numbers = dict.fromkeys(_OTHERS, 0)
    for name in source.names:
        if name.startswith(base) and name not in tasks:
            parts = PurePosixPath(name.removeprefix(base)).parts[:-1]
            numbers[next((each for each in parts if each in _OTHERS), "")] += 1
    for key, (what, advice) in _OTHERS.items():
        if numbers[key]:
            yield Other(what if numbers[key] == 1 else f"{what}s", numbers[key], advice)


def _project(source: Source, base: str) -> _Project:
    config: dict[str, Any] = {}
    for name in (_ROOT_CONFIG, f"{base}config.yml"):
        config |= front_matter(f"---\n{_text(source, name)}\n---\n").values or {}
    milestones: dict[str, str] = {}
    for name in source.below(f"{base}archive/milestones", f"{base}milestones", ending=".md"):
        values = front_matter(_text(source, name)).values or {}
        if values.get("id") and values.get("title"):
            milestones[str(values["id"]).casefold()] = str(values["title"])
    return _Project(tuple(_texts(config.get("statuses"))), str(config.get("task_prefix") or "task"), milestones)


def _texts(value: object) -> list[str]:
    """Return the texts of a list, or of a text with commas."""
    each = value if isinstance(value, list) else str(value or "").split(",")
    return [text for one in each if isinstance(one, str | int) and (text := str(one).strip())]


# A file


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
    own, _, words = PurePosixPath(name).stem.partition(" - ")
    own_id = str(front.values.get("id") or own).strip()
    if not str(front.values.get("title") or "").strip():
        front.values["title"] = words.replace("-", " ").strip() or own
    at = re.search(r"(?m)^id:", text)
    line = text.count("\n", 0, at.start()) + 1 if at else 1
    exported = next(iter(backlog_md.ids_in(text)), "")
    is_as_exported = bool(exported) and backlog_md.is_ours(text.encode())
    key = _key(own_id, project.prefix)
    return _File(folder, source.place(name, line), front, own_id, key, exported, is_as_exported)


def _key(own_id: str, prefix: str) -> str:
    """Return an id as all its spellings: case and zeros in front do not matter, and the usual prefix may stand or not.

    A project that changed its prefix keeps `task-7` in the references of older files.
    """
    text = own_id.casefold()
    bare = next(
        (rest for each in (prefix, "task") if (rest := text.removeprefix(f"{each.casefold()}-"))[:1].isdigit()), text
    )
    return re.sub(r"(?<!\d)0{1,9}(?=\d)", "", bare)


def _spelled(reference: str, prefix: str, spelled: Mapping[str, str]) -> str:
    """Return a reference as the file that it means spells its id; one of exactly this id comes first."""
    return spelled.get(reference.casefold()) or spelled.get(_key(reference, prefix)) or reference


def _task(file: _File, project: _Project, spelled: Mapping[str, str]) -> Iterator[Found]:
    values, body = {**(file.front.values or {})}, file.front.body
    taking, (pairs, unclosed), too_deep = Taking(values), _pairs(body), outline(body).too_deep
    if too_deep:
        place = file.place._replace(line=file.front.lines + too_deep)
        yield Refused(place, "too-deep", "lists are nested more than 64 levels deep", file.id)
        return
    if unclosed:
        why = f"{', '.join(unclosed)} begins and does not end: it goes on to the next heading"
        yield Told("unclosed-section", why, file.place)
    content = _content(body, pairs)
    title, status, priority = taking.text("title"), taking.text("status"), taking.text("priority")
    created, milestone = taking.text("created_date"), taking.text("milestone")
    references = {key: _texts(taking.rest.pop(key, None)) for key in _REFERENCES}
    ours = [tuple(_spelled(each, project.prefix, spelled) for each in ids) for ids in references.values()]
    depends_on, subtasks, parents = ours
    state, word = _state(file.folder, status, project)
    taking.rest.pop("id", None)
    fields = taking.fields() | ({} if word or status_of(status) else {"status": status})
    became = [file.id, status, priority, created, milestone, *(each for ids in references.values() for each in ids)]
    became += [each for key in _REFERENCES if isinstance(each := values.get(key), str)]
    yield content._replace(
        id=file.id.casefold() if file.id.casefold().startswith("draft-") else file.id,
        title=title,
        place=file.place,
        said=[values, content.said, [[each.id, each.text] for each in content.features]],
        status=word,
        state=state,
        is_archived=file.folder.startswith("archive/"),
        priority=priority,
        created_at=created,
        updated_at=str(values.get("updated_date") or ""),
        closed_at=str(values.get("completed_date") or values.get("updated_date") or ""),
        epic=project.milestones.get(milestone.casefold(), milestone),
        depends_on=depends_on,
        parent=next(iter(parents), ""),
        subtasks=subtasks,
        labels=tuple(_texts(values.get("labels"))),
        fields={key: value for key, value in fields.items() if value},
        became=(*became, *content.became, *(f"{each.id}: {each.text}" for each in content.features)),
        exported=file.exported,
        is_as_exported=file.is_as_exported,
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


# The text of a file


def _content(body: str, pairs: Sequence[tuple[re.Match[str], re.Match[str]]]) -> Record:
    """Return what the text of a file makes of its record."""
    parts = _sections(body, pairs)
    by_title: dict[str, list[str]] = {}
    for title, text in parts:
        by_title.setdefault(title.casefold(), []).append(text)
    bodies = {title: "\n\n".join(filter(None, each)) for title, each in by_title.items()}
    lists = {title: outline(_INDEX.sub(r"\1", text)) for title, text in bodies.items() if title.startswith(_LISTS)}
    criteria = [
        part._replace(notes="\n".join(filter(None, (_DONE if title == _DONE.casefold() else "", part.notes))))
        for title in sorted(lists)
        for part in map(part_of, lists[title].boxes)
    ]
    shown = {title.casefold(): title for title, _ in reversed(parts)}
    notes = [
        Note(shown[title], lists[title].rest if title in lists else text.replace("\n---", "\n\n---"))
        for title, text in bodies.items()
        if title not in _PLACED
    ]
    plan, done = items(bodies.get(_PLAN, "")), items(bodies.get(_NOTES, ""))
    did = [each.text for each in done if not each.is_open] + [each.text for each in plan if each.is_done]
    ahead = [each.text for each in done if each.is_open] + [each.text for each in plan if not each.is_done]
    return Record(
        id="",
        title="",
        place=Place(""),
        said=_INDEX.sub(r"\1", _MARKER.sub("", body)),
        description="\n\n".join(filter(None, (bodies.get("", ""), bodies.get(_DESCRIPTION, "")))),
        summary=bodies.get(_SUMMARY, ""),
        criteria=tuple(criteria),
        features=tuple(map(_feature, outline(bodies.get(_FEATURES, "")).boxes)),
        progress=Dated("", tuple(did), tuple(ahead)),
        notes=tuple(each for each in notes if each.text.strip()),
        became=tuple(title for title, _ in parts if title.casefold() in _PLACED or title.casefold() in lists),
    )


def _feature(box: Box) -> Part:
    """Return a feature that was exported, with the id that stands before its text."""
    part = part_of(box)
    own_id, colon, text = part.text.partition(": ")
    return part._replace(id=own_id, text=text) if colon else part


def _sections(body: str, pairs: Sequence[tuple[re.Match[str], re.Match[str]]]) -> list[tuple[str, str]]:
    """Return titles and texts of the sections; a heading between the marks of one begins no other."""
    found, at = [("", "")], 0
    for begin, end in [*pairs, (None, None)]:
        outside = _MARKER.sub("", body[at : begin.start() if begin else len(body)])
        inside = body[begin.end() : end.start()] if begin and end else ""
        at = end.end() if end else at
        (title, text), (_, more), *others = found.pop(), *grouped(outside)
        found += [(title, f"{text}\n\n{more}".strip("\n")), *others]
        title, text = found[-1]
        found[-1] = (title, f"{text}\n\n{inside}".strip("\n"))
    return [each for each in found if any(each)]


def _pairs(body: str) -> tuple[list[tuple[re.Match[str], re.Match[str]]], list[str]]:
    """Return the marks that a section begins and ends with, none within another, and the names of those without end."""
    ends: dict[str, re.Match[str]] = {}
    pairs, unclosed = list[tuple[re.Match[str], re.Match[str]]](), list[str]()
    for match in reversed([*_MARKER.finditer(body)]):
        if match[2] == "END":
            ends[match[1]] = match
        elif match[1] in ends:
            pairs.append((match, ends[match[1]]))
        else:
            unclosed.append(match[1].removeprefix("SECTION:"))
    outer, at = list[tuple[re.Match[str], re.Match[str]]](), 0
    for begin, end in reversed(pairs):
        if begin.start() >= at:
            outer.append((begin, end))
            at = end.end()
    return outer, unclosed

"""Reads a Markdown file with check boxes: one task, or with `--split` a task for each heading of level 2 with boxes."""

from __future__ import annotations

import re

from taskstate.importing.reading.documents import outline_of, signs
from taskstate.importing.reading.markdown import chapters, joined, numbered, outline, parts_of, sections
from taskstate.importing.records import Count, Note, Record, Refused, Told
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.importing.reading.markdown import Outline
    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_BY_FOLDER = "tasks.md"
_PART = 2  # level of the headings that `--split` makes tasks of


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield a task for each file, or for each part of it that has boxes; a file without any says so."""
    for name in source.names:
        found = outline_of(source, name)
        if isinstance(found, Refused):
            yield Count(1)
            yield found
        elif found.boxes:
            yield from signs(source, name, found)
            tasks = (_split(source, name, found) if options.split else []) or [_one(source, name, found)]
            yield Count(len(tasks) + len(found.boxes))
            yield from tasks
        else:
            yield Told("no-boxes", f"no check box in {name}", source.place(name))


def file_id(source: Source, name: str) -> str:
    """Return the id that a file's name gives: in lower case, without its ending; of a `tasks.md` that of its folder."""
    own = name.rpartition("/")[2]
    stem = source.folder_of(name) if own.casefold() == _BY_FOLDER else own.rpartition(".")[0] or own
    return (stem or "list").casefold()


def slug(title: str) -> str:
    """Return a title as a part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")


def _one(source: Source, name: str, whole: Outline) -> Record:
    text, parts, own = str(source.markdown(name)), sections(whole.rest), file_id(source, name)
    title = next((each.title for each in sections(text) if each.level == 1), "")
    first = next((number for number, each in enumerate(parts) if each.level > 1), len(parts))
    lead, rest = "\n\n".join(each.text for each in parts[:first] if each.text), joined(parts[first:])
    record = _record(source.place(name), own, title or own, whole)
    return record._replace(description=lead, notes=(Note("Text", rest),) if rest else (), said=text)


def _record(place: Place, own: str, title: str, found: Outline) -> Record:
    parts = parts_of(found.boxes, numbered(found.boxes))
    return Record(own, title, place, "", is_container=True, **parts, description=found.rest)


def _split(source: Source, name: str, whole: Outline) -> list[Record]:
    """Return a task for each part with boxes, if all stand in one; the other text goes to the notes of the first."""
    parts = [(each, outline(each.text)) for each in chapters(str(source.markdown(name)), 1, _PART)]
    tasks = [(each, found) for each, found in parts if each.level == _PART and found.boxes]
    if sum(len(found.boxes) for _, found in tasks) != len(whole.boxes):
        return []
    others, own, records = (
        joined(each for each, found in parts if not found.boxes),
        file_id(source, name),
        list[Record](),
    )
    for number, (each, found) in enumerate(tasks, 1):
        record = _record(source.place(name, each.line), f"{own}-{slug(each.title) or number}", each.title, found)
        said = f"## {each.title}\n{each.text}"
        records.append(record._replace(said=said))
    notes = (Note("Text outside", others),) if others else ()
    return [records[0]._replace(said=f"{others}\n{records[0].said}", notes=notes), *records[1:]]

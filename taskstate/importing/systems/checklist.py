"""Reads a Markdown file with check boxes: one task, or with `--split` a task for each heading of level 2 with boxes."""

from __future__ import annotations

import re

from taskstate.importing.reading.documents import chapters, shown, signs
from taskstate.importing.reading.markdown import numbered, outline, part_of, sections
from taskstate.importing.records import Count, Note, Record, Refused, Told
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.importing.reading.markdown import Box, Outline, Section
    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_BY_FOLDER = "tasks.md"
_BOX_LINE = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[^\]\n]?\]")
_PART = 2  # level of the headings that `--split` makes tasks of


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield a task for each file, or for each part of it that has boxes; a file without any says so."""
    for name in source.names:
        text = source.markdown(name)
        if isinstance(text, Refused):
            yield Count(1)
            yield text
            continue
        whole = outline(text)
        if whole.too_deep:
            yield Count(1)
            yield Refused(source.place(name, whole.too_deep), "too-deep", "lists are nested more than 64 levels deep")
        elif whole.boxes:
            yield from signs(source, name, whole)
            yield from (_split if options.split else _one)(source, name, text, whole)
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


def _one(source: Source, name: str, text: str, whole: Outline) -> Iterator[Found]:
    yield Count(1 + len(whole.boxes))
    parts = sections(whole.rest)
    title = next((each.title for each in sections(text) if each.level == 1), "")
    lead, rest = _lead(parts)
    record = _record(source.place(name), file_id(source, name), title or file_id(source, name), whole.boxes)
    notes = (Note("Text", rest),) if rest else ()
    yield record._replace(description=lead, notes=notes, said=text)


def _lead(parts: Sequence[Section]) -> tuple[str, str]:
    """Return the text above the first heading below the title, and the rest with its headings."""
    is_lead = [each.level <= 1 for each in parts]
    first = next((number for number, each in enumerate(is_lead) if not each), len(parts))
    lead = "\n\n".join(filter(None, (each.text for each in parts[:first])))
    return lead, "\n\n".join(shown(each) for each in parts[first:])


def _record(place: Place, own: str, title: str, boxes: Sequence[Box]) -> Record:
    ids = numbered(boxes)
    pairs = [(box, part_of(box, own_id)) for box, own_id in zip(boxes, ids, strict=True)]
    return Record(
        id=own,
        title=title,
        place=place,
        said="",
        is_container=True,
        criteria=tuple(part for box, part in pairs if box.is_criterion),
        features=tuple(part for box, part in pairs if not box.is_criterion),
    )


def _split(source: Source, name: str, text: str, whole: Outline) -> Iterator[Found]:
    """Yield a task for each part with boxes; the other text goes to the notes of the first."""
    parts = _parts_of(text)
    read_parts = [(title, line, body, outline(body)) for title, line, body in parts]
    tasks = [each for each in read_parts if each[0] and each[3].boxes]
    if sum(len(each[3].boxes) for each in tasks) != len(whole.boxes) or not tasks:
        yield from _one(source, name, text, whole)  # there are boxes outside of all parts
        return
    others = "\n\n".join(
        f"## {title}\n\n{body}" if title else body for title, _, body, each in read_parts if not each.boxes
    )
    yield Count(len(tasks) + len(whole.boxes))
    own = file_id(source, name)
    for number, (title, line, body, found) in enumerate(tasks):
        record = _record(source.place(name, line), f"{own}-{slug(title) or number + 1}", title, found.boxes)
        notes = (Note("Text outside", others),) if others.strip() and not number else ()
        said = f"{others}\n## {title}\n{body}" if not number else f"## {title}\n{body}"
        yield record._replace(description=found.rest, notes=notes, said=said)


def _parts_of(text: str) -> list[tuple[str, int, str]]:
    """Return title, line and text of each heading of level 2 or higher, deeper ones included in its text."""
    parts = chapters(text, _PART)
    return [
        (each.title, each.line, each.text) if each.level == _PART else ("", each.line, shown(each)) for each in parts
    ]

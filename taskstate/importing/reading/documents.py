"""Reads the documents of other systems that describe a task: what they say and demand, and what lies beside them.

Nothing gets lost on the way: what is taken out of a text is returned, and the rest stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import attrgetter

from taskstate.importing.reading.markdown import (
    MAX_NESTING,
    Box,
    Section,
    chapters,
    front_matter,
    joined,
    outline,
    part_of,
    sections,
)
from taskstate.importing.records import Count, Note, Other, Part, Refused, Told
from taskstate.syntax import hashes
from taskstate.syntax.markdown_blocks import list_items, read_blocks
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.importing.reading.markdown import Outline
    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found

_MARKER = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_PARAGRAPH = re.compile(r"(?:^[ \t]*\S.*(?:\n|\Z))+", re.MULTILINE)
_WIDE = re.compile(r"(?m)^[ \t]*(?:```|~~~|\|)")  # what cannot stand on one line: a fence, a table
TOO_DEEP = f"lists are nested more than {MAX_NESTING} levels deep"
_DESCRIBED = 2  # level of the headings that tell what is described from what is beside it


class Tasks(NamedTuple):
    """A text of tasks: its title, its boxes and the features that they are, the text without them, and what it says.

    `gone` are titles of headings below which nothing is left.
    """

    heading: str
    boxes: tuple[Box, ...]
    features: tuple[Part, ...]
    rest: str
    said: str
    gone: tuple[str, ...]


class Form(NamedTuple):
    """How a system lays out its folders: the files that show one, that of the tasks first, and the others it reads.

    `tops` are where they lie, from the folder of a project. `own_id` is how the words of a box begin with an id of the
    system. `may_stay` is for files that it does not read.
    """

    tops: tuple[str, ...]
    markers: tuple[str, ...]
    own_id: re.Pattern[str]
    read: re.Pattern[str]
    may_stay: bool = False


class Folder(NamedTuple):
    """A folder of a task: its name, its first file, the texts that are read, how many boxes, and the files beside.

    A file in the folder itself is called in lower case, however it is spelled. Files beside are `notes`: whole, or by
    path and hash where they stay; and what they say.
    """

    name: str
    first: str
    texts: Mapping[str, str]
    boxes: int
    notes: tuple[Note, ...]
    said: Mapping[str, str]

    def text(self, called: str) -> str:
        """Return the text of a file; empty if there is none."""
        return self.texts.get(called, "")


def folders_in(source: Source, form: Form) -> Iterator[Folder | Found]:
    """Yield the folders of tasks, counted with their boxes; and what is refused, or none.

    A file belongs to the nearest folder that holds one of the files that show one.
    """
    below = tuple(each for each in form.tops if source.below(each))[:1]
    names = source.below(*below) if below else source.names
    yield from source.links(*below)
    homes = {name.rpartition("/")[0] for name in names if name.rpartition("/")[2].casefold() in form.markers}
    found: dict[str, dict[str, str]] = {each: {} for each in sorted(homes)}
    others = 0
    for name in names:
        home = name.rpartition("/")[0]
        while home and home not in homes:
            home = home.rpartition("/")[0]
        if home in homes:
            found[home][name[len(home) :].lstrip("/")] = name
        else:
            others += 1
    for files in found.values():
        yield from _folder(source, files, form)
    if others:
        yield Other("other files belong to no task", others)


def _folder(source: Source, files: Mapping[str, str], form: Form) -> Iterator[Folder | Found]:
    texts, others = dict[str, str | Refused](), dict[str, str]()
    for called, name in files.items():
        key = called if "/" in called else called.casefold()
        if form.read.fullmatch(called) and key not in texts:
            texts[key] = source.markdown(name)
        else:
            others[called] = name
    by_name = {called.casefold(): name for called, name in files.items()}
    first = next(by_name[each] for each in form.markers if each in by_name)
    own, beside, tasks = source.folder_of(first), _beside(source, others, form), texts.get(form.markers[0], "")
    found = boxes_in(tasks if isinstance(tasks, str) else "", form.own_id)
    yield Count(1 + len(found.boxes))
    faults = [each for each in (*texts.values(), beside) if isinstance(each, Refused)]
    faults += too_deep(source, first, found)
    if faults or isinstance(beside, Refused):
        yield faults[0]._replace(id=own, records=1 + len(found.boxes))
        return
    yield from signs(source, first, found)
    yield Folder(own, first, {called: str(text) for called, text in texts.items()}, len(found.boxes), *beside)


def boxes_in(text: str, own_id: re.Pattern[str]) -> Outline:
    """Return the boxes of a text whose words may begin with an id of a system."""
    return outline(text, lambda words: own_id.match(words) is not None)


def outline_of(source: Source, name: str) -> Outline | Refused:
    """Return the boxes of a Markdown file and its text without them, or why it cannot be taken."""
    text = source.markdown(name)
    found = outline(text) if isinstance(text, str) else text
    return found if isinstance(found, Refused) else next(iter(too_deep(source, name, found)), found)


def too_deep(source: Source, name: str, found: Outline) -> list[Refused]:
    """Return a refusal if lists are nested deeper than can be read."""
    return [Refused(source.place(name, found.too_deep), "too-deep", TOO_DEEP)] if found.too_deep else []


def signs(source: Source, name: str, found: Outline) -> Iterator[Told]:
    """Yield what is told of boxes with a sign that is neither done nor open."""
    for box in found.boxes:
        if box.sign:
            why = f"{box.sign} is neither done nor open: taken as open, the sign is in the notes"
            yield Told("unknown-marker", why, source.place(name, box.line))


def body_of(text: str) -> tuple[dict[str, Any], str]:
    """Return the values of a front matter, and the text with blank lines in its place: the numbers of lines hold."""
    front = front_matter(text)
    return (front.values, "\n" * front.lines + front.body) if front.values else ({}, text)


def titled(text: str) -> tuple[str, list[Section]]:
    """Return the title of a text, from its first heading of level 1, and its sections: the title's begins like any."""
    parts = sections(text)
    at = next((number for number, each in enumerate(parts) if each.level == 1), -1)
    rest = [each._replace(level=0, title="") if number == at else each for number, each in enumerate(parts)]
    return parts[at].title if at >= 0 else "", rest


def pruned(parts: Iterable[Section]) -> tuple[list[Section], tuple[str, ...]]:
    """Return sections without those that hold nothing, nor does anything below them; and the titles of these."""
    kept, gone = list[Section](), list[str]()
    for each in reversed([*parts]):
        if each.text.strip() or (kept and each.level and kept[-1].level > each.level):
            kept.append(each)
        elif each.title:
            gone.append(each.title)
    return kept[::-1], tuple(gone)


def told_apart(parts: Iterable[Section], described: re.Pattern[str]) -> tuple[str, tuple[Note, ...]]:
    """Return what describes the task, and the other chapters as notes; where no title is known, all is description."""
    all_ = chapters(joined(parts), 1, _DESCRIBED)
    is_known = any(described.search(each.title) for each in all_)
    texts, notes = list[Section](), list[Note]()
    for each in all_:
        if is_known and each.level == _DESCRIBED and not described.search(each.title):
            notes.append(Note(each.title, each.text))
        else:
            texts.append(each)
    return joined(texts), tuple(notes)


def demands_in(text: str, label: re.Pattern[str], demand: re.Pattern[str], *, below: bool) -> tuple[str, list[str]]:
    """Return a text without what it demands, and that: list items below a label, and what begins like a demand.

    `below` says that the heading above the text is such a label. A label above a demand goes with it.
    """
    found, kept, at = list[str](), list[str](), 0
    pending: Span | None = None
    for span, words, is_item in _units(text):
        if demand.match(words) or (is_item and below):
            found.append(span.of(text))
            kept.append(text[at : (pending or span).start])
            pending, at = None, span.end
        elif not is_item:
            below = label.fullmatch(words.strip()) is not None
            pending = span if below else None
    return re.sub(r"\n{3,}", "\n\n", "".join((*kept, text[at:]))).strip("\n"), found


def _units(text: str) -> list[tuple[Span, str, bool]]:
    """Return the items of the top-level lists and the paragraphs between them in order, and which are items."""
    items = list_items(text, Span(0, len(text)))
    others = (each.span for each in read_blocks(text) if each.kind != "heading")  # fences and comments are no demands
    taken = sorted([*(each.span for each in items), *others, Span(len(text), len(text))])
    found = [(each.span, each.content.of(text), True) for each in items]
    for match in _PARAGRAPH.finditer(text):
        following = taken[bisect_right(taken, match.start(), key=attrgetter("end"))]
        span = Span(match.start(), min(following.start, match.end()))  # a list may follow without a blank line
        if span.start < span.end:
            found.append((span, span.of(text), False))
    return sorted(found)


def criterion(text: str) -> Part:
    """Return a list item or paragraph as a criterion on one line; a fence or table in it stands in its notes."""
    text = _MARKER.sub("", text, count=1)
    box = _BOX.match(text)
    text = text[box.end() :] if box else text
    wide = _WIDE.search(text)
    head, rest = (text[: wide.start()], text[wide.start() :]) if wide else (text, "")
    words = " ".join(_MARKER.sub("", line, count=1).strip() for line in head.split("\n"))
    return Part(" ".join(words.split()), done=bool(box and box[1].strip()), notes=rest.strip("\n"))


def tasks_in(text: str, own_id: re.Pattern[str]) -> Tasks:
    """Return the boxes of a text as features; `own_id` is how their words begin with an id of the system."""
    found = boxes_in(text, own_id)
    heading, _ = titled(text)
    kept, gone = pruned(titled(found.rest)[1])
    lines, features = text.split("\n"), list[Part]()
    for box in found.boxes:
        match = own_id.match(box.text)
        words = box.text[match.end() :] if match else ""
        if match and match[0].count("**") == 1:  # the words go on in bold
            words = f"**{words}"
        if match and words:  # the id stands apart from the words here
            lines[box.line - 1] = lines[box.line - 1].replace(match[0], f"{match[1]}\n", 1)
        own = box._replace(text=words or box.text, headings=tuple(each for each in box.headings if each != heading))
        features.append(part_of(own, match[1] if match else ""))
    again = [each.title for each in sections(text) if each.title == heading][1:]
    return Tasks(heading, found.boxes, tuple(features), joined(kept), "\n".join(lines), (*gone, *again))


def _beside(
    source: Source, files: Mapping[str, str], form: Form
) -> tuple[tuple[Note, ...], Mapping[str, str]] | Refused:
    """Return files beside a task, by what they are called and their names in the source.

    One that is no text is named with its hash, and so is one that may stay where it is in the repository.
    """
    notes, links, said = list[Note](), list[str](), dict[str, str]()
    for called, name in files.items():
        is_markdown = name.casefold().endswith(".md")
        here = source.from_root(name) if form.may_stay else ""
        text = source.markdown(name) if is_markdown and not here else source.text(name)
        if isinstance(text, Refused) and (text.code != "not-utf8" or (is_markdown and not here)):
            return text
        if here or isinstance(text, Refused):
            said[called] = hashes.sha256(source.content(name))
            links.append(f"- `{here or called}` (SHA-256 `{said[called]}`)")
        else:
            said[called] = text
            notes.append(Note(called, text if is_markdown else fenced(text)))
    return (*notes, *([Note("Files", "\n".join(links))] if links else ())), said


def fenced(text: str) -> str:
    """Return a text that is no Markdown as a fence."""
    mark = "`" * max((len(each) + 1 for each in re.findall(r"`{3,}", text)), default=3)
    return f"{mark}\n{text.rstrip()}\n{mark}" if text.strip() else ""

"""Reads the documents of other systems that describe a task: what they say and demand, and what lies beside them.

Nothing gets lost on the way: what is taken out of a text is returned, and the rest stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import attrgetter

from taskstate.importing.reading.markdown import Box, Section, front_matter, outline, part_of, sections
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

_MARKER = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_PARAGRAPH = re.compile(r"(?:^[ \t]*\S.*(?:\n|\Z))+", re.MULTILINE)
_WIDE = re.compile(r"(?m)^[ \t]*(?:```|~~~|\|)")  # what cannot stand on one line: a fence, a table
_DESCRIBED = 2  # level of the headings that tell what is described from what is beside it


class Demands(NamedTuple):
    """A text without what it demands and the labels above; and the demands, each as a criterion and as it stood."""

    rest: str
    found: tuple[tuple[Part, str], ...] = ()


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


class Beside(NamedTuple):
    """Files beside a task as notes: whole, or by path and hash where they stay; and what they say."""

    notes: tuple[Note, ...]
    said: Mapping[str, str]


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
    """A folder of a task: its name, its first file, the texts that are read, the files beside, and how many boxes."""

    name: str
    first: str
    texts: Mapping[str, str]
    others: Beside
    boxes: int

    def text(self, called: str) -> str:
        """Return the text of a file, whether it is called so in upper or lower case; empty if there is none."""
        return next((text for each, text in self.texts.items() if each.casefold() == called), "")


def folders_in(source: Source, form: Form) -> Iterator[Folder | Count | Refused | Told | Other]:
    """Yield the folders of tasks, counted with their boxes; and what is refused, or none."""
    below = tuple(each for each in form.tops if source.below(each))[:1]
    names = source.below(*below) if below else source.names
    for link in source.links(*below):
        yield Count(1)
        yield link
    found = _by_folder(names, frozenset(form.markers))
    for files in found.values():
        yield from _folder(source, files, form)
    others = len(names) - sum(map(len, found.values()))
    if others:
        yield Other("other files belong to no task", others)


def _folder(source: Source, files: Mapping[str, str], form: Form) -> Iterator[Folder | Count | Refused | Told]:
    by_name = {called.casefold(): name for called, name in files.items()}
    first = next(by_name[each] for each in form.markers if each in by_name)
    own_names = {name for called, name in by_name.items() if form.read.fullmatch(called)}
    texts = {called: source.markdown(name) for called, name in files.items() if name in own_names}
    beside = _beside(source, {called: name for called, name in files.items() if called not in texts}, form)
    own = source.folder_of(first)
    tasks = next((each for called, each in texts.items() if called.casefold() == form.markers[0]), "")
    found = boxes_in(tasks if isinstance(tasks, str) else "", form.own_id)
    yield Count(1 + len(found.boxes))
    faults = [each for each in (*texts.values(), beside) if isinstance(each, Refused)]
    if found.too_deep:
        why = "lists are nested more than 64 levels deep"
        faults.append(Refused(source.place(first, found.too_deep), "too-deep", why))
    if faults or isinstance(beside, Refused):
        yield faults[0]._replace(id=own, records=1 + len(found.boxes))
        return
    yield from signs(source, first, found)
    yield Folder(own, first, {called: str(text) for called, text in texts.items()}, beside, len(found.boxes))


def boxes_in(text: str, own_id: re.Pattern[str]) -> Outline:
    """Return the boxes of a text whose words may begin with an id of a system."""
    return outline(text, lambda words: own_id.match(words) is not None)


def signs(source: Source, name: str, found: Outline) -> Iterator[Told]:
    """Yield what is told of boxes with a sign that is neither done nor open."""
    for box in found.boxes:
        if box.sign:
            why = f"{box.sign} is neither done nor open: taken as open, the sign is in the notes"
            yield Told("unknown-marker", why, source.place(name, box.line))


def _by_folder(names: Iterable[str], markers: frozenset[str]) -> dict[str, dict[str, str]]:
    """Return for each folder that holds one of the markers its files, by their paths from there.

    A file belongs to the nearest of these folders.
    """
    known = [*names]
    homes = {name.rpartition("/")[0] for name in known if name.rpartition("/")[2].casefold() in markers}
    found: dict[str, dict[str, str]] = {each: {} for each in sorted(homes)}
    for name in known:
        home = name.rpartition("/")[0]
        while home and home not in homes:
            home = home.rpartition("/")[0]
        if home in homes:
            found[home][name[len(home) :].lstrip("/")] = name
    return found


def body_of(text: str) -> tuple[dict[str, Any], str]:
    """Return the values of a front matter, and the text with blank lines in its place: the numbers of lines hold."""
    front = front_matter(text)
    return (front.values, "\n" * front.lines + front.body) if front.values else ({}, text)


def chapters(text: str, level: int = _DESCRIBED) -> list[Section]:
    """Return the sections down to a level; one that is deeper is part of the text above it, with its heading."""
    found = list[tuple[Section, list[str]]]()
    for each in sections(text):
        if each.level > level and found:
            found[-1][1].append(shown(each))
        else:
            found.append((each, []))
    return [each._replace(text="\n\n".join(filter(None, (each.text, *below)))) for each, below in found]


def shown(part: Section) -> str:
    """Return a section as it stands in a text, with its heading."""
    return "\n\n".join(filter(None, (f"{'#' * part.level} {part.title}" if part.level else "", part.text)))


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


def joined(parts: Iterable[Section]) -> str:
    """Return sections as one text."""
    return "\n\n".join(filter(None, map(shown, parts)))


def told_apart(parts: Iterable[Section], described: re.Pattern[str]) -> tuple[str, tuple[Note, ...]]:
    """Return what describes the task, and the other chapters as notes; where no title is known, all is description."""
    all_ = chapters(joined(parts))
    is_known = any(described.search(each.title) for each in all_)
    texts, notes = list[Section](), list[Note]()
    for each in all_:
        if is_known and each.level == _DESCRIBED and not described.search(each.title):
            notes.append(Note(each.title, each.text))
        else:
            texts.append(each)
    return joined(texts), tuple(notes)


def demands_in(text: str, label: re.Pattern[str], demand: re.Pattern[str], *, is_labelled: bool = False) -> Demands:
    """Return what a text demands: the list items below a label, and those that begin like a demand, as paragraphs may.

    `is_labelled` says that the heading above the text is such a label.
    """
    found, cuts = list[tuple[Part, str]](), list[Span]()
    pending: Span | None = None
    below = is_labelled
    for span, body, is_item in _units(text):
        if demand.match(body) or (is_item and below):
            found.append((criterion(body), span.of(text)))
            cuts += [pending, span] if pending else [span]
            pending = None
        elif not is_item:
            below = label.fullmatch(body.strip()) is not None
            pending = span if below else None
    return Demands(_without(text, cuts), tuple(found))


def _units(text: str) -> list[tuple[Span, str, bool]]:
    """Return the items of the top-level lists and the paragraphs between them in order, and which are items."""
    items = list_items(text, Span(0, len(text)))
    others = (each.span for each in read_blocks(text) if each.kind != "heading")  # fences and comments are no demands
    taken = sorted([*(each.span for each in items), *others])
    found = [(each.span, each.content.of(text), True) for each in items]
    for match in _PARAGRAPH.finditer(text):
        following = bisect_right(taken, match.start(), key=attrgetter("end"))
        end = min(taken[following].start, match.end()) if following < len(taken) else match.end()
        if match.start() < end:  # a list may follow without a blank line
            span = Span(match.start(), end)
            found.append((span, span.of(text), False))
    return sorted(found)


def _without(text: str, cuts: Iterable[Span]) -> str:
    at, parts = 0, list[str]()
    for start, end in cuts:
        parts.append(text[at:start])
        at = end
    return re.sub(r"\n{3,}", "\n\n", "".join((*parts, text[at:]))).strip("\n")


def criterion(text: str) -> Part:
    """Return a list item or paragraph as a criterion on one line; a fence or table in it stands in its notes."""
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
    return Tasks(heading, found.boxes, tuple(features), joined(kept), "\n".join(lines), gone)


def _beside(source: Source, files: Mapping[str, str], form: Form) -> Beside | Refused:
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
    return Beside((*notes, *((Note("Files", "\n".join(links)),) if links else ())), said)


def fenced(text: str) -> str:
    """Return a text that is no Markdown as a fence."""
    mark = "`" * max((len(each) + 1 for each in re.findall(r"`{3,}", text)), default=3)
    return f"{mark}\n{text.rstrip()}\n{mark}" if text.strip() else ""

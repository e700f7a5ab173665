"""Merges the body of a state file section by section; each kind of section has its own way, most are merged as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from taskstate.merge.appended_lists import merge_commits, merge_versions
from taskstate.merge.json_fences import merge_fenced
from taskstate.merge.lines import merge_text
from taskstate.merge.progress_log import merge_log
from taskstate.merge.three_way import Versions, interleave, trivial_merge
from taskstate.model.document_kinds import kind, section_key
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL
from taskstate.syntax.document import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.merge.three_way import Prefer
    from taskstate.model.document_kinds import SectionSpec
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document, Section

_LOG = "progress log"
_GROWING = frozenset({"feature checklist", "chain inputs"})  # parts that both sides have added are all kept
_LISTS = {"git history": merge_commits, "change log": merge_versions}


class _Name(NamedTuple):
    """What a part of a text is known by: the level of its heading, its title, and which one of that title it is."""

    level: int
    title: str
    number: int = 1


_TOP = _Name(0, "")  # what stands above the first heading of a part


class MergedBody(NamedTuple):
    """The merged body, and the sessions that its log must be seen to hold (None: its log is that of one side)."""

    text: str
    sessions: tuple[tuple[int, str], ...] | None


def merge_body(sides: Versions[TaskState], prefer: Prefer) -> MergedBody:
    """Return three bodies as one."""
    parts = sides.each(lambda state: _sections(state.document))
    pieces: list[str] = []
    sessions = None
    for name in interleave(list(parts.ours), list(parts.theirs)):
        texts = _versions(parts, name)
        found = trivial_merge(texts)
        if found:
            pieces.append(found[0])
        elif name == _Name(SECTION_LEVEL, _LOG) and texts.ours and texts.theirs:
            log = merge_log(sides, prefer)
            sessions = log.sessions
            pieces.append(log.text)
        else:
            pieces.append(_merge_section(texts, name.title, prefer))
    return MergedBody("".join(pieces), sessions)


def _versions(parts: Versions[Mapping[_Name, str]], name: _Name) -> Versions[str]:
    return parts.each(lambda part: part.get(name, ""))


def repeats_sections(document: Document) -> bool:
    """Return whether a section that has a meaning is there twice, so that nobody knows which one is meant."""
    kinds = kind("task"), kind("permanent")
    titles = Counter(section_key(part.title) for part in document.sections if part.level == SECTION_LEVEL)
    return any(count > 1 and any(each.section(title) for each in kinds) for title, count in titles.items())


def _sections(document: Document) -> Mapping[_Name, str]:
    """Return the parts of a body: what precedes the first heading, and the sections."""
    span = document.front_matter.span
    tops = [section for section in document.sections if section.level <= SECTION_LEVEL]
    titles = [section_key(section.title) for section in tops]
    return _cut(document, tops, titles, span.end if span else 0)


def _cut(document: Document, sections: Sequence[Section], titles: Sequence[str], start: int) -> dict[_Name, str]:
    """Return the text of a document from `start` on in parts, each of which begins with a heading."""
    count: Counter[str] = Counter()
    stops = [*(section.span.start for section in sections), len(document.text)]
    parts = {_TOP: document.text[start : stops[0]]}
    for section, title, stop in zip(sections, titles, stops[1:], strict=True):
        count[title] += 1
        parts[_Name(section.level, title, count[title])] = document.text[section.span.start : stop]
    return parts


def _merge_section(sides: Versions[str], title: str, prefer: Prefer) -> str:
    """Return three versions of a section as one, where both sides have changed it."""
    if title in _LISTS:
        return _LISTS[title](sides, prefer)
    parts = sides.each(lambda text: _subsections(text, title))
    names = parts.each(list)
    if title not in _GROWING and not names.base == names.ours == names.theirs:
        return merge_text(sides, prefer)
    together = interleave(names.ours, names.theirs)
    merged = [merge_fenced(_versions(parts, name), name.title or title, prefer) for name in together]
    if together == names.ours == names.theirs:
        return "".join(merged)
    return "".join(part if part.endswith("\n\n") or not part else f"{part.rstrip(chr(10))}\n\n" for part in merged)


def _subsections(text: str, title: str) -> Mapping[_Name, str]:
    """Return the parts of a section: what precedes its first subsection, and its subsections."""
    document = parse(text)
    spec = kind("task").section(title) or kind("permanent").section(title)
    children = [section for section in document.sections if section.level == PART_LEVEL]
    return _cut(document, children, [_known_as(child.title, spec) for child in children], 0)


def _known_as(title: str, section: SectionSpec | None) -> str:
    """Return what a subsection is known by: the task or phase that its heading names, or else its title."""
    spec = section.subsection(title) if section else None
    groups = spec.match(title) if spec else None
    named = (groups.get("task_id") or groups.get("phase")) if groups else None
    return f"{spec.name} {named}".casefold() if spec and named else section_key(title)

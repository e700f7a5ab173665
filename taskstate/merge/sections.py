"""Merges the body of a state file section by section; some sections have rules of their own, others merge as text."""

from __future__ import annotations

from collections import Counter

from taskstate.merge.appended_lists import merge_commits, merge_versions
from taskstate.merge.entries import merge_entries
from taskstate.merge.json_fences import merge_fenced
from taskstate.merge.lines import merge_text
from taskstate.merge.progress_log import merge_log
from taskstate.model.document_kinds import built_in, section_key
from taskstate.model.impact_map import link_in
from taskstate.model.names import id_key
from taskstate.model.permanent import CONTENT, DECISIONS, IMPACT_MAP, PERMANENT
from taskstate.model.task_state import SECTION_LEVEL
from taskstate.syntax.document import parse
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units import parts
from taskstate.units.parts import PartKey
from taskstate.units.three_way import Versions, interleave, trivial_merge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.units.three_way import Prefer

_LOG = "progress log"
_GROWING = frozenset({"feature checklist", "chain inputs"})  # sections that keep the parts added by either side
_CONTENT = frozenset(section_key(name) for name in CONTENT if name != IMPACT_MAP)
_DECISIONS = section_key(DECISIONS)
_LISTS = {"git history": merge_commits, "change log": merge_versions}


class MergedBody(NamedTuple):
    """The merged body, and the sessions that a reader must find in its log (None: the log is that of one side)."""

    text: str
    sessions: tuple[tuple[int, str], ...] | None


def merge_body(versions: Versions[TaskState], prefer: Prefer) -> MergedBody:
    """Return the merged body."""
    sections = versions.each(lambda state: _sections(state.document))
    pieces: list[str] = []
    sessions = None
    for name in interleave(list(sections.ours), list(sections.theirs)):
        texts = _texts_of(sections, name)
        unconflicted = trivial_merge(texts)
        if unconflicted:
            pieces.append(unconflicted[0])
        elif name == PartKey(SECTION_LEVEL, _LOG) and texts.ours and texts.theirs:
            log = merge_log(versions, prefer)
            sessions = log.sessions
            pieces.append(log.text)
        else:
            merge = _merge_content if _is_content(versions, name) else _merge_section
            pieces.append(merge(texts, name.title, prefer))
    return MergedBody("".join(pieces), sessions)


def _is_content(versions: Versions[TaskState], name: PartKey) -> bool:
    """Return whether a part is a section of a permanent task whose entries are merged one by one."""
    kinds = {versions.ours.kind, versions.theirs.kind}
    return kinds == {PERMANENT} and name.level == SECTION_LEVEL and name.title in _CONTENT


def _texts_of(parts: Versions[Mapping[PartKey, str]], name: PartKey) -> Versions[str]:
    return parts.each(lambda part: part.get(name, ""))


def repeats_sections(document: Document) -> bool:
    """Return whether a declared section occurs twice, so that it is unclear which one is meant."""
    kinds = built_in("task"), built_in("permanent")
    titles = Counter(section_key(part.title) for part in document.sections if part.level == SECTION_LEVEL)
    return any(count > 1 and any(each.section(title) for each in kinds) for title, count in titles.items())


def _sections(document: Document) -> Mapping[PartKey, str]:
    return {key: span.of(document.text) for key, span in parts.sections(document).items()}


def _merge_section(versions: Versions[str], title: str, prefer: Prefer) -> str:
    """Return the merged section, where both sides have changed it."""
    if title in _LISTS:
        return _LISTS[title](versions, prefer)
    versions = _with_one_link(versions) if title == section_key(IMPACT_MAP) else versions
    subsections = versions.each(lambda text: _subsections(text, title))
    names = subsections.each(list)
    if title not in _GROWING and not names.base == names.ours == names.theirs:
        return merge_text(versions, prefer)
    all_names = interleave(names.ours, names.theirs)
    merged = [merge_fenced(_texts_of(subsections, name), name.title or title, prefer) for name in all_names]
    if all_names == names.ours == names.theirs:
        return "".join(merged)
    return _as_paragraphs(merged)


def _with_one_link(versions: Versions[str]) -> Versions[str]:
    """Return the versions of a section whose map has a file of its own with our link in all of them.

    That file is merged by itself, so neither hash is that of the result: whoever reads the map next is told the command
    that makes it a version.
    """
    links = versions.each(link_in)
    if not links.ours or not links.theirs:
        return versions
    return versions.each(lambda text: text.replace(link_in(text), links.ours) if link_in(text) else text)


def _merge_content(versions: Versions[str], title: str, prefer: Prefer) -> str:
    """Return the merged section of a permanent task: decision by decision, and elsewhere entry by entry."""
    subsections = versions.each(lambda text: _subsections(text, title))
    names = interleave(list(subsections.ours), list(subsections.theirs), lambda name: (name.level, id_key(name.title)))
    merge = merge_text if title == _DECISIONS else merge_entries
    return _as_paragraphs([merge(_texts_of(subsections, name), prefer) for name in names])


def _as_paragraphs(parts: Sequence[str]) -> str:
    """Return subsections one after another, each with a blank line behind it."""
    return "".join(part if part.endswith("\n\n") or not part else f"{part.rstrip(chr(10))}\n\n" for part in parts)


def _subsections(text: str, title: str) -> Mapping[PartKey, str]:
    spans = parts.subsections(parse(text), title, Span(0, len(text)))
    return {key: span.of(text) for key, span in spans.items()}

"""Collects the citations of a task for a capture: its own ones, and those that the configuration adds for its area."""

from __future__ import annotations

import posixpath

from taskstate.context.citations import truncated
from taskstate.context.task_file import TaskFile, default_requirement, parse_reference
from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from taskstate.context.citations import CitedSection
    from taskstate.context.sources import CaptureInput
    from taskstate.model.config import Config

_OWN = "section 1"
_EVERYWHERE = "*"
_NAMED = 3  # citations in a message
Key = tuple[str, str]  # file and slug


class CapturedCitations(NamedTuple):
    """The citations of a task, sorted, each with sorted keys; with the names of their sources, and remarks."""

    citations: tuple[dict[str, Any], ...]
    source: str
    notes: tuple[str, ...]


class _OwnCitation(NamedTuple):
    """A citation of the task's own: its requirement, empty where the standard gives it, and its source."""

    requirement: str
    source: str


def captured_citations(inputs: CaptureInput, values: Mapping[str, str]) -> CapturedCitations:
    """Return the citations of a task; its own one wins over a configured one of the same section.

    Raises:
        TaskstateError: code "config" or "invalid-input": a citation is malformed.
    """
    current = {_key(each): each for each in inputs.static.standards if _is_complete(each)}
    mapped = configured_citations(inputs.config, values.get("area", ""), values.get("priority", ""), inputs.config_name)
    own, dropped = _own_citations(inputs, current, mapped)
    entries: list[dict[str, Any]] = []
    sources: dict[str, None] = {}
    for file, section in sorted({*own, *mapped}):
        key = file, section
        source = own[key].source if key in own else inputs.config_name
        sources[source] = None
        cited = inputs.cite(file, section, source)
        requirement = own[key].requirement if key in own else ""
        if key in mapped and source == _OWN and inputs.rebuild and current[key].get("content_sha") != cited.content_sha:
            requirement = ""  # it may have been taken from the older text of that section
        entries.append(_entry(key, truncated(requirement), cited, current.get(key, {})))
    notes = _dropped_notes(inputs, dropped) if entries else (_no_citation_note(inputs, values),)
    return CapturedCitations(tuple(entries), ", ".join(sources), notes)


def _entry(key: Key, requirement: str, cited: CitedSection, current: Mapping[str, Any]) -> dict[str, Any]:
    """Return a citation for the JSON fence, keys sorted; foreign keys (`x-…`) are kept."""
    entry = {
        "file": key[0],
        "section": key[1],
        "requirement": requirement or cited.requirement,
        "line_span": cited.line_span,
        "content_sha": cited.content_sha,
        **{name: value for name, value in current.items() if name.startswith("x-")},
    }
    return dict(sorted(entry.items()))


def configured_citations(config: Config, area: str, priority: str, settings: str) -> dict[Key, None]:
    """Return the sections that the configuration has tasks of an area and priority cite, in its order.

    Raises:
        TaskstateError: code "config": a citation names no section.
    """
    citations: dict[Key, None] = {}
    for standard in config.standards:
        if standard.area not in {_EVERYWHERE, area} or (standard.priority and priority not in standard.priority):
            continue
        for reference in standard.cite:
            cited = parse_reference(reference)
            if cited is None:
                message = f"{settings}: standards cite {reference!r}, which names no section"
                raise TaskstateError(message, help="write it as FILE#heading-slug", code="config")
            citations[normalized_path(cited[0]), cited[1]] = None
    return citations


def normalized_path(file: str) -> str:
    """Return a path without `./`, doubled slashes and backslashes."""
    return posixpath.normpath(file.replace("\\", "/"))


def _own_citations(
    inputs: CaptureInput, current: Mapping[Key, Mapping[str, Any]], mapped: Mapping[Key, None]
) -> tuple[dict[Key, _OwnCitation], tuple[Key, ...]]:
    """Return the task's own citations, and those of section 1 that no source names any more."""
    task_file = inputs.task_file or TaskFile(name="", sha="")
    from_file = {
        (normalized_path(each.file), each.section): _OwnCitation(each.requirement, task_file.name)
        for each in task_file.standards
    }
    if inputs.rebuild and inputs.task_file:
        return from_file, tuple(key for key in current if key not in from_file and key not in mapped)
    copies = {
        (normalized_path(each.file), each.section, each.requirement)
        for version in inputs.task_file_versions
        for each in version.standards
    }
    own = {
        key: _OwnCitation(_own_requirement(each), _OWN)
        for key, each in current.items()
        if (*key, _own_requirement(each)) not in copies
    }
    for key, each in from_file.items():
        own[key] = each._replace(requirement=own[key].requirement or each.requirement) if key in own else each
    return own, ()


def _own_requirement(citation: Mapping[str, Any]) -> str:
    requirement = str(citation.get("requirement") or "").strip()
    return "" if requirement == default_requirement(str(citation["section"])) else requirement


def _key(citation: Mapping[str, Any]) -> Key:
    return normalized_path(citation["file"]), citation["section"]


def _is_complete(citation: Mapping[str, Any]) -> bool:
    return all(isinstance(citation.get(key), str) and citation[key].strip() for key in ("file", "section"))


def _dropped_notes(inputs: CaptureInput, keys: tuple[Key, ...]) -> tuple[str, ...]:
    if not keys or inputs.task_file is None:
        return ()
    shown = first_of([f"{file}#{section}" for file, section in keys], _NAMED)
    return (f"standards: {shown} left out, since neither {inputs.task_file.name} nor {inputs.config_name} names it",)


def _no_citation_note(inputs: CaptureInput, values: Mapping[str, str]) -> str:
    message = "standards: none is cited, and the configuration asks for none"
    if inputs.config.standards:
        message += f" (area {values.get('area') or 'none'}, priority {values.get('priority') or 'none'})"
    return message

"""The citations of a task as they are captured: its own, and those that the configuration asks of its area."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.context.citations import truncated
from taskstate.context.task_file import default_requirement, parse_reference
from taskstate.errors import TaskstateError
from taskstate.messages import first_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.context.citations import CitedSection
    from taskstate.context.sources import CaptureInput
    from taskstate.model.config import Config

_OWN = "section 1"
_EVERYWHERE = "*"
_NAMED = 3  # citations; of more it is told how many
Key = tuple[str, str]  # file and slug


class CapturedCitations(NamedTuple):
    """What a task cites, sorted, each with sorted keys; where it comes from, and what to tell."""

    citations: tuple[dict[str, Any], ...]
    source: str
    notes: tuple[str, ...]


class _Own(NamedTuple):
    """A citation of the task's own: its words, none where they are to be found in the standard, and who says so."""

    words: str
    source: str


def captured_citations(known: CaptureInput, values: Mapping[str, str]) -> CapturedCitations:
    """Return what a task cites; of its own citation and a mapped one of the same section its own counts.

    Raises:
        TaskstateError: code "invalid-input": a citation is malformed, or there is none at all.
    """
    held = {_key(each): each for each in known.static.standards if _is_whole(each)}
    mapped = configured_citations(known.config, values.get("area", ""), values.get("priority", ""), known.settings)
    own, dropped = _own(known, held, mapped)
    made: list[dict[str, Any]] = []
    sources: dict[str, None] = {}
    for file, section in sorted({*own, *mapped}):
        key = file, section
        source = own[key].source if key in own else known.settings
        sources[source] = None
        cited = known.cite(file, section, source)
        words = own[key].words if key in own else ""
        if key in mapped and source == _OWN and known.anew and held[key].get("content_sha") != cited.content_sha:
            words = ""  # they may be the first words of what stood there then
        made.append(_entry(key, truncated(words), cited, held.get(key, {})))
    if not made:
        raise _none(known, values)
    return CapturedCitations(tuple(made), ", ".join(sources), _dropped(known, dropped))


def _entry(key: Key, words: str, cited: CitedSection, held: Mapping[str, Any]) -> dict[str, Any]:
    """Return a citation as it stands in the fence, its keys sorted; those of somebody's own are kept."""
    entry = {
        "file": key[0],
        "section": key[1],
        "requirement": words or cited.requirement,
        "line_span": cited.line_span,
        "content_sha": cited.content_sha,
        **{name: value for name, value in held.items() if name.startswith("x-")},
    }
    return dict(sorted(entry.items()))


def configured_citations(config: Config, area: str, priority: str, settings: str) -> dict[Key, None]:
    """Return which sections the configuration asks tasks of an area and priority to cite.

    Raises:
        TaskstateError: code "config": a citation names no section.
    """
    found: dict[Key, None] = {}
    for standard in config.standards:
        if standard.area not in {_EVERYWHERE, area} or (standard.priority and priority not in standard.priority):
            continue
        for reference in standard.cite:
            cited = parse_reference(reference)
            if cited is None:
                what = f"{settings}: standards cite {reference!r}, which names no section"
                raise TaskstateError(what, help="write it as FILE#heading-slug", code="config")
            found[normalized_path(cited[0]), cited[1]] = None
    return found


def normalized_path(file: str) -> str:
    """Return a path in its plain form, without `./` and doubled slashes."""
    return posixpath.normpath(file.replace("\\", "/"))


def _own(
    known: CaptureInput, held: Mapping[Key, Mapping[str, Any]], mapped: Mapping[Key, None]
) -> tuple[dict[Key, _Own], tuple[Key, ...]]:
    """Return the task's own citations, and those of section 1 that nobody names any more."""
    given = (
        {(normalized_path(each.file), each.section): each.requirement for each in known.given.standards}
        if known.given
        else {}
    )
    told = {key: _Own(words, known.given.name if known.given else "") for key, words in given.items()}
    if known.anew and known.given:
        return told, tuple(key for key in held if key not in told and key not in mapped)
    copies = {
        (normalized_path(each.file), each.section, each.requirement)
        for version in known.copied
        for each in version.standards
    }
    own = {key: _Own(_words(each), _OWN) for key, each in held.items() if (*key, _words(each)) not in copies}
    for key, each in told.items():
        own[key] = each._replace(words=own[key].words or each.words) if key in own else each
    return own, ()


def _words(citation: Mapping[str, Any]) -> str:
    words = str(citation.get("requirement") or "").strip()
    return "" if words == default_requirement(str(citation["section"])) else words


def _key(citation: Mapping[str, Any]) -> Key:
    return normalized_path(citation["file"]), citation["section"]


def _is_whole(citation: Mapping[str, Any]) -> bool:
    return all(isinstance(citation.get(key), str) and citation[key].strip() for key in ("file", "section"))


def _dropped(known: CaptureInput, keys: tuple[Key, ...]) -> tuple[str, ...]:
    if not keys or known.given is None:
        return ()
    named = first_of([f"{file}#{section}" for file, section in keys], _NAMED)
    return (f"standards: {named} left out, since neither {known.given.name} nor {known.settings} names it",)


def _none(known: CaptureInput, values: Mapping[str, str]) -> TaskstateError:
    area = values.get("area") or _EVERYWHERE
    what = "no standard is cited: neither the task nor the configuration names one"
    if known.config.standards:
        told = f"area {values.get('area') or 'none'}, priority {values.get('priority') or 'none'}"
        what = f"no standard is cited: the task names none, and the configuration has none for it ({told})"
    task = known.given.name if known.given else "a task file"
    help_ = (
        f"add [[standards]] with area = \"{area}\" and cite = ['FILE#heading-slug'] to {known.settings}, or "
        f"`standards: [FILE#heading-slug]` to {task}"
    )
    return TaskstateError(what, help=help_, code="invalid-input")

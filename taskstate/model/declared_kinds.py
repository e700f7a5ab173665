"""Reads a kind of state file that a project declares, and checks that commands can work with files of that kind.

A project may add sections to a built-in kind, or declare kinds of its own. What commands write into must stay as it is
built in, so a section with the title of a built-in one has everything that the built-in one has. A declaration may come
from a stranger's repository: it holds no pattern and no format of its own, which could take any amount of time or
memory.
"""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.model.document_kinds import HANDOFF, KINDS, Kind, SectionSpec, SubsectionSpec, built_in, from_json
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_NAME = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
_MAX_NAME = 40
_FENCES = ("checklist", "citations", "impact-map", "phase", "validation")


def read_kind(value: object, name: str, where: str) -> Kind:
    """Return the kind `name` that a project's file declares; `value` is its JSON, `where` names it in messages.

    Raises:
        TaskstateError: code "kind": it does not meet the schema, or lacks what commands need.
    """
    from taskstate.validation.schema_errors import find

    faults = find(value, "kind")
    if faults or not isinstance(value, dict):
        raise kind_error(where, faults[0].message if faults else "it is not an object")
    for problem in _problems(value, name):
        raise kind_error(where, problem)
    declared = from_json(value)
    for problem in _section_problems(declared):
        raise kind_error(where, problem)
    return declared


def kind_error(where: str, problem: str) -> TaskstateError:
    """Return the error for a project's declaration of a kind."""
    return TaskstateError(f"{where}: {problem}", help="correct it, or delete the file", code="kind")


def _problems(value: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield what is wrong with the kind as such."""
    if not re.fullmatch(_NAME, name) or len(name) > _MAX_NAME or name == HANDOFF:
        yield f"{name!r} cannot be the name of a kind: it has small letters, digits and dashes"
    if value["kind"] != name:
        yield f"`kind` is {value['kind']!r}, and the file's name says {name!r}"
    if value["front_matter"] != "task":
        yield f"`front_matter` is {value['front_matter']!r}; all state files have that of the schema 'task'"
    if re.search(r"[{}]", re.sub(r"\{(?:task_id|title)\}", "", value["title"])) or "{title}" not in value["title"]:
        yield "`title` holds `{title}`, and may hold `{task_id}`, but no other braces"
    if name in KINDS:
        own = built_in(name)
        for key in ("title", "placeholder"):
            if value[key] != getattr(own, key):
                yield f"`{key}` of the built-in kind {name!r} is {getattr(own, key)!r}, which commands look for"


def _section_problems(declared: Kind) -> Iterator[str]:
    """Yield what is wrong with the sections of a kind."""
    titles = [section.key for section in declared.sections]
    for section in declared.sections:
        if not section.key or titles.count(section.key) > 1:
            yield f"there are several sections {section.name!r}"
    base = built_in(declared.name) if declared.name in KINDS else built_in(KINDS[0])
    if declared.name in KINDS:
        missing = next((each.name for each in base.sections if each.key not in titles), "")
        if missing:
            yield f"the section {missing!r} of the built-in kind is missing, which commands need"
        order = [key for key in titles if any(each.key == key for each in base.sections)]
        if order != [each.key for each in base.sections]:
            yield "the sections of the built-in kind are not in their order"
        if titles[0] != base.sections[0].key:
            yield f"the first section is {base.sections[0].name!r}, which is what gets sealed"
    for section in declared.sections:
        own = next((each for each in base.sections if each.key == section.key), None)
        yield from _differences(section, own) if own else _faults_of_own(section)


def _differences(section: SectionSpec, own: SectionSpec) -> Iterator[str]:
    """Yield what a section with the title of a built-in one has not, or has otherwise."""
    names = {each.name for each in own.subsections}
    kept = section._replace(subsections=tuple(each for each in section.subsections if each.name in names))
    different = next((field for field in own._fields if getattr(kept, field) != getattr(own, field)), "")
    if different:
        yield f"`{different}` of the section {own.name!r} differs from the built-in one, which commands write into"
    more = tuple(each for each in section.subsections if each.name not in names)
    if more and section.closed:
        yield f"the section {own.name!r} has the subsection {more[0].name!r}, but only commands write subsections there"
    yield from _faults_of_own(section._replace(subsections=more, some_filled=None, fence=None))


def _faults_of_own(section: SectionSpec) -> Iterator[str]:
    parts: tuple[SectionSpec | SubsectionSpec, ...] = (section, *section.subsections)
    for part in parts:
        if part.fence and part.fence.schema not in _FENCES:
            yield f"`fence` of {part.name!r} names the schema {part.fence.schema!r}; there are {', '.join(_FENCES)}"
        if re.search(r"[\r\n]", part.name) or part.name != part.name.strip():
            yield f"{part.name!r} cannot be a title"
    for each in section.subsections:
        if each.pattern or each.form:
            yield f"the subsection {each.name!r} has a `pattern` or `form`, which only built-in ones may have"
    if section.some_filled and not {*section.some_filled.of} <= {each.name for each in section.subsections}:
        yield f"`some_filled` of {section.name!r} names a subsection that it does not declare"

"""Knows the titles of sections in state files of older forms, and by them such a file itself; pure."""

from __future__ import annotations

import re

from taskstate.model.document_kinds import built_in, section_key
from taskstate.model.task_state import SECTION_LEVEL
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.syntax.document import Document, Section

_KEY = r"(?m)^taskstate:[ \t]*\d"
METADATA = "Metadata"
STATIC, INPUTS, CHECKLIST = "Static Context", "Chain Inputs", "Feature Checklist"
LOG, HISTORY, OUTPUT, NOTES = "Progress Log", "Git History", "Chain Output", "Notes"
# Other titles under which people have what belongs into a section.
_TITLES = {
    METADATA: ("metadata", "meta data", "meta"),
    STATIC: ("task context",),
    INPUTS: ("chain input", "inputs"),
    CHECKLIST: ("features", "checklist", "feature list"),
    LOG: ("progress", "session log", "sessions", "progress notes"),
    HISTORY: ("commits", "commit history"),
    OUTPUT: ("chain outputs", "output"),
    NOTES: (),
}
_SECTIONS = {key: name for name, others in _TITLES.items() for key in (section_key(name), *others)}
# Parts that some files have as sections of their own, and the section that they belong to.
_LIFTED = {"task description": STATIC, "acceptance criteria": STATIC}


def is_older(document: Document) -> bool:
    """Return whether a state file has an older form: front matter is missing, and a section or session is there."""
    if document.front_matter.span or not any(each.kind == "front-matter-missing" for each in document.problems):
        return False
    return any(map(place_of, document.sections)) and keys_without_front_matter(document) is None


def keys_without_front_matter(document: Document) -> int | None:
    """Return the offset of the first key of a front matter that Markdown does not take for one; None if there is none.

    Its first line was lost, or something stands above it: a file of an older form has no such key.
    """
    body = next((each.span.start for each in document.sections if place_of(each)), len(document.text))
    key = re.compile(_KEY).search(document.text, 0, body)
    return key.start() if key else None


def place_of(section: Section) -> str:
    """Return the name of the section that a heading of the older form stands for, or ""."""
    key = section_key(section.title)
    if section.level != SECTION_LEVEL:
        return ""
    return _SECTIONS.get(key) or _LIFTED.get(key) or (LOG if _is_session(section.title) else "")


def is_part_title(title: str, place: str) -> bool:
    """Return whether a title that stands for the section `place` is that of a part of it, such as a session."""
    return section_key(title) in _LIFTED or (place == LOG and _is_session(title))


def _is_session(title: str) -> bool:
    log = built_in("task").section(LOG)
    spec = log.subsection(title) if log else None
    return spec is not None and section_key(title) != "session"

"""Reads a permanent task: its version, what it was given for, its Change Log, its decisions, and who confirmed what."""

from __future__ import annotations

import json
import re
from itertools import pairwise

from taskstate.model import document_kinds
from taskstate.model.document_kinds import built_in, section_key
from taskstate.model.loose_values import map_of
from taskstate.model.task_state import json_fence
from taskstate.syntax import hashes
from taskstate.syntax.nodes import Fault
from taskstate.syntax.spans import Span, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Section

PERMANENT = document_kinds.PERMANENT
USER_INTENT, IMPACT_MAP, DECISIONS = "User Intent", "Codebase Impact Map", "Architecture Decisions"
PHASE_STATUS, CONSTRAINTS, CHANGE_LOG = "Phase Status", "Constraints", "Change Log"
CONTENT = (USER_INTENT, IMPACT_MAP, DECISIONS, PHASE_STATUS, CONSTRAINTS)  # a change of these raises the version
VERSION_SEAL = "version_seal"
KEPT_VERSIONS = 50  # lines of the Change Log; older ones are in the archive file
ALL_SECTIONS = "all"  # in the first line of a Change Log

# What a change asks of who works on the older version, from little to much.
COSMETIC, INTERFACE, ARCHITECTURE = "cosmetic", "interface change", "architecture change"
LEVELS = (COSMETIC, INTERFACE, ARCHITECTURE)

PROPOSED, ACCEPTED, SUPERSEDED = "proposed", "accepted", "superseded"

_VERSION_LINE = (
    r"- v(?P<number>\d{1,9}) - (?P<at>\S+) - (?P<actor>.{1,500}?) - (?P<sections>[^:\n]{1,2000}): (?P<summary>[^\n]*?)"
    rf"(?: \[(?P<level>{'|'.join(LEVELS)})\])?"
)
_STATUS = r"(?i)(proposed|accepted|superseded)(?:\s+by\s+AD-(\d{1,9}))?[\s.]*"
_LABEL = r"(?m)^[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)(?P<label>[^*_\n]+?):?(?:\*\*|__):?[ \t]*(?P<text>[^\n]*)"
_LINE_NOISE = r"(?m)^[ \t]*[-*+][ \t]+"
_SEAL_DIGITS = 8


class LoggedVersion(NamedTuple):
    """A line of the Change Log: a version, when and by whom it was made, in which sections, and what it changed.

    `level` is empty where the line does not say it.
    """

    number: int
    at: str
    actor: str
    sections: tuple[str, ...]
    summary: str
    level: str = ""

    @property
    def line(self) -> str:
        """The line as the Change Log has it."""
        level = f" [{self.level}]" if self.level else ""
        return f"- v{self.number} - {self.at} - {self.actor} - {', '.join(self.sections)}: {self.summary}{level}"

    @property
    def weight(self) -> str:
        """The level, derived from the sections where the line does not say it."""
        return self.level or level_of_sections(self.sections)


class Decision(NamedTuple):
    """An Architecture Decision: `heir` is the number of the decision that supersedes it, or None."""

    number: int
    title: str
    status: str
    heir: int | None
    section: Section


def shown_version(number: int) -> str:
    """Return a version as people and agents read it."""
    return f"PT-v{number}"


def version_of(state: TaskState) -> int:
    """Return the version; where the front matter has none, the highest of the Change Log, and at least 1."""
    value = state.document.front_matter.get("version")
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    return max((each.number for each in change_log(state)), default=1)


def confirmed(values: Mapping[str, object]) -> dict[str, int]:
    """Return the version that each agent has confirmed, from the values of a front matter."""
    return {name: version for name, version in map_of(values.get("acks")).items() if isinstance(version, int)}


def content_of(state: TaskState, name: str) -> str:
    """Return the text of a section without its heading; empty where there is none, or where it is a placeholder."""
    section = state.section(name)
    text = section.body.of(state.document.text) if section else ""
    return "" if built_in(PERMANENT).is_placeholder(text) else text


# The Change Log


def change_log(state: TaskState) -> tuple[LoggedVersion, ...]:
    """Return the versions that the Change Log lists, in its order, which is newest first."""
    return tuple(filter(None, map(read_version_line, content_of(state, CHANGE_LOG).splitlines())))


def read_version_line(line: str) -> LoggedVersion | None:
    """Return the version that a line of the Change Log stands for, or None."""
    match = re.compile(_VERSION_LINE).fullmatch(line.rstrip())
    if match is None:
        return None
    sections = tuple(each.strip() for each in match["sections"].split(","))
    return LoggedVersion(
        int(match["number"]), match["at"], match["actor"], sections, match["summary"], match["level"] or ""
    )


def level_named(name: str) -> str:
    """Return the level that a word on the command line means, such as `interface`; empty for none."""
    return next((each for each in LEVELS if name and each.startswith(name)), "")


def level_of_sections(sections: tuple[str, ...]) -> str:
    """Return what a change of these sections asks of others, where no more is known about it."""
    keys = {section_key(each) for each in sections}
    if keys <= {section_key(PHASE_STATUS)}:
        return COSMETIC
    return INTERFACE if keys <= {section_key(each) for each in (PHASE_STATUS, CONSTRAINTS)} else ARCHITECTURE


def highest_level(versions: tuple[LoggedVersion, ...]) -> str:
    """Return the level of the change that asks most of others; cosmetic where there is none."""
    return max((each.weight for each in versions), key=LEVELS.index, default=COSMETIC)


# Decisions


def decisions(state: TaskState) -> tuple[Decision, ...]:
    """Return the Architecture Decisions in their order; a status that is none of the three is an empty text."""
    return tuple(_decisions(state))


def _decisions(state: TaskState) -> Iterator[Decision]:
    section, spec = state.section(DECISIONS), built_in(PERMANENT).section(DECISIONS)
    if section is None or spec is None:
        return
    for child in state.document.children(section, 3):
        declared = spec.subsection(child.title)
        groups = declared.match(child.title) if declared else None
        if groups:
            status, heir = _status(child.body.of(state.document.text))
            yield Decision(int(groups["number"]), groups.get("title", ""), status, heir, child)


def _status(text: str) -> tuple[str, int | None]:
    value = labelled(text).get("status", "")
    match = re.compile(_STATUS).fullmatch(value)
    return (match[1].lower(), int(match[2]) if match[2] else None) if match else ("", None)


def labelled(text: str) -> dict[str, str]:
    """Return the labels in bold that begin a line, in lower case, with the text on their line."""
    return {match["label"].strip().lower(): match["text"].strip() for match in _labels_in(text)}


def text_below(text: str, label: str) -> str:
    """Return what stands behind a label in bold and below it, up to the next label."""
    for match, following in pairwise([*_labels_in(text), None]):
        if match and match["label"].strip().lower() == label:
            return match.string[match.start("text") : following.start() if following else len(text)].strip()
    return ""


def line_of_label(text: str, section: Section, label: str) -> Span:
    """Return the line of a decision with a label in bold, or its heading where it has none."""
    for match in re.compile(_LABEL).finditer(text, *section.body):
        if match["label"].strip().lower() == label:
            return Span(match.end() - len(match[0].lstrip()), match.end())
    return section.heading


def _labels_in(text: str) -> Iterator[re.Match[str]]:
    return re.compile(_LABEL).finditer(with_newlines(text, "\n"))


# The seal of a version


def version_seal(state: TaskState, version: int) -> str:
    """Return what identifies the content of a version: the version, and a hash of each section.

    Reformatting changes no hash: blanks, bullets and the layout of JSON do not count.
    """
    return "-".join((str(version), *_hashes(state)))


def _hashes(state: TaskState) -> list[str]:
    return [hashes.sha256(_meaning(state, name).encode())[:_SEAL_DIGITS] for name in CONTENT]


def changed_sections(before: TaskState, after: TaskState) -> tuple[str, ...]:
    """Return the sections whose content differs between two states of a permanent task."""
    pairs = zip(CONTENT, _hashes(before), _hashes(after), strict=True)
    return tuple(name for name, old, new in pairs if old != new)


def edited_sections(state: TaskState) -> tuple[str, ...]:
    """Return the sections whose content changed since their version was given, without a new version.

    There are none where a version was raised by hand since, nor in a file that no command has given a version.
    """
    return tuple(edited_parts(state))


def sections_by_hand(state: TaskState) -> tuple[str, ...]:
    """Return the sections that the next write gives a version: the edited ones; all of a file without a seal."""
    if state.text(VERSION_SEAL):
        return edited_sections(state)
    return tuple(name for name in CONTENT if content_of(state, name).strip())


def edited_parts(state: TaskState) -> dict[str, str]:
    """Return the same sections, each with the part of the seal that its content no longer has."""
    seal = state.text(VERSION_SEAL)
    number, *hashes = (seal or "").split("-")
    if not seal or number != str(version_of(state)) or len(hashes) != len(CONTENT):
        return {}
    return {name: old for name, old, new in zip(CONTENT, hashes, _hashes(state), strict=True) if old != new}


def _meaning(state: TaskState, name: str) -> str:
    """Return a section's content without what formatting changes."""
    section = state.section(name)
    if section is None:
        return ""
    text = content_of(state, name)
    fence = json_fence(state.document, section.own) if text else None
    node = state.document.json(fence) if fence else None
    if fence and node is not None and not isinstance(node, Fault):
        text = text.replace(fence.span.of(state.document.text), json.dumps(node.value(), sort_keys=True))
    return "".join(re.compile(_LINE_NOISE).sub("", text).replace("*", "").replace("_", "").split())

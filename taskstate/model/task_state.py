"""Reads a document into `TaskState`: criteria, checklist, sessions, summary and other parts of a state file.

One-way: nothing here is written back; a change is an edit of the text. Reading never raises: a value that is missing or
of another type is None or empty, and what cannot be read is listed in `TaskState.problems`. Every part knows its span.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache

from taskstate.model.document_kinds import kind_of, section_key
from taskstate.syntax.document import Document, FrontMatter, Problem, Section
from taskstate.syntax.escaping import is_blank, unescape_item
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import Span, first_line, size_in_bytes, trimmed, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from taskstate.syntax.markdown_blocks import Block


KB = 1024
_FEATURES, _PROGRESS = "features", "overall_progress"  # keys of the Feature Checklist
SECTION_LEVEL, PART_LEVEL = 2, 3  # of the headings of sections, and of their parts: subsections, sessions, phases
_NUMBER = re.compile(r"session\s+#?(\d{1,9})\b(?![.,]\d)", re.IGNORECASE)
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ]+(\d{2}:\d{2})")
# Compiled where they are used, which most files do not come to.
_SUMMARY = r"(?i)archived summary\b(?:\s*\(sessions?\s+(\d{1,9})(?:\s*[-\u2013]\s*(\d{1,9}))?\))?"
# The look-behind for the line end follows the `**`: a pattern that begins with a literal is found 20 times as fast.
_LABEL = re.compile(r"\*\*(?<=[\r\n]\*\*)([^*\r\n:]+):\*\*[ \t]*")
CRITERION = re.compile(r"\[([ xX])\](?:[ \t]+|\Z|(?=[\r\n]))")
# `**Next steps**:` and `__Next steps:__` look the same when rendered. Only of the labels that every session has: other
# words in bold are prose.
_OTHER_LABEL = (
    r"(?i)(?:(?:\*\*|__)(?<=[\r\n]..))(what i did|issues(?: encountered)?|current state|next steps)"
    r"(?::(?:\*\*|__)|(?:\*\*|__):)[ \t]*"
)
_USUAL_LABELS = 4  # of a session: what was done, issues, current state, next steps
_FIELDS = {"issues": "issues encountered"}  # a second name for the same field


class Criterion(NamedTuple):
    """An acceptance criterion; `number` counts from 1, `mark` is the one character between its brackets."""

    number: int
    text: str
    checked: bool
    span: Span
    mark: Span


class _Feature(NamedTuple):
    id: str
    description: str
    passes: bool
    tested_at: str | None
    evidence: Any
    moved_to: str | None
    root: Node
    number: int


class Feature(_Feature):
    """An entry of the Feature Checklist, with its number from 0 in the json fence whose node is `root`."""

    @property
    def node(self) -> Node:
        """Its node in the json fence, which is looked for only now: few features are ever looked at so closely."""
        node = self.root.get(_FEATURES, self.number)
        return node or self.root


class Checklist(NamedTuple):
    """The Feature Checklist's json fence: `root` is its node tree, `progress` its value `overall_progress`."""

    fence: Block
    root: Node
    features: tuple[Feature, ...]
    progress: str | None

    @property
    def counted(self) -> tuple[Feature, ...]:
        """The features that count: those not moved to a subtask."""
        return tuple(feature for feature in self.features if not feature.moved_to)

    @property
    def open(self) -> tuple[Feature, ...]:
        """The features that neither pass nor were moved to a subtask."""
        return tuple(feature for feature in self.counted if not feature.passes)

    @property
    def passing(self) -> int:
        """The number of counted features that pass."""
        return sum(feature.passes for feature in self.counted)


class Field(NamedTuple):
    """A labelled part of a session: `**label:**` and the text up to the next label."""

    label_span: Span
    span: Span


class _Session(NamedTuple):
    document: Document
    section: Section
    number: int
    time: str | None


# A subclass, because a NamedTuple itself has no `__dict__` that could hold cached properties.
class Session(_Session):
    """An entry of the Progress Log."""

    @cached_property
    def span(self) -> Span:
        """The span from its heading to its last line that is not blank."""
        return trimmed(self.document.text, self.section.span)

    @property
    def number_span(self) -> Span:
        """The span of the number in the heading."""
        match = _NUMBER.search(self.document.text, *self.section.heading)
        return Span(*match.span(1)) if match else self.section.title_span

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The labelled parts by lower-case label; the first of several with one label."""
        return labelled_fields(self.document, self.section)

    def field(self, name: str) -> tuple[str, ...]:
        """Return the items of a field, or its text as the only one; empty where it is missing."""
        field = self.fields.get(name)
        return field_values(self.document, field.span) if field else ()

    @property
    def did(self) -> tuple[str, ...]:
        """The items of "What I did"."""
        return self.field("what i did")

    @property
    def issues(self) -> tuple[str, ...]:
        """The issues encountered."""
        return self.field("issues encountered")

    @property
    def state(self) -> str:
        """The text of "Current state"."""
        return "\n".join(self.field("current state"))

    @property
    def next(self) -> tuple[str, ...]:
        """The next steps."""
        return self.field("next steps")

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits, without backticks that enclose a whole item."""
        return tuple(value[1:-1] if re.fullmatch("`[^`]+`", value) else value for value in self.field("commits"))

    @property
    def verification(self) -> tuple[str, ...]:
        """The items of "Verification"."""
        return self.field("verification")

    @property
    def agent(self) -> str:
        """The agent that worked in the session."""
        return "\n".join(self.field("agent"))

    @property
    def entry(self) -> str:
        """The entry's text as the file has it, without trailing blank lines."""
        return self.span.of(self.document.text)


class Summary(NamedTuple):
    """The Archived Summary of the sessions `first` to `last`; `span` ends with its last line that is not blank."""

    section: Section
    first: int
    last: int
    span: Span


class _TaskState(NamedTuple):
    document: Document
    id: str
    kind: str
    title: str
    status: str
    revision: int


# A subclass, because a NamedTuple itself has no `__dict__` that could hold cached properties.
class TaskState(_TaskState):
    """The contents of one state file: what its front matter says, and what is in the body, which is read on demand."""

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The mistakes that keep a part of the file from being read; their messages, which quote it, can be shown."""
        return _without_secrets((*self.document.problems, *self.document.in_body(_json_problems)))

    @cached_property
    def parts(self) -> Mapping[str, Section]:
        """The level-2 sections by their keys; the first of several."""
        return self.document.derived(_parts, None)

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The acceptance criteria."""
        return self.document.derived(_criteria, None)

    @cached_property
    def checklist(self) -> Checklist | None:
        """The Feature Checklist, or None where there is none that can be read."""
        found = self.document.derived(_checklist, None)
        return None if isinstance(found, Fault) else found

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of the Progress Log."""
        return self._log[0]

    @property
    def summary(self) -> Summary | None:
        """The Archived Summary, or None."""
        return self._log[1]

    @cached_property
    def _log(self) -> tuple[tuple[Session, ...], Summary | None]:
        return self.document.derived(_log, None)

    @cached_property
    def description(self) -> str | None:
        """The task's description, or None."""
        section = self.subsection("Static Context", "Task Description")
        return with_newlines(section.body.of(self.document.text), "\n").strip("\n") if section else None

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The ids of the upstream tasks."""
        return depends_on(self.document)

    @property
    def archived(self) -> int:
        """The last session of the Archived Summary; 0 where there is none."""
        return self.summary.last if self.summary else 0

    @property
    def last_session(self) -> int:
        """The highest number of a session, archived ones included; 0 where there is none."""
        return max((self.archived, *(session.number for session in self.sessions)))

    @cached_property
    def size(self) -> int:
        """The file's size in bytes, line ends counted as LF."""
        return size_in_bytes(self.document.text)

    @property
    def size_kb(self) -> int:
        """The file's size in KB of 1,024 bytes, rounded up."""
        return -(-self.size // KB)

    @property
    def next_steps(self) -> tuple[str, ...]:
        """The next steps of the newest session."""
        return self.sessions[-1].next if self.sessions else ()

    def text(self, key: str) -> str | None:
        """Return a scalar of the front matter as it is written, or None."""
        node = self.document.front_matter.node
        value = node.get(key) if node else None
        return value.text if value and value.kind == "scalar" and value.text else None

    def subsection(self, section: str, name: str) -> Section | None:
        """Return the level-3 section of that name within a section, or None."""
        parent = self.parts.get(section_key(section))
        if parent is None:
            return None
        key = section_key(name)
        return next(
            (child for child in self.document.children(parent, PART_LEVEL) if section_key(child.title) == key), None
        )

    def section(self, name: str) -> Section | None:
        """Return the level-2 section of that name, or None."""
        return self.parts.get(section_key(name))


def read_state(document: Document, task_id: str = "") -> TaskState:
    """Return the state in `document`; `task_id` is the id in its file name, for a front matter without one."""
    state = document.derived(_state, kind_of(document.front_matter.get("kind")).name)
    return state if state.id or not task_id else state._replace(id=task_id)


def depends_on(document: Document) -> tuple[str, ...]:
    """Return the ids of the upstream tasks of a state file."""
    value = document.front_matter.node and document.front_matter.node.get("depends_on")
    return tuple(item.text for item in value.items if item.text) if value else ()


def _state(document: Document, kind: str) -> TaskState:
    values = document.front_matter
    revision = values.get("revision", 0)
    return TaskState(
        document=document,
        id=_text(values, "task_id"),
        kind=kind,
        title=_text(values, "title"),
        status=_text(values, "status"),
        revision=revision if isinstance(revision, int) and not isinstance(revision, bool) else 0,
    )


def _parts(document: Document, _given: None) -> Mapping[str, Section]:
    parts: dict[str, Section] = {}
    for section in document.sections:
        if section.level == SECTION_LEVEL:
            parts.setdefault(section_key(section.title), section)
    return parts


def _without_secrets(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return problems whose messages, which quote the text, are safe to show."""
    if not problems:
        return ()
    from taskstate.validation.secrets import masked

    return tuple(each._replace(message=masked(each.message)) for each in problems)


def section_of(document: Document, name: str) -> Section | None:
    """Return the first level-2 section of that name in a document, or None."""
    return document.derived(_parts, None).get(section_key(name))


def session_number(title: str) -> int | None:
    """Return the session number in a heading, or None where it is not a session's heading."""
    match = _NUMBER.match(title)
    return int(match[1]) if match else None


def is_summary(title: str) -> bool:
    """Return whether a heading of the Progress Log is that of the Archived Summary."""
    return bool(re.compile(_SUMMARY).match(title))


def _text(front_matter: FrontMatter, key: str) -> str:
    value = front_matter.node.get(key) if front_matter.node else None
    return value.text if value and value.kind == "scalar" else ""


def _log(document: Document, _given: None) -> tuple[tuple[Session, ...], Summary | None]:
    sessions: list[Session] = []
    summary = None
    log = section_of(document, "Progress Log")
    for child in document.children(log, PART_LEVEL) if log else ():
        session = session_of(document, child)
        if session:
            sessions.append(session)
        elif summary is None and (match := re.compile(_SUMMARY).match(child.title)):
            first = int(match[1] or 0)
            summary = Summary(
                section=child, first=first, last=int(match[2] or first), span=trimmed(document.text, child.span)
            )
    return tuple(sessions), summary


def session_of(document: Document, section: Section) -> Session | None:
    """Return the session in a section, or None where its heading is not a session's."""
    number, time = _number_and_time(section.title)
    if number is None:
        return None
    return Session(document, section, number, time)


@lru_cache(maxsize=20_000)  # the same headings are there before a change and after it
def _number_and_time(title: str) -> tuple[int | None, str | None]:
    time = _TIME.search(title)
    return session_number(title), f"{time[1]} {time[2]}" if time else None


def labelled_fields(document: Document, section: Section) -> Mapping[str, Field]:
    """Return the labelled parts of a session or summary by lower-case label, ignoring labels in fences and comments."""
    text, labels = document.text, _labels(document, section.body)
    ends = [*(match.start() for match in labels[1:]), section.body.end]
    fields: dict[str, Field] = {}
    for match, end in zip(labels, ends, strict=False):
        span = trimmed(text, Span(match.end(), end))
        fields.setdefault(_name_of(match), Field(Span(*match.span()), span))
    return fields


def filled_labels(document: Document, section: Section) -> set[str]:
    """Return the labels of a session's fields that say something, in lower case; without a record of each field."""
    text, end = document.text, section.body.end
    filled: set[str] = set()
    for match in reversed(_labels(document, section.body)):  # of several with one label the first counts
        (filled.discard if is_blank(text[match.end() : end]) else filled.add)(_name_of(match))
        end = match.start()
    return filled


def _labels(document: Document, body: Span) -> list[re.Match[str]]:
    """Return the labels in a part of the log, but for those in fences and comments."""
    text = document.text
    if text.find("**", *body) < 0 and text.find("__", *body) < 0:
        return []
    labels = list(_LABEL.finditer(text, *body))
    if len(labels) < _USUAL_LABELS:
        others = [
            each for each in re.compile(_OTHER_LABEL).finditer(text, *body) if not _LABEL.match(text, each.start())
        ]
        labels = sorted([*labels, *others], key=lambda match: match.start())
    starts, ends = document.derived(_opaque, None)
    first = bisect_left(starts, body.start)
    if first == len(starts) or starts[first] >= body.end:
        return labels
    # Blocks do not overlap, so only the last one before a label can contain it.
    before = [(match, bisect_right(starts, match.start()) - 1) for match in labels]
    return [match for match, block in before if block < first or ends[block] <= match.start()]


def _name_of(label: re.Match[str]) -> str:
    name = label[1].strip().lower()
    return _FIELDS.get(name, name)


def _opaque(document: Document, _given: None) -> tuple[list[int], list[int]]:
    """Return where the fences and comments of a document begin, and where they end."""
    spans = [block.span for block in document.blocks if block.kind != "heading"]
    return [span.start for span in spans], [span.end for span in spans]


def field_values(document: Document, span: Span) -> tuple[str, ...]:
    """Return the values of a field: the text on its label's line, then its list items; without a list all its text."""
    text = document.text
    first = first_line(text, span)
    label_line = first.of(text).strip()
    below = Span(first.end, span.end)
    items = document.items(below)
    if not items:
        content = with_newlines(span.of(text), "\n").strip()
        return (content,) if content else ()
    before = with_newlines(text[first.end : items[0].span.start], "\n").strip()
    texts = [label_line, before, *(item_text(text, item.span, item.content) for item in items)]
    return tuple(value for value in texts if value)


def item_text(text: str, span: Span, content: Span) -> str:
    """Return the text of a list item without its marker and the indentation that belongs to the marker."""
    first, *rest = with_newlines(content.of(text), "\n").split("\n")
    indent = content.start - span.start
    return unescape_item("\n".join([first, *(line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in rest)]))


def _criteria(document: Document, _given: None) -> tuple[Criterion, ...]:
    static = section_of(document, "Static Context")
    if static is None:
        return ()
    section = next(
        (child for child in document.children(static, PART_LEVEL) if section_key(child.title) == "acceptance criteria"),
        None,
    )
    criteria: list[Criterion] = []
    for item in document.items(section.body) if section else ():
        match = CRITERION.match(document.text, *item.content)
        if match:
            text = unescape_item(item_text(document.text, item.span, item.content)[match.end() - item.content.start :])
            checked = match[1] != " "
            criteria.append(
                Criterion(
                    number=len(criteria) + 1, text=text, checked=checked, span=item.span, mark=Span(*match.span(1))
                )
            )
    return tuple(criteria)


def _json_problems(document: Document, _given: None) -> tuple[Problem, ...]:
    fault = document.derived(_checklist, None)
    return (Problem("json-invalid", fault.message, fault.span),) if isinstance(fault, Fault) else ()


def _checklist(document: Document, _given: None) -> Checklist | Fault | None:
    section = section_of(document, "Feature Checklist")
    fence = json_fence(document, section.own) if section else None
    if fence is None:
        return None
    root = document.json(fence)
    if isinstance(root, Fault):
        return root
    values = root.plain if root.kind == "mapping" else {}
    entries = values.get(_FEATURES)
    features = enumerate(entries if isinstance(entries, list) else ())
    return Checklist(
        fence=fence,
        root=root,
        features=tuple(feature for index, each in features if (feature := _feature(each, root, index))),
        progress=_progress(values, root),
    )


def _progress(values: Mapping[str, Any], root: Node) -> str | None:
    progress = values.get(_PROGRESS)
    if isinstance(progress, str):
        return progress
    node = root.get(_PROGRESS) if _PROGRESS in values else None
    return node.text if node else None  # as it is written, even where it is no string


def json_fence(document: Document, span: Span) -> Block | None:
    """Return the first json fence that begins within `span`, or None."""
    return next((block for block in document.blocks_in(span, "fence") if is_json_fence(block)), None)


def is_json_fence(block: Block) -> bool:
    """Return whether a code fence is marked as JSON."""
    return block.text.lower().split(maxsplit=1)[:1] == ["json"]


def _feature(value: Any, root: Node, number: int) -> Feature | None:  # noqa: ANN401 - any JSON value
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return None
    moved, tested = value.get("moved_to"), value.get("tested_at")
    return Feature(
        id=value["id"],
        description=str(value.get("description", "")),
        passes=value.get("passes") is True,
        tested_at=tested if isinstance(tested, str) else None,
        evidence=value.get("evidence"),
        moved_to=moved if isinstance(moved, str) else None,
        root=root,
        number=number,
    )

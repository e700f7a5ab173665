"""Reads a document into `TaskState`: criteria, checklist, sessions, summary and other parts of a state file.

One-way: nothing here is written back; a change is an edit of the text. Reading never raises: a value that is missing or
of another type is None or empty, and what cannot be read is listed in `TaskState.problems`. Every part knows its span.
"""

from __future__ import annotations

from functools import cached_property

from taskstate.model import statuses
from taskstate.model.document_kinds import kind_of, section_key
from taskstate.model.progress_log import Session, Summary, read_log
from taskstate.syntax.document import Document, FrontMatter, Problem, Section
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import Span, size_in_bytes, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from taskstate.model.criteria import Criterion
    from taskstate.syntax.markdown_blocks import Block


KB = 1024
_FEATURES, _PROGRESS = "features", "overall_progress"  # keys of the Feature Checklist
_MARKS = "`'\"()[],;:.!?*"  # around the id of a feature in a sentence
SECTION_LEVEL, PART_LEVEL = 2, 3  # of the headings of sections, and of their parts: subsections, sessions, phases


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
        own = (*self.document.problems, *_status_problems(self.document), *self.document.in_body(_json_problems))
        return _without_secrets(own)

    @cached_property
    def parts(self) -> Mapping[str, Section]:
        """The level-2 sections by their keys; the first of several."""
        return self.document.derived(_parts, None)

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The acceptance criteria."""
        from taskstate.model.criteria import read_criteria

        return read_criteria(self.document).sound

    @cached_property
    def checklist(self) -> Checklist | None:
        """The Feature Checklist, or None where there is none that can be read."""
        found = self.document.derived(_checklist, None)
        return None if isinstance(found, Fault) else found

    @property
    def open_features(self) -> tuple[Feature, ...]:
        """The features that neither pass nor were moved to a subtask."""
        return self.checklist.open if self.checklist else ()

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
    def subtasks(self) -> tuple[str, ...]:
        """The ids of the tasks into which it was divided."""
        return _ids(self.document, "subtasks")

    @property
    def archived(self) -> int:
        """The last session of the Archived Summary; 0 where there is none."""
        return self.summary.last if self.summary else 0

    @property
    def last_session(self) -> int:
        """The highest number of a session, archived ones included; 0 where there is none."""
        return max((self.archived, *(session.number for session in self.sessions)))

    @property
    def last_own_session(self) -> int:
        """The same of sessions that somebody said, or that are archived; what was autosaved nobody said."""
        return max((self.archived, *(session.number for session in self.sessions if not session.is_autosaved)))

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

    @property
    def told_steps(self) -> tuple[str, ...]:
        """The next steps, each with where the features went that it names, if they were moved to a subtask."""
        went = {each.id: each.moved_to for each in self.checklist.features if each.moved_to} if self.checklist else {}
        told = []
        for step in self.next_steps:
            targets = dict.fromkeys(went[name] for word in step.split() if (name := word.strip(_MARKS)) in went)
            told.append(f"(moved to {', '.join(targets)}) {step}" if targets else step)
        return tuple(told)

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
    state = document.derived(_state, kind_of(document).name)
    return state if state.id or not task_id else state._replace(id=task_id)


def depends_on(document: Document) -> tuple[str, ...]:
    """Return the ids of the upstream tasks of a state file."""
    return _ids(document, "depends_on")


def _ids(document: Document, key: str) -> tuple[str, ...]:
    value = document.front_matter.node and document.front_matter.node.get(key)
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
    from taskstate.secrets.mask import masked

    return tuple(each._replace(message=masked(each.message)) for each in problems)


def section_of(document: Document, name: str) -> Section | None:
    """Return the first level-2 section of that name in a document, or None."""
    return document.derived(_parts, None).get(section_key(name))


def _log(document: Document, _given: None) -> tuple[tuple[Session, ...], Summary | None]:
    log = section_of(document, "Progress Log")
    return read_log(document, document.children(log, PART_LEVEL) if log else ())


def _text(front_matter: FrontMatter, key: str) -> str:
    value = front_matter.node.get(key) if front_matter.node else None
    return value.text if value and value.kind == "scalar" else ""


def _status_problems(document: Document) -> Iterator[Problem]:
    value = document.front_matter.node.get("status") if document.front_matter.node else None
    message = statuses.unknown(value.text) if value and value.kind == "scalar" else ""
    if value and message:
        yield Problem("status-unknown", message, value.span)


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

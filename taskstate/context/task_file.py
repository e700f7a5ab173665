"""Reads task files (`.task.yaml`): what somebody else says a task is.

Text that may have several lines is brought into one form (`normalize`); all else is taken as it stands. Keys that are
not described in `schemas/task-file.schema.json` mean nothing here.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.context.normalization import normalize
from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.syntax.nodes import Node
from taskstate.syntax.yaml_reader import read_yaml_file
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.validation.schema_files import KeyPath

_DIRECTIVE = r"\ufeff?(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r(?!\n)|\n))*(%)"  # as the first line that says anything
_MOST_REQUIREMENT = 140  # characters
_NOTHING: Mapping[Any, Any] = {}
MOST_BYTES = 10 * 1024**2  # of a task file: it is a text that people write


class Citation(NamedTuple):
    """A section of a standard that a task cites, by file and slug, in the task's own words where it has any."""

    file: str
    section: str
    requirement: str = ""


class TaskFile(NamedTuple):
    """What a task file says; what it leaves open is empty. `lines` tells the line of each value."""

    name: str
    sha: str
    title: str = ""
    priority: str = ""
    area: str = ""
    description: str = ""
    scope_in: tuple[str, ...] = ()
    scope_out: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    standards: tuple[Citation, ...] = ()
    lines: Mapping[KeyPath, int] = _NOTHING


def read_task_file(name: str, data: bytes) -> TaskFile:
    """Return what the task file `name` says.

    Raises:
        TaskstateError: it is no such YAML, or a value has the wrong type.
    """
    root = _parsed(name, data)
    lines = _lines(root, data.decode())
    values = _valid(name, root, lines)
    scope, qa = values.get("scope") or {}, values.get("qa") or {}
    return TaskFile(
        name=name,
        sha=git_blob_id(data),
        title=values.get("title") or "",
        priority=values.get("priority") or "",
        area=values.get("area") or "",
        description=normalize(values.get("description") or "").strip(),
        scope_in=tuple(scope.get("in") or ()),
        scope_out=tuple(scope.get("out") or ()),
        criteria=tuple(normalize(text).strip() for text in values.get("acceptance_criteria") or ()),
        commands=tuple(qa.get("commands") or ()),
        standards=tuple(_citation(name, each) for each in values.get("standards") or ()),
        lines=lines,
    )


def git_blob_id(data: bytes) -> str:
    """Return the id that git gives a file with this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def blob_ids(data: bytes) -> tuple[str, ...]:
    """Return the ids that a text may have in git whose line ends a checkout may have changed; its own comes first."""
    plain = data.replace(b"\r\n", b"\n")
    return tuple(dict.fromkeys(map(git_blob_id, (data, plain, plain.replace(b"\n", b"\r\n")))))


def default_requirement(section: str) -> str:
    """Return what stands as the requirement of a citation for which nobody has said one yet."""
    return f"see {section}"[:_MOST_REQUIREMENT]


def parse_reference(reference: str) -> tuple[str, str] | None:
    """Return file and slug that `FILE#slug` names, or None where one of them is missing."""
    file, _, section = reference.strip().partition("#")
    return (file.strip(), section.strip()) if file.strip() and section.strip() else None


def _parsed(name: str, data: bytes) -> Node:
    text = decoded(data, name)
    directive = re.compile(_DIRECTIVE).match(text)
    if directive:
        line = text.count("\n", 0, directive.start(1)) + 1
        what = f"{name}, line {line}: a directive (`%`) stands here; task files are read as YAML 1.2"
        raise TaskstateError(what, help="leave that line out", code="invalid-input")
    node = read_yaml_file(text)
    if not isinstance(node, Node):
        line = text.count("\n", 0, node[0].span.start) + 1
        raise TaskstateError(
            f"{name}, line {line}: {_worded(node[0].message)}", help="correct the task file", code="invalid-input"
        )
    return node


def _worded(message: str) -> str:
    """Return a message of the YAML reader, which reads front matters as a rule, for a file that is YAML as a whole."""
    return message.replace("the front matter", "the task file")


def _valid(name: str, root: Node, lines: Mapping[KeyPath, int]) -> Mapping[str, Any]:
    values: Mapping[str, Any] = schema.typed_value(root, "task-file")
    for fault in schema.faults(values, "task-file"):
        what = f"{name}, line {lines.get(fault.path, 1)}: {fault.message}"
        raise TaskstateError(what, help="correct the task file", code="invalid-input")
    return values


def _lines(root: Node, text: str) -> Mapping[KeyPath, int]:
    """Return the number of the line, from 1, at which each value begins."""
    return {path: text.count("\n", 0, node.span.start) + 1 for path, node in _nodes(root, ())}


def _nodes(node: Node, path: KeyPath) -> list[tuple[KeyPath, Node]]:
    children = [((*path, entry.key.text), entry.value) for entry in node.entries]
    children += [((*path, index), item) for index, item in enumerate(node.items)]
    return [(path, node), *(found for child in children for found in _nodes(child[1], child[0]))]


def _citation(name: str, standard: str | Mapping[str, str]) -> Citation:
    """Return a standard that a task file names; `file.md#slug` is short for file and section."""
    if not isinstance(standard, str):
        return Citation(standard["file"], standard["section"], standard.get("requirement") or "")
    found = parse_reference(standard)
    if found is None:
        what = f"the task file {name} cites {standard!r}, which names no section"
        raise TaskstateError(what, help="write it as FILE#heading-slug", code="invalid-input")
    return Citation(*found)

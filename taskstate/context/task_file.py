"""Reads task files (`.task.yaml`), in which other tools or people describe a task.

Texts of several lines are normalized (`normalize`); all other values stay as they are. Keys that
`schemas/task-file.schema.json` does not describe are ignored.
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

# A `%` in the first line that is neither blank nor a comment. `\r(?!\n)` keeps CRLF from matching in two ways, which
# takes exponential time on many comment lines.
_DIRECTIVE = r"\ufeff?(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r(?!\n)|\n))*(%)"
_MOST_REQUIREMENT = 140  # characters
_NOTHING: Mapping[Any, Any] = {}
MOST_BYTES = 10 * 1024**2  # of a task file: task files are texts that people write


class Citation(NamedTuple):
    """A section of a standard that a task cites, by file and slug; `requirement` is the task's own wording, if any."""

    file: str
    section: str
    requirement: str = ""


class TaskFile(NamedTuple):
    """The values of a task file, empty where it has none; `lines` maps the path of each value to its line."""

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
    """Parse the task file `name`.

    Raises:
        TaskstateError: it is not valid YAML, or a value has the wrong type.
    """
    root = _parse(name, data)
    lines = _lines(root, data.decode())
    values = _validated(name, root, lines)
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
    """Return the id of a git blob with this content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def blob_ids(data: bytes) -> tuple[str, ...]:
    """Return the blob ids that a file may have in git, its own first: a checkout may have changed its line ends."""
    with_lf = data.replace(b"\r\n", b"\n")
    return tuple(dict.fromkeys(map(git_blob_id, (data, with_lf, with_lf.replace(b"\n", b"\r\n")))))


def default_requirement(section: str) -> str:
    """Return the placeholder requirement of a citation that has none yet."""
    return f"see {section}"[:_MOST_REQUIREMENT]


def parse_reference(reference: str) -> tuple[str, str] | None:
    """Return file and slug of a reference `FILE#slug`, or None where one of them is missing."""
    file, _, section = reference.strip().partition("#")
    return (file.strip(), section.strip()) if file.strip() and section.strip() else None


def _parse(name: str, data: bytes) -> Node:
    text = decoded(data, name)
    directive = re.compile(_DIRECTIVE).match(text)
    if directive:
        line = text.count("\n", 0, directive.start(1)) + 1
        message = f"{name}, line {line}: a directive (`%`) stands here; task files are read as YAML 1.2"
        raise TaskstateError(message, help="leave that line out", code="invalid-input")
    node = read_yaml_file(text)
    if not isinstance(node, Node):
        line = text.count("\n", 0, node[0].span.start) + 1
        reason = node[0].message.replace("the front matter", "the task file")  # the reader usually reads front matters
        message = f"{name}, line {line}: {reason}"
        raise TaskstateError(message, help="correct the task file", code="invalid-input")
    return node


def _validated(name: str, root: Node, lines: Mapping[KeyPath, int]) -> Mapping[str, Any]:
    values: Mapping[str, Any] = schema.typed_value(root, "task-file")
    for fault in schema.faults(values, "task-file"):
        message = f"{name}, line {lines.get(fault.path, 1)}: {fault.message}"
        raise TaskstateError(message, help="correct the task file", code="invalid-input")
    return values


def _lines(root: Node, text: str) -> Mapping[KeyPath, int]:
    """Return the line, from 1, at which each value begins, by the path of the value."""
    return {path: text.count("\n", 0, node.span.start) + 1 for path, node in _nodes(root, ())}


def _nodes(node: Node, path: KeyPath) -> list[tuple[KeyPath, Node]]:
    children = [((*path, entry.key.text), entry.value) for entry in node.entries]
    children += [((*path, index), item) for index, item in enumerate(node.items)]
    return [(path, node), *(nested for child in children for nested in _nodes(child[1], child[0]))]


def _citation(name: str, standard: str | Mapping[str, str]) -> Citation:
    """Return a citation of a task file, which may be written short as `file.md#slug`."""
    if not isinstance(standard, str):
        return Citation(standard["file"], standard["section"], standard.get("requirement") or "")
    reference = parse_reference(standard)
    if reference is None:
        message = f"the task file {name} cites {standard!r}, which names no section"
        raise TaskstateError(message, help="write it as FILE#heading-slug", code="invalid-input")
    return Citation(*reference)

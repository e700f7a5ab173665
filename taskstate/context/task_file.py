"""Reads task files (`.task.yaml`), in which other tools or people describe a task.

Texts of several lines are normalized (`normalize`); all other values stay as they are. Only a block scalar (`|`, `>`)
has comments inside: in any other value a `#` is a part of the text. A key that `schemas/task-file.schema.json` does
not describe is a warning, since the file may serve other programs too.
"""

from __future__ import annotations

import hashlib
import re

from taskstate.context.capture_paths import paths_among
from taskstate.context.normalization import comment_lines, normalize, without_html_comments
from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import with_newlines
from taskstate.syntax.yaml_reader import read_yaml_file
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from taskstate.validation.schema_errors import SchemaFault
    from taskstate.validation.schema_files import KeyPath

# A `%` in the first line that is neither blank nor a comment. `\r(?!\n)` keeps CRLF from matching in two ways, which
# takes exponential time on many comment lines.
_DIRECTIVE = r"\ufeff?(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r(?!\n)|\n))*(%)"
_CRITERIA = "acceptance_criteria"
_MOST_REQUIREMENT = 140  # characters
_NOTHING: Mapping[Any, Any] = {}
FACTS = ("agent", "repository", "epic", "prd")  # texts of the front matter that are not sealed
MOST_BYTES = 10 * 1024**2  # of a task file: task files are texts that people write


class Citation(NamedTuple):
    """A section of a standard that a task cites, by file and slug; `requirement` is the task's own wording, if any."""

    file: str
    section: str
    requirement: str = ""


class TaskFile(NamedTuple):
    """The values of a task file, empty where it has none; `lines` maps the path of each value to its line.

    `warnings` name the keys that are not known.
    """

    name: str
    sha: str
    title: str = ""
    agent: str = ""
    repository: str = ""
    epic: str = ""
    prd: str = ""
    priority: str = ""
    area: str = ""
    depends_on: tuple[str, ...] = ()
    description: str = ""
    scope_in: tuple[str, ...] = ()
    scope_out: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    standards: tuple[Citation, ...] = ()
    features: tuple[tuple[str, str], ...] = ()
    paths: tuple[str, ...] = ()
    lines: Mapping[KeyPath, int] = _NOTHING
    warnings: tuple[str, ...] = ()

    @property
    def path_items(self) -> tuple[str, ...]:
        """The Repository Paths: those that it names as such, else the items in its scope that are certainly paths."""
        return self.paths or paths_among(self.scope_in)


def read_task_file(name: str, data: bytes) -> TaskFile:
    """Parse the task file `name`.

    Raises:
        TaskstateError: it is not valid YAML, or a value has the wrong type.
    """
    root = _parse(name, data)
    places = tuple(_places(root, data.decode(), (), root))
    of_keys = {path: line for path, line, _ in places}
    values, warnings = _validated(name, root, of_keys)
    scope, qa = values.get("scope") or {}, values.get("qa") or {}
    return TaskFile(
        name=name,
        sha=git_blob_id(data),
        **{key: values.get(key) or "" for key in ("title", *FACTS, "priority", "area")},
        depends_on=_listed(values, "depends_on"),
        description=_normal(root, ("description",), values.get("description") or ""),
        scope_in=_listed(scope, "in"),
        scope_out=_listed(scope, "out"),
        criteria=tuple(_normal(root, (_CRITERIA, at), text) for at, text in enumerate(_listed(values, _CRITERIA))),
        commands=_listed(qa, "commands"),
        standards=tuple(_citation(name, each) for each in _listed(values, "standards")),
        features=tuple((each["id"], each["description"]) for each in _listed(values, "features")),
        paths=_listed(values, "repository_paths"),
        lines={path: line for path, _, line in places},
        warnings=(*warnings, *_comments_left_out(name, root, values, of_keys)),
    )


def _listed(values: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    return tuple(values.get(key) or ())


def _normal(root: Node, path: KeyPath, text: str) -> str:
    return normalize(text, has_comments=_is_block(root, path)).strip()


def _is_block(root: Node, path: KeyPath) -> bool:
    """Return whether the value at a path is a block scalar, the one kind of value in which a line may be a comment."""
    node = root.get(*path)
    return node is not None and node.style in {"literal", "folded"}


def _comments_left_out(name: str, root: Node, values: Mapping[str, Any], lines: Mapping[KeyPath, int]) -> Iterator[str]:
    """Yield remarks for each text of a task file of which comments are not taken over."""
    texts: list[tuple[KeyPath, str]] = [
        (("description",), values.get("description") or ""),
        *(((_CRITERIA, at), text) for at, text in enumerate(_listed(values, _CRITERIA))),
    ]
    for path, text in texts:
        place = f"{name}, line {lines.get(path, 1)}"
        if without_html_comments(text) != with_newlines(text, "\n"):
            yield f"{place}: HTML comments in `{path[0]}` are left out"
        for line in comment_lines(text) if _is_block(root, path) else ():
            yield f"{place}: a line of `{path[0]}` is left out as a comment (`\\#` keeps one): {line}"


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
        message = f"{name}, line {line}: there is a directive (`%`) here; task files are read as YAML 1.2"
        raise TaskstateError(message, help="leave that line out", code="invalid-input")
    node = read_yaml_file(text)
    if not isinstance(node, Node):
        line = text.count("\n", 0, node[0].span.start) + 1
        reason = node[0].message.replace("the front matter", "the task file")  # the reader usually reads front matters
        message = f"{name}, line {line}: {reason}"
        raise TaskstateError(message, help="correct the task file", code="invalid-input")
    return node


def _validated(name: str, root: Node, lines: Mapping[KeyPath, int]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return the values of a task file, and a warning for each key that is not known; `lines` are those of the keys.

    Raises:
        TaskstateError: code "invalid-input": a value has the wrong type, or a required one is missing.
    """
    values: Mapping[str, Any] = schema.typed_value(root, "task-file")
    faults = schema.faults(values, "task-file")
    unknown = tuple(fault for fault in faults if fault.keyword == "unknown-key")
    known_values = _without(values, {fault.path for fault in unknown})
    wrong = tuple(fault for fault in faults if fault not in unknown) or schema.faults(known_values, "task-file")
    if wrong:
        # A misspelt key hides the one that is missing: that message says more.
        fault = next((each for each in unknown if each.path[:-1] == wrong[0].path), wrong[0])
        raise TaskstateError(_message(name, fault, lines), help="correct the task file", code="invalid-input")
    return known_values, tuple(_message(name, fault, lines) for fault in unknown)


def _message(name: str, fault: SchemaFault, lines: Mapping[KeyPath, int]) -> str:
    return f"{name}, line {lines.get(fault.path, 1)}: {fault.message}"


def _without(value: Any, paths: set[KeyPath], path: KeyPath = ()) -> Any:  # noqa: ANN401 - any YAML value
    """Return a value without what lies at the given paths."""
    if isinstance(value, dict):
        return {key: _without(each, paths, (*path, key)) for key, each in value.items() if (*path, key) not in paths}
    if isinstance(value, list):
        return [_without(each, paths, (*path, index)) for index, each in enumerate(value)]
    return value


def _places(node: Node, text: str, path: KeyPath, label: Node) -> Iterator[tuple[KeyPath, int, int]]:
    """Yield the path of each value with two lines, from 1: of its key (`label`), and of the value itself."""
    of_key, of_value = (text.count("\n", 0, each.span.start) + 1 for each in (label, node))
    yield path, of_key, of_value
    for entry in node.entries:
        yield from _places(entry.value, text, (*path, entry.key.text), entry.key)
    for index, item in enumerate(node.items):
        yield from _places(item, text, (*path, index), item)


def _citation(name: str, standard: str | Mapping[str, str]) -> Citation:
    """Return a citation of a task file, which may be written short as `file.md#slug`."""
    if not isinstance(standard, str):
        return Citation(standard["file"], standard["section"], standard.get("requirement") or "")
    reference = parse_reference(standard)
    if reference is None:
        message = f"the task file {name} cites {standard!r}, which names no section"
        raise TaskstateError(message, help="write it as FILE#heading-slug", code="invalid-input")
    return Citation(*reference)

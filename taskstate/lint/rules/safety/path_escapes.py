r"""path-escapes: a path leaves the repository, is absolute, or goes through a link that does.

## What

Checked are the paths that tools follow: those of the front matter (archive, task file, sources, logs, diffs, evidence,
handoffs, output), the files of the Standards, the globs of Repository Paths and of an Impact Map, and those that a
handoff names. Such a path begins at the repository's root or at the state folder and stays inside: it is not absolute,
has no drive letter and no `~`, and does not leave by `..` (also written with `\`). Where the disk can be read, no link
on the way leads outside either. A changed file of a snapshot may itself be such a link.

## Why

Commands read, hash, pack and replace the files at these paths, on the machine of everybody who has the state file. A
path that leads outside makes them read files that were never meant to be read, and means another file on every machine.

## Example

```markdown
### Repository Paths

- `../billing/src/**`
- `/home/ann/notes.md`
```

## Instead

Name paths in this repository; for files elsewhere, describe in words where to look:

```markdown
### Repository Paths

- `src/**`
```

A link that leads outside can be replaced by a copy of its target, or by a file that says where the target is.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.json_values import json_value
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema
from taskstate.validation.paths import escape_reason, literal_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node
    from taskstate.validation.schema_files import KeyPath

RULE = Rule(
    code="TS952",
    name="path-escapes",
    summary="a path leaves the repository, is absolute, or goes through a link that does",
)

_REPOSITORY, _STATE = "x-path", "x-state-path"  # schema keywords that mark a path, by the folder it begins at
_IMPACT_MAP = "impact-map"
_WITH_PATHS = frozenset({_IMPACT_MAP, "citations"})


class _PathUse(NamedTuple):
    """A path with its span, the keys and indices that lead to it (none in the body), and the folder it begins at."""

    path: str
    span: Span
    keys: KeyPath = ()
    folder: str = ""


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield a finding for each path that leads outside, at its place."""
    for use in _paths(document, facts):
        root = "the state folder" if use.folder else "the repository"
        reason = escape_reason(use.path, root)
        if not reason and _is_linked_out(use, facts):
            reason = "goes through a link that leads out of the repository"
        if reason:
            yield RULE.at(
                first_line_of(document, use.span),
                f"{_called(use.keys, facts)} is {shown(use.path)}, which {reason}",
                help=f"write a path that begins at the root of {root} and stays inside, with / between its parts",
            )


def _is_linked_out(use: _PathUse, facts: Facts) -> bool:
    path = literal_prefix(use.path)
    return bool(path) and facts.queries.leads_outside(f"{use.folder}/{path}" if use.folder else path) is True


def _paths(document: Document, facts: Facts) -> Iterator[_PathUse]:
    """Yield the paths that tools follow."""
    if facts.front_matter:
        yield from _marked(facts.front_matter, facts.front_matter_schema, facts)
    for value in _json_values(document, facts):
        yield from _marked(value.root, value.schema, facts)
    if facts.file_type == "handoff":
        from taskstate.lint.facts.handoffs import handoff_facts  # reading handoffs takes long to import

        handoff = handoff_facts(facts)
        yield from (_PathUse(path.text, path.span) for path in handoff.reading.paths) if handoff else ()
    section = facts.state.subsection("Static Context", "Repository Paths")
    for item in document.items(section.body) if section and facts.file_type == "state" else ():
        text = item.content.of(document.text).strip()
        span = Span(item.content.start, item.content.start + len(text))
        glob = text.removeprefix("!").strip("`").removeprefix("!")
        if glob and not glob.startswith(":"):  # `:name` refers to a list of paths in the configuration
            yield _PathUse(glob, span)


def _json_values(document: Document, facts: Facts) -> Iterator[JsonValue]:
    whole = json_value(facts.whole_json, _IMPACT_MAP)
    if whole:
        yield whole
    for name, fence in () if facts.is_json else facts.outline.fences:
        value = json_value(document.json(fence), name) if name in _WITH_PATHS else None
        if value:
            yield value


def _marked(node: Node, name: str, facts: Facts) -> Iterator[_PathUse]:
    """Yield the values that a schema marks as paths."""
    for keyword, folder in ((_REPOSITORY, ""), (_STATE, facts.config.root)):
        for keys, value in schema.annotated(node, name, keyword, wanted=lambda value: value is not None):
            if value.is_string() or value.value() is not None:
                yield _PathUse(value.text, value.span, keys, folder)


def _called(keys: KeyPath, facts: Facts) -> str:
    from taskstate.validation.schema_errors import json_path

    unnamed = "this path of the handoff" if facts.file_type == "handoff" else "this item of the Repository Paths"
    return f"`{json_path(keys)}`" if keys else unnamed

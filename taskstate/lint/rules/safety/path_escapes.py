r"""path-escapes: a path leaves the repository, is absolute, or goes through a link that does.

## What

Looked at are the paths that tools follow: those of the front matter (archive, task file, sources, logs, diffs,
evidence, handoffs, output), the files of the Standards, the globs of Repository Paths and of an Impact Map, and those
that a handoff names. Such a path begins at the repository's root, or at the state folder, and stays inside: it is not
absolute, has no drive letter, no `~`, and not so many `..` (also written with `\`) that it leads out. Where the disk
can be asked, no link on the way leads out either. A changed file of a snapshot may itself be such a link.

## Why

Commands read, hash, pack and replace what a path names, on the machine of everybody who has the file. A path that leads
out reads what was never meant to be read, and means something else on every machine.

## Example

```markdown
### Repository Paths

- `../billing/src/**`
- `/home/ann/notes.md`
```

## Instead

Name paths of this repository; for another one write in words where to look:

```markdown
### Repository Paths

- `src/**`
```

A link that leads out can be replaced by what it means, or by a file that says where that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.json_values import json_value
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.syntax.spans import Span
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

_REPOSITORY, _STATE = "x-path", "x-state-path"  # what schemas say of a path: where it begins
_IMPACT_MAP = "impact-map"
_WITH_PATHS = frozenset({_IMPACT_MAP, "citations"})


class _Named(NamedTuple):
    """A path, where it stands, by which keys and indices (none in a list of the text), and the folder it begins at."""

    path: str
    span: Span
    keys: KeyPath = ()
    folder: str = ""


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield each path that leads out, at its place."""
    for named in _paths(document, facts):
        root = "the state folder" if named.folder else "the repository"
        why = escape_reason(named.path, root)
        if not why and _is_linked_out(named, facts):
            why = "goes through a link that leads out of the repository"
        if why:
            yield RULE.at(
                first_line_of(document, named.span),
                f"{_called(named.keys, facts)} is {shown(named.path)}, which {why}",
                help=f"write a path that begins at the root of {root} and stays inside, with / between its parts",
            )


def _is_linked_out(named: _Named, facts: Facts) -> bool:
    path = literal_prefix(named.path)
    if "files_changed" in named.keys:  # what was recorded is the file or the link itself: nobody follows it
        path = path.rpartition("/")[0]
    return bool(path) and facts.queries.leads_outside(f"{named.folder}/{path}" if named.folder else path) is True


def _paths(document: Document, facts: Facts) -> Iterator[_Named]:
    """Yield the paths that tools follow; what breaks its schema is no text, and no path either."""
    if facts.front_matter:
        yield from _marked(facts.front_matter, facts.front_matter_schema, facts)
    for value in _json_values(document, facts):
        yield from _marked(value.root, value.schema, facts)
    sheet = handoff_facts(facts) if facts.file_type == "handoff" else None
    yield from (_Named(path.text, path.span) for path in sheet.reading.paths) if sheet else ()
    section = facts.state.subsection("Static Context", "Repository Paths")
    for item in document.items(section.body) if section and facts.file_type == "state" else ():
        text = item.content.of(document.text).strip()
        span = Span(item.content.start, item.content.start + len(text))
        glob = text.removeprefix("!").strip("`").removeprefix("!")
        if glob and not glob.startswith(":"):  # that is the name of a macro
            yield _Named(glob, span)


def _json_values(document: Document, facts: Facts) -> Iterator[JsonValue]:
    whole = json_value(facts.whole_json, _IMPACT_MAP)
    if whole:
        yield whole
    for name, fence in () if facts.is_json else facts.declared_fences:
        value = json_value(document.json(fence), name) if name in _WITH_PATHS else None
        if value:
            yield value


def _marked(node: Node, name: str, facts: Facts) -> Iterator[_Named]:
    """Yield what a schema marks as paths, with the place of each in the value."""
    for keyword, folder in ((_REPOSITORY, ""), (_STATE, facts.config.root)):
        for path, found in schema.annotated(node, name, keyword):
            if found.is_string() or found.value() is not None:
                yield _Named(found.text, found.span, path, folder)


def _called(keys: KeyPath, facts: Facts) -> str:
    from taskstate.validation.schema_errors import json_path

    unnamed = "this path of the handoff" if facts.file_type == "handoff" else "this item of the Repository Paths"
    return f"`{json_path(keys)}`" if keys else unnamed

"""The paths in a file that tools follow, and which of them lead out of the folder that they must stay in."""

from __future__ import annotations

from functools import cached_property

from taskstate.lint.facts.json_values import json_value
from taskstate.lint.facts.length_facts import LengthFacts
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema
from taskstate.validation.paths import escape_reason, literal_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.nodes import Node
    from taskstate.validation.schema_files import KeyPath

_REPOSITORY, _STATE = "x-path", "x-state-path"  # schema keywords that mark a path, by the folder it begins at
_IMPACT_MAP = "impact-map"
_WITH_PATHS = frozenset({_IMPACT_MAP, "citations"})


class PathUse(NamedTuple):
    """A path with its span, the keys and indices that lead to it (none in the body), and the folder it begins at."""

    path: str
    span: Span
    keys: KeyPath = ()
    folder: str = ""

    @property
    def root(self) -> str:
        """The folder in words."""
        return "the state folder" if self.folder else "the repository"


class PathFacts(LengthFacts):
    """The facts about the paths of one file."""

    @cached_property
    def repository_paths(self) -> list[PathUse]:
        """The Repository Paths of a state file, without those that refer to a list in the configuration."""
        section = self.state.subsection("Static Context", "Repository Paths") if self.file_type == "state" else None
        found = []
        for item in self.document.items(section.body) if section else ():
            text = item.content.of(self.document.text).strip()
            glob = text.removeprefix("!").strip("`").removeprefix("!")
            if glob and not glob.startswith(":"):  # `:name` refers to such a list
                found.append(PathUse(glob, Span(item.content.start, item.content.start + len(text))))
        return found

    @cached_property
    def escaping_paths(self) -> list[tuple[PathUse, str]]:
        """The paths that lead outside, each with how it does, in words."""
        reasons = [(use, escape_reason(use.path, use.root) or _linked_out(use, self)) for use in _paths(self)]
        return [(use, reason) for use, reason in reasons if reason]


def _linked_out(use: PathUse, facts: PathFacts) -> str:
    path = literal_prefix(use.path)
    leads_outside = path and facts.queries.leads_outside(f"{use.folder}/{path}" if use.folder else path)
    return "goes through a link that leads out of the repository" if leads_outside else ""


def _paths(facts: PathFacts) -> Iterator[PathUse]:
    if facts.front_matter:
        yield from _marked(facts.front_matter, facts.front_matter_schema, facts)
    for value in _json_values(facts):
        yield from _marked(value.root, value.schema, facts)
    if facts.file_type == "handoff":
        from taskstate.lint.facts.handoffs import handoff_facts  # reading handoffs takes long to import

        handoff = handoff_facts(facts)
        yield from (PathUse(path.text, path.span) for path in handoff.reading.paths) if handoff else ()
    yield from facts.repository_paths


def _json_values(facts: PathFacts) -> Iterator[JsonValue]:
    whole = json_value(facts.whole_json, _IMPACT_MAP)
    if whole:
        yield whole
    for name, fence in () if facts.is_json else facts.outline.fences:
        value = json_value(facts.document.json(fence), name) if name in _WITH_PATHS else None
        if value:
            yield value


def _marked(node: Node, name: str, facts: PathFacts) -> Iterator[PathUse]:
    """Yield the values that a schema marks as paths."""
    for keyword, folder in ((_REPOSITORY, ""), (_STATE, facts.config.root)):
        for keys, value in schema.annotated(node, name, keyword, wanted=lambda value: value is not None):
            if value.is_string() or value.value() is not None:
                yield PathUse(value.text, value.span, keys, folder)

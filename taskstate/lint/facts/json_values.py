"""Checks JSON values against their schemas, and words the findings about them.

The Feature Checklist, the phases, the citations and the progress files share this, so that the same fault has the same
message everywhere.
"""

from __future__ import annotations

from functools import cached_property

from taskstate.lint.facts.moments import is_timestamp
from taskstate.lint.facts.wording import cut, first_line_of, shown
from taskstate.syntax.nodes import Node
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from taskstate.lint.diagnostics import Diagnostic, Rule
    from taskstate.syntax.document import Document
    from taskstate.syntax.spans import Span
    from taskstate.validation.schema_errors import SchemaFault

_TIMESTAMP = "x-timestamp"  # the keyword of a schema
_NAMES = ("id", "description")
_TIME = "YYYY-MM-DDTHH:MM:SSZ"


class _JsonValue(NamedTuple):
    root: Node
    schema: str


class JsonValue(_JsonValue):
    """A parsed JSON value: its nodes with their spans, and the name of the schema that it must meet."""

    @cached_property
    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """The plain value."""
        return self.root.plain

    @cached_property
    def faults(self) -> tuple[SchemaFault, ...]:
        """The violations of its schema."""
        return schema.faults(self.value, self.schema)

    @cached_property
    def has_wrong_time(self) -> bool:
        """Whether there is a timestamp in it that is not exact UTC."""
        return schema.holds(self.value, self.schema, _TIMESTAMP, _is_no_time)

    def is_sound(self, *path: str | int) -> bool:
        """Return whether nothing breaks the schema at `path`, above or below it."""
        faulty, above = self._unsound
        if not faulty:
            return True
        return path not in above and not any(path[:length] in faulty for length in range(len(path) + 1))

    @cached_property
    def _unsound(self) -> tuple[frozenset[tuple[str | int, ...]], frozenset[tuple[str | int, ...]]]:
        """The paths that break the schema, with missing and misspelt keys, and the paths of all values around them."""
        faulty: set[tuple[str | int, ...]] = set()
        for fault in self.faults:
            faulty.add((*fault.path, fault.key) if fault.keyword == "required" else fault.path)
            if fault.suggestion and fault.keyword == "unknown-key":
                faulty.add((*fault.path[:-1], fault.suggestion))
        return frozenset(faulty), frozenset(path[:length] for path in faulty for length in range(len(path)))

    def schema_findings(self, document: Document, rule: Rule, past: Sequence[JsonValue] = ()) -> Iterator[Diagnostic]:
        """Yield a finding of `rule` for each violation of the schema, and for each timestamp that is not exact UTC.

        What is to be written is known where one of the earlier values `past` has it.
        """
        for fault in self.faults:
            help_ = self._as_committed(fault, past) or _help(fault, rule.code)
            yield rule.at(self._span(document, fault), fault.message, help=help_)
        if not self.has_wrong_time:
            return
        for path, node in schema.annotated(self.root, self.schema, _TIMESTAMP, wanted=_is_no_time):
            if node.is_string() and self.is_sound(*path) and not is_timestamp(node.text):
                from taskstate.validation.schema_errors import json_path

                yield rule.at(
                    node.span,
                    f"`{json_path(path)}` is {shown(node.text)}, not a time of the form {_TIME}",
                    help="write it in UTC, such as 2026-01-31T12:00:00Z",
                )

    def _as_committed(self, fault: SchemaFault, past: Sequence[JsonValue]) -> str:
        """Return what to write where an earlier value has it, in the same map by its id or its words; else nothing."""
        *way, key = (*fault.path, fault.key) if fault.keyword == "required" else fault.path or ("",)
        now = self.root.get(*way)
        for then in past:
            before = then.root.get(*way)
            node = before.get(key) if before and isinstance(key, str) and then.is_sound(*way, key) else None
            if node and node.kind == "scalar" and (not way or _is_same(now, before)):
                import json

                line = f"{json.dumps(key)}: {json.dumps(node.plain, ensure_ascii=False)}"
                return f"write `{cut(line)}`, as committed"
        return ""

    def _span(self, document: Document, fault: SchemaFault) -> Span:
        """Return the span of the faulty value, of an unknown key, or of the first line of a map that lacks a key."""
        owner = self.root.get(*fault.path[:-1]) if fault.keyword == "unknown-key" else None
        entry = owner.entry(str(fault.path[-1])) if owner else None
        return entry.key.span if entry else first_line_of(document, (self.root.get(*fault.path) or self.root).span)


def json_value(parsed: object, name: str) -> JsonValue | None:
    """Return a parsed JSON value with the schema of that name; None where parsing gave a fault instead of a node."""
    return JsonValue(parsed, name) if isinstance(parsed, Node) else None


def _is_no_time(value: object) -> bool:
    return isinstance(value, str) and not is_timestamp(value)


def _is_same(now: Node | None, before: Node | None) -> bool:
    pairs = ((now.get(name), before.get(name)) for name in _NAMES) if now and before else ()
    return any(here and there and here.text == there.text for here, there in pairs)


def _help(fault: SchemaFault, code: str) -> str:
    if fault.keyword == "unknown-key":
        cure = f"write `{fault.suggestion}`" if fault.suggestion else "correct it"
        return f"{cure}, or begin it with `x-` if the key is your own"
    if fault.keyword == "required":
        return f"add the key `{fault.key}`"
    return f"correct the value; `taskstate rule {code}` shows the form"

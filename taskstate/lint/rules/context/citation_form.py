"""citation-form: a citation is over 140 characters, unsorted, or has a malformed or outdated span.

## What

The json fence under Standards is a list of citations, each with `file`, `section` (the slug of a heading),
`requirement` (at most 140 characters), and, once captured, `line_span` (such as `L42-L68`) and `content_sha`. Here one
of them breaks that form, has a span that ends before it begins, or is out of order: they are sorted by file and
section. A span that is no longer where its section is, while the section has the same content, is a warning, unless the
task is complete or dropped.

## Why

The list is compared, merged and hashed: in a fixed order, a new citation is one new entry. A requirement is a reminder
of what to look up, and longer ones become copies of the standard that nobody updates. Agents follow spans to the line.

## Example

```json
[
  {"file": "standards/typescript.md", "section": "strict-config", "requirement": "…"},
  {"file": "standards/backend.md", "section": "handlers", "requirement": "…", "line_span": "L20-L9"}
]
```

## Instead

`taskstate lint --fix` sorts the list and updates spans. In a sealed section it updates only the spans, and seals it
again if it matched its seal. `taskstate context rebuild` corrects everything else: it computes spans and cuts
requirements.
"""

from __future__ import annotations

from itertools import pairwise

from taskstate.lint.diagnostics import WARNING, Diagnostics, Fix, Rule
from taskstate.lint.facts.citations import captured_citations, capturing, is_closed
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

RULE = Rule.of("TS603", __name__, "over 140 characters, unsorted, or a malformed or outdated span", fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each schema fault, each wrong or outdated span, and the first citation out of order."""
    document = facts.document
    value = facts.citations
    if value is None:
        return
    from taskstate.context.citations import parse_line_span

    yield from value.schema_findings(document, RULE)
    for number, node in enumerate(value.root.items):
        span = node.get("line_span")
        if span and value.is_sound(number, "line_span") and parse_line_span(span.text) is None:
            message = f"the span {shown(span.text)} ends before it begins"
            yield RULE.at(span.span, message, help=f"`{capturing(facts)}` computes spans")
    yield from _unsorted(document, value)
    if not is_closed(facts):
        yield from _outdated(value, facts)


def _unsorted(document: Document, value: JsonValue) -> Diagnostics:
    items = value.root.items
    keys = [_key(value, number, node) for number, node in enumerate(items)]
    if None in keys:
        return  # an entry that cannot be compared breaks the schema, and has its finding
    for number, (one, other) in enumerate(pairwise(keys), start=1):
        if other is not None and one is not None and other < one:
            yield RULE.at(
                first_line_of(document, items[number].span),
                f"{shown('#'.join(other))} comes after {shown('#'.join(one))}",
                help="sort the citations by file and section",
                fix=Fix(edits=tuple(_sorting(document, items, keys))),
            )
            return


def _key(value: JsonValue, number: int, node: Node) -> tuple[str, str] | None:
    file, section = node.get("file"), node.get("section")
    sound = value.is_sound(number, "file") and value.is_sound(number, "section")
    return (file.text, section.text) if file and section and sound else None


def _sorting(document: Document, items: tuple[Node, ...], keys: list[tuple[str, str] | None]) -> Iterator[Edit]:
    """Yield the edits that sort the citations, each as it is written."""
    order = sorted(range(len(items)), key=lambda number: keys[number] or ("", ""))
    for node, number in zip(items, order, strict=True):
        if items[number] is not node:
            yield Edit(*node.span, items[number].span.of(document.text))


def _outdated(value: JsonValue, facts: Facts) -> Diagnostics:
    from taskstate.context.citations import citation_status, parse_line_span

    for cited in captured_citations(value):
        span = cited.node.get("line_span")
        if span is None or not value.is_sound(cited.number, "line_span") or parse_line_span(span.text) is None:
            continue
        standards = facts.queries.standard(cited.values["file"])
        status = citation_status({**cited.values, "line_span": span.text}, standards[0]) if standards else None
        if status and status.moved and status.cited:
            now = status.cited.line_span
            fix = Fix(job="respan") if facts.sealed else Fix(edits=(Edit(*span.span, f'"{now}"'),))
            yield RULE.at(
                span.span,
                f"the section {shown(cited.values['section'])} is now at {now}, with the same text",
                help="`taskstate lint --fix` brings the span up to date",
                fix=fix,
                severity=WARNING,
            )

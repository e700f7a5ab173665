"""Parses YAML front matter with source positions, using ruamel.yaml.

This is the reference for `yaml_fast_parser`, which is tried first. It reads ruamel's events rather than composed nodes,
because events keep what composing hides (an alias, a tag, a duplicate key) and never recurse. No Python object is ever
constructed from the text, and nothing is dumped.
"""

from __future__ import annotations

import re

from taskstate.syntax.nodes import Fault, MapEntry, Node, Stopped, duplicates, entries_of, is_encodable
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.syntax.nodes import NodeKind, NodeStyle

MAX_DEPTH = 50
MAX_ALIASES = 100  # and anchors: more could not be referred to
_MAX_EXPANDED = (
    10_000  # values that all aliases together may stand for: nine lines of nested aliases can mean a billion
)

_COLON = re.compile(r" *:")
_TAG = re.compile(r"!(?:<[^>]*>|[^ \t\r\n,\[\]{}]*)")
_STYLES: dict[str, NodeStyle] = {"": "plain", "'": "single", '"': "double", "|": "literal", ">": "folded"}


def read_yaml(text: str, start: int, end: int) -> Node | tuple[Fault, ...]:
    """Return the mapping in `text[start:end]` as YAML 1.2 with absolute spans, or its faults.

    An empty text, or one of comments alone, is an empty mapping at the end. A `Node` is itself a tuple, so test with
    `isinstance(result, Node)`.
    """
    return _Builder(text, start, end).document()


class _Open(NamedTuple):
    """A collection that has begun and not ended yet."""

    kind: NodeKind
    style: NodeStyle
    start: int
    anchor: str | None
    children: list[Node]


class _Builder:
    """One pass over one text; lives as long as one call of `read_yaml`."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.faults: list[Fault] = []
        self.stack: list[_Open] = []
        self.root: Node | None = None
        self.documents = 0
        self.anchors: dict[str, Node | None] = {}  # None while the anchored value is still open
        self.anchored = 0
        self.aliases = 0
        self.expanded = 0

    def document(self) -> Node | tuple[Fault, ...]:
        """Return the only document's mapping, or the faults in the order of the text."""
        root: Node | None = None
        try:
            for event in self.events():
                self.take(event)
            root = self.mapping_of_document()
        except Stopped as stopped:
            self.faults.append(stopped.fault)
        if root is None or self.faults:
            return tuple(sorted(self.faults, key=lambda fault: fault.span))
        return root

    def events(self) -> Iterator[Any]:
        """Yield ruamel's events; raise its errors as faults."""
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError

        try:
            yield from YAML(typ="safe", pure=True).parse(self.text[self.start : self.end])
        except (YAMLError, ValueError, OverflowError) as error:
            raise Stopped(self.fault_of(error)) from None

    def fault_of(self, error: Exception) -> Fault:
        """Return an error of ruamel as a fault at its position."""
        problem = str(
            getattr(error, "problem", None) or getattr(error, "context", None) or getattr(error, "reason", error)
        )
        marks = [getattr(error, "problem_mark", None), getattr(error, "context_mark", None)]
        if "stream" in problem or problem.startswith("expected ','"):
            # something is never closed: its beginning says more than the place where that is noticed
            marks.reverse()
        index = next((mark.index for mark in marks if mark), getattr(error, "position", 0))
        at = min(self.start + index, self.end)
        return Fault(Span(at, min(at + 1, self.end)), f"not valid YAML: {problem}")

    def mapping_of_document(self) -> Node:
        """Return the root, which must be a mapping; without any content, an empty mapping at the end of the text."""
        if self.root is None:
            return Node("mapping", Span(self.end, self.end), "block")
        if self.root.kind != "mapping":
            kind = "a list" if self.root.kind == "sequence" else "one single value"
            raise self.stopped(
                self.root.span, f"the front matter is {kind}, and not made of `key: value` lines", "not-a-mapping"
            )
        return self.root

    def take(self, event: Any) -> None:  # noqa: ANN401 - ruamel's events are not typed
        """Add one event to the tree."""
        handler = _HANDLERS.get(type(event).__name__)
        if handler:  # the stream's own events do not belong to the tree
            getattr(self, handler)(event)

    def document_start(self, event: Any) -> None:  # noqa: ANN401
        """Refuse an explicit `---`, and a second document."""
        self.documents += 1
        if event.explicit or self.documents > 1:
            raise self.stopped(
                self.span(event), "there is a document mark (`---`, or a directive `%`) inside the front matter"
            )

    def document_end(self, event: Any) -> None:  # noqa: ANN401
        """Refuse an explicit `...`."""
        if event.explicit:
            raise self.stopped(self.span(event), "there is a document end mark (`...`) inside the front matter")

    def scalar(self, event: Any) -> None:  # noqa: ANN401
        """Add a scalar."""
        self.refuse_tag(event)
        self.refuse_many(event)
        style = _STYLES[event.style or ""]
        span = self.span(event)
        if style in {"literal", "folded"}:
            span = Span(span.start, span.start + len(span.of(self.text).rstrip(" \t\r\n")))
        if not is_encodable(event.value):
            raise self.stopped(span, "half of a surrogate pair is escaped here, which is not a character")
        self.attach(Node("scalar", span, style, event.value), event.anchor)

    def alias(self, event: Any) -> None:  # noqa: ANN401
        """Add the anchored value at the position of its alias, within the limits for aliases."""
        span = self.span(event)
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise self.stopped(span, f"there are more than {MAX_ALIASES} aliases", "aliases")
        if event.anchor not in self.anchors:
            raise self.stopped(
                span,
                f"`*{event.anchor}` refers to an anchor that is not there; a text that begins with `*` needs quotes",
            )
        target = self.anchors[event.anchor]
        if target is None:
            raise self.stopped(span, f"`*{event.anchor}` refers to the value that it is part of", "aliases")
        size, height = _measure(target)
        self.expanded += size
        if self.expanded > _MAX_EXPANDED:
            raise self.stopped(span, f"the aliases expand to more than {_MAX_EXPANDED} values", "aliases")
        if len(self.stack) + height > MAX_DEPTH:
            raise self.stopped(span, f"the front matter is nested more than {MAX_DEPTH} levels deep", "nesting")
        self.attach(pin(target, f"it is an alias (`*{event.anchor}`)")._replace(span=span), None)

    def open(self, event: Any) -> None:  # noqa: ANN401
        """Begin a collection."""
        self.refuse_tag(event)
        start = self.start + event.start_mark.index
        if len(self.stack) >= MAX_DEPTH:
            raise self.stopped(
                Span(start, start + 1), f"the front matter is nested more than {MAX_DEPTH} levels deep", "nesting"
            )
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.refuse_many(event)
        kind: NodeKind = "mapping" if type(event).__name__ == "MappingStartEvent" else "sequence"
        style: NodeStyle = "flow" if event.flow_style else "block"
        self.stack.append(_Open(kind, style, start, event.anchor, []))

    def close(self, event: Any) -> None:  # noqa: ANN401
        """End the innermost collection; a block ends with its last value, for the event lies behind later comments."""
        opened = self.stack.pop()
        entries = self.entries(opened) if opened.kind == "mapping" else ()
        items = tuple(opened.children) if opened.kind == "sequence" else ()
        if opened.style == "flow":
            end = self.start + event.end_mark.index
        else:
            end = (entries[-1].value if entries else items[-1]).span.end
        node = Node(opened.kind, Span(opened.start, end), opened.style, entries=entries, items=items)
        if any(entry.key.text == "<<" and entry.key.style == "plain" for entry in entries):
            node = pin(node, "it merges another mapping (`<<`)")
        elif entries and opened.style == "flow" and self.text[opened.start] != "{":
            node = pin(node, "it is a single pair without braces")
        self.attach(node, opened.anchor)

    def entries(self, opened: _Open) -> tuple[MapEntry, ...]:
        """Return the entries of a finished mapping, and record duplicate keys as faults."""
        entries: list[MapEntry] = []
        for key, value in zip(opened.children[::2], opened.children[1::2], strict=True):
            if key.kind != "scalar":
                raise self.stopped(key.span, "a key must be a simple word, not a list or a mapping")
            entries.append(self.entry(opened, key, value))
        self.faults += duplicates(entries)
        return entries_of(entries)

    def entry(self, opened: _Open, key: Node, value: Node) -> MapEntry:
        """Return an entry, pinned unless it is written as `key: value`; an absent value is moved behind the colon."""
        colon = _COLON.match(self.text, key.span.end, self.end)
        if value.span.start == value.span.end:  # ruamel puts it behind the comments that follow
            behind = colon.end() if colon else key.span.end
            value = value._replace(span=Span(behind, behind))
        before = self.text[opened.start : key.span.start]
        if opened.style == "block":
            begins = not before[before.rfind("\n") + 1 :].strip(" ")
        else:
            begins = before.rstrip(" \t\r\n").endswith(("{", ","))
        if begins and colon and key.span.start < key.span.end:
            return MapEntry(key, value)
        why = "it is not written as `key: value`"
        return MapEntry(pin(key, key.pinned or why), pin(value, value.pinned or why))

    def attach(self, node: Node, anchor: str | None) -> None:
        """Add a finished node to the innermost open collection."""
        if anchor is not None:
            node = pin(node, f"it is anchored (`&{anchor}`)")
            self.anchors[anchor] = node
        if self.stack:
            self.stack[-1].children.append(node)
        else:
            self.root = node

    def refuse_tag(self, event: Any) -> None:  # noqa: ANN401
        """Record a tag as a fault, and go on parsing."""
        if event.ctag is None:
            return
        start = self.text.find("!", self.start + event.start_mark.index)
        match = _TAG.match(self.text, start, self.end)
        span = Span(*match.span()) if match else self.span(event)
        self.faults.append(Fault(span, f"a tag is not allowed: {span.of(self.text)}", "tag"))

    def refuse_many(self, event: Any) -> None:  # noqa: ANN401
        """Refuse more anchors than aliases could refer to: reading them takes long."""
        self.anchored += event.anchor is not None
        if self.anchored > MAX_ALIASES:
            raise self.stopped(self.span(event), f"there are more than {MAX_ALIASES} anchors", "aliases")

    def span(self, event: Any) -> Span:  # noqa: ANN401
        """Return an event's span in the whole text."""
        return Span(self.start + event.start_mark.index, self.start + event.end_mark.index)

    def stopped(self, span: Span, message: str, kind: str = "syntax") -> Stopped:
        """Return the exception that ends parsing with a fault."""
        return Stopped(Fault(span, message, kind))


_HANDLERS = {
    "DocumentStartEvent": "document_start",
    "DocumentEndEvent": "document_end",
    "ScalarEvent": "scalar",
    "AliasEvent": "alias",
    "MappingStartEvent": "open",
    "SequenceStartEvent": "open",
    "MappingEndEvent": "close",
    "SequenceEndEvent": "close",
}


def pin(node: Node, why: str) -> Node:
    """Return a node with itself and everything in it pinned for the reason `why`."""
    return node._replace(
        pinned=why,
        entries=tuple(MapEntry(pin(entry.key, why), pin(entry.value, why)) for entry in node.entries),
        items=tuple(pin(item, why) for item in node.items),
    )


def _measure(node: Node) -> tuple[int, int]:
    """Return the number of values in a node, itself included, and the depth of its nesting."""
    children = [*node.items, *(entry.value for entry in node.entries)]
    measures = [_measure(child) for child in children]
    size = 1 + sum(size for size, _ in measures)
    height = max((height for _, height in measures), default=0)
    return size, height + (node.kind != "scalar")

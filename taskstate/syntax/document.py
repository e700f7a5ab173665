"""Parses a Markdown file with YAML front matter into a text and an index of spans into it.

`parse` never raises: mistakes are listed in `Document.problems`, and the rest stays readable. A document is immutable;
to change one, apply edits (`taskstate.syntax.edits`) to its text and parse the result. The meaning of sections and keys
belongs to `taskstate.model`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import repeat

from taskstate.syntax.json_parser import read_json
from taskstate.syntax.markdown_blocks import Block, Item, list_items, read_blocks
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import Position, Span, line_starts, newline_of, position
from taskstate.syntax.yaml_reader import read_front_matter
from taskstate.typed import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from typing import Any

    from taskstate.syntax.edits import Edit

_KEY = r"[A-Za-z_-]+:(?=[ \t\r\n])"
_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n?|\n)")
_new = tuple.__new__  # hot for a file of many headings: builds records without calling their Python constructors
# The look-behind for the line end follows the `---`: a pattern that begins with a literal is found ten times as fast.
_CLOSING = re.compile(r"---(?<=[\r\n]---)[ \t]*(?:\r\n?|\n|\Z)")


class Problem(NamedTuple):
    """A mistake that keeps a part of the text from being read; `fix` holds the edits that repair it for certain."""

    kind: str
    message: str
    span: Span
    fix: tuple[Edit, ...] = ()


class Section(NamedTuple):
    """A heading with the text under it.

    `span` runs from the heading to the next one of the same or a higher level, `body` from below the heading to the
    same end, `own` from below the heading to the next heading of any level.
    """

    title: str
    level: int
    span: Span
    heading: Span
    title_span: Span
    body: Span
    own: Span


_KEPT = 3  # documents: those before and under the lock, before and after a fix
_Derived = TypeVar("_Derived")
_Given = TypeVar("_Given")


class FrontMatter(Mapping[str, "Any"]):
    """The keys and values between the `---` lines; empty if there are none or they cannot be read.

    Values are resolved by the YAML 1.2 core schema. `node` is the span tree, or None; `span` includes the `---` lines,
    `content` does not. `problems` are the mistakes that keep it from being read.
    """

    def __init__(self, span: Span | None, content: Span, node: Node | None, problems: tuple[Problem, ...] = ()) -> None:
        self.span = span
        self.content = content
        self.node = node
        self.problems = problems
        self._nodes = {entry.key.text: entry.value for entry in node.entries} if node else {}

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - any YAML value
        return self._nodes[key].value()  # a new list or map each time: the caller may change it

    def __contains__(self, key: object) -> bool:
        return key in self._nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self) -> str:
        return f"FrontMatter({dict(self)!r})"


class Document:
    """A parsed text: `text` is the only source of truth, all else is an index into it, made when it is asked for.

    `body` is the offset at which the body begins. Where it is, character by character, the body of a text that was read
    just before, as behind a front matter that was changed, `twin` is that document: what was found there, is here, too.

    `kinds` are those that the document's repository declares; they are handed on here, and mean something to
    `taskstate.model` alone.
    """

    def __init__(
        self,
        text: str,
        front_matter: FrontMatter,
        body: int,
        twin: Document | None = None,
        kinds: tuple[Any, ...] = (),
    ) -> None:
        self.text = text
        self.front_matter = front_matter
        self.body = body
        self.twin = twin
        self.kinds = kinds

    def with_text(self, text: str) -> Document:
        """Return the document with another text, parsed: it belongs to the same repository."""
        return parse(text, self.kinds)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The headings, fences and HTML blocks at the top level."""
        if self.twin:
            return _moved_blocks(self.twin.blocks, self.body - self.twin.body)
        return read_blocks(self.text, self.body)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The headings, each with the text under it."""
        if self.twin:
            return _moved_sections(self.twin.sections, self.body - self.twin.body)
        return _sections(self.text, self.blocks)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The mistakes that keep a part of the text from being read."""
        return (*self.front_matter.problems, *self.in_body(_unclosed))

    def in_body(self, find: Callable[[Document, None], tuple[Problem, ...]]) -> tuple[Problem, ...]:
        """Return the problems that a function finds in the body, where they are in this text."""
        if self.twin is None:
            return self.derived(find, None)
        by = self.body - self.twin.body
        return tuple(each._replace(span=_moved(each.span, by)) for each in self.twin.derived(find, None))

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line's first character."""
        return line_starts(self.text)

    @cached_property
    def newline(self) -> str:
        """The most frequent line end, for text that is added."""
        return newline_of(self.text)

    @cached_property
    def _json(self) -> dict[Span, Node | Fault]:
        return {}

    @cached_property
    def _derived(self) -> dict[object, Any]:
        return {}

    def derived(self, compute: Callable[[Document, _Given], _Derived], given: _Given) -> _Derived:
        """Return what a function computes from this document and what is given; once, since neither ever changes."""
        key = compute, given
        if key not in self._derived:
            self._derived[key] = compute(self, given)
        found: _Derived = self._derived[key]
        return found

    def of_body(self, compute: Callable[[Document, None], _Derived]) -> _Derived:
        """Return what a function computes from the body's words alone, wherever they stand: once for one body."""
        return (self.twin or self).derived(compute, None)

    def forget_derived(self) -> None:
        """Forget what was derived: most of it refers to this document, and only the garbage collector would free both.

        Whoever reads thousands of documents in a run says so when one is done with.
        """
        self._derived.clear()

    def position(self, offset: int) -> Position:
        """Return line and column of an offset, both counted from 0; a byte order mark takes no column."""
        found = position(self.starts, offset)
        marked = found.line == 0 and found.column and self.text.startswith("\ufeff")
        return Position(0, found.column - 1) if marked else found

    def children(self, parent: Section, level: int = 0) -> tuple[Section, ...]:
        """Return the sections within `parent`, all of them or those of one level."""
        first, stop = (bisect_left(self._section_starts, at) for at in (parent.span.start + 1, parent.span.end))
        return tuple([each for each in self.sections[first:stop] if not level or each.level == level])

    def blocks_in(self, span: Span, kind: str = "") -> tuple[Block, ...]:
        """Return the top-level blocks that begin within `span`, all of them or those of one kind."""
        first, stop = (bisect_left(self._block_starts, at) for at in span)
        return tuple([each for each in self.blocks[first:stop] if not kind or each.kind == kind])

    @cached_property
    def _section_starts(self) -> list[int]:
        return [each.span.start for each in self.sections]

    @cached_property
    def _block_starts(self) -> list[int]:
        return [each.span.start for each in self.blocks]

    def json(self, fence: Block) -> Node | Fault:
        """Return the span tree of the JSON inside a fence, or the fault that keeps it from being read."""
        cached = self._json.get(fence.content)
        if cached is None:
            cached = self._json[fence.content] = read_json(self.text, *fence.content)
        return cached

    def items(self, span: Span) -> tuple[Item, ...]:
        """Return the items of the top-level lists within `span`, which must begin and end between blocks."""
        return list_items(self.text, span)


def parse(text: str, kinds: tuple[Any, ...] = ()) -> Document:
    """Parse a whole file; never raises on text that was valid UTF-8.

    `kinds` are those that its repository declares (`Workspace.kinds`), besides the built-in ones.

    One command reads the same text several times: before and under the lock, before and after a fix. The same text is
    the same document, so the last few are kept.
    """
    return _parsed(text, kinds)


@lru_cache(maxsize=_KEPT)
def _parsed(text: str, kinds: tuple[Any, ...]) -> Document:
    front_matter, body = _front_matter(text)
    document = Document(text, front_matter, body, _with_same_body(text, body), kinds)
    _newest.append(document)
    return document


_newest: deque[Document] = deque(maxlen=_KEPT)


def _with_same_body(text: str, body: int) -> Document | None:
    """Return one of the last documents whose body is that of `text`, the first one of those that share it."""
    for other in tuple(_newest):
        if len(text) - body == len(other.text) - other.body and text.endswith(other.text[other.body :]):
            return other.twin or other
    return None


def forget_parsed() -> None:
    """Forget what was parsed: what is measured in one process starts as a new one does."""
    _parsed.cache_clear()
    _values.cache_clear()
    _newest.clear()


def parse_head(text: str, kinds: tuple[Any, ...] = ()) -> Document:
    """Parse the front matter alone: a document that ends where the body of `text` would begin."""
    front_matter, body = _front_matter(text)
    return Document(text[:body], front_matter, body, kinds=kinds)


def _front_matter(text: str) -> tuple[FrontMatter, int]:
    """Return the front matter and the offset at which the body begins."""
    start = 1 if text.startswith("\ufeff") else 0
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        first_line = Span(start, _end_of_line(text, start))
        message = "the front matter never closes" if opening else "the file has no front matter"
        problem = Problem("front-matter-unclosed" if opening else "front-matter-missing", message, first_line)
        return FrontMatter(None, Span(start, start), None, (problem,)), start
    content = Span(opening.end(), closing.start())
    doubled: tuple[Problem, ...] = ()
    rest = _CLOSING.search(text, closing.end()) if not text[slice(*content)].strip() else None
    if rest and re.compile(_KEY).match(text, closing.end()):
        message = "the second `---` follows here, so the front matter is empty"
        doubled = (Problem("front-matter-doubled", message, Span(closing.start(), closing.start() + 3)),)
        content, closing = Span(closing.end(), rest.start()), rest
    result = _values(text[: closing.end()], *content)
    span = Span(start, closing.end())
    if isinstance(result, Node):
        return FrontMatter(span, content, result, doubled), closing.end()
    problems = (Problem(f"front-matter-{fault.kind}", fault.message, fault.span, fault.fix) for fault in result)
    return FrontMatter(span, content, None, tuple(problems)), closing.end()


@lru_cache(maxsize=_KEPT)
def _values(head: str, start: int, end: int) -> Node | tuple[Fault, ...]:
    """Return the values of a front matter, which is read alone, and again with another body below it."""
    return read_front_matter(head, start, end)


def _unclosed(document: Document, _given: None) -> tuple[Problem, ...]:
    """Return a problem for each fence that never closes."""
    openings = (each.span.start for each in document.blocks if each.kind == "fence" and not each.closed)
    return tuple(
        Problem("fence-unclosed", "this code fence never closes", Span(start, _end_of_line(document.text, start)))
        for start in openings
    )


def _end_of_line(text: str, at: int) -> int:
    match = re.compile(r"[^\r\n]*").match(text, at)
    return match.end() if match else at


def _sections(text: str, blocks: tuple[Block, ...]) -> tuple[Section, ...]:
    headings = [block for block in blocks if block.kind == "heading"]
    ends = [len(text)] * len(headings)
    open_headings: list[tuple[int, int]] = []  # levels and indices of the headings whose section has not ended yet
    for index, (_, (start, _), _, _, level, _) in enumerate(headings):
        while open_headings and open_headings[-1][0] >= level:
            ends[open_headings.pop()[1]] = start
        open_headings.append((level, index))
    starts = [span.start for _, span, *_ in headings[1:]]
    return tuple(map(_section, repeat(text), headings, ends, [*starts, len(text)]))


def _section(text: str, heading: Block, end: int, following: int) -> Section:
    """Return the section of a heading that ends at `end`, with the next heading of any level at `following`."""
    _, span, content, title, level, _ = heading
    start, below = span
    if below < end:
        below += 2 if text.startswith("\r\n", below) else 1
    body = _new(Span, (below, end))
    own = body if end == following else _new(Span, (below, following))
    return _new(Section, (title, level, _new(Span, (start, end)), span, content, body, own))


def _moved(span: Span, by: int) -> Span:
    return _new(Span, (span[0] + by, span[1] + by))


def _moved_blocks(blocks: tuple[Block, ...], by: int) -> tuple[Block, ...]:
    return tuple(
        [
            _new(Block, (kind, _moved(span, by), _moved(content, by), text, level, closed))
            for kind, span, content, text, level, closed in blocks
        ]
    )


def _moved_sections(sections: tuple[Section, ...], by: int) -> tuple[Section, ...]:
    return tuple(
        [_new(Section, (title, level, *[_moved(each, by) for each in spans])) for title, level, *spans in sections]
    )

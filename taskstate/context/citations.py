"""Citations of standards: which lines of a document they name, and whether those lines still say the same.

A section that moved without changing gets its new line span, in the sealed part as well; the seal of that section is
then made anew, and nothing else of it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from taskstate.messages import closest
from taskstate.model.static_context import SECTION, STANDARDS, context_seal
from taskstate.model.task_state import json_fence, read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values, set_front_matter
from taskstate.syntax.document import Document, parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import CONTROLS, Span, trimmed, with_newlines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from taskstate.syntax.document import Section


MOST_REQUIREMENT = 140  # characters
MOST_BYTES = 10 * 1024**2  # of a file that is cited: a standard is a text that people read
SHA_DIGITS = 16

_MARKUP = frozenset("\\`*_[]<>&!")  # a heading without these is its own text
_WORD_CATEGORIES = frozenset({"Nd", "Nl", "Pc"})  # besides letters and marks; all else goes from a slug
_LONGEST_PARAGRAPH = 4000  # characters that are looked at for its first sentence
_SENTENCE_END = r"[.!?\u2026][\"'\u201d\u2019)\]]*(?=\s+[^\sa-z])|[\u3002\uff01\uff1f]"
_ABBREVIATION = r"(?:\b(?:e\.g|i\.e|cf|vs|etc|approx|resp|no|nos|fig|sec|ch|vol|dr|mr|mrs|ms|st|bzw|ca)|\b[A-Za-z])\.\Z"
_SPAN = r"L([1-9][0-9]*)-L([1-9][0-9]*)"


class CitedSection(NamedTuple):
    """A section as a citation names it: its lines, their hash, and its first sentence."""

    line_span: str
    content_sha: str
    requirement: str


class _Standard(NamedTuple):
    text: str


class Standard(_Standard):
    """A Markdown file whose sections can be cited."""

    @cached_property
    def document(self) -> Document:
        """The file as the Markdown reader sees it."""
        return parse(self.text)

    @cached_property
    def sections(self) -> Mapping[str, Section]:
        """The sections by slug; of headings with one text the second has `-1` behind its slug, the third `-2`.

        A heading without a letter, digit or hyphen has none, and cannot be cited.
        """
        found: dict[str, Section] = {}
        counts: dict[str, int] = {}
        for section in self.document.sections:
            base = slug = slug_of(section.title)
            while slug in found:
                counts[base] = counts.get(base, 0) + 1
                slug = f"{base}-{counts[base]}"
            if slug:
                found[slug] = section
        return found

    def lines(self, slug: str) -> tuple[str, ...] | None:
        """Return the lines of a section, or None where there is none of that slug."""
        section = self.sections.get(slug)
        if section is None:
            return None
        return tuple(with_newlines(_whole_lines(self.text, section).of(self.text), "\n").split("\n"))

    def cited(self, slug: str) -> CitedSection | None:
        """Return a section as a citation holds it, or None where there is none of that slug."""
        section, lines = self.sections.get(slug), self.lines(slug)
        if section is None or lines is None:
            return None
        first = self.document.position(section.span.start).line + 1
        return CitedSection(
            line_span=f"L{first}-L{first + len(lines) - 1}",
            content_sha=content_sha(lines),
            requirement=_requirement(section.body.of(self.text), section.title),
        )

    def nearest(self, slug: str) -> str:
        """Return the slug of the heading that is most like `slug`, or nothing where the file has no heading."""
        return closest(slug_of(slug), [*self.sections], cutoff=0.0)


def slug_of(title: str) -> str:
    """Return the anchor that GitHub gives a heading, but for the number that tells equal ones apart."""
    text = "".join(_words(_inline(title), break_="", alt=False)) if not _MARKUP.isdisjoint(title) else title
    return "".join("-" if char == " " else char for char in text.lower() if char in " -" or _is_word(char))


def _is_word(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char == "_"
    category = unicodedata.category(char)
    return category[0] in "LM" or category in _WORD_CATEGORIES


def content_sha(lines: tuple[str, ...]) -> str:
    """Return the beginning of the SHA-256 of some lines joined by LF, as a citation holds it."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:SHA_DIGITS]


class CitationStatus(NamedTuple):
    """How a citation stands to its file as it is now: what is gone or differs ("file", "section", "content"), or moved.

    `cited` is the section now, where there is one.
    """

    fault: str = ""
    moved: bool = False
    cited: CitedSection | None = None


def citation_status(citation: Mapping[str, object], standard: Standard | None) -> CitationStatus:
    """Return how a captured citation stands to its file; None for one that is not there or cannot be read."""
    if standard is None:
        return CitationStatus("file")
    cited = standard.cited(str(citation.get("section")))
    if cited is None:
        return CitationStatus("section")
    if citation.get("content_sha") != cited.content_sha:
        return CitationStatus("content", cited=cited)
    return CitationStatus(moved=citation.get("line_span") != cited.line_span, cited=cited)


def parse_line_span(line_span: str) -> tuple[int, int] | None:
    """Return the first and last line that a span such as `L42-L68` names, or None where it names none."""
    found = re.fullmatch(_SPAN, line_span)
    if found is None or len(found[1]) > len(found[2]) or int(found[2]) < int(found[1]):
        return None
    return int(found[1]), int(found[2])


def _whole_lines(text: str, section: Section) -> Span:
    """Return a section's lines from its heading to its last one that is not blank, blanks at its end included."""
    end = trimmed(text, section.span).end
    while end < section.span.end and text[end] in " \t":
        end += 1
    return Span(section.span.start, end)


# What a section asks for, in one sentence


def _requirement(body: str, title: str) -> str:
    """Return the first sentence of a section's prose, or its title where it has none, cut at a word."""
    return truncated(next((first_sentence(text) for text in _paragraphs(body)), "") or _plain(title) or title.strip())


def _paragraphs(body: str) -> Iterator[str]:
    """Yield the text of each paragraph, wherever it stands, without its markup; tables and pictures are none."""
    parser = _parser()
    tokens: list[Token] = []
    parser.block.parse(with_newlines(body, "\n") + "\n", parser, {}, tokens)
    for opening, inline in pairwise(tokens):
        if opening.type == "paragraph_open" and not inline.content.startswith("|"):
            text = _plain(inline.content[:_LONGEST_PARAGRAPH])
            if text:
                yield text


def first_sentence(text: str) -> str:
    """Return a text up to the end of its first sentence."""
    for end in re.compile(_SENTENCE_END).finditer(text):
        if not re.compile(_ABBREVIATION, re.IGNORECASE).search(text[: end.start() + 1]):
            return text[: end.end()]
    return text


def truncated(text: str, most: int = MOST_REQUIREMENT) -> str:
    """Return a text in one line of at most `most` characters, cut behind a word where it is longer."""
    text = " ".join(re.compile(CONTROLS).sub(" ", text).split())
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    at = kept.rfind(" ") if text[most - 1] != " " else len(kept)
    return (kept[:at] if at > 0 else kept).rstrip(" ,;:-") + "…"


def _plain(markdown: str) -> str:
    """Return the words of a paragraph or heading without its markup."""
    text = "".join(_words(_inline(markdown), break_=" ", alt=True)) if not _MARKUP.isdisjoint(markdown) else markdown
    return " ".join(text.split())


def _words(tokens: list[Token], *, break_: str, alt: bool) -> Iterator[str]:
    """Yield what a reader sees of inline tokens; `break_` stands for a line end, `alt` says whether pictures count."""
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            yield break_
        elif token.type == "image":
            yield token.content if alt else ""
        elif token.type != "html_inline":
            yield token.content


def _inline(markdown: str) -> list[Token]:
    tokens = _parser().parseInline(markdown)
    return (tokens[0].children or []) if tokens else []


def _parser() -> MarkdownIt:
    global _markdown  # noqa: PLW0603 - one parser per process; making it costs as much as reading 10 KB
    if _markdown is None:
        from markdown_it import MarkdownIt

        _markdown = MarkdownIt("commonmark")
    return _markdown


_markdown: MarkdownIt | None = None


class LineSpanRefresh(NamedTuple):
    """A text with other spans: the sections whose span is another one now, and whether it was sealed anew."""

    text: str
    sections: tuple[str, ...] = ()
    resealed: bool = False


def refresh_line_spans(text: str, standard_of: Callable[[str], tuple[Standard, ...] | None]) -> LineSpanRefresh:
    """Return the text of a state file with the spans of its citations as they are now.

    `standard_of` gives the file that a citation names, none where it cannot be read.
    """
    document = parse(text)
    found = list(_moved(document, standard_of))
    if not found:
        return LineSpanRefresh(text)
    blocks = blocks_of(document)
    held = blocks.context.seal is not None and context_seal(document, blocks.values) == blocks.context.seal
    after = apply(text, [edit for _, edit in found])
    if held:
        moved = parse(after)
        anew = {**blocks.context.values, "seal": context_seal(moved, front_matter_values(moved))}
        after = apply(after, set_front_matter(moved, "context", anew))
    return LineSpanRefresh(after, tuple(section for section, _ in found), held)


def _moved(document: Document, standard_of: Callable[[str], tuple[Standard, ...] | None]) -> Iterator[tuple[str, Edit]]:
    """Yield each citation whose span is outdated, with the edit that mends it."""
    section = read_state(document).subsection(SECTION, STANDARDS)
    fence = json_fence(document, section.own) if section else None
    root = document.json(fence) if fence else None
    for node in root.items if isinstance(root, Node) else ():
        citation = node.value() if node.kind == "mapping" else {}
        span, file = node.get("line_span"), citation.get("file")
        if span is None or parse_line_span(span.text) is None or not isinstance(file, str) or not file:
            continue
        found = standard_of(file)
        stands = citation_status(citation, found[0]) if found else None
        if stands and stands.moved and stands.cited:
            yield str(citation.get("section")), Edit(*span.span, f'"{stands.cited.line_span}"')

"""Finds the sections of a standard that citations name, and tells whether they moved or changed since.

A section that moved without changing gets its new line span in the citation. That is the one edit allowed inside a
sealed section, and the seal is computed again after it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cache, cached_property
from itertools import pairwise

from taskstate.messages import closest
from taskstate.model.static_context import SECTION, STANDARDS, context_seal
from taskstate.model.task_state import json_fence, read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values, set_front_matter
from taskstate.syntax.document import Document, parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import CONTROLS, Span, trimmed, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Literal

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from taskstate.syntax.document import Section


MOST_REQUIREMENT = 140  # characters
MOST_BYTES = 10 * 1024**2  # of a cited file: standards are texts that people read
SHA_DIGITS = 16

_MARKUP = frozenset("\\`*_[]<>&!")  # a text without these needs no Markdown parser
_WORD_CATEGORIES = frozenset({"Nd", "Nl", "Pc"})  # besides letters and marks; a slug drops all other characters
_LONGEST_PARAGRAPH = 4000  # characters: the first sentence is looked for in these
# Before a lower-case word a mark ends no sentence ("v1.2 of it"); Chinese and Japanese ones need no blank behind them.
_SENTENCE_END = r"[.!?\u2026][\"'\u201d\u2019)\]]*(?=\s+[^\sa-z])|[\u3002\uff01\uff1f]"
_ABBREVIATION = r"(?:\b(?:e\.g|i\.e|cf|vs|etc|approx|resp|no|nos|fig|sec|ch|vol|dr|mr|mrs|ms|st|bzw|ca)|\b[A-Za-z])\.\Z"
_SPAN = r"L([1-9][0-9]*)-L([1-9][0-9]*)"


class CitedSection(NamedTuple):
    """A section as a citation holds it: line span, hash of the lines, and requirement (its first sentence)."""

    line_span: str
    content_sha: str
    requirement: str


class _Standard(NamedTuple):
    text: str


class Standard(_Standard):
    """A Markdown file whose sections can be cited."""

    @cached_property
    def document(self) -> Document:
        """The parsed file."""
        return parse(self.text)

    @cached_property
    def sections(self) -> Mapping[str, Section]:
        """The sections by slug, as GitHub makes them: equal headings get `-1`, `-2` and so on behind their slug.

        A heading without a letter, digit or hyphen has no slug, and cannot be cited.
        """
        by_slug: dict[str, Section] = {}
        counts: dict[str, int] = {}
        for section in self.document.sections:
            base = slug = slug_of(section.title)
            while slug in by_slug:
                counts[base] = counts.get(base, 0) + 1
                slug = f"{base}-{counts[base]}"
            if slug:
                by_slug[slug] = section
        return by_slug

    def lines(self, slug: str) -> tuple[str, ...] | None:
        """Return the lines of the section with a slug, or None where there is none."""
        section = self.sections.get(slug)
        if section is None:
            return None
        return tuple(with_newlines(_whole_lines(self.text, section).of(self.text), "\n").split("\n"))

    def cited(self, slug: str) -> CitedSection | None:
        """Return the section with a slug as a citation holds it, or None where there is none."""
        section, lines = self.sections.get(slug), self.lines(slug)
        if section is None or lines is None:
            return None
        first = self.document.position(section.span.start).line + 1
        requirement = _requirement(section.body.of(self.text), section.title)
        return CitedSection(f"L{first}-L{first + len(lines) - 1}", content_sha(lines), requirement)

    def nearest(self, slug: str) -> str:
        """Return the slug most similar to `slug`, or an empty text where the file has no heading."""
        return closest(slug_of(slug), self.sections, cutoff=0.0)


def slug_of(title: str) -> str:
    """Return the anchor that GitHub gives a heading, without the number that tells equal headings apart."""
    text = _visible(title, line_break="", image_text=False)
    return "".join("-" if char == " " else char for char in text.lower() if char in " -" or _is_word(char))


def _is_word(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LM" or category in _WORD_CATEGORIES


def content_sha(lines: tuple[str, ...]) -> str:
    """Return the hash of some lines for a citation: the first digits of the SHA-256 of them joined by LF."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:SHA_DIGITS]


class CitationStatus(NamedTuple):
    """A citation compared with its file: `fault` says what is missing or changed.

    `moved` says that only the line span changed; `cited` is the section as it is now, where it exists.
    """

    fault: Literal["", "file", "section", "content"] = ""
    moved: bool = False
    cited: CitedSection | None = None


def citation_status(citation: Mapping[str, object], standard: Standard | None) -> CitationStatus:
    """Compare a captured citation with its file; `standard` is None where that is missing or cannot be read."""
    if standard is None:
        return CitationStatus("file")
    cited = standard.cited(str(citation.get("section")))
    if cited is None:
        return CitationStatus("section")
    if citation.get("content_sha") != cited.content_sha:
        return CitationStatus("content", cited=cited)
    return CitationStatus(moved=citation.get("line_span") != cited.line_span, cited=cited)


def parse_line_span(line_span: str) -> tuple[int, int] | None:
    """Return the first and last line of a span such as `L42-L68`, or None where it is malformed."""
    match = re.fullmatch(_SPAN, line_span)
    if match is None or len(match[1]) > len(match[2]) or int(match[2]) < int(match[1]):
        return None
    return int(match[1]), int(match[2])


def _whole_lines(text: str, section: Section) -> Span:
    """Return the span of a section from its heading to the end of its last line that is not blank."""
    end = trimmed(text, section.span).end
    while end < section.span.end and text[end] in " \t":
        end += 1
    return Span(section.span.start, end)


# The requirement of a section: its first sentence


def _requirement(body: str, title: str) -> str:
    """Return the first sentence of a section's prose, or its title where it has none, cut at a word."""
    return truncated(next((first_sentence(text) for text in _paragraphs(body)), "") or _plain(title) or title.strip())


def _paragraphs(body: str) -> Iterator[str]:
    """Yield each paragraph without its markup, also those in lists and quotes; tables do not count."""
    parser = _parser()
    tokens: list[Token] = []
    parser.block.parse(with_newlines(body, "\n") + "\n", parser, {}, tokens)
    for opening, inline in pairwise(tokens):
        if opening.type == "paragraph_open" and not inline.content.startswith("|"):
            text = _plain(inline.content[:_LONGEST_PARAGRAPH])
            if text:
                yield text


def first_sentence(text: str) -> str:
    """Return the first sentence of a text; a full stop behind an abbreviation ends none."""
    for end in re.compile(_SENTENCE_END).finditer(text):
        if not re.compile(_ABBREVIATION, re.IGNORECASE).search(text[: end.start() + 1]):
            return text[: end.end()]
    return text


def truncated(text: str, limit: int = MOST_REQUIREMENT) -> str:
    """Return a text as one line of at most `limit` characters, cut behind a word."""
    text = " ".join(re.compile(CONTROLS).sub(" ", text).split())
    if len(text) <= limit:
        return text
    beginning = text[: limit - 1]
    end = beginning.rfind(" ") if text[limit - 1] != " " else len(beginning)
    return (beginning[:end] if end > 0 else beginning).rstrip(" ,;:-") + "…"


def _plain(markdown: str) -> str:
    """Return a paragraph or heading as plain text, without its markup."""
    return " ".join(_visible(markdown, line_break=" ", image_text=True).split())


def _visible(markdown: str, *, line_break: str, image_text: bool) -> str:
    """Return the visible text of inline Markdown; `image_text` includes the alternative text of images."""
    if _MARKUP.isdisjoint(markdown):
        return markdown
    hidden = {"html_inline"} if image_text else {"html_inline", "image"}
    return "".join(
        line_break if token.type in {"softbreak", "hardbreak"} else token.content
        for inline in _parser().parseInline(markdown)[:1]
        for token in inline.children or ()
        if token.type not in hidden
    )


@cache  # making a parser costs as much as reading 10 KB
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


class LineSpanRefresh(NamedTuple):
    """A text with updated line spans: the sections that moved, and whether the seal was computed again."""

    text: str
    sections: tuple[str, ...] = ()
    resealed: bool = False


def refresh_line_spans(
    document: Document, standard_of: Callable[[str], tuple[Standard, ...] | None]
) -> LineSpanRefresh:
    """Return the text of a state file with the line spans of its citations updated.

    `standard_of` returns the file that a citation names, as a tuple of one, or nothing where it cannot be read.
    A seal that was broken before stays as it is, so that the change by hand stays visible.
    """
    moved = list(_moved_citations(document, standard_of))
    if not moved:
        return LineSpanRefresh(document.text)
    blocks = blocks_of(document)
    seal_holds = blocks.context.seal is not None and context_seal(document, blocks.values) == blocks.context.seal
    refreshed = apply(document.text, [edit for _, edit in moved])
    if seal_holds:
        after = document.with_text(refreshed)
        context = {**blocks.context.values, "seal": context_seal(after, front_matter_values(after))}
        refreshed = apply(refreshed, set_front_matter(after, "context", context))
    return LineSpanRefresh(refreshed, tuple(section for section, _ in moved), seal_holds)


def _moved_citations(
    document: Document, standard_of: Callable[[str], tuple[Standard, ...] | None]
) -> Iterator[tuple[str, Edit]]:
    """Yield the section of each citation whose line span is outdated, with the edit that corrects it."""
    section = read_state(document).subsection(SECTION, STANDARDS)
    fence = json_fence(document, section.own) if section else None
    root = document.json(fence) if fence else None
    for node in root.items if isinstance(root, Node) else ():
        citation = node.value() if node.kind == "mapping" else {}
        span, file = node.get("line_span"), citation.get("file")
        if span is None or parse_line_span(span.text) is None or not isinstance(file, str) or not file:
            continue
        standards = standard_of(file)
        status = citation_status(citation, standards[0]) if standards else None
        if status and status.moved and status.cited:
            yield str(citation.get("section")), Edit(*span.span, f'"{status.cited.line_span}"')

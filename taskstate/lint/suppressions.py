"""Finds the directives in a file, comments that silence findings, and applies them.

In the body `<!-- taskstate: ignore TS404 reason -->` on a line of its own applies to the next line, or to the whole
code fence that begins there. In the front matter `# taskstate: ignore TS104 reason` applies to the next line, and above
the first key also to the first line, where findings about the file as a whole are reported. A directive inside a code
fence is an example and is ignored. Rules are identified by their codes only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from taskstate.syntax.nodes import scalars
from taskstate.syntax.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.syntax.document import Document

_MARK = "taskstate: ignore"
# Compiled on use: hardly any file has a directive, and each pattern compiled at import costs start-up time.
# `^` knows only `\n`; a file may have lone `\r` as line ends.
_BEGIN = r"(?m)(?:^|(?<=\r))"
_COMMENT = _BEGIN + r" {0,3}(?P<comment><!--[ \t]*taskstate: ignore\b(?P<rest>[^\r\n]*?)-->)[ \t]*(?=[\r\n]|\Z)"
_HASH = _BEGIN + r"[ \t]*(?P<comment>#[ \t]*taskstate: ignore\b(?P<rest>[^\r\n]*))"
_CODES = r"[ \t]*(?:TSP?[0-9]+\b[ \t,]*)*"
_CODE = r"TSP?[0-9]+"


class Directive(NamedTuple):
    """A directive: `span` is the comment, `lines` the line that it takes up, `target` the spans that it applies to."""

    span: Span
    lines: Span
    codes: tuple[tuple[str, Span], ...]
    target: tuple[Span, ...]

    def silences(self, diagnostic: Diagnostic) -> bool:
        """Return whether this directive silences a finding."""
        return any(code == diagnostic.code for code, _ in self.codes) and any(
            target.start <= diagnostic.span.start <= target.end for target in self.target
        )


def directives(document: Document) -> tuple[Directive, ...]:
    """Return the directives of a file, in document order."""
    if _MARK not in document.text:
        return ()
    return (*_in_front_matter(document), *_in_body(document))


def apply_directives(
    diagnostics: Iterable[Diagnostic], in_file: Sequence[Directive]
) -> tuple[list[Diagnostic], dict[Directive, set[str]]]:
    """Return the findings that no directive silences, and the codes that each directive has silenced."""
    left: list[Diagnostic] = []
    used: dict[Directive, set[str]] = {directive: set() for directive in in_file}
    for diagnostic in diagnostics:
        silencing = [directive for directive in in_file if directive.silences(diagnostic)]
        for directive in silencing:
            used[directive].add(diagnostic.code)
        if not silencing:
            left.append(diagnostic)
    return left, used


def _in_front_matter(document: Document) -> Iterator[Directive]:
    """Yield the directives between the `---` lines, but for text in a scalar of several lines."""
    front_matter = document.front_matter
    if front_matter.span is None or front_matter.node is None:
        return
    # Inside a block scalar (`|`, `>`) a `#` begins no comment, it is part of the value.
    inside = [node.span for node in scalars(front_matter.node)]
    matches = [
        match
        for match in re.compile(_HASH).finditer(document.text, *front_matter.content)
        if not any(span.start <= match.start("comment") < span.end for span in inside)
    ]
    first_key = min((entry.key.span.start for entry in front_matter.node.entries), default=front_matter.content.end)
    own_lines = {_line(document, match.start("comment")) for match in matches}
    for match in matches:
        target = [_next_line(document, match.start("comment"), own_lines)]
        if match.start() < first_key:
            target.append(_line_span(document, 0))
        yield _directive(document, match, tuple(target))


def _in_body(document: Document) -> Iterator[Directive]:
    front_matter = document.front_matter.span
    start = front_matter.end if front_matter else 0
    fences = [block for block in document.blocks if block.kind == "fence"]
    fence_starts = [fence.span.start for fence in fences]
    matches = []
    for match in re.compile(_COMMENT).finditer(document.text, start):
        index = bisect_right(fence_starts, match.start("comment")) - 1
        if index < 0 or match.start("comment") >= fences[index].span.end:
            matches.append(match)
    own_lines = {_line(document, match.start("comment")) for match in matches}
    for match in matches:
        target = _next_line(document, match.start("comment"), own_lines)
        fence = next((each.span for each in fences if target.start <= each.span.start <= target.end), target)
        yield _directive(document, match, (fence,))


def _directive(document: Document, match: re.Match[str], target: tuple[Span, ...]) -> Directive:
    at = match.start("rest")
    codes = re.compile(_CODES, re.IGNORECASE).match(document.text, at, match.end("rest"))
    matches = re.compile(_CODE, re.IGNORECASE).finditer(document.text, at, codes.end() if codes else at)
    line = _line(document, match.start("comment"))
    end = document.starts[line + 1] if line + 1 < len(document.starts) else len(document.text)
    return Directive(
        span=Span(*match.span("comment")),
        lines=Span(document.starts[line], end),
        codes=tuple((code[0].upper(), Span(*code.span())) for code in matches),
        target=target,
    )


def _line(document: Document, offset: int) -> int:
    return document.position(offset).line


def _line_span(document: Document, line: int) -> Span:
    """Return the span of a line without its line end; behind the last line the end of the text."""
    if line >= len(document.starts):
        return Span(len(document.text), len(document.text))
    stop = document.starts[line + 1] if line + 1 < len(document.starts) else len(document.text)
    start = document.starts[line]
    return Span(start, start + len(document.text[start:stop].rstrip("\r\n")))


def _next_line(document: Document, offset: int, own_lines: set[int]) -> Span:
    """Return the line that a directive applies to: the next one that is no directive itself."""
    line = _line(document, offset) + 1
    while line in own_lines:
        line += 1
    return _line_span(document, line)

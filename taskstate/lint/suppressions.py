"""Directives: comments in a file by which its author silences a finding, and says why.

In the body `<!-- taskstate: ignore TS404 reason -->` on a line of its own speaks of the next line, or of the whole code
fence that begins there; in the front matter `# taskstate: ignore TS104 reason` speaks of the next line, and above the
first key also of the file as such, whose findings stand on its first line. What stands inside a code fence is an
example. Pure: no rule is known here but by its code.
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
# Compiled when they are used: hardly any file has a directive, and at start-up each pattern costs time.
_BEGIN = r"(?m)(?:^|(?<=\r))"
_COMMENT = _BEGIN + r" {0,3}(?P<comment><!--[ \t]*taskstate: ignore\b(?P<rest>[^\r\n]*?)-->)[ \t]*(?=[\r\n]|\Z)"
_HASH = _BEGIN + r"[ \t]*(?P<comment>#[ \t]*taskstate: ignore\b(?P<rest>[^\r\n]*))"
_CODES = r"[ \t]*(?:TSP?[0-9]+\b[ \t,]*)*"
_CODE = r"TSP?[0-9]+"


class Directive(NamedTuple):
    """One directive: `span` is the comment, `lines` the line to take away with it, `target` what it speaks of."""

    span: Span
    lines: Span
    codes: tuple[tuple[str, Span], ...]
    target: tuple[Span, ...]

    def silences(self, diagnostic: Diagnostic) -> bool:
        """Return whether a finding is one that this directive speaks of."""
        return any(code == diagnostic.code for code, _ in self.codes) and any(
            target.start <= diagnostic.span.start <= target.end for target in self.target
        )


def directives(document: Document) -> tuple[Directive, ...]:
    """Return the directives of a file, in their order."""
    if _MARK not in document.text:
        return ()
    return (*_in_front_matter(document), *_in_body(document))


def apply_directives(
    found: Iterable[Diagnostic], told: Sequence[Directive]
) -> tuple[list[Diagnostic], dict[Directive, set[str]]]:
    """Return the findings that are left, and which codes each directive silenced."""
    left: list[Diagnostic] = []
    used: dict[Directive, set[str]] = {directive: set() for directive in told}
    for diagnostic in found:
        speaking = [directive for directive in told if directive.silences(diagnostic)]
        for directive in speaking:
            used[directive].add(diagnostic.code)
        if not speaking:
            left.append(diagnostic)
    return left, used


def _in_front_matter(document: Document) -> Iterator[Directive]:
    """Yield the directives between the `---` lines; not those inside a block scalar, which are text."""
    front_matter = document.front_matter
    if front_matter.span is None or front_matter.node is None:
        return
    # In a scalar of several lines a `#` begins no comment.
    inside = [node.span for node in scalars(front_matter.node)]
    matches = [
        match
        for match in re.compile(_HASH).finditer(document.text, *front_matter.content)
        if not any(span.start <= match.start("comment") < span.end for span in inside)
    ]
    first_key = min((entry.key.span.start for entry in front_matter.node.entries), default=front_matter.content.end)
    ours = {_line(document, match.start("comment")) for match in matches}
    for match in matches:
        target = [_next_line(document, match.start("comment"), ours)]
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
    ours = {_line(document, match.start("comment")) for match in matches}
    for match in matches:
        target = _next_line(document, match.start("comment"), ours)
        fence = next((each.span for each in fences if target.start <= each.span.start <= target.end), target)
        yield _directive(document, match, (fence,))


def _directive(document: Document, match: re.Match[str], target: tuple[Span, ...]) -> Directive:
    at = match.start("rest")
    codes = re.compile(_CODES, re.IGNORECASE).match(document.text, at, match.end("rest"))
    found = re.compile(_CODE, re.IGNORECASE).finditer(document.text, at, codes.end() if codes else at)
    line = _line(document, match.start("comment"))
    end = document.starts[line + 1] if line + 1 < len(document.starts) else len(document.text)
    return Directive(
        span=Span(*match.span("comment")),
        lines=Span(document.starts[line], end),
        codes=tuple((code[0].upper(), Span(*code.span())) for code in found),
        target=target,
    )


def _line(document: Document, offset: int) -> int:
    return document.position(offset).line


def _line_span(document: Document, line: int) -> Span:
    """Return a line without its line end; behind the last one the end of the text."""
    if line >= len(document.starts):
        return Span(len(document.text), len(document.text))
    stop = document.starts[line + 1] if line + 1 < len(document.starts) else len(document.text)
    start = document.starts[line]
    return Span(start, start + len(document.text[start:stop].rstrip("\r\n")))


def _next_line(document: Document, offset: int, ours: set[int]) -> Span:
    """Return the line below a directive; several directives in a row all speak of the line below them."""
    line = _line(document, offset) + 1
    while line in ours:
        line += 1
    return _line_span(document, line)

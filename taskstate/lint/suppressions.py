"""Finds the directives in a file, comments that silence findings, and applies them.

In the body a directive is an HTML comment on a line of its own, in the front matter a comment that begins with `#`:

    <!-- taskstate: ignore TS404 reason -->         the next line, or the whole code fence that begins there
    <!-- taskstate: ignore-start TS404 reason -->   all lines down to `<!-- taskstate: ignore-end -->`
    <!-- taskstate: ignore-file TS404 reason -->    the whole file
    # taskstate: ignore TS104 reason                the next line of the front matter

Above the first key `# taskstate: ignore` applies to the first line, too, where findings about the file as a whole are
reported. A directive inside a code fence is an example, one inside an item of a list the item's text: both are ignored.
Rules are identified by their codes only. What guards history (`GUARDS`) only the configuration can silence: a file
could else be rewritten and switch off what would tell. A comment that looks like a directive and is none is returned
with its fault, so that nobody takes it for one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from sys import maxsize

from taskstate.syntax.nodes import scalars
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.syntax.document import Document

# The rules that guard what was committed (sessions, features, objectives, archived text, seals, the files themselves),
# and those of faults because of which nothing below is compared with it.
GUARDS = frozenset(
    {
        "TS002",
        "TS003",
        "TS004",
        "TS005",
        "TS007",
        "TS009",
        "TS012",
        "TS201",
        "TS207",
        "TS209",
        "TS305",
        "TS307",
        "TS405",
        "TS407",
        "TS606",
        "TS607",
    }
)
LINE, WHOLE_FILE, _START, _END = "ignore", "ignore-file", "ignore-start", "ignore-end"
_WORDS = "ignor|disabl|suppress|noqa"
_ANY = rf"taskstate[ \t:=-]*(?:{_WORDS})"  # in lower case: where it is nowhere, nothing is or looks like a directive
# Compiled on use: hardly any file has a directive, and each pattern compiled at import costs start-up time.
# `^` knows only `\n`; a file may have lone `\r` as line ends.
_BEGIN = r"(?m)(?:^|(?<=\r))"
_VERB = rf"taskstate: (?P<verb>{_START}|{_END}|{WHOLE_FILE}|{LINE})(?![\w-])"
_COMMENT = rf"{_BEGIN} {{0,3}}(?P<comment><!--[ \t]*{_VERB}(?P<rest>[^\r\n]*?)-->)[ \t]*(?=[\r\n]|\Z)"
_HASH = rf"{_BEGIN}[ \t]*(?P<comment>#[ \t]*{_VERB}(?P<rest>[^\r\n]*))"
_CODES = r"(?i)[ \t]*(?:TSP?[0-9]+\b[ \t,]*)*"
_CODE = r"(?i)TSP?[0-9]+"
# What somebody means as a directive: with a code, since prose may speak of ignoring, and a comment may quote another.
# The code stands not far behind: one line may begin thousands of them, and each would look through all that follows.
_ALIKE = rf"taskstate\b[ \t:=-]*(?:{_WORDS})[\w-]*[^\r\n]{{0,200}}?\bTSP?[0-9]"
_ALIKE_IN_BODY = rf"(?i)(?:<!--|#)[ \t]*{_ALIKE}[^\r\n]*"
_ALIKE_IN_FRONT_MATTER = rf"(?i)(?<=[ \t\r\n])#[ \t]*{_ALIKE}[^\r\n]*"
_NO_BODY_LINE = r" {0,3}>|[ ]{4}|\t"  # a quote, or what may be code


class Directive(NamedTuple):
    """A directive: `span` is the comment, `lines` the lines that it takes up, `target` the spans that it applies to.

    One with a `fault` is none, although it looks like one; it applies to nothing. `cure` is what to do about it.
    """

    span: Span
    lines: tuple[Span, ...]
    codes: tuple[tuple[str, Span], ...]
    target: tuple[Span, ...]
    fault: str = ""
    cure: str = ""


def directives(document: Document) -> tuple[Directive, ...]:
    """Return the directives of a file in document order, with those that only look like one."""
    if compiled(_ANY).search(document.text.casefold()) is None:
        return ()
    return tuple(sorted((*_in_front_matter(document), *_in_body(document)), key=lambda each: each.span))


def apply_directives(
    diagnostics: Iterable[Diagnostic], in_file: Sequence[Directive]
) -> tuple[list[Diagnostic], list[set[str]]]:
    """Return the findings that no directive silences, and for each directive the codes that it has silenced.

    Directives that silence the same code at the same place, such as a stack of them, are looked at once.
    """
    by_code: dict[str, set[Span]] = {}
    for directive in in_file:
        for code, _ in (each for each in directive.codes if each[0] not in GUARDS):
            by_code.setdefault(code, set()).update(directive.target)
    targets = {code: _Targets(spans) for code, spans in by_code.items()}
    used: set[tuple[str, Span]] = set()
    left: list[Diagnostic] = []
    for diagnostic in diagnostics:
        code = diagnostic.code
        silenced = [(code, each) for each in targets[code].at(diagnostic.span.start)] if code in targets else []
        used.update(silenced)
        if not silenced:
            left.append(diagnostic)
    return left, [
        {code for code, _ in directive.codes if any((code, target) in used for target in directive.target)}
        for directive in in_file
    ]


class _Targets:
    """The places that directives silence, to look up those around an offset without trying all of them."""

    def __init__(self, spans: Iterable[Span]) -> None:
        ordered = sorted(spans)
        last = max((span.end for span in ordered), default=0)
        self._whole = [span for span in ordered if span == (0, last)]  # else every search would go back to it
        self._others = [span for span in ordered if span != (0, last)]
        self._reach = list(accumulate((span.end for span in self._others), max))

    def at(self, offset: int) -> list[Span]:
        """Return the places around an offset; ends count as inside."""
        found = [span for span in self._whole if offset <= span.end]
        index = bisect_right(self._others, (offset, maxsize)) - 1
        while index >= 0 and self._reach[index] >= offset:
            if offset <= self._others[index].end:
                found.append(self._others[index])
            index -= 1
        return found


def _is_within(offset: int, spans: Sequence[Span]) -> bool:
    """Return whether an offset lies in one of the sorted `spans`, which do not overlap."""
    index = bisect_right(spans, (offset, maxsize)) - 1
    return index >= 0 and offset < spans[index].end


def _in_front_matter(document: Document) -> Iterator[Directive]:
    """Yield the directives between the `---` lines, but for text in a scalar of several lines."""
    front_matter = document.front_matter
    if front_matter.span is None or front_matter.node is None:
        return
    # Inside a block scalar (`|`, `>`) a `#` begins no comment, it is part of the value.
    inside = sorted(node.span for node in scalars(front_matter.node))

    def found(pattern: str) -> list[re.Match[str]]:
        matches = re.compile(pattern).finditer(document.text, *front_matter.content)
        return [each for each in matches if not _is_within(_hash(each), inside)]

    matches = found(_HASH)
    first_key = min((entry.key.span.start for entry in front_matter.node.entries), default=front_matter.content.end)
    top = {each.start(): (_line_span(document, 0),) for each in matches if each.start() < first_key}
    yield from _with_targets(document, matches, _next_lines(document, matches), top)
    known = {each.start("comment") for each in matches}
    yield from (_no_directive(each, "#") for each in found(_ALIKE_IN_FRONT_MATTER) if _hash(each) not in known)


def _hash(match: re.Match[str]) -> int:
    return match.start("comment") if "comment" in match.re.groupindex else match.start()


def _in_body(document: Document) -> Iterator[Directive]:
    front_matter = document.front_matter.span
    start = front_matter.end if front_matter else 0
    fences = [block.span for block in document.blocks if block.kind == "fence"]
    fence_starts = [fence.start for fence in fences]

    def found(pattern: str) -> list[re.Match[str]]:
        matches = re.compile(pattern).finditer(document.text, start)
        indices = ((each, bisect_right(fence_starts, each.end()) - 1) for each in matches)
        return [each for each, at in indices if at < 0 or each.start() >= fences[at].end]

    # Within an item of a list, as in a session, a comment is the words of whoever the item quotes.
    comments = [block.span for block in document.blocks if block.kind == "html"]
    matches = [each for each in found(_COMMENT) if _is_within(each.start("comment"), comments)]
    targets = {}
    for at, line in _next_lines(document, matches).items():
        fence = bisect_right(fence_starts, line.end) - 1
        targets[at] = fences[fence] if fence >= 0 and fence_starts[fence] >= line.start else line
    yield from _with_targets(document, matches, targets, {})
    known = [Span(*each.span("comment")) for each in matches]
    for alike in found(_ALIKE_IN_BODY):
        if _is_within(alike.start(), known):
            continue
        before = document.text[document.starts[_line(document, alike.start())] : alike.start()]
        if before.count("`") % 2 == 0 and not re.match(_NO_BODY_LINE, before):
            yield _no_directive(alike, "<!--")


def _with_targets(
    document: Document,
    matches: Sequence[re.Match[str]],
    next_lines: Mapping[int, Span],
    more: Mapping[int, tuple[Span, ...]],
) -> Iterator[Directive]:
    """Yield the directives of matches; by their starts `next_lines` has what stands below, `more` further targets."""
    ends, lacking = _ranges(matches)
    unmatched = {match.start() for match in lacking}
    for match in matches:
        verb, end = match["verb"], ends.get(match.start())
        if verb == _START and end:
            lines = tuple(_full_line(document, each.start("comment")) for each in (match, end))
            yield _directive(document, match, (Span(lines[0].end, lines[1].start),))._replace(lines=lines)
        elif verb == WHOLE_FILE:
            yield _directive(document, match, (Span(0, len(document.text)),))
        elif verb == LINE:
            yield _directive(document, match, (next_lines[match.start()], *more.get(match.start(), ())))
        elif match.start() in unmatched:
            other, where = (_END, "below what") if verb == _START else (_START, "with codes above what")
            fault = f"`{verb}` has no `{other}`, so it silences nothing"
            cure = f"write `{_written(match, other)}` {where} it is meant for, or delete it"
            yield _directive(document, match, ())._replace(codes=(), fault=fault, cure=cure)


def _written(match: re.Match[str], verb: str) -> str:
    return f"# taskstate: {verb}" if match["comment"].startswith("#") else f"<!-- taskstate: {verb} -->"


def _ranges(matches: Iterable[re.Match[str]]) -> tuple[dict[int, re.Match[str]], list[re.Match[str]]]:
    """Return the end of each range by the start of its begin, and the begins and ends that lack the other."""
    ends: dict[int, re.Match[str]] = {}
    begun: list[re.Match[str]] = []
    unmatched: list[re.Match[str]] = []
    for match in matches:
        if match["verb"] == _START:
            begun.append(match)
        elif match["verb"] == _END and begun:
            ends[begun.pop().start()] = match
        elif match["verb"] == _END:
            unmatched.append(match)
    return ends, [*begun, *unmatched]


def _no_directive(match: re.Match[str], opening: str) -> Directive:
    """Return a comment that is meant as a directive and is none."""
    codes = " ".join(dict.fromkeys(code.upper() for code in re.findall(_CODE, match[0])))
    written = f"# taskstate: ignore {codes}" if opening == "#" else f"<!-- taskstate: ignore {codes} reason -->"
    return Directive(
        span=Span(match.start(), match.start() + len(match[0].rstrip())),
        lines=(),
        codes=(),
        target=(),
        fault="this is not a directive, and silences nothing",
        cure=f"write `{written}` on a line of its own, directly above the fault",
    )


def _directive(document: Document, match: re.Match[str], target: tuple[Span, ...]) -> Directive:
    at = match.start("rest")
    codes = compiled(_CODES).match(document.text, at, match.end("rest"))
    matches = compiled(_CODE).finditer(document.text, at, codes.end() if codes else at)
    return Directive(
        span=Span(*match.span("comment")),
        lines=(_full_line(document, match.start("comment")),),
        codes=tuple((code[0].upper(), Span(*code.span())) for code in matches),
        target=target,
    )


def _line(document: Document, offset: int) -> int:
    return bisect_right(document.starts, offset) - 1


def _full_line(document: Document, offset: int) -> Span:
    """Return the span of the line at an offset, with its line end."""
    line = _line(document, offset)
    end = document.starts[line + 1] if line + 1 < len(document.starts) else len(document.text)
    return Span(document.starts[line], end)


def _line_span(document: Document, line: int) -> Span:
    """Return the span of a line without its line end; behind the last line the end of the text."""
    if line >= len(document.starts):
        return Span(len(document.text), len(document.text))
    stop = document.starts[line + 1] if line + 1 < len(document.starts) else len(document.text)
    start = document.starts[line]
    return Span(start, start + len(document.text[start:stop].rstrip("\r\n")))


def _next_lines(document: Document, matches: Sequence[re.Match[str]]) -> dict[int, Span]:
    """Return for the start of each directive the line that is meant by it: the next one that is no directive itself."""
    lines: dict[int, int] = {}
    targets: dict[int, Span] = {}
    for match in reversed(matches):
        line = _line(document, match.start("comment"))
        lines[line] = lines.get(line + 1, line + 1)
        targets[match.start()] = _line_span(document, lines[line])
    return targets

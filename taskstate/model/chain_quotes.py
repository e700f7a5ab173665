"""Quotes a task's output in its downstream tasks, within a size budget, and tells added lines from the tool's own.

Of an output that is too large each part is cut to its share, and the parts that programs rely on (interfaces,
configuration) get more than prose. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from taskstate.model.derived_values import shown_kb
from taskstate.model.task_state import KB, PART_LEVEL
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.spans import Span, size_in_bytes, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.model.config import Config
    from taskstate.syntax.markdown_blocks import Block


class Upstream(NamedTuple):
    """What a downstream task needs of another task's state file.

    `path` is from the repository's root. `output` is the text that a downstream task takes over, `output_sha` the
    beginning of its SHA-256; both are empty while the task is not complete or has no output. `files` are those that the
    output named when the task was completed, each with its SHA-256 then, or None where there was no such file. A
    task of the `kind` permanent is no work, and so never hands anything down. `is_edited` tells that the output is
    another one than was handed down.
    """

    id: str
    path: str
    title: str
    status: str
    revision: int
    depends_on: tuple[str, ...]
    output: str
    output_sha: str
    files: tuple[tuple[str, str | None], ...] = ()
    kind: str = "task"
    is_edited: bool = False


class ChainInput(NamedTuple):
    """A Chain Input that the tool wrote: the values in its comment, and its spans.

    `comment` is the comment, `quote` the quoted output behind it (empty where it is gone), `span` both.
    """

    id: str
    revision: int
    sha: str
    time: str
    comment: Span
    quote: Span

    @property
    def span(self) -> Span:
        """The part of the text that the tool has written."""
        return Span(self.comment.start, self.quote.end)

    def is_of(self, upstream: Upstream) -> bool:
        """Return whether the input quotes the current output of the upstream task."""
        return self.sha[:SHA] == upstream.output_sha


SHA = 16  # hex digits of an output's hash that a Chain Input records
_COMMENT = 96  # bytes set aside for the comment, so that its length never decides where an output is cut
_STRUCTURED = r"###[ \t]+(?:API Contract|Configuration Required)\b"
MORE = "\u2026"  # behind what was cut
_ENDS = (  # of what is cut, the best first, and the mark behind it: paragraphs and items, sentences, words, any place
    (r"\n(?=[ \t]*\n|(?:[-*+]|[0-9]{1,9}[.)])[ \t])", f"\n\n{MORE}"),
    *((end, f" {MORE}") for end in (r"(?<=[.!?])(?=\s)|(?<=[\u3002\uff01\uff1f])", r"(?<=\S)(?=\s)", r"(?=\S)")),
)
_CUT = r"> \*Cut to stay within [0-9]+ KB\. The whole output, .+\*"


class RenderedInput(NamedTuple):
    """The text of a Chain Input: its heading, the comment with its origin, and the quote."""

    heading: str
    comment: str
    quote: str


def render_chain_input(upstream: Upstream, now: str, config: Config) -> RenderedInput:
    """Return the text of a Chain Input, with LF line ends; `now` is a timestamp.

    Raises:
        TaskstateError: the output is empty, or it or the title holds control characters.
    """
    require_clean(upstream.id, upstream.title, upstream.output)
    origin = f"input {upstream.id} r{upstream.revision} sha256:{upstream.output_sha} {now}"
    return RenderedInput(_heading(upstream), f"<!-- taskstate: {origin} -->", quote_of(upstream, config))


def require_clean(task_id: str, title: str, output: str) -> None:
    """Refuse an output that cannot be quoted downstream.

    Raises:
        TaskstateError: the output is empty, or it or the title holds control characters.
    """
    escaping.clean(output, what=f"the output of task {task_id}")
    if title:
        escaping.one_line(title, what=f"the title of task {task_id}")


def quote_of(upstream: Upstream, config: Config) -> str:
    """Return the quoted output of a task; where it exceeds `chain.max_input_kb`, each part is cut to its share."""
    kb = config.chain.max_input_kb
    room = kb * KB - size_in_bytes(_heading(upstream)) - _COMMENT
    whole = escaping.quote(upstream.output)
    if size_in_bytes(whole) <= room:
        return whole
    size = shown_kb(size_in_bytes(upstream.output))
    rest = f"*Cut to stay within {kb} KB. The whole output, {size}: `taskstate chain output {upstream.id}`*"
    return escaping.quote(
        "\n\n".join((*_shares(parts_of(upstream.output), room - size_in_bytes(escaping.quote(rest))), rest))
    )


def is_quote_of(quote: str, upstream: Upstream, config: Config) -> bool:
    """Return whether a quote with LF line ends is that of an output, in the cut of today or in the older one."""
    return quote == quote_of(upstream, config) or _is_older_cut(quote, upstream, config)


def _is_older_cut(quote: str, upstream: Upstream, config: Config) -> bool:
    """Return whether a quote is cut to whole parts of an output, in their order, as it was done formerly."""
    above, _, last = quote.rpartition("\n")
    if not re.fullmatch(_CUT, last) or f" {config.chain.max_input_kb} KB." not in last:
        return False
    whole = iter(parts_of(upstream.output))
    return all(part in whole for part in parts_of(unquoted(above)))


def parts_of(output: str) -> tuple[str, ...]:
    """Return the parts of an output, one for each heading and one for the text before the first heading."""
    document = parse(output)
    starts = [section.span.start for section in document.sections if section.level <= PART_LEVEL]
    starts = starts if starts[:1] == [0] else [0, *starts]
    spans = zip(starts, [*starts[1:], len(output)], strict=True)
    return tuple(part for part in (output[start:end].rstrip("\n") for start, end in spans) if part)


def unquoted(quote: str) -> str:
    """Return the text that `escaping.quote` has quoted, with LF line ends."""
    return "\n".join(line[2:] if line.startswith("> ") else line[1:] for line in with_newlines(quote, "\n").split("\n"))


def _heading(upstream: Upstream) -> str:
    title = upstream.title.strip()
    return f"### From Task #{upstream.id}: {title}" if title else f"### From Task #{upstream.id}"


def _shares(parts: tuple[str, ...], room: int) -> tuple[str, ...]:
    """Return the parts, cut so that they fit into `room` bytes together, in document order.

    Half of the room is set aside for all alike. Of the other half the structured ones take what they need, then the
    others from the first on.
    """
    reserved = _even([*map(_quoted_size, parts)], room // 2)
    cut: dict[int, str] = {}
    for number in sorted(range(len(parts)), key=lambda number: not _is_structured(parts[number])):
        cut[number] = _cut(parts[number], room - sum(reserved) + reserved[number])
        room -= _quoted_size(cut[number]) if cut[number] else 0
        reserved[number] = 0
    return tuple(cut[number] for number in range(len(parts)) if cut[number])


def _even(sizes: list[int], room: int) -> list[int]:
    """Return what each gets of `room` where all get the same, and none more than its size."""
    shares = [0] * len(sizes)
    for done, number in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[number] = min(sizes[number], room // (len(sizes) - done))
        room -= shares[number]
    return shares


def _quoted_size(text: str) -> int:
    return size_in_bytes(escaping.quote(text)) + len(">\n\n")


def _cut(part: str, room: int) -> str:
    """Return a part with as many of its paragraphs and items as fit into `room` bytes, and a mark where it was cut.

    Where not even one fits, it is cut after a sentence or a word; in code that comes next, after a line of it.
    """
    if _quoted_size(part) <= room:
        return part
    document = parse(part)
    heading = next((each.body.start for each in document.sections[:1] if each.span.start == 0), 0)
    start = heading + len(part[heading:]) - len(part[heading:].lstrip("\n"))
    blocks = [block for block in document.blocks if block.span.start >= start]
    for pattern, mark in _ENDS:
        found = (match.start() for match in re.compile(pattern).finditer(part, start + 1))
        ends = [end for end in found if not any(each.span.start < end < each.span.end for each in blocks)]
        text = _longest(part, ends, mark, room)
        if text:
            return _longer_in_code(part, blocks, text, room)
    heading_alone = f"{part[:start].rstrip()}\n\n{MORE}".lstrip()
    return _longer_in_code(part, blocks, heading_alone if _quoted_size(heading_alone) <= room else "", room)


def _longest(part: str, ends: list[int], mark: str, room: int) -> str:
    """Return the longest beginning of a part that is cut at one of some places and fits with its mark; or none."""
    at = bisect_right(ends, room, key=lambda end: _quoted_size(part[:end].rstrip() + mark))
    return part[: ends[at - 1]].rstrip() + mark if at else ""


def _longer_in_code(part: str, blocks: list[Block], text: str, room: int) -> str:
    """Return the beginning of a part; where a code fence comes next, and is most of it, with lines of that fence."""
    kept = len(text.removesuffix(MORE).rstrip())
    fence = next((each for each in blocks if each.kind == "fence" and not part[kept : each.span.start].strip()), None)
    if fence is None or _quoted_size(text) * 2 > room:
        return text
    *lines, closing = fence.span.of(part).rstrip("\n").split("\n")
    ends = [fence.span.start + end for end in accumulate(len(line) + 1 for line in lines)][1:]
    return _longest(part, ends, f"\n{closing}\n\n{MORE}", room) or text


def _is_structured(part: str) -> bool:
    """Return whether a part describes an interface or a configuration, or contains a code fence."""
    return bool(re.compile(_STRUCTURED).match(part) or parse(part).blocks_in(Span(0, len(part)), "fence"))


# Telling the tool's lines from people's


def added_lines(quote: str, present: ChainInput, upstream: Upstream) -> str:
    """Return the lines that somebody has added to a quote, quoted; `upstream` is the output that replaces it.

    The tool's own lines are recognised by the hash in the comment, or by the line that marks a cut. In any other quote
    every line counts as added that the new output lacks: rather keep too much than lose what somebody wrote. But where
    the output is still the one that was quoted, a line in place of one of its own is that line, edited.
    """
    lines = with_newlines(quote, "\n").split("\n")
    own_lines = _hashed_lines(lines, present.sha)
    cut_at = next((number + 1 for number, line in enumerate(lines) if re.fullmatch(_CUT, line)), 0)
    if own_lines:
        added = lines[own_lines:]
    elif cut_at and not present.is_of(upstream):
        added = lines[cut_at:]
    else:
        expected = [line.rstrip() for line in escaping.quote(upstream.output).split("\n")]
        own = {*expected, *(line for line in lines if line.endswith(MORE) and _is_cut(line, expected))}
        edited = _edited(lines, expected) if present.is_of(upstream) else set()
        kept = (number for number in range(len(lines)) if number not in edited and number + 1 != cut_at)
        added = [lines[number] for number in kept if lines[number].rstrip() not in own]
    if not any(line.strip("> \t") for line in added):
        return ""
    while not added[0].strip("> \t"):
        del added[0]
    return "\n".join(added)


def _edited(lines: list[str], expected: list[str]) -> set[int]:
    """Return the lines of a quote that stand in place of those expected; of more lines than were there, the nearest."""
    from difflib import SequenceMatcher

    edited: set[int] = set()
    for tag, start, stop, first, last in SequenceMatcher(
        None, [line.rstrip() for line in lines], expected, autojunk=False
    ).get_opcodes():
        there = [line for line in expected[first:last] if line.strip("> ")]
        likeness = {
            number: max((SequenceMatcher(None, lines[number], line).ratio() for line in there), default=0.0)
            for number in (range(start, stop) if tag == "replace" else ())
            if lines[number].strip("> ")
        }
        edited.update(sorted(likeness, key=lambda number: likeness[number], reverse=True)[: len(there)])
    return edited


def _is_cut(line: str, expected: list[str]) -> bool:
    """Return whether a line is the beginning of an expected one, with the mark that it was cut."""
    return any(each.startswith(line.removesuffix(MORE).rstrip()) for each in expected)


def torn_quote(text: str, span: Span, sha: str) -> Span | None:
    """Return the part that begins a span and has the hash of an output, though lines have lost their mark; or None."""
    start = span.end - len(span.of(text).lstrip())
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)?", text[start : span.end])
    number = _hashed_lines([line.rstrip("\r\n") for line in lines], sha)
    return Span(start, start + len("".join(lines[:number]).rstrip("\r\n"))) if number else None


def _bare(line: str) -> str:
    """Return a line without the mark of a quote, if it has one."""
    return unquoted(line) if line.startswith(">") else line


def _hashed_lines(lines: list[str], sha: str) -> int:
    """Return how many lines from the first one on have the given hash as a text; 0 where no number does."""
    import hashlib  # for lines that are edited by hand, which is rare

    digest = hashlib.sha256()
    for number, line in enumerate(lines):
        digest.update((_bare(line) if number == 0 else "\n" + _bare(line)).encode())
        if digest.hexdigest()[:SHA] == sha[:SHA]:
            return number + 1
    return 0

"""Quotes a task's output in its downstream tasks, within a size budget, and tells added lines from the tool's own.

An output that is too large is cut between its parts, and the parts that programs rely on (interfaces, configuration)
are kept before prose. Pure.
"""

from __future__ import annotations

import re

from taskstate.model.derived_values import shown_kb
from taskstate.model.task_state import KB, PART_LEVEL
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.spans import Span, size_in_bytes, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.model.config import Config


class Upstream(NamedTuple):
    """What a downstream task needs of another task's state file.

    `path` is from the repository's root. `output` is the text that a downstream task takes over, `output_sha` the
    beginning of its SHA-256; both are empty while the task is not complete or has no output. `files` are those that the
    output named when the task was completed, each with its SHA-256 then, or None where there was no such file. A
    task of the `kind` permanent is no work, and so never hands anything down.
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
    """Return the quoted output of a task, cut to whole parts where it exceeds `chain.max_input_kb`."""
    kb = config.chain.max_input_kb
    room = kb * KB - size_in_bytes(_heading(upstream)) - _COMMENT
    whole = escaping.quote(upstream.output)
    if size_in_bytes(whole) <= room:
        return whole
    size = shown_kb(size_in_bytes(upstream.output))
    rest = f"*Cut to stay within {kb} KB. The whole output, {size}: `taskstate chain output {upstream.id}`*"
    return escaping.quote(
        "\n\n".join((*_fitting(parts_of(upstream.output), room - size_in_bytes(escaping.quote(rest))), rest))
    )


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


def _fitting(parts: tuple[str, ...], room: int) -> tuple[str, ...]:
    """Return the parts that fit into `room` bytes, in document order.

    The structured ones are chosen first, then the others from the first on, up to one that does not fit.
    """
    sizes = [size_in_bytes(escaping.quote(part)) + len(">\n\n") for part in parts]
    structured = [number for number, part in enumerate(parts) if _is_structured(part)]
    chosen = set[int]()
    for number in structured:
        if sizes[number] <= room:
            chosen.add(number)
            room -= sizes[number]
    for number in range(len(parts)):
        if number in structured:
            continue
        if sizes[number] > room:
            break
        chosen.add(number)
        room -= sizes[number]
    return tuple(part for number, part in enumerate(parts) if number in chosen)


def _is_structured(part: str) -> bool:
    """Return whether a part describes an interface or a configuration, or contains a code fence."""
    return bool(re.compile(_STRUCTURED).match(part) or parse(part).blocks_in(Span(0, len(part)), "fence"))


# Telling the tool's lines from people's


def added_lines(quote: str, present: ChainInput, upstream: Upstream) -> str:
    """Return the lines that somebody has added to a quote, quoted; `upstream` is the output that replaces it.

    The tool's own lines are recognised by the hash in the comment, or by the line that marks a cut. In any other quote
    every line counts as added that the new output lacks: rather keep too much than lose what somebody wrote.
    """
    lines = with_newlines(quote, "\n").split("\n")
    own_lines = _hashed_lines(lines, present.sha)
    cut_at = next((number + 1 for number, line in enumerate(lines) if re.fullmatch(_CUT, line)), 0)
    if own_lines:
        added = lines[own_lines:]
    elif cut_at and not present.is_of(upstream):
        added = lines[cut_at:]
    else:
        expected = {line.rstrip() for line in escaping.quote(upstream.output).split("\n")}
        added = [line for number, line in enumerate(lines) if line.rstrip() not in expected and number + 1 != cut_at]
    if not any(line.strip("> \t") for line in added):
        return ""
    while not added[0].strip("> \t"):
        del added[0]
    return "\n".join(added)


def _hashed_lines(lines: list[str], sha: str) -> int:
    """Return how many lines from the first one on have the given hash as a text; 0 where no number does."""
    import hashlib  # for lines that are edited by hand, which is rare

    digest = hashlib.sha256()
    for number, line in enumerate(lines):
        digest.update((unquoted(line) if number == 0 else "\n" + unquoted(line)).encode())
        if digest.hexdigest()[:SHA] == sha[:SHA]:
            return number + 1
    return 0

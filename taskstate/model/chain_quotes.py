"""How an output stands in a downstream task: quoted behind a comment, within a budget; and what of a quote is whose.

Of an output that is too large the parts that programs are written against come first: interfaces and configuration are
worth more, cut nowhere, than the text before them. Pure.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.derived_values import shown_kb
from taskstate.model.task_state import KB, PART_LEVEL
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.spans import Span, size_in_bytes, with_newlines

if TYPE_CHECKING:
    from taskstate.model.config import Config


class Upstream(NamedTuple):
    """What another task's state file says to those that build on it.

    `path` is from the repository's root. `output` is the text that a downstream task takes over, `output_sha` the
    beginning of its SHA-256; both are empty while the task is not complete or has no output. `files` are those that the
    output named when the task was completed, each with its SHA-256 then, or None where there was no such file.
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


class ChainInput(NamedTuple):
    """A Chain Input that was pulled: what its comment says, and where it stands.

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
        """Return whether the output that was pulled is the one that the upstream task has."""
        return self.sha[:SHA] == upstream.output_sha


SHA = 16  # hex digits of an output's hash that a Chain Input names
_COMMENT = 96  # bytes that the comment may take: a new revision of the same output is cut where the last one was
_STRUCTURED = r"###[ \t]+(?:API Contract|Configuration Required)\b"
_CUT = r"> \*Cut to stay within [0-9]+ KB\. The whole output, .+\*"


class RenderedInput(NamedTuple):
    """A Chain Input: the heading that it stands under, the comment that says where it is from, and the quote."""

    heading: str
    comment: str
    quote: str


def render_chain_input(upstream: Upstream, now: str, config: Config) -> RenderedInput:
    """Return a Chain Input, with LF line ends; `now` is a timestamp.

    Raises:
        TaskstateError: the output is empty, or it or the title holds control characters.
    """
    require_clean(upstream.id, upstream.title, upstream.output)
    origin = f"input {upstream.id} r{upstream.revision} sha256:{upstream.output_sha} {now}"
    return RenderedInput(_heading(upstream), f"<!-- taskstate: {origin} -->", quote_of(upstream, config))


def require_clean(task_id: str, title: str, output: str) -> None:
    """Refuse an output that cannot be handed down.

    Raises:
        TaskstateError: it is empty, or it or the title holds control characters.
    """
    escaping.clean(output, what=f"the output of task {task_id}")
    if title:
        escaping.one_line(title, what=f"the title of task {task_id}")


def quote_of(upstream: Upstream, config: Config) -> str:
    """Return the output of a task as it is quoted: all of it, or as many of its parts as there is room for."""
    kb = config.chain.max_input_kb
    room = kb * KB - size_in_bytes(_heading(upstream)) - _COMMENT
    whole = escaping.quote(upstream.output)
    if size_in_bytes(whole) <= room:
        return whole
    size = shown_kb(size_in_bytes(upstream.output))
    rest = f"*Cut to stay within {kb} KB. The whole output, {size}: `taskstate chain output {upstream.id}`*"
    return escaping.quote(
        "\n\n".join((*_kept(parts_of(upstream.output), room - size_in_bytes(escaping.quote(rest))), rest))
    )


def parts_of(output: str) -> tuple[str, ...]:
    """Return the parts of an output, each from its heading on; what stands before the first heading is one too."""
    document = parse(output)
    starts = [section.span.start for section in document.sections if section.level <= PART_LEVEL]
    starts = starts if starts[:1] == [0] else [0, *starts]
    spans = zip(starts, [*starts[1:], len(output)], strict=True)
    return tuple(part for part in (output[start:end].rstrip("\n") for start, end in spans) if part)


def unquoted(quote: str) -> str:
    """Return the text that `embed.quote` has quoted, line ends as LF."""
    return "\n".join(line[2:] if line.startswith("> ") else line[1:] for line in with_newlines(quote, "\n").split("\n"))


def _heading(upstream: Upstream) -> str:
    title = upstream.title.strip()
    return f"### From Task #{upstream.id}: {title}" if title else f"### From Task #{upstream.id}"


def _kept(parts: tuple[str, ...], room: int) -> tuple[str, ...]:
    """Return the parts that are quoted, in their order: the structured ones that fit, then others from the first on."""
    sizes = [size_in_bytes(escaping.quote(part)) + len(">\n\n") for part in parts]
    structured = [number for number, part in enumerate(parts) if _is_structured(part)]
    kept = set[int]()
    for number in structured:
        if sizes[number] <= room:
            kept.add(number)
            room -= sizes[number]
    for number in range(len(parts)):
        if number in structured:
            continue
        if sizes[number] > room:
            break
        kept.add(number)
        room -= sizes[number]
    return tuple(part for number, part in enumerate(parts) if number in kept)


def _is_structured(part: str) -> bool:
    """Return whether a part is an interface or a configuration, or holds a code fence."""
    return bool(re.compile(_STRUCTURED).match(part) or parse(part).blocks_in(Span(0, len(part)), "fence"))


# Whose a quote is


def is_untouched(quote: str, present: ChainInput, upstream: Upstream, config: Config) -> bool:
    """Return whether a quote is what the tool writes of the output that the upstream task has."""
    return present.is_of(upstream) and with_newlines(quote, "\n") == quote_of(upstream, config)


def added_lines(quote: str, present: ChainInput, upstream: Upstream) -> str:
    """Return the lines of a quote that somebody has added to it, quoted; `upstream` is what takes its place.

    What the tool wrote is known where its hash says so, or where it was cut. Of any other quote each line counts that
    the output does not hold now: too much is kept rather than too little.
    """
    lines = with_newlines(quote, "\n").split("\n")
    own = _length_of(lines, present.sha)
    end = next((number + 1 for number, line in enumerate(lines) if re.fullmatch(_CUT, line)), 0)
    if own:
        added = lines[own:]
    elif end and not present.is_of(upstream):
        added = lines[end:]
    else:
        known = {line.rstrip() for line in escaping.quote(upstream.output).split("\n")}
        added = [line for number, line in enumerate(lines) if line.rstrip() not in known and number + 1 != end]
    if not any(line.strip("> \t") for line in added):
        return ""
    while not added[0].strip("> \t"):
        del added[0]
    return "\n".join(added)


def _length_of(lines: list[str], sha: str) -> int:
    """Return how many lines from the first one on have, as a text, that hash; 0 where none has."""
    digest = hashlib.sha256()
    for number, line in enumerate(lines):
        digest.update((unquoted(line) if number == 0 else "\n" + unquoted(line)).encode())
        if digest.hexdigest()[:SHA] == sha[:SHA]:
            return number + 1
    return 0

"""Parses archive files: batches of full session entries, each closed by a trailer that lists what the batch holds.

Pure: text in, batches out. Writing archives is done in `archive`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice
from math import inf

from taskstate.model.canonical_json import sha256
from taskstate.model.progress_log import is_summary, session_number
from taskstate.model.session_references import identity, renumbered
from taskstate.syntax.document import parse
from taskstate.syntax.spans import Span, size_in_bytes, trimmed, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_LINE_ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}
ENTRY_LEVEL = 2  # of a session's heading in the archive
_TRAILER = (
    r"(?m)^---\r?\n(?:\r?\n)?Archived on: [^\r\n]*\r?\nReason: [^\r\n]*\r?\nSessions archived: [0-9-]+(?:\r?\n|\Z)"
    r"(?:Size: (\d+) bytes\r?\n)?(?:Offsets: [0-9 -]+\r?\n)?(?:Ends: [A-Z ]+\r?\n)?"
    r"(?:Entries SHA-256:\r?\n\r?\n(?:- \d+: [0-9a-f]{64}(?:\r?\n|\Z))+)?"
)
_SIZE_LINE = "\nSize: "  # in each trailer that the tool wrote, and always with hashes
_HEAD = r"\ufeff?# [^\r\n]*"
BATCH_LINE = r"(?m)^Sessions archived: (\d{1,9})(?:-(\d{1,9}))?[ \t]*\r?$"
_SIZE = r"(?m)^Size: (\d+) bytes\r?$"
_LINK = r"(?m)^\[Full session details\]\([^)\r\n]*\)[ \t]*\r?$"  # the last line of a summary
_SUMMARY = r"(?i)##[ \t]+archived summary\b[^\r\n]*?\(sessions?\s+(\d{1,9})(?:\s*[-\u2013]\s*(\d{1,9}))?\)"
DOCUMENT = "Document"  # the heading of whole documents that were closed
# A list that was moved out of the state file besides sessions; such lists stand between the batches.
_ROLLED_HEADING = rf"[\r\n]*## (?:Git History|Events|Change Log|{DOCUMENT})[ \t]*(?:\r?\n|\Z)"
_ROLLED_LIST = rf"{_ROLLED_HEADING}(?:(?:\r?\n)*(?:- |  )[^\r\n]*(?:\r?\n|\Z))*"
_ROLLED_ITEM = r"(?m)^- ([^\r\n]*)"
_OFFSETS = r"(?m)^Offsets: ([0-9 -]+?)\r?$"
_ENDS = r"(?m)^Ends: ([A-Z ]+?)\r?$"
_ENTRY_HASH = r"(?m)^- (\d+): ([0-9a-f]{64})"
_MOST_ENDS = 8  # line ends behind the last entry, which Size counts
_MOST_ABSENT = 32  # numbers that an entry is tried with
_MOST_REPEATED = 8  # headings of a batch that are there twice; of one with more no hash is asked
_MOST_TRIED = 64  # trailers in a row that one closing is looked for among; sessions may quote some


class Batch(NamedTuple):
    """A batch of an archive file: its entries, the trailer that closes it (empty: none), and all of its text.

    `start` is the offset of that text in the file.
    """

    entries: str
    trailer: str
    text: str
    start: int = 0


class ArchivedSession(NamedTuple):
    """A session's entry in an archive file: its span, its hash, and the hash that the batch's trailer lists (or "").

    `content_sha` is the hash without the numbers of sessions, which a merge may change. `listed_as` is the number under
    which the trailer lists the entry, where its heading has another one.
    """

    number: int
    start: int
    end: int
    sha: str
    listed_sha: str
    content_sha: str
    listed_as: int | None = None


class BatchContents(NamedTuple):
    """The contents of a batch, and what its trailer says of them.

    `numbers` are the sessions that the trailer lists (in a batch without a trailer, those of the entries), `range` is
    the first and last session of its line "Sessions archived", `trailer` its offset (None: there is none), `before` the
    last session of the Archived Summary that the batch replaced and contains (None: it has none), `start` the offset of
    its first entry, `is_hashed` whether the trailer lists hashes, `is_cut` whether it did: the tool wrote it.
    """

    entries: tuple[ArchivedSession, ...]
    numbers: tuple[int, ...]
    range: tuple[int, int] | None
    trailer: int | None
    before: int | None
    start: int
    is_hashed: bool
    is_cut: bool


def entry_hash(entry: str) -> str:
    """Return the SHA-256 of an entry as the state file has it, with LF line ends and without trailing blank lines."""
    lines = with_newlines(entry, "\n").split("\n")
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return sha256("\n".join(lines))


def read_batches(text: str) -> list[str]:
    """Return the entries of each batch of an archive file, oldest first."""
    return [batch.entries for batch in find_batches(text)]


def find_batches(text: str) -> list[Batch]:
    """Return the batches of an archive file, oldest first; together they cover the file but for its title line.

    An entry may quote text that looks like a trailer, so numbers and hashes decide: a batch ends at the first trailer
    that lists exactly the sessions before it with their hashes; in a damaged archive at the one with the most right
    hashes. One without hashes, as people write it, closes the sessions that its range names; or else the first one
    does. Text behind the last trailer is a batch without a trailer, and so is a list that was moved out of the state
    file (Git History, Events, Change Log).
    """
    batches: list[Batch] = []
    title = re.compile(_HEAD).match(text)
    begin = _append_rolled_lists(text, title.end() if title else 0, batches)
    all_headings = headings(text)
    trailers = _trailers(text, begin, all_headings)
    numbers = [number for number, _ in all_headings if number]
    signs = _Signs(all_headings, numbers, trailers, _fitting(trailers, numbers))
    starts = [trailer.match.start() for trailer in trailers]
    while (at := bisect_left(starts, begin)) < len(trailers):
        closing = _closing(text, begin, signs, at).match
        entries = text[begin : closing.start()].strip("\r\n")
        missing = int(closing[1]) - size_in_bytes(entries) if closing[1] else 0  # blank lines behind the last entry
        entries += "\n" * min(max(missing, 0), closing.start() - begin)
        batches.append(Batch(entries, closing[0], text[begin : closing.end()], begin))
        begin = _append_rolled_lists(text, closing.end(), batches)
    rest = text[begin:].strip("\r\n")
    return [*batches, Batch(rest, "", text[begin:], begin)] if rest else batches


def _append_rolled_lists(text: str, begin: int, batches: list[Batch]) -> int:
    """Append the lists at `begin` that were moved out of the state file to `batches`; return where they end."""
    while match := re.compile(_ROLLED_LIST).match(text, begin):
        batches.append(Batch(match[0].strip("\r\n"), "", match[0], begin))
        begin = match.end()
    return begin


def is_rolled_list(batch: Batch) -> bool:
    """Return whether a batch is a list that was moved out of the state file, and holds no sessions."""
    return not batch.trailer and bool(re.compile(_ROLLED_LIST).fullmatch(batch.entries))


def rolled_items(text: str, title: str) -> tuple[str, ...]:
    """Return the items of all lists `## title` that were moved out of the state file, oldest list first."""
    lists = (batch.entries for batch in find_batches(text) if is_rolled_list(batch))
    return tuple(
        item for each in lists if each.startswith(f"## {title}") for item in re.compile(_ROLLED_ITEM).findall(each)
    )


def document_item(label: str, text: str) -> list[str]:
    """Return a whole document as a list item of the archive, line by line: nothing in it can become structure."""
    lines = with_newlines(text, "\n").rstrip("\n").split("\n")
    return [f"- {label}", "", *(f"  {line}" if line else "" for line in lines)]


def original_layout(entries: str, trailer: str) -> tuple[str, tuple[int, ...]]:
    """Return the entries of a batch with the line ends that followed them, and the original offset of each session.

    Offsets count characters from the start of the Archived Summary; empty where the sessions followed it in a row.
    """
    bare = entries.rstrip("\r\n")
    ends, offsets = re.compile(_ENDS).search(trailer), re.compile(_OFFSETS).search(trailer)
    if ends:
        line_ends = "".join(_LINE_ENDS.get(name, "") for name in ends[1].split())
    else:
        newline = "\r\n" if trailer.startswith("---\r") else "\n"
        line_ends = newline * ((len(entries) - len(bare)) or 2)
    return bare + line_ends, tuple(int(number) for number in offsets[1].split()) if offsets else ()


def layout_lines(entries: str, offsets: Sequence[int], *, usual: int, newline: str) -> list[str]:
    """Return the lines of a trailer that record where the sessions stood, as far as that is not the usual place.

    Restoring needs them to give back the Progress Log byte for byte.
    """
    bare = entries.rstrip("\r\n")
    ends = re.findall(r"\r\n|\r|\n", entries[len(bare) :])
    lines = [f"Offsets: {' '.join(map(str, offsets))}"] if any(offset != usual for offset in offsets) else []
    if any(end != newline for end in ends):
        names = {end: name for name, end in _LINE_ENDS.items()}
        lines.append(f"Ends: {' '.join(names[end] for end in ends)}")
    return lines


def batch_contents(text: str) -> tuple[BatchContents, ...]:
    """Return the contents of each batch of an archive file, with what its trailer says of them."""
    all_headings = headings(text)
    return tuple(_contents(text, batch, all_headings) for batch in find_batches(text))


def _contents(text: str, batch: Batch, all_headings: list[tuple[int | None, int]]) -> BatchContents:
    end = batch.start + len(batch.text) - len(batch.trailer)
    within = _headings_between(batch.start, end, all_headings)
    listed = _listed_hashes(batch.trailer)
    entries, before, present = [], None, {number for number, *_ in within}
    for number, start, stop in within:
        if number is None:
            replaced = re.compile(_SUMMARY).match(text, start, stop)
            before = int(replaced[2] or replaced[1]) if replaced else before
            continue
        entry = text[start:stop].replace("##", "###", 1)
        sha, listed_sha = entry_hash(entry), listed.get(number, "")
        former = None if listed_sha == sha else _listed_as(entry, listed, present)
        entries.append(ArchivedSession(number, start, stop, sha, listed_sha, content_hash(entry), former))
    return BatchContents(
        entries=tuple(entries),
        numbers=tuple(listed) or tuple(entry.number for entry in entries),
        range=_range(batch.trailer),
        trailer=end if batch.trailer else None,
        before=before,
        start=within[0][1] if within else end,
        is_hashed=bool(listed),
        is_cut=not listed and _SIZE_LINE in batch.trailer,
    )


def _listed_as(entry: str, listed: Mapping[int, str], numbers: Collection[int | None]) -> int | None:
    """Return the listed number that no heading has and with which an entry has the listed hash; or None."""
    absent = islice((number for number in listed if number not in numbers), _MOST_ABSENT)
    return next((each for each in absent if entry_hash(renumbered(entry, each, {})) == listed[each]), None)


def _range(trailer: str) -> tuple[int, int] | None:
    """Return the first and last session of the line "Sessions archived" of a trailer."""
    line = re.compile(BATCH_LINE).search(trailer)
    return (int(line[1]), int(line[2] or line[1])) if line else None


def content_hash(entry: str) -> str:
    """Return the SHA-256 of an entry without the numbers of sessions in it, which a merge may change."""
    return entry_hash(identity(entry))


def headings(text: str) -> list[tuple[int | None, int]]:
    """Return the headings of an archive's entries: the session's number (None for other headings) and the offset."""
    sections = (section for section in parse(text).sections if section.level <= ENTRY_LEVEL)
    return [(session_number(section.title), section.span.start) for section in sections]


def text_outside(text: str) -> list[Span]:
    """Return where an archive file has text that belongs to no batch: no session, summary, trailer or moved list.

    Behind the link that ends a summary, it is text that came later if the batch is larger than its trailer says.
    """
    all_headings, spans = headings(text), list[Span]()
    for batch in find_batches(text):
        if is_rolled_list(batch):
            continue
        end = batch.start + len(batch.text) - len(batch.trailer)
        within = _headings_between(batch.start, end, all_headings)
        spans.append(Span(batch.start, within[0][1] if within else end))
        grown = _is_grown(text, batch, within)
        for number, start, stop in within:
            is_list = re.compile(_ROLLED_LIST).fullmatch(text[start:stop].rstrip())  # below what is no list any more
            if number is None and not is_list and not _replaced(text, start):
                spans.append(Span(start, stop))
            elif number is None and grown and (link := re.compile(_LINK).search(text, start, stop)):
                spans.append(Span(link.end(), stop))
    spans = [trimmed(text, Span(end - len(text[start:end].lstrip()), end)) for start, end in spans]
    return [span for span in spans if span.start < span.end]


def grown_summaries(text: str) -> list[int]:
    """Return where replaced summaries begin into which somebody wrote, in batches larger than their trailers say."""
    all_headings, outside, found = headings(text), text_outside(text), list[int]()
    for batch in find_batches(text):
        within = _headings_between(batch.start, batch.start + len(batch.text) - len(batch.trailer), all_headings)
        if _is_grown(text, batch, within):
            summaries = [each for each in within if each[0] is None and _replaced(text, each[1])]
            found += [at for _, at, stop in summaries[-1:] if not any(at < span.start < stop for span in outside)]
    return found


def _is_grown(text: str, batch: Batch, within: Sequence[tuple[int | None, int, int]]) -> bool:
    """Return whether summary and sessions of a batch are larger than its trailer says; blank lines do not count."""
    size = re.compile(_SIZE).search(batch.trailer)
    if size is None:
        return False
    own = "".join(text[at:stop] for number, at, stop in within if number is not None or _replaced(text, at)).rstrip()
    lines = re.sub(r"\n{3,}", "\n\n", with_newlines(own, "\n"))
    # Size counts line ends as they were when archiving; git may have changed them since.
    missing = int(size[1]) - size_in_bytes(lines)
    return missing < 0 or _MOST_ENDS < missing < min(lines.count("\n"), own.count("\r\n"))


def _replaced(text: str, start: int) -> bool:
    """Return whether a summary that was replaced begins at an offset."""
    return is_summary(text[start : text.find("\n", start)].lstrip("# \t"))


def _headings_between(
    begin: int, end: int, all_headings: list[tuple[int | None, int]]
) -> list[tuple[int | None, int, int]]:
    """Return the headings of entries in a part of an archive: number, and where the entry begins and ends."""
    first, stop = (bisect_left(all_headings, at, key=_offset) for at in (begin, end))
    within = all_headings[first:stop]
    stops = [*(start for _, start in within[1:]), end]
    return [(number, start, stop) for (number, start), stop in zip(within, stops, strict=False)]


def _offset(heading: tuple[int | None, int]) -> int:
    return heading[1]


def _listed_hashes(trailer: str) -> dict[int, str]:
    """Return the hashes that a trailer lists, by the numbers of the sessions."""
    return {int(number): sha for number, sha in re.compile(_ENTRY_HASH).findall(trailer)}


class _Trailer(NamedTuple):
    """What looks like a trailer: the hashes that it lists, and how many headings of sessions stand above it."""

    match: re.Match[str]
    listed: dict[int, str]
    above: int


class _Signs(NamedTuple):
    """What tells where batches end; `fitting` has the indices of trailers by that of the session they fit from."""

    headings: list[tuple[int | None, int]]
    numbers: list[int]
    trailers: list[_Trailer]
    fitting: Mapping[int, list[int]]


def _trailers(text: str, begin: int, all_headings: list[tuple[int | None, int]]) -> list[_Trailer]:
    """Return all that looks like a trailer in the text from `begin` on."""
    starts = [start for number, start in all_headings if number]
    matches = re.compile(_TRAILER).finditer(text, begin)
    return [_Trailer(each, _listed_hashes(each[0]), bisect_left(starts, each.start())) for each in matches]


def _fitting(trailers: Sequence[_Trailer], numbers: list[int]) -> dict[int, list[int]]:
    """Return for each session the trailers that list exactly the sessions from it on, by their places in the text.

    Looked up from the trailers, which takes linear time: a damaged archive has thousands of trailers that fit nowhere.
    """
    fitting: dict[int, list[int]] = {}
    for index, (_, listed, above) in enumerate(trailers):
        lowest = max(above - len(listed) - _MOST_REPEATED, 0) if listed else above
        for first in range(above - 1, lowest - 1, -1):
            if numbers[first] not in listed:
                break
            if above - first >= len(listed) and [*dict.fromkeys(numbers[first:above])] == [*listed]:
                fitting.setdefault(first, []).append(index)
    return fitting


def _closing(text: str, begin: int, signs: _Signs, at: int) -> _Trailer:
    """Return the trailer that closes the batch which begins at `begin`; `at` is the index of the first one behind."""
    near = signs.trailers[at : at + _MOST_TRIED]
    best, best_count = next((each for each in near if each.listed), near[0]), -1
    above = _headings_between(begin, near[0].match.start(), signs.headings)
    first = near[0].above - sum(bool(number) for number, *_ in above)
    behind = [signs.trailers[index] for index in signs.fitting.get(first, ()) if index >= at]
    for trailer in behind[:_MOST_TRIED]:
        within = _headings_between(begin, trailer.match.start(), signs.headings)
        entries = {number: text[start:stop].replace("##", "###", 1) for number, start, stop in within if number}
        count = sum(entry_hash(entries[number]) == sha for number, sha in trailer.listed.items())
        if count == len(trailer.listed):
            return trailer
        best, best_count = (trailer, count) if count > best_count else (best, best_count)
    return best if best_count >= 0 else _unhashed(near, signs.numbers, first) or best


def _unhashed(trailers: Sequence[_Trailer], numbers: Sequence[int], first: int) -> _Trailer | None:
    """Return the first trailer without hashes whose range is that of the sessions from `first` on, if there is one."""
    lowest, highest = inf, 0
    for trailer in trailers:
        between = numbers[first : trailer.above]
        lowest, highest, first = min(lowest, *between, inf), max(highest, *between, 0), trailer.above
        if not trailer.listed and _range(trailer.match[0]) == (lowest, highest):
            return trailer
    return None

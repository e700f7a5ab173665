"""Parses archive files: batches of full session entries, each closed by a trailer that lists what the batch holds.

Pure: text in, batches out. Writing archives is done in `archive`.
"""

from __future__ import annotations

import re

from taskstate.model.canonical_json import sha256
from taskstate.model.session_references import identity, renumbered
from taskstate.model.task_state import session_number
from taskstate.syntax.document import parse
from taskstate.syntax.spans import size_in_bytes, with_newlines
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
_SUMMARY = r"(?i)##[ \t]+archived summary\b[^\r\n]*?\(sessions?\s+(\d{1,9})(?:\s*[-\u2013]\s*(\d{1,9}))?\)"
DOCUMENT = "Document"  # the heading of whole documents that were closed
# A list that was moved out of the state file besides sessions; such lists stand between the batches.
_ROLLED_HEADING = rf"[\r\n]*## (?:Git History|Events|Change Log|{DOCUMENT})[ \t]*(?:\r?\n|\Z)"
_ROLLED_LIST = rf"{_ROLLED_HEADING}(?:(?:\r?\n)*(?:- |  )[^\r\n]*(?:\r?\n|\Z))*"
_ROLLED_ITEM = r"(?m)^- ([^\r\n]*)"
_OFFSETS = r"(?m)^Offsets: ([0-9 -]+?)\r?$"
_ENDS = r"(?m)^Ends: ([A-Z ]+?)\r?$"
_ENTRY_HASH = r"(?m)^- (\d+): ([0-9a-f]{64})"


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
    trailers = [each for each in re.compile(_TRAILER).finditer(text) if each.start() >= begin]
    all_headings = headings(text)
    while trailers:
        closing = _closing(text, begin, trailers, all_headings)
        entries = text[begin : closing.start()].strip("\r\n")
        missing = int(closing[1]) - size_in_bytes(entries) if closing[1] else 0  # blank lines behind the last entry
        entries += "\n" * min(max(missing, 0), closing.start() - begin)
        batches.append(Batch(entries, closing[0], text[begin : closing.end()], begin))
        begin = _append_rolled_lists(text, closing.end(), batches)
        trailers = [trailer for trailer in trailers if trailer.start() >= begin]
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


def archived_documents(text: str) -> tuple[str, ...]:
    """Return the documents in an archive, oldest first, with LF line ends and one at the end."""
    lists = [batch.entries for batch in find_batches(text) if is_rolled_list(batch)]
    return tuple(_document(each) for each in lists if each.startswith(f"## {DOCUMENT}"))


def _document(entry: str) -> str:
    lines = with_newlines(entry, "\n").split("\n")
    first = next((number for number, line in enumerate(lines) if line.startswith("- ")), 0)
    return "\n".join(line.removeprefix("  ") for line in lines[first + 2 :]) + "\n"


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
    entries, before = [], None
    for number, start, stop in within:
        if number is None:
            replaced = re.compile(_SUMMARY).match(text, start, stop)
            before = int(replaced[2] or replaced[1]) if replaced else before
            continue
        entry = text[start:stop].replace("##", "###", 1)
        sha, listed_sha = entry_hash(entry), listed.get(number, "")
        former = None if listed_sha == sha else _listed_as(entry, listed, {each for each, *_ in within})
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
    absent = (number for number in listed if number not in numbers)
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


def _headings_between(
    begin: int, end: int, all_headings: list[tuple[int | None, int]]
) -> list[tuple[int | None, int, int]]:
    """Return the headings of entries in a part of an archive: number, and where the entry begins and ends."""
    within = [(number, start) for number, start in all_headings if begin <= start < end]
    stops = [*(start for _, start in within[1:]), end]
    return [(number, start, stop) for (number, start), stop in zip(within, stops, strict=False)]


def _listed_hashes(trailer: str) -> dict[int, str]:
    """Return the hashes that a trailer lists, by the numbers of the sessions."""
    return {int(number): sha for number, sha in re.compile(_ENTRY_HASH).findall(trailer)}


def _closing(
    text: str, begin: int, trailers: list[re.Match[str]], all_headings: list[tuple[int | None, int]]
) -> re.Match[str]:
    """Return the trailer that closes the batch which begins at `begin`."""
    best, best_count = next((each for each in trailers if _listed_hashes(each[0])), trailers[0]), -1
    unhashed: re.Match[str] | None = None
    for trailer in trailers:
        within = _headings_between(begin, trailer.start(), all_headings)
        entries = {number: text[start:stop] for number, start, stop in within if number}
        listed = _listed_hashes(trailer[0])
        if not listed and unhashed is None and entries and _range(trailer[0]) == (min(entries), max(entries)):
            unhashed = trailer
        if not listed or list(entries) != list(listed):
            continue
        count = sum(entry_hash(entries[number].replace("##", "###", 1)) == sha for number, sha in listed.items())
        if count == len(listed):
            return trailer
        best, best_count = (trailer, count) if count > best_count else (best, best_count)
    if best_count < 0 and unhashed:
        return unhashed
    return best

"""Reads archive files: batches of session entries in full, each closed by lines that say what it holds.

Pure: text in, batches out. What writes archives is in `archive`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.canonical_json import sha256
from taskstate.model.session_references import identity
from taskstate.model.task_state import session_number
from taskstate.syntax.document import parse
from taskstate.syntax.spans import size_in_bytes, with_newlines

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE_ENDS = {"LF": "\n", "CRLF": "\r\n", "CR": "\r"}
ENTRY_LEVEL = 2  # of a session's heading in the archive
_TRAILER = (
    r"(?m)^---\r?\n\r?\nArchived on: [^\r\n]*\r?\nReason: [^\r\n]*\r?\nSessions archived: [0-9-]+\r?\n"
    r"(?:Size: (\d+) bytes\r?\n)?(?:Offsets: [0-9 -]+\r?\n)?(?:Ends: [A-Z ]+\r?\n)?"
    r"Entries SHA-256:\r?\n\r?\n(?:- \d+: [0-9a-f]{64}(?:\r?\n|\Z))+"
)
_HEAD = r"\ufeff?# [^\r\n]*"
_BATCH = r"(?m)^Sessions archived: (\d{1,9})(?:-(\d{1,9}))?[ \t]*\r?$"
_SUMMARY = r"(?i)##[ \t]+archived summary\b[^\r\n]*?\(sessions?\s+(\d{1,9})(?:\s*[-\u2013]\s*(\d{1,9}))?\)"
# What is rolled out of a state file besides sessions; it stands between the batches.
_ROLL = r"[\r\n]*## (?:Git History|Events|Change Log)[ \t]*(?:\r?\n|\Z)(?:(?:\r?\n)*(?:- |  )[^\r\n]*(?:\r?\n|\Z))*"
_ROLLED_ITEM = r"(?m)^- ([^\r\n]*)"
_OFFSETS = r"(?m)^Offsets: ([0-9 -]+?)\r?$"
_ENDS = r"(?m)^Ends: ([A-Z ]+?)\r?$"
_ENTRY_HASH = r"(?m)^- (\d+): ([0-9a-f]{64})"


class Batch(NamedTuple):
    """A batch of an archive file: its entries, the trailer that closes it (or nothing), and all of its text.

    `start` is where that text begins in the file.
    """

    entries: str
    trailer: str
    text: str
    start: int = 0


class ArchivedSession(NamedTuple):
    """A session's entry in an archive file: where it stands, its hash, and the one that its batch tells (or nothing).

    `content` is the hash without the session's number, which a merge may change.
    """

    number: int
    start: int
    end: int
    sha: str
    listed_sha: str
    content_sha: str


class BatchContents(NamedTuple):
    """What a batch holds, against what its trailer says that it holds.

    `numbers` are those that the trailer names (in an open batch, those of the entries), `range` is the first and last
    that it says in words, `trailer` where it begins (None: an open batch), `before` the last session of the summary
    that the batch replaced and keeps (None: there was none), `start` where its first entry stands.
    """

    entries: tuple[ArchivedSession, ...]
    numbers: tuple[int, ...]
    range: tuple[int, int] | None
    trailer: int | None
    before: int | None
    start: int


def entry_hash(entry: str) -> str:
    """Return the hash of an entry as it stands in the state file: line ends as LF, without trailing blank lines."""
    lines = with_newlines(entry, "\n").split("\n")
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return sha256("\n".join(lines))


def read_batches(text: str) -> list[str]:
    """Return the entries of each batch of an archive file, oldest first."""
    return [batch.entries for batch in find_batches(text)]


def find_batches(text: str) -> list[Batch]:
    """Return the batches of an archive file, oldest first; together they are all of it but its title line.

    Where an entry's own text looks like a trailer, numbers and hashes decide: a batch ends at the first trailer that is
    right about the sessions before it; in a damaged archive at the one that is right about most of them, or else at the
    first. What stands behind the last trailer comes last. A list that was rolled out of the state file (Git History,
    Events, Change Log) stands between batches, and is one without a trailer.
    """
    batches: list[Batch] = []
    head = re.compile(_HEAD).match(text)
    begin = _rolled(text, head.end() if head else 0, batches)
    trailers, entries_at = (
        [each for each in re.compile(_TRAILER).finditer(text) if each.start() >= begin],
        headings(text),
    )
    while trailers:
        closing = _closing(text, begin, trailers, entries_at)
        entries = text[begin : closing.start()].strip("\r\n")
        missing = int(closing[1]) - size_in_bytes(entries) if closing[1] else 0  # blank lines behind the last entry
        entries += "\n" * min(max(missing, 0), closing.start() - begin)
        batches.append(Batch(entries, closing[0], text[begin : closing.end()], begin))
        begin = _rolled(text, closing.end(), batches)
        trailers = [trailer for trailer in trailers if trailer.start() >= begin]
    rest = text[begin:].strip("\r\n")
    return [*batches, Batch(rest, "", text[begin:], begin)] if rest else batches


def _rolled(text: str, begin: int, batches: list[Batch]) -> int:
    """Add what was rolled out of the state file behind a batch to `batches`, and return where it ends."""
    while roll := re.compile(_ROLL).match(text, begin):
        batches.append(Batch(roll[0].strip("\r\n"), "", roll[0], begin))
        begin = roll.end()
    return begin


def is_rolled_list(batch: Batch) -> bool:
    """Return whether that is a list which was rolled out of the state file, and no batch of sessions."""
    return not batch.trailer and bool(re.compile(_ROLL).fullmatch(batch.entries))


def rolled_items(text: str, title: str) -> tuple[str, ...]:
    """Return the items of all lists `## title` that were rolled out of the state file, oldest list first."""
    rolls = (batch.entries for batch in find_batches(text) if is_rolled_list(batch))
    return tuple(
        item for roll in rolls if roll.startswith(f"## {title}") for item in re.compile(_ROLLED_ITEM).findall(roll)
    )


def original_layout(entries: str, trailer: str) -> tuple[str, tuple[int, ...]]:
    """Return the entries of a batch with the very line ends behind them, and where each session stood.

    The places are counted in characters from where the Archived Summary stands; none where all stood in a row there.
    """
    bare = entries.rstrip("\r\n")
    told, offsets = re.compile(_ENDS).search(trailer), re.compile(_OFFSETS).search(trailer)
    if told:
        ends = "".join(_LINE_ENDS.get(name, "") for name in told[1].split())
    else:
        newline = "\r\n" if trailer.startswith("---\r") else "\n"
        ends = newline * ((len(entries) - len(bare)) or 2)
    return bare + ends, tuple(int(number) for number in offsets[1].split()) if offsets else ()


def layout_lines(entries: str, offsets: Sequence[int], *, usual: int, newline: str) -> list[str]:
    """Return the lines of a trailer without which the sessions could not be put back where they stood."""
    bare = entries.rstrip("\r\n")
    ends = re.findall(r"\r\n|\r|\n", entries[len(bare) :])
    lines = [f"Offsets: {' '.join(map(str, offsets))}"] if any(offset != usual for offset in offsets) else []
    if any(end != newline for end in ends):
        names = {end: name for name, end in _LINE_ENDS.items()}
        lines.append(f"Ends: {' '.join(names[end] for end in ends)}")
    return lines


def batch_contents(text: str) -> tuple[BatchContents, ...]:
    """Return what each batch of an archive file holds, against what it says that it holds."""
    entries_at = headings(text)
    return tuple(_listed(text, batch, entries_at) for batch in find_batches(text))


def _listed(text: str, batch: Batch, entries_at: list[tuple[int | None, int]]) -> BatchContents:
    end = batch.start + len(batch.text) - len(batch.trailer)
    within = [(number, start) for number, start in entries_at if batch.start <= start < end]
    stops = [*(start for _, start in within[1:]), end]
    told = {int(number): sha for number, sha in re.compile(_ENTRY_HASH).findall(batch.trailer)}
    entries, before = [], None
    for (number, start), stop in zip(within, stops, strict=False):
        if number is None:
            replaced = re.compile(_SUMMARY).match(text, start, stop)
            before = int(replaced[2] or replaced[1]) if replaced else before
            continue
        entry = text[start:stop].replace("##", "###", 1)
        entries.append(
            ArchivedSession(number, start, stop, entry_hash(entry), told.get(number, ""), content_hash(entry))
        )
    named = re.compile(_BATCH).search(batch.trailer)
    return BatchContents(
        entries=tuple(entries),
        numbers=tuple(told) or tuple(entry.number for entry in entries),
        range=(int(named[1]), int(named[2] or named[1])) if named else None,
        trailer=end if batch.trailer else None,
        before=before,
        start=within[0][1] if within else end,
    )


def content_hash(entry: str) -> str:
    """Return the hash of an entry without the numbers of sessions in it, which a merge may change."""
    return entry_hash(identity(entry))


def headings(text: str) -> list[tuple[int | None, int]]:
    """Return the headings of an archive's entries: a session's number, None for any other, and where each begins."""
    sections = (section for section in parse(text).sections if section.level <= ENTRY_LEVEL)
    return [(session_number(section.title), section.span.start) for section in sections]


def _closing(
    text: str, begin: int, trailers: list[re.Match[str]], entries_at: list[tuple[int | None, int]]
) -> re.Match[str]:
    """Return the one of `trailers` that closes the batch which begins at `begin`."""
    best, most = trailers[0], -1
    for trailer in trailers:
        within = [(number, start) for number, start in entries_at if begin <= start < trailer.start()]
        stops = [*(start for _, start in within[1:]), trailer.start()]
        spans = {number: (start, stop) for (number, start), stop in zip(within, stops, strict=False) if number}
        told = {int(number): sha for number, sha in re.compile(_ENTRY_HASH).findall(trailer[0])}
        if list(spans) != list(told):
            continue
        entries = {number: text[start:stop].replace("##", "###", 1) for number, (start, stop) in spans.items()}
        right = sum(entry_hash(entries[number]) == sha for number, sha in told.items())
        if right == len(told):
            return trailer
        best, most = (trailer, right) if right > most else (best, most)
    return best

"""Brings an archive file of an older form into the present one: each batch gets a trailer that lists the hashes.

The text of the sessions stays as it is; pure.
"""

from __future__ import annotations

import re

from taskstate.model.archive_format import BATCH_LINE, entry_hash, find_batches, headings, is_rolled_list
from taskstate.syntax.conservation import content_lines, require_conserved
from taskstate.syntax.document import parse
from taskstate.syntax.spans import newline_of, with_newlines

# A trailer of the older form; the present one goes on with the hashes of the entries.
_OLDER_TRAILER = re.compile(
    r"(?m)^---[ \t]*\n+(?P<lines>Archived on:[^\n]*\n+Reason:[^\n]*\n+Sessions archived:[^\n]*)(?:\n|\Z)"
    r"(?!(?:Size: |Offsets: |Ends: |Entries SHA-256:))"
)
_TITLE = re.compile(r"# [^\n]*\n*")


def migrated_archive(text: str, name: str, now: str) -> str:
    """Return the text of an archive file in the present form; one that is in it already comes back as it is.

    Raises:
        TaskstateError: code "unsafe": a line would get lost.
    """
    source = with_newlines(text, "\n")
    if not _is_older(source):
        return text
    title = _TITLE.match(source.removeprefix("\ufeff"))
    begin = (title.end() if title else 0) + source.startswith("\ufeff")
    pieces = [source[:begin]]
    for match in _OLDER_TRAILER.finditer(source):
        pieces.append(_batch(source[begin : match.start()], match["lines"]))
        begin = match.end()
    rest = source[begin:]
    if _numbers(rest):
        first, *_, last = (*_numbers(rest), _numbers(rest)[-1])
        lines = f"Archived on: {now}\nReason: taken over from an older archive\nSessions archived: {first}-{last}"
        pieces.append(_batch(rest, lines))
    else:
        pieces.append(rest)
    result = "".join(pieces)
    require_conserved(name, content_lines(parse(source)), content_lines(parse(result)))
    return with_newlines(result, newline_of(text))


def _is_older(source: str) -> bool:
    if _OLDER_TRAILER.search(source):
        return True
    batches = find_batches(source)
    return bool(batches) and not (batches[-1].trailer or is_rolled_list(batches[-1]) or re.search(BATCH_LINE, source))


def _numbers(text: str) -> list[int]:
    return [number for number, _ in headings(text) if number is not None]


def _batch(entries: str, lines: str) -> str:
    """Return a batch with the trailer of the present form; its lines about when and why stay."""
    found = headings(entries)
    stops = [*(start for _, start in found[1:]), len(entries)]
    listed = [
        f"- {number}: {entry_hash(entries[start:stop].replace('##', '###', 1))}"
        for (number, start), stop in zip(found, stops, strict=False)
        if number is not None
    ]
    said = "\n".join(line for line in lines.split("\n") if line.strip())
    return "\n".join([f"{entries.rstrip()}\n\n---\n", said, "Entries SHA-256:", "", *listed, "", ""])

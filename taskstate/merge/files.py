"""Merges any of our files as bytes: line ends, byte order mark and the end of the last line stay as on our side."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.merge.archives import merge_archives
from taskstate.merge.handoffs import merge_handoffs
from taskstate.merge.json_fences import merge_json
from taskstate.merge.lines import lines_of, matching_lines, merge_text, with_markers
from taskstate.merge.state_files import merge_states
from taskstate.merge.three_way import PREFERENCES, Versions, trivial_merge
from taskstate.model.names import own_file
from taskstate.syntax.nodes import is_encodable
from taskstate.syntax.spans import newline_of, with_newlines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    Pieces: TypeAlias = tuple[list[str], list[str]]

_BOM = "\ufeff"


class Merged(NamedTuple):
    """The merged file, and in how many places it has conflict markers."""

    data: bytes
    conflicts: int


def merge_files(sides: Versions[bytes], name: str) -> Merged:
    """Return three versions of a file as one; its name tells what it is, and any other file is merged as text.

    Where only one side has changed anything, its very bytes are the result.
    """
    found = trivial_merge(sides)
    if found:
        return Merged(found[0], 0)
    texts = sides.each(lambda data: data.decode("utf-8", "surrogateescape"))
    plain = texts.each(_plain)
    same = trivial_merge(plain)
    if same:
        return Merged(_restored(same[0], texts.ours), 0)
    own = own_file(name)
    merge = _MERGES.get(own.type, _merge_plain) if own and all(map(is_encodable, plain)) else _merge_plain
    text, conflicts = with_markers(*merge(plain))
    return Merged(_restored(text, texts.ours), conflicts)


def _merge_plain(sides: Versions[str]) -> Pieces:
    ours, theirs = (lines_of(merge_text(sides, prefer)) for prefer in PREFERENCES)
    return ours, theirs


def _merge_map(sides: Versions[str]) -> Pieces:
    ours, theirs = (lines_of(merge_json(sides, "impact-map", prefer)) for prefer in PREFERENCES)
    return ours, theirs


_MERGES: Mapping[str, Callable[[Versions[str]], Pieces]] = {
    "state": merge_states,
    "archive": merge_archives,
    "handoff": merge_handoffs,
    "impact-map": _merge_map,
}


def _plain(text: str) -> str:
    """Return a text with LF line ends, one at its end, and without a byte order mark."""
    text = with_newlines(text.removeprefix(_BOM), "\n")
    return text if text.endswith("\n") or not text else f"{text}\n"


def _restored(text: str, ours: str) -> bytes:
    """Return a text in the form of our file."""
    if ours and not ours.endswith(("\n", "\r")):
        text = text.removesuffix("\n")
    text = _with_ends(text, ours.removeprefix(_BOM))
    return ((_BOM if ours.startswith(_BOM) else "") + text).encode("utf-8", "surrogateescape")


def _with_ends(text: str, ours: str) -> str:
    """Return a text whose lines end as in ours; new ones as most of ours do."""
    newline = newline_of(ours)
    if with_newlines(ours, newline) == ours:
        return with_newlines(text, newline)
    own = [f"{line}\n" for line in with_newlines(ours, "\n").split("\n")]
    ends = _ends(ours)
    lines = lines_of(text)
    kept = {there: ends[here] for here, there in matching_lines(own, lines) if here < len(ends)}
    return "".join(
        line.removesuffix("\n") + kept.get(index, newline) if line.endswith("\n") else line
        for index, line in enumerate(lines)
    )


def _ends(text: str) -> list[str]:
    """Return the line ends of a text, one after the other."""
    import re

    return re.findall(r"\r\n?|\n", text)

"""Merges any of our files as bytes; line ends, byte order mark and the end of the last line stay as in ours."""

from __future__ import annotations

import re

from taskstate.merge.archives import merge_archive
from taskstate.merge.handoffs import merge_handoff
from taskstate.merge.json_fences import merge_json
from taskstate.merge.lines import lines_of, matching_lines, merge_text, with_markers
from taskstate.merge.state_files import merge_states
from taskstate.model.names import own_file
from taskstate.syntax.nodes import is_encodable
from taskstate.syntax.spans import newline_of, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.three_way import PREFERENCES, Versions, trivial_merge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from taskstate.units.three_way import Prefer

    Pieces: TypeAlias = tuple[list[str], list[str]]

_BOM = "\ufeff"


class Merged(NamedTuple):
    """The merged file, and the number of conflicts marked in it."""

    data: bytes
    conflicts: int


def merge_files(versions: Versions[bytes], name: str) -> Merged:
    """Return the merged file; `name` tells its type, and a file that is not ours is merged as text.

    Where only one side has changed, the result has exactly its bytes.
    """
    unconflicted = trivial_merge(versions)
    if unconflicted:
        return Merged(unconflicted[0], 0)
    # Bytes that are not UTF-8 survive as surrogates: a merge must not refuse or change a line that nobody touched.
    texts = versions.each(lambda data: data.decode("utf-8", "surrogateescape"))
    plain = texts.each(_plain)
    unconflicted_text = trivial_merge(plain)
    if unconflicted_text:
        return Merged(_encoded_like(unconflicted_text[0], texts.ours), 0)
    own = own_file(name)
    merge = _MERGES.get(own.type, _merge_plain) if own and all(map(is_encodable, plain)) else _merge_plain
    text, conflicts = with_markers(*merge(plain))
    return Merged(_encoded_like(text, texts.ours), conflicts)


def _by_line(merge: Callable[[Versions[str], Prefer], str]) -> Callable[[Versions[str]], Pieces]:
    """Return a merge whose two results, with ours and with theirs preferred, are compared line by line."""

    def merge_twice(versions: Versions[str]) -> Pieces:
        ours, theirs = (lines_of(merge(versions, prefer)) for prefer in PREFERENCES)
        return ours, theirs

    return merge_twice


_merge_plain = _by_line(merge_text)
_MERGES: Mapping[str, Callable[[Versions[str]], Pieces]] = {
    "state": merge_states,
    "archive": _by_line(merge_archive),
    "handoff": _by_line(merge_handoff),
    "impact-map": _by_line(lambda versions, prefer: merge_json(versions, "impact-map", prefer)),
}


def _plain(text: str) -> str:
    """Return a text with LF line ends, one at its end, and without a byte order mark."""
    text = with_newlines(text.removeprefix(_BOM), "\n")
    return text if text.endswith("\n") or not text else f"{text}\n"


def _encoded_like(text: str, ours: str) -> bytes:
    """Return a merged text as bytes, with the byte order mark, line ends and last line end of our file."""
    if ours and not ours.endswith(("\n", "\r")):
        text = text.removesuffix("\n")
    text = _with_line_ends(text, ours.removeprefix(_BOM))
    return ((_BOM if ours.startswith(_BOM) else "") + text).encode("utf-8", "surrogateescape")


def _with_line_ends(text: str, ours: str) -> str:
    """Return a text with the line ends of ours: of each common line its own, of new lines the prevailing one."""
    newline = newline_of(ours)
    if with_newlines(ours, newline) == ours:
        return with_newlines(text, newline)
    our_lines = [f"{line}\n" for line in with_newlines(ours, "\n").split("\n")]
    ends = re.findall(r"\r\n?|\n", ours)
    lines = lines_of(text)
    ends_by_line = {line: ends[our_line] for our_line, line in matching_lines(our_lines, lines) if our_line < len(ends)}
    return "".join(
        line.removesuffix("\n") + ends_by_line.get(index, newline) if line.endswith("\n") else line
        for index, line in enumerate(lines)
    )

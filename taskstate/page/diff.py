"""Draws a diff: each file with what became of it in words, and its lines as git has them, with their numbers beside.

The text of the lines is that of the diff, so that it can be copied; numbers are attributes. What is large is named and
counted, and drawn only where the page does not grow too large with it.
"""

from __future__ import annotations

import os
import re

from taskstate.messages import counted
from taskstate.secrets.mask import masked
from taskstate.snapshots.drift import printable_path, unquoted
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup

_MOST_FILE = 1_000_000  # characters of a file's diff, and of what is drawn of all, in HTML
_MOST_DRAWN = 600_000
_ROW = 48  # characters that a line costs besides its text
_MOST_OPEN = 400  # lines
MOST_FILES = 500
_HEAD = 2_000  # characters that the header of a file takes at most
_ALIKE = 0.4  # of the longer of two lines: with less in common all of it is new
_LOCK = r"(?:.*/)?(?:[^/]+\.lock|(?:package-lock|npm-shrinkwrap)\.json|pnpm-lock\.yaml|go\.sum)"
_HUNK = r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@"
_MODES = {"100755": "executable", "120000": "a symbolic link", "160000": "a submodule", "100644": "a plain file"}


class FileDiff(NamedTuple):
    """What became of one file: its path, that in words, lines added and removed, and the lines of the diff as HTML.

    `lines` is empty where nothing is drawn; `why_not` says why, and `is_alone` whether it can be drawn by itself.
    """

    number: int
    path: str
    words: str
    added: int
    removed: int
    lines: Markup | str
    why_not: str = ""
    is_alone: bool = False
    is_open: bool = False


def files_of(text: str, only: int = 0, place: str = "f") -> tuple[FileDiff, ...]:
    """Return the files of a diff; with a number, `only` that file is drawn. Ids in the page begin with `place`."""
    found, left = list[FileDiff](), _MOST_DRAWN
    chunks = [each for each in re.split(r"(?m)^(?=diff --git )", text) if each]
    for number, chunk in enumerate(chunks, start=1):
        each = _file(number, chunk, left if only in {0, number} else 0, place)
        left -= len(each.lines)
        found.append(each._replace(is_open=True) if number == only else each)
    return tuple(_with_moves(found, chunks))


def _with_moves(files: list[FileDiff], chunks: list[str]) -> Iterator[FileDiff]:
    """Yield files, and say of those that moved unchanged where to: our diffs have them as one deleted and one new."""
    gone, new = dict[str, str](), dict[str, str]()
    ids = [re.search(r"(?m)^index (\w+)\.\.(\w+)", each[:_HEAD]) for each in chunks]
    for each, found in zip(files, ids, strict=True):
        if found and each.words.startswith("deleted"):
            gone[found[1]] = each.path
        elif found and each.words.startswith("new"):
            new[found[2]] = each.path
    for each, found in zip(files, ids, strict=True):
        if found and each.words.startswith("deleted") and found[1] in new:
            yield each._replace(words=f"{each.words}, now {new[found[1]]}")
        elif found and each.words.startswith("new") and found[2] in gone:
            yield each._replace(words=f"{each.words}, was {gone[found[2]]}")
        else:
            yield each


def totals(files: tuple[FileDiff, ...]) -> str:
    """Return how much a diff changes, in a few words."""
    added, removed = sum(each.added for each in files), sum(each.removed for each in files)
    return f"{counted(len(files), 'file')}, +{added} -{removed}"


def _file(number: int, chunk: str, room: int, place: str) -> FileDiff:
    at = chunk.find("\n@@ ") + 1
    head, hunks = (chunk[:at], chunk[at:]) if at else (chunk, "")
    is_binary = not hunks and ("\nBinary files " in head or "\nGIT binary patch" in head)
    head = head.partition("\nGIT binary patch")[0] if is_binary else head
    path, size = _path(head), hunks.count("\n")
    words = ", ".join(filter(None, (*_words(head), "binary" if is_binary else "")))
    added, removed = (f"\n{hunks}".count(f"\n{sign}") for sign in "+-")
    given = FileDiff(number, path, words, added, removed, "")
    if len(chunk) > _MOST_FILE and not is_binary:
        return given._replace(why_not=f"{counted(size, 'line')}, which is too much for a page")
    cost = len(head) + len(hunks) + size * _ROW
    lines = _drawn(f"{place}{number}", head + hunks) if cost <= room else ""
    cost = max(cost, len(lines))  # signs that HTML escapes are longer there
    if cost > room:
        return given._replace(why_not=f"{counted(size, 'line')}, left out here", is_alone=cost <= _MOST_DRAWN)
    is_open = size <= _MOST_OPEN and not re.fullmatch(_LOCK, path)
    return given._replace(lines=lines, is_open=is_open)


def _path(head: str) -> str:
    """Return the path of a file after the change: the second of two that are equal, unless git says that it moved."""
    line = head.partition("\n")[0].removeprefix("diff --git ")
    moved = re.search(r"(?m)^(?:rename|copy) to (.*)$", head)
    return _shown(moved[1] if moved else re.sub(r'^("?)b/', r"\1", line[len(line) // 2 + 1 :]))


def _shown(path: str) -> str:
    return printable_path(unquoted(path).decode("utf-8", "replace"))


def _words(head: str) -> Iterator[str]:
    """Yield what the header says of a file besides its lines."""
    said = dict(
        re.findall(r"(?m)^(new file mode|deleted file mode|old mode|new mode|(?:rename|copy) from) (.*)$", head)
    )
    if "new file mode" in said:
        mode = said["new file mode"]
        yield "new" if mode == "100644" else f"new, {_MODES.get(mode, mode)}"
    if "deleted file mode" in said:
        yield "deleted"
    for verb, how in (("rename", "renamed"), ("copy", "copied")):
        if f"{verb} from" in said:
            yield f"{how} from {_shown(said[f'{verb} from'])}"
    if "new mode" in said:
        old, new = said.get("old mode", ""), said["new mode"]
        yield f"was {_MODES.get(old, old)}, is {_MODES.get(new, new)}"


def _drawn(place: str, text: str) -> Markup:
    from markupsafe import Markup

    lines = printable(masked(text)).removesuffix("\n").replace("\r", "\\r").split("\n")
    return Markup("".join(_rows(place, _escaped(lines))))  # noqa: S704 - escaped just now


def _escaped(lines: list[str]) -> list[str]:
    """Return lines as HTML; of pairs that replace one another, what differs stands out."""
    from markupsafe import escape

    found = str(escape("\n".join(lines))).split("\n")
    signs = "".join(each[:1] or " " for each in lines)
    for run in re.finditer(r"(?<!-)(-+)(\++)", signs[signs.find("@") :]):
        size, begin = len(run[1]), signs.find("@") + run.start()
        for at in range(begin, begin + size) if size == len(run[2]) else ():
            pair = lines[at][1:], lines[at + size][1:]
            same = _common(*pair)
            end = _common(*(each[same:][::-1] for each in pair))
            if same + end > max(map(len, pair)) * _ALIKE:
                for place in (at, at + size):
                    line, stop = lines[place], len(lines[place]) - end
                    parts = (line[: same + 1], line[same + 1 : stop], line[stop:])
                    found[place] = "{}<b>{}</b>{}".format(*map(escape, parts))
    return found


def _common(one: str, other: str) -> int:
    """Return with how many equal characters two texts begin."""
    return len(os.path.commonprefix((one, other)))  # noqa: RUF071 - characters are meant


def _rows(place: str, lines: list[str]) -> Iterator[str]:
    """Yield the lines of one file, which are escaped, each with its numbers before and after the change."""
    old = new = hunks = 0
    for line in lines:
        sign = line[:1]
        if begin := re.match(_HUNK, line):
            old, new, hunks = int(begin[1]), int(begin[2]), hunks + 1
            yield f'<span class="l h" id="{place}-{hunks}">{line}</span>'
        elif not hunks or sign == "\\":
            yield f'<span class="l h">{line}</span>'
        elif sign == "+":
            yield f'<span class="l p" data-n="{"":5} {new:5}">{line}</span>'
            new += 1
        elif sign == "-":
            yield f'<span class="l m" data-n="{old:5} {"":5}">{line}</span>'
            old += 1
        else:
            yield f'<span class="l" data-n="{old:5} {new:5}">{line}</span>'
            old, new = old + 1, new + 1

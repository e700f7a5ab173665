"""What a damage is, and how most of them are written down: one change of a text, and the line to point at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Damage(NamedTuple):
    """A way in which files get damaged.

    `file` is the key of the file in `detection.FILES`; `change` gives the damaged text, or None where it deletes the
    file. A finding with one of `codes` is expected in a line that was changed, or in one that holds `at`
    (or one of several, between ` | `). `history`
    says that only a comparison with HEAD can tell; `elsewhere` is the key of the file to find it in, if another.
    """

    name: str
    file: str
    codes: str
    change: Callable[[str], str | bytes | None]
    at: str = ""
    history: bool = False
    elsewhere: str = ""


def swap(pattern: str, new: str, *, count: int = 1) -> Callable[[str], str]:
    """Return a change that replaces the first `count` matches of a pattern; `^` and `$` match at every line."""

    def change(text: str) -> str:
        changed = re.sub(pattern, new, text, count=count, flags=re.MULTILINE | re.DOTALL)
        if changed == text:
            raise ValueError(pattern)
        return changed

    return change


def swap_last(pattern: str, new: str) -> Callable[[str], str]:
    """Return a change that replaces the last match of a pattern."""

    def change(text: str) -> str:
        matches = list(re.compile(pattern, re.MULTILINE | re.DOTALL).finditer(text))
        return text[: matches[-1].start()] + matches[-1].expand(new) + text[matches[-1].end() :]

    return change


def behind(line: str, new: str) -> Callable[[str], str]:
    """Return a change that inserts text behind the first line that holds `line`."""
    return swap(rf"(^[^\n]*{re.escape(line)}[^\n]*\n)", rf"\g<1>{new}".replace("\n", "\\n"))


def changed_lines(before: str, after: str) -> range:
    """Return the numbers of the lines that a change touched, with the line behind it where lines were only removed."""
    old, new = before.splitlines(), after.splitlines()
    shorter = min(len(old), len(new))
    start = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    tail = next((n for n in range(shorter - start) if old[-1 - n] != new[-1 - n]), shorter - start)
    return range(start + 1, max(len(new) - tail, start + 1) + 1)

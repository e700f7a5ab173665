"""Ways in which a file is damaged: each takes the text of a whole one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Damage = Callable[[str], str | bytes]

OURS, THEIRS = "<<<<<<< HEAD\n", ">>>>>>> other\n"


def cut(place: str) -> Damage:
    """Return the damage of a file that ends before a piece of its text."""
    return lambda text: text[: text.index(place)]


def without(begin: str, end: str) -> Damage:
    """Return the damage of a file that lacks what stands between two pieces of its text."""
    return lambda text: text[: text.index(begin)] + text[text.index(end) :]


def conflict(line: str, other: str, base: str = "") -> Damage:
    """Return the damage of a file with a conflict about a line."""
    return lambda text: text.replace(line, f"{OURS}{line}{base}=======\n{other}{THEIRS}", 1)

"""Which of the files that came is which of those that went: a task stays the same one wherever its file stands.

Git alone cannot tell: it does not see what is not added yet, and two new tasks look alike to it, since they come from
one template. So its word counts together with what makes a task the same one: its id, and the second of its creation.
Pure: what git says and when a task was created is told.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model import names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Moves(NamedTuple):
    """What went and what came, our own files alone, and the renamings that git sees: a new name, and the old one.

    `created_then` and `created_now` say when the task of a state file was created, or nothing.
    """

    gone: tuple[str, ...]
    new: tuple[str, ...]
    git: Mapping[str, str]
    created_then: Callable[[str], str]
    created_now: Callable[[str], str]


def follow(moves: Moves) -> Mapping[str, str]:
    """Return for each file that was renamed what it was called; the surest signs are followed first."""
    if not moves.gone or not moves.new:
        return {}
    found: dict[str, str] = {}
    for sign in (_moved_as_git_says, _moved, _same_id, _renumbered, _along):
        for new in moves.new:
            if new not in found:
                left = (old for old in moves.gone if old not in found.values() and own_type(old) == own_type(new))
                old = next((old for old in left if sign(moves, found, old, new)), "")
                if old:
                    found[new] = old
    return found


def own_type(name: str) -> str:
    """Return which type of own file a path names, or nothing."""
    own = names.own_file(name)
    return own.type if own else ""


def own_id(name: str) -> str:
    """Return the case-folded id of the task whose file a path names, or nothing."""
    own = names.own_file(name)
    return (own.id or "").casefold() if own else ""


def _moved_as_git_says(moves: Moves, found: Mapping[str, str], old: str, new: str) -> bool:
    return moves.git.get(new) == old and _moved(moves, found, old, new)


def _moved(_moves: Moves, _found: Mapping[str, str], old: str, new: str) -> bool:
    return posixpath.basename(old) == posixpath.basename(new) and own_id(old) == own_id(new)


def _same_id(_moves: Moves, _found: Mapping[str, str], old: str, new: str) -> bool:
    return own_type(new) != "handoff" and own_id(old) == own_id(new)  # a task has many handoffs


def _renumbered(moves: Moves, _found: Mapping[str, str], old: str, new: str) -> bool:
    """Return whether a task got another id: then it keeps the second of its creation."""
    if own_type(new) != "state":
        return False
    then, now = moves.created_then(old), moves.created_now(new)
    return then == now if then and now else moves.git.get(new) == old


def _along(moves: Moves, found: Mapping[str, str], old: str, new: str) -> bool:
    """Return whether a file goes along with the state file of its task, which got another id."""
    if own_type(new) == "state":
        return False
    renumbered = {(own_id(then), own_id(now)) for now, then in found.items() if own_type(now) == "state"}
    if (own_id(old), own_id(new)) in renumbered:
        return own_type(new) != "handoff" or posixpath.basename(old) == posixpath.basename(new)
    return moves.git.get(new) == old

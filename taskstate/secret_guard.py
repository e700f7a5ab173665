"""Refuses a text that is about to be written where something in it looks like a credential.

What is said names the kind and the line and never the value. Nothing here reads or changes anything on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate import secrets
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.config import Config
    from taskstate.secrets import Secret

_HELP = (
    "take it out and name the place where it is kept; if it is none, end its line with the comment"
    " `taskstate: allow secret`, or write it with --force-secrets"
)
_TOLD = 3  # findings that a refusal names


def require_none(
    text: str, config: Config, *, what: str, force: bool = False, known: Iterable[str] = ()
) -> tuple[str, ...]:
    """Refuse a text with something in it that looks like a credential; where forced, return what to warn of instead.

    `what` names the text for people. What stands in one of the `known` texts already is no news; they are looked at
    only where something is found.

    Raises:
        TaskstateError: code "secret".
    """
    found = new_in(text, config, known)
    if found and not force:
        raise refusal(told(text, found, what))
    return warnings(told(text, found, what))


def warnings(lines: Iterable[str]) -> tuple[str, ...]:
    """Return what to warn of where findings that `told` put into words are written all the same."""
    return tuple(f"warning: {line}; written all the same" for line in lines)


def refusal(lines: Sequence[str]) -> TaskstateError:
    """Return the error for findings that `told` put into words."""
    more = f"; and {len(lines) - _TOLD} more" if len(lines) > _TOLD else ""
    return TaskstateError("; ".join(lines[:_TOLD]) + more, help=_HELP, code="secret")


def new_in(text: str, config: Config, known: Iterable[str] = ()) -> tuple[Secret, ...]:
    """Return what looks like a credential in `text` and stands in none of the `known` texts."""
    found = secrets.find(text, config.secrets.allow)
    if not found:
        return ()
    texts = tuple(known)
    return tuple(each for each in found if not any(_stands_in(each.span.of(text), old) for old in texts))


def _stands_in(value: str, text: str) -> bool:
    """Return whether a value is in a text; one of several lines may stand there indented or quoted otherwise."""
    return value in text or ("\n" in value and all(line.strip("> \t\r") in text for line in value.split("\n")))


def told(text: str, found: Sequence[Secret], what: str) -> tuple[str, ...]:
    """Return one line for each finding: where it stands and what it looks like, never the value."""
    lines = (text.count("\n", 0, each.span.start) + 1 for each in found)
    return tuple(f"{what}, line {line}: this looks like {each.kind}" for each, line in zip(found, lines, strict=True))

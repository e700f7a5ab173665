"""Refuses a text that is about to be written where something in it looks like a credential.

What is said names the kind and the line and never the value. Nothing here reads or changes anything on disk.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.validation import secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from taskstate.model.config import Config
    from taskstate.validation.secrets import Secret

_HELP = (
    "take it out of the text or the source that it comes from, and name the place where it is kept; if it is none, let"
    " `secrets.allow` of the configuration fit it, or write it with --force-secrets; in free text the comment"
    " `taskstate: allow secret` at the end of its line does as well"
)
_TOLD = 3  # findings that a refusal names


def warnings(lines: Iterable[str]) -> tuple[str, ...]:
    """Return what to warn of where findings that `told` put into words are written all the same."""
    return tuple(f"warning: {line}; written all the same" for line in lines)


def refusal(lines: Sequence[str]) -> TaskstateError:
    """Return the error for findings that `told` put into words."""
    more = f"; and {len(lines) - _TOLD} more" if len(lines) > _TOLD else ""
    return TaskstateError("; ".join(lines[:_TOLD]) + more, help=_HELP, code="secret")


def new_in(text: str, config: Config, known: Iterable[str] = ()) -> tuple[Secret, ...]:
    """Return what looks like a credential in `text` more often than in the `known` texts together."""
    found = secrets.find(text, config.secrets.allow)
    if not found:
        return ()
    old = "\n".join(known)
    return beyond(text, found, old, lambda value: times(value, text) - times(value, old))


def beyond(text: str, found: Sequence[Secret], old: str, more: Callable[[str], int]) -> tuple[Secret, ...]:
    """Return, of each value among findings, as many as it is written `more` often.

    One whose line is no more frequent than in the `old` text is none of them: another line, which is allowed, may be.
    """
    fresh = Counter(text.split("\n"))
    fresh.subtract(old.split("\n"))
    by_value: dict[str, list[Secret]] = {}
    for each in found:
        value = each.span.of(text)
        if "\n" in value or fresh[_line_of(text, each)] > 0:
            by_value.setdefault(value, []).append(each)
    return tuple(sorted(each for value, those in by_value.items() for each in those[: max(more(value), 0)]))


def _line_of(text: str, secret: Secret) -> str:
    end = text.find("\n", secret.span.start)
    return text[text.rfind("\n", 0, secret.span.start) + 1 : end if end >= 0 else len(text)]


def times(value: str, text: str) -> int:
    """Return how often a value stands in a text; one of several lines may be indented or quoted otherwise there."""
    if "\n" not in value:
        return text.count(value)
    return _bare(text).count(_bare(value))


def _bare(text: str) -> str:
    return "\n".join(line.strip("> \t\r") for line in text.split("\n"))


def told(text: str, found: Sequence[Secret], what: str) -> tuple[str, ...]:
    """Return one line for each finding: where it stands and what it looks like, never the value."""
    lines = (text.count("\n", 0, each.span.start) + 1 for each in found)
    return tuple(f"{what}, line {line}: this looks like {each.kind}" for each, line in zip(found, lines, strict=True))

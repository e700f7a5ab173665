"""Hides credentials: in a text each character of what is found.

What a door shows comes through here, so the search is loaded only for a text that may hold something to be hidden.
"""

from __future__ import annotations

import re

from taskstate.typed import TYPE_CHECKING
from taskstate.validation.credential_signs import may_hold_credential

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.secrets.scan import Secret


def masked(text: str, allow: tuple[str, ...] = ()) -> str:
    """Return `text` with each character of what looks like a credential replaced by `*`, except line ends."""
    if may_hold_credential(text):
        from taskstate.secrets.scan import find

        while secrets := find(text, allow):  # again: a token right behind another one only now stands by itself
            text = _replaced_by_stars(text, secrets)
    return text


def _replaced_by_stars(text: str, secrets: Iterable[Secret]) -> str:
    """Return `text` with each character of `secrets` replaced by `*`, except line ends."""
    parts, end = [], 0
    for secret in secrets:
        value = secret.span.of(text)
        has_lines = "\n" in value or "\r" in value
        parts += [text[end : secret.span.start], re.sub(r"[^\r\n]", "*", value) if has_lines else "*" * len(value)]
        end = secret.span.end
    return "".join([*parts, text[end:]])

"""How large a state file may become, in KB and in tokens.

Tokens are estimated as a quarter of the bytes, the usual figure for English text and code: the true number depends
on the reader, and a limit that needs a tokenizer would mean something else in every version of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.state import KB

if TYPE_CHECKING:
    from taskstate.config import Size

BYTES_A_TOKEN = 4


def is_over_limit(size: int, limits: Size) -> bool:
    """Return whether a file of `size` bytes is larger than the configuration allows."""
    return bool(exceeded(size, kb=limits.max_kb, tokens=limits.max_tokens))


def exceeded(size: int, *, kb: int, tokens: int) -> str:
    """Return in words what a file of `size` bytes exceeds, or nothing where it is within; 0 tokens are no limit."""
    if size > kb * KB:
        return f"{shown_kb(size)}, and the limit is {kb} KB"
    if 0 < tokens * BYTES_A_TOKEN < size:
        return f"about {-(-size // BYTES_A_TOKEN):,} tokens, and the limit is {tokens:,}"
    return ""


def shown_kb(size: int) -> str:
    """Return a number of bytes as KB, rounded up as everywhere."""
    return f"{-(-size // KB)} KB"

"""Hashes of short texts, from the interpreter itself where it has them, as the standard library's `random` does it.

Importing `hashlib` loads OpenSSL, which takes longer than linting a file. It is the faster one for long data, and for
whatever else is needed.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash

_SHA256 = ("_sha2", "_sha256")  # the modules with it: from Python 3.12 on, and before
_BLAKE2 = ("_blake2",)


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some data, in hexadecimal."""
    return _constructor("sha256", _SHA256)(data).hexdigest()


def fingerprint(data: bytes) -> str:
    """Return a hash by which a cache knows content again: BLAKE2, which is as fast here as OpenSSL's SHA-256."""
    return _constructor("blake2b", _BLAKE2)(data).hexdigest()[:64]


@cache
def _constructor(name: str, modules: tuple[str, ...]) -> Callable[[bytes], _Hash]:
    for module in (*modules, "hashlib"):
        try:
            found: Callable[[bytes], _Hash] = getattr(import_module(module), name)
        except ImportError:  # another version or another interpreter; `hashlib` is everywhere
            continue
        return found
    raise ImportError(name)

"""The rules of a library of secrets, where the extra `taskstate[secrets]` is installed; else nothing is found here.

It knows hundreds of services more than our own table (`secrets`), which stays in force beside it. Starting it takes a
second, so that only the linter asks it, once for each text that it has not seen before. Decision 013 says why this one.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from taskstate.errors import TaskstateError
from taskstate.syntax.spans import Span
from taskstate.validation import secrets
from taskstate.validation.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODULE, _DISTRIBUTION = "kingfisher_sdk", "kingfisher-secret-scanner"
_LEFT_OUT = {"generic-credential-uri", "twilio-api-key"}  # ours are the better ones
_HARMLESS = r"(?i)example|placeholder|redacted|x{8}|0{8}|\*{4}"
_SAMPLE = "eyJzdWIiOiIxMjM0NTY3ODkw"  # what the payload of the documentation's JSON Web Token begins with


@cache
def version() -> str:
    """Return the version of the library that is installed, or nothing."""
    from importlib.util import find_spec

    if find_spec(_MODULE) is None:
        return ""
    from importlib.metadata import version as version_of

    return version_of(_DISTRIBUTION)


@lru_cache(maxsize=1)  # asked once by the rule and once by whoever shows the text's lines
def find_all(text: str, allow: tuple[str, ...] = ()) -> tuple[Secret, ...]:
    """Return what looks like a credential by our own table, or by the library's rules where it is installed."""
    own = secrets.find(text, allow)
    return secrets.kept(text, (*own, *find(text)), allow) if version() else own


def masked(text: str, allow: tuple[str, ...] = ()) -> str:
    """Return `text` with stars for what looks like a credential: by the library too, where this process started it."""
    if _scanner.cache_info().currsize:
        text = secrets.covered(text, find_all(text, allow))
    return secrets.masked(text, allow)


def find(text: str) -> tuple[Secret, ...]:
    """Return what the library finds in `text`: nothing where it is not installed."""
    return tuple(_found(text)) if version() else ()


def _found(text: str) -> Iterator[Secret]:
    data, before, at = text.encode("utf-8", "surrogatepass"), 0, 0
    located = sorted((_place(each), each.rule_id) for each in _scan(data) if each.visible)
    for (start, end), rule in located:
        at += len(data[before:start].decode("utf-8", "replace"))
        before = start
        value = data[start:end].decode("utf-8", "replace")
        name = rule.rpartition(".")[2]
        if name not in _LEFT_OUT and _SAMPLE not in value and not re.search(_HARMLESS, value):
            yield Secret(Span(at, at + len(value)), f"a credential ({name})")


def _place(finding: Any) -> tuple[int, int]:  # noqa: ANN401 - of a library that may not be installed
    location = finding.to_dict()["location"]
    return location["start_offset"], location["end_offset"]


def _scan(data: bytes) -> list[Any]:
    try:
        found: list[Any] = _scanner().scan(data)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        what = f"the library {_DISTRIBUTION} {version()} cannot be used ({type(error).__name__})"
        raise TaskstateError(what, help="mend it, or uninstall it: lint works without it", code="library") from error
    return found


@cache
def _scanner() -> Any:  # noqa: ANN401 - of a library that may not be installed
    from importlib import import_module

    return import_module(_MODULE).Scanner()

"""Imports `argparse` and `pathlib` without modules that they load for functions which hardly any command calls.

For a process of our own alone: while they are imported, others would find the stand-ins, too.
"""

from __future__ import annotations

import sys
from types import ModuleType

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def _quoted(given: bytes) -> str:
    """Return bytes as a part of a URI; `Path.as_uri` calls it, and the real function is loaded then."""
    from urllib.parse import quote_from_bytes

    return quote_from_bytes(given)


def _untranslated(text: str | None) -> str | None:
    """Return a text of `argparse` as it is: there are no translations, for which it would look on the disk."""
    return text


def _counted(one: str, several: str, count: int) -> str:
    """Return the form of a text of `argparse` that belongs to a number."""
    return one if count == 1 else several


# Of `urllib.parse`, which loads `ipaddress`, and of `gettext` these names are imported, and no others.
_STAND_INS: Mapping[str, Mapping[str, object]] = {
    "urllib.parse": {"quote_from_bytes": _quoted},
    "gettext": {"gettext": _untranslated, "ngettext": _counted},
}


def import_lean() -> None:
    """Import both, unless the real ones are here already; afterwards everybody else gets those."""
    standing = [name for name in _STAND_INS if name not in sys.modules]
    for name in standing:
        sys.modules[name] = ModuleType(name)
        vars(sys.modules[name]).update(_STAND_INS[name])
    try:
        import argparse  # noqa: F401 - later imports find it
        import pathlib  # noqa: F401 - the same
    finally:
        for name in standing:
            del sys.modules[name]

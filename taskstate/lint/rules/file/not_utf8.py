r"""not-utf8: the file is not UTF-8.

## What

The bytes of the file are not valid UTF-8. The message names the first wrong byte and its offset from the beginning of
the file, counted from 0; the finding has the line and column of that offset.

## Why

Text that cannot be decoded could only be guessed at, and a guess cannot be written back byte for byte. So no other rule
checks such a file, and no command writes to it.

## Example

A Latin-1 editor saved `Müller` with the single byte `fc`:

```text
title: M\xfcller
```

## Instead

Convert the file, for example with `iconv -f latin1 -t utf-8 OLD > NEW`, or set the editor's encoding to UTF-8 and
save it again. Where only a few bytes are broken (an interrupted write, pasted binary data), open the file at the line
shown and correct the characters by hand, or take the last good version from git.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostic, Diagnostics, Rule
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS001", __name__, "the file is not UTF-8", reads=WHOLE)


def check(facts: Facts) -> Diagnostics:  # noqa: ARG001 - every rule is called alike
    """Yield nothing: a text that was decoded is UTF-8. The engine reports `not_utf8` when decoding fails."""
    yield from ()


def not_utf8(error: UnicodeDecodeError) -> Diagnostic:
    """Return the finding for a failed decoding; its span counts characters, with the broken byte as one."""
    at = len(error.object[: error.start].decode("utf-8"))
    byte = error.object[error.start]
    return RULE.at(
        Span(at, at + 1),
        f"byte 0x{byte:02x} at offset {error.start} is not UTF-8 ({error.reason})",
        help="save the file as UTF-8, or take the last good version from git; nothing is read or written until then",
    )

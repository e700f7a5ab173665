r"""control-characters: terminal escapes, text direction marks, NUL or other controls in the text.

## What

The text contains a character that is not meant to be read: a terminal escape (U+001B), a NUL, another control
character, or a mark that changes the text direction (U+202A to U+202E, U+2066 to U+2069). Tabs and line ends are
allowed, but for a lone U+000D at the end of every line. There is one finding for each line.

## Why

Terminals execute escape sequences: printing the file may rename a window, hide lines or type a command. Because of
direction marks, the text on the screen differs from the text in the file. And most parsers, YAML's among them, reject
or drop such characters. This project's own output always shows them spelled out, as `\x1b`.

## Example

Pasted output with its colour codes, shown here spelled out:

```text
- \x1b[32mPASS\x1b[0m tests/test_login.py
```

## Instead

Delete the characters. Copy output without colours (`--no-color`, `NO_COLOR=1`, `| cat`), or write it to a log file and
link that. Where the character itself is the subject, write its name: U+001B. In JSON use an escape such as `\u001b`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.spans import Span

RULE = Rule.of(
    "TS006",
    __name__,
    "terminal escapes, text direction marks, NUL or other control characters are in the text",
    reads=WHOLE,
)

_NAMES = {
    0x00: "NUL",
    0x07: "BELL",
    0x08: "BACKSPACE",
    0x0B: "VERTICAL TAB",
    0x0C: "FORM FEED",
    0x1B: "ESCAPE",
    0x7F: "DELETE",
    0x85: "NEXT LINE",
    0x9B: "CONTROL SEQUENCE INTRODUCER",
}


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the first control character of each line, with the number of further ones there."""
    document = facts.document
    lines: dict[int, list[Span]] = {}
    for span in facts.controls:
        lines.setdefault(document.position(span.start).line, []).append(span)
    if facts.has_lone_returns:
        yield RULE.at(
            facts.first_line,
            "every line ends with a lone U+000D (CARRIAGE RETURN): for git and most tools this is one line",
            help="save it with LF as the end of each line: `tr '\\r' '\\n'`, or the setting of your editor",
        )
    for spans in lines.values():
        char = ord(spans[0].of(document.text))
        others = len(spans) - 1
        more = f", and {others} more in this line" if others else ""
        yield RULE.at(
            spans[0],
            f"the control character U+{char:04X} ({_name(char)}) is in the text{more}",
            help="delete it; where it is meant, write its name or, in JSON, an escape such as \\u001b",
        )


def _name(char: int) -> str:
    import unicodedata

    return _NAMES.get(char, "") or unicodedata.name(chr(char), "a control character")

r"""invisible-text: characters that nobody sees, and that a program reads, stand in the text.

## What

Reported are tag characters (U+E0000 to U+E007F) outside the flags of regions, which else could spell words, zero-width
spaces, word joiners, invisible operators, line and paragraph separators (U+2028, U+2029), variation selectors behind
what has no variants, blank cells of Braille (U+2800) far from any with dots, and a joiner, a direction mark or another
sign without a shape where the letters beside it need none, as in a Latin word. There is one finding for each line,
which shows the characters as escapes.

Legal is what a script or an emoji needs: joiners in emoji and in the Arabic and Indic scripts, direction marks in a
line of Hebrew or Arabic, zero-width spaces in Thai or Khmer, the tags of a flag such as Scotland's, a variation
selector behind a symbol or an ideograph whose form it selects, and a byte order mark at the beginning of the file.
Marks that reorder text are reported by control-characters.

## Why

A language model reads such characters as letters: whole instructions can be hidden in a line that looks empty to the
person who reviews it. And a word with a zero-width space in it is found by no search.

## Example

Shown with the characters spelled out:

```text
- Check the tokens.\U000e0064\U000e0065\U000e006c\U000e0065\U000e0074\U000e0065
- Call `verify\u200bToken`.
```

## Instead

Delete the characters. Where one itself is the subject, write its name: U+200B. In JSON use an escape such as `\u200b`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.syntax import invisible
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.spans import Span

RULE = Rule.of("TS953", __name__, "characters that nobody sees and a program reads are in the text", reads=WHOLE)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the first run of invisible characters of each line, with the number of further ones there."""
    document = facts.document
    lines: dict[int, list[Span]] = {}
    for run in facts.invisible:
        lines.setdefault(document.position(run.start).line, []).append(run)
    for spans in lines.values():
        others = len(spans) - 1
        more = f", and in {others} more places of this line" if others else ""
        yield RULE.at(
            spans[0],
            f"there is invisible text here: {invisible.shown(spans[0].of(document.text))}{more}",
            help="delete it; where it is meant, write its name or, in JSON, an escape such as \\u200b",
        )

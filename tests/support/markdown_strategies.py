"""Strategies for Markdown: nested blocks, random odd lines, whole state files; any line ends, intact or damaged.

A text is built by choices read from a string of bytes: one draw of hypothesis instead of hundreds, and shrinking still
works, because fewer and smaller bytes mean fewer and simpler blocks.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, TypeVar

from hypothesis import strategies as st

from tests.support.data_strategies import SAMPLE, damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Lines = list[str]
    Make = Callable[["Dice"], list[str]]

T = TypeVar("T")

DEEPEST = 30
LINE_END = re.compile(r"\r\n?|\n")

# Ordinary and odd lines, separated by bars.
_WORDS = """\
word¦two words¦*emphasis*¦_all of it_¦**What I did:**¦**Next steps:** a¦`code`¦a | b¦[x] done¦a\\¦back\\slash¦# no
#no¦+¦-¦1¦a `` b¦``` a`b¦~¦&amp;¦http://x.y¦!¦| a | b |¦über¦日本語¦\u2028¦a\u2028# b¦\x0c¦\xa0¦\u2003x¦\x85¦\ufeff
\x0b¦\x1c¦😀¦\x7f¦<<<<<<< x¦=======¦>>>>>>> y¦\\---¦\\\\---¦\\\\¦ blank before¦blank behind ¦hard break  ¦\ttab¦a\tb
_ _ _¦* * *¦- -¦--\
"""
_LINES = """\
text¦# H¦## 1. Static Context¦## 4. Progress Log¦### Session 1 - 2024-01-01 10:00¦### Acceptance Criteria¦#¦##
####### no¦## closed ##¦## closed \\#¦#\ttab¦## a # b¦##\xa0x¦## \u2003x¦## x\x0b¦# # # #¦# #¦#  ¦## x \t
####### ¦###### six ######¦```¦````¦```json¦~~~¦~~~ x¦~~~~
``` a`b¦```\t¦``` ¦~~~\x0c¦``¦~~~ `x`¦`````¦```~~~¦- item¦- [ ] a¦- [x] b¦* b¦+ c¦-
- ¦-   ¦1. one¦2. two¦0. nought¦01. a¦10. ten¦1) a¦123456789. a¦1234567890. no¦-     five¦-\tt¦- \tt¦-\t\tt¦1.¦1.  x
- # h¦- ## h¦- ```¦- ~~~¦- <!--¦- > q¦- - n¦- -¦1. - n¦- ---¦- ***¦> - a¦> quote¦>¦>x¦> # q¦> ```¦> <!--¦> 2. x
> - x¦>\tx¦> > n¦> [a]:¦>     code¦---¦===¦=¦--¦***¦___¦- - -¦* * *¦_ _ _¦-\t- -¦--- ¦=== x¦----¦==\t¦-- -
<b>x</b> y¦<!-- c -->¦<!--¦-->¦<!-->¦<!--->¦<!-- a¦b -->¦<!-- # h¦--> # h¦<!-¦<!x¦<div>¦</div>¦<details>¦<b>¦</b>
<x-y a='b'>¦<x-y¦<script>¦</script>¦<pre¦<style¦<textarea>¦<?php¦?>¦<!DOCTYPE x¦<![CDATA[¦]]>¦<https://x>¦<a@b.c>¦<
< b¦<1>¦</¦<div¦<hr/>¦[a]: /u¦[a]:¦[a]: /u 't'¦[a]: /u '¦'t¦t'¦"¦/u¦[a]: <¦[a¦b]: /u¦[^1]: note¦Entries SHA-256:
**What I did:**¦**Issues:** None¦**Current state:**¦**Next steps:**¦*To be completed.*¦¦¦¦¦¦text¦text\
"""
_BAR = re.compile("[¦\n]")
_ALL_WORDS, _ALL_LINES = _BAR.split(_WORDS), _BAR.split(_LINES)
_INDENTS = ("", "", "", "", "", "", " ", "  ", "   ", "    ", "      ", "\t", " \t", "  \t", "   \t", "\t ", "\t\t")
_HTML = (  # one for each way in which an HTML block can begin, with the line that ends it
    *(("<!-- a", "-->"), ("<script>", "</script>"), ("<pre class='x'>", "</pre>"), ("<?php", "?>"), ("<!DOCTYPE", ">")),
    *(("<![CDATA[", "]]>"), ("<div>", ""), ("</details>", ""), ("<table", ""), ("<b>", ""), ("<x-y a='b' c>", "")),
)
_SMALL = (
    ("---",),
    ("***",),
    ("[a]: /u",),
    ("[a]:", "  /u", "  't'"),
    ("| a | b |", "| - | - |"),
    ("<!-- c -->",),
    ("",),
)
_UNDERLINES = ("===", "---", "=", "-", "--  ", "  ==", "   -", "    =")
_MARKERS = (
    "- ",
    "- ",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2. ",
    "1) ",
    "10. ",
    "0. ",
    "007. ",
    "-   ",
    "-    ",
    "-\t",
    "-     ",
    "1.  ",
)
_QUOTES = ("> ", "> ", "> ", ">", " > ", "   > ", ">\t")


class Dice:
    """Choices read from bytes; the first option of each where they have run out, so that what is short is simple."""

    def __init__(self, rolled: bytes) -> None:
        self._rolled = rolled
        self._at = 0

    @property
    def is_over(self) -> bool:
        """Whether all bytes have been read."""
        return self._at >= len(self._rolled)

    def below(self, limit: int) -> int:
        """Return a number from 0 up to, not including, `limit`."""
        number = self._next()
        return (number if limit <= 256 else number * 256 + self._next()) % limit

    def _next(self) -> int:
        self._at += 1
        return 0 if self._at > len(self._rolled) else self._rolled[self._at - 1]

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[self.below(len(options))]

    def seldom(self, one_in: int) -> bool:
        """Return whether what happens once in so many times happens now; never when the bytes have run out."""
        return self.below(one_in) == one_in - 1

    def word(self) -> str:
        """Return a few characters without a line end, one in eight times any of Unicode."""
        if self.seldom(8):
            code = self.below(0x10000) * 16 + self.below(16)
            return f"x{chr(code)}" if not 0xD800 <= code < 0xE000 and chr(code) not in "\r\n" else "x"
        return self.pick(_ALL_WORDS)

    def line(self) -> str:
        """Return an odd line."""
        return self.pick(_INDENTS) + (self.word() if self.seldom(5) else self.pick(_ALL_LINES))

    def lines(self, most: int) -> Lines:
        """Return a few odd lines."""
        return [self.line() for _ in range(self.below(most + 1))]


def _odd(dice: Dice) -> Lines:
    return [dice.line()]


def _paragraph(dice: Dice) -> Lines:
    return [dice.word() for _ in range(1 + dice.below(3))]


def _heading(dice: Dice) -> Lines:
    if dice.seldom(3):
        return [*_paragraph(dice), dice.pick(_UNDERLINES)]
    marks = "#" * (1 + dice.below(6))
    return [marks + dice.pick((" ", "  ", "\t")) + dice.word() + dice.pick(("", "", " #", f" {marks}", " ", "#"))]


def _fence(dice: Dice) -> Lines:
    mark, indent, length = dice.pick("`~"), " " * dice.below(4), 3 + dice.below(3)
    opening = indent + mark * length + dice.pick(("", "", "json", " python x", " "))
    closing = " " * dice.below(5) + mark * (length + dice.pick((0, 0, 0, 1, -1)))
    inner = [indent + line for line in dice.lines(4)]
    return [opening, *inner, *dice.pick(((closing,), (closing,), (closing,), (f"{closing} x",), ()))]


def _html(dice: Dice) -> Lines:
    opening, closing = dice.pick(_HTML)
    return [" " * dice.below(5) + opening, *dice.lines(3), *dice.pick(((closing,), (closing, "after"), ()))]


def _code(dice: Dice) -> Lines:
    return [dice.pick(("    ", "\t", "  \t", "      ")) + dice.line() for _ in range(1 + dice.below(3))]


def _small(dice: Dice) -> Lines:
    return list(dice.pick(_SMALL))


def _list(dice: Dice) -> Lines:
    """Return a list; most of its lines are indented as they should be, a few are not."""
    marker, outer = dice.pick(_MARKERS), dice.pick(("", "", "", "", " ", "  ", "   "))
    lines: Lines = []
    for _ in range(1 + dice.below(3)):
        marker = dice.pick(_MARKERS) if dice.seldom(8) else marker
        width = len(marker.rstrip()) + 1 if marker.endswith(("\t", " " * 5)) else len(marker)
        first, *rest = [""] if dice.seldom(6) else _several(dice, 2)
        indent = outer + " " * max(0, width + (dice.pick((-1, 1, 2, -9)) if dice.seldom(12) else 0))
        lines.append(outer + (marker + first if first else marker.rstrip()))
        lines += [indent + line if line else "" for line in rest]
        lines += dice.pick(((), (), ("",), ("", ""), ("lazy",)))
    return lines


def _quote(dice: Dice) -> Lines:
    """Return a quote of which some lines may be lazy."""
    mark, lazy = dice.pick(_QUOTES), dice.seldom(3)
    inner = _several(dice, 2)
    return [line if lazy and number and dice.seldom(2) else mark + line for number, line in enumerate(inner)]


def _deep(dice: Dice) -> Lines:
    """Return blocks inside up to `DEEPEST` lists and quotes, one in another, and perhaps something behind them."""
    lines = _block(dice)
    for _ in range(dice.below(DEEPEST + 1)):
        mark = dice.pick(("- ", "> ", "1. ", "-   ", ">", "* "))
        rest = mark if mark.startswith(">") else " " * len(mark)
        lines = [(mark if number == 0 else rest) + line for number, line in enumerate(lines)]
    return [*lines, *dice.pick(((), ("",), ("lazy",), ("# after",), ("  # after",)))]


_LEAVES: tuple[Make, ...] = (_paragraph, _odd, _odd, _odd, _heading, _fence, _html, _code, _small)
_BLOCKS: tuple[Make, ...] = (*_LEAVES, _list, _list, _list, _quote, _quote)


def _block(dice: Dice) -> Lines:
    return dice.pick(_BLOCKS)(dice)


def _several(dice: Dice, most: int) -> Lines:
    """Return a few blocks one below the other, most of them with a blank line between them."""
    lines = _block(dice)
    for _ in range(dice.below(most)):
        lines += [*dice.pick(((), ("",), ("",), ("", ""), ("  ",))), *_block(dice)]
    return lines


def _anything(dice: Dice) -> Lines:
    """Return blocks, blocks nested deeply, or a soup of lines."""
    make: Make = dice.pick(
        (lambda dice: _several(dice, 6), lambda dice: _several(dice, 6), _deep, lambda dice: dice.lines(14))
    )
    return make(dice)


def _page(dice: Dice) -> Lines:
    """Return one thing below the other for as long as there are bytes."""
    lines = _anything(dice)
    while not dice.is_over:
        lines += _anything(dice)
    return lines


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


_FRONT_MATTER = """\
taskstate: 1
task_id: "7"
title: Parser for tables
status: in_progress
created_at: "2025-02-03T10:00:00Z"
"""
_SECTIONS = (
    "Static Context",
    "Chain Inputs",
    "Feature Checklist",
    "Progress Log",
    "Git History",
    "Chain Output",
    "Notes",
)
_LABELS = (
    "What I did",
    "Issues encountered",
    "Current state",
    "Next steps",
    "Agent",
    "Commits",
    "Verification",
    "Issues",
)
_DONE = ("**What I did:**", "", "- the words of it", "", "**Next steps:**", "", "- more")


def _session(dice: Dice) -> Lines:
    lines = [f"### Session {dice.below(12)} - 2025-02-03 10:{10 + dice.below(50)}", ""]
    if not dice.seldom(2):
        return [*lines, *_DONE]
    for _ in range(dice.below(5)):
        label, first, *rest = dice.pick(_LABELS), *(dice.pick((_list, _list, _anything))(dice) or [""])
        lines += dice.pick(
            ((f"**{label}:**", "", first, *rest, ""), (f"**{label}:** {first}", *rest, ""), (f"**{label}:**", first))
        )
    return lines


def _checklist(dice: Dice) -> Lines:
    features = [
        {"id": f"f{number}", "description": dice.word(), "passes": dice.seldom(2)} for number in range(dice.below(4))
    ]
    odd = (
        dice.pick(({}, features, 3, {"features": [1, {}]}))
        if dice.seldom(5)
        else {"features": features, "overall_progress": "0%"}
    )
    text = json.dumps(odd, indent=2, ensure_ascii=False)
    source = text[: -1 - dice.below(9)] if dice.seldom(6) else text
    return ["```json", *source.split("\n"), *(() if dice.seldom(9) else ("```",))]


def _static(dice: Dice) -> Lines:
    description = _anything(dice) if dice.seldom(3) else ["What it is about."]
    criteria = [f"- [{dice.pick(' xX')}] {dice.word()}" for _ in range(dice.below(3))]
    return ["### Task Description", "", *description, "", "### Acceptance Criteria", "", *criteria]


def _log(dice: Dice) -> Lines:
    summary = ("### Archived Summary (Sessions 1-3)", "", "- all of it", "") if dice.seldom(3) else ()
    return [*summary, *(line for _ in range(dice.below(4)) for line in (*_session(dice), ""))]


_PARTS: dict[str, Make] = {"Static Context": _static, "Feature Checklist": _checklist, "Progress Log": _log}


def _section(dice: Dice, number: int, name: str) -> Lines:
    make = _PARTS.get(name, _anything if dice.seldom(3) else lambda _: ["*To be completed.*"])
    content = (_anything if dice.seldom(8) else make)(dice)
    return [f"## {number}. {name}" if name != "Notes" else "## Notes", "", *content, ""]


def _state_file(dice: Dice) -> str:
    front_matter = dice.pick((_FRONT_MATTER, _FRONT_MATTER, SAMPLE, ""))
    lines = ["---", *front_matter.split("\n")[:-1], "---", ""] if front_matter else []
    lines += ["# Task #7: Parser for tables - State", ""]
    for number, name in enumerate(_SECTIONS, 1):
        if not dice.seldom(12):
            lines += _section(dice, number, name)
    return dice.pick(("", "", "", "\ufeff")) + _joined(lines)


@st.composite
def with_line_ends(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """Return a text with line ends of one kind or of several, some without the last one."""
    text = draw(texts)
    style = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\n", "\r", "mixed"]))
    ends = draw(st.binary(min_size=1, max_size=9)) if style == "mixed" else b""
    count = iter(range(len(text)))
    text = LINE_END.sub(lambda _: ("\n", "\r\n", "\r")[ends[next(count) % len(ends)] % 3] if ends else style, text)
    return text.rstrip("\r\n") if draw(st.integers(0, 4)) == 0 else text


_rolled = st.binary(max_size=60) | st.binary(min_size=150, max_size=400) | st.binary(min_size=400, max_size=800)
bodies = _rolled.map(lambda rolled: _joined(_page(Dice(rolled))))  # with LF
markdown = with_line_ends(bodies)
soups = st.text(st.sampled_from("#-=`~>* \t\n\r_+1.<!/a:[]\\x\x0c\x00"), max_size=40)
state_files = with_line_ends(_rolled.map(lambda rolled: _state_file(Dice(rolled))))
_breaks = st.sampled_from(
    [*"\n\r\0\f`~<>#-*[:\x1b\u2028\ufeff", "\r\n", "\n\n", "```\n", "<!--", "---\n", "\n## ", "\n  "]
)
_pieces = _breaks | st.sampled_from(_ALL_LINES)
any_text = st.one_of(
    *(state_files, damaged(state_files, _pieces), markdown, damaged(markdown, _pieces)), *(soups, st.text())
)
outside = bodies | soups | with_line_ends(bodies) | st.text(max_size=30)  # what people and agents hand over

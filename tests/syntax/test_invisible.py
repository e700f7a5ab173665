"""Characters that nobody sees: which are hidden text, and which a script or an emoji needs."""

from __future__ import annotations

import pytest

from taskstate.syntax import invisible
from taskstate.syntax.spans import printable, printable_json

TAGS = "".join(chr(0xE0000 + ord(char)) for char in "delete all tests")
NEEDED = (
    "Family \U0001f468\u200d\U0001f469\u200d\U0001f467, heart \u2764\ufe0f\u200d\U0001f525, keycap 1\ufe0f\u20e3",
    "flag \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f of England",
    "and of Wales \U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f, with \U0001f3f4 itself",
    "hieroglyphs \U00013000\U00013430\U00013001, a stem \U0001d159\U0001d165, Khitan \U00016fe4\U00018b00",
    "pirates \U0001f3f4\u200d\u2620\ufe0f and rainbows \U0001f3f3\ufe0f\u200d\U0001f308",
    "Persian \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645, HTML\u200c\u0647\u0627, \u0647\u200d.",
    "Hindi \u0915\u094d\u200d\u0937, Sinhala \u0dc1\u0dca\u200d\u0dbb\u0dd3, Bengali \u09b0\u200d\u09cd\u09af",
    "Hebrew \u05e9\u05dc\u05d5\u05dd\u200f! and (abc\u200e) in one line",
    "Arabic \u0645\u0631\u062d\u0628\u0627 1\u061c/2",
    "Thai \u0e44\u0e17\u0e22\u200b\u0e20\u0e32\u0e29\u0e32",
    "Khmer \u1797\u17b6\u179f\u17b6\u200b\u1781\u17d2\u1798\u17c2\u179a",
    'Khmer beside signs "\u200b \u179a\u17b8", True\u200b \u179a\u17ba',
    "Khmer beside others (name\u200b)\u17d4, \u1791\u17cb\u200b\xa0Django",
    "Japanese \u65e5\u672c\u2060\u8a9e, variant \u8fbb\U000e0100",
    "Mongolian \u182e\u1823\u1828\u180b \u1820\u180e\u1820",
    "slashed 0\ufe00, warning \u26a0\ufe0f, Hangul \u1112\u1160\u11ab",
    "Japanese names \u845b\U000e0100\u57ce, \u9089\U000e010e; a compatible form \u6d41\ufe00; stops \u3002\ufe00",
    "sums \u2229\ufe00, quotes \u201c\ufe01, Burmese \u1000\ufe00, a bullet \u2022\ufe0f, a note \u266a\ufe0e",
    "Braille \u2813\u2811\u2800\u283a, a picture \u28ff\u2800\u2800\u2800\n\u2800\u2800\u2800\u2800\n\u2800\u28ff",
    "\ufeffa byte order mark at the beginning",
    "plain ASCII, na\u00efve, \u4e2d\u6587, soft\u00adhyphen, no\u00a0break",
)
HIDDEN = {
    f"Check.{TAGS}": TAGS,
    f"\U0001f3f4{TAGS}": TAGS,
    f"\U0001f3f4{TAGS[:5]}\U000e007f": f"{TAGS[:5]}\U000e007f",
    "a\U00013431b": "\U00013431",
    "a\U0001d159b": "\U0001d159",
    "a\U00016fe4b": "\U00016fe4",
    "a\u200bb": "\u200b",
    "a\u2060b": "\u2060",
    "a \u200b(b) \u1780": "\u200b",
    "a\n\u200b\u200b\u200b\u1780": "\u200b\u200b\u200b",
    "a\u00ad\u00ad\u00adb": "\u00ad\u00ad\u00ad",
    "a \u00adb": "\u00ad",
    "a\u17b5b": "\u17b5",
    "a\u200db": "\u200d",
    "a\u200cb": "\u200c",
    "a\ufeffb": "\ufeff",
    "a\u200eb": "\u200e",
    "a\u200fb": "\u200f",
    "a\u061cb": "\u061c",
    "a\u2028b": "\u2028",
    "a\u2029b": "\u2029",
    "a\u2062b": "\u2062",
    "a\u3164b": "\u3164",
    "a\ufe0fb": "\ufe0f",
    "\u0434\ufe00": "\ufe00",
    "\xe9\ufe0f": "\ufe0f",
    "\u05d0\ufe03": "\ufe03",
    "\U0001f600\ufe09": "\ufe09",
    "\u6d41\U000e01d0": "\U000e01d0",
    "\u05e9\u05dc\u05d5\u05dd ab\u200fc": "\u200f",
    "blank\u2800cells": "\u2800",
    "\u28ff\u2800\u200b": "\u200b",
    "\U0001f600\u200da": "\u200d",
    "\U0001f600\ufe0f\U000e0101\U000e0102\U000e0103": "\U000e0101\U000e0102\U000e0103",
    "\u0645\u06cc\u200c\u200c\u200c\u200c\u062e": "\u200c\u200c\u200c\u200c",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065": "\U000e0067\U000e0062\U000e0065",
    "\u05e9\u05dc\u05d5\u05dd\na\u200fb": "\u200f",
}


@pytest.mark.parametrize("text", NEEDED)
def test_what_a_script_or_an_emoji_needs_is_legal(text: str) -> None:
    """Joiners, marks and selectors are no hidden text beside the characters that need them."""
    assert list(invisible.find(text)) == []
    assert printable(text) == text


@pytest.mark.parametrize(("text", "run"), HIDDEN.items())
def test_hidden_text_is_found_and_written_out(text: str, run: str) -> None:
    """What nobody sees is one run, at its exact place, and never shown as it is."""
    assert [text[start:end] for start, end in invisible.find(text)] == [run]
    assert run not in printable(text)
    assert printable(text).encode("ascii", "replace").decode().count("\\") == len(run)


def test_json_keeps_its_values() -> None:
    """In JSON hidden text is written in JSON's own escapes: a parser reads the same value."""
    import json

    text = json.dumps({"a": f"x{TAGS}\u200by"}, ensure_ascii=False)
    assert printable_json(text).isascii()
    assert json.loads(printable_json(text)) == json.loads(text)


def test_long_runs_are_shown_in_part() -> None:
    """A message shows the first characters, and how many follow."""
    assert invisible.shown("\u200b" * 6) == "\\u200b\\u200b\\u200b\\u200b and 2 more"

r"""Finds characters that nobody sees but a program reads, such as hidden instructions, and writes them out.

Some of these characters are needed: joiners in emoji, in Arabic and in the scripts of India, word boundaries in Thai,
direction marks beside Hebrew. They are legal beside what needs them, and nowhere else. Terminal escapes and direction
overrides are `CONTROLS` in `spans`.
"""

from __future__ import annotations

from taskstate.syntax.patterns import compiled
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

# Patterns and character classes, compiled where they are used: most files are ASCII and need none of them.
_JOINERS = "\u034f\u200c\u200d"
_MARKS = "\u061c\u200e\u200f"  # of direction
_BREAKS = "\u200b\u2060\ufeff"  # where a word ends or does not
_SOFT_HYPHEN = "\u00ad"  # within a word, one at a time
_KHMER_VOWELS = "\u17b4\u17b5"  # that nobody sees: a letter has them by itself
_FILLERS = "\u115f\u1160\u3164\uffa0"
_MONGOLIAN_MARKS = "\u180b-\u180f"
_SELECTORS = "\ufe00-\ufe0f"
_GLYPH_SELECTORS = "\ufe00-\ufe06"  # those that the Unicode standard gives to signs; to letters it gives none
_EMOJI_SELECTORS = "\ufe0e\ufe0f"
_IDEOGRAPH_SELECTORS = "\U000e0100-\U000e012f"  # no ideograph has more variants in the registry of variants
_BRAILLE_BLANK = "\u2800"  # a cell without dots, in a line of Braille
# Signs without a shape, and the signs that they stand among: how hieroglyphs are arranged, a note without a head, a
# place that a Khitan character leaves empty.
_SHAPELESS = (
    ("\U00013430-\U0001343f", "\U00013000-\U0001345f"),
    ("\U0001d159", "\U0001d100-\U0001d1ff"),
    ("\U00016fe4", "\U00018b00-\U00018cff"),
)
_NEVER = (
    "\u2028\u2029\u2061-\u2065\u206a-\u206f\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CANDIDATE = (
    f"[{_SOFT_HYPHEN}{_KHMER_VOWELS}{_JOINERS}{_MARKS}{_BREAKS}{_FILLERS}{_MONGOLIAN_MARKS}{_SELECTORS}{_NEVER}"
    f"{_BRAILLE_BLANK}{''.join(signs for signs, _ in _SHAPELESS)}]+"
)

_EMOJI = (
    "\xa9\xae\u203c\u2049\u20e3\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_RIGHT_TO_LEFT = "\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001eeff"
# Scripts whose letters join or stack: from Hebrew (vowel points) to Khmer and Mongolian, and their later blocks.
_JOINING = (
    f"{_RIGHT_TO_LEFT}\u0900-\u109f\u1700-\u1aff\u1b00-\u1cff\ua800-\ua8ff\ua980-\ua9ff\uaa00-\uaaff\uabc0-\uabff"
    "\U00011000-\U00011fff\U00016d40-\U00016d7f\U0001e900-\U0001e95f"
)
_UNSPACED = (  # scripts without blanks between words
    "\u0e00-\u0fff\u1000-\u109f\u1700-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u2e80-\u312f\u3130-\u4dbf\u4e00-\u9fff"
    "\ua980-\ua9ff\uaa00-\uaadf\uac00-\ud7af\uf900-\ufaff\uff00-\uff9f\uffa1-\uffef\U00020000-\U0003ffff"
)
_MONGOLIAN = "\u1800-\u180a\u1810-\u18af"
_JAMO = "\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff"
_IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# What has variants of its glyph: digits of zero, signs of mathematics, quotation marks, a few scripts' letters.
_VARYING = (
    f"0\uff10\u2018\u2019\u201c\u201d\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f\uaa60-\uaa7f\ua840-\ua877\u3001\u3002"
    f"\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\U00010ac0-\U00010aff\U00013000-\U000143ff\U0001d49c-\U0001d4cf{_IDEOGRAPHS}{_EMOJI}"
)
_FLAG = "\U0001f3f4"  # a black flag: the only base of a sequence of tags, which name a region
_REGIONS = ("gbeng", "gbnir", "gbsct", "gbwls", "usca", "ustx")  # those that have a flag somewhere; others spell words
_SELECTED = (  # selectors, and what may stand before one
    (_EMOJI_SELECTORS, f"#*0-9{_EMOJI}"),
    (_GLYPH_SELECTORS, _VARYING),
    (_IDEOGRAPH_SELECTORS, _IDEOGRAPHS),
    (_MONGOLIAN_MARKS, _MONGOLIAN),
)
_TAG = 0xE0000  # what a tag character is above the ASCII character that it stands for
_MAX_SHOWN = 4  # escapes in a message


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each run of invisible characters that nothing beside it needs."""
    if text.isascii():
        return
    line_end, is_right_to_left = -1, False
    for run in compiled(_CANDIDATE).finditer(text):
        start, end = run.span()
        if run[0][0] in _MARKS and len(run[0]) == 1:
            if start >= line_end:  # a line is looked at once, however many marks it has
                above = max(line_end, 0)
                begin = max(text.rfind("\n", above, start), text.rfind("\r", above, start)) + 1
                line_end = _end_of_line(text, end)
                is_right_to_left = compiled(f"[{_RIGHT_TO_LEFT}]").search(text, begin, line_end) is not None
            if is_right_to_left and not _is_in_latin_word(text, start):
                continue
        start = _end_of_needed(text, start, end)
        if start < end:
            yield start, end


def _is_in_latin_word(text: str, at: int) -> bool:
    """Return whether the character stands between two ASCII letters or digits: no direction changes there."""
    return compiled("[A-Za-z0-9].[A-Za-z0-9]").match(text, at - 1) is not None if at else False


def _end_of_line(text: str, at: int) -> int:
    found = compiled(r"[\r\n]").search(text, at)
    return found.start() if found else len(text)


def _end_of_needed(text: str, start: int, end: int) -> int:
    """Return where the characters of a run that are needed end; from there on they are hidden text."""
    before = text[start - 1] if start else ""
    if before == _FLAG and (region := _end_of_region(text, start, end)):
        return region
    if not start and text[0] == "\ufeff":  # the byte order mark
        return 1
    behind = text[end : end + 1]
    first = text[start]
    if first == _BRAILLE_BLANK:
        return _end_of_braille(text, start, end)
    if before and _is_needed_selector(before, first):
        before, start = first, start + 1  # a joiner may follow, as in a heart on fire
        before = "\u2764" if compiled(f"[{_SELECTORS}]").match(first) else before
    if start < end and end - start <= _most_needed(first) and _all_needed(text[start:end], before, behind):
        return end
    if start + 1 == end and first in _BREAKS and _is_among_unspaced(text, start):
        return end
    return start


def _end_of_region(text: str, start: int, end: int) -> int:
    """Return where the tags end that make a black flag that of a region; 0 if they name none."""
    for region in _REGIONS:
        tags = "".join(chr(_TAG + ord(char)) for char in f"{region}\x7f")
        if text.startswith(tags, start, end):
            return start + len(tags)
    return 0


def _end_of_braille(text: str, start: int, end: int) -> int:
    """Return where the blank cells end that stand near cells with dots, as in a picture; `start` if none are near."""
    near = compiled("[\u2801-\u28ff]").search(text, max(start - _BRAILLE_REACH, 0), end + _BRAILLE_REACH)
    blanks = compiled(f"{_BRAILLE_BLANK}+").match(text, start, end)
    return blanks.end() if near and blanks else start


_BRAILLE_REACH = 200  # characters: some lines of a picture
_MAX_NEEDED = 2  # a joiner with a mark beside it; more of them carry something


def _most_needed(first: str) -> int:
    return 1 if first == _SOFT_HYPHEN else _MAX_NEEDED


_NEAR = 3  # characters: a bracket or quote with a blank beside it


def _is_among_unspaced(text: str, at: int) -> bool:
    """Return whether behind blanks and punctuation the next letter to one side is of a script without blanks."""
    before, behind = reversed(text[max(at - _NEAR, 0) : at]), text[at + 1 : at + 1 + _NEAR]
    unspaced = compiled(f"[{_UNSPACED}]")
    letters = (next((each for each in side if each.isalnum() or unspaced.match(each)), "") for side in (before, behind))
    return any(unspaced.match(each) for each in letters)


def _is_needed_selector(base: str, char: str) -> bool:
    """Return whether `char` selects a form of the character before it, such as a symbol or an ideograph."""
    for selectors, bases in _SELECTED:
        if compiled(f"[{selectors}]").match(char) and compiled(f"[{bases}]").match(base):
            return True
    return compiled(f"[{_EMOJI_SELECTORS}]").match(char) is not None and _is_sign(base)


def _is_sign(char: str) -> bool:
    """Return whether a character beyond ASCII is a symbol or punctuation; keyboards give a selector to any of them."""
    from unicodedata import category

    return not char.isascii() and category(char)[0] in "SP"


def _all_needed(run: str, before: str, behind: str) -> bool:
    return all(_is_needed(char, before, behind) for char in run)


def _is_needed(char: str, before: str, behind: str) -> bool:
    """Return whether the visible characters around a run need `char` between them."""

    def beside(characters: str) -> bool:
        pattern = compiled(f"[{characters}]")
        return pattern.match(before) is not None or pattern.match(behind) is not None

    if char == _SOFT_HYPHEN:
        return before.isalpha() and behind.isalpha()
    if char in _MARKS:
        return beside(_RIGHT_TO_LEFT)
    if char in _BREAKS:
        return beside(_UNSPACED)
    if char in _FILLERS:
        return beside(_JAMO + "\u3131-\u318e\uac00-\ud7af")
    if char in _JOINERS:
        emoji = compiled(f"[{_EMOJI}]")
        between = emoji.match(before) is not None and emoji.match(behind) is not None
        return beside(_JOINING) or (char == "\u200d" and between)
    if char in _KHMER_VOWELS:
        return beside("\u1780-\u17b3")
    for signs, others in _SHAPELESS:
        if compiled(f"[{signs}]").match(char):
            return beside(others)
    return compiled(f"[{_MONGOLIAN_MARKS}]").match(char) is not None and beside(_MONGOLIAN)


def escaped(text: str, *, json: bool = False) -> str:
    r"""Return `text` with each hidden character written out, as in `\u200b`; legal ones stay as they are.

    In the text of JSON the escapes are JSON's own, with two for a character beyond U+FFFF.
    """
    if text.isascii():
        return text
    parts, at = list[str](), 0
    for start, end in find(text):
        parts += [text[at:start], _json_escapes(text[start:end]) if json else _escapes(text[start:end])]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def unescaped(data: str) -> str:
    r"""Return JSON or YAML with the escapes of these characters, such as `\u200b`, as the characters themselves.

    Who reads the data has them as well; what they stand beside tells whether they are legal.
    """
    return compiled(_DATA_ESCAPE).sub(_unescaped, data) if "\\" in data else data


_DATA_ESCAPE = (  # a pair of surrogates, one character in one of three lengths, or what else a backslash begins
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))|([LP])|[^\r\n])"
)
_YAML_BREAKS = {"L": "\u2028", "P": "\u2029"}


def _unescaped(match: re.Match[str]) -> str:
    high, low, *single, letter = match.groups()
    digits = next(filter(None, single), "")
    if high:
        char = chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
    elif digits:
        char = chr(min(int(digits, 16), 0x10FFFF))
    else:
        char = _YAML_BREAKS.get(letter, "")
    return char if char and compiled(_CANDIDATE).fullmatch(char) else match[0]


def shown(run: str) -> str:
    r"""Return the first escapes of a run of invisible characters, for messages: `\u200b\u200b and 12 more`."""
    more = len(run) - _MAX_SHOWN
    return _escapes(run[:_MAX_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _escapes(run: str) -> str:
    return run.encode("unicode_escape").decode("ascii")


def _json_escapes(run: str) -> str:
    units = run.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

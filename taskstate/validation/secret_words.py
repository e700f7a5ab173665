"""Finds where one of the words stands with which a secret's name may end, such as the `word` of `db_password`.

Nearly all texts have few of them, so this decides how long a text takes that has no secret. Pure.
"""

from __future__ import annotations

from taskstate.syntax.patterns import compiled

# The words are searched for by a character, to which the engine jumps: that is as fast as looking for one of them.
_SEARCHES = ("k(?:ey|en(?<=token))", "p(?:as[sw]|w|at(?<=[_-]pat)|i(?<=api))", "c(?:(?<=sec)ret|red)", "u(?<=au)th")
# What such a search finds: how much of the word stands before it, and with which small letters a name may go on there.
_FOUND = {
    "key": (0, ""),
    "ken": (2, "akv"),
    "pass": (0, "wpco"),
    "pasw": (0, "o"),
    "pw": (0, "d"),
    "pat": (1, ""),
    "pi": (1, ""),
    "cret": (2, "akv"),
    "cred": (0, "se"),
    "uth": (1, ""),
}
# What stands behind most of these words: another word of the sentence, or the sentence's end.
_PROSE = r"[ \t]{1,4}(?!(?:is|or|string|str|String)\b)[A-Za-z]{1,24}[\s.,;:)]"
# What stands behind a password's word in a note, where other words come before the password: none is without a digit.
_NOTES = r"(?i:word|wd|owrd|ord|d)?(?:[/&),(-]|:(?![ \t=])|[ \t]{1,3}(?![ \t=:]))[^\r\n0-9]{0,48}[0-9]"
_BLANKS, _NEVER, _LINE_ENDS = " \t", ";)?!%&/@#", "\r\n"
_MAX_BLANKS = 60  # at least as many as may stand before a value in the following line


def positions_in(text: str) -> tuple[list[int], list[int]]:
    """Return where one of the words occurs that may be the end of a name, in any case, and where one of a note does."""
    lowered = text.replace("\u0130", "I").lower()  # the one letter that is two in lower case
    positions, noted = list[int](), list[int]()
    is_prose, is_noted = compiled(_PROSE).match, compiled(_NOTES).match
    for search in _SEARCHES:
        for match in compiled(search).finditer(lowered):
            before, goes_on = _FOUND[match[0]]
            start, end = match.span()
            behind = text[end : end + 1]
            may_go_on = not behind.islower() or behind in goes_on
            may_be_noted = search[0] == "p" and may_go_on and not text.startswith("word = ", end)
            if may_be_noted and (is_noted(text, end) or text.endswith("is the ", 0, start)):
                noted.append(start)
            if behind in _BLANKS:
                if not is_prose(text, end):
                    positions.append(start - before)
            elif behind not in _NEVER and may_go_on and not _ends(text, end, behind):
                positions.append(start - before)
    return sorted(positions), noted


def _ends(text: str, end: int, behind: str) -> bool:
    """Return whether a sentence or a line ends behind a word, with no value: trying the whole pattern takes longer."""
    if behind == ".":  # else it goes on as in `key.access` or `key.=`
        following = text[end + 1 : end + 2]
        return following != "=" and not following.isalnum()
    if behind in _LINE_ENDS:  # else it goes on with `value:` or `default:`
        following = text[end : end + _MAX_BLANKS].lstrip().lstrip("\\\"'")[:1]
        return following not in "vVdD"
    return False

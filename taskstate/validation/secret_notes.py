"""Finds a password that a note tells after, or before, the word for it, with other words between them.

`id/pw: deploy/…`, `ID/PASS (deploy/…)`, `password for deploy: …`, `the pwd of deploy is …`, `… is the password`. Since
words stand there as well, only a value that can be nothing else counts: of shuffled case with a digit, or made as sites
ask for passwords. Loaded only for texts with a digit behind such a word. Pure; all repetitions are bounded.
"""

from __future__ import annotations

from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING
from taskstate.validation.secret_values import is_shuffled, is_strong

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORD = r"(?i:pass(?:w(?:or)?d|owrd|wort|phrase|code)?|pasword|pwd?)"
# Signs and words, each taken whole, so that no text is tried in two ways.
_GLUE = (
    r"(?P<glue>(?:[ \t]{0,3}[:/()&=,>.\u2026-]{1,4}+|[ \t]{0,3}(?<![A-Za-z])[A-Za-z][A-Za-z.@_]{0,24}+){1,8}?"
    r"[ \t]{0,3})"
)
_VALUE = (
    r"(?P<value>(?=[A-Za-z!@#$%^*+~]{0,24}[0-9])(?=[0-9!@#$%^*+~]{0,24}[A-Za-z])[A-Za-z0-9!@#$%^*+~]{6,32})"
    r"(?![\w.(-])"
)
_NOTE = _WORD + _GLUE + r"(?<=[:/(=,>) -])" + _VALUE
_TOLD_BEFORE = r"(?<![\w./-])(?P<value>[A-Za-z0-9!@#$%^*+~]{6,32})[ \t]is (?:the|your|my|our) \Z"
_LOGIN = r"(?i)(?:\bid|user(?:name)?|login|account|name)[ \t]{0,2}[/&(:-]{0,2}[ \t]?\Z"
_MAX_BEFORE = 48


def noted_passwords(text: str, positions: Iterable[int]) -> Iterator[Span]:
    """Yield the span of each password that a note tells with its word at one of the positions, in order."""
    end = 0
    for at in positions:
        if text[max(at - 4, 0) : at] in {"the ", "our ", " my "} or text[max(at - 5, 0) : at] == "your ":
            told = compiled(_TOLD_BEFORE).search(text, max(at - _MAX_BEFORE, end), at)
            if told and _is_told(told["value"]):
                yield Span(*told.span("value"))
        match = compiled(_NOTE).match(text, at)
        if not match or match.start("value") < end:
            continue
        if _is_told(match["value"]) and _is_joined(text, match["glue"], at):
            end = match.end("value")
            yield Span(*match.span("value"))


def _is_told(value: str) -> bool:
    return is_shuffled(value) or is_strong(value)


def _is_joined(text: str, glue: str, at: int) -> bool:
    """Return whether a sign or `is` joins the word and its value, or it stands beside the word for a login."""
    if glue.strip() in {"", "=", ":", ":=", "=="}:
        return False  # such values are judged by the name before them
    joined = glue.rstrip()[-1:] in ":/(=,>)-" or compiled(r"(?i)\bis[ \t]+\Z").search(glue) is not None
    return joined or compiled(_LOGIN).search(text, max(at - _MAX_BEFORE, 0), at) is not None

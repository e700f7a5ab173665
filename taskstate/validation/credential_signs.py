"""Tells at a glance that a text holds no credential, as nearly every one: then the search need not even be loaded.

What it looks for is what the searches begin with, and is written down here for them: so no search can find what the
look has missed.
"""

from __future__ import annotations

from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# One of these is in every text with a secret of several lines, or with one that only another line shows to be one.
MULTILINE_MARKERS = ("PRIVATE KEY", "PuTTY-User-Key-File-", '"kty"')
# Of the names of credentials, in lower case.
NAMES = ("pass", "pw", "secret", "token", "key", "cred", "auth", "bearer ", "basic ", "_pat", "-pat")
BEFORE_HOST = "://"
LOGIN_OPTIONS = (" -u", " --u", " --proxy-user")
ESCAPES = ("\\x", "\\u", "\\U")  # how a character may be written in YAML and JSON
_LONG_WORD = r"\S{15,}"  # no token has fewer characters
_OF_WORDS = "abcdefghijklmnopqrstuvwxyz_-./`'\"()*,:"  # of those only, no word is a token but Stripe's
_DIGITS, _QUOTES = frozenset("0123456789"), frozenset("\"'`")
_WITH_DIGIT = r"(?=\S{0,5}[0-9])\S{6}"  # a value has at least six characters


def may_hold_credential(text: str) -> bool:
    """Return whether a text may hold a credential; if not, no search finds one."""
    for mark in (*MULTILINE_MARKERS, *ESCAPES):
        if mark in text:
            return True
    return next(words_like_tokens(text), None) is not None or _may_hold_value(lowered(text))


def words_like_tokens(text: str) -> Iterator[tuple[str, Span]]:
    """Yield each long word that may be a token, with its span: it is not made of what words are made of."""
    for match in compiled(_LONG_WORD).finditer(text):  # one at a time: a list of all takes ten times the text
        word = match[0]
        if word.strip(_OF_WORDS) or "_live_" in word:
            yield word, Span(*match.span())


def lowered(text: str) -> str:
    """Return a text in lower case, each character at its place."""
    return text.replace("\u0130", "I").lower()  # the one letter that is two in lower case


def _may_hold_value(text: str) -> bool:
    """Return whether in a line behind a name or the beginning of a login stands what its value may be."""
    return (
        any(_may_be_set(line) for name in NAMES for line in _lines_behind(name, text))
        or any("@" in line for line in _lines_behind(BEFORE_HOST, text))
        or any(":" in line for option in LOGIN_OPTIONS for line in _lines_behind(option, text))
    )


def _lines_behind(sign: str, text: str) -> Iterator[str]:
    """Yield for each line in which a sign stands what is behind the first one: so that many take linear time."""
    at = text.find(sign)
    while at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[at + len(sign) : end]
        at = text.find(sign, end)


def _may_be_set(line: str) -> bool:
    """Return whether a value may stand in a line: one without quotes has a digit."""
    if not _QUOTES.isdisjoint(line):
        return True
    return not _DIGITS.isdisjoint(line) and compiled(_WITH_DIGIT).search(line) is not None

"""Finds what looks like a credential in a text.

Tokens are found by their form, private keys by their header, and a value behind a name such as `password`, or in an
address, only if it looks random or picked. Documented examples, placeholders and variables are not reported, nor what a
comment on the line allows. Pure, and in time in proportion to the text: all repetitions are bounded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

from taskstate.secrets.names import assigned_in
from taskstate.secrets.prefixes import tokens_in
from taskstate.secrets.values import is_harmless, is_placeholder, is_random
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, is_within, line_end, line_start
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.credential_signs import BEFORE_HOST, ESCAPES, LOGIN_OPTIONS, MULTILINE_MARKERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PRIVATE_KEY, IN_ADDRESS = "a private key", "a password in an address"
ON_A_COMMAND_LINE = "a password on a command line"
# Comments with which a line allows the secrets in it: our own, and those of other scanners.
_ALLOWED = (
    r"(?:#|//|;|--|/\*)[ \t]*(?:taskstate:[ \t]*allow secret|pragma:[ \t]*(?:allow|white)list secret"
    r"|(?:gitleaks|betterleaks):allow|trufflehog:ignore|kingfisher:ignore)\b"
)
_ALLOW_KEYWORDS = ("allow", "whitelist secret", ":ignore")
_BEGIN_KEY = r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END_KEY = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_LINES = r"(?:(?:\\[nr]|[\s>])*[A-Za-z0-9+/=]{16,})*"
_REST_OF_KEY = rf"(?:(?:(?!-{{4,5}} ?BEGIN)[\s\S]){{0,16384}}?{_END_KEY}|{_KEY_LINES})"
_EMPTY_KEY = rf"{_BEGIN_KEY}(?:(?![A-Za-z0-9+/]{{16}})[^-]){{0,200}}{_END_KEY}"
_PUTTY = "PuTTY-User-Key-File-[0-9]:"
_PUTTY_KEY = rf"{_PUTTY}(?:(?:(?!{_PUTTY})[\s\S]){{0,16384}}?Private-Lines: [0-9]{{1,4}}{_KEY_LINES})?"
_JWK = r'"d"\s{0,8}:\s{0,8}"(?P<value>[A-Za-z0-9_-]{40,1024})"'
# What stands before a host, a name and a password or a token, and what stands behind an option for a login.
_AUTHORITY = r"://(?P<login>[^\s/\"'`<>]{6,300})@(?=[A-Za-z0-9\[$])"
_OPTION = r" --?(?:u|user|proxy-user)[ =]{1,4}[\"']?(?P<login>[^\s:\"'`<>$(){}]{1,80}:[^\s\"'`<>{}()\\]{6,200})"
_LOGINS = (
    (BEFORE_HOST, _AUTHORITY, IN_ADDRESS),
    *((option, _OPTION, ON_A_COMMAND_LINE) for option in LOGIN_OPTIONS),
)
_MIN_PASSWORD = 6  # characters
_ESCAPE = r"\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\U00((?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4})"


class Secret(NamedTuple):
    """Something that looks like a credential: the span of its value, and the kind of credential."""

    span: Span
    kind: str


@lru_cache(maxsize=1)  # the lint rule and the report of its lines search the same text in turn
def find(text: str, allow: tuple[str, ...] = ()) -> tuple[Secret, ...]:
    """Return all that looks like a credential in `text`, in its order and without overlaps.

    Left out is what a comment on the same line allows, and values in which a regular expression of `allow` matches.
    Escapes of YAML and JSON hide none: the span is then that of the value as it is written.
    """
    secrets = _all_in(text)
    if any(each in text for each in ESCAPES):
        secrets += _escaped_in(text)
    return _without_allowed(text, secrets, allow) if secrets else ()


def unescaped(text: str) -> str:
    """Return a text in which the characters that YAML and JSON write by their number stand as they are."""
    return compiled(_ESCAPE).sub(_character, text)


def _all_in(text: str) -> list[Secret]:
    searches = (_private_keys, tokens_in, _logins, assigned_in)  # of two in one place the first says more
    return [Secret(*each) for search in searches for each in search(text)]


def _escaped_in(text: str) -> Iterator[Secret]:
    """Yield the secrets that hold escapes, with their spans in the text as it is written."""
    places, longer = list[int](), [0]  # where each escape is in the plain text, and how much longer all are up to it
    for match in compiled(_ESCAPE).finditer(text):
        places.append(match.start() - longer[-1])
        longer.append(longer[-1] + len(match[0]) - len(_character(match)))
    for (start, end), kind in _all_in(unescaped(text)):
        before, until = (longer[bisect_left(places, at)] for at in (start, end))
        if before < until:
            yield Secret(Span(start + before, end + until), kind)


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1] or match[2] or match[3], 16))


def _without_allowed(text: str, secrets: Iterable[Secret], allow: tuple[str, ...]) -> tuple[Secret, ...]:
    """Return secrets in the order of the text without those that are allowed; overlapping ones are merged."""
    lines = _allowing_lines(text)
    reported: list[Secret] = []
    for secret in sorted(secrets, key=lambda each: each.span.start):
        span = secret.span
        if allow and _is_allowed(span.of(text), allow):
            continue
        if lines and is_within(lines, span.start):
            continue
        if reported and span.start < reported[-1].span.end:
            last = reported[-1].span
            reported[-1] = reported[-1]._replace(span=Span(last.start, max(last.end, span.end)))
        else:
            reported.append(secret)
    return tuple(reported)


def _is_allowed(value: str, allow: Iterable[str]) -> bool:
    from taskstate.validation import linear_patterns  # few configurations allow anything

    return any(linear_patterns.matches(pattern, value) for pattern in allow)


def _allowing_lines(text: str) -> list[Span]:
    """Return the spans of the lines whose comment allows the secrets in them."""
    lines: list[Span] = []
    if any(keyword in text for keyword in _ALLOW_KEYWORDS):
        for match in compiled(_ALLOWED).finditer(text):
            floor = lines[-1].end if lines else 0  # so that many comments on one long line take linear time
            if match.start() >= floor:
                lines.append(Span(line_start(text, match.start(), floor), line_end(text, match.end())))
    return lines


def _private_keys(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the span of each private key to its end, with its kind."""
    for marker, pattern in zip(MULTILINE_MARKERS, (_BEGIN_KEY + _REST_OF_KEY, _PUTTY_KEY, _JWK), strict=True):
        if marker in text:
            for match in re.finditer(pattern, text):
                if re.fullmatch(_EMPTY_KEY, match[0]):
                    continue  # a sample without a key in it
                yield Span(*match.span(match.lastgroup or 0)), PRIVATE_KEY


def _logins(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the span of each password in an address or in a login of a command, with its kind."""
    for sign, regex, kind in _LOGINS:
        at = text.find(sign)
        while at >= 0:
            if match := compiled(regex).match(text, at):
                _, colon, password = match["login"].partition(":")
                value = password if colon else match["login"]
                if _is_login(value, is_password=bool(colon)):
                    yield Span(match.end("login") - len(value), match.end("login")), kind
            at = text.find(sign, at + len(sign))


def _is_login(value: str, *, is_password: bool) -> bool:
    """Return whether what a login names is secret: a password is, even of plain words, if digits are among them."""
    if is_random(value):
        return True
    if not is_password or len(value) < _MIN_PASSWORD:
        return False
    if value.isalpha():
        return not value.isupper() and not is_harmless(value)
    return not value.isdigit() and not is_placeholder(value)

"""Finds what looks like a credential in a text, and hides it.

Known tokens are told by their form; a value behind a name such as `password` only where it looks random. What nobody
could use is none: documented examples, placeholders, variables. Pure, and fast where there is nothing: a text is read
through with patterns that begin with one rare character each, and only what one of them meets is looked at closely.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from taskstate.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What a credential looks like. Several of one kind may stand in a text; of two that overlap the earlier one counts.
TOKENS = (
    ("an AWS access key id", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("a GitHub token", r"gh[pousr]_[A-Za-z0-9]{36}[A-Za-z0-9_]*|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("a GitLab token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{16,}"),
    ("a Google API key", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("a Stripe key", r"[rs]k_live_[A-Za-z0-9]{16,}"),
    ("an npm token", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    ("a PyPI token", r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{40,}"),
    ("an OpenAI key", r"sk-(?:[a-z]{1,16}-)?[A-Za-z0-9_-]{20,80}T3BlbkFJ[A-Za-z0-9_-]{20,}"),
    ("an Anthropic key", r"sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{32,}"),
    ("a JSON Web Token", r"eyJ[A-Za-z0-9_-]{8,255}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{16,}"),
)
PRIVATE_KEY = "a private key"
AWS_SECRET = "an AWS secret access key"  # noqa: S105 - what the finding calls it
ASSIGNED = "a password or a key"
IN_ADDRESS = "a password in an address"

_BEFORE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"  # a line end of a JSON string may stand before it
# Each of these begins with one rare character, to which the regular expression engine jumps; what stands behind it and
# just before it is looked at only there.
_GLANCES = (
    r"A(?:KIA|SIA|Iza)[A-Za-z0-9_-]{16}",
    r"_[A-Za-z0-9]{16}",
    r"J(?<=eyJ)[A-Za-z0-9_-]{8}",
    r"-[A-Za-z0-9][A-Za-z0-9_-]{9}(?<=[a-z]-.{10})[A-Za-z0-9_-]{4}",
    r"/services/T[A-Za-z0-9]+/B",
)
_BEGIN_KEY = r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_REST_OF_KEY = (
    r"(?:(?:(?!-----BEGIN)[\s\S]){0,16384}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:(?:\\[nr]|[\s>])*[A-Za-z0-9+/=]{16,})*)"
)
_LOOK_BACK = 16  # characters: how far before a glance a token may begin
_WORD = r"\S{0,2048}"  # no token has a blank in it, and none is longer
_LONGEST_NAME = 48
_VALUE = r"(?P<open>\\?[\"'])?(?P<value>[^\s\"'`<>{}$()\[\],;\\]{10,200})(?P<close>\\?[\"'])?"
_LAST = "[rRsSwWeE][dDsSeEtTnNyY]"  # how the names end that `_NAME` knows: a first look, which is cheap
_ASSIGNMENTS = tuple(
    rf"{sign}(?:(?<={_LAST}{sign})|(?<={_LAST}[\"'` ]{sign})|(?<={_LAST}\\[\"']{sign}))[ \t]*{_VALUE}" for sign in ":="
)
_NAME = r"(?i)(?:pass(?:w(?:or)?d|phrase)?|pwd|secret|token|api[_-]?key)(?:[_-]?access)?(?:[_-]?key)?\\?[\"'` ]?\Z"
_LOGIN = r"[a-z]://[^\s/:@\"'`<>]{1,64}:(?P<value>[^\s/@\"'`<>]{6,200})\Z"  # what stands before an `@`
_LONGEST_LOGIN = 300
_HARMLESS = (
    r"(?i)example|placeholder|sample|change[-_ ]?me|redacted|dummy|your[-_]|insert[-_]|my[-_]?(?:secret|token|password)"
    r"|x{4}|\*{3}|\.{3}|…|0{6}|1{6}|^sha(?:1|256|512)[:-]|^[0-9]+-[0-9a-f]{8}$"
)
_UNSAID = ("EXAMPLE", "example", "xxxx", "XXXX", "0000000", "****")
_SAMPLE_SUBJECT = b'"1234567890"'  # of the token that the documentation of JSON Web Tokens shows
_PART = "[A-Za-z0-9]+"


class Secret(NamedTuple):
    """Something that looks like a credential: where its value stands, and what it looks like."""

    span: Span
    kind: str


@lru_cache(maxsize=1)  # asked once by the rule and once by whoever shows the text's lines
def find(text: str, allow: tuple[str, ...] = ()) -> tuple[Secret, ...]:
    """Return what looks like a credential in `text`, but for values that one of the expressions in `allow` fits."""
    found = [*_private_keys(text), *_tokens(text), *_assigned(text), *_in_addresses(text)]
    kept: list[Secret] = []
    for secret in sorted(found):
        value = secret.span.of(text)
        if not any(re.search(pattern, value) for pattern in allow) and not (
            kept and secret.span.start < kept[-1].span.end
        ):
            kept.append(secret)
    return tuple(kept)


def masked(text: str, allow: tuple[str, ...] = ()) -> str:
    """Return `text` with a `*` in the place of each character of what looks like a credential, line ends aside."""
    parts, end = [], 0
    for secret in find(text, allow):
        parts += [text[end : secret.span.start], re.sub(r"[^\r\n]", "*", secret.span.of(text))]
        end = secret.span.end
    return "".join([*parts, text[end:]]) if parts else text


def unsaid(words: str, values: Iterable[str]) -> str:
    """Return what is said of a text without the secret `values` in it, where it quotes one, or one's beginning."""
    for value in values:
        for length in range(len(value), _SHORTEST_START - 1, -1):
            if value[:length] in words:
                words = words.replace(value[:length], "****")
                break
    return words


_SHORTEST_START = 6  # characters; fewer give nothing away, and `token` must not become stars


def _private_keys(text: str) -> Iterator[Secret]:
    if "PRIVATE KEY" in text:
        for match in re.finditer(_BEGIN_KEY + _REST_OF_KEY, text):
            yield Secret(Span(*match.span()), PRIVATE_KEY)


def _tokens(text: str) -> Iterator[Secret]:
    seen = 0
    for at in sorted(match.start() for glance in _GLANCES for match in _compiled(glance).finditer(text)):
        if at < seen:
            continue
        word = _compiled(_WORD).match(text, at)
        end = word.end() if word else at
        for match in _compiled(_token()).finditer(text, max(at - _LOOK_BACK, seen), end):
            kind = TOKENS[int((match.lastgroup or "_0")[1:])][0]
            if _is_meant(match[0], kind):
                yield Secret(Span(*match.span()), kind)
        seen = end  # so that each part of the text is looked at once, however many glances meet in it


@cache
def _token() -> str:
    return _BEFORE + "(?:" + "|".join(f"(?P<_{index}>{form})" for index, (_, form) in enumerate(TOKENS)) + ")"


def _is_meant(value: str, kind: str) -> bool:
    """Return whether a token is more than an example of its form."""
    if any(sign in value for sign in _UNSAID):
        return False
    return len(set(value[6:])) > _FEW and (kind != TOKENS[-1][0] or _is_web_token(value))


_FEW = 5  # different characters: what has no more is no token, and not random either


def _is_web_token(value: str) -> bool:
    """Return whether the header of a JSON Web Token names an algorithm, and it is not the one of the textbooks."""
    import binascii
    from base64 import urlsafe_b64decode

    try:
        header, payload = (urlsafe_b64decode(part + "==") for part in value.split(".")[:2])
    except (binascii.Error, ValueError):
        return False
    return b'"alg"' in header and _SAMPLE_SUBJECT not in payload


def _assigned(text: str) -> Iterator[Secret]:
    """Yield the values behind `=` or `:` that look random, where the name before it says that they are secret."""
    name = _compiled(_NAME)
    for assignment in _ASSIGNMENTS:
        for match in _compiled(assignment).finditer(text):
            if name.search(text, max(match.start() - _LONGEST_NAME, 0), match.start()):
                yield from _valued(text, match)


def _in_addresses(text: str) -> Iterator[Secret]:
    """Yield the passwords in addresses of the form `scheme://name:password@host`."""
    end = 0
    while (at := text.find("@", end)) >= 0:
        match = _compiled(_LOGIN).search(text, max(at - _LONGEST_LOGIN, end), at)
        if match and _looks_random(match["value"], quoted=True):
            yield Secret(Span(*match.span("value")), IN_ADDRESS)
        end = at + 1


def _valued(text: str, match: re.Match[str]) -> Iterator[Secret]:
    value, quoted = match["value"], bool(match["open"] and match["close"] == match["open"])
    spaced = text[match.start()] == "=" and text[match.start() + 1] in " \t"
    if _compiled(r"[A-Za-z0-9+/]{40}").fullmatch(value) and not _compiled(_HARMLESS).search(value) and _is_mixed(value):
        yield Secret(Span(*match.span("value")), AWS_SECRET)
    elif (quoted or (not spaced and not match["open"])) and _looks_random(value, quoted=quoted):
        yield Secret(Span(*match.span("value")), ASSIGNED)


def _is_mixed(value: str) -> bool:
    return bool(re.search("[a-z]", value) and re.search("[A-Z]", value) and re.search("[0-9]", value))


def _looks_random(value: str, *, quoted: bool) -> bool:
    """Return whether a value is no word and no name; an unquoted one may be code, and has to look more like it."""
    if _compiled(_HARMLESS).search(value) or _entropy(value) < (_QUOTED if quoted else _BARE):
        return False
    best = max(re.findall(_PART, value), key=len, default="")
    if not quoted:
        return len(best) >= _LONG_PART and len(re.findall("[0-9]+", best)) >= _DIGIT_RUNS
    classes = sum(bool(re.search(each, value)) for each in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9_-]"))
    mixed = any(
        re.search("[0-9]", part) and re.search("[A-Za-z]", part)
        for part in re.findall(_PART, value)
        if len(part) >= _SHORTEST_START
    )
    return mixed and (classes >= _DIGIT_RUNS or len(re.findall("[0-9]+", value)) >= _DIGIT_RUNS)


_QUOTED, _BARE = 2.8, 3.3  # bits a character
_LONG_PART, _DIGIT_RUNS = 12, 3


def _entropy(value: str) -> float:
    """Return how much a character of `value` says, in bits."""
    from math import log2

    shares = [value.count(char) / len(value) for char in set(value)]
    return -sum(share * log2(share) for share in shares)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

"""Finds what looks like a credential in a text, and hides it.

Known tokens are told by their form (`secret_forms`); a value behind a name such as `password` only where it looks
random. What nobody could use is none: documented examples, placeholders, variables; nor is what its own line allows.
Pure, and fast where there is nothing: a text is read through with patterns that begin with one rare character each, and
only what one of them meets is looked at closely.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from taskstate.syntax.spans import Span
from taskstate.validation.secret_patterns import LOOK_BACK, PREFILTERS, TOKEN_PATTERNS, WEB_TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.validation.secret_patterns import TokenPattern

PRIVATE_KEY = "a private key"
# One of these stands in a text that holds a secret of several lines, or one that another line tells of.
MULTILINE_MARKERS = ("PRIVATE KEY", "PuTTY-User-Key-File-", '"kty"')
AWS_SECRET = "an AWS secret access key"  # noqa: S105 - what the finding calls it
ASSIGNED = "a password or a key"
IN_ADDRESS = "a password in an address"
IN_HEADER = "a credential in a header"
# What the comment says by which a line allows what stands in it: ours, and what other scanners understand.
_ALLOWED = (
    r"(?:#|//|;|--|/\*)[ \t]*(?:taskstate:[ \t]*allow secret|pragma:[ \t]*(?:allow|white)list secret"
    r"|(?:gitleaks|betterleaks):allow|trufflehog:ignore|kingfisher:ignore)\b"
)
_ALLOW_SIGNS = ("allow", "whitelist secret", ":ignore")

_BEFORE = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"  # a line end of a JSON string may stand before it
_BEGIN_KEY = r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END_KEY = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_LINES = r"(?:(?:\\[nr]|[\s>])*[A-Za-z0-9+/=]{16,})*"
_REST_OF_KEY = rf"(?:(?:(?!-----BEGIN)[\s\S]){{0,16384}}?{_END_KEY}|{_KEY_LINES})"
_PUTTY = "PuTTY-User-Key-File-[0-9]:"
_PUTTY_KEY = rf"{_PUTTY}(?:(?:(?!{_PUTTY})[\s\S]){{0,16384}}?Private-Lines: [0-9]{{1,4}}{_KEY_LINES})?"
_WEB_KEY = r'"d"\s{0,8}:\s{0,8}"(?P<value>[A-Za-z0-9_-]{40,1024})"'
_WORD = r"\S{0,2048}"  # no token has a blank in it
_LONGEST = 1024  # characters of a token
_LONGEST_NAME = 48
_VALUE = r"(?P<open>\\?[\"'])?(?P<value>[^\s\"'`<>{}$()\[\],;\\]{10,200})(?P<close>\\?[\"'])?"
_LAST = "[rRsSwWeE][dDsSeEtTnNyY]"  # how the names end that `_NAME` knows: a first look, which is cheap
_ASSIGNMENTS = tuple(
    rf"{sign}(?:(?<={_LAST}{sign})|(?<={_LAST}[\"'` ]{sign})|(?<={_LAST}\\[\"']{sign}))[ \t]*{_VALUE}" for sign in ":="
)
_NAME = (
    r"(?i)(?<!public)(?<!public[_-])(?<!publickey)(?<!public_key_)(?:(?P<strong>pass(?:w(?:or)?d|phrase)?|pwd|secret|api[_-]?key)|token"
    r"|(?:access|auth|account|client|encryption|master|private|service|shared|signing|storage)[_-]?key)"
    r"(?:[_-]?access)?(?:[_-]?key)?\\?[\"'` ]?\Z"
)
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_LOGIN = r"[a-z]://[^\s/:@\"'`<>]{0,64}:(?P<value>[^\s/@\"'`<>]{6,200})\Z"  # what stands before an `@`
_LONGEST_LOGIN = 300
# What is typed as an option: `--password VALUE`, `curl -u NAME:VALUE`. With `=`, options are assignments like others.
_OPTION = (
    r"--(?:[a-z]{1,16}-){0,3}(?:pass(?:w(?:or)?d|phrase)?|secret|token|api-?key)[ \t]{1,8}"
    r"(?P<open>[\"'])?(?P<value>[^\s\"'`<>{}$()\[\],;\\]{10,200})"
)
_USER_OPTION = (
    r"(?:-u|--user|-U|--proxy-user)[ \t=]{0,8}[\"']?(?P<name>[^\s:\"'`<>{}$()-][^\s:\"'`<>{}$()]{0,63}):"
    r"(?P<value>[^\s\"'`<>{}$()\\]{6,200})"
)
_CURL = r"curl[ \t][^\r\n]{0,1000}"
_HEADER = r"B(?<=B)(?:earer (?P<token>[A-Za-z0-9._~+/-]{20,512}=*)|asic (?P<login>[A-Za-z0-9+/]{16,512}={0,2}))"
_HARMLESS = (
    r"(?i)example|placeholder|sample|change[-_ ]?me|redacted|dummy|your[-_]|insert[-_]|my[-_]?(?:secret|token|password)"
    r"|x{4}|\*{3}|\.{3}|\u2026|0{6}|1{6}|^sha(?:1|256|512)[:-]|^[0-9]+-[0-9a-f]{8}$"
)
_UNSAID = r"EXAMPLE|example|xxxx|XXXX|0000000|\*\*\*\*|(?i:placeholder|redacted|your[-_]?(?:api|key|secret|token))"
_SAMPLE_SUBJECT = b'"1234567890"'  # of the token that the documentation of JSON Web Tokens shows
_PART = "[A-Za-z0-9]+"
_NEAR = 120  # characters before and behind a token in which its line must hold the word that belongs to it


class Secret(NamedTuple):
    """Something that looks like a credential: where its value stands, and what it looks like."""

    span: Span
    kind: str


@lru_cache(maxsize=1)  # asked once by the rule and once by whoever shows the text's lines
def find(text: str, allow: tuple[str, ...] = ()) -> tuple[Secret, ...]:
    """Return what looks like a credential in `text`.

    Left out is what its own line allows in a comment, and values that one of the expressions in `allow` fits.
    """
    found = [*_private_keys(text), *_tokens(text), *_assigned(text), *_in_options(text)]
    found += [*_in_addresses(text), *_in_headers(text)]
    return _kept(text, found, allow) if found else ()


def _kept(text: str, found: Iterable[Secret], allow: tuple[str, ...]) -> tuple[Secret, ...]:
    """Return findings in their order without those that are allowed; of some that overlap one, and all they cover."""
    lines = _allowing_lines(text)
    told: list[Secret] = []
    for secret in sorted(found, key=lambda each: each.span.start):
        span = secret.span
        if any(re.search(pattern, span.of(text)) for pattern in allow) or _is_in(span.start, lines):
            continue
        if told and span.start < told[-1].span.end:
            last = told[-1].span
            told[-1] = told[-1]._replace(span=Span(last.start, max(last.end, span.end)))
        else:
            told.append(secret)
    return tuple(told)


def _allowing_lines(text: str) -> list[Span]:
    """Return the lines of which a comment says that what stands in them may stand there."""
    lines: list[Span] = []
    if any(sign in text for sign in _ALLOW_SIGNS):
        for match in _compiled(_ALLOWED).finditer(text):
            least = lines[-1].end if lines else 0
            if match.start() >= least:
                start = max(text.rfind("\n", least, match.start()), text.rfind("\r", least, match.start())) + 1
                end = _compiled(r"[\r\n]|\Z").search(text, match.end())
                lines.append(Span(max(start, least), end.start() if end else len(text)))
    return lines


def _is_in(place: int, lines: list[Span]) -> bool:
    at = bisect_right(lines, place, key=lambda line: line.start) - 1
    return at >= 0 and place < lines[at].end


def masked(text: str, allow: tuple[str, ...] = ()) -> str:
    """Return `text` with a `*` in the place of each character of what looks like a credential, line ends aside."""
    while found := find(text, allow):  # once more: a token that hung on another one is a word of its own now
        text = _covered(text, found)
    return text


def _covered(text: str, found: Iterable[Secret]) -> str:
    """Return `text` with a `*` in the place of each character of what was found in it, line ends aside."""
    parts, end = [], 0
    for secret in found:
        parts += [text[end : secret.span.start], re.sub(r"[^\r\n]", "*", secret.span.of(text))]
        end = secret.span.end
    return "".join([*parts, text[end:]])


def redact(words: str, values: Iterable[str]) -> str:
    """Return what is said of a text without the secret `values` in it, where it quotes one, or one's beginning."""
    for value in values:
        for length in range(len(value), _SHORTEST_START - 1, -1):
            if value[:length] in words:
                words = words.replace(value[:length], "****")
                break
    return words


_SHORTEST_START = 6  # characters; fewer give nothing away, and `token` must not become stars


def _private_keys(text: str) -> Iterator[Secret]:
    begun, putty, web = (sign in text for sign in MULTILINE_MARKERS)
    if begun:
        for match in re.finditer(_BEGIN_KEY + _REST_OF_KEY, text):
            yield Secret(Span(*match.span()), PRIVATE_KEY)
    if putty:
        for match in re.finditer(_PUTTY_KEY, text):
            yield Secret(Span(*match.span()), PRIVATE_KEY)
    if web:
        for match in re.finditer(_WEB_KEY, text):
            yield Secret(Span(*match.span("value")), PRIVATE_KEY)


def _tokens(text: str) -> Iterator[Secret]:
    for part, places in _noticed(text):
        tried = {id(form): form for place, char in places for form in _forms_at(text, part, place, char)}
        for form in tried.values():
            if not form.near or _is_near(text, part, form.near):
                yield from _of_form(text, form, part)


def _noticed(text: str) -> Iterator[tuple[Span, list[tuple[int, str]]]]:
    """Yield the parts of a text in which a token may stand, each with the places and characters that glances met.

    Each part of the text comes once, or twice in a word that is too long, however many glances meet in it.
    """
    hits = sorted((match.start(), _begins_with(glance)) for glance in PREFILTERS for match in _at(glance, text))
    part, places, seen = Span(0, 0), list[tuple[int, str]](), 0
    for at, char in hits:
        if at >= seen:
            if places:
                yield part, places
            word = _compiled(_WORD).match(text, at)
            end = word.end() if word else at
            part, places = Span(max(at - LOOK_BACK, seen), end), []
            seen = end if end == len(text) or text[end].isspace() else max(end - _LONGEST, at + 1)
        places.append((at, char))
    if places:
        yield part, places


def _at(glance: str, text: str) -> Iterator[re.Match[str]]:
    return _compiled(glance).finditer(text)


def _forms_at(text: str, part: Span, place: int, char: str) -> Iterator[TokenPattern]:
    """Yield the forms that a token which a glance noticed at a place may have, by their signs."""
    if char in _JOINTS:
        word = _compiled(r"(?P<escape>\\[nrt])?(?P<word>[A-Za-z0-9]*)\Z").search(
            text, max(place - _LONGEST_SIGN, part.start), place
        )
        yield from _by_end().get((word["word"] if word else "") + char, ())
    around = part.of(text)
    for sign, form in _by_char()[char]:
        if sign in around:
            yield form


_JOINTS = "_-"
_LONGEST_SIGN = 16


@cache
def _signs() -> tuple[tuple[str, TokenPattern], ...]:
    return tuple((sign, form) for form in TOKEN_PATTERNS for sign in form.signs.split())


@cache
def _by_char() -> dict[str, tuple[tuple[str, TokenPattern], ...]]:
    """Return the signs that a glance's character is in, each with its form; those that end in a joint apart."""
    apart = [each for each in _signs() if each[0][-1] not in _JOINTS or len(each[0]) == 1]
    return {char: tuple(each for each in apart if char in each[0]) for char in map(_begins_with, PREFILTERS)}


@cache
def _by_end() -> dict[str, tuple[TokenPattern, ...]]:
    """Return the forms by the last word of their signs that end in a joint."""
    forms: dict[str, list[TokenPattern]] = {}
    for sign, form in _signs():
        if sign[-1] in _JOINTS and len(sign) > 1:
            forms.setdefault(re.split("[^A-Za-z0-9]", sign[:-1])[-1] + sign[-1], []).append(form)
    return {end: tuple(each) for end, each in forms.items()}


def _begins_with(glance: str) -> str:
    return glance[1] if glance[0] == "\\" else glance[0]


def _of_form(text: str, form: TokenPattern, part: Span) -> Iterator[Secret]:
    for match in _compiled(f"{_BEFORE}(?:{form.form})").finditer(text, part.start, part.end):
        if _is_meant(match[0], form.kind):
            yield Secret(Span(*match.span()), form.kind)


def _is_near(text: str, span: Span, word: str) -> bool:
    """Return whether `word` stands in the same line as a part of a text, in any case of letters."""
    before = re.split(r"[\r\n]", text[max(span.start - _NEAR, 0) : span.start])[-1]
    behind = re.split(r"[\r\n]", text[span.end : span.end + _NEAR])[0]
    return word in f"{before}{span.of(text)}{behind}".casefold()


def _is_meant(value: str, kind: str) -> bool:
    """Return whether a token is more than an example of its form."""
    if _compiled(_UNSAID).search(value):
        return False
    return len(set(value[6:])) > _FEW and (kind != WEB_TOKEN or _is_web_token(value))


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
    for assignment in _ASSIGNMENTS:
        for match in _compiled(assignment).finditer(text):
            name = _compiled(_NAME).search(text, max(match.start() - _LONGEST_NAME, 0), match.start())
            if name and (name["strong"] or not _compiled(_UUID).fullmatch(match["value"])):
                yield from _valued(text, match)


def _in_addresses(text: str) -> Iterator[Secret]:
    """Yield the passwords in addresses of the form `scheme://name:password@host`."""
    end = 0
    while (at := text.find("@", end)) >= 0:
        match = _compiled(_LOGIN).search(text, max(at - _LONGEST_LOGIN, end), at)
        if match and _looks_random(match["value"], quoted=True):
            yield Secret(Span(*match.span("value")), IN_ADDRESS)
        end = at + 1


def _in_options(text: str) -> Iterator[Secret]:
    """Yield the values that a command line gives to options for passwords."""
    if "--" in text:
        for match in _compiled(_OPTION).finditer(text):
            if _looks_random(match["value"], quoted=True):
                yield Secret(Span(*match.span("value")), ASSIGNED)
    if "curl" in text:
        for command in _compiled(_CURL).finditer(text):
            for match in _compiled(rf"(?<=\s){_USER_OPTION}").finditer(text, *command.span()):
                if _looks_random(match["value"], quoted=True):
                    yield Secret(Span(*match.span("value")), ASSIGNED)


def _in_headers(text: str) -> Iterator[Secret]:
    """Yield the credentials that the headers of requests carry."""
    for match in _compiled(_HEADER).finditer(text):
        if _is_login(match["login"]) if match["login"] else _looks_random(match["token"], quoted=False):
            yield Secret(Span(*match.span(match.lastgroup or 0)), IN_HEADER)


def _is_login(value: str) -> bool:
    """Return whether a text is a name and a password in base64."""
    import binascii
    from base64 import b64decode

    try:
        name, colon, password = b64decode(value).decode().partition(":")
    except (binascii.Error, ValueError):
        return False
    return bool(name and colon and password.isprintable()) and not _compiled(_HARMLESS).search(password)


def _valued(text: str, match: re.Match[str]) -> Iterator[Secret]:
    quoted = bool(match["open"] and match["close"] == match["open"])
    value = match["value"] if quoted else match["value"].rstrip("|")  # the end of a table's cell
    spaced = text[match.start()] == "=" and text[match.start() + 1] in " \t"
    span = Span(match.start("value"), match.start("value") + len(value))
    if _compiled(r"[A-Za-z0-9+/]{40}").fullmatch(value) and not _compiled(_HARMLESS).search(value) and _is_mixed(value):
        yield Secret(span, AWS_SECRET)
    elif (quoted or (not spaced and not match["open"])) and _looks_random(value, quoted=quoted):
        yield Secret(span, ASSIGNED)


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

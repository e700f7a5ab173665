"""Finds what looks like a credential in a text, and masks it.

Known tokens are found by their format (`secret_patterns`); a value behind a name such as `password` only if it looks
random. Documented examples, placeholders and variables are not reported, nor what a comment on the line allows. Pure,
and fast on text without secrets: prefilters that begin with one rare character each search the text, and only around
their matches are the exact patterns tried.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache

from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, line_end, line_start
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import linear_patterns
from taskstate.validation.secret_names import assigned_values
from taskstate.validation.secret_patterns import LOOK_BACK, PREFILTERS, PREFIXED, WEB_TOKEN, token_patterns
from taskstate.validation.secret_places import places_in
from taskstate.validation.secret_values import (
    JUDGES,
    is_harmless,
    is_jumbled,
    is_login,
    is_machine_made,
    is_picked,
    looks_random,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from taskstate.validation.secret_patterns import TokenPattern

PRIVATE_KEY = "a private key"
# One of these is in every text with a secret of several lines, or with one that only another line shows to be one.
MULTILINE_MARKERS = ("PRIVATE KEY", "PuTTY-User-Key-File-", '"kty"')
AWS_SECRET = "an AWS secret access key"  # noqa: S105 - the name of a kind, not a secret
ASSIGNED = "a password or a key"
IN_ADDRESS = "a password in an address"
IN_HEADER = "a credential in a header"
# Comments with which a line allows the secrets in it: our own, and those of other scanners.
_ALLOWED = (
    r"(?:#|//|;|--|/\*)[ \t]*(?:taskstate:[ \t]*allow secret|pragma:[ \t]*(?:allow|white)list secret"
    r"|(?:gitleaks|betterleaks):allow|trufflehog:ignore|kingfisher:ignore)\b"
)
_ALLOW_KEYWORDS = ("allow", "whitelist secret", ":ignore")
_WORD_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"  # a line end of a JSON string may stand before it
_BEGIN_KEY = r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END_KEY = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_LINES = r"(?:(?:\\[nr]|[\s>])*[A-Za-z0-9+/=]{16,})*"
_REST_OF_KEY = rf"(?:(?:(?!-----BEGIN)[\s\S]){{0,16384}}?{_END_KEY}|{_KEY_LINES})"
_EMPTY_KEY = rf"{_BEGIN_KEY}(?:(?![A-Za-z0-9+/]{{16}})[^-]){{0,200}}{_END_KEY}"
_PUTTY = "PuTTY-User-Key-File-[0-9]:"
_PUTTY_KEY = rf"{_PUTTY}(?:(?:(?!{_PUTTY})[\s\S]){{0,16384}}?Private-Lines: [0-9]{{1,4}}{_KEY_LINES})?"
_JWK = r'"d"\s{0,8}:\s{0,8}"(?P<value>[A-Za-z0-9_-]{40,1024})"'
_NON_BLANKS = r"\S{0,2048}"  # no token contains a blank
_MAX_TOKEN = 1024  # characters of a token
_MAX_NAME = 48
_URL_LOGIN = (  # ends before an `@`
    r"(?:(?:[a-z]://[^\s/:@\"'`<>]{0,64}:|(?:thin:|sqlplus )[^\s/:@\"'`<>]{1,64}/)(?P<value>[^\s/\"'`<>]{6,200})"
    r"|[a-z]://(?P<token>[A-Za-z0-9_-]{20,100}):?)\Z"
)
_MAX_LOGIN = 300
_MOST_SIGNS = 4  # `@` of an address: its last one stands before the host, the others are characters of the password
_MIN_HEX = 40  # characters of a token that may be of small letters only: shorter ones before an `@` are public ids
# The address of a database that is not this machine's own: whatever its password is, somebody uses it.
_DATABASE = (
    r"(?i)(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse)(?:\+[a-z]{1,16})?\Z"
)
_DEFAULT = (
    r"(?i)(?:pass(?:w(?:or)?d)?|pwd?|secret|user(?:name)?|root|admin|guest|test(?:er|ing)?|dev|local|docker|demo|example|your|my"
    r"|the|some|db|database|app|postgres(?:ql)?|pg|mysql|maria(?:db)?|mongo(?:db)?|redis|rabbit(?:mq)?|foo|bar|baz|letmein|qwerty"
    r"|hunter|tiger|change|me|default|dummy|fake|sample|here|value|token|key|[0-9_.!-])+"
)
_HOST = r"(?i)@[a-z0-9\[]"
_CLOUDANT = r"@[\w.-]{1,200}\.cloudant\.com\b"  # such a database has no scheme of its own
_OWN_HOST = r"(?i)@(?:localhost|127\.|host(?:name)?:port\b|\[?::1|(?:[a-z0-9-]+\.)*(?:example|invalid|test)\b)"
# Each begins with one character, to which the engine jumps. Of 40 or 64 hexadecimal digits are digests and commits.
_OPAQUE = (
    *(rf"{quote}(?P<value>(?![0-9a-f]{{40}})[A-Za-z0-9_.+/-]{{20,120}}={{0,2}}){quote}" for quote in "\"'`"),
    *(rf"{sign}[ \t]?(?P<value>(?![0-9a-f]{{40}})[A-Za-z0-9_-]{{20,120}})(?![\w.(:/@+=-])" for sign in "=:"),
)
_HEADER = r"B(?<=B)(?:earer (?P<token>[A-Za-z0-9._~+/-]{20,512}=*)|asic (?P<login>[A-Za-z0-9+/]{16,512}={0,2}))"
_EXAMPLE = (
    r"EXAMPLE|[eE]xample(?![A-Za-z0-9_-]{40})|xxxx|XXXX|0000000|\*\*\*\*|Here$|HERE$|(?:1234567890){3}|abcdefghijklmnop"
    r"|AAECAwQFBgcI|([0-9a-f])\1{8}"  # bytes that count up, in base64; one digit again and again
    r"|Eby8vdM02xNOcqF|C2y6yDjf5/R\+ob0"  # of Azure's emulators
    r"|(?i:placeholder|redacted|your[-_]?(?:api|key|secret|token))"
)
_CUT_OR_MASKED = r"\.\.\.|\u2026|[*#]{3}"  # stands behind a value of which only the beginning is shown
_SAMPLE_SUBJECT = b'"1234567890"'  # of the sample token in the documentation of JSON Web Tokens
_SAMPLE_SIGNATURES = ("SflKxwRJSMeKKF2QT4fwpM", "TJVA95OrM7E2cBab30RMHr", "XbPfbIHMI6arZ3Y922BhjW")
_LINE_REACH = 120  # characters before and behind a token in which its line must hold the `nearby` word


class Secret(NamedTuple):
    """Something that looks like a credential: the span of its value, and the kind of credential."""

    span: Span
    kind: str


@lru_cache(maxsize=1)  # the lint rule and the report of its lines search the same text in turn
def find(text: str, allow: tuple[str, ...] = ()) -> tuple[Secret, ...]:
    """Return all that looks like a credential in `text`, in its order and without overlaps.

    Left out is what a comment on the same line allows, and values in which a regular expression of `allow` matches.
    """
    secrets = [*_private_keys(text), *_tokens(text), *_in_urls(text), *_in_headers(text)]
    secrets += [*_in_places(text), *_assigned(text), *_of_services(text)]  # of two in one place the first says more
    return _without_allowed(text, secrets, allow) if secrets else ()


def _without_allowed(text: str, secrets: Iterable[Secret], allow: tuple[str, ...]) -> tuple[Secret, ...]:
    """Return secrets in the order of the text without those that are allowed; overlapping ones are merged."""
    lines = _allowing_lines(text)
    reported: list[Secret] = []
    for secret in sorted(secrets, key=lambda each: each.span.start):
        span = secret.span
        if allow and any(linear_patterns.matches(pattern, span.of(text)) for pattern in allow):
            continue
        if lines and _is_in(span.start, lines):
            continue
        if reported and span.start < reported[-1].span.end:
            last = reported[-1].span
            reported[-1] = reported[-1]._replace(span=Span(last.start, max(last.end, span.end)))
        else:
            reported.append(secret)
    return tuple(reported)


def _allowing_lines(text: str) -> list[Span]:
    """Return the spans of the lines whose comment allows the secrets in them."""
    lines: list[Span] = []
    if any(keyword in text for keyword in _ALLOW_KEYWORDS):
        for match in compiled(_ALLOWED).finditer(text):
            floor = lines[-1].end if lines else 0  # so that many comments on one long line take linear time
            if match.start() >= floor:
                lines.append(Span(line_start(text, match.start(), floor), line_end(text, match.end())))
    return lines


def _is_in(offset: int, lines: list[Span]) -> bool:
    index = bisect_right(lines, offset, key=lambda line: line.start) - 1
    return index >= 0 and offset < lines[index].end


def masked(text: str, allow: tuple[str, ...] = ()) -> str:
    """Return `text` with each character of what looks like a credential replaced by `*`, except line ends."""
    while secrets := find(text, allow):  # again: a token right behind another one only now stands by itself
        text = _replaced_by_stars(text, secrets)
    return text


def _replaced_by_stars(text: str, secrets: Iterable[Secret]) -> str:
    """Return `text` with each character of `secrets` replaced by `*`, except line ends."""
    parts, end = [], 0
    for secret in secrets:
        value = secret.span.of(text)
        has_lines = "\n" in value or "\r" in value
        parts += [text[end : secret.span.start], re.sub(r"[^\r\n]", "*", value) if has_lines else "*" * len(value)]
        end = secret.span.end
    return "".join([*parts, text[end:]])


def redactor(values: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces the secret `values` in a message by stars, also where it quotes a beginning."""
    ordered = sorted({value for value in values if len(value) >= _MIN_PREFIX})
    beginnings = {value[:_MIN_PREFIX] for value in ordered}

    def redact(message: str) -> str:
        parts, done, at = list[str](), 0, 0
        while at + _MIN_PREFIX <= len(message):
            if message[at : at + _MIN_PREFIX] in beginnings:
                parts += [message[done:at], "****"]
                at = done = at + _quoted_length(message[at:], ordered)
            else:
                at += 1
        return "".join([*parts, message[done:]])

    return redact if ordered else lambda message: message


def _quoted_length(text: str, ordered: Sequence[str]) -> int:
    """Return how much of the beginning of `text` is the beginning of one of the sorted values."""
    index = bisect_right(ordered, text)
    return max(_common_length(text, value) for value in ordered[max(index - 1, 0) : index + 1])


def _common_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (char, against) in pairs if char != against), min(len(one), len(other)))


_MIN_PREFIX = 6  # characters; fewer reveal nothing, and a word such as `token` must not become stars


def _private_keys(text: str) -> Iterator[Secret]:
    for marker, pattern in zip(MULTILINE_MARKERS, (_BEGIN_KEY + _REST_OF_KEY, _PUTTY_KEY, _JWK), strict=True):
        if marker in text:
            for match in re.finditer(pattern, text):
                if re.fullmatch(_EMPTY_KEY, match[0]):
                    continue  # a sample without a key in it
                yield Secret(Span(*match.span(match.lastgroup or 0)), PRIVATE_KEY)


def _tokens(text: str) -> Iterator[Secret]:
    for part, hits in _candidates(text):
        patterns = {id(row): row for at, char in hits for row in _patterns_at(text, part, at, char)}
        line = ""
        for pattern in sorted(patterns.values(), key=lambda row: row.kind == PREFIXED):
            if not pattern.nearby or pattern.nearby in (line := line or _line_around(text, part)):
                yield from _matches(text, pattern, part)


def _candidates(text: str) -> Iterator[tuple[Span, list[tuple[int, str]]]]:
    """Yield the parts of a text that may hold a token, each with the offsets and first characters of prefilter matches.

    However many prefilters match in it, each part is yielded once, or twice in a word that is longer than any token:
    otherwise a text of repeated prefixes would take quadratic time.
    """
    # Most texts are short and lack most of these characters: compiling a pattern takes longer than searching them.
    possible = [(each, char) for each in PREFILTERS if (char := _first_char(each)) in text]
    matches = sorted((match.start(), char) for each, char in possible for match in compiled(each).finditer(text))
    part, hits, covered = Span(0, 0), list[tuple[int, str]](), 0
    for at, char in matches:
        if at >= covered:
            if hits:
                yield part, hits
            word = compiled(_NON_BLANKS).match(text, at)
            end = word.end() if word else at
            part, hits = Span(max(at - LOOK_BACK, covered), end), []
            covered = end if end == len(text) or text[end].isspace() else max(end - _MAX_TOKEN, at + 1)
        hits.append((at, char))
    if hits:
        yield part, hits


def _patterns_at(text: str, part: Span, at: int, char: str) -> Iterator[TokenPattern]:
    """Yield the patterns whose keywords occur around a prefilter match at `at` that begins with `char`."""
    if char in _JOINTS:
        word = compiled(r"(?P<escape>\\[nrt])?(?P<word>[A-Za-z0-9]*)\Z").search(
            text, max(at - _MAX_KEYWORD, part.start), at
        )
        yield from _by_joint().get((word["word"] if word else "") + char, ())
    part_text = part.of(text)
    for keyword, pattern in _by_prefilter_char()[char]:
        if keyword in part_text:
            yield pattern


_JOINTS = "_-"
_MAX_KEYWORD = 16


@cache
def _keywords() -> tuple[tuple[str, TokenPattern], ...]:
    return tuple((keyword, pattern) for pattern in token_patterns() for keyword in pattern.keywords.split())


@cache
def _by_prefilter_char() -> dict[str, tuple[tuple[str, TokenPattern], ...]]:
    """Return the keywords by the first character of a prefilter, without those that `_by_joint` holds."""
    keywords = [each for each in _keywords() if each[0][-1] not in _JOINTS or len(each[0]) == 1]
    return {char: tuple(each for each in keywords if char in each[0]) for char in map(_first_char, PREFILTERS)}


@cache
def _by_joint() -> dict[str, tuple[TokenPattern, ...]]:
    """Return the patterns by the last word of their keyword with its joint: `pat_` of `github_pat_`."""
    patterns: dict[str, list[TokenPattern]] = {}
    for keyword, pattern in _keywords():
        if keyword[-1] in _JOINTS and len(keyword) > 1:
            patterns.setdefault(re.split("[^A-Za-z0-9]", keyword[:-1])[-1] + keyword[-1], []).append(pattern)
    return {end: tuple(each) for end, each in patterns.items()}


def _first_char(prefilter: str) -> str:
    return prefilter[1] if prefilter[0] == "\\" else prefilter[0]


def _matches(text: str, pattern: TokenPattern, part: Span) -> Iterator[Secret]:
    for match in compiled(f"{_WORD_START}(?:{pattern.regex})").finditer(text, part.start, part.end):
        if _is_real(match[0], pattern.kind) and not compiled(_CUT_OR_MASKED).match(text, match.end()):
            yield Secret(Span(*match.span()), pattern.kind)


def _line_around(text: str, span: Span) -> str:
    """Return what is near `span` in its line, in lower case."""
    before = re.split(r"[\r\n]", text[max(span.start - _LINE_REACH, 0) : span.start])[-1]
    behind = re.split(r"[\r\n]", text[span.end : span.end + _LINE_REACH])[0]
    return f"{before}{span.of(text)}{behind}".casefold()


def _is_real(value: str, kind: str) -> bool:
    """Return whether a token is not just an example of its format."""
    if compiled(_EXAMPLE).search(value):
        return False
    if kind == PREFIXED and not is_machine_made(value):
        return False
    return len(set(value[6:])) > _FEW_DISTINCT and (kind != WEB_TOKEN or _is_web_token(value))


_FEW_DISTINCT = 5  # different characters; a real token has more


def _is_web_token(value: str) -> bool:
    """Return whether the header of a JSON Web Token names an algorithm, and it is not the documentation's sample."""
    import binascii
    from base64 import urlsafe_b64decode

    try:
        header, payload = (urlsafe_b64decode(part + "==") for part in value.split(".")[:2])
    except (binascii.Error, ValueError):
        return False
    is_sample = _SAMPLE_SUBJECT in payload and value.rpartition(".")[2].startswith(_SAMPLE_SIGNATURES)
    return b'"alg"' in header and not is_sample


def _assigned(text: str) -> Iterator[Secret]:
    """Yield the random-looking values behind a name such as `password`."""
    for span, of_aws in assigned_values(text):
        yield Secret(span, AWS_SECRET if of_aws else ASSIGNED)


def _in_urls(text: str) -> Iterator[Secret]:
    """Yield the passwords in URLs of the form `scheme://name:password@host`."""
    floors = [0] * _MOST_SIGNS
    while (at := text.find("@", floors[-1])) >= 0:
        match = compiled(_URL_LOGIN).search(text, max(at - _MAX_LOGIN, floors[0]), at)
        if match and _is_login(text, match, at):
            yield Secret(Span(*match.span(match.lastgroup or 0)), IN_ADDRESS)
        floors = [*floors[1:], at + 1]


def _is_login(text: str, match: re.Match[str], at: int) -> bool:
    """Return whether what stands before the host of a URL is secret: a password, or a token instead of a name."""
    if token := match["token"]:
        return is_jumbled(token) or (len(token) >= _MIN_HEX and is_machine_made(token))
    return looks_random(match["value"], quoted=True) or is_picked(match["value"]) or _opens_database(text, match, at)


def _opens_database(text: str, match: re.Match[str], at: int) -> bool:
    """Return whether an address is that of a database elsewhere, with a password that is no variable or example."""
    scheme = compiled(_DATABASE).search(text, max(match.start() - _MAX_NAME, 0), match.start() + 1)
    value = match["value"]
    return (
        (scheme is not None or compiled(_CLOUDANT).match(text, at) is not None)
        and not value.isupper()
        and not compiled(r"[$%{}*()\\<>]").search(value)
        and compiled(_HOST).match(text, at) is not None
        and not is_harmless(value)
        and (not compiled(_OWN_HOST).match(text, at) or _is_own(value, match))
    )


def _is_own(value: str, match: re.Match[str]) -> bool:
    """Return whether a password of this machine's database is one of its own, and none that every example has."""
    return (
        len(value) > _MIN_PREFIX
        and compiled(_DEFAULT).fullmatch(value) is None
        and f"/{value}:" not in match[0]  # the user's name once more
    )


def _in_headers(text: str) -> Iterator[Secret]:
    """Yield the credentials in HTTP headers: `Bearer …` and `Basic …`."""
    if "Bearer " not in text and "Basic " not in text:
        return
    for match in compiled(_HEADER).finditer(text):
        if is_login(match["login"]) if match["login"] else _is_bearer(match["token"]):
            yield Secret(Span(*match.span(match.lastgroup or 0)), IN_HEADER)


def _is_bearer(token: str) -> bool:
    """Return whether the token in a header looks random, and is not the sample of a documentation."""
    return looks_random(token, quoted=True) and (not token.startswith("eyJ") or _is_web_token(token))


def _of_services(text: str) -> Iterator[Secret]:
    """Yield the long tokens in quotes, or behind a sign, whose line names the service or the key that they are of."""
    for pattern in _OPAQUE:
        for match in compiled(pattern).finditer(text):
            if not any(map(str.isdigit, match["value"])):
                continue
            from taskstate.validation.secret_services import is_of_service  # few texts have such a token

            if is_of_service(text, *match.span("value"), quoted=pattern[0] not in "=:"):
                yield Secret(Span(*match.span("value")), ASSIGNED)


def _in_places(text: str) -> Iterator[Secret]:
    """Yield what stands in one of the `PLACES` and is judged to be a credential."""
    for place, part in places_in(text):
        for match in compiled(place.regex).finditer(text, *part):
            if JUDGES[place.judged](match["value"]):
                yield Secret(Span(*match.span("value")), place.kind)

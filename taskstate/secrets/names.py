"""Finds the values behind names such as `password`, `api_key` or `VENDOR_TOKEN`, whatever joins the two.

Where one of a few words occurs in a line, one pattern is tried: the rest of the name, what joins it with its value (an
equals sign, a colon, a tag, an argument's comma, a blank …), and the value. The name is then judged by its parts, and
the value by what the name promises: a bare word behind `token =` may be code, a quoted one is not.
"""

from __future__ import annotations

import re

from taskstate.secrets.values import (
    is_harmless,
    is_login,
    is_mixed,
    is_odd,
    is_picked,
    is_random,
    is_shuffled,
    is_uuid,
    is_web_token,
    looks_random,
)
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.credential_signs import NAMES, lowered

if TYPE_CHECKING:
    from collections.abc import Iterator

ASSIGNED, IN_HEADER = "a password or a key", "a credential in a header"
_OF_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
# Behind such a word: the rest of the name, the end of quotes around it, a type or `value`, signs, the value. Whether
# these signs join anything is seen later: a pattern that knows them takes three times as long to compile. A bare value
# is short, since many may overlap.
_BEHIND = (
    r"(?P<name>[A-Za-z0-9_.-]{0,32}+)(?P<close>[\\\"'`\])*]{0,8})"
    r"(?:[, \t:]{1,4}[\\\"']{0,2}(?:[Vv]alue|[Ss]tring|str|is|or)[\\\"']{0,2}(?=[ \t:=]))?"
    r"(?P<joint>[ \t:?+|!~.=>,(*-]{1,24}+)"
    r"(?:[bfru@]?(?P<quote>\\{0,3}[\"'`]) ?(?P<quoted>[^\s\"'`\\]{6,2048}) ?(?P=quote)"
    r"|(?P<bare>[^\s\"'`<>{}()\[\],;\\|]{6,400}+)(?![({\[]))"
)
_MAX_BEFORE = 48  # characters of a name before its word
_HEX = "[0-9a-f]{32,64}"
_DIGITS = 2  # of a number behind a name
_PARTS = "[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
# What may stand behind the word that tells what a name is for.
_NEUTRAL_NAMES = """
access auth value text string str base64 b64 hex raw plain prod production staging stage dev test live qa uat sandbox
local base admin root user master main default primary secondary new old v b
"""
# Names whose keys and tokens are no secrets: of databases, caches, parsers, pages, what is public.
_HARMLESS_NAMES = """
public pub publishable primary foreign cache caching sort partition row idempotency dedup dedupe object unique index
hash map group lookup query route translation i18n label message hot shortcut arrow shift ctrl meta search data json
s3 file asset state store event job task lock resource entity item record known gpg pgp content registry parent child
node edge tree block property field column setting feature flag issue thread cursor snapshot build bucket image upload
download document page pagination scroll next nextpage prev previous sync end start eos bos pad special stop unk mask
max min num id selector dict reverse range version commit checksum digest under over by continue continuation cancel
cancellation csrf xsrf hashed host measurement site hint reset policy
"""
# Before `key`: what makes it the key of somebody's account or of a cipher, and not of a table or a dictionary.
_ACCOUNTS = """
api access account app application client consumer cookie deploy encryption fernet hmac integration jwt license master
private priv secret service session shared signing ssh storage webhook unseal security admin token user subscription
server rest write read ingest personal auth
"""
_NEUTRAL, _HARMLESS = frozenset(_NEUTRAL_NAMES.split()), frozenset(_HARMLESS_NAMES.split())
_QUALIFIED = tuple(_ACCOUNTS.split())
_ENDINGS = {
    "password": ("password", "passwd", "passphrase", "passwort", "passcode", "pwd", "pass", "pw"),
    "secret": ("secret", "credential", "credentials", "cred", "creds"),
    "token": ("token", "bearer", "authorization", "pat"),
    "key": ("key",),
}
_APART = ("", ",", "(", "|", "-")  # what joins two arguments or words, which need not be a name and its value
_HEADERS = ("bearer", "basic", "authorization")
_NO_PASSWORDS = ("bypass", "compass", "trespass", "surpass", "overpass", "underpass")
_NO_PASSWORD = {"public", "max", "min", "num", "hint", "reset", "hash", "hashed", "id"}  # before the word
_REQUESTS = ("session", "request", "trace", "device", "push", "invite", "correlation")


class _Found(NamedTuple):
    """A value behind a name: the name, the word before it, what joins it with the value, and whether that is quoted."""

    name: str
    word_before: str
    joint: str
    value: str
    is_quoted: bool

    @property
    def is_set(self) -> bool:
        """Whether an option or a variable is set without a sign: `--password X`, `ENV PASSWORD X`."""
        return self.name.startswith("-") or self.word_before in {"ENV", "setx"}


def assigned_in(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the span of each value that its name and its form show to be secret, with its kind."""
    tried = -1
    for at in _places_of_words(text):
        match = compiled(_BEHIND).match(text, at)
        group = "quoted" if match and match["quote"] else "bare"
        if match is None or match.start(group) <= tried:
            continue
        if group == "bare" and not compiled("[0-9]").search(match[group]):
            continue  # most are words of a sentence
        tried = match.start(group)
        start = _start_of_name(text, at)
        name = text[start : match.end("name")]
        value = match[group] if group == "quoted" else match[group].rstrip(".:*")
        if group == "bare" and text[start - 1 : start] in {"?", "&"}:
            value = value.partition("&")[0]
        found = _Found(name, _word_before(text, start), match["joint"].strip(" \t*"), value, group == "quoted")
        if _is_secret(found, purpose(f"{found.word_before} {name}")):
            is_header = name.lower().endswith(_HEADERS)
            yield Span(tried, tried + len(value)), IN_HEADER if is_header else ASSIGNED


def _places_of_words(text: str) -> list[int]:
    """Return where one of the words stands that may be of a name, in any case."""
    in_lower_case = lowered(text)
    places = list[int]()
    for word in NAMES:
        at = in_lower_case.find(word)
        while at >= 0:
            places.append(at)
            at = in_lower_case.find(word, at + len(word))
    return sorted(places)


def _start_of_name(text: str, at: int) -> int:
    around = text[max(at - _MAX_BEFORE, 0) : at]
    return at - len(around) + len(around.rstrip(_OF_NAMES))


def _word_before(text: str, start: int) -> str:
    """Return the word that one blank divides from a name: `secret` of `secret key`."""
    if text[start - 1 : start] != " ":
        return ""
    around = text[max(start - _MAX_BEFORE, 0) : start - 1]
    return around[len(around.rstrip(_OF_NAMES)) :]


def purpose(name: str) -> str:
    """Return what a name is for: `password`, `secret`, `token`, `key`, `name` (some other key), `login`, or nothing."""
    parts = [part.lower() for part in re.findall(_PARTS, name)]
    if parts[-2:] == ["secret", "id"]:
        return "secret"
    if parts and parts[-1].endswith(("auth", "basic")):
        return "login"
    while parts and (parts[-1] in _NEUTRAL or (parts[-1].isdigit() and len(parts[-1]) <= _DIGITS)):
        parts.pop()
    word, before = (parts or [""])[-1], [part for part in parts[:-1] if part not in {"api", "key"}][-1:]
    for meaning, endings in _ENDINGS.items():
        if word.endswith(endings) and not word.endswith(_NO_PASSWORDS):
            stem = next(word.removesuffix(each) for each in endings if word.endswith(each))
            qualifier = stem or "".join(before)
            if qualifier in (_NO_PASSWORD if meaning == "password" else _HARMLESS):
                return ""
            if meaning != "key" or (stem or "".join(parts[-2:-1])).endswith(_QUALIFIED):
                return meaning
            return "" if stem else "name"
    return ""


def _is_secret(found: _Found, meaning: str) -> bool:
    """Return whether a value is what its name promises, and no placeholder, variable or code."""
    value = found.value
    if not meaning or is_harmless(value) or (found.joint in {"(", ","} and not found.is_quoted):
        return False
    if meaning == "login":
        return is_login(value) or compiled(_HEX).fullmatch(value) is not None
    if value.startswith("eyJ") and "." in value:
        return is_web_token(value)
    if is_uuid(value):
        return found.joint[-1:] in {":", "=", ">"} and not any(each in found.name.lower() for each in _REQUESTS)
    if meaning == "password":
        return _is_password(found)
    is_header = found.name.lower().endswith(_HEADERS)
    is_apart = found.joint in _APART and not (found.is_set or is_header)
    if is_random(value):
        is_told = not is_apart or found.is_quoted or value.isalnum()
        return is_told and (meaning != "name" or len(found.name) > len("key") or is_mixed(value))
    return meaning != "name" and not is_apart and looks_random(value, is_quoted=found.is_quoted or is_header)


def _is_password(found: _Found) -> bool:
    """Return whether a value is a password, by how it stands there: an argument must be more than a word."""
    value = found.value
    if is_random(value) or (is_shuffled(value) and not value.isalpha()):
        return True
    if found.joint in _APART and not found.is_set:
        return found.is_quoted and found.name.lower() != "pass" and is_odd(value)
    if found.is_quoted:
        return looks_random(value, is_quoted=True) or is_picked(value)
    return is_odd(value)

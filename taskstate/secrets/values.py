"""Judges a value that stands where a credential does: random, picked by somebody, or no more than an example. Pure."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from taskstate.syntax.patterns import compiled

_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
# Of an example or a placeholder, in lower case. Words and not a pattern, since compiling one of so many takes longer
# than searching for each.
_PLACEHOLDERS = """
example placeholder sample redacted dummy changeme change-me change_me changethis replaceme replace-me replace_me
your- your_ yourpassword yoursecret yourtoken yourkey insert- insert_ -here _here goeshere keyhere tokenhere
passwordhere somesecret some-secret some_secret somepass sometoken somekey mysecret my-secret my_secret mypassword
my-password my_password mytoken my-token my_token abcdefghijklm 0123456789abcdef django-insecure fake- fake_ mock-
mock_ eby8vdm02x username xxxx **** ... \u2026 000000 111111 #### .* |min |max quickstart the- notasecret not-a-
not_a_ dontuse
"""
# How a value begins that is encrypted or hashed already, is filled in elsewhere, or names an algorithm.
_BEGINNINGS = """
argon2 bcrypt scrypt pbkdf2 md4 md5 sha0 sha1 sha2 sha3 sha5 aes rsa ed25519 base32 base64enc base64dec base64url utf8
utf- oauth2 pkcs hs2 hs3 hs5 x509 enc( enc[ u2fsdgvkx1 scram- pbe vault:v $2a$ $2b$ $2y$ $argon2 $pbkdf2 $apr1$ $y$ $1$
$5$ $6$ $7$ { < [ ( #{ http:// https:// file:/ arn: op:// vault: secrets. process. env. self. this. config. os. var.
data. random_ aws_ssm % ${ $(
"""
# Words of which a password or a name is made that says nothing.
_PLAIN = """
password passwd passphrase pass pwd pw secret token key user username name root admin guest test tester testing dev
local demo example my your the some new old wrong bad fake dummy invalid default change me foo bar baz qwerty letmein
welcome login value string none null true false required optional hidden prompt empty db database postgres postgresql
pg mysql mariadb mongodb mongo redis rabbit rabbitmq docker app hunter tiger abc xyz here api auth anonymous
"""
# Of formats: the samples of documentation, what counts up, one digit again and again.
_EXAMPLE = (
    r"EXAMPLE|[eE]xample(?![A-Za-z0-9_-]{40})|xxxx|XXXX|0000000|\*{3}|Here$|HERE$|1234567890123456|abcdefghijklmnop"
    r"|AAECAwQFBgcI|Eby8vdM02xNOcqF|([0-9a-f])\1{8}|(?i:placeholder|redacted|your[-_]?(?:api|key|secret|token))"
)
_CODE = r"[(){}<>|\[\]]|/[^/\n]*\.|\./"  # or a path
_MIXED = r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{6}"  # a run with letters and digits
_PICKED = r"[A-Za-z0-9!@#$%^&*?+~=]{6,64}|(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9!@#$%^&*?+~=._-]{8,64}"
_VARIABLE = r"\$(?:[A-Z_][A-Z0-9_]*|[a-z][A-Za-z_.>-]*)|[0-9]+-[0-9a-f]{8}"  # or a revision of a file
_NAME = r"[A-Za-z]+(?:[._-][A-Za-z]+)*[._-]?[0-9]*"  # as variables, functions and files are called
_LENGTH_OF_UUID = 36
_OF_VARIABLES = "$0123456789"  # how one begins: compiling the pattern takes longer than all else here
_MIN_RANDOM, _MIN_TOKEN, _MIN_PICKED, _MIN_RUN = 16, 10, 6, 12  # characters
_DISTINCT, _DISTINCT_BARE = 8, 11  # characters
_CLASSES, _DIGIT_RUNS = 3, 3
_SAMPLE_SUBJECT = b'"1234567890"'  # of the sample tokens in the documentation of JSON Web Tokens
_SAMPLE_SIGNATURES = ("SflKxwRJSMeKKF2QT4fwpM", "TJVA95OrM7E2cBab30RMHr", "XbPfbIHMI6arZ3Y922BhjW")


def is_example(value: str) -> bool:
    """Return whether a token is the example of its format, as documentation has them."""
    return compiled(_EXAMPLE).search(value) is not None


def is_harmless(value: str) -> bool:
    """Return whether a value is a placeholder, or made of plain words and numbers only."""
    return is_placeholder(value) or _is_plain(value.lower())


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder, an example, encrypted, filled in elsewhere, or the name of something."""
    lowered = value.lower()
    if lowered.startswith(_beginnings()) or any(word in lowered for word in _placeholders()):
        return True
    if ("{" in value and "}" in value) or ("<" in value and ">" in value):
        return True
    return value[:1] in _OF_VARIABLES and compiled(_VARIABLE).fullmatch(value) is not None


@cache
def _beginnings() -> tuple[str, ...]:
    return tuple(_BEGINNINGS.split())


@cache
def _placeholders() -> tuple[str, ...]:
    return tuple(_PLACEHOLDERS.split())


def _is_plain(lowered: str) -> bool:
    """Return whether a value is made of plain words and numbers only."""
    if not lowered.isascii():
        return False
    letters = "".join(char if char.isalpha() else " " for char in lowered)
    for word in _plain_words():
        letters = letters.replace(word, " ")
    return not letters.strip()


@cache
def _plain_words() -> tuple[str, ...]:
    return tuple(sorted(_PLAIN.split(), key=len, reverse=True))


def is_random(value: str) -> bool:
    """Return whether nobody would write a value by hand: long, with digits, and with hardly any words in it."""
    if len(value) < _MIN_RANDOM or is_harmless(value) or is_uuid(value):
        return False
    if not (compiled("[0-9]").search(value) and compiled("[A-Za-z]").search(value)) or compiled(_CODE).search(value):
        return False
    least = _DISTINCT if value.isalnum() and not is_mixed(value) else _DISTINCT_BARE
    run = max(re.findall("[A-Za-z0-9]+", value), key=len)
    is_wordy = _letters_of_words(value) * 2 >= len(value) and len(re.findall("[0-9]+", run)) <= _DIGIT_RUNS
    return not is_wordy and len(set(value)) >= least


def looks_random(value: str, *, is_quoted: bool) -> bool:
    """Return whether a shorter value looks random; an unquoted one may be code, so more is demanded of it."""
    if len(value) < _MIN_TOKEN or len(set(value)) < (_DISTINCT if is_quoted else _DISTINCT_BARE) or is_harmless(value):
        return False
    if not is_quoted:
        value = max(re.findall("[A-Za-z0-9]+", value), key=len, default="")
        return len(value) >= _MIN_RUN and len(re.findall("[0-9]+", value)) >= _DIGIT_RUNS
    if is_uuid(value) or not compiled(_MIXED).search(value):
        return False
    classes = sum(re.search(each, value) is not None for each in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9_-]"))
    return classes >= _CLASSES or len(re.findall("[0-9]+", value)) >= _DIGIT_RUNS


def is_picked(value: str) -> bool:
    """Return whether a value is a password as people choose them: of letters, and of digits or signs."""
    if len(value) < _MIN_PICKED or is_harmless(value) or not compiled("[A-Za-z]").search(value):
        return False
    return is_shuffled(value) or (
        compiled(_PICKED).fullmatch(value) is not None
        and compiled("[0-9]|[A-Za-z][!@#$%^&*+]").search(value) is not None
    )


def is_odd(value: str) -> bool:
    """Return whether a picked value can be no name of a variable or a function, and no address."""
    if not is_picked(value) or "/" in value or ("@" in value and "." in value):
        return False
    return compiled(_NAME).fullmatch(value) is None and compiled("[0-9]").search(value) is not None


def is_shuffled(value: str) -> bool:
    """Return whether the case of letters changes more often than in names, such as in `qyOIhJiM`."""
    changes = sum(one.isupper() != other.isupper() for one, other in pairwise(value))
    return changes * 3 >= len(value) and value.isalnum()


def is_uuid(value: str) -> bool:
    """Return whether a value is a UUID, which mostly names something."""
    return len(value) == _LENGTH_OF_UUID and compiled(_UUID).fullmatch(value) is not None


def is_web_token(value: str) -> bool:
    """Return whether the header of a JSON Web Token names an algorithm, and it is not the documentation's sample."""
    header, payload = (_decoded(part) for part in value.replace("-", "+").replace("_", "/").split(".")[:2])
    is_sample = _SAMPLE_SUBJECT in payload and value.rpartition(".")[2].startswith(_SAMPLE_SIGNATURES)
    return b'"alg"' in header and not is_sample


def is_login(value: str) -> bool:
    """Return whether a string is the base64 form of `name:password`."""
    name, colon, password = _decoded(value).decode("latin-1").partition(":")
    is_long = len(name) + len(password) >= _MIN_PICKED
    return bool(name and colon and is_long and name.isprintable()) and not is_harmless(password)


def _decoded(value: str) -> bytes:
    import binascii
    from base64 import b64decode

    try:
        return b64decode(value + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        return b""


def is_mixed(value: str) -> bool:
    """Return whether a value has letters of both cases."""
    return value not in {value.lower(), value.upper()}


def _letters_of_words(value: str) -> int:
    """Return how many letters of a value are in pieces that may be words: those with enough vowels."""
    pieces = re.findall("[A-Z]?[a-z]{3,}|[A-Z]{5,}", value)
    return sum(len(piece) for piece in pieces if len(re.findall("(?i)[aeiouy]", piece)) * 5 >= len(piece))

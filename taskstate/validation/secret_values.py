"""Judges a value that stands where a credential does: whether it looks random, chosen, or like a placeholder. Pure."""

from __future__ import annotations

import re
from itertools import pairwise
from math import log2

from taskstate.syntax.patterns import compiled
from taskstate.validation.secret_places import (
    ANY_TEXT,
    CHOSEN,
    FIXED,
    GIVEN,
    KEY_TEXT,
    LOGIN,
    RANDOM,
    TOKEN,
    TOLD,
    UNBALANCED,
)

_MIN_BYTES = 6  # of a decoded value
# Words and forms of values that are no secrets, in lower case: an engine that need not look at the case is faster.
_HARMLESS = (
    r"example|placeholder|sample|(?:change|replace)[-_ ]?(?:me|this)|(?:goes|token|key|password)[-_]?here|redacted"
    r"|dummy|your[-_]|insert[-_]|some[-_]?(?:secret|pass|token|key)|my(?<![a-z]my)[-_]?(?:secret|token|password)[0-9]*$|(?:public|private|access|api|auth)[-_]?(?:key|token)s?$"
    r"|[|](?:min|max)|here$|username|\#{4}|\.\*|abcdefghijklm"
    r"|(?:^|[-_])(?:fake|mock|quickstart)[-_]"
    r"|x{4}|\*{3}|\.{3}|\u2026|0{6}|1{6}"
)
# How such values begin: searching for that at each character would take longer.
_HARMLESS_BEGINNING = (
    r"(?:argon2|bcrypt|scrypt|pbkdf2|md[45]|sha[0-9]|aes|rsa|ed25519|base(?:32|64)|utf-?8|oauth2|pkcs|hs256|x509)"
    r"|0123456789abcdef|django-insecure|eby8vdm02x|%\w+%$|[0-9]+-[0-9a-f]{8}$"
)
# What is encrypted or hashed already, and names of algorithms.
_ENCRYPTED = (
    r"ENC\(|U2FsdGVkX1|SCRAM-|PBE|HS[0-9]|vault:v[0-9]|\$(?:2[aby]|argon2|pbkdf2|apr1|y|[1567])\$|\{[A-Z0-9]+\}"
)


_PLACEHOLDER = (
    r"(?i)[\[<{%$#*(].*|(?:my|your|the|some|db|user|admin|root|test|new|old)?[-_]?"
    r"(?:pass(?:w(?:or)?d)?|pwd|secret|token|key|test|user(?:name)?)[0-9]{0,6}"
)


_NOT_GIVEN = (
    r"(?i)[\[<{%$*(].*|#[{<].*|(?:my|your|the|some|db|user|new|old|test|fake|dummy|wrong|bad)?[-_]?(?:pass(?:w(?:or)?d)?|pwd?|secret|token|key|test"
    r"|[0-9]+|user(?:name)?|none|null|nil|true|false|string|required|optional|hidden|prompt|empty|value|default)"
)


UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


_ALNUM_RUN = "[A-Za-z0-9]+"
_DIGITS = "[0-9]+"
_CLASSES = ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9_-]")
# A run of at least six letters and digits, with both.
_MIXED = r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{6}"


_MIN_ENTROPY_QUOTED, _MIN_ENTROPY_BARE = 2.8, 3.3  # bits per character
_ROUNDING = 1e-9


_MIN_RUN, _DIGIT_RUNS = 12, 3


_JUMBLE = r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9_-]{20,}"
_BASE64 = r"[A-Za-z0-9+/]{40,}={0,2}|[A-Za-z0-9_-]{24,}"
_HEX = "(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{32,128}"
_MIN_MADE, _MIN_OF_ONE_CASE, _MIN_LONG = 16, 20, 32  # characters


_BASE64_OF_32_BYTES = 44
_MIN_DISTINCT, _MIN_LETTERS, _MANY_DIGITS = 12, 8, 4
_SLASHED = r"(?!test)(?=[^/]*[0-9][^/]*/)[A-Za-z0-9_-]{6,40}/[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]*"  # digits on both sides
_NUMBERED = "[A-Za-z]+[-_]?[0-9]*"  # as names of variables are
_ODD = r"(?![^@]*@[\w-]+\.[\w.-]+$)[^=(]*[A-Za-z0-9][!@#$%^&*][^=(]*"  # no address, and no code


def is_harmless(value: str) -> bool:
    """Return whether a value is a placeholder, an example, encrypted, or the name of something."""
    lowered = value.lower()
    return bool(
        compiled(_HARMLESS).search(lowered)
        or compiled(_HARMLESS_BEGINNING).match(lowered)
        or compiled(_ENCRYPTED).match(value)
    )


def looks_random(value: str, *, quoted: bool) -> bool:
    """Return whether a value looks random; an unquoted one may be code, so more is demanded of it."""
    if not _has_entropy(value, _MIN_ENTROPY_QUOTED if quoted else _MIN_ENTROPY_BARE) or is_harmless(value):
        return False
    if not quoted:
        best = max(compiled(_ALNUM_RUN).findall(value), key=len, default="")
        return len(best) >= _MIN_RUN and len(compiled(_DIGITS).findall(best)) >= _DIGIT_RUNS
    if not compiled(_MIXED).search(value):
        return False
    classes = sum([compiled(each).search(value) is not None for each in _CLASSES])
    return classes >= _DIGIT_RUNS or len(compiled(_DIGITS).findall(value)) >= _DIGIT_RUNS


def _has_entropy(value: str, least: float) -> bool:
    """Return whether the Shannon entropy of a value is at least `least` bits per character.

    Mostly the number of different characters decides: the entropy is largest where they are equally frequent, and
    smallest where all but one occur once.
    """
    different, length = len(set(value)), len(value)
    if not length:
        return False
    most_frequent = length - different + 1
    if log2(length) - most_frequent * log2(most_frequent) / length >= least + _ROUNDING:
        return True
    return log2(different) >= least - _ROUNDING and _entropy(value) >= least


def _entropy(value: str) -> float:
    """Return the Shannon entropy of a value in bits per character."""
    shares = [value.count(char) / len(value) for char in set(value)]
    return -sum(share * log2(share) for share in shares)


def is_mixed(value: str) -> bool:
    """Return whether a value has small letters, capitals and digits."""
    return bool(re.search("[a-z]", value) and re.search("[A-Z]", value) and re.search("[0-9]", value))


def is_login(value: str) -> bool:
    """Return whether a string is the base64 form of `name:password`."""
    import binascii
    from base64 import b64decode

    try:
        name, colon, password = b64decode(value + "=" * (-len(value) % 4)).decode("latin-1").partition(":")
    except (binascii.Error, ValueError):
        return False
    return bool(name and colon and name.isprintable()) and not is_harmless(password)


def is_chosen(value: str) -> bool:
    """Return whether a value may be a password that somebody chose: no placeholder, and no plain word."""
    if is_harmless(value) or compiled(_PLACEHOLDER).fullmatch(value):
        return False
    return not value.isalpha() or looks_random(value, quoted=True) or _is_shuffled(value)


def is_machine_made(value: str) -> bool:
    """Return whether a value is a long run of letters and digits that nobody would write, as keys and tokens are."""
    if is_harmless(value) or compiled(UUID).fullmatch(value):
        return False
    if compiled(_BASE64).fullmatch(value) and is_mixed(value) and (_is_of_no_words(value) or _is_32_bytes(value)):
        return True
    run = max(re.findall(_ALNUM_RUN, value), key=len, default="")
    is_made = compiled("[0-9][A-Za-z]").search(run) or compiled(_HEX).fullmatch(run)
    if len(run) < _MIN_MADE or not is_made or _entropy(run) < _MIN_ENTROPY_QUOTED:
        return False
    of_one_case = len(run) >= _MIN_OF_ONE_CASE and run.upper() in {run, run.swapcase()}
    is_odd = of_one_case or len(run) >= _MIN_LONG or _letters_of_words(run) * 2 < len(run)
    return is_odd or len(re.findall("[0-9]+", run)) >= _DIGIT_RUNS


def _is_32_bytes(value: str) -> bool:
    return len(value) == _BASE64_OF_32_BYTES and value.endswith("=") and value[-2] != "="


def is_jumbled(value: str) -> bool:
    """Return whether a value is a long mix of capitals and small letters, with hardly any words among them."""
    if not compiled(_JUMBLE).fullmatch(value) or is_harmless(value):
        return False
    return _is_of_no_words(value) and compiled(UUID).fullmatch(value) is None


def _is_of_no_words(value: str) -> bool:
    return _letters_of_words(value) * 3 < len(value) and _entropy(value) >= _MIN_ENTROPY_BARE


def _letters_of_words(value: str) -> int:
    """Return how many letters of a value are in pieces that may be words."""
    return sum(map(len, re.findall("[A-Z]?[a-z]{3,}", value)))


def is_opaque(value: str) -> bool:
    """Return whether a value is a token by itself, so that it is one of two arguments, and no default."""
    return is_jumbled(value) and compiled("[0-9]").search(value) is not None


def has_slash(value: str) -> bool:
    """Return whether a value is a key with a slash in it, and no path."""
    return compiled(_SLASHED).fullmatch(value) is not None and len(compiled("[0-9]").findall(value)) >= _MANY_DIGITS


def is_random(value: str) -> bool:
    """Return whether a value looks random and is no UUID."""
    return looks_random(value, quoted=True) and compiled(UUID).fullmatch(value) is None


def _is_token(value: str) -> bool:
    """Return whether a value looks random; a UUID does, which elsewhere names something and is no secret."""
    return is_random(value) or (compiled(UUID).fullmatch(value) is not None and not is_harmless(value))


def _is_shuffled(value: str) -> bool:
    """Return whether the case of letters changes more often than in names, such as in `qyOIhJiM`."""
    changes = sum(one.isupper() != other.isupper() for one, other in pairwise(value))
    return changes * 3 >= len(value) and value.isalnum() and not is_harmless(value)


def is_picked(value: str) -> bool:
    """Return whether a value is one that somebody picked as a password: of letters and digits, or of shuffled case."""
    has_both = compiled("[A-Za-z]").search(value) and compiled("[0-9]").search(value)
    if _is_shuffled(value):
        return True
    return has_both is not None and len(value) >= _MIN_BYTES and is_chosen(value) and not re.search("[,:]", value)


def is_odd(value: str) -> bool:
    """Return whether a value is no word, name or expression: of shuffled case, or with digits or signs inside."""
    if len(value) < _MIN_BYTES or compiled(_NUMBERED).fullmatch(value):
        return len(value) >= _MIN_BYTES and _is_shuffled(value)
    return is_picked(value) if value.isalnum() else compiled(_ODD).fullmatch(value) is not None and is_strong(value)


def is_strong(value: str) -> bool:
    """Return whether a value is made as sites ask for passwords: of letters, digits and other characters."""
    if is_harmless(value) or compiled(_PLACEHOLDER).fullmatch(value):
        return False
    return all(compiled(each).search(value) for each in ("[A-Za-z]", "[0-9]", r"[!@#$%^&*?+=~`|]")) and "/" not in value


def is_shuffled(value: str) -> bool:
    """Return whether a value is of shuffled case and has digits: nobody means anything else by such a word."""
    return re.search("[0-9]", value) is not None and _is_shuffled(value)


def is_unpronounceable(value: str) -> bool:
    """Return whether a value has a digit and so few vowels that it is no word or name."""
    letters = re.findall("[A-Za-z]", value)
    vowels = re.findall("[aeiouyAEIOUY]", value)
    has_digit = re.search("[0-9]", value) is not None
    return has_digit and len(letters) >= _MIN_LETTERS and len(vowels) * 7 < len(letters) and not is_harmless(value)


def is_given(value: str) -> bool:
    """Return whether a value that stands where only a password can is one: no variable, and no placeholder."""
    return not value.isupper() and not is_harmless(value) and compiled(_NOT_GIVEN).fullmatch(value) is None


def _is_told(value: str) -> bool:
    return is_shuffled(value) or is_strong(value)


def _is_unbalanced(value: str) -> bool:
    """Return whether the brackets in a value do not pair up, as those of a template do."""
    open_ones = ""
    for char in value:
        if char in "([{":
            open_ones += char
        elif char in ")]}":
            if not open_ones or open_ones[-1] + char not in {"()", "[]", "{}"}:
                return True
            open_ones = open_ones[:-1]
    return open_ones != ""


def _decoded(value: str) -> bytes:
    import binascii
    from base64 import b64decode

    try:
        return b64decode(value[: len(value) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _is_private_key(value: str) -> bool:
    return b"PRIVATE KEY" in _decoded(value[:120])


def _is_encoded_text(value: str) -> bool:
    decoded = _decoded(value)
    return len(decoded) >= _MIN_BYTES and decoded.isascii() and b"BEGIN CERT" not in decoded


def _is_fixed(value: str) -> bool:
    return len(set(value)) > _MIN_DISTINCT and not is_harmless(value)


JUDGES = {
    CHOSEN: is_chosen,
    RANDOM: is_random,
    LOGIN: is_login,
    KEY_TEXT: _is_private_key,
    ANY_TEXT: _is_encoded_text,
    FIXED: _is_fixed,
    TOKEN: _is_token,
    GIVEN: is_given,
    TOLD: _is_told,
    UNBALANCED: _is_unbalanced,
}

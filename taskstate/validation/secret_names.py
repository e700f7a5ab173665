"""Finds the values behind names such as `password`, `api_key` or `VENDOR_TOKEN`, in whatever syntax they are given.

Where one of a few words occurs, one pattern is tried: the rest of the name, what joins it with its value (an equals
sign, a colon, a tag, a blank, an argument's comma …), and the value. The value is then judged by what the name promises
and by how it stands there: a bare word behind `token =` may be code, a quoted one is not. All repetitions are bounded.
"""

from __future__ import annotations

from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.secret_values import (
    UUID,
    has_slash,
    is_chosen,
    is_given,
    is_harmless,
    is_jumbled,
    is_machine_made,
    is_mixed,
    is_odd,
    is_opaque,
    is_picked,
    is_random,
    is_shuffled,
    is_strong,
    is_unpronounceable,
    looks_random,
)
from taskstate.validation.secret_words import positions_in

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


# What may stand between the word and the sign: `_ACCESS_KEY`, `_BASE`, `_PROD`, `2`. Possessive: a sign never stands
# before the rest of it, and trying that takes four times as long as all else.
_TAIL = (
    r"(?:[_.-]?(?:access|auth|key|value|text|string|base(?:64)?|b64|hex|raw|plain|prod(?:uction)?|staging|stage|dev|test"
    r"|live|qa|uat|sandbox|local|admin|root|master|main|default|primary|secondary|new|old|v?[0-9]{1,2})(?![a-z])){0,3}+"
    r"(?: [0-9]{1,2}(?=:))?"
)
_NAME = (
    r"(?:(?P<password>pass(?:w(?:or)?d|wort|phrase|code|owrd)?|pasword|pwd?)|(?P<secret>secret(?:_?id(?![a-z]))?|cred(?:ential)?s?)"
    rf"|(?P<token>token|(?:(?<=[a-z0-9][_.-])|(?<=o)|(?P<auth>(?<![a-z0-9])))auth)|(?P<key>key)|(?P<api>api)|[_-]pat){_TAIL}(?![a-z0-9])"
)
_CLOSE = r"(?P<close>(?:\\{0,3}[\"'`\]]|\*){0,4}(?:</[a-z]{1,8}>(?=[ \t]{0,4}=))?)"  # of a quoted, indexed or bold name
_TYPE = r"(?:[ \t]{0,4}:[ \t]{0,4}[A-Za-z_][\w.<>\[\]?*]{0,20}|[ \t]{1,4}(?:[Ss]tring|str))"
_BLOCK = r":[ \t]{0,4}[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,40}"  # a YAML block
# `name: X, value: Y`.
_PAIR = r",?[ \t]{0,4}(?:\{|\r?\n)?\s{0,40}\\?[\"']?(?:[Vv]alue|[Dd]efault|VALUE|DEFAULT)\\?[\"']?[ \t]{0,8}[:=]"
# The end of a tag, with `<value>` or the next pair's tag behind it: `<Password><Value>`, `<key>password</key><string>`.
_TAG = (
    r"(?P<tag>(?:[ \t][^<>\r\n]{0,60})?>\s{0,40}(?:<[Vv]alue>\s{0,40})?"
    r"|</[A-Za-z]{1,16}>\s{0,40}<[A-Za-z]{1,16}>\s{0,40})"
)
_JOINT = (
    rf"(?:(?P<block>{_BLOCK})|(?P<pair>{_PAIR})|(?P<sign>{_TYPE}?[ \t]{{0,20}}(?:[?+.|<!]|:{{0,3}})=[=>]?|[ \t]{{0,20}}"
    r":-?>?\*{0,2}|[ \t]{0,4}->)|(?P<comma>[ \t]{0,4},)"
    rf"|{_TAG}"
    r"|(?P<call>\()"
    r"|(?P<cell>[ \t]{0,20}\|)|(?P<other>[ \t]{1,4}(?:\|\||\?\?|or)[ \t])|(?P<blank>(?=[ \t])(?:[ \t]{1,4}is\b)?))"
    r"(?:[ \t]{0,20}|[ \t]{0,4}\r?\n[ \t]{0,40}(?=[\"']))"
)
_BARE = r"[^\s\"'`<>{}()\[\],;\\|]"
_VALUE = (
    r"(?:[@bBfFrRuU]?(?P<quote>\\{0,3}[\"'`])(?P<inner>[\"']?) ?"
    r"(?P<quoted>(?![%#(*\[{<])(?:(?![$%][({])[^\s\\\"'`]|(?!(?P=quote))[\"'`]){6,400}) ?(?P=inner)(?P=quote)"
    rf"|(?P<bare>(?={_BARE}{{0,60}}[0-9]|{_BARE}{{20}}){_BARE}{{6,400}})(?!{_BARE}|[({{\[]))"
)
# Only the name is in any case: compiling the whole so takes half a millisecond more.
_ASSIGNED = rf"(?i:{_NAME}){_CLOSE}{_JOINT}{_VALUE}"
_LONG, _DIGITS, _UUID_LENGTH = 12, 16, 36
_OF_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_MAX_WORD, _MAX_REST, _MAX_BEFORE = 24, 48, 72  # characters before a name's word: of another one, of the name, of both

# Names whose keys and tokens are no secrets: of databases, caches, parsers, pages, what is public. As words and not as
# a pattern, since compiling one of so many takes a millisecond.
_HARMLESS = """
public pub publishable primary foreign cache caching sort partition row idempotency dedup dedupe object unique composite
index hash map group lookup query route translation i18n label message hot shortcut short arrow shift ctrl meta search
data json s3 file asset state store event job task lock resource entity item record known gpg pgp content registry
parent child node edge tree block property field column setting feature flag issue thread cursor snapshot build bucket
image upload download document page next prev previous sync end start eos bos pad special stop unk mask max min num id
selector dict reverse react range version commit checksum digest under over by com tres sur mon don hoc tur jo whis
"""
_HARMLESS_NAMES, _HARMLESS_STEMS = frozenset(_HARMLESS.split()), ("continu", "cancel")
# Such a name at the end of what stands before the word, and what may follow it there: `primary_api_`, `cache`.
_LAST_NAME = r"([A-Za-z0-9]+)[_.-]?(?:(?i:api|key)[_-]?)?\Z"
# Before `key`: what makes it the key of somebody's account or of a cipher, and not of a table or a dictionary.
_ACCOUNTS = """
api access account app application auth client consumer cookie deploy encryption fernet hmac integration jwt license
master private priv secret service session shared signing ssh storage webhook unseal security admin token user
subscription server rest write read ingest personal
"""
_QUALIFIED = tuple(_ACCOUNTS.split())
_API = r"(?i)api[ _.-]?\Z"
_CODE = r"[=()\[\]].*[A-Za-z0-9]"
_CALL = r"[A-Za-z]=|=[\"']|[\w\])][(\[]"
_PICKED = r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z]).{6,64}"  # with letters and digits
# A password that somebody chose: letters and digits, a letter written as another character, or what sites ask for.
_CHOSEN = r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9!@#$%^&*?+~]{6,64}|\w{1,20}[$!]\w{1,20}"
_MADE_UP = r"(?=[^0-9]*[0-9])(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9!@#$%^&*?+~_.-]{8,64}"
# A phrase that is written as one word, one with dashes, and what a secret is for that may be one.
_EXCLAIMED = r"[a-z]{6,40}[!$#%&*@]|[A-Za-z]{6,40}[$#%&*@]"  # a word with a sign behind it
_LETTERS, _PHRASE = r"[a-z]{16,64}", r"(?=.{28})[a-z0-9]+(?:-[a-z0-9]+){4,12}"
_SENTENCE = r"(?=(?:[^A-Z]*[A-Z]){3})[A-Za-z0-9]+(?:-[A-Za-z0-9]+){4,12}"  # words with dashes, in any case
_SIGNING = r"(?i)(?:jwt|cookie|session|signing|csrf|hmac|encryption|api)[_.-]?\Z"
_TEMPLATE = r"[<{][^<>{}]{0,80}[>}]"
_AT_HOST = r"@[\w-]+(?:\.[\w-]+)+"  # `://<user>:<password>@host`
_REFERENCE = r"\$[\w.:>$-]*"
_LEET = 4  # letters that are written as digits, with which words are a password
# What may stand around a setting in its line.
_BEFORE_SETTING = {"", "-", "export", "set", "ENV"}
_LINE_BEFORE, _LINE_BEHIND = r"(?:^|[\r\n])[ \t]{0,32}(?:(?:#|//|;|>)[ \t]{0,4})?\Z", r"[ \t]{0,4}(?:$|[\r\n]|#)"
# An option that sets a name, `--from-literal=password=…` or `--set db.password=…`, and a name with a blank behind it.
_ARGUMENT = r"--[a-z][a-z-]{1,20}[= ][\"']?\Z"
_DECLARED = r"(?:ENV|setx) [A-Z0-9_]{3,48}[ \t]"
# What joins a password that is told with its name, and what may stand before it: the name of its user.
_TELLING = {":", "is", "->", "=", ""}
_LOGIN_BEFORE = r"[\w.@-]{0,64}"
_PUBLIC_NAME = r"(?:\b|(?<=_)|(?<=[a-z])(?=[A-Z]))(?i:public|hash(?:ed)?|max|min|num|hint|reset|id)[_.-]?\Z"
_OF_REQUEST = r"(?i)(?:session|request|csrf|xsrf|trace|device|push|reset|invite|state|correlation|id)[_.-]?\Z"


class _Found(NamedTuple):
    """A value behind a name: the character before it, its text before its word, the word, what joins it, the value."""

    in_front: str
    before: str
    word: str
    joint: str
    span: Span
    value: str
    quoted: bool


def assigned_values(text: str) -> Iterator[tuple[Span, bool]]:
    """Yield the span of each value that its name and its form show to be secret, and whether it is a key of AWS."""
    end = 0
    assigned = compiled(_ASSIGNED)
    positions, noted = positions_in(text)
    for at in positions:
        match = assigned.match(text, at)
        if match and match.start(_group(match)) >= end:
            found = _found(text, match)
            if (is_aws := _is_aws(found)) or _is_secret(text, match, found):
                end = found.span.end
                yield found.span, is_aws
                continue
    if noted:
        from taskstate.validation.secret_notes import noted_passwords  # few texts have digits behind a password's name

        yield from ((span, False) for span in noted_passwords(text, noted))


def _group(match: re.Match[str]) -> str:
    return "bare" if match["quoted"] is None else "quoted"


def _found(text: str, match: re.Match[str]) -> _Found:
    group = _group(match)
    value, start = match[group].rstrip("|"), match.start(group)
    word = next((each for each in _WORDS if match[each]), "pat")
    joint = next(each for each in _JOINTS if match[each] is not None)
    before = _before(text, match.start())
    at = match.start() - len(before)
    in_front = text[at - 1] if at else " "
    if in_front in _QUERY:
        value = value.partition("&")[0]
    elif in_front == "/" and word == "password" and group == "bare":  # `id/pw: name/password`
        start, value = start + value.rfind("/") + 1, value.rpartition("/")[2]
    return _Found(in_front, before, word, joint, Span(start, start + len(value)), value, quoted=group == "quoted")


def _before(text: str, at: int) -> str:
    """Return the part of a name that stands before `at`, with the word before it where one blank is between them."""
    around = text[max(at - _MAX_BEFORE, 0) : at]
    rest = around.rstrip(_OF_NAMES)
    name = around[len(rest) :]
    if len(name) > _MAX_REST or rest[-1:] != " ":
        return name[-_MAX_REST:]
    others = rest[:-1]
    word = others[len(others.rstrip(_OF_NAMES)) :][-_MAX_WORD:]
    return f"{word} {name}" if word else name


_WORDS = ("password", "secret", "token", "key", "api")
_QUERY = "?&"  # before the name of a parameter in a URL
_JOINTS = ("sign", "block", "pair", "comma", "tag", "call", "cell", "other", "blank")


def _is_aws(found: _Found) -> bool:
    value = found.value
    return (
        compiled(r"[A-Za-z0-9+/]{40}").fullmatch(value) is not None
        and not is_harmless(value)
        and is_mixed(value)
        and not _is_harmless_name(found.before)
        and (found.word != "key" or _is_qualified(found.before))
    )


def _is_secret(text: str, match: re.Match[str], found: _Found) -> bool:
    """Return whether a value is secret, by its name first: not all keys and tokens are, and few UUIDs."""
    is_password = found.word == "password"
    is_harmless_name = compiled(_PUBLIC_NAME).search(found.before) if is_password else _is_harmless_name(found.before)
    if is_harmless_name or _is_code(match, found) or _is_filled_in(found.value):
        return False
    if match["auth"] is not None:
        return found.joint == "sign" and compiled("[0-9a-f]{32,64}").fullmatch(found.value) is not None
    if found.word == "api":
        return ("/" not in found.value and _nobody_wrote(found.value)) or has_slash(found.value)
    if len(found.value) == _UUID_LENGTH and compiled(UUID).fullmatch(found.value):
        return _may_be_uuid(found)
    if found.word == "key" and not _is_qualified(found.before):
        is_key = _has_prefix(found) or found.in_front in _QUERY or (found.joint == "sign" and is_opaque(found.value))
        return is_key and _nobody_wrote(found.value)
    if found.value.isdecimal() and len(found.value) >= _DIGITS:
        return _is_strong_name(found) and not is_harmless(found.value)
    if found.quoted:
        if looks_random(found.value, quoted=True) or _nobody_wrote(found.value) or _is_chosen(match, found):
            return True
        return found.joint != "blank" and len(found.value) >= _LONG and is_unpronounceable(found.value)
    return is_machine_made(found.value) or _is_bare(text, match, found)


def _is_harmless_name(before: str) -> bool:
    """Return whether a name ends with a harmless one: behind a sign, a blank, or a small letter before a capital."""
    found = compiled(_LAST_NAME).search(before)
    if found is None:
        return False
    name = found[1]
    names = (name, name[:-3]) if name[-3:].lower() in {"api", "key"} else (name,)
    return any(
        word in _HARMLESS_NAMES or word.startswith(_HARMLESS_STEMS)
        for each in names
        for at in range(len(each))
        if (at == 0 or (each[at - 1].islower() and each[at].isupper())) and (word := each[at:].lower())
    )


def _is_qualified(before: str) -> bool:
    """Return whether a name says whose key it is, such as that of an account."""
    name = before[:-1] if before.endswith((" ", "_", ".", "-")) else before
    return name.lower().endswith(_QUALIFIED)


def _is_filled_in(value: str) -> bool:
    """Return whether a value is a variable, or has a place to be filled in, or is the host behind one."""
    if value.startswith("@") and compiled(_AT_HOST).fullmatch(value):
        return True
    if "<" in value or "{" in value:
        return compiled(_TEMPLATE).search(value) is not None
    return value.startswith("$") and compiled(_REFERENCE).fullmatch(value) is not None and not is_machine_made(value)


def _is_code(match: re.Match[str], found: _Found) -> bool:
    """Return whether a value is an argument or an expression behind a word that just happens to stand there."""
    if found.joint == "blank":
        return compiled(_CODE).search(found.value) is not None and not (
            found.quoted and is_strong(found.value) and not compiled(_CALL).search(found.value)
        )
    return (found.joint == "comma" and found.quoted and not match["close"] and not is_opaque(found.value)) or (
        found.joint == "call" and not found.quoted
    )


def _has_prefix(found: _Found) -> bool:
    """Return whether a name begins with that of a service or so: `adobe_key`, `ACME_KEY`; and is no prose."""
    return found.before.strip("_.- ") not in {"", "String", "string", "str", "const", "let", "var"} and (
        found.joint != "blank" or found.before.endswith(("_", "-"))
    )


def _nobody_wrote(value: str) -> bool:
    return is_machine_made(value) or is_jumbled(value)


def _is_strong_name(found: _Found) -> bool:
    return found.word in {"password", "secret"} or compiled(_API).search(found.before) is not None


def _may_be_uuid(found: _Found) -> bool:
    """Return whether a UUID may be secret under this name, and does not just name a session or a request."""
    if is_harmless(found.value) or compiled(_OF_REQUEST).search(found.before):
        return False
    if found.joint not in {"sign", "pair", "tag", "block", "comma"}:
        return False
    if found.word == "token" and (found.in_front in _QUERY or (found.quoted and found.in_front in "\"'")):
        return True
    return _is_strong_name(found) or _has_prefix(found)


def _is_chosen(match: re.Match[str], found: _Found) -> bool:
    """Return whether a quoted value is a password as people choose them."""
    is_joined = found.joint != "blank" or match["blank"].strip() or (match["password"] or "").isupper()  # or in SQL
    if found.word == "password" and is_joined and compiled(f"{_CHOSEN}|{_MADE_UP}").fullmatch(found.value):
        return is_chosen(found.value)
    if found.word == "password" and match["blank"] and match["blank"].strip() and match["quote"] in {"'", '"'}:
        return is_given(found.value)  # `the password is '…'`
    if _is_strong_name(found) and is_joined and compiled(_LETTERS).fullmatch(found.value):
        return is_given(found.value)
    if (
        found.word == "password"
        and found.joint in {"sign", "pair"}
        and compiled(f"{_EXCLAIMED}|{_SENTENCE}").fullmatch(found.value)
    ):
        return is_given(found.value)
    if found.word == "secret" and compiled(_SIGNING).search(found.before) and compiled(_PHRASE).fullmatch(found.value):
        return not is_harmless(found.value)
    if found.word == "password" and len(compiled("[A-Za-z]-?[0-9](?![0-9])").findall(found.value)) >= _LEET:
        return is_chosen(found.value)
    return _is_strong_name(found) and is_strong(found.value)


def _is_bare(text: str, match: re.Match[str], found: _Found) -> bool:
    """Return whether a value without quotes is secret; where code may stand, it is only if nobody wrote it."""
    spaced = found.joint == "sign" and "=" in match["sign"] and text[found.span.start - 1] in " \t"
    if _is_told(match, found):
        return True
    start = match.start() - len(found.before)
    if found.joint in {"comma", "other"} or (found.joint == "blank" and not _is_variable(text, match, start)):
        return False
    in_string = text[max(start - 2, 0) : start].rstrip(" ")[-1:] in {"?", "&", ";", "/"}
    if in_string and (
        is_random(found.value) or (found.word == "password" and compiled(_PICKED).fullmatch(found.value))
    ):
        return is_chosen(found.value)
    if _is_a_setting(text, start, found):
        return is_chosen(found.value)
    if spaced:
        return _is_strong_name(found) and has_slash(found.value)
    if looks_random(found.value, quoted=False) or is_jumbled(found.value) or _is_no_name(found):
        return True
    if found.joint != "tag" and not _is_variable(text, match, start):
        return False
    return is_random(found.value) or (found.word == "password" and (is_strong(found.value) or is_picked(found.value)))


def _is_no_name(found: _Found) -> bool:
    """Return whether a value behind a sign can be no name of a variable: of shuffled case, or with a digit in front."""
    if found.joint != "sign" or not _is_strong_name(found):
        return False
    is_long = len(found.value) >= _LONG and found.word != "key"
    is_odd_name = is_shuffled(found.value) or (found.value[0].isdigit() and is_mixed(found.value))
    return (is_long and is_odd_name) or has_slash(found.value)


def _is_variable(text: str, match: re.Match[str], start: int) -> bool:
    """Return whether a name is that of a variable of the environment, of an option, or the value of one."""
    if match["sign"] is None:
        return compiled(_DECLARED).match(text, start) is not None
    name = text[start : match.start("sign")].rpartition(" ")[2]
    at = match.start("sign") - len(name)
    return name.isupper() or name.startswith("--") or compiled(_ARGUMENT).search(text, max(at - 32, 0), at) is not None


def _is_told(match: re.Match[str], found: _Found) -> bool:
    """Return whether a sentence or a note tells a password: `pw: …`, `the password is …`, `id/pw: name/…`."""
    if found.word != "password" or found.joint not in {"sign", "blank"}:
        return False
    joined = match[found.joint].strip()
    if joined not in _TELLING or (not joined and match["password"].lower() == "pass"):
        return False
    login, _, password = found.value.rpartition("/")  # `password: name/password`
    return compiled(_LOGIN_BEFORE).fullmatch(login) is not None and is_odd(password)


def _is_a_setting(text: str, start: int, found: _Found) -> bool:
    """Return whether the name of a password, a sign and a value are a whole line, as in a file of settings."""
    return (
        found.word == "password"
        and found.joint == "sign"
        and found.before.rpartition(" ")[0] in _BEFORE_SETTING
        and compiled(_CHOSEN).fullmatch(found.value) is not None
        and compiled(_LINE_BEFORE).search(text, max(start - _MAX_BEFORE, 0), start) is not None
        and compiled(_LINE_BEHIND).match(text, found.span.end) is not None
    )

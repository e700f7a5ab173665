"""The table of places where a credential stands: options of commands, headers, cookies, configuration files.

What stands there has no form of its own, so each row says how it is judged. A row is tried only where one of its words
occurs in the text; all repetitions are bounded, so that searching takes time in proportion to the text.
"""

from __future__ import annotations

import re
from functools import cache

from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# How the value of a place is judged: as a password that somebody chose, as random, or as the base64 of something.
CHOSEN, RANDOM, LOGIN, KEY_TEXT, ANY_TEXT, FIXED = "chosen", "random", "login", "key", "text", "fixed"
TOKEN, GIVEN, TOLD, UNBALANCED = "token", "given", "told", "unbalanced"


class Place(NamedTuple):
    """Where a credential stands: near one of `words`, and `regex` has it as its group `value`.

    Without words the whole text is searched: `regex` then begins with a character to which its engine jumps.
    """

    kind: str
    words: tuple[str, ...]
    regex: str
    judged: str = CHOSEN


_REST = r"(?:[^\r\n\\]|\\\r?\n|\\.)"  # of a command line, which goes on behind a backslash at the end of a line
_QUOTE = r"[\"']"
_WORD = r"[^\s\"'`<>{}()\\]"
# The login that a connection string or a configuration names beside its password: the words that lead to it, its name.
_LOGIN_NAMES = ("ser", "SER", "ame", "NAME", "uid", "Uid", "UID", "ser ID", "ser Id", "ser id")
_LOGIN_IS = tuple(f"{name}{gap}=" for name in _LOGIN_NAMES for gap in ("", " "))
_PASSWORD_IS = ("pwd=", "Pwd=", "PWD=", "assword=", "ASSWORD=")
_LOGIN_KEYS = tuple(f"{end}:" for name in ("ser", "ame", "ogin") for end in (name, f"{name}'", f'{name}"', f'{name}" '))
_LOGIN = r"(?i:\b(?:user(?:[ _]?name|[ _]?id)?|uid|login))"
_CALLED = r"(?i:pass(?:w(?:or)?d)?|pwd)"
_GIVEN = r"(?P<value>(?!\$)[^\s;&,\"'`<>{}()\[\]%\\]{6,100})(?=[;&\"'`\s]|\Z)"
_NOTED = r"(?P<value>[A-Za-z0-9!@#$%^&*+~]{6,32})(?![\w.(-])"
_COOKIES = (
    r"PHPSESSID|JSESSIONID|ASP\.NET_SessionId|\.ASPXAUTH|connect\.sid|session_?id|session|sid|remember_token"
    r"|[a-z0-9_.-]{1,30}[_-]session|(?:laravel|next-auth|__Secure-[a-z-]{1,30}|__Host-[a-z-]{1,30})[._-]session"
    r"[a-z.-]{0,20}"
    r"|wordpress_logged_in_[0-9a-f]{1,40}|[a-z_-]{0,30}auth[a-z_-]{0,10}|(?!publickey)[a-z_.-]{0,30}token"
)

PLACES = (
    Place(
        "a password in a netrc file",
        ("machine ",),
        r"\bmachine\s{1,8}\S{1,200}\s{1,8}login\s{1,8}\S{1,200}\s{1,8}password\s{1,8}"
        r"(?P<value>\S{6,200})",
    ),
    Place(
        "a password in a pgpass file",
        (
            "5432:",
            "5433:",
            ":*:",
        ),
        r"(?:^|(?<=[\s`>]))[\w.*-]{1,253}:(?:54[0-9]{2}|6432|\*):[\w.*-]{1,63}:[\w.*@-]{1,63}:(?P<value>"
        r"[^\s:`\"'$<{]{6,200})",
    ),
    Place(
        "a login in base64",
        (
            '"auth"',
            "_auth",
        ),
        rf"(?:{_QUOTE}(?:auth|identitytoken){_QUOTE}\s{{0,8}}:\s{{0,8}}|\b_auth[ \t]{{0,4}}=[ \t]{{0,4}}){_QUOTE}?"
        r"(?P<value>[A-Za-z0-9+/_-]{12,1024}={0,2})",
        LOGIN,
    ),
    Place(
        "a private key in base64",
        ("LS0tLS1CRUdJTi",),
        r"(?P<value>LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,8000}={0,2})",
        KEY_TEXT,
    ),
    Place(
        "a WireGuard key",
        ("PrivateKey", "haredKey"),
        r"(?:PrivateKey|Pre[sS]haredKey)[ \t]{0,8}=[ \t]{0,8}(?P<value>[A-Za-z0-9+/]{43}=)",
        FIXED,
    ),
    Place("a Fernet key", (), r"F(?i:ernet)[^\r\n]{0,40}[=:(\s\"'](?P<value>[A-Za-z0-9_-]{43}=)", FIXED),
    Place(
        "a value of a Kubernetes secret",
        ("kind:",),
        r"(?i)\bkind:[ \t]{0,4}[\"']?secret[\"']?[ \t]{0,4}(?=[\r\n])(?:[^\n]{0,200}\n){0,20}?data:[ \t]{0,4}\r?\n"
        r"(?:[ \t][^\n]{0,200}\n){0,20}?[ \t]{1,12}[\w.-]{1,100}:[ \t]{1,4}(?:[|>][-+]?\s{1,40})?[\"']?(?P<value>"
        r"[A-Za-z0-9+/]{10,8000}={0,2})",
        ANY_TEXT,
    ),
    Place(
        "a value of a Kubernetes secret",
        ("kind:",),
        r"(?i)\bdata:[ \t]{0,4}\r?\n(?:[ \t]{1,12}#[^\n]{0,200}\n){0,5}[ \t]{1,12}[\w.-]{1,100}:[ \t]{1,4}(?:[|>]"
        r"[-+]?\s{1,40})?[\"']?"
        r"(?P<value>[A-Za-z0-9+/]{10,8000}={0,2})(?=[^\n]{0,20}\n(?:[^\n]{0,200}\n){0,20}?[ \t]{0,8}kind:[ \t]{0,4}"
        r"[\"']?secret\b)",
        ANY_TEXT,
    ),
    Place(
        "a password on a command line",
        (" -p",),
        rf"\b(?:mysql(?:dump|admin|import|sh|show|check)?|mariadb(?:-dump|-admin)?|mycli)\b{_REST}{{0,300}}?"
        rf"[ \t]-p{_QUOTE}?(?P<value>(?!\$){_WORD}{{6,200}})",
    ),
    Place(
        "a password on a command line",
        (
            " -p",
            " -a",
            " -w",
        ),
        r"\b(?:sshpass|(?:docker|podman|nerdctl|helm registry|oras|skopeo|buildah|oc|cf|az)[ \t]{1,4}login|mongo"
        r"(?:sh|dump|restore|export|import)?"
        r"|sqlcmd|redis-cli|ldap(?:search|add|modify|whoami)|(?i:psexec(?:64)?(?:\.exe)?))\b"
        rf"{_REST}{{0,300}}?[ \t]-(?:p|P|a|w)[ \t]{{0,4}}{_QUOTE}?(?P<value>(?![$\-%0-9]){_WORD}{{6,200}})",
    ),
    Place(
        "a password or a key",
        (),
        r"--(?:[a-z0-9]{1,16}[_-]){0,3}(?:(?:require)?pass(?:w(?:or)?d|phrase)?|secret|token|api-?key|bearer)[ \t]{1,8}"
        r"[\"']?(?P<value>[^\s\"'`<>{}$()\[\],;\\]{10,200})",
        TOKEN,
    ),
    Place(
        "a password on a command line",
        (),
        r"-(?<![\w-]-)(?i:(?:store|key)?pass(?:w(?:or)?d)?|token|secret|api-?key|access-?key)[ \t]{1,4}[\"']?"
        r"(?P<value>(?![$(\-])[^\s\"'`<>{}()\\]{8,200})",
        RANDOM,
    ),
    Place(
        "a password on a command line",
        ("pass:",),
        r"-pass(?:in|out|word)?[ \t]{1,4}[\"']?pass:(?P<value>(?!\$)[^\s\"'`<>{}()\\]{6,200})",
    ),
    Place(
        "a password on a command line",
        (" -U",),
        rf"\b(?:smbclient|rpcclient|mount)\b{_REST}{{0,300}}?(?:-U[ \t]{{0,4}}{_QUOTE}?[\w.\\-]{{1,64}}%|"
        rf"[,=]password=)(?P<value>(?!\$){_WORD}{{6,200}})",
    ),
    Place(
        "a password on a command line",
        (" -u", " -U", " -a", " --user", " --auth", " --proxy-user"),
        rf"\b(?:curl|wget|https?(?=[ \t]))\b{_REST}{{0,400}}?[ \t\n](?:-u|--user|-U|--proxy-user|-a|--auth)"
        rf"[ \t=]{{0,8}}{_QUOTE}?\{{?"
        rf"[^\s:\"'`<>$(){{}}\[\]]{{0,80}}[\"'}}]{{0,2}}:[\"'{{]{{0,2}}(?P<value>(?![$\[]){_WORD}{{6,200}})",
    ),
    Place(
        "a credential in a header",
        (
            "uthorization",
            "UTHORIZATION",
        ),
        r"(?i)\bauthorization[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"']?(?:[a-z][a-z0-9-]{0,19}[ \t]{1,4}(?:token=)?"
        r"(?:[\"'][ \t]{0,4}\+[ \t]{0,4})?)?"
        r"[\"']?(?P<value>[\w=~@.+/-]{16,512})",
        TOKEN,
    ),
    Place(
        "a session cookie",
        ("ooki",),
        rf"(?i)(?<![\w.-])(?:{_COOKIES})=[\"']?(?:s(?:%3A|:))?(?P<value>[A-Za-z0-9._~%+/|-]{{16,4096}})",
        RANDOM,
    ),
    Place(
        "a session cookie",
        (),
        r"=(?:(?<=ession=)|(?<=SESSID=)|(?<=SESSIONID=)|(?<=essionid=)|(?<=ession_id=)|(?<=\.sid=)|(?<=SessionId=)"
        r"|(?<=XAUTH=)|(?<=remember_token=))[\"']?(?:s(?:%3A|:))?(?P<value>[A-Za-z0-9._~%+/|-]{16,4096})",
        RANDOM,
    ),
    Place(
        "a password in code",
        ("Credential",),
        r"Credential(?:\]::new)?[ \t]?\(\s{0,20}[\"'][^\"'\r\n]{1,60}[\"']\s{0,8},\s{0,20}[\"'](?P<value>"
        r"[^\"'\s]{6,100})[\"']",
        GIVEN,
    ),
    Place(
        "a password in code",
        ("getConnection(", "DirectoryEntry(", "mysqli("),
        r"(?:getConnection|DirectoryEntry|mysqli)\((?:[\w.]{1,60}|[\"'][^\"'\r\n]{0,200}[\"'])\s{0,4},\s{0,20}"
        r"[\"'][^\"'\r\n]{1,60}[\"']\s{0,4},\s{0,20}[\"'](?P<value>[^\"'\s]{6,100})[\"']",
    ),
    Place(
        "a password in code",
        (".login(",),
        r"\.login\([\"'][^\"'\r\n]{1,80}[\"'],[ \t]?[\"'](?P<value>[^\"'\s${}<>]{6,100})[\"']",
        GIVEN,
    ),
    Place(
        "a password in code",
        ("ConvertTo-SecureString",),
        r"ConvertTo-SecureString(?:[ \t]{1,4}-[A-Za-z]{1,20}){0,3}[ \t]{1,4}[\"']"
        r"(?P<value>(?!\$)[^\"'\r\n]{6,200})[\"']",
    ),
    Place(
        "a password on a command line",
        ("/user:",),
        rf"(?i)\b(?:net[ \t]{{1,4}}use|cmdkey)\b{_REST}{{0,200}}?[ \t]/user:\S{{1,80}}[ \t]{{1,4}}(?:/pass:)?[\"']?"
        r"(?P<value>(?![/$%*])[^\s\"'`<>]{6,100})",
    ),
    Place(
        "a password of a database",
        (),
        r"Y(?<=IDENTIFIED BY)[ \t]{1,4}[\"'](?P<value>[^\"'\s$%<>{}]{6,100})[\"']",
    ),
    Place(
        "a password of a network device",
        ("snmp-server community ",),
        rf"\bsnmp-server community (?P<value>(?=\S{{0,60}}[0-9]){_WORD}{{6,64}}) R[OW]\b",
    ),
    Place("a key of Laravel", ("base64:",), r"\bbase64:(?P<value>[A-Za-z0-9+/]{43}[A-Za-z0-9+/]?=?)(?![\w+/])", FIXED),
    Place(
        "a key of WordPress",
        ("_KEY'", "_SALT'"),
        r"\b(?:SECURE_)?(?:AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)'\s{0,4},\s{0,20}'(?P<value>[^'\r\n]{60,70})'",
        FIXED,
    ),
    Place(
        "a login in base64",
        (".dockerc",),
        r"\.dockerc(?:onfigjson|fg)[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?(?P<value>[A-Za-z0-9+/]{12,8000}={0,2})",
        TOKEN,
    ),
    Place(
        "a login of Sidekiq",
        ("__CONTRIBSYS__",),
        r"__CONTRIBSYS__COM\w{0,40}[\"']?[ \t]{0,8}[:=]{1,4}[ \t]{0,8}[\"']?(?P<value>[0-9a-f]{8}:[0-9a-f]{8})\b",
    ),
    Place(
        "a token of SonarQube",
        ("sonar.", "SONAR"),
        r"(?i)\bsonar(?:[._]?(?:login|token)|qube)?[\"']?[ \t]{0,8}(?:[:?]{0,3}=|:|,)[ \t]{0,8}[\"']?"
        r"(?P<value>[0-9a-f]{40})\b",
        FIXED,
    ),
    Place(
        "a login in a file of npm",
        (":_",),
        r"(?<=[\w/]):_(?:password|auth)[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<value>(?!\$)[A-Za-z0-9+/=_.-]{8,500})",
        FIXED,
    ),
    Place(
        "a password or a key",
        _LOGIN_IS,
        rf"{_LOGIN}=[^;&,=\s\"']{{1,64}}[;& ][^\"'`\r\n]{{0,200}}?(?i:pwd|password)[ ]?=[ ]?{_GIVEN}",
        GIVEN,
    ),
    Place(
        "a password or a key",
        _PASSWORD_IS,
        rf"(?i:pwd|password)={_GIVEN}[;& ][^\"'`\r\n]{{0,200}}?{_LOGIN}=",
        GIVEN,
    ),
    Place("a password or a key", ("ID:", "ID-"), r"\bID[:-][ \t]?[\w.@-]{1,64}/" + _NOTED, TOLD),
    Place(
        "a password or a key",
        ("{{",),
        r"(?P<value>\{\{(?<=[\"'=: ]\{\{)(?=[A-Za-z])(?=[^\s\"'`]{0,80}[$#@!])[^\s\"'`]{12,100}\}\})",
        UNBALANCED,
    ),
    Place(
        "a secret of Jenkins",
        ("AQAAABAAA",),
        r"(?i:secret|password|passphrase|token|key)>\{(?P<value>[\w ]{0,40}AQAAABAAA[^{}<>\r\n]{16,4000})\}<",
        FIXED,
    ),
    Place(
        "a password or a key",
        _LOGIN_KEYS,
        rf"{_LOGIN}[\"']?[ ]?:[ \t]{{0,4}}(?P<quote>[\"'])[^\"'\r\n]{{1,64}}(?P=quote),\s{{0,40}}"
        r"(?:[\"']?\w{1,20}[\"']?: ?[\"']?[^\"',\r\n]{0,80}[\"']?,\s{0,40}){0,4}[\"']?[A-Za-z_]{0,20}"
        rf"{_CALLED}[\"']?[ \t]{{0,4}}:[ \t]{{0,4}}[\"'](?P<value>[^\s\"'<>{{}}$%\[\]]{{6,64}})[\"']",
        GIVEN,
    ),
    Place(
        "a password or a key",
        _LOGIN_IS,
        rf"{_LOGIN}[ ]?=[ \t]?[\"']?[^\s,=<>${{}}\"']{{1,64}}[\"']?;?[ \t]{{0,20}}(?:(?:#|//)[^\r\n]{{0,80}})?\r?\n"
        rf"[ \t]{{0,12}}[\w.-]{{0,48}}{_CALLED}[ \t]{{0,20}}=[ \t]?"
        r"(?:(?<==)|(?=[\"'])|(?=[^\s.]{0,60}[0-9!@#&*]))[\"']?(?P<value>[^\s\"'<>{}$%()\[\]]{6,64})[\"']?(?=\s|\Z)",
        GIVEN,
    ),
    Place(
        "a key of OpenWeather",
        ("openweathermap.",),
        r"openweathermap\.org/\S{0,200}?appid=(?P<value>[0-9a-f]{32})\b",
        FIXED,
    ),
    Place("a token of Flickr", ("oauth_token",), r"\boauth_token[=:] ?(?P<value>[0-9]{17}-[0-9a-f]{16})\b", FIXED),
    Place(
        "a key of SoftLayer",
        ("://api.softlayer",),
        r"softlayer\.com/soap/v3(?:\.1)?/(?P<value>[0-9a-zA-Z]{64})\b",
    ),
    Place(
        "a robot's token",
        (),
        r"\+(?:(?<=[a-z0-9]\+)[a-z0-9._-]{1,60}:(?=[A-Z0-9]{40,80}\b)|(?<=incoming\+)[\w.-]{1,100}-[0-9]{1,12}-"
        r"(?=[a-z0-9]{20,26}-(?:issue|merge)))(?P<value>[A-Za-z0-9]{20,80})",
        FIXED,
    ),
)

_BEFORE, _BEHIND = 600, 2_000  # characters around a word of a place
_SHARED = "-:_=({"  # characters that several words have


def places_in(text: str) -> Iterator[tuple[Place, Span]]:
    """Yield each place with each part of a text where it may be: around its words, or everywhere if it has none."""
    found = _words_in(text)
    for place in PLACES:
        if not place.words:
            yield place, Span(0, len(text))
        elif offsets := sorted(at for word in place.words for at in found.get(word, ())):
            yield from ((place, part) for part in _parts_around(text, offsets))


def _words_in(text: str) -> dict[str, list[int]]:
    """Return where each word of the places is in a text, or a character of it."""
    found: dict[str, list[int]] = {}
    for char, search, words in _searches():
        for at in (match.start() for match in search.finditer(text)):
            for word in words:
                if text.startswith(word, at - word.index(char)):
                    found.setdefault(word, []).append(at)
    for word in _other_words():
        at = text.find(word)
        while at >= 0:
            found.setdefault(word, []).append(at)
            at = text.find(word, at + len(word))
    return found


@cache
def _searches() -> tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...]:
    """Return the characters that several words share, each with a search for these words, and the words.

    A search jumps to the character and finds whether any of them is there, in the time that finding one takes.
    """
    words = sorted({word for place in PLACES for word in place.words})
    sharing = ((char, tuple(word for word in words if char in word)) for char in _SHARED)
    return tuple((char, _search(char, each), each) for char, each in sharing)


def _search(char: str, words: Sequence[str]) -> re.Pattern[str]:
    """Return a search for words by a character; by what stands before it, nearly everywhere one look decides."""
    by_last: dict[str, dict[str, list[str]]] = {}
    for word in words:
        before, _, behind = word.partition(char)
        by_last.setdefault(before[-1:], {}).setdefault(before, []).append(re.escape(behind))
    groups = (
        f"{_before(last + char)}(?:{'|'.join(_one_of(begin + char, ends) for begin, ends in beginnings.items())})"
        for last, beginnings in by_last.items()
    )
    return re.compile(f"{re.escape(char)}(?:{'|'.join(groups)})")


def _one_of(begin: str, ends: Sequence[str]) -> str:
    return _before(begin) + (f"(?:{'|'.join(ends)})" if any(ends) else "")


def _before(text: str) -> str:
    return f"(?<={re.escape(text)})"


@cache
def _other_words() -> tuple[str, ...]:
    words = {word for place in PLACES for word in place.words}
    return tuple(sorted(word for word in words if not any(char in word for char in _SHARED)))


def _parts_around(text: str, offsets: Sequence[int]) -> list[Span]:
    """Return the parts of a text around some offsets, in order and without overlaps."""
    parts = list[Span]()
    for at in offsets:
        start, end = max(at - _BEFORE, 0), min(at + _BEHIND, len(text))
        if parts and start <= parts[-1].end:
            parts[-1] = Span(parts[-1].start, end)
        else:
            parts.append(Span(start, end))
    return parts

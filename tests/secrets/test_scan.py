"""What looks like a credential, and what does not; samples are put together here, so that no scanner takes alarm."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest

from taskstate.lint.redaction import redactor
from taskstate.secrets.mask import masked
from taskstate.secrets.names import ASSIGNED, IN_HEADER
from taskstate.secrets.prefixes import marked, prefixed
from taskstate.secrets.scan import IN_ADDRESS, ON_A_COMMAND_LINE, PRIVATE_KEY, find
from taskstate.syntax.spans import Span
from tests.support.secret_lines import negative, positive

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS_ID = "AKIA" + "QWERTYUIOPASDFGH"
AWS_KEY = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzQ8kLmNoPq"
WEB_TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ" + ".eyJzdWIiOiI0MiIsInJvbGUiOiJhZG1pbiJ9." + RANDOM
RSA = "-----BEGIN RSA " + "PRIVATE KEY-----"
KEY = RSA + "\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcw==\n-----END RSA " + "PRIVATE KEY-----"
KINDS = {row.kind for row in (*prefixed(), *marked())}
PLACES = (
    "{}",
    "used {} here",
    "- `{}`",
    "({})",
    '"{}"',
    "x: {}",
    "https://{}",
    "\\n{}",
    "|{}|",
    "é {} …",
    "\r\n{}\r\n",
)


def test_every_row_of_the_tables_has_its_lines() -> None:
    """Each kind has lines that must be found and lines that must not; there are at least 150 of both."""
    others = {PRIVATE_KEY, ASSIGNED, IN_ADDRESS, IN_HEADER, ON_A_COMMAND_LINE}
    assert {line.kind for line in positive()} == KINDS | others
    assert {line.kind for line in negative()} >= KINDS
    assert min(len({line.text for line in lines}) for lines in (positive(), negative())) >= 150


def test_each_row_is_told_by_what_its_lines_hold() -> None:
    """A row without its prefix or mark in the text is never tried."""
    for row in (*prefixed(), *marked()):
        lines = [line for line in positive() if line.kind == row.kind]
        assert any(told_by in line.text for line in lines for told_by in row.told_by), row


def test_the_figures_that_are_published_are_true() -> None:
    """What docs/security.md says of recall, precision and kinds is what these lines give."""
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    hits = sum(find(line.text) != () for line in positive())
    wrong = sum(find(line.text) != () for line in negative())
    assert f"of {len(positive())} lines that hold a secret, {hits} are found" in page
    assert f"recall {100 * hits // len(positive())} %" in page
    assert f"of {len(negative())} lines that hold none, {wrong} are taken for one" in page
    assert f"precision {100 * hits // (hits + wrong)} %" in page
    assert f"{len(KINDS)} kinds by their form" in page


def test_what_must_be_found_is_found() -> None:
    """Every positive line holds one secret of its kind, at its exact place."""
    found = {line.text: [(each.kind, each.span) for each in find(line.text)] for line in positive()}
    assert found == {line.text: [(line.kind, line.span)] for line in positive()}


def test_what_must_not_be_found_is_not() -> None:
    """No negative line holds one: hashes, UUIDs, lock files, examples, placeholders, code, prose, near misses."""
    assert {line.text: [each.kind for each in find(line.text)] for line in negative() if find(line.text)} == {}


@pytest.mark.parametrize(
    "value",
    [
        AWS_ID,
        "sk_" + "live_" + "qwrtzplkjhgfdsyxcvbnmqwe",
        "sk_" + "live_" + RANDOM,
        "eyJhbGciOiJIUzI1NiJ9" + ".eyJmb28iOjF9.",
        *(f"-----BEGIN {kind} " + "PRIVATE KEY-----" for kind in ("RSA", "DSA", "EC", "OPENSSH")),
    ],
)
def test_the_forms_that_the_requirement_names_are_found(value: str) -> None:
    """AWS key ids, Stripe's live keys, JSON Web Tokens and the heads of private keys, of whatever letters they are."""
    assert [each.span.of(value) for each in find(value)] == [value]


@pytest.mark.parametrize("place", PLACES)
def test_a_token_is_found_in_any_context(place: str) -> None:
    """A known token is found once, with its exact span, whatever stands around it."""
    for line in positive():
        if line.kind in KINDS and line.span:
            value = line.span.of(line.text)
            text = place.format(value)
            at = text.index(value)
            assert [(each.span, each.kind) for each in find(text)] == [(Span(at, at + len(value)), line.kind)], text


def test_ordinary_text_holds_none() -> None:
    """The documentation of this project, its schemas and its code hold nothing that looks like a credential."""
    root = Path(__file__).parents[2]
    paths = [
        path
        for folder, suffix in (("docs", "md"), ("schemas", "json"), ("taskstate", "py"), ("benchmarks", "py"))
        for path in (root / folder).rglob(f"*.{suffix}")
    ]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    assert sum(len(text) for text in texts.values()) > 500_000
    assert {path: find(text) for path, text in texts.items() if find(text)} == {}


@pytest.mark.parametrize(
    "comment",
    [
        "# taskstate: allow secret",
        "<!-- taskstate: allow secret -->",
        "// gitleaks:allow",
        "/* pragma: allowlist secret */",
        "; pragma: whitelist secret",
        "-- trufflehog:ignore",
        "# kingfisher:ignore",
    ],
)
def test_a_line_allows_what_stands_in_it(comment: str) -> None:
    """A comment at the end of the line allows its secrets, for all but the other lines."""
    for end in ("\n", "\r\n", "\r"):
        text = f"a {AWS_ID} {comment}{end}b {AWS_ID}{end}"
        assert [each.span.start for each in find(text)] == [text.rindex(AWS_ID)]
        assert masked(text).count(AWS_ID) == 1
    assert find(f"{AWS_ID}\n{comment}")
    assert find(f"{comment}\n{AWS_ID}")


@pytest.mark.parametrize(
    "words", ["allow secret", "taskstate: allow secret", "# allow", "gitleaks:allow", "# gitleaks"]
)
def test_words_alone_allow_nothing(words: str) -> None:
    """What allows stands in a comment, and names whom it speaks to."""
    assert find(f"{AWS_ID} {words}")


def test_a_comment_behind_a_key_of_several_lines() -> None:
    """Such a secret is allowed in the line in which it begins."""
    assert find(KEY.replace("-----\n", "----- # gitleaks:allow\n", 1)) == ()
    assert find(f"{KEY} # gitleaks:allow")


def test_what_overlaps_is_covered_altogether() -> None:
    """Overlapping findings become one that reaches to the end of the last."""
    text = f"postgres://app:x9Kd2m{AWS_ID}@db.local password='k7Qp2xVz93LmT4'"
    assert len(find(text)) == 2
    assert AWS_ID not in masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "AKIA" + "X" * 16,
        "gh" + "p_" + "x" * 36,
        "glpat-" + "1" * 20,
        "sk_" + "live_" + "x" * 24,
        "sk_test_" + RANDOM[:24],
        "X" + AWS_ID,
        AWS_ID + "X",
        "gh" + "p_" + RANDOM[:35],
        "AIza" + RANDOM,
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
        "eyJub3RoaW5nMTIzNDU2.eyJub3RoaW5n." + RANDOM,
        "eyJhbGciOiJSUzI1NiJ9a.eyJub3RoaW5n." + RANDOM,
        "-----BEGIN PUBLIC KEY-----",
        "the PRIVATE KEY",
        "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
        "test_a_rule_says_whether_it_can_mend_what_it_finds",
    ],
)
def test_examples_and_near_misses_are_no_secrets(text: str) -> None:
    """Documented examples, repeated letters, other lengths and similar formats are not reported."""
    assert find(text) == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('password = "Tr0ub4dor&3x"', "Tr0ub4dor&3x"),
        ("DB_PASSWORD='Summer2024!'", "Summer2024!"),
        ('{"api_key": "9f8Ae7d6C5b4a3"}', "9f8Ae7d6C5b4a3"),
        ('{"x": "{\\"token\\": \\"9f8Ae7d6C5b4a3\\"}"}', "9f8Ae7d6C5b4a3"),
        ("API_KEY=9f8e7d6c5b4a39281726", "9f8e7d6c5b4a39281726"),
        ("token: 9f8e7d6c5b4a39281726", "9f8e7d6c5b4a39281726"),
        ("clientSecret : '9f8Ae7d6C5b4a3'", "9f8Ae7d6C5b4a3"),
        ("**Passphrase**: no\npassphrase: 9f8e7d6c5b4a39281726", "9f8e7d6c5b4a39281726"),
        (f"aws_secret_access_key = {AWS_KEY}", AWS_KEY),
        (f'"SecretAccessKey": "{AWS_KEY}"', AWS_KEY),
        ("postgres://app:s3cr3tPw99@db.local/ledger", "s3cr3tPw99"),
    ],
)
def test_a_random_value_behind_the_name_of_a_secret(text: str, value: str) -> None:
    """A random-looking value is a secret behind a name that says so, or before the host of a URL."""
    assert [each.span.of(text) for each in find(text)] == [value]


@pytest.mark.parametrize(
    "text",
    [
        'password = "changeme1A!"',
        "password: ${DB_PASSWORD_V2_3}",
        'token = "<your-token-2024-A1>"',
        'token = "14-1a2b3c4d"',
        "JWT_SECRET=your-secret-key-min-32-chars",
        "token: generateToken() makes a valid JWT",
        "token = jwt.sign(payload1, secret2abc3, 99)",
        "token: rotate_keys_2024_v2_step3",
        'secret = "base64encoded"',
        'password: "the usual one"',
        'password = "correct-horse-battery"',
        'token = "aaaaaaaa1B"',
        'token_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"',
        'secret = "sha256:9f86d081884c7d659a2feaa0"',
        'monkey = "9f8Ae7d6C5b4a3"',
        f"digest = {AWS_KEY}",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "postgres://user:password@localhost/ledger",
        "https://localhost:8080/a@b",
        "commit: 4f2c1e9a77d0b3c58e6f4a1d2b9c8e7f6a5d4c3b",
    ],
)
def test_words_names_and_code_are_no_secrets(text: str) -> None:
    """A value that is a word, a variable, code, or a hash is none, whatever its name."""
    assert find(text) == ()


def test_a_private_key_is_found_to_its_end() -> None:
    """All lines of a key belong to it, also in a quote, in the text of a JSON string, and where its end is cut off."""
    for text in (KEY, KEY.replace("\n", "\r\n> "), KEY.replace("\n", "\\n")):
        assert [each.span for each in find(f"a {text} b")] == [Span(2, 2 + len(text))]
    cut = KEY[: KEY.index("\nBKcw")]
    assert [each.span.of(cut) for each in find(f"{cut}\n\nAnd then prose.")] == [cut]


def test_of_two_that_overlap_one_is_reported() -> None:
    """A token behind a name such as `token` is one secret, of the token's kind."""
    assert [each.kind for each in find(f'token = "{AWS_ID}"')] == ["an AWS access key id"]


def test_the_configuration_allows_values() -> None:
    """A value in which an allowed expression matches is no secret; all others stay."""
    text = f"{AWS_ID} glpat-{RANDOM[:20]}"
    assert [each.kind for each in find(text, ("^AKIAQ", "^none$"))] == ["a GitLab token"]
    assert masked(text, ("^AKIAQ",)) == f"{AWS_ID} {'*' * 26}"


def test_masking_keeps_every_place() -> None:
    """Each character of a secret becomes a star, and line ends stay."""
    text = f"é {AWS_ID}\r\n{KEY}\nend"
    hidden = masked(text)
    assert [len(line) for line in hidden.split("\n")] == [len(line) for line in text.split("\n")]
    assert hidden.startswith("é ********************\r\n*")
    assert hidden.endswith("*\nend")
    assert not [value for value in (AWS_ID, "MIIE", "BEGIN") if value in hidden]
    assert masked("nothing here") == "nothing here"


@pytest.mark.parametrize("first", ["\\x67", "\\u0067", "\\U00000067", "\\\\x67", "\\\\\\u0067"])
def test_no_escape_hides_a_secret(first: str) -> None:
    """A token whose letters YAML or JSON write by their number is found as it is written, behind others as well."""
    token = f"{first}h\\x70_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7\\u00528"
    text = f'a: "\\u00e4 \\x41"\ntitle: "JWT {token} \\x41"'
    (secret,) = find(text)
    assert secret.kind == "a GitHub token"
    assert token.endswith(secret.span.of(text))
    assert secret.span.end == text.index(token) + len(token)
    assert masked(text) == text.replace(secret.span.of(text), "*" * (secret.span.end - secret.span.start))


def test_what_is_plain_is_found_once_beside_escapes() -> None:
    """Escapes elsewhere move no span, and what is found plain is not found again."""
    written = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = f"\\u00e4\\x41 {written} \\x41"
    assert [each.span.of(text) for each in find(text)] == [written]
    assert not find("an \\x41 and \\u12 and \\U00110000 are nothing")


def test_a_message_is_redacted() -> None:
    """A quoted value, or its beginning where it was cut, becomes stars; a few letters do not."""
    assert redactor([AWS_ID])(f"`x` is '{AWS_ID}'") == "`x` is '****'"
    assert redactor([AWS_ID])(f"`x` is '{AWS_ID[:12]}…'") == "`x` is '****…'"
    assert redactor([AWS_ID])("AKIA is how they begin") == "AKIA is how they begin"


REPEATED = (
    *(
        "eyJ-",
        "eyJa.eyJ",
        "eyJhbGciOi.",
        "sk-",
        "sk-a-",
        "-a_",
        "A",
        "AKIA",
        "_",
        "xoxb-",
        "glpat-",
        "pypi-AgE",
    ),
    *("/services/T", "password=", "token: ", ": ", "://a:", "a://b:cdefgh", "@", "a://b:cdefgh@", "='", "Q~", "-us1"),
    *("cio", "dapi", "SK1", ":AA", "1//0", "sig=", "A3-", "E.A", "0123456789abcdef", "Bearer ", "Basic QQ==", AWS_ID),
    *("Bearer a1b2c3d4e5f6g7h8i9j0", "# gitleaks:allow", f"{AWS_ID} # gitleaks:allow ", f"{AWS_ID}# gitleaks:allow\n"),
    *("PuTTY-User-Key-File-", "Private-Lines: 1", '"kty"', '"d": "', "-----BEGIN ", "PRIVATE KEY-----\n"),
    *("key", "key ", 'key["', "token\n", "secret=>", "name: KEY\nvalue", "pw=", "<token a", "_key_key", "key=key="),
    *("token|", "token,a1", "password(", "api_", "acme_key_", "live_a1", "-p ", "pass or ", "KEY ", "a.b.c.key "),
    *("https://a/hooks/", "?sig=a&sv=1", "sonar.login=", "Y IDENTIFIED BY '", "net use /user:a ", "incoming+a-1-"),
    *(
        "key</key>\n<string>",
        "password: a1b2c3d4\n",
        "password=a1",
        "base64:",
        "a:_auth=",
        "https://a1B2c3D4e5F6g7H8i9J0@",
    ),
    *("ConvertTo-SecureString -a ", "snmp-server community 1", "secret_id: ", "ZXlK", "0x.com/hooks/catch/", "==:a1"),
    *(
        "pw: a1/",
        "id/pw: a/b1C",
        "password is ",
        "&key=a1",
        "cred=",
        "-auth: a1",
        "api=",
        "password='$a<{",
        "thin:a/b1c2d3@",
    ),
    *("AUTH_KEY', '", ".dockercfg: a1", ":APA91b", "JQQJ9", "sk-a1B", "--set a.password=", "ENV A_KEY a1"),
    *(
        "user=a;",
        "user=a;pwd=",
        "pwd=abcdef;",
        "uid=a b ",
        "user: 'a', ",
        "user=a\npwd=",
        "'{{",
        "{{}}'",
        "ID:a/",
        "a@b",
        "a://b:c@d@",
    ),
    *(
        "pw (",
        "password for a ",
        "pwd of a is ",
        "is the pw ",
        "'aB1",
        "='aB3dE5fG7hI9jK1lM3nO5'",
        "twilio 'aB3dE5fG7hI9jK1lM3nO5' ",
    ),
    *("\\x41", "\\u0041 ", "\\x67hp_", "\\\\x"),
    *("-----BEGIN A ", f"{RSA}\n", RSA.replace("RSA ", ""), "QUJDREVGR0hJSktMTU5PUA\n"),
)


@pytest.mark.slow
@pytest.mark.parametrize("piece", REPEATED)
def test_no_text_takes_long(piece: str) -> None:
    """Ten times as much of any repeated text takes far less than a hundred times as long."""
    small, large = (piece * (size // len(piece)) for size in (10_000, 100_000))
    most = max(min(_seconds(small) for _ in range(3)), 0.005) * 40
    assert any(_seconds(large) < most for _ in range(3))  # again only where other load may have disturbed it


def _seconds(text: str) -> float:
    begin = process_time()
    find.__wrapped__(f"PRIVATE KEY {text}")  # without the cache of the last text
    return process_time() - begin


@pytest.mark.parametrize(
    "text",
    [
        'password.prod = "%s"',
        'API_KEY.2: "%s"',
        'client_secret.="%s"',
    ],
)
def test_a_name_goes_on_behind_a_full_stop(text: str) -> None:
    """A full stop in a name, or at its end, does not part it from its value."""
    value = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert [each.span.of(text % value) for each in find(text % value)] == [value]


@pytest.mark.parametrize("text", ["We rotate the key.\n\nIt is %s.", "a token.\r\n- `%s`", "its secret\r%s"])
def test_a_word_that_ends_a_sentence_or_a_line_is_no_name(text: str) -> None:
    """What only stands in the following line or sentence is no value of it."""
    assert find(text % "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8") == ()

"""What looks like a credential, and what does not; samples are put together here, so that no scanner takes alarm."""

from __future__ import annotations

from time import process_time

import pytest

from taskstate.secrets import PRIVATE_KEY, TOKENS, find, masked, unsaid
from taskstate.text import Span

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS_ID = "AKIA" + "QWERTYUIOPASDFGH"
AWS_KEY = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzQ8kLmNoPq"
WEB_TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ" + ".eyJzdWIiOiI0MiIsInJvbGUiOiJhZG1pbiJ9." + RANDOM
RSA = "-----BEGIN RSA " + "PRIVATE KEY-----"
KEY = RSA + "\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcw==\n-----END RSA " + "PRIVATE KEY-----"
SAMPLES = (
    (AWS_ID, "an AWS access key id"),
    ("ASIA" + "QWERTYUIOPASDFGH", "an AWS access key id"),
    *((f"gh{letter}_" + RANDOM, "a GitHub token") for letter in "pousr"),
    ("github_" + "pat_" + RANDOM[:22] + "_" + (RANDOM * 2)[:59], "a GitHub token"),
    ("glpat-" + RANDOM[:20], "a GitLab token"),
    ("xoxb-" + "123456789012-123456789012-" + RANDOM[:24], "a Slack token"),
    ("hooks.slack.com/" + "services/T01ABCDEF/B01ABCDEF/" + RANDOM[:24], "a Slack webhook"),
    ("AIza" + RANDOM[:35], "a Google API key"),
    ("sk_" + "live_" + RANDOM[:24], "a Stripe key"),
    ("rk_" + "live_" + RANDOM[:24], "a Stripe key"),
    ("npm_" + RANDOM, "an npm token"),
    ("pypi-" + "AgEIcHlwaS5vcmc" + RANDOM * 2, "a PyPI token"),
    ("sk-proj-" + RANDOM[:20] + "T3Blbk" + "FJ" + RANDOM[:20], "an OpenAI key"),
    ("sk-" + RANDOM[:20] + "T3Blbk" + "FJ" + RANDOM[:20], "an OpenAI key"),
    ("sk-ant-" + "api03-" + RANDOM * 2, "an Anthropic key"),
    (WEB_TOKEN, "a JSON Web Token"),
    (RSA, PRIVATE_KEY),
    (RSA.replace("RSA ", ""), PRIVATE_KEY),
    (RSA.replace("RSA", "OPENSSH"), PRIVATE_KEY),
    (RSA.replace("RSA", "PGP").replace("KEY-", "KEY BLOCK-"), PRIVATE_KEY),
)
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


def test_every_kind_has_a_sample() -> None:
    """No form in the table goes untried."""
    assert {kind for _, kind in SAMPLES} == {kind for kind, _ in TOKENS} | {PRIVATE_KEY}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("value", "kind"), SAMPLES)
def test_a_token_is_told_by_its_form(value: str, kind: str, place: str) -> None:
    """Wherever a known token stands, it is found once, with its exact place."""
    text = place.format(value)
    at = text.index(value)
    assert [(each.span, each.kind) for each in find(text)] == [(Span(at, at + len(value)), kind)]


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
def test_what_nobody_could_use_is_no_secret(text: str) -> None:
    """Documented examples, repeated letters, other lengths and things that look alike are none."""
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
def test_a_random_value_behind_a_telling_name(text: str, value: str) -> None:
    """What looks random is a secret where its name says so, or where it stands before the host of an address."""
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


def test_of_two_that_overlap_one_is_told() -> None:
    """A token behind a telling name is one secret, told by its form."""
    assert [each.kind for each in find(f'token = "{AWS_ID}"')] == ["an AWS access key id"]


def test_the_configuration_allows_values() -> None:
    """A value in which one of the expressions is found is no secret, and nothing else is spared."""
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


def test_words_about_a_secret_do_not_say_it() -> None:
    """What quotes a value, or its beginning where it was cut, says stars in its place; a few letters are no value."""
    assert unsaid(f"`x` is '{AWS_ID}'", [AWS_ID]) == "`x` is '****'"
    assert unsaid(f"`x` is '{AWS_ID[:12]}…'", [AWS_ID]) == "`x` is '****…'"
    assert unsaid("AKIA is how they begin", [AWS_ID]) == "AKIA is how they begin"


@pytest.mark.parametrize(
    "piece",
    [
        *("eyJ-", "eyJa.eyJ", "eyJhbGciOi.", "sk-", "sk-a-", "-a_", "A", "AKIA", "_", "xoxb-", "glpat-", "pypi-AgE"),
        *(
            "/services/T",
            "password=",
            "token: ",
            ": ",
            "://a:",
            "a://b:cdefgh",
            "@",
            "a://b:cdefgh@",
            "='",
            "-----BEGIN ",
            "PRIVATE KEY-----\n",
            "-----BEGIN A ",
        ),
        *("-----BEGIN RSA PRIV" + "ATE KEY-----\n", "-----BEGIN PRIV" + "ATE KEY-----", "QUJDREVGR0hJSktMTU5PUA\n"),
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """Whatever is repeated how often: ten times as much text takes no hundred times as long."""
    small, large = (_seconds(piece * (size // len(piece))) for size in (20_000, 200_000))
    assert large < max(small, 0.01) * 40


def _seconds(text: str) -> float:
    begin = process_time()
    find(f"PRIVATE KEY {text}")
    return process_time() - begin

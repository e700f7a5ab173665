"""A text that holds a secret is refused before it is written, with words that do not say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.model.config import Config, Secrets
from taskstate.writing import secret_check
from taskstate.writing.secret_check import new_secrets
from tests.support.place import refusal
from tests.support.secret_lines import positive

if TYPE_CHECKING:
    from collections.abc import Iterable

AWS_ID = "AKIA" + "QWERTYUIOPASDFGH"
OTHER = "AKIA" + "ZXCVBNMASDFGHJKL"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END RSA " + "PRIVATE KEY-----"


def require_none(
    text: str, config: Config, *, what: str, force: bool = False, known: Iterable[str] = ()
) -> tuple[str, ...]:
    """Do what whoever writes a text does: refuse what is new in it, or warn of that where it is forced."""
    lines = secret_check.describe(text, new_secrets(text, config, known), what)
    if lines and not force:
        raise secret_check.refusal(lines)
    return secret_check.warnings(lines)


def test_a_text_without_secrets_passes() -> None:
    """A text without secrets is neither refused nor warned of."""
    assert require_none("commit 4f2c1e9a77d0b3c58e6f4a1d2b9c8e7f6a5d4c3b", Config(), what="the note") == ()


def test_every_kind_is_refused_and_no_value_is_said() -> None:
    """The error names the kind and the line, and no part of the value."""
    for line in positive():
        assert line.span
        error = refusal(lambda line=line: require_none(f"one\n{line.text}", Config(), what="the note"))  # type: ignore[misc]  # mypy cannot type a lambda's default
        at = 2 + line.text.count("\n", 0, line.span.start)
        assert error.code == "secret"
        assert error.message == f"the note, line {at}: this looks like {line.kind}"
        assert "--force-secrets" in error.help
        value = line.span.of(line.text)
        said = str(error).replace(line.kind, "")  # a kind may well speak of a password
        assert not any(value[start : start + 12] in said for start in range(max(len(value) - 12, 1)))


def test_many_findings_are_told_in_one_line() -> None:
    """The error names the first three findings and counts the rest."""
    error = refusal(lambda: require_none("\n".join([AWS_ID] * 5), Config(), what="x"))
    assert error.message.count("looks like") == 3
    assert error.message.endswith("; and 2 more")


def test_what_is_forced_is_warned_of() -> None:
    """A forced text gives one warning for each finding, without the value."""
    lines = require_none(f"{AWS_ID}\n{KEY}", Config(), what="the log", force=True)
    assert [each.partition(", line ")[2] for each in lines] == [
        "1: this looks like an AWS access key id; written anyway",
        "2: this looks like a private key; written anyway",
    ]
    assert not any(AWS_ID in each or "MIIE" in each for each in lines)


def test_what_is_known_is_no_news() -> None:
    """A value that an old text contains is not refused, also if its lines are quoted there."""
    config = Config()
    assert require_none(f"moved {AWS_ID}", config, what="x", known=[f"here was {AWS_ID}."]) == ()
    assert new_secrets(f"{AWS_ID} {OTHER}", config, [AWS_ID])[0].span.of(f"{AWS_ID} {OTHER}") == OTHER
    assert new_secrets(KEY, config, ["> " + KEY.replace("\n", "\n> ")]) == ()
    assert new_secrets(KEY.replace("\n", "\n  "), config, [KEY]) == ()
    assert new_secrets(KEY, config, [KEY.replace("MIIE", "MIIF")])


def test_known_texts_are_looked_at_only_when_needed() -> None:
    """Without findings the old texts are not read."""
    known = iter([AWS_ID])
    assert new_secrets("nothing here", Config(), known) == ()
    assert [*known] == [AWS_ID]


def test_the_configuration_and_the_line_allow() -> None:
    """A value allowed by the configuration or by a comment on its line is written without a warning."""
    allowing = Config(secrets=Secrets(allow=("^AKIAQ",)))
    assert require_none(AWS_ID, allowing, what="x") == ()
    assert require_none(f"{AWS_ID} # taskstate: allow secret", Config(), what="x") == ()

"""Laws of secrets: found anywhere in a text, and shown by no report."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.lint import engine
from taskstate.lint.reporters import FORMATS, Run, reporter
from taskstate.model.config import Config
from taskstate.secrets.mask import masked
from taskstate.secrets.scan import find
from taskstate.syntax.spans import Span
from taskstate.writing.secret_check import changed_parts, exceeding, new_secrets
from taskstate.writing.writer import unified_diff
from tests.support.lint_corpus import cases, clean_files
from tests.support.secret_lines import positive

CORPUS = [
    *((case.name, case.text) for case in cases() if case.text is not None and len(case.text) < 20_000),
    *((path.as_posix(), path.read_text(encoding="utf-8")) for path in clean_files()),
]
BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKEN = "ghp_" + BODY
SEPARATORS = (" ", "-", "\n", '"', ": ")
REVEALING = 8  # characters: fewer of a value give nothing away
PIECES = (
    *(TOKEN, "AKIA" + "QWERTYUIOPASDFGH", f'password = "{BODY}"', f"API_KEY={BODY}", f"postgres://app:{BODY}@db/x"),
    *("-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQ"),
    *("ghp_", "=", ": ", '"', "\n", "\r\n", "\\n", " ", "é", "😀", "x", "*", "-", "_", "://", "@", "token", "eyJ", "."),
)
TOKENS = [line.span.of(line.text) for line in positive() if line.span and "\n" not in line.text]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


@given(texts)
def test_masking_leaves_nothing_to_find(text: str) -> None:
    """A masked text has the same lines of the same lengths, no secret, and is otherwise the same."""
    hidden = masked(text)
    assert find(hidden) == ()
    assert re.sub(r"[^\r\n]", "x", hidden) == re.sub(r"[^\r\n]", "x", text)
    secret = {at for each in find(text) for at in range(*each.span)}
    assert [char for at, char in enumerate(hidden) if at not in secret] == [
        char for at, char in enumerate(text) if at not in secret
    ]


@given(st.lists(st.sampled_from((*TOKENS, *PIECES)), max_size=8), st.sampled_from(["", " ", "\n", ",", "|"]))
def test_masking_leaves_nothing_of_any_kind(pieces: list[str], between: str) -> None:
    """However tokens of all kinds stand beside each other, none is left when they are masked."""
    assert find(masked(between.join(pieces))) == ()


lines = st.lists(
    st.sampled_from([*TOKENS[::7], *PIECES, "plain", "# gitleaks:allow", "", "---", "\r", "AKIA", "QWERTYUIOPASDFGH"]),
    max_size=6,
).map("".join)
# Two tokens without anything between them are one longer token, in which counting by value sees the shorter one again.
_GLUED = [one + other for one in (TOKEN, *TOKENS[::7]) for other in (TOKEN, *TOKENS[::7])]
lines = lines.filter(lambda line: not any(each in line for each in _GLUED))
whole = st.lists(lines, max_size=6).map("\n".join)


@given(st.data())
def test_a_write_is_refused_exactly_where_a_secret_is_new(data: st.DataObject) -> None:
    """Looking at the lines that change finds what looking at all of the text finds, without what stood there before."""
    old = data.draw(whole)
    new = data.draw(whole | st.just(old)) if data.draw(st.booleans()) else _edited(old, data)
    secrets = [
        each._replace(span=Span(part.start + each.span.start, part.start + each.span.end))
        for part in changed_parts(old, new)
        for each in find(part.of(new))
    ]
    parts = exceeding(new, secrets, old)
    whole_text = new_secrets(new, Config(), (old,))
    # Not how often: of tokens that overlap, one is found, and each occurrence counts.
    assert {each.span.of(new) for each in parts} == {each.span.of(new) for each in whole_text}


def _edited(old: str, data: st.DataObject) -> str:
    """Return a text with a part replaced."""
    start, end = sorted(data.draw(st.integers(0, len(old))) for _ in range(2))
    return old[:start] + data.draw(lines) + old[end:]


@given(
    texts,
    st.sampled_from(["", " ", "\n", "\t", "(", '"', "é", "- ", "\\n"]),
    st.sampled_from(["", " ", "\n", ")", '"']),
)
def test_a_token_is_found_in_any_surroundings(text: str, before: str, behind: str) -> None:
    """Whatever stands before and behind it, a token that is a word of its own is masked."""
    start = len(text) + len(before) + 1
    hidden = masked(f"{text} {before}{TOKEN}{behind} {text}")
    assert hidden[start : start + len(TOKEN)] == "*" * len(TOKEN)


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_no_report_shows_a_secret(name: str, data: st.DataObject) -> None:
    """Wherever a secret stands in a file of the corpus, no report of any format repeats a revealing part of it."""
    path, text = data.draw(st.sampled_from(CORPUS))
    places = [match.start() for match in re.finditer(r"(?<![A-Za-z0-9_])", text)]
    for at in sorted(data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=3)), reverse=True):
        text = f"{text[:at]}{TOKEN}{data.draw(st.sampled_from(SEPARATORS))}{text[at:]}"
    findings = engine.findings(text.encode(), path, Config())
    report = reporter(name)(findings, Run(files=1)).lower()
    assert TOKEN[:REVEALING].lower() not in report
    assert BODY[-REVEALING:].lower() not in report


@given(st.sampled_from(CORPUS), st.data())
def test_no_diff_shows_a_secret(entry: tuple[str, str], data: st.DataObject) -> None:
    """What a fix would change is shown without the secrets in it."""
    path, text = entry
    at = data.draw(st.sampled_from([match.start() for match in re.finditer(r"(?<![A-Za-z0-9_])", text)]))
    whole = f"{text[:at]}{TOKEN} {text[at:]}"
    fixed = engine.fix(whole, path, Config(), unsafe=True).text
    assert BODY not in unified_diff(path, whole, fixed)


def test_a_file_that_is_no_text_shows_no_secret() -> None:
    """Also the line at which a file is not UTF-8 is shown without the secrets in it."""
    (finding,) = engine.findings(f"{TOKEN} \xe9".encode("latin-1"), "task-1-state.md", Config())
    assert finding.diagnostic.code == "TS001"
    assert finding.source == f"{'*' * len(TOKEN)} \ufffd"

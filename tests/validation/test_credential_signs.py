"""The look that spares a text the search misses nothing that the search finds."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.secrets.scan import find
from taskstate.validation.credential_signs import may_hold_credential
from tests.support.secret_lines import negative, positive

PIECES = [
    *("password", "Api_Key", "token", "Authorization: Basic ", " -u ", " --user=", " --proxy-user ", "://", "@host"),
    *("=", ": ", ", ", "(", "`", '"', "'", "\\x67", "\\u0067", " is ", "\n", "\r\n", "\u0130", "<!-- allow secret -->"),
    *(
        "hunter2x",
        "Xy7",
        "ghp_",
        "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
        "words",
        "AKIA",
        "QWERTZUIOPASDFGH",
        "joe:pa55w0rd",
    ),
]


def test_what_is_found_is_looked_for() -> None:
    """Every line of the cases that holds a secret is searched, and of the others each in which one is found."""
    assert not [line.text for line in positive() if not may_hold_credential(line.text)]
    assert not [line.text for line in negative() if not may_hold_credential(line.text) and find(line.text)]


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_no_search_finds_what_the_look_has_missed(pieces: list[str]) -> None:
    """Where the look sees nothing, the search finds nothing."""
    text = "".join(pieces)
    assert may_hold_credential(text) or not find(text)


@pytest.mark.parametrize(
    "text",
    [
        "ID   STATUS       FEATURES  SESSIONS  SIZING  KB  TITLE\n1    in_progress  4/10  1  simple  6   Tokens",
        "101  JWT Service\n  feature jwt-1: Tokens are signed with a key.\n  why: in progress; 12 tasks wait for it",
        "a pass through basic words, and the author of 3 keys",
    ],
)
def test_plain_words_are_not_searched(text: str) -> None:
    """What commands print of ordinary tasks does not load the search."""
    assert not may_hold_credential(text)


@pytest.mark.parametrize("unit", ["key ", "key 1 ", "pass", "://", " -u", "\\x6", "a" * 40 + " "])
def test_the_look_takes_time_in_proportion(unit: str) -> None:
    """A megabyte of what it looks for is looked at in a moment."""
    begun = time.process_time()
    may_hold_credential(unit * (1_000_000 // len(unit)))
    assert time.process_time() - begun < 1

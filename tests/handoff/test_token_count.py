from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import corpus, sample
from taskstate.handoff import token_count

ROOT = Path(__file__).parents[2]
NEEDS_TOKENIZER = pytest.mark.skipif(not token_count.counter().is_exact, reason="the extra `tokens` is not installed")
PARAGRAPHS = st.text(st.sampled_from("abcXYZ 019.,-_#*`'\"{}[]\u00e9\u4e00\u2014\U0001f600"), min_size=1, max_size=60)


def own_texts() -> dict[str, str]:
    """Return texts as the project has them: its documents, its schemas, and generated state files.

    The page of measurements is left out: it is a table of figures, which no brief has.
    """
    found = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    del found["performance.md"]
    found |= {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "schemas").glob("*.json")}
    several = corpus.Corpus(name="tokens", files=12, least=3, most=30, total="200 KB")
    found |= {name: data.decode() for name, data in corpus.generate(several)}
    return found | {name: data.decode() for name, data in sample.files().items() if not name.endswith(".gz")}


def test_an_estimate_of_nothing_is_nothing() -> None:
    """An empty text has no tokens, and a word at least one."""
    assert [token_count.estimate(text) for text in ("", "word", "two words")] == [0, 2, 3]


@NEEDS_TOKENIZER
def test_the_estimate_leans_upwards() -> None:
    """On every text of ours it is at most 2 % below the truth and at most 20 % above it."""
    off = {name: token_count.estimate(text) / token_count.count(text) for name, text in own_texts().items()}
    assert {name: ratio for name, ratio in off.items() if not 0.98 <= ratio <= 1.2} == {}


@NEEDS_TOKENIZER
def test_marks_of_a_vocabulary_are_text() -> None:
    """Control tokens in a text are counted as ordinary characters."""
    assert token_count.count("<|endoftext|>") > 1


@given(st.lists(PARAGRAPHS.filter(str.strip), max_size=8))
def test_weights_of_paragraphs_add_up(paragraphs: list[str]) -> None:
    """The weight of a text is the sum of its paragraphs', each with the line end before it."""
    together = token_count.weight("".join(f"\n{each}" for each in paragraphs))
    assert together == sum(token_count.weight(f"\n{each}") for each in paragraphs)
    assert together == token_count.weight("".join(f"\n\n{each}" for each in paragraphs))


def test_without_the_extra_it_is_estimated() -> None:
    """Where the tokenizer cannot be imported, `count` is the estimate, and `counter` says so."""
    code = (
        "import sys; sys.modules['splintr'] = None\n"
        "from taskstate.handoff import token_count as tokens\n"
        "print(tokens.count('some words') == tokens.estimate('some words'), *tokens.counter())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "True estimate False\n"


@NEEDS_TOKENIZER
def test_counting_needs_no_network() -> None:
    """The vocabulary is in the wheel: counting opens no socket."""
    code = (
        "import socket\n"
        "def refuse(*_): raise RuntimeError('a socket')\n"
        "socket.socket = socket.create_connection = refuse\n"
        "from taskstate.handoff import token_count as tokens\n"
        "print(tokens.count('the quick brown fox'), *tokens.counter())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "4 o200k_base True\n"

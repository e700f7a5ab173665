from __future__ import annotations

import hashlib

import pytest

from benchmarks import sample
from taskstate.handoff import token_count
from taskstate.lint.engine import findings
from taskstate.model.config_reader import read_config
from taskstate.model.static_context import context_seal, read_static
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.document import parse

FILES = sample.files()
TEXTS = {name: data.decode() for name, data in FILES.items() if not name.endswith(".gz")}


def test_the_sample_is_as_large_as_it_says() -> None:
    """A task file of 250 lines, five standards of 100 to 300 lines, three roles, twelve sessions."""
    lines = {name: text.count("\n") for name, text in TEXTS.items()}
    state = read_state(parse(TEXTS[sample.STATE_FILE]))
    assert lines[sample.TASK_FILE] == 250
    assert sorted(count for name, count in lines.items() if name.startswith("standards/")) == [100, 150, 200, 250, 300]
    assert [session.number for session in state.sessions] == list(range(1, 13))
    assert len(state.document.front_matter["coordination"]) == 3


def test_the_sample_is_the_same_everywhere() -> None:
    """One seed gives one project, on any machine and with any Python."""
    assert {name: data.decode() for name, data in sample.files().items() if not name.endswith(".gz")} == TEXTS
    whole = "".join(text for _, text in sorted(TEXTS.items()))
    assert (
        hashlib.sha256(whole.encode()).hexdigest() == "b3d5aeca6c553664bfe81ffab3a1b8507386790921969700413aaeca2352ad8b"
    )


def test_the_sample_is_sound() -> None:
    """The state file lints clean as far as its own text goes, its seal holds, and its citations are right."""
    assert list(findings(FILES[sample.STATE_FILE], sample.STATE_FILE, read_config({}, "the test"))) == []
    document = parse(TEXTS[sample.STATE_FILE])
    values = front_matter_values(document)
    assert context_seal(document, values) == document.front_matter["context"]["seal"]
    for each in read_static(read_state(document)).standards:
        first, last = (int(number.removeprefix("L")) for number in each["line_span"].split("-"))
        cited = TEXTS[each["file"]].split("\n")[first - 1 : last]
        assert cited[0].lower().removeprefix("## ").replace(" ", "-") == each["section"]
        assert hashlib.sha256("\n".join(cited).encode()).hexdigest()[:16] == each["content_sha"]


@pytest.mark.skipif(not token_count.counter().is_exact, reason="the extra `tokens` is not installed")
def test_the_sample_is_as_dense_as_real_documents() -> None:
    """Its lines are as long as those of documents are, with 12 to 15 tokens: short ones would flatter nobody."""
    dense = {
        name: token_count.count(text) / text.count("\n") for name, text in TEXTS.items() if name != sample.STATE_FILE
    }
    assert {name: each for name, each in dense.items() if not 12 <= each <= 15} == {}

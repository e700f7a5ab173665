"""The laws of transcripts: whatever stands in one, it is read without an error, in order, in any number of parts."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.transcripts import reading
from tests.transcripts.test_reading import CASES, transcript_of

if TYPE_CHECKING:
    from collections.abc import Sequence

LINES = {path.stem: path.read_bytes().splitlines() for path in CASES}
DEEP = b'{"type":"user","message":{"content":' + b"[" * 200_000 + b"\n"
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.sampled_from(["\ud800", 10**30]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a line of a case in which one value, at any depth, is another one."""
    line = json.loads(
        draw(st.sampled_from([each for lines in LINES.values() for each in lines if each.endswith(b"}")]))
    )
    at = line
    while True:
        key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not (isinstance(at[key], dict | list) and at[key]) or draw(st.booleans()):
            break
        at = at[key]
    at[key] = draw(VALUES)
    return json.dumps(line, allow_nan=True).encode()


def read_all(folder: str, name: str, lines: Sequence[bytes]) -> reading.Reading:
    """Return what is read of these lines after the first ones of a case, both ways to read them being tried."""
    path = Path(folder) / f"{name}.jsonl"
    path.write_bytes(b"\n".join([*LINES[name][:2], *lines, b""]))
    transcript = transcript_of(path)
    fill = reading.usage(transcript)
    assert fill.problem == ""
    assert fill.usage is None or (fill.usage.used > 0 and fill.usage.window >= 0)
    return reading.read(transcript)


@example(name="claude-2.1.332-edits", lines=[DEEP, b'{"type":"user","message":{"content":"after"}}'])
@given(name=st.sampled_from(sorted(LINES)), lines=st.lists(damaged() | st.binary(max_size=40), max_size=12))
def test_no_line_is_an_error(name: str, lines: list[bytes]) -> None:
    """Any bytes, any value of any type at any place, and any depth: each text that comes out can be written."""
    with tempfile.TemporaryDirectory() as folder:
        read = read_all(folder, name, lines)
    assert read.problem == ""
    for event in (*read.events, *read.running):
        json.dumps(event._asdict(), ensure_ascii=False).encode()
        assert len(event.at) in {0, len("2026-01-31T12:00:00Z")}
        assert all(type(each) is not float for each in event)


@pytest.mark.parametrize("name", sorted(LINES))
def test_in_two_parts_the_same_is_read(name: str, tmp_path: Path) -> None:
    """Wherever the file ended when it was read first, the second reading tells the rest, and nothing twice."""
    path = tmp_path / f"{name}.jsonl"
    path.write_bytes(whole := next(each for each in CASES if each.stem == name).read_bytes())
    transcript = transcript_of(path)
    expected, first_two = reading.read(transcript), len(b"\n".join(LINES[name][:2])) + 1
    ends = [at + by for at in range(first_two, len(whole)) if whole[at - 1 : at] == b"\n" for by in (0, 1, 40)]
    for end in ends:
        path.write_bytes(whole[:end])
        first = reading.read(transcript)
        path.write_bytes(whole)
        second = reading.read(transcript, first.offset, identity=first.identity)
        assert first.events + second.events == expected.events
        assert second.running == expected.running
        assert not second.is_anew
        assert (second.offset, second.unread) == (expected.offset, 0)


@given(budget=st.integers(1, 12_000), name=st.sampled_from(sorted(LINES)))
def test_what_is_read_within_a_budget_is_the_end_of_all(budget: int, name: str) -> None:
    """A small budget leaves out the beginning, says how much, and keeps the order of the rest."""
    transcript = transcript_of(next(each for each in CASES if each.stem == name))
    size = Path(transcript.path).stat().st_size
    all_of_it, some = reading.read(transcript), reading.read(transcript, budget=budget)
    assert some.unread == max(0, size - budget + 1)
    told = [each for each in some.events if type(each).__name__ in {"Prompt", "Words"}]
    everything = [each for each in all_of_it.events if type(each).__name__ in {"Prompt", "Words"}]
    assert told == everything[len(everything) - len(told) :]


def test_three_thousand_lines_of_types_that_nobody_knows(tmp_path: Path) -> None:
    """Lines of a version to come tell nothing, and hide nothing of what is known."""
    chance = random.Random(41)  # noqa: S311 - nothing secret
    words = ["type", "message", "payload", "content", "$set", "toolCalls", "tokens", "item", "info", "usage", "new"]

    def value(depth: int) -> Any:  # noqa: ANN401 - JSON
        kind = chance.randrange(6 if depth else 3)
        if kind > 2:
            return {chance.choice(words): value(depth - 1) for _ in range(kind - 2)}
        return [[value(depth - 1)] if depth else [], chance.choice([*words, "user"]), chance.randrange(9)][kind]

    for name in ("claude-2.1.332-edits", "codex-0.171.0", "gemini-0.61.0"):
        noise = [json.dumps({word: value(3) for word in chance.sample(words, 4)}).encode() for _ in range(3000)]
        read = read_all(str(tmp_path), name, [*noise, *LINES[name][2:]])
        assert read.problem == ""
        assert len(read.events) >= len(reading.read(transcript_of(next(p for p in CASES if p.stem == name))).events)

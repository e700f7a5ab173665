"""The laws of outputs that are handed down: quoted they come back word for word, pulled twice they change nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from taskstate.errors import TaskstateError
from taskstate.model import chain, chain_quotes
from taskstate.model.algorithms import DependencyGraph
from taskstate.model.canonical_json import sha256
from taskstate.model.chain_quotes import Upstream
from taskstate.model.config import Chain, Config
from taskstate.model.document_kinds import section_key
from taskstate.syntax import escaping
from taskstate.syntax.document import Document, parse
from taskstate.syntax.spans import with_newlines
from tests.support.markdown_strategies import any_text, outside, state_files

NOW, LATER = "2025-02-03T11:30:00Z", "2025-02-04T09:00:00Z"
newlines = st.sampled_from(["\n", "\r\n", "\r"])
limits = st.sampled_from([1, 3, 1000])
STATE = """---
taskstate: 1
task_id: "102"
title: Endpoints
status: in_progress
created_at: "2024-11-26T14:00:00Z"
---

# Task #102: Endpoints - State

## 1. Static Context

## 2. Chain Inputs

{}

## 3. Feature Checklist

## 6. Chain Output
"""


def upstream(output: str, task_id: str = "101") -> Upstream:
    """Return a complete task with that output."""
    text = with_newlines(output, "\n").strip("\n")
    return Upstream(task_id, f"task-{task_id}-state.md", "JWT Service", "complete", 4, (), text, sha256(text)[:16])


REFUSED = {"empty", "control-characters", "section-missing", "unsafe"}


def is_taken(output: str) -> bool:
    """Return whether a text can take an output, or fails in a way that a test should meet."""
    try:
        chain.with_input(parse(STATE.format("None.")), upstream(output), NOW, Config())
    except TaskstateError as error:
        return error.code not in REFUSED
    return True


def pulled(text: str, up: Upstream, now: str = NOW, kb: int = 3) -> str:
    """Return the text with the output pulled; a text that cannot take it is not asked after."""
    try:
        return chain.with_input(parse(text), up, now, Config(chain=Chain(max_input_kb=kb)))
    except TaskstateError as error:
        assume(error.code not in REFUSED)
        raise


def others(document: Document) -> list[str]:
    """Return what stands outside the Chain Inputs, section by section."""
    found = [each for each in document.sections if each.level == 2]
    first = next(each for each in found if section_key(each.title) == "chain inputs")
    text = document.text
    return [text[: first.span.start], text[first.span.end :]]


@given(outside)
@example("> a\n>\n\n  > b\n>")
@example(" \n\t\n")
def test_quoting_is_reversible(text: str) -> None:
    """What is quoted comes back word for word, whatever it looks like."""
    text = with_newlines(text, "\n")
    assert chain_quotes.unquoted(escaping.quote(text)) == text
    assert all(line.startswith(">") for line in escaping.quote(text).split("\n"))


@given(state_files, outside, limits)
def test_pulling_changes_one_place(text: str, output: str, kb: int) -> None:
    """Other sections stay as they are to the byte, no line that was there is lost, and the input is found again."""
    after = pulled(text, upstream(output), kb=kb)
    before, now = parse(text), parse(after)
    assert others(now) == others(before)
    (found,) = (each for each in chain.inputs_of(now) if each.id == "101")
    assert found.is_of(upstream(output))
    kept = iter(after)
    ours = text if "None" not in text and "completed" not in text else ""
    assert all(char in kept for char in ours)


@given(state_files, outside, limits, newlines)
def test_pulling_twice_changes_nothing(text: str, output: str, kb: int, newline: str) -> None:
    """The same output is pulled once, whenever it is asked for again."""
    once = pulled(with_newlines(text, newline), upstream(output), kb=kb)
    assert pulled(once, upstream(output)._replace(revision=9), LATER, kb=kb) == once


@given(outside)
def test_every_output_can_be_pulled(output: str) -> None:
    """Only what holds nothing, or control characters, is refused: nothing in an output is structure."""
    try:
        chain.with_input(parse(STATE.format("None.")), upstream(output), NOW, Config())
    except TaskstateError as error:
        refused: str = error.code
    else:
        refused = ""
    assert refused in {"", "empty", "control-characters"}


@given(outside, outside, st.sampled_from(["None.", "", "*To be completed.*", "Mine.", "- a\n\n---", "> q"]), newlines)
def test_pulling_again_replaces_the_tools_part_alone(first: str, second: str, own: str, newline: str) -> None:
    """A later output takes the place of the earlier one, and gives what it would have given at once."""
    text = with_newlines(STATE.format(own), newline)
    assert pulled(pulled(text, upstream(first)), upstream(second), NOW) == pulled(text, upstream(second), NOW)


@given(outside, outside, st.integers(0, 50), limits)
def test_lines_written_into_a_quote_are_kept(first: str, second: str, at: int, kb: int) -> None:
    """Wherever in a whole quote somebody has written a line, it is there when the output is pulled again, once."""
    text = pulled(STATE.format("None."), upstream(first), kb=1000)
    (before,) = chain.inputs_of(parse(text))
    lines = before.quote.of(text).split("\n")
    lines.insert(min(at, len(lines) - 1) + 1, "> mine, and nobody else's")
    text = text[: before.quote.start] + "\n".join(lines) + text[before.quote.end :]
    after = pulled(text, upstream(second), kb=kb)
    assert after.count("> mine, and nobody else's") == 1
    assert pulled(after, upstream(second), LATER, kb=kb) == after


paragraphs = st.text(st.sampled_from("ab .`-#\u3002"), min_size=1, max_size=400).filter(str.strip)
parts = st.lists(st.lists(paragraphs, min_size=1, max_size=6).map("\n\n".join), min_size=1, max_size=8)


@given(parts, st.sampled_from([1, 2]))
def test_each_part_of_a_cut_output_has_its_share(texts: list[str], kb: int) -> None:
    """A quote keeps within its limit and in order, invents no line, and leaves no part out that has room."""
    up = upstream("\n\n".join(f"### P{number}\n\n{text}" for number, text in enumerate(texts)))
    quote = chain_quotes.quote_of(up, Config(chain=Chain(max_input_kb=kb)))
    assert len(quote.encode()) <= kb * 1024
    whole = iter(up.output.split("\n"))
    lines = [line for line in chain_quotes.unquoted(quote).split("\n") if not line.startswith("*Cut to stay")]
    for line in (each.removesuffix(chain_quotes.MORE).rstrip() for each in lines):
        assert not line or any(each.startswith(line) for each in whole)
    assert all(f"### P{number}" in lines for number in range(len(texts)))


@given(parts, st.lists(st.text("xyz", min_size=1), min_size=1, max_size=3))
def test_lines_below_a_cut_quote_are_kept_once(texts: list[str], own: list[str]) -> None:
    """What somebody wrote below a quote that is cut is there once when it is pulled again, and nothing else."""
    up = upstream("\n\n".join(f"### P{number}\n\n{text}" for number, text in enumerate(texts)))
    text = pulled(STATE.format("None."), up, kb=1)
    (before,) = chain.inputs_of(parse(text))
    added = "".join(f"\n> {each}" for each in own)
    after = pulled(text[: before.quote.end] + added + text[before.quote.end :], up, kb=1)
    assert after == text[: before.quote.end] + "\n" + added + text[before.quote.end :]


@given(st.lists(outside.filter(is_taken), min_size=2, max_size=4), st.permutations(range(4)))
def test_inputs_leave_one_another_alone(outputs: list[str], order: list[int]) -> None:
    """Each input is brought up to date for itself, in any order."""
    text = STATE.format("None.")
    for number, output in enumerate(outputs):
        text = pulled(text, upstream(output, f"10{number}"))
    again = text
    for number in (each for each in order if each < len(outputs)):
        again = pulled(again, upstream(outputs[number] + "\n\nmore", f"10{number}"))
    assert [each.id for each in chain.inputs_of(parse(again))] == [f"10{number}" for number in range(len(outputs))]


@given(any_text)
def test_any_text_can_be_read(text: str) -> None:
    """Reading an upstream file never raises, and its output is quoted whole."""
    found = chain.read_upstream(parse(text), "task-101-state.md")
    assert bool(found.output) == bool(found.output_sha)
    assert "\r" not in found.output
    assert chain.inputs_of(parse(text)) is not None
    assert chain.named_inputs(parse(text)) is not None


@given(state_files)
def test_parts_are_the_whole_output(text: str) -> None:
    """The parts of an output, put together again, are the output."""
    output = chain.output_of(parse(text))
    assert "\n".join("\n".join(chain_quotes.parts_of(output)).split()) == "\n".join(output.split())


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@given(output=outside)
def test_output_is_handed_on_as_it_stands(newline: str, output: str) -> None:
    """What stands in the Chain Output of a complete task is its output, whatever its line ends."""
    text = STATE.format("None.").replace("in_progress", "complete") + "\n### Summary\n\nDone.\n"
    found = chain.read_upstream(parse(with_newlines(text, newline)), "task-102-state.md")
    assert found.output == "### Summary\n\nDone."
    assert found.output_sha == sha256(found.output)[:16]
    with_more = pulled(with_newlines(STATE.format("None."), newline), upstream(output))
    assert chain.read_upstream(parse(with_more), "task-102-state.md").output == ""


graphs = st.lists(st.lists(st.integers(0, 7), max_size=3), min_size=8, max_size=8)


@given(graphs, st.integers(0, 7), st.integers(0, 7))
def test_way_is_a_shortest_one(graph: list[list[int]], start: int, goal: int) -> None:
    """There is a way exactly where a plain search finds one, and none is shorter; each of its steps is a dependency."""
    known = DependencyGraph(lambda task: tuple(map(str, graph[int(task)])))
    for each in range(8):  # whatever was asked before
        known.shortest_path(str(each), str(goal))
    way = known.shortest_path(str(start), str(goal))
    assert len(way) == _steps(graph, start, goal)
    assert all(int(after) in graph[int(before)] for before, after in pairwise(way))
    assert not way or (way[0], way[-1]) == (str(start), str(goal))


def _steps(graph: list[list[int]], start: int, goal: int) -> int:
    """Return how many tasks a shortest way has; 0 where there is none."""
    reached, steps = {start}, 1
    while goal not in reached:
        more = reached | {after for before in reached for after in graph[before]}
        if more == reached:
            return 0
        reached, steps = more, steps + 1
    return steps

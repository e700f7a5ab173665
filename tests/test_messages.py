"""The wording that messages in all packages share."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from scripts.import_graph import nodes
from taskstate.errors import TaskstateError
from taskstate.messages import closest, counted, decoded, first_of, one_line


@pytest.mark.parametrize(
    ("names", "line"),
    [((), ""), (("a",), "a"), (("a", "b"), "a, b"), (("a", "b", "c"), "a, b and 1 more")],
)
def test_long_list_is_cut(names: tuple[str, ...], line: str) -> None:
    """The first names are shown, and how many more there are only where some are left out."""
    assert first_of(names, 2) == line


def test_sentences_are_listed_as_well() -> None:
    """What stands between the names, and before the number, can be chosen."""
    assert first_of(("a is", "b is", "c is"), 1, separator="; ", last="; and ") == "a is; and 2 more"


def test_long_text_is_cut() -> None:
    """A text becomes one line, which ends with an ellipsis within the limit only where something is cut off."""
    assert [one_line("a  b\nc", most) for most in (5, 4)] == ["a b c", "a b…"]


def test_closest_name() -> None:
    """It is the most similar one, and none where nothing is as similar as asked for."""
    known = ("explorer", "implementer")
    assert [closest(word, known) for word in ("implmenter", "zzz")] == ["implementer", ""]
    assert closest("i", known, cutoff=0.0) == "implementer"
    assert closest("any", ()) == ""


def test_text_is_decoded() -> None:
    """Bytes of UTF-8 are given as text, a byte order mark included."""
    assert decoded("\ufeffä".encode(), "a.md") == "\ufeffä"


def test_first_wrong_byte_is_named() -> None:
    """What is not UTF-8 is refused with its first wrong byte, and with the advice and code of the caller."""
    with pytest.raises(TaskstateError, match=r"^a\.md is not UTF-8: byte 1 is 0xff: convert it to UTF-8$") as refused:
        decoded(b"a\xff", "a.md")
    assert refused.value.code == "not-utf8"
    with pytest.raises(TaskstateError, match=r"take it back$") as refused:
        decoded(b"\xff", "a.md", advice="take it back", code="config")
    assert refused.value.code == "config"


def test_a_count_agrees_with_its_noun() -> None:
    """One thing is in the singular; none and several are in the plural, with the ending given."""
    assert [counted(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert counted(2, "batch", "es") == "2 batches"


_WITHOUT_A_TASK = {  # what a command is about is not known there, or is an entry of a map
    "taskstate.agents.on_session_start",
    "taskstate.permanent.recover",
    "taskstate.permanent.update",
    "taskstate.writing.preconditions",
    "taskstate.doctor.preflight",
}


def test_commands_in_messages_name_the_task() -> None:
    """A command that is given as a cure can be run as it stands: no `ID` is left in it where the id is known."""
    found = {module for module in nodes() if any(re.search(r"`taskstate [^`]*\bID\b", text) for text in _texts(module))}
    assert found == _WITHOUT_A_TASK


_CASES = Path(__file__).parent / "cases"


def test_no_message_has_a_word_that_has_to_be_read_twice() -> None:
    """What the code can say is free of the words in `tests/cases/words.json` and `message_words.json`."""
    assert [
        f"{module}:{line}: {match[0]!r} in {text!r}: {instead}"
        for module in nodes()
        for line, text in _messages(module)
        for pattern, instead in _words().items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ] == []


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("mend it, or take it back", ["mend", "take it back"]),
        ("'x' is no list", ["is no list"]),
        ("a tab stands here", ["stands here"]),
        ("put a blank behind the colon", ["a blank", "behind the"]),
        ("there is no task 9, and it is no longer here", []),
    ],
)
def test_words_are_found(message: str, words: list[str]) -> None:
    """The patterns find the words in a sentence, and nothing in a plain one."""
    found = [match[0] for pattern in _words() for match in re.finditer(pattern, message, re.IGNORECASE)]
    assert sorted(found) == words[::-1] or sorted(found) == words


@cache  # they are asked for each text
def _words() -> dict[str, str]:
    """Return each pattern of words that no message has, with what to say instead."""
    files = (_CASES / name for name in ("words.json", "message_words.json"))
    return {pattern: instead for file in files for pattern, instead in json.loads(file.read_text("utf-8")).items()}


def _messages(module: str) -> list[tuple[int, str]]:
    """Return the texts of a module of three words or more, with their lines; what is filled in is `{}`."""
    inner = {id(part) for each in nodes()[module] if isinstance(each, ast.JoinedStr) for part in each.values}
    docstrings = {id(each.value) for each in nodes()[module] if isinstance(each, ast.Expr)}
    texts = [(each, _shown(each)) for each in nodes()[module] if id(each) not in inner | docstrings]
    return [(each.lineno, text) for each, text in texts if isinstance(each, ast.expr) and len(text.split()) > _FEW]


_FEW = 2  # words that are a name, a key or a pattern, and no message


def _shown(node: ast.AST) -> str:
    """Return the text of a string or an f-string; empty for everything else."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_shown(each) or "{}" for each in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _texts(module: str) -> list[str]:
    """Return the strings of a module, without docstrings."""
    docstrings = {id(each.value) for each in nodes()[module] if isinstance(each, ast.Expr)}
    texts = [each for each in nodes()[module] if isinstance(each, ast.Constant) and id(each) not in docstrings]
    return [each.value for each in texts if isinstance(each.value, str)]

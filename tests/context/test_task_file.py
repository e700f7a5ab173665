"""Task files: their values, the lines of these, and their ids in git."""

from __future__ import annotations

import pytest

from taskstate.context.task_file import (
    Citation,
    blob_ids,
    default_requirement,
    git_blob_id,
    parse_reference,
    read_task_file,
)
from tests.support.place import refusal

TEXT = """\
# remark
title: Login
scope:
  in: [a, b]
description: |
  One
  two.
acceptance_criteria:
  - first
  - second
standards:
  - x.md#y
  - {file: z.md, section: s, requirement: r}
"""


def test_what_it_says() -> None:
    """Each value is read, text is normalised, and every value has its line."""
    found = read_task_file("t.yaml", TEXT.encode())
    assert (found.name, found.sha) == ("t.yaml", git_blob_id(TEXT.encode()))
    assert (found.title, found.description, found.criteria) == ("Login", "One two.", ("first", "second"))
    assert found.standards == (Citation("x.md", "y"), Citation("z.md", "s", "r"))
    places = (("description",), ("acceptance_criteria", 1), ("scope", "in", 0), ("title",))
    assert [found.lines[place] for place in places] == [5, 10, 4, 2]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"], ids=["lf", "cr", "crlf"])
def test_comments_before_a_directive_take_no_time(end: str) -> None:
    """Thousands of comment lines are searched for a directive in time that grows with their number alone."""
    text = f"# x{end}" * 10_000
    assert read_task_file("t.yaml", f"{text}title: T{end}".encode()).title == "T"
    assert "directive" in refusal(lambda: read_task_file("t.yaml", f"{text}%YAML 1.2{end}".encode())).message


def test_an_empty_one_says_nothing() -> None:
    """A task file may be empty."""
    found = read_task_file("t.yaml", b"{}\n")
    assert found._replace(sha="", lines={}, name="") == found._replace(sha="", lines={}, name="", title="")
    assert (found.title, found.standards, found.scope_in) == ("", (), ())


def test_line_of_a_wrong_value() -> None:
    """A value of another type is an error with its line."""
    error = refusal(lambda: read_task_file("t.yaml", TEXT.replace("[a, b]", "3").encode()))
    assert str(error).startswith("t.yaml, line 4: ")


def test_ids_whatever_the_line_ends() -> None:
    """A checkout may have turned the line ends of a file; its id in git is one of these."""
    assert blob_ids(b"a\nb\n") == (git_blob_id(b"a\nb\n"), git_blob_id(b"a\r\nb\r\n"))
    assert set(blob_ids(b"a\r\nb\r\n")) == set(blob_ids(b"a\nb\n"))
    assert len(blob_ids(b"a\r\nb\n")) == 3


@pytest.mark.parametrize(
    ("reference", "cited"),
    [("a.md#b", ("a.md", "b")), (" a.md # b ", ("a.md", "b")), ("a.md", None), ("#b", None), ("a.md#", None)],
)
def test_cited_in(reference: str, cited: tuple[str, str] | None) -> None:
    """A reference names a file and a slug, or nothing."""
    assert parse_reference(reference) == cited


def test_unsaid_words_fit() -> None:
    """The placeholder requirement is the slug, cut to the allowed length."""
    assert default_requirement("handlers") == "see handlers"
    assert len(default_requirement("x" * 300)) == 140


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "t.yaml, line 1: the task file is a list, and not made of `key: value` lines"),
        (
            "title: a\n---\ntitle: b\n",
            "t.yaml, line 2: a document mark (`---`, or a directive `%`) stands inside the task file",
        ),
        (
            "# c\n%YAML 1.1\n---\ntitle: a\n",
            "t.yaml, line 2: a directive (`%`) stands here; task files are read as YAML 1.2",
        ),
    ],
)
def test_errors_name_the_task_file(text: str, said: str) -> None:
    """A file that is not a single mapping is an error that speaks of the task file, with its line."""
    assert refusal(lambda: read_task_file("t.yaml", text.encode())).message == said

"""Posts of python-frontmatter come back with their comments, order, quoting and line ends."""

from __future__ import annotations

import datetime as dt

import frontmatter
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from taskstate import frontmatter_handler
from taskstate.errors import CannotEdit, TaskstateError
from taskstate.frontmatter_handler import dumps, loads, read_parts
from tests.support.data_strategies import any_front_matters, sound_front_matters, yaml_values

POST = """\
---
# who
title: 'A title'   # quoted
tags: [a,  b]

order:
  z: 1  # last
  a: "2"
date: 2026-01-31
---

Hello.

---

World.
"""
contents = st.text(st.sampled_from("ab \n-#:é"), max_size=30)


@given(any_front_matters, contents, st.sampled_from(["\n", "\r\n"]))
def test_a_post_has_the_values_of_python_frontmatter_and_comes_back(inner: str, content: str, newline: str) -> None:
    """Whatever it reads, `loads` reads as the same; and an unchanged post is the same text, byte for byte."""
    text = f"---\n{inner}---\n{content}".replace("\n", newline)
    try:
        expected = frontmatter.loads(text)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        with pytest.raises(type(error)):
            loads(text)
        return
    post = loads(text)
    assert repr(post.metadata) == repr(expected.metadata)
    assert post.content == expected.content
    try:
        assert dumps(post) == text
        assert frontmatter.dumps(post) == text
    except CannotEdit as error:
        assert "no form in YAML" in error.message  # noqa: PT017 - a value that python-frontmatter cannot write either


@given(contents, st.sampled_from(["\n", "\r\n"]))
def test_a_text_without_front_matter_comes_back(content: str, newline: str) -> None:
    """The same for any text, whatever rules and headings it has."""
    text = content.replace("\n", newline)
    post, expected = loads(text), frontmatter.loads(text)
    assert (post.metadata, post.content) == (expected.metadata, expected.content)
    assert dumps(post) == text


@given(sound_front_matters(), yaml_values, st.sampled_from(["a", "new"]))
def test_a_changed_post_is_read_as_changed_or_refused(inner: str, value: object, key: str) -> None:
    """What was set is read back by python-frontmatter, with all other values as they were."""
    text = f"---\n{inner}---\n\nBody.\n"
    try:
        post = loads(text)
    except (yaml.YAMLError, ValueError, TypeError):
        return
    post[key] = value
    try:
        changed = dumps(post)
    except CannotEdit:
        return
    again = frontmatter.loads(changed)
    assert yaml.safe_dump(again.metadata) == yaml.safe_dump(post.metadata)
    assert again.content == post.content
    assert changed.endswith("---\n\nBody.\n")


def test_only_what_was_changed_changes() -> None:
    """Comments, quoting and order of all other lines stay; an entry of a mapping is changed alone."""
    post = loads(POST)
    post["title"] = "Another one"
    post.metadata["order"]["a"] = "3"  # type: ignore[index]  # a mapping
    post["draft"] = True
    del post["tags"]
    changed = dumps(post)
    assert changed == (
        POST.replace("'A title'", "Another one")
        .replace('a: "2"', 'a: "3"')
        .replace("tags: [a,  b]\n", "")
        .replace("date: 2026-01-31\n", "date: 2026-01-31\ndraft: true\n")
    )
    assert frontmatter.loads(changed).metadata == post.metadata


def test_the_content_can_be_changed() -> None:
    """The front matter and the blank lines around the content stay, and line ends are those of the file."""
    post = loads(POST.replace("\n", "\r\n"))
    post.content = "Bye.\n\nEnd."
    head = POST[: POST.index("Hello")]
    assert dumps(post) == f"{head}Bye.\n\nEnd.\n".replace("\n", "\r\n")


def test_content_below_a_front_matter_that_had_none() -> None:
    """A blank line stands between them."""
    post = loads("---\na: 1\n---")
    post.content = "Text."
    assert dumps(post) == "---\na: 1\n---\n\nText.\n"
    empty = loads("")
    empty.content = "Text."
    assert dumps(empty) == "Text.\n"


def test_a_text_gets_a_front_matter() -> None:
    """The first key of a text without front matter makes one."""
    post = loads("# A\r\n\r\nText.\r\n")
    post["a"] = 1
    assert dumps(post) == "---\r\na: 1\r\n---\r\n\r\n# A\r\n\r\nText.\r\n"


@pytest.mark.parametrize("value", [dt.date(2026, 2, 1), dt.datetime(2026, 2, 1, 10, 30)])  # noqa: DTZ001 - as YAML reads it
def test_a_date_stays_a_date(value: dt.date) -> None:
    """Dates are written as YAML reads them, also within lists."""
    post = loads(POST)
    post["date"], post["dates"] = value, [value, "2026-02-01"]
    assert frontmatter.loads(dumps(post)).metadata == post.metadata


def test_defaults_are_metadata() -> None:
    """As in python-frontmatter, what a text lacks is taken from them."""
    post = loads("---\na: 1\n---\n", a=2, b=3)
    assert post.metadata == {"a": 1, "b": 3}
    assert dumps(post) == "---\na: 1\nb: 3\n---\n"


def test_bytes_are_decoded() -> None:
    """In UTF-8, or the encoding that is named."""
    assert loads("---\na: é\n---\n".encode("latin-1"), "latin-1")["a"] == "é"
    assert loads("---\na: é\n---\n".encode())["a"] == "é"


def test_json_is_read_and_comes_back() -> None:
    """Front matter in JSON is python-frontmatter's own: the same bytes if unchanged, else its form."""
    text = '{\n"a":  1\n}\n\nText.\n'
    post = loads(text)
    assert post.metadata == {"a": 1}
    assert dumps(post) == text
    post["a"] = 2
    assert frontmatter.loads(dumps(post)).metadata == {"a": 2}


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("---\na: &x 1\nb: *x\n---\n", "b", 2),
        ("---\na: !!str 1\n---\n", "a", "2"),
        ("---\na: 1\n---\n", "a", object()),
        ("\ufeff---\na: 1\n---\n", "a", 2),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str, key: str, value: object) -> None:
    """An alias, a tag, a type that YAML has not, and a mark before the text; the same text unchanged comes back."""
    post = loads(text)
    assert dumps(post) == text
    post[key] = value
    with pytest.raises(CannotEdit):
        dumps(post)


def test_a_post_of_another_handler_is_written_by_python_frontmatter() -> None:
    """`dumps` takes any post."""
    post = frontmatter.Post("Text.", a=1)
    assert dumps(post) == frontmatter.dumps(post)


def test_a_foreign_text_in_parts() -> None:
    """Front matter with longer rules or in JSON is found; without any, all is content."""
    assert read_parts("-----\na: 1\n-----\nText.\n", "x") == ({"a": 1}, "\na: 1\n", "\nText.")
    assert read_parts('{\n"a": 1\n}\nText.\n', "x").metadata == {"a": 1}
    assert read_parts("# A\n\n---\n\nb: c\n\n---\n", "x") == ({}, "", "# A\n\n---\n\nb: c\n\n---\n")


@pytest.mark.parametrize(
    ("text", "line"), [("---\na: 1\nb: [\n---\n", 3), ("---\na: 1\n", 1), ('{\n"a": 1,\n"b"\n}\n', 4)]
)
def test_a_front_matter_that_cannot_be_read_is_named_with_its_line(text: str, line: int) -> None:
    """Of YAML and JSON alike."""
    with pytest.raises(TaskstateError, match=r"^x, line \d: ") as caught:
        read_parts(text, "x")
    assert caught.value.code == "invalid-input"
    assert abs(int(caught.value.message.split(":")[0].rpartition(" ")[2]) - line) <= 1


def test_the_module_is_public() -> None:
    """It is imported by its name: `from taskstate import frontmatter_handler`."""
    assert frontmatter_handler.__name__ == "taskstate.frontmatter_handler"

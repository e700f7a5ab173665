"""Task files: their values, the lines of these, and their ids in git."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from taskstate import resources
from taskstate.context.task_file import (
    Citation,
    blob_ids,
    default_requirement,
    git_blob_id,
    parse_reference,
    read_task_file,
)
from taskstate.validation import schema
from tests.support.place import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
            "t.yaml, line 2: there is a document mark (`---`, or a directive `%`) inside the task file",
        ),
        (
            "# c\n%YAML 1.1\n---\ntitle: a\n",
            "t.yaml, line 2: there is a directive (`%`) here; task files are read as YAML 1.2",
        ),
    ],
)
def test_errors_name_the_task_file(text: str, said: str) -> None:
    """A file that is not a single mapping is an error that speaks of the task file, with its line."""
    assert refusal(lambda: read_task_file("t.yaml", text.encode())).message == said


SCHEMA = schema.load("task-file")


def keys(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key of a task file with its description, those of a map or of a list's items after it."""
    for key, entry in node.get("properties", {}).items():
        yield f"{prefix}{key}", entry["description"]
        yield from keys(entry, f"{prefix}{key}.")
        items = entry.get("items", {})
        for branch in (items, *items.get("anyOf", ())):
            yield from keys(branch, f"{prefix}{key}[].")


def test_the_documentation_lists_every_key() -> None:
    """The table in docs/task-files.md says of every key what the schema says."""
    text = (resources.path("schemas/task-file.schema.json").parent.parent / "docs/task-files.md").read_text("utf-8")
    rows = [f"| `{key}` | {description} |" for key, description in keys(SCHEMA)]
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows


def test_the_example_in_the_documentation_is_one() -> None:
    """The example on the page has every key of the schema but those of one's own, and no warning."""
    page = resources.path("schemas/task-file.schema.json").parent.parent / "docs/task-files.md"
    example = page.read_text("utf-8").split("```yaml\n")[1].split("```")[0]
    found = read_task_file("t.yaml", example.encode())
    assert found.warnings == ()
    assert {path[0] for path in found.lines if path} >= set(SCHEMA["properties"])


def test_the_schema_knows_what_is_meant() -> None:
    """Each key that a wrong one stands for is one of the schema."""
    assert set(SCHEMA["x-meant"].values()) <= {key for key, _ in keys(SCHEMA)}
    assert set(SCHEMA["x-meant"]).isdisjoint(SCHEMA["properties"])


def test_all_that_a_task_file_sets() -> None:
    """The facts, upstream tasks, features and repository paths are read; ids stay text."""
    text = "agent: a\nrepository: r\nepic: e\nprd: p\ndepends_on: [007, TASK-8]\nrepository_paths: [x/**]\n"
    found = read_task_file("t.yaml", f"{text}scope: {{in: [y/**]}}\nfeatures: [{{id: f-1, description: d}}]\n".encode())
    assert (found.agent, found.repository, found.epic, found.prd) == ("a", "r", "e", "p")
    assert (found.depends_on, found.features) == (("007", "TASK-8"), (("f-1", "d"),))
    assert found.path_items == ("x/**",)
    assert found._replace(paths=()).path_items == ("y/**",)


def test_unknown_keys_are_warnings() -> None:
    """Each unknown key is named with its line and the key that was probably meant; x- keys are free."""
    text = (
        "standard:\n  - a.md#b\nvalidation: [x]\nx-own: 1\nscope:\n  inn: [a]\nowner: ann\n"
        "features: [{id: f, description: d, text: c}]\n"
    )
    found = read_task_file("t.yaml", text.encode())
    own = "a key of your own begins with x-"
    assert found.warnings == (
        f"t.yaml, line 8: `features[0].text` is not a known key; {own}",
        f"t.yaml, line 7: `owner` is not a known key; {own}",
        "t.yaml, line 6: `scope.inn` is not a known key; did you mean `in`?",
        "t.yaml, line 1: `standard` is not a known key; did you mean `standards`?",
        "t.yaml, line 3: `validation` is not a known key; did you mean `qa.commands`?",
    )
    assert found.features == (("f", "d"),)


def test_a_misspelt_required_key_is_an_error() -> None:
    """A key that hides a required one is an error with the line of that key."""
    error = refusal(lambda: read_task_file("t.yaml", b"title: T\nstandards:\n  - file: a\n    sectoin: b\n"))
    assert error.message == (
        "t.yaml, line 4: `standards[0].sectoin` is not a known key; did you mean `section`, which is missing?"
    )


@pytest.mark.parametrize(
    ("value", "kept", "left_out"),
    [
        ('"#42 breaks the login"', "#42 breaks the login", ()),
        ("'# x'", "# x", ()),
        ('"a\\n# b\\n#\\nc"', "a\n# b\n#\nc", ()),
        ("|\n  #42 breaks\n  the login", "#42 breaks the login", ()),
        ("|\n  a\n  # b\n  #\n  \\# c\n", "a \\# c", ("# b", "#")),
        (">-\n  # only", "", ("# only",)),
        ("|\n  ```\n  # code\n  ```", "```\n# code\n```", ()),
    ],
)
def test_only_lines_of_a_block_scalar_are_comments(value: str, kept: str, left_out: tuple[str, ...]) -> None:
    """A `#` in any other value is text, and so is one before a word; each line that is left out is said."""
    found = read_task_file("t.yaml", f"title: T\ndescription: {value}\n".encode())
    assert found.description == kept
    assert [each.partition("one): ")[2] for each in found.warnings] == [*left_out]
    assert all(each.startswith("t.yaml, line 2: ") for each in found.warnings)


def test_html_comments_are_left_out_and_said() -> None:
    """Those in the description and the criteria, over several lines too; what is code stays."""
    text = (
        "title: T\ndescription: |\n  One <!-- a -->\n  <!-- b\n  c -->\n  two `<!-- d -->`.\n\n"
        "  ```\n  <!-- e -->\n  ```\n"
        "acceptance_criteria:\n  - first\n  - second <!-- f -->\n"
    )
    found = read_task_file("t.yaml", text.encode())
    assert found.description == "One two `<!-- d -->`.\n\n```\n<!-- e -->\n```"
    assert found.criteria == ("first", "second")
    assert found.warnings == (
        "t.yaml, line 2: HTML comments in `description` are left out",
        "t.yaml, line 13: HTML comments in `acceptance_criteria` are left out",
    )
    for kept in ("a <!-- never ends", "`<!-- code -->`"):
        alone = read_task_file("t.yaml", f"title: T\ndescription: {json.dumps(kept)}\n".encode())
        assert (alone.description, alone.warnings) == (kept, ())

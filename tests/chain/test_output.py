"""Outputs part by part, the files that they name, and what they lack."""

from __future__ import annotations

import pytest

from taskstate.chain.output import (
    NamedFile,
    find_parts,
    is_pattern,
    named_files,
    output_gaps,
    part_title,
    parts,
    slug_of,
    with_part,
)
from taskstate.formatting.formatter import format_text
from taskstate.model.task_state import TaskState, read_state
from taskstate.syntax.document import parse
from tests.support.place import refusal

HEAD = "---\ntaskstate: 1\ntask_id: '101'\nstatus: in_progress\n---\n\n"
CONTRACT = "### API Contract\n\nAs agreed:\n\n```python\ndef f():\n\n    return 1\n```\n\n~~~yaml\na: 1\n~~~"
OUTPUT = f"Lead.\n\n### Summary\n\nDone.\n\n{CONTRACT}"


def state(output: str, head: str = HEAD) -> TaskState:
    """Return the state of a task with that Chain Output."""
    return read_state(parse(f"{head}## 6. Chain Output\n\n{output}"))


def named(items: str) -> list[str]:
    """Return the paths that list items name, with `-` before deleted files and `?` after uncertain ones."""
    result = named_files(state(f"### Files Created/Modified\n\n{items}\n"))
    return ["-" * each.deleted + each.path + "?" * (not each.sure) for each in result]


# Parts


def test_output_has_parts() -> None:
    """Each part has a name to ask for it by, its text unchanged, and what is in its fences verbatim."""
    lead, summary, contract = parts(OUTPUT)
    assert (lead.slug, lead.title, lead.text) == ("lead", "", "Lead.")
    assert (summary.slug, summary.title, summary.code) == ("summary", "Summary", ())
    assert contract == ("API Contract", "api-contract", CONTRACT, ("def f():\n\n    return 1", "a: 1"))


@pytest.mark.parametrize("name", ["api-contract", "api", "API Contract", "### API  Contract", "api contract (new)"])
def test_part_is_found(name: str) -> None:
    """A part is requested by its slug, its title, or words that no other part's title has."""
    assert [each.text for each in find_parts(OUTPUT, name, "101")] == [CONTRACT]
    doubled = f"{OUTPUT}\n\n{CONTRACT}"
    assert [each.text for each in find_parts(doubled, name, "101")] == [CONTRACT, CONTRACT]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("aip-contract", "did you mean api-contract?"),
        ("sumary", "did you mean summary?"),
        ("zzz", "it has: lead, summary, api-contract"),
        ("", "it has: "),
    ],
)
def test_unknown_part_offers_the_nearest(name: str, hint: str) -> None:
    """What is missing is reported, with what was probably meant."""
    error = refusal(lambda: find_parts(OUTPUT, name, "101"))
    assert (error.code, hint in str(error)) == ("not-found", True)
    assert "the output of task 101 has no part" in str(error)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Files Created/Modified", "files-created-modified"),
        ("2. API Contract (draft) ##", "api-contract"),
        ("Caf\u00e9_x", "caf\u00e9-x"),
        ("a\n_b_ - c", "a-b-c"),
        ("!", ""),
    ],
)
def test_slug(title: str, slug: str) -> None:
    """A slug has the words of a title, without its number and suffix."""
    assert slug_of(title) == slug


# Files


@pytest.mark.parametrize(
    ("items", "paths"),
    [
        ("- `src/jwt.ts` - Main service (new)", ["src/jwt.ts"]),
        ("- `package.json` - Added `jsonwebtoken` dependency", ["package.json"]),
        ("- **`src/a.py`** - bold", ["src/a.py"]),
        ("- `a.py`, `b.py` and `c d.py` - all", ["a.py", "b.py", "c d.py"]),
        ("- [a](docs/a.md) - linked", ["docs/a.md"]),
        ("- src/a.py: main\n- src/b.py (new)\n- Makefile - built", ["src/a.py", "src/b.py", "Makefile?"]),
        ("- a.md, b.md", ["a.md", "b.md"]),
        ("- ./src/a.py:12-30 - lines\n- `src/a.py:L4`", ["src/a.py"]),
        ("1. `a.py`\n2. `b.py`", ["a.py", "b.py"]),
        ("- src/a.py is the new one", ["src/a.py"]),
        ("- Updated `src/a.py` for this", ["src/a.py"]),
        ("- `old.py` - (deleted)\n- `x.py` (file removed)", ["-old.py", "-x.py"]),
        ("- `../x.py`\n- /etc/passwd", ["../x.py", "/etc/passwd"]),
        ("- `src/*.py`", ["src/*.py"]),
        ("- `a.py`\n- `a.py` again", ["a.py"]),
        ("- .gitignore", [".gitignore"]),
        ("- None.\n- nothing", []),
        ("None.", []),
        ("- We changed nothing else, e.g. docs\n- Renamed the `Service` class", []),
        ("- `.`", []),
        ("- CI/CD pipeline now runs the tests\n- I/O errors are retried", ["CI/CD?", "I/O?"]),
        ("- [a](http://x.y/z.py)\n- [b](#part)\n- `https://x.y/z.py`\n- http://x.y/z.py", []),
        ("- `CI/CD` - marked\n- src/auth - bare\n- ~/.bashrc", ["CI/CD", "src/auth?", "~/.bashrc"]),
        ("```\n- `a.py`\n```", []),
    ],
)
def test_files_are_named(items: str, paths: list[str]) -> None:
    """A path is in code marks, in a link, or as the word before a remark; other words are none."""
    assert named(items) == paths


def test_files_of_another_section_are_none() -> None:
    """Only Files Created/Modified names files, and only within the Chain Output."""
    assert named_files(state("### Summary\n\n- `a.py`")) == ()
    assert named_files(read_state(parse(f"{HEAD}## 4. Progress Log\n\n### Files Created/Modified\n\n- `a.py`"))) == ()
    assert named_files(read_state(parse(""))) == ()
    crlf = "### Files Created/Modified\n\n- `a.py`\n  - `b.py`\n".replace("\n", "\r\n")
    assert named_files(state(crlf)) == (NamedFile("a.py"),)


def test_pattern() -> None:
    """Wildcards make a path stand for several files."""
    assert [is_pattern(path) for path in ("a.py", "src/*.py", "a[1].py", "{a,b}", "a?")] == [False, *[True] * 4]


# Gaps


@pytest.mark.parametrize(
    ("output", "lacks"),
    [
        ("### Summary\n\nDone.\n\n### API Contract\n\nx", []),
        ("### Summary\n\nDone.\n\n### Configuration Required\n\nNone.", []),
        ("### Summary\n\nDone.\n\n### Mine\n\nx", ["besides the summary"]),
        ("### Summary\n\n*To be completed.*\n\n### API Contract\n\nx", ["Summary of the Chain Output"]),
        ("### Summary\n\n<!-- later -->\n\n### API Contract\n\n-", ["the Summary", "besides the summary"]),
        ("", ["the Summary", "besides the summary"]),
    ],
)
def test_output_lacks(output: str, lacks: list[str]) -> None:
    """An output has a summary and one more part, and neither is a placeholder."""
    result = output_gaps(state(output))
    assert [words in gap.words for words, gap in zip(lacks, result, strict=True)] == [True] * len(lacks)


def test_section_that_is_missing_is_told() -> None:
    """Without the section there is one thing to say; a kind that hands nothing down lacks nothing."""
    assert output_gaps(read_state(parse(HEAD))) == (("section", "there is no section Chain Output"),)
    assert output_gaps(state("", HEAD.replace("taskstate: 1", "taskstate: 1\nkind: permanent"))) == ()


# Writing


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("summary", "Summary"),
        ("files", "Files Created/Modified"),
        ("api", "API Contract"),
        ("configuration", "Configuration Required"),
        ("config", "Configuration Required"),
        ("notes", "Integration Notes for Downstream Tasks"),
        ("Integration Notes for Downstream Tasks", "Integration Notes for Downstream Tasks"),
        ("migration", "Migration"),
    ],
)
def test_part_to_write_is_named(name: str, title: str) -> None:
    """A part is named by its title or a short name, whether it is there or not, and so is one of the author's own."""
    assert part_title(state("### Migration\n\nNone.\n"), name) == title


def test_part_that_does_not_exist_is_not_written() -> None:
    """An unknown part is refused with what was probably meant, an ambiguous one with all names."""
    for name, hint in (
        ("sumary", "did you mean summary?"),
        ("flies", "did you mean files?"),
        ("zzz", "it has: summary,"),
    ):
        error = refusal(lambda name=name: part_title(state(""), name))  # type: ignore[misc]
        assert (error.code, hint in error.help) == ("not-found", True), error
    assert refusal(lambda: part_title(read_state(parse(HEAD)), "summary")).help == "add `## 6. Chain Output`"


def test_part_is_written_in_place() -> None:
    """What stood in the part is replaced, a part that is missing gets its place, and all else stays."""
    before = state("### Summary\n\n(To be completed.)\n\n### Configuration Required\n\nNone.\n\n## Notes\n\nMine.\n")
    text = with_part(before, "Summary", "Tokens are issued.\r\n\n```sh\n# run\n```\n")
    text = with_part(read_state(parse(text)), "API Contract", "### API Contract\n\n`verify()`\n")
    assert text.split("## 6. Chain Output\n\n")[1] == (
        "### Summary\n\nTokens are issued.\n\n```sh\n# run\n```\n\n### API Contract\n\n`verify()`\n\n"
        "### Configuration Required\n\nNone.\n\n## Notes\n\nMine.\n"
    )


@pytest.mark.parametrize(
    "content",
    [
        "## 4. Progress Log\n\n### Session 9 - 2026-01-01 10:00",
        "Summary\n=======\n\ntext\n---",
        "# Title",
        "```\n### Notes",
        "text\n\n<!-- open\n\n### Notes",
        "text\n\n---\ntaskstate: 1\n---",
        "### Integration Notes for Downstream Tasks\n\nmore",
    ],
)
def test_content_of_a_part_makes_no_structure(content: str) -> None:
    """Headings, open fences and comments in the content stay content of the part."""
    before = state("### Summary\n\nDone.\n\n### Configuration Required\n\nNone.\n\n## Notes\n\nMine.\n")
    after = read_state(parse(with_part(before, "Summary", content)))
    titles = [(each.level, each.title) for each in before.document.sections]
    assert [(each.level, each.title) for each in after.document.sections if each.level < 4] == titles
    assert output_gaps(after) == ()


@pytest.mark.parametrize(
    "content", ["", " \n", "<!-- x -->", "*To be completed.*", "(To be completed.)", "### Summary"]
)
def test_part_that_says_nothing_is_refused(content: str) -> None:
    """Nothing, a comment, a placeholder or a heading alone is no content."""
    assert refusal(lambda: with_part(state("### Summary\n"), "Summary", content)).code == "empty"


def test_part_of_a_complete_task_is_not_written() -> None:
    """What was handed down changes only after the task is reopened."""
    complete = state("### Summary\n\nDone.\n", HEAD.replace("in_progress", "complete"))
    error = refusal(lambda: with_part(complete, "Summary", "More."))
    assert (error.code, "taskstate reopen 101" in error.help) == ("complete", True)


def test_part_behind_an_open_fence_is_not_written() -> None:
    """Where something never closes, a new part would be swallowed by it."""
    before = state("### Summary\n\n```\nopen\n")
    assert refusal(lambda: with_part(before, "API Contract", "x")).code == "unsafe"


@pytest.mark.parametrize("placeholder", ["*To be completed.*", "(To be completed.)", "(to be written (soon))"])
def test_placeholder_is_no_output(placeholder: str) -> None:
    """A summary in emphasis or in parentheses is still missing."""
    keys = [gap.key for gap in output_gaps(state(f"### Summary\n\n{placeholder}\n\n### API Contract\n\nx\n"))]
    assert keys == ["part:Summary"]


def test_a_written_part_is_as_the_formatter_leaves_it() -> None:
    """Blank lines come around lists and fences, and formatting finds nothing more to do there."""
    text = with_part(
        state("### Summary\n\n*To be completed.*\n"), "Summary", "Done:\n* one\n* two\n\n\n```py\nx\n```\nEnd"
    )
    assert format_text(text, "task-101-state.md").partition("## 6.")[2] == text.partition("## 6.")[2]


def test_a_placeholder_above_the_parts_goes() -> None:
    """What an older form has below the heading of the section stands for parts of which one is written now."""
    older = "(Agent will finalize)\n\n### Summary\n\n*To be completed.*\n\n### API Contract\n\nNone.\n"
    text = with_part(state(older), "Summary", "Done.")
    assert "## 6. Chain Output\n\n### Summary\n\nDone.\n\n### API Contract\n" in text
    kept = older.replace("(Agent will finalize)", "As agreed (see below).")
    assert "As agreed (see below).\n\n### Summary\n\nDone." in with_part(state(kept), "Summary", "Done.")

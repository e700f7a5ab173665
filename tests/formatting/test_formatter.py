"""The canonical form of a file, and what formatting never changes."""

from __future__ import annotations

import pytest

from taskstate.formatting.formatter import format_text, unreadable
from taskstate.syntax.document import parse
from taskstate.syntax.spans import with_newlines

NAME = "task-101-state.md"
HEAD = """\
---
taskstate: 1
task_id: "101"
title: JWT Service
status: in_progress
created_at: "2026-01-31T12:00:00Z"
---
"""
TITLE = "# Task #101: JWT Service - State\n"
SESSION = "**What I did:**\n- worked  \n\n\n* and more\n\t\n**Next steps:** none   "


def file(*parts: str, head: str = HEAD) -> str:
    """Return a state file with these parts, one blank line between them."""
    return "\n".join([head, TITLE, *(part if part.endswith("\n") else part + "\n" for part in parts)])


def body(text: str) -> str:
    """Return what stands below the title in a file's form; something always changes, so that a refusal shows."""
    after = format_text(file(text).replace('"101"', "101", 1), NAME)
    assert format_text(after, NAME) == after
    start = file()
    assert after.startswith(start + "\n")
    return after.removeprefix(start + "\n")


def test_what_has_its_form_stays() -> None:
    """A file in its form is returned to the byte."""
    text = file("## 1. Static Context", "### Task Description", "Issue tokens.", "## 2. Chain Inputs", "None.")
    assert format_text(text, NAME) == text


@pytest.mark.parametrize(
    "name", ["task-101-archive.md", "task-101-impact-map.json", "README.md", "phase-1-handoff-20260131T120000Z.md"]
)
def test_only_state_files_have_a_form(name: str) -> None:
    """Any other file stays as it is."""
    text = file("##  chain inputs ##", "x  ")
    assert format_text(text, name) == text
    assert format_text(text, NAME) != text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## Chain Inputs\nNone.", "## 2. Chain Inputs\n\nNone.\n"),
        ("##  7)  CHAIN   inputs (from upstream) ##\n\nNone.", "## 2. Chain Inputs\n\nNone.\n"),
        ("Chain Inputs\n---\nNone.", "## 2. Chain Inputs\n\nNone.\n"),
        ("## 5. Git History\n### Mine ##\nx  ", "## 5. Git History\n\n### Mine ##\nx  \n"),
        (
            "## 6. Chain Output\n### summary\n#### Mine ##\nx",
            "## 6. Chain Output\n\n### Summary\n\n#### Mine ##\n\nx\n",
        ),
        ("## 4. Progress Log\n### session 2: 2026-01-31T12:00Z, late", "### Session 2 - 2026-01-31 12:00, late\n"),
        ("## 4. Progress Log\n### session 2 - 2026-01-31 12:00 UTC", "### session 2 - 2026-01-31 12:00 UTC\n"),
        ("## 4. Progress Log\n### session 2: 2026-01-31 #", "### session 2: 2026-01-31\n"),
        ("## 4. Progress Log\n### session 2 - 2026-01-31 12:00 CET", "### Session 2 - 2026-01-31 12:00 CET\n"),
    ],
)
def test_headings(before: str, after: str) -> None:
    """Known headings get number, case and marks, and lose no word but a remark in brackets; others stay."""
    assert body(before).removeprefix("## 4. Progress Log\n\n") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Text.\n\n\n\nMore.", "Text.\n\nMore."),
        ("Text. \nMore.\t\n", "Text.\nMore."),
        ("Broken    \nhere. \nMore.   ", "Broken  \nhere.\nMore."),
        ("Text:\n- a\n- b\n\n> quoted", "Text:\n\n- a\n- b\n\n> quoted"),
        ("- a\n> quoted", "- a\n\n> quoted"),
        ("- a\nlazy", "- a\nlazy"),
        ("- a\n\n\n- b", "- a\n\n- b"),
        ("Text:\n2. no list", "Text:\n2. no list"),
        ("Text:\n1. a\n2. b", "Text:\n\n1. a\n2. b"),
        ("Text:\n```sh\nmake  \n\n\nmake\n```\nMore.", "Text:\n\n```sh\nmake  \n\n\nmake\n```\n\nMore."),
        ("```sh  \nmake\n```  ", "```sh\nmake\n```"),
        ("    code  \n\n\n    more  \n\ntext", "    code  \n\n\n    more  \n\ntext"),
        ("<!-- of the list -->\n- a", "<!-- of the list -->\n- a"),
        ("<!-- a  \n\n\nb -->\n\n\ntext", "<!-- a  \n\n\nb -->\n\ntext"),
        ("text <!-- a \nb --> text", "text <!-- a \nb --> text"),
        ("| a |\n| - |\n| 1 | ", "| a |\n| - |\n| 1 |"),
        ("* a\n+ b", "* a\n\n+ b"),
        ("1. a\n2. b\n- c", "1. a\n2. b\n\n- c"),
    ],
)
def test_free_text(before: str, after: str) -> None:
    """Blanks at line ends go, lists and fences stand apart; hard breaks, code, comments and list markers stay."""
    head = "## 1. Static Context\n\n### Task Description\n\n"
    assert body(f"{head}{before}\n## 2. Chain Inputs") == f"{head}{after}\n\n## 2. Chain Inputs\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("* [ ] a\n+ [x] b", "* [ ] a\n\n+ [x] b"),
        ("* [ ] a\n* [x] b\n  * c", "- [ ] a\n- [x] b\n  * c"),
        ("+   wide\n\n    more", "-   wide\n\n    more"),
        ("- * a", "- * a"),
        ("***", "***"),
    ],
)
def test_lists_of_the_tool(before: str, after: str) -> None:
    """Where the tool writes the lists their marker is `-`, unless two lists would become one; inner ones stay."""
    head = "## 1. Static Context\n\n### Acceptance Criteria\n\n"
    assert body(head + before) == f"{head}{after}\n"


def test_blank_lines_between_parts() -> None:
    """One blank line stands around each heading, also where there is nothing below it, and none is left at the end."""
    static = "## 1. Static Context\n### Task Description\nText.\n\n\n### Scope\n"
    before = f"{static}## 4. Progress Log\n\n## 5. Git History\n- a\n\n\n"
    assert body(before) == (
        "## 1. Static Context\n\n### Task Description\n\nText.\n\n### Scope\n\n"
        "## 4. Progress Log\n\n## 5. Git History\n\n- a\n"
    )


def test_a_comment_stays_above_what_it_speaks_of() -> None:
    """A comment on the line above a heading stays there."""
    text = "## 2. Chain Inputs\n\nNone.\n\n<!-- taskstate: ignore TS204 ours -->\n## Ideas\n\nMine.\n"
    assert body(text) == text
    assert body(text.replace("-->\n", "-->\n\n\n")) == text.replace("-->\n", "-->\n\n")


@pytest.mark.parametrize(
    "kept",
    [
        f"## 4. Progress Log\n\n### Session 1 - 2026-01-31 12:00\n{SESSION}\n#### summary ####\nx \n",
        "## Notes  \nMine. \n\n\n\n*\tkept\n### Summary ##\n```\n\n\n```\n\n\n# Top\n\n\n## More\nx",
        "## My Part ##\nMine. \n\n\n\n* kept\n### Summary ##\nx",
        "## 2. Chain Inputs\n\nx\n\n## CHAIN INPUTS\nsecond  \n* one",
        "## 4. Progress Log\n\n### Something else ##\nx  \n* a",
    ],
)
def test_what_is_never_touched(kept: str) -> None:
    """The inside of sessions, Notes, unknown parts and second ones stay byte for byte, up to the end of the file."""
    assert body(kept) == kept.rstrip("\n") + "\n"


def test_a_second_title_hides_no_section() -> None:
    """Below a heading of level 1 nothing is touched up to the next known section."""
    before = "## 2. Chain Inputs\n\nx\n\n# Cut ##\ny  \n### Summary ##\n\n## git history\n- a"
    after = "## 2. Chain Inputs\n\nx\n\n# Cut ##\ny  \n### Summary ##\n\n## 5. Git History\n\n- a\n"
    assert body(before) == after


def test_a_sealed_static_part_is_never_touched() -> None:
    """With a seal the first section stays as it is; what surrounds it does not."""
    static = "##  static context ##\n### acceptance criteria\n* [ ] a  \n\n\n* [ ] b"
    head = HEAD.replace("\n---\n", "\ncontext: {seal: x}\n---\n", 1)
    before = file(static + "\n\n\n## chain inputs\n\nNone.", head=head)
    assert format_text(before, NAME) == file(static, "## 2. Chain Inputs", "None.", head=head)
    assert format_text(before.replace("seal:", "sealed_by:"), NAME) == file(
        "## 1. Static Context",
        "### Acceptance Criteria",
        "- [ ] a\n\n- [ ] b",
        "## 2. Chain Inputs",
        "None.",
        head=head.replace("seal:", "sealed_by:"),
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends(newline: str) -> None:
    """The prevailing line end becomes the only one, but for what is never touched; a byte order mark stays."""
    text = file("## 2. Chain Inputs", "None.\n\n<!-- a\n-->", "## Notes", "a\nb")
    other = "\n" if newline == "\r\n" else "\r\n"
    expected = with_newlines(text, newline).replace(f"a{newline}", f"a{other}")
    mixed = expected.replace(f"None.{newline}", f"None.{other}").replace(f"-->{newline}", f"-->{other}")
    assert format_text("\ufeff" + mixed, NAME) == "\ufeff" + expected
    assert format_text(mixed.rstrip("\r\n"), NAME) == expected


def test_what_stands_before_the_title() -> None:
    """Text before the title is set apart and stays; the title line itself is another rule's."""
    before = f"{HEAD}A remark. \n\n\n\nMore.\n# Task 101 #\n## 2. Chain Inputs\n"
    assert format_text(before, NAME) == f"{HEAD}\nA remark. \n\n\n\nMore.\n\n# Task 101 #\n\n## 2. Chain Inputs\n"


def test_derived_values_are_recomputed() -> None:
    """Counts, size and progress are put right where they are there, and not added."""
    head = HEAD.replace("\n---\n", "\nsessions: {total: 9, archived: 9, recent: 9}\nfile_size_kb: 9\n---\n", 1)
    log = "## 4. Progress Log\n\n### Session 1 - 2026-01-31 12:00"
    checklist = '## 3. Feature Checklist\n\n```json\n{\n  "features": [],\n  "overall_progress": "9%"\n}\n```'
    after = format_text(file(checklist, log, head=head), NAME)
    assert "sessions: {total: 1, archived: 0, recent: 1}\nfile_size_kb: 1\n" in after
    assert '"overall_progress": "0%"' in after
    assert format_text(file(log), NAME) == file(log)


def test_what_cannot_be_counted_is_not() -> None:
    """A heading of the log that is no session's makes every count wrong."""
    head = HEAD.replace("\n---\n", "\nsessions: {total: 9, archived: 9, recent: 9}\n---\n", 1)
    text = file("## 4. Progress Log", "### Sesion 1", head=head)
    assert format_text(text, NAME) == text


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("---\n", "", "front-matter-missing"),
        ("title: JWT", "title: JWT: ", "front-matter-"),
        ("status:", "title: again\nstatus:", "front-matter-duplicate-key"),
        ("JWT Service\n", "#1\n", "front-matter-"),
        ("None.", "```sh\n", "fence-unclosed"),
        ("## chain", '## 3. Feature Checklist\n\n```json\n{"a": 1,}\n```\n\n## chain', "json-invalid"),
        ("None.", "No\x1bne.", "control-characters"),
    ],
)
def test_what_cannot_be_read_is_left_alone(old: str, new: str, kind: str) -> None:
    """A file of which a part cannot be read stays as it is, and why is known."""
    text = file("## chain inputs", "None.  ").replace(old, new, 1)
    problem = unreadable(parse(text))
    assert problem
    assert problem.kind.startswith(kind)
    assert format_text(text, NAME) == text


def test_deep_nesting_is_left_alone() -> None:
    """What Markdown parsers no longer read reliably stays as it is."""
    deep = "> " * 80 + "x  \n- y"
    head = "## 1. Static Context\n\n### Task Description\n\n"
    assert body(head + deep) == f"{head}{deep}\n"

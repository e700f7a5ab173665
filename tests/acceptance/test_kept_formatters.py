"""A formatter that goes over the files changes no word: what it touched is the same session, and is mended as one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_place import ARCHIVE, STORIES, TASK, Repo, Story, said, story

if TYPE_CHECKING:
    from pathlib import Path

MARKED = "1) one\n2) two\n\n* star, *so* and __so__\n\n+ plus, snake_case\n\na line that is so long that it is wrapped"
# What each makes of such texts, one change after the other
FORMATTERS: dict[str, tuple[tuple[str, str], ...]] = {
    "mdformat": (
        (r"^---$", "_" * 70),
        (r"^(\s*)\* ", r"\1- "),
        (r"^(\s*)\+ ", r"\1* "),
        (r"^(\s*)\d\) ", r"\g<1>1. "),
        (r"snake_case", r"snake\\_case"),
        (r"so long that", "so long\nthat"),
    ),
    "prettier": (
        (r"^(\s*)[*+] (.*)$", r"\1- \2\n"),
        (r"\*so\*", "_so_"),
        (r"__so__", "**so**"),
        (r"^(\s*)(\d)\) ", r"\1\2. "),
        (r"^(Archived on|Reason): ", r"\n\1: "),
        (r"^Entries SHA-256:\n", "Entries SHA-256:\n\n"),
    ),
}
each_formatter = pytest.mark.parametrize("how", FORMATTERS.values(), ids=FORMATTERS)


def changed(path: Path, how: tuple[tuple[str, str], ...]) -> None:
    """Let a formatter go over a file."""
    text = before = path.read_text(encoding="utf-8")
    for pattern, new in how:
        text = re.sub(pattern, new, text, flags=re.MULTILINE)
    assert text != before
    path.write_text(text, encoding="utf-8")


def marked(root: Path, how: Story) -> Repo:
    """Return a story that goes on with a session whose marks a formatter changes."""
    repo = story(root, how)
    state = f"{said('marked')}\n\n{MARKED}"
    repo.ok("session", "add", TASK, "--did", "Did it.", "--state", state, "--next", "Go on.")
    return repo


@each_formatter
@pytest.mark.parametrize("story_of", ["plain", "tracked"])
@pytest.mark.parametrize("is_committed", [False, True])
def test_a_formatted_archive_is_named_and_the_written_text_comes_back(
    tmp_path: Path, story_of: str, how: tuple[tuple[str, str], ...], *, is_committed: bool
) -> None:
    """`doctor` says what `archive verify` and the linter say, and the cure they name puts the kept batches back."""
    repo = marked(tmp_path / "repository", STORIES[story_of])
    repo.session("last")
    repo.archive()
    before = repo.tree()
    changed(repo.archived, how)
    if is_committed:
        repo.commit("formatted")
    cure = "a formatter changed it: `taskstate doctor --fix` puts back"
    for command in (("archive", "verify", TASK), ("doctor",), ("lint",)):
        done = repo.run(*command)
        assert done.status == 1, (command, done)
        assert cure in done.out, (command, done)
    repo.ok("doctor", "--fix")
    assert repo.tree()[ARCHIVE] == before[ARCHIVE]
    assert [repo.count(what) for what in (*range(1, 6), "marked", "last")] == [1] * 7
    repo.ok("archive", "verify", TASK)
    assert repo.told() == []
    assert repo.run("doctor").status == 0


@each_formatter
@pytest.mark.parametrize("story_of", ["plain", "archived"])
def test_a_formatted_state_file_keeps_each_session_once(
    tmp_path: Path, story_of: str, how: tuple[tuple[str, str], ...]
) -> None:
    """Also where the formatter takes the front matter for text: the last good text is back, and nothing beside it."""
    repo = marked(tmp_path / "repository", STORIES[story_of])
    changed(repo.state, how)
    repo.ok("doctor", "--fix")
    assert [repo.count(what) for what in (*range(1, 6), "marked")] == [1] * 6
    assert repo.told() == []


def test_a_session_that_was_edited_in_a_formatted_file_stays_beside(tmp_path: Path) -> None:
    """A word more is another session: the cure takes no hand edit for a formatter's change."""
    repo = marked(tmp_path / "repository", STORIES["plain"])
    repo.edit(said("marked"), f"{said('marked')} and more by hand")
    changed(repo.state, FORMATTERS["mdformat"])
    repo.run("doctor", "--fix")
    assert repo.count("marked") == 2
    assert "and more by hand" in repo.text


def test_an_archive_in_which_a_word_was_changed_is_not_replaced(tmp_path: Path) -> None:
    """Only what says the same in every word counts as formatted: another archive is named, and stays."""
    repo = marked(tmp_path / "repository", STORIES["plain"])
    repo.session("last")
    repo.archive()
    changed(repo.archived, (*FORMATTERS["prettier"], (r"a line that", "a word more in a line that")))
    assert "a formatter changed it" not in repo.run("archive", "verify", TASK).out
    repo.run("doctor", "--fix")
    assert "a word more" in repo.archived.read_text(encoding="utf-8")

"""Formatting files on disk: which are formatted and which refused; `cli/test_fmt.py` shows what is written."""

from __future__ import annotations

from pathlib import Path

from taskstate.formatting.format_files import format_bytes, format_file, is_formattable
from tests.support.place import Place, refusal

NAME = "task-101-state.md"


def test_only_state_files_have_a_form() -> None:
    """By its name a file is a state file, anywhere."""
    assert is_formattable(Path("a/b") / NAME)
    assert not is_formattable(Path("task-101-archive.md"))
    assert not is_formattable(Path("README.md"))


def test_other_files_are_not_even_read() -> None:
    """What has no form is returned as it is, however broken."""
    assert not format_bytes(b"<<<<<<< a\n```", "task-101-archive.md").changed


def test_what_cannot_be_read_is_refused() -> None:
    """Bytes that are no UTF-8, and a text that cannot be read, are refused with the place."""
    assert refusal(lambda: format_bytes(b"ab\xff", NAME)).code == "not-utf8"
    error = refusal(lambda: format_bytes(b"---\ntitle: a: b\n---\n", NAME))
    assert error.code == "unreadable"
    assert str(error).startswith(f"{NAME}, line 2: ")


def test_a_file_that_changed_in_between_is_formatted_as_it_is(tmp_path: Path) -> None:
    """A file is read anew under the lock: what somebody wrote since it was looked at is kept."""
    place = Place(tmp_path / "repository")
    place.text = place.text.replace("## 2. Chain Inputs", "## chain inputs")
    outcome = format_file(place.workspace, place.path, place.request(dry_run=True))
    assert outcome.changed
    assert "## chain inputs" in place.text
    place.text = place.text.replace("None.", "None yet.")
    assert format_file(place.workspace, place.path, place.request()).changed
    assert "## 2. Chain Inputs\n\nNone yet.\n" in place.text
    assert not format_file(place.workspace, place.path, place.request()).changed

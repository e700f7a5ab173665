from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.storage import files, replaced_texts
from taskstate.storage.private import Private
from taskstate.storage.replaced_texts import ReplacedText, keep, named, texts

if TYPE_CHECKING:
    from pathlib import Path

AT, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
TEXT = ReplacedText("a/b.md", b"mine\r\n\xff\0\x1b[2J", "doctor --fix")


@pytest.fixture
def private(tmp_path: Path) -> Private:
    """Return a private folder that does not exist yet."""
    return Private((tmp_path / "private",), tmp_path / "private")


def test_a_text_is_read_as_it_was_kept(private: Private) -> None:
    """Its bytes are unchanged; path, time and command are told; only the owner reads it."""
    own_id = keep(private, TEXT, AT)
    (found,) = texts(private)
    assert (found.id, found.path, found.at, found.by, found.size) == (own_id, TEXT.path, AT, TEXT.by, len(TEXT.data))
    assert replaced_texts.find(private, own_id).data() == TEXT.data
    assert len(own_id) == 8
    assert {stat.S_IMODE(path.stat().st_mode) for path in (found.file.parent, found.file)} == {0o700, 0o600}


@pytest.mark.parametrize("path", ["line\nbreak", '"\\', "caf\udce9", "ü", ""])
def test_any_path_is_kept(private: Private, path: str) -> None:
    """Also one that is not UTF-8, or that looks like the end of the first line."""
    keep(private, TEXT._replace(path=path), AT)
    (found,) = texts(private)
    assert (found.path, found.data()) == (path, TEXT.data)


def test_the_same_text_of_a_path_is_kept_once(private: Private) -> None:
    """Another path or other bytes have an id of their own; the oldest comes first."""
    first = keep(private, TEXT, LATER)
    assert keep(private, TEXT, AT) == first
    others = [keep(private, TEXT._replace(path="c"), AT), keep(private, TEXT._replace(data=b"other"), LATER)]
    assert len({first, *others}) == 3
    assert next(each.id for each in texts(private)) == others[0]


def test_no_id_is_given_twice(private: Private, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the hashes of two texts begin alike, the later one's id is longer."""
    monkeypatch.setattr(files, "digest", lambda data: "01234567" + ("a" if b"mine" in data else "b") * 56)
    first, second = keep(private, TEXT, AT), keep(private, TEXT._replace(data=b"other"), AT)
    assert (first, second) == ("01234567", "01234567b")
    assert replaced_texts.find(private, first).data() == TEXT.data


@pytest.mark.parametrize("data", [b"", b" \r\n\t", b"\0\0"])
def test_white_space_is_not_kept(private: Private, data: bytes) -> None:
    """There is nothing in it that somebody could miss."""
    assert keep(private, TEXT._replace(data=data), AT) == ""
    assert texts(private) == ()


def test_what_cannot_be_kept_is_refused(private: Private, tmp_path: Path) -> None:
    """Nothing may be replaced then; a name in the way, or no folder that may be used, are such cases."""
    with pytest.raises(TaskstateError) as caught:
        keep(private._replace(write=None, refusal="x is a link"), TEXT, AT)
    assert (caught.value.code, caught.value.help) == ("no-permission", "x is a link: move that away")
    (tmp_path / "private").write_text("")
    with pytest.raises(TaskstateError):
        keep(private, TEXT, AT)


def test_only_the_named_texts_are_discarded(private: Private) -> None:
    """An unknown id, a part of one, or a path deletes nothing, not even the others that are named."""
    one, two = keep(private, TEXT, AT), keep(private, TEXT._replace(path="c"), AT)
    for wrong in ("00000000", one[:7], f"../replaced/{one}", ""):
        with pytest.raises(TaskstateError) as caught:
            replaced_texts.discard(private, (one, wrong))
        assert caught.value.code == "not-found"
    assert len(texts(private)) == 2
    assert [each.id for each in replaced_texts.discard(private, (one, one))] == [one]
    assert [each.id for each in texts(private)] == [two]


@pytest.mark.parametrize("head", [b"", b"{}\n", b"[]\n", b"\xff\n", b'{"path": "a"}\n'])
def test_a_damaged_head_hides_no_text(private: Private, head: bytes) -> None:
    """It is listed, shown from its first byte on, and can be discarded."""
    own_id = keep(private, TEXT, AT)
    (found,) = texts(private)
    found.file.write_bytes(head + TEXT.data)
    (found,) = texts(private)
    assert (found.id, found.path, found.data()) == (own_id, "", head + TEXT.data)
    assert replaced_texts.discard(private, [own_id])


def test_other_files_are_no_texts(private: Private) -> None:
    """What a killed writer left, or somebody put there, is not listed and not deleted."""
    own_id = keep(private, TEXT, AT)
    folder = texts(private)[0].file.parent
    for name in (".taskstate-1-ab.tmp", "mine.txt", "0123"):
        (folder / name).write_bytes(b"x")
    assert [each.id for each in texts(private)] == [own_id]


def test_texts_of_both_folders_are_found(private: Private, tmp_path: Path) -> None:
    """Where the folder in git could not be written for a while, nothing is forgotten and nothing is kept twice."""
    own_id = keep(private, TEXT, AT)
    both = Private((*private.read, tmp_path / "other"), tmp_path / "other")
    assert keep(both, TEXT, AT) == own_id
    other = keep(both, TEXT._replace(path="c"), AT)
    assert {each.id for each in texts(both)} == {own_id, other}


def test_texts_of_removed_worktrees_are_adopted(private: Private, tmp_path: Path) -> None:
    """They keep their ids and what is told of them; they are moved once."""
    gone = Private((tmp_path / "gone",), tmp_path / "gone")
    own_id = keep(gone, TEXT, AT)
    both = private._replace(removed=(tmp_path / "gone",))
    assert replaced_texts.adopt(both)
    (found,) = texts(private)
    assert (found.id, found.path, found.at, found.by, found.data()) == (own_id, TEXT.path, AT, TEXT.by, TEXT.data)
    assert not replaced_texts.adopt(both)
    assert not replaced_texts.adopt(both._replace(write=None))


def test_where_it_is_kept_is_named_by_the_command() -> None:
    """Each once; nothing is said of what is not kept."""
    assert named(["", "01", "02", "01"]) == (
        "what it replaced: `taskstate doctor kept show 01` and `taskstate doctor kept show 02`"
    )
    assert named([""]) == ""

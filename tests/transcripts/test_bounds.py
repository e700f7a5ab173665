"""Whose file is read, how much of it, and what is said of one that is not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.transcripts import reading, source
from tests.transcripts.test_reading import CASES, ROOT, transcript_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from taskstate.transcripts.reading import Transcript

PATHS = {path.stem: path for path in CASES}
CLAUDE = PATHS["claude-2.1.332-edits"]
USELESS = b'{"parentUuid":null,"isSidechain":false,"attachment":{"type":"prompt_snapshot","systemPrompt":["%s"]}}\n'


@pytest.fixture
def given(tmp_path: Path) -> Transcript:
    """A transcript of Claude's of our own."""
    path = tmp_path / "claude.jsonl"
    path.write_bytes(CLAUDE.read_bytes())
    return transcript_of(CLAUDE)._replace(path=str(path))


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each call of the system has read."""
    counts: list[int] = []
    pread = os.pread

    def counted(descriptor: int, length: int, at: int) -> bytes:
        data = pread(descriptor, length, at)
        counts.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)
    return counts


def refusal(transcript: Transcript) -> str:
    """Return why a transcript is not read, which is the same for both ways to read one."""
    read, fill = reading.read(transcript, 7), reading.usage(transcript)
    assert (read.events, read.offset, fill.usage) == ((), 7, None)
    assert read.problem == fill.problem
    return read.problem


def _missing(path: Path) -> None:
    path.unlink()


def _link(path: Path) -> None:
    path.rename(path.with_name("real.jsonl"))
    path.symlink_to("real.jsonl")


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_missing, "it does not exist"),
        (_link, "is not a plain file"),
        (_fifo, "is not a plain file"),
        (_folder, "not a plain file"),
    ],
)
def test_only_a_plain_file_is_opened(given: Transcript, make: Callable[[Path], None], why: str) -> None:
    """What a client names may be gone, a link, or a FIFO that nobody writes to: it is not read, and nothing waits."""
    make(Path(given.path))
    assert why in refusal(given)


def test_another_user_s_file_is_not_read(given: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook can be given any path; what another user wrote there is not read."""
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert "not a plain file of this user" in refusal(given)


@pytest.mark.parametrize("path", ["", "null", "/etc/passwd", "a\0.jsonl", "/proc/self/mem.jsonl"])
def test_a_path_that_is_none_is_said(given: Transcript, path: str) -> None:
    """An empty path, or one that cannot be a transcript's, is a problem and no error."""
    assert refusal(given._replace(path=path))


def test_it_must_be_of_the_session_and_the_folder(given: Transcript) -> None:
    """The session's id stands in the file's name or first lines, and the session works in the folder given."""
    assert "another session" in refusal(given._replace(session="9" * 8))
    assert "another session" in refusal(given._replace(session=""))
    for root in ("/w/shop2", "/w/shop/web", "/elsewhere"):
        assert "another repository" in refusal(given._replace(root=root))
    assert reading.read(given._replace(root="/w")).problem == ""
    assert "nothing is known" in refusal(given._replace(client="cursor"))


def test_the_name_of_a_file_ends_in_the_session(given: Transcript, tmp_path: Path) -> None:
    """A part of a name that only has the id in it somewhere is of another session."""
    path = tmp_path / "victim11-42.jsonl"
    path.write_bytes(Path(given.path).read_bytes())
    assert "another session" in refusal(given._replace(session="1", path=str(path)))
    assert "another session" in refusal(given._replace(session="2", path=str(path)))
    for session in ("42", "victim11-42"):
        assert reading.read(given._replace(session=session, path=str(path))).problem == ""


@pytest.mark.parametrize(
    ("name", "more"), [("codex-0.171.0", '"parent_thread_id":"x",'), ("gemini-0.61.0", '"kind":"subagent","x":')]
)
def test_a_sub_agent_s_is_not_the_session_s(tmp_path: Path, name: str, more: str) -> None:
    """Codex and Gemini keep a sub-agent's transcript in a file of its own, which bears the session's id."""
    path = tmp_path / f"{name}.jsonl"
    text = PATHS[name].read_text()
    path.write_text(text.replace('"kind":', more, 1) if "gemini" in name else text.replace('"cwd"', more + '"cwd"', 1))
    assert "of a sub-agent" in refusal(transcript_of(PATHS[name])._replace(path=str(path)))


def test_a_form_that_nobody_knows_is_said(given: Transcript) -> None:
    """Two hundred lines of which none tells anything are of a version that is not known."""
    first = json.dumps({"sessionId": given.session, "cwd": ROOT})
    Path(given.path).write_text(first + "\n" + '{"type":"new","sessionId":"x"}\n' * 300)
    assert "no line of the transcript has a form that is known" in reading.read(given).problem


def test_half_a_line_is_left_for_the_next_time(given: Transcript) -> None:
    """A line that is being written is read when it is whole, and nothing is told twice."""
    path = Path(given.path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    first = reading.read(given)
    path.write_bytes(whole)
    second = reading.read(given, first.offset, identity=first.identity)
    assert [type(each).__name__ for each in second.events] == ["Usage", "Words"]
    assert reading.read(given, second.offset).events == ()


def test_a_file_that_was_replaced_is_read_anew(given: Transcript) -> None:
    """One that is shorter, that is another file, or in which no line begins there, is told from its start."""
    path, whole = Path(given.path), reading.read(given)
    for offset, identity in ((whole.offset + 9, ""), (whole.offset, "1-1"), (whole.offset - 9, ""), (-1, "")):
        again = reading.read(given, offset, identity=identity)
        assert (again.is_anew, again.events) == (True, whole.events)
    path.write_bytes(path.read_bytes()[:-200])
    assert reading.read(given, whole.offset).is_anew
    assert not whole.is_anew


def test_the_fill_is_found_behind_much_that_is_of_no_use(given: Transcript, taken: list[int]) -> None:
    """After a compaction a client may write more than the end that is read first: more is read then."""
    expected = reading.usage(given).usage
    with Path(given.path).open("ab") as file:
        file.write(b"".join(USELESS % (b"x" * 100_000) for _ in range(9)))
    assert reading.usage(given).usage == expected is not None
    taken.clear()
    with Path(given.path).open("ab") as file:
        file.write(b"".join(USELESS % (b"x" * 100_000) for _ in range(90)))
    assert reading.usage(given).usage is None
    assert sum(taken) < 6 * 1024**2


def test_of_a_file_of_a_hundred_megabytes_the_end_is_read(given: Transcript, taken: list[int]) -> None:
    """The budget holds, the newest is read, what was not is said, and so it is for a line of a hundred megabytes."""
    path = Path(given.path)
    lines = path.read_bytes()
    os.truncate(path, 100 * 1024**2)
    with path.open("ab") as file:
        file.write(b"\n" + lines)
    read = reading.read(given)
    assert len(read.events) > 10
    assert (read.offset, read.unread) == (path.stat().st_size, path.stat().st_size - reading.BUDGET + 1)
    assert sum(taken) <= reading.BUDGET + 256 * 1024
    os.truncate(path, 100 * 1024**2)
    assert reading.read(given).events == ()


def test_a_line_that_is_too_long_is_passed_over(given: Transcript) -> None:
    """A line of more than two megabytes is not parsed, and what follows it is read."""
    path, before = Path(given.path), reading.read(given)
    lines = path.read_bytes().splitlines(keepends=True)
    long = json.dumps({"type": "user", "message": {"content": "x" * source.LONGEST}}).encode() + b"\n"
    path.write_bytes(b"".join([*lines[:3], long, *lines[3:]]))
    assert reading.read(given).events == before.events

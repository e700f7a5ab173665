"""The laws of the archive: what was archived comes back byte for byte, and goes again without a trace of the way."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taskstate.archive import restore as archive_restore
from taskstate.archive import verify as archive_verify
from taskstate.errors import TaskstateError
from taskstate.model.archive_format import batch_contents
from taskstate.storage import replaced_texts
from tests.support.markdown_strategies import outside
from tests.support.place import SESSION, TASK, Place, said

ENDS = st.sampled_from(["\n", "\r\n", "\r\n\n", " \n\n", "\n \t\n\n\n"])
BETWEEN = st.sampled_from(["", "", "", "### Ideas\n\nkeep me\n\n", "### Plan\r\n\r\nkeep\r\n", "### Archived\n\n"])


def log_of(place: Place) -> str:
    """Return the Progress Log as it stands."""
    section = place.state.section("Progress Log")
    return section.span.of(place.text) if section else ""


def entries(place: Place) -> list[tuple[int, str]]:
    """Return number and hash of each archived entry."""
    return [(entry.number, entry.sha) for batch in batch_contents(place.archived) for entry in batch.entries]


@given(
    sessions=st.lists(st.tuples(ENDS, BETWEEN), min_size=2, max_size=6),
    keeps=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    crlf=st.booleans(),
    everything=st.booleans(),
)
def test_archiving_and_restoring_gives_the_same_bytes(
    sessions: list[tuple[str, str]],
    keeps: list[int],
    crlf: bool,  # noqa: FBT001 - drawn
    everything: bool,  # noqa: FBT001 - drawn
) -> None:
    """Whatever stands in the log and however often it is archived, each restore gives back the log of that time."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "repository")
        texts = (
            between + SESSION.format(number, number, said(number)).rstrip("\n") + "\n" + end
            for number, (end, between) in enumerate(sessions, 1)
        )
        place.fill(log="".join(texts))
        place.text = re.sub(r"\r?\n", "\r\n", place.text) if crlf else place.text
        logs: list[str] = [log_of(place)]
        archives: list[str | None] = [None]
        for keep in sorted(set(keeps), reverse=True):
            if place.archive(keep=keep).changed:
                logs.append(log_of(place))
                archives.append(place.archived)
                assert archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems == ()
        if len(logs) == 1:
            return
        gone = entries(place)
        for log, archived in [(logs[0], None)] if everything else [*zip(logs, archives, strict=True)][-2::-1]:
            archive_restore.restore(place.workspace, TASK, place.request(), everything=everything)
            assert log_of(place) == log
            assert (place.archived if place.archive_path.exists() else None) == archived
        place.archive(keep=min(keeps))
        assert entries(place) == gone


@given(texts=st.lists(outside.map(lambda text: text[:200]), min_size=1, max_size=3))
def test_entries_with_any_text_come_back(texts: list[str]) -> None:
    """Whatever stands in sessions by hand, a log that can be archived is given back byte for byte."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "repository")
        place.fill(log="".join(f"### Session {n}\n\n{text}\n\n" for n, text in enumerate((*texts, "last"), 1)))
        try:
            before = log_of(place)
            done = place.archive().changed
        except (TaskstateError, UnicodeEncodeError):
            return  # a fence that never closes, say: it is not archived, so nothing has to come back
        if done:
            archive_restore.restore(place.workspace, TASK, place.request())
            assert log_of(place) == before


WORDS = [
    "KIM",
    "- KIM",
    "```\nKIM\n```",
    "<!-- KIM -->",
    "KIM\n---",
    "---\n\nKIM",
    "## KIM",
    "# KIM",
    "\tKIM",
    "[KIM](x)",
]


@settings(max_examples=max(10, settings().max_examples // 4))
@given(words=st.sampled_from(WORDS), at=st.floats(0, 1), gap=st.sampled_from(["", "\n"]), crlf=st.booleans())
@example(words="KIM", at=64 / 107, gap="", crlf=False)  # behind the link of a summary
@example(words="# KIM", at=44 / 107, gap="", crlf=False)  # behind closing lines, without a blank line
@example(words="KIM", at=1.0, gap="", crlf=True)
def test_words_put_into_an_archive_are_not_lost(
    words: str,
    at: float,
    gap: str,
    crlf: bool,  # noqa: FBT001 - drawn
) -> None:
    """Text between any two lines of an archive is named; restoring keeps it, or refuses and changes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "repository")
        place.fill(log="".join(SESSION.format(number, number, said(number)) for number in range(1, 7)))
        place.text = place.text.replace("\n", "\r\n") if crlf else place.text
        before = log_of(place)
        for keep in (4, 2):
            place.archive(keep=keep)
        lines = place.archive_path.read_bytes().decode().splitlines(keepends=True)
        lines.insert(round(at * len(lines)), re.sub("\n", "\r\n" if crlf else "\n", f"{gap}{words}\n{gap}"))
        place.archive_path.write_bytes("".join(lines).encode())
        problems = archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems
        assert problems or words.startswith("<!--")
        if any(each.fatal for each in problems):
            with pytest.raises(TaskstateError, match="cannot be restored as it is"):
                archive_restore.restore(place.workspace, TASK, place.request(), everything=True)
            return
        archive_restore.restore(place.workspace, TASK, place.request(), everything=True)
        kept = b"".join(each.data() for each in replaced_texts.texts(place.workspace.private))
        assert log_of(place) == before
        assert "KIM" in (place.archived if place.archive_path.exists() else "") + kept.decode()

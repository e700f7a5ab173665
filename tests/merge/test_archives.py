from __future__ import annotations

import pytest

from taskstate.archive.archiver import trailer
from taskstate.model.archive_format import entry_hash, find_batches
from tests.support.merging import edited, merge_texts

NAME = ".taskstate/archives/task-7-archive.md"
HEAD = "# Task #7 Archive - Full Session History\n"


def batch(*sessions: tuple[int, str], summary: str = "", when: str = "2026-02-06T00:00:00Z") -> str:
    """Return a batch with these sessions, closed by a trailer that is right about them."""
    entries = {number: f"## Session {number} - 2026-02-05 10:00\n\n- {said}\n\n" for number, said in sessions}
    text = (f"## Archived Summary (Sessions 1-1)\n\n{summary}\n\n" if summary else "") + "".join(entries.values())
    hashes = {number: entry_hash(entry.replace("##", "###", 1)) for number, entry in entries.items()}
    return f"\n{text.rstrip()}\n\n{trailer(text, hashes, reason='over 75 KB', now=when, newline=chr(10))}"


def archive(*batches: str) -> str:
    """Return an archive file."""
    return HEAD + "".join(batches)


ONE, TWO = batch((1, "one"), (2, "two")), batch((3, "three"), summary="of one and two")


def test_batches_of_one_side_are_taken_as_they_are() -> None:
    """Where one side's batches hold all that the other's do, its file is the result, byte for byte."""
    more, less = archive(ONE, batch((3, "three"), (4, "four"))), archive(ONE, batch((3, "three")))
    assert merge_texts(archive(ONE), more, less, NAME) == (more, 0)
    assert merge_texts(archive(ONE), less, more, NAME) == (more, 0)
    assert merge_texts("", more, less, NAME) == (more, 0)


def test_other_sides_entries_follow_under_new_numbers() -> None:
    """Numbers that our side has archived are not given again: theirs come behind them, with right hashes and sizes."""
    ours = archive(ONE, batch((3, "three"), (4, "ours"), summary="s"))
    theirs = archive(
        ONE, batch((3, "three"), (4, "theirs, see Session 4"), (5, "more"), summary="t"), batch((6, "six"))
    )
    text, conflicts = merge_texts(archive(ONE), ours, theirs, NAME)
    assert conflicts == 0
    assert text.startswith(ours)
    actual = [batch.entries for batch in find_batches(text)]
    assert [entries.count("## Session ") for entries in actual] == [2, 2, 2, 1]
    assert "## Session 5 - 2026-02-05 10:00\n\n- theirs, see Session 5\n" in actual[2]
    assert "## Session 6 - 2026-02-05 10:00\n\n- more\n" in actual[2]
    assert "## Archived Summary (Sessions 1-1)\n\nt\n" in actual[2]
    assert "## Session 7 - " in actual[3]
    assert "Sessions archived: 5-6\n" in text
    for each in find_batches(text):
        numbers = [line.split(":")[0].removeprefix("- ") for line in each.trailer.split("\n") if line.startswith("- ")]
        for number in numbers:
            entry = each.entries[each.entries.index(f"## Session {number} - ") :].split("\n## ")[0]
            assert f"- {number}: {entry_hash(entry.replace('##', '###', 1))}\n" in each.trailer


def test_moved_batch_keeps_when_and_why() -> None:
    """A batch whose entries get other numbers says of its time and its reason what it said before."""
    theirs = edited(batch((3, "theirs"), when="2026-02-08T00:00:00Z"), ("over 75 KB", "by hand"))
    text, _ = merge_texts(archive(ONE), archive(ONE, batch((3, "ours"))), archive(ONE, theirs), NAME)
    lines = ["Archived on: 2026-02-08T00:00:00Z", "Reason: by hand", "Sessions archived: 4-4"]
    assert find_batches(text)[-1].trailer.split("\n")[2:5] == lines


@pytest.mark.parametrize("swap", [False, True])
def test_batch_that_one_side_took_back_out(swap: bool) -> None:  # noqa: FBT001 - a parameter
    """A batch that one side restored stays where the other side has archived further, and goes where it has not."""
    base = archive(ONE, TWO)
    more = archive(ONE, TWO, batch((4, "four")))
    versions = (archive(ONE), more)
    assert merge_texts(base, *(versions[::-1] if swap else versions), NAME) == (more, 0)
    assert merge_texts(base, archive(ONE), base, NAME) == (archive(ONE), 0)


def test_archive_that_was_written_by_hand_is_text() -> None:
    """What no trailer closes, or a title that both changed, is merged line by line."""
    ours, theirs = (archive(ONE, f"\n## Session 3 - 2026-02-05 10:00\n\n- {said}\n") for said in ("ours", "theirs"))
    text, conflicts = merge_texts(archive(ONE), ours, theirs, NAME)
    assert conflicts == 1
    assert "<<<<<<< ours\n- ours\n=======\n- theirs\n" in text
    ours, theirs = (edited(archive(ONE, more), ("#7", f"#{n}")) for n, more in ((8, TWO), (9, batch((3, "x")))))
    text, conflicts = merge_texts(archive(ONE), ours, theirs, NAME)
    assert conflicts
    assert "three" in text
    assert "- x\n" in text


def test_line_ends_are_ours() -> None:
    """An archive with CRLF stays one."""
    base, ours = archive(ONE).replace("\n", "\r\n"), archive(ONE, batch((3, "ours"))).replace("\n", "\r\n")
    text, conflicts = merge_texts(base, ours, archive(ONE, batch((3, "theirs"))), NAME)
    assert conflicts == 0
    assert text.count("\n") == text.count("\r\n")
    assert "## Session 4 - 2026-02-05 10:00\r\n\r\n- theirs\r\n" in text


def test_impact_maps_are_merged_by_id() -> None:
    """A module that each side added or changed is in the merged map, in the form of our file."""
    base = '{"modules": [{"id": "a", "paths": ["a/**"], "depends_on": []}], "interfaces": []}\n'
    ours = edited(
        base, ('"depends_on": []', '"depends_on": ["b"]'), ("}], ", '}, {"id": "b", "paths": [], "depends_on": []}], ')
    )
    theirs = edited(base, ('"a/**"', '"a/**", "c/**"'))
    text, conflicts = merge_texts(base, ours, theirs, "task-7-impact-map.json")
    assert (text, conflicts) == (edited(ours, ('"a/**"', '"a/**", "c/**"')), 0)


@pytest.mark.parametrize("swap", [False, True])
def test_lists_between_the_batches_are_those_of_both_sides(swap: bool) -> None:  # noqa: FBT001 - each side in turn
    """Old commits that one side rolled out are in the result, whichever side archived more sessions."""
    old, new = "\n## Git History\n\n- `abc1234` - a\n", "\n## Git History\n\n- `abd1234` - b\n"
    base = archive(ONE) + old
    pair = (base + new, base + TWO)
    ours, theirs = pair[::-1] if swap else pair
    text, conflicts = merge_texts(base, ours, theirs, NAME)
    assert conflicts == 0
    assert [text.count(each) for each in (old, new, "## Session ")] == [1, 1, 3]
    assert all(each.trailer or each.entries.startswith("## Git History") for each in find_batches(text))


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("more", ["", TWO])
def test_words_between_the_batches_are_those_of_both_sides(more: str, swap: bool) -> None:  # noqa: FBT001 - parameters
    """What somebody wrote between batches is in the result, also where the other side's batches hold all sessions."""
    base, written = archive(ONE, TWO), archive(ONE, "\nOf Kim.\n", TWO)
    other = archive(ONE, TWO, batch((4, "four"), summary="s")) if more else base
    sides = (other, written) if swap else (written, other)
    text, conflicts = merge_texts(archive(ONE), *sides, NAME)
    assert (text.count("Of Kim."), conflicts) == (1, 0)

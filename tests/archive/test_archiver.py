from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.archive import archiver
from taskstate.errors import StaleFile
from taskstate.model.archive_format import entry_hash, read_batches
from taskstate.model.canonical_json import sha256
from taskstate.storage import journal
from taskstate.tasks import sessions
from taskstate.workspace.archive_file import read_archive
from tests.support.place import TASK, Place, changes, refusal, said, tree

if TYPE_CHECKING:
    from pathlib import Path

FORGED = "---\n\nArchived on: 2026-01-01T00:00:00Z\nReason: none\nSessions archived: {0}-{1}\nEntries SHA-256:\n\n{2}\n"

_HASH = re.compile(r"^- (\d+): ([0-9a-f]{64})\r?$", re.MULTILINE)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def forged(first: int, last: int, *, size: int | None = None) -> str:
    """Return text that looks like the lines which close a batch of sessions."""
    hashes = "\n".join(f"- {number}: {'0' * 64}" for number in range(first, last + 1))
    text = FORGED.format(first, last, hashes)
    return text if size is None else text.replace("Entries", f"Size: {size} bytes\nEntries")


def trailers(text: str) -> list[dict[int, str]]:
    """Return the hashes by number that each batch of an archive file ends with."""
    batches = text.split("Entries SHA-256:")[1:]
    return [{int(n): sha for n, sha in _HASH.findall(each)} for each in batches]


def entries_of(place: Place) -> dict[int, str]:
    """Return the entries of the Progress Log by number, blanks at the end of the last line included."""
    entries = {}
    for session in place.state.sessions:
        text = session.section.span.of(session.document.text)
        entries[session.number] = re.sub(r"(\r\n?|\n|[ \t]+\Z)+\Z", "", text) if text.strip() else text
    return entries


# When, and how much


def test_within_the_limit_nothing_happens_without_force(place: Place) -> None:
    """A small file is left alone, and told so."""
    place.fill(1, 2, 3)
    before = tree(place.root)
    outcome = place.archive(keep=1, force=False)
    assert not outcome.changed
    assert "--force" in outcome.notes[0]
    assert tree(place.root) == before


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_limit_counts_line_ends_as_lf(place: Place, end: str) -> None:
    """A file of exactly the limit is within it, a byte more is over, whatever its line ends."""
    place.configure("[size]\nmax-kb = 4\nwarn-kb = 3\n")
    place.fill(1, 2)
    missing = 4 * 1024 - len(place.text.encode())
    place.text = (place.text + "x" * missing).replace("\n", end)
    assert not place.archive(force=False).changed
    place.text += "x"
    assert place.archive(force=False).changed


def test_limit_in_tokens(place: Place) -> None:
    """A limit in tokens counts too, at four bytes each."""
    place.fill(1, 2)
    place.configure(f"[size]\nmax-tokens = {len(place.text) // 4}\n")
    assert place.archive(force=False).changed
    assert "tokens" in re.findall(r"Reason: (.*)", place.archived)[0]


@pytest.mark.parametrize("keep", [1, 3, 5, 6])
def test_keeps_the_newest_sessions(place: Place, keep: int) -> None:
    """All but the newest sessions go, and those stay in full."""
    place.fill(*range(1, 8))
    kept = dict(list(entries_of(place).items())[-keep:])
    place.archive(keep=keep)
    assert place.numbers() == [(number, number <= 7 - keep) for number in range(1, 8)]
    assert entries_of(place) == kept


@pytest.mark.parametrize("keep", [3, 4, 100])
def test_nothing_to_archive(place: Place, keep: int) -> None:
    """Where no more sessions stand there than are kept, nothing is written."""
    place.fill(1, 2, 3)
    before = tree(place.root)
    outcome = place.archive(keep=keep)
    assert not outcome.changed
    assert f"task 101 has 3 sessions, and {keep} are kept" in outcome.notes[0]
    assert tree(place.root) == before


# What the archive file holds


def test_form_of_the_archive_file(place: Place) -> None:
    """The archive begins with its title, and each batch ends with what it holds and why."""
    place.fill(1, 2, 3)
    hashes = {number: sha256(entry) for number, entry in entries_of(place).items()}
    place.archive(keep=1)
    head, trailer = place.archived.split("\n---\n")
    assert head.startswith("# Task #101 Archive - Full Session History\n\n## Session 1 - 2026-01-02 10:00\n\n**What I")
    assert re.fullmatch(
        r"\nArchived on: 2026-01-31T12:02:00Z\nReason: asked for \(--force --keep 1\)\nSessions archived: 1-2\n"
        r"Size: \d+ bytes\nEntries SHA-256:\n\n- 1: (\w+)\n- 2: (\w+)\n",
        trailer,
    )
    assert trailers(place.archived) == [{1: hashes[1], 2: hashes[2]}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "mixed"])
def test_every_entry_goes_over_byte_for_byte(place: Place, end: str) -> None:
    """An entry keeps every byte but the mark of its heading's level, also odd ones."""
    odd = (
        "###  Session 1  -  2026-01-01 10:00   (continued) ###\n\n*  a\n\tb  \n\n\n```\n### Session 9\n## x\n```\n\n"
        "<!-- \n### Session 8 -->\n\n   ### Session 2 - 2026-01-02 10:00\n#### Details\n\nend  \n \n\n"
        "### Session 3 - 2026-01-03 10:00\nx\n"
    )
    log = odd if end == "mixed" else odd.replace("\n", end)
    log = re.sub(r"(\n[^\n]*)\n", r"\1\r\n", odd) if end == "mixed" else log
    place.text = place.text if end == "mixed" else place.text.replace("\n", end)
    place.fill(log=log)
    before = place.text
    expected = (
        log[: log.index("### Session 3")]
        .replace("###  Session 1", "##  Session 1")
        .replace("### Session 2", "## Session 2")
    )
    place.archive()
    assert expected.rstrip("\r\n") in place.archived
    assert place.archived.count("Session 2 - ") == 1
    assert "Session 2 - " not in place.text
    newline = "\r\n" if end == "\r\n" else "\n"
    if end != "mixed":
        assert place.archived.count("\n") == place.archived.count(newline)
        assert place.text.count("\n") == place.text.count(newline)
    assert before.split("## 5.")[1] == place.text.split("## 5.")[1]


def test_hash_is_that_of_the_entry_as_it_stood(place: Place) -> None:
    """The hash is over the entry with LF line ends, without blank lines at its end, but with the last line's blanks."""
    place.text = place.text.replace("\n", "\r\n")
    place.fill(log="### Session 1 - 2026-01-01 10:00\r\nx  \r\n  \r\n\r\n### Session 2 - 2026-01-02 10:00\r\ny\r\n\r\n")
    place.archive()
    assert trailers(place.archived) == [{1: sha256("### Session 1 - 2026-01-01 10:00\nx  ")}]


@pytest.mark.parametrize(("entry", "same"), [("x\n\n \t\n", "x"), ("x\r\ny\r\n", "x\ny"), ("x  ", "x  "), ("\n", "")])
def test_entry_hash(entry: str, same: str) -> None:
    """Line ends and blank lines at the end make no difference to the hash of an entry."""
    assert entry_hash(entry) == sha256(same)


def test_session_of_many_lines_is_hashed_in_no_time() -> None:
    """A long run of blank lines within an entry costs no more than its length."""
    assert entry_hash("a" + "\n" * 200_000 + "b\n") == sha256("a" + "\n" * 200_000 + "b")


def test_batches_are_appended(place: Place) -> None:
    """What the archive holds already stays as it is, and each batch has its own lines behind it."""
    place.fill(1, 2, 3)
    place.archive(keep=1)
    first = place.archived
    place.add("four")
    place.add("five")
    summary = place.state.summary
    assert summary
    replaced = summary.span.of(place.text)
    place.archive(keep=2)
    assert place.archived.startswith(first)
    second = place.archived.removeprefix(first)
    assert second.startswith("\n" + replaced.replace("###", "##", 1) + "\n\n## Session 3 - ")
    assert [list(hashes) for hashes in trailers(place.archived)] == [[1, 2], [3]]
    assert place.numbers() == [(1, True), (2, True), (3, True), (4, False), (5, False)]


def test_every_session_is_in_exactly_one_of_the_files(place: Place) -> None:
    """Over many archivings no entry is lost, doubled or changed."""
    everything: dict[int, str] = {}
    for number in range(1, 13):
        place.add(f"did {number}\n\n### Session {number}\n\n---", issues=(f"issue {number}",))
        everything |= entries_of(place)
        if number % 3 == 0:
            place.archive(keep=1 + number % 2)
    listed = sessions.all_sessions(place.workspace, TASK)
    assert {each.number: each.entry for each in listed} == everything
    assert [each.number for each in listed] == list(range(1, 13))
    assert {n: sha for hashes in trailers(place.archived) for n, sha in hashes.items()} == {
        n: sha256(entry) for n, entry in everything.items() if n < listed[-1].number - 1 or (n, True) in place.numbers()
    }


def test_unknown_headings_between_sessions_stay(place: Place) -> None:
    """What belongs to no session is not archived and not lost: it stays in the log."""
    place.fill(1, 2, 3)
    place.text = place.text.replace("### Session 2 -", "### Ideas\n\nkeep me\n\n---\n\n### Session 2 -")
    place.text = place.text.replace("## 4. Progress Log\n", "## 4. Progress Log\n\nRead me first.\n")
    place.archive()
    log = place.text.split("## 4. Progress Log")[1]
    assert (
        log.index("Read me first.") < log.index("### Archived Summary") < log.index("### Ideas\n\nkeep me\n\n---\n\n")
    )
    assert "keep me" not in place.archived
    assert place.numbers() == [(1, True), (2, True), (3, False)]


def test_outside_of_the_log_nothing_changes(place: Place) -> None:
    """Apart from the sessions, the summary, the archive's path and the marks no byte changes."""
    place.fill(1, 2, 3)
    place.text = place.text.replace("title: JWT Service", "title:   'JWT Service'  # x") + "\n## Notes\n\n\n\tx  \n"
    before = place.text
    place.archive()
    removed, come = changes(before, place.text)
    assert removed.startswith("### Session 1")
    assert "## 5" not in removed
    assert re.match(r"archive_path: archives/task-101-archive.md\n### Archived Summary \(Sessions 1-2\)", come)
    assert come.rstrip().endswith("[Full session details](../archives/task-101-archive.md)")
    assert "## " not in come.split("### Archived Summary")[1]


def test_state_file_elsewhere_in_the_repository(place: Place) -> None:
    """The archive of a state file outside the root goes under the root all the same, and is linked from there."""
    place.fill(1, 2)
    other = place.root / "docs" / "auth work" / place.path.name
    other.parent.mkdir(parents=True)
    place.path.rename(other)
    place.archive()
    assert place.archive_path.exists()
    assert "[Full session details](../../.taskstate/archives/task-101-archive.md)" in other.read_text(encoding="utf-8")
    assert place.numbers() == [(1, True), (2, False)]


def test_root_with_a_blank_in_its_name_is_linked(place: Place) -> None:
    """A link leads to the archive also where a folder's name holds a blank."""
    place.fill(1, 2)
    other = place.root / place.path.name
    place.path.rename(other)
    place.configure('root = "my state"\n')
    place.archive()
    assert "(my%20state/archives/task-101-archive.md)" in other.read_text(encoding="utf-8")


# What is not archived


@pytest.mark.parametrize("numbers", [(2, 1), (1, 1, 2), (1, 3, 2, 4)])
def test_falling_numbers_are_refused(place: Place, numbers: tuple[int, ...]) -> None:
    """Sessions that do not rise one above the other are put into order by a person first."""
    place.fill(*numbers)
    before = tree(place.root)
    error = refusal(place.archive)
    assert error.code == "session-order"
    assert "rising numbers" in error.help
    assert tree(place.root) == before


def test_numbers_that_are_archived_already_are_refused(place: Place) -> None:
    """No number stands in the archive twice."""
    place.fill(1, 2, 3)
    place.archive()
    text = place.text
    place.text = re.sub(r"### Archived Summary .*?(?=### Session)", "", text, flags=re.DOTALL)
    place.fill(log=f"### Session 2 - 2026-01-09 10:00\n\n{said(2)}\n\n")
    before = tree(place.root)
    assert refusal(place.archive).code == "session-order"
    assert tree(place.root) == before


def test_gaps_are_no_obstacle(place: Place) -> None:
    """A missing number does not keep the others from being archived."""
    place.fill(2, 5, 9)
    place.archive()
    assert "Sessions archived: 2-5" in place.archived
    assert place.numbers() == [(2, True), (5, True), (9, False)]


def test_broken_proof_stops_everything(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a session would not read the same afterwards, nothing is written."""
    place.fill(1, 2)
    before = tree(place.root)
    monkeypatch.setattr(archiver, "_entries", lambda state, going: going[0].entry[:-1])  # noqa: ARG005
    assert refusal(place.archive).code == "unsafe"
    assert tree(place.root) == before


def test_kept_session_that_would_change_stops_everything(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a kept session would not stay, nothing is written."""
    place.fill(1, 2, 3)
    before = tree(place.root)
    shorten = archiver._without  # noqa: SLF001 - the step whose fault is feigned
    monkeypatch.setattr(archiver, "_without", lambda *args: shorten(*args).replace("did 3", "did three"))
    assert refusal(place.archive).code == "unsafe"
    assert tree(place.root) == before


def test_archive_that_grew_meanwhile_is_read_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that somebody appended to between plan and write is planned for anew."""
    place.fill(1, 2)
    place.archive_path.write_text("# Archive\n", encoding="utf-8")
    write = journal.write
    grown: list[bool] = []

    def race(*args: Any, **options: Any) -> None:  # noqa: ANN401 - handed on as they come
        if not grown:
            grown.append(True)
            with place.archive_path.open("a") as file:
                file.write("\nby hand\n")
            raise StaleFile("feigned")
        write(*args, **options)

    monkeypatch.setattr(journal, "write", race)
    place.archive()
    assert place.archived.startswith("# Archive\n\nby hand\n\n## Session 1")
    assert place.numbers() == [(1, True), (2, False)]


def test_dry_run_writes_nothing_and_shows_both_files(place: Place) -> None:
    """A dry run gives the diffs of the archive and of the state file."""
    place.fill(1, 2)
    before = tree(place.root)
    outcome = place.archive(request=place.request(dry_run=True))
    assert tree(place.root) == before
    assert "--- /dev/null\n+++ b/.taskstate/archives/task-101-archive.md\n" in outcome.diff
    assert "+## Session 1 - 2026-01-02 10:00" in outcome.diff
    assert "-### Session 1 - 2026-01-02 10:00" in outcome.diff
    place.archive()
    place.add("three")
    outcome = place.archive(request=place.request(dry_run=True))
    assert "--- a/.taskstate/archives/task-101-archive.md\n" in outcome.diff


def test_empty_archive_file_gets_its_title(place: Place) -> None:
    """A file that is there and holds nothing is begun like a new one."""
    place.archive_path.write_bytes(b"")
    place.fill(1, 2)
    place.archive()
    assert place.archived.startswith("# Task #101 Archive")


def test_archive_without_final_newline_is_added_to_safely(place: Place) -> None:
    """A lost line end at the archive's end joins nothing."""
    place.fill(1, 2)
    place.archive()
    place.archive_path.write_text(place.archived.rstrip("\n"), encoding="utf-8")
    place.add("three")
    place.archive()
    assert place.numbers() == [(1, True), (2, True), (3, False)]


# Reading it back


def test_no_archive_has_no_sessions(place: Place) -> None:
    """A task without an archive has no archived sessions."""
    assert archiver.archived_sessions(place.workspace, TASK) == ()
    assert read_archive(place.workspace, TASK).size is None


@pytest.mark.parametrize("size", [None, 0, 10**6])
@pytest.mark.parametrize("within", [1, 2, 3])
@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 2), (1, 3), (2, 2), (9, 9), (1, 9)])
def test_entry_that_looks_like_a_trailer_is_none(
    place: Place, size: int | None, within: int, first: int, last: int
) -> None:
    """Numbers and hashes decide which lines close a batch, not what an entry's own text looks like."""
    place.fill(1, 2, 3, 4)
    fake = forged(first, last, size=size) + "\n```\n## Session 9 - no heading, in a fence\n```"
    place.text = place.text.replace(f"- next {within}", f"- next {within}\n\n{fake}")
    before = entries_of(place)
    place.archive()
    listed = sessions.all_sessions(place.workspace, TASK)
    assert {each.number: each.entry for each in listed} == before
    assert [each.archived for each in listed] == [True, True, True, False]
    assert read_archive(place.workspace, TASK).last == 3
    place.add("five")
    place.archive()
    assert [number for number, _ in place.numbers()] == [1, 2, 3, 4, 5]


def test_example_without_sizes_is_read() -> None:
    """Archives whose batches do not tell their size are read by numbers and hashes."""
    entries = [f"## Session {number} - 2026-01-01 10:00\n\nx {number}\n\n" for number in (1, 2)]
    hashes = [entry_hash(entry.replace("##", "###", 1)) for entry in entries]
    text = "# Archive\n\n" + "".join(
        entry + FORGED.format(number, number, f"- {number}: {sha}") + "\n"
        for number, entry, sha in zip((1, 2), entries, hashes, strict=True)
    )
    assert read_batches(text) == [entry.strip("\n") for entry in entries]


def test_altered_entry_spoils_no_other(place: Place) -> None:
    """In an archive that somebody changed, every session is still told apart."""
    for _batch in range(3):
        for _session in range(3):
            place.add("x")
        place.archive()
    place.archive_path.write_text(place.archived.replace("- x\n", "- y\n", 1), encoding="utf-8")
    assert place.numbers() == [(number, number < 9) for number in range(1, 10)]
    assert len(read_batches(place.archived)) == 3
    assert sessions.find_session(place.workspace, TASK, 2).texts["next"] == ("Go on.",)


def test_removed_entry_spoils_no_other(place: Place) -> None:
    """In an archive that lacks an entry, the others are still told apart."""
    place.fill(1, 2, 3)
    place.archive()
    place.archive_path.write_text(
        re.sub(r"## Session 1 .*?(?=## )", "", place.archived, flags=re.DOTALL), encoding="utf-8"
    )
    assert place.numbers() == [(2, True), (3, False)]
    assert sessions.find_session(place.workspace, TASK, 2).texts["next"] == ("next 2",)


def test_text_behind_the_last_batch_is_read(place: Place) -> None:
    """What somebody added to the archive by hand is not overlooked."""
    place.fill(1, 2)
    place.archive()
    with place.archive_path.open("a") as file:
        file.write("\n## Session 7 - 2026-01-07 10:00\n\nby hand\n")
    assert place.numbers() == [(1, True), (7, True), (2, False)]


def test_blank_lines_behind_the_last_entry_are_counted(place: Place) -> None:
    """The size of a batch tells how many blank lines stood behind its last entry: it can be put back exactly."""
    place.fill(log=f"### Session 1 - 2026-01-01 10:00\n\n{said(1)}\n\n\n\n\n### Session 2 - 2026-01-02 10:00\n\nx\n\n")
    place.archive()
    (entries,) = read_batches(place.archived)
    assert entries == f"## Session 1 - 2026-01-01 10:00\n\n{said(1)}\n\n\n\n\n"


@pytest.mark.parametrize("lines", [1, 400])
def test_highest_number_is_read_from_the_end(place: Place, lines: int) -> None:
    """The last batch tells the highest number, however long its list of hashes is."""
    place.fill(*range(1, lines + 2))
    place.archive()
    assert read_archive(place.workspace, TASK).last == lines
    place.add()
    assert place.numbers()[-1] == (lines + 2, False)


# Which tasks are over the limit


def test_tasks_over_the_limit(place: Place) -> None:
    """Tasks that are over the limit and have something to archive are named; a file that cannot be read is told."""
    place.configure("[size]\nmax-kb = 3\nwarn-kb = 2\n")
    for task in ("9", "10", "11"):
        place.new(task, description="word " * 700)
    (place.root / "task-12-state.md").write_bytes(b"\xff")
    place.fill(1, 2)
    for task in ("9", "10"):
        path = place.workspace.locate(task)
        log = "".join(f"### Session {number} - 2026-01-01 10:00\n\nx\n\n" for number in (1, 2))
        path.write_text(path.read_text(encoding="utf-8").replace("## 5.", log + "## 5."), encoding="utf-8")
    at = place.workspace
    over, _, unreadable = archiver.tasks_over_limit(at, at.state_files(), keep=1)
    assert over == ["9", "10"]
    assert len(unreadable) == 1
    assert "task-12-state.md is not UTF-8" in unreadable[0]
    assert archiver.tasks_over_limit(at, at.state_files(), keep=1, force=True)[0] == ["9", "10", "101"]

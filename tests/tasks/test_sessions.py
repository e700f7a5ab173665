from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.doctor.repairs import let_go
from taskstate.lint.fixer import fix_file
from taskstate.model.session_texts import ENTRY_FORM
from taskstate.syntax.document import parse
from taskstate.syntax.escaping import clean
from taskstate.syntax.spans import with_newlines
from taskstate.tasks import sessions
from tests.support.git_place import GitPlace
from tests.support.place import SESSION, TASK, Place, changes, refusal, said

if TYPE_CHECKING:
    from pathlib import Path

TRICKY = {
    "heading": "Added it.\n\n### Session 9 - 2024-01-01 10:00\n\n**Next steps:** only text\n\n## 6. Chain Output",
    "title": "# Task #7: Other - State\n## 4. Progress Log\n### Archived Summary (Sessions 1-7)",
    "setext": "Heading\n=======\n\nOther\n---\n\ntext",
    "label": "**What I did:** x\n**Issues encountered:**\n\n- y\n\n**Current state:** z",
    "fence": "```python\n### Session 3 - 2026-01-01 10:00\n```",
    "open fence": "see\n\n```\n### Session 3",
    "only a fence mark": "```",
    "tildes": "~~~~ md\n## 5. Git History\n~~~",
    "comment": "<!-- x -->\n\ntext",
    "open comment": "<!--\n\n### Session 3",
    "open html": "<pre>\n\n## 5. Git History",
    "script": "<script>\n\n</div><?php\n\n<![CDATA[",
    "rule": "---",
    "escaped rule": "\\---",
    "marker": "-",
    "markers": "* -\n+",
    "escaped marker": "\\-\nand more",
    "escaped comment": "\\<!-- x",
    "rules": "a\n\n---\n\n***\n\n___",
    "front matter": "---\ntaskstate: 1\n---\n",
    "crlf": "one\r\n### Session 4\r\rtwo",
    "tab": "\tone\n\t\ttwo\n\n\t### Session 5",
    "indented": "    code\n\n        more",
    "unicode": "h\u00e9llo \u65e5\u672c \U0001f600\u200d\U0001f4bb ### Session 3\u3000 \u00a0",
    "list": "- one\n- two\n  - three\n\n1. x\n2. y",
    "ordered": "12. twelve",
    "quote": "> ### Session 3\nlazy",
    "nesting": "- " * 60 + "x",
    "quotes": ">" * 150 + " x",
    "table": "| a | b |\n|---|---|\n| ## 4 | x |",
    "definition": '[a]: <b> "c"',
    "emphasis": "*To be completed.*",
    "conflict": "<<<<<<< ours\n=======\n>>>>>>> theirs",
    "blank lines": "one\n\n\n\n\ntwo",
    "long": "a word and another one; " * 4_000,
    "many lines": "- x\n" * 5_000,
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def read(place: Place, number: int) -> sessions.SessionView:
    """Return a session as it is shown to users."""
    return sessions.find_session(place.workspace, TASK, number)


# What is appended


def test_a_session_is_written_in_canonical_form(place: Place) -> None:
    """A session with everything in it has its labels in order, a short text on its label's line, several as a list."""
    place.add(
        "Wrote it.",
        issues=("Slow.",),
        commits=("abc1234",),
        verification=("pytest: 8 passed",),
        agent="backend",
        state="Done.",
        next=("Ship.", "Rest."),
    )
    assert read(place, 1).entry == (
        "### Session 1 - 2026-01-31 12:02\n\n**By:** backend\n\n**What I did:** Wrote it.\n\n"
        "**Issues encountered:** Slow.\n\n**Current state:** Done.\n\n**Next steps:**\n\n- Ship.\n- Rest.\n\n"
        "**Commits:** `abc1234`\n\n**Verification:** pytest: 8 passed"
    )


def test_commits_are_recorded_by_ids_of_one_length(tmp_path: Path) -> None:
    """An abbreviation and any other name of a commit become ten digits of its id, each commit once."""
    place = GitPlace(tmp_path / "repository")
    head = place.git("rev-parse", "HEAD")
    place.add(commits=(head[:7], "HEAD", "main"))
    assert read(place, 1).texts["commits"] == (head[:10],)


def test_commits_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    """All of them are named, and nothing is recorded; text that looks like an option is only a name."""
    place = GitPlace(tmp_path / "repository")
    before = place.text
    error = refusal(lambda: place.add(commits=("0badc0de", "HEAD", "--all")))
    assert (error.code, error.message) == (
        "no-commit",
        "there is no commit 0badc0de, --all here, so the session is not recorded",
    )
    assert place.text == before


def test_commits_that_cannot_be_looked_up_are_recorded_as_given(place: Place, tmp_path: Path) -> None:
    """Without git, and in a clone that lacks older commits, the session is recorded and a note says why."""
    outcome = place.add(commits=("abc1234",))
    assert read(place, 1).texts["commits"] == ("abc1234",)
    assert outcome.notes[0] == "there is no git repository here, so the commits are recorded as given"
    origin = GitPlace(tmp_path / "origin")
    origin.commit("more")
    shallow = GitPlace(tmp_path / "shallow")
    shallow.git("fetch", "--quiet", "--depth=1", f"file://{origin.root}", "main")
    outcome = shallow.add(commits=("0badc0de",))
    assert read(shallow, 1).texts["commits"] == ("0badc0de",)
    assert outcome.notes[0] == "this clone is shallow: 0badc0de cannot be looked up, and is recorded as given"


def test_no_issues_are_not_mentioned(place: Place) -> None:
    """A session without issues has no label for them, and lint asks for none."""
    place.add()
    assert "Issues" not in read(place, 1).entry


@pytest.mark.parametrize("shape", TRICKY)
def test_tricky_text_stays_one_session_and_reads_back(place: Place, shape: str) -> None:
    """Whatever a text looks like, it is one session, and what is read is what was given."""
    said_ = clean(TRICKY[shape], what="it")
    first, newline, rest = said_.partition("\n")
    text = first.lstrip(" \t") + newline + rest
    before = place.text
    place.add("Before.")
    place.add(text, text, state=text, next=(text,), issues=(text,), verification=(text,), agent="x")
    place.add("After.")
    result = read(place, 2)
    assert place.numbers() == [(1, False), (2, False), (3, False)]
    texts = [result.texts[key] for key in ("did", "issues", "state", "next")]
    assert texts == [(text, text), (text,), text, (text,)]
    assert [section.title for section in place.state.document.sections if section.level < 3] == [
        section.title for section in parse(before).sections if section.level < 3
    ]
    assert place.state.problems == ()


@pytest.mark.parametrize("shape", TRICKY)
def test_tricky_text_survives_archiving(place: Place, shape: str) -> None:
    """A session is shown the same after it was archived."""
    place.add(TRICKY[shape])
    place.add("After.", TRICKY[shape])
    before = read(place, 1)
    place.archive()
    after = read(place, 1)
    assert after.archived
    assert (after.texts["did"], after.entry) == (before.texts["did"], before.entry)
    assert place.numbers() == [(1, True), (2, False)]


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ({"did": ("",)}, "what was done is empty"),
        ({"did": (" \n\t",)}, "what was done is empty"),
        ({"did": ("x\x1b[31m",)}, "U+001B"),
        ({"next": ("a\u202eb",)}, "U+202E"),
        ({"state": "a\x00b"}, "U+0000"),
        ({"issues": ("\udcff",)}, "U+DCFF"),
        ({"did": ()}, "what was done is missing"),
        ({"next": ()}, "a next step is missing"),
        ({"state": ""}, "the current state is empty"),
        ({"commits": ("a\nb",)}, "a commit has several lines"),
    ],
)
def test_what_cannot_be_said_is_refused(place: Place, entry: dict[str, Any], what: str) -> None:
    """Nothing, and what a terminal would obey, is refused with its name, and no byte changes."""
    before = place.text
    assert what in refusal(lambda: place.add("x", **entry)).message
    assert place.text == before


# Numbers and times


def test_numbers_go_on_after_a_gap(place: Place) -> None:
    """The next number is one above the highest, however many sessions there are."""
    place.fill(2, 7)
    place.add()
    assert place.numbers()[-1] == (8, False)


def test_numbers_do_not_depend_on_order(place: Place) -> None:
    """The next number is above the highest one, also where that is not the last."""
    place.fill(9, 3)
    place.add()
    assert place.numbers()[-1] == (10, False)


def test_numbers_go_on_after_archiving(place: Place) -> None:
    """Archived numbers are never given again."""
    place.fill(1, 2, 3)
    place.archive()
    place.add()
    assert place.numbers() == [(1, True), (2, True), (3, False), (4, False)]


def test_numbers_go_on_after_the_summary_and_all_sessions_were_removed(place: Place) -> None:
    """What the state file forgot the archive still knows."""
    place.fill(1, 2, 3)
    place.archive()
    text = place.text
    log = text.index("### Archived Summary")
    place.text = text[:log] + text[text.index("## 5. Git History") :]
    assert refusal(place.add).code == "damaged"
    let_go(place.workspace, TASK, place.request())
    place.add()
    assert place.numbers() == [(1, True), (2, True), (3, False)]


def test_numbers_go_on_after_the_archive_was_removed(place: Place) -> None:
    """What the archive file lost the summary still knows."""
    place.fill(1, 2, 3)
    place.archive(keep=1)
    place.archive_path.unlink()
    place.text = re.sub(r"### Session 3 .*?(?=## 5)", "", place.text, flags=re.DOTALL)
    assert refusal(place.add).code == "damaged"
    let_go(place.workspace, TASK, place.request())
    place.add()
    assert place.numbers() == [(3, False)]


def test_numbers_go_on_after_an_archive_made_by_hand(place: Place) -> None:
    """An archive without the lines that close a batch counts by its headings."""
    place.archive_path.write_text("# Archive\n\n## Session 4 - 2026-01-01 10:00\n\nx\n", encoding="utf-8")
    place.add()
    assert place.numbers() == [(4, True), (5, False)]


def test_numbers_go_on_after_a_second_log(place: Place) -> None:
    """Where a merge left two Progress Logs, no number of either is given again."""
    place.text = place.text.replace(
        "## 5. Git", "## 4. Progress Log\n\n### Session 7 - 2026-01-01 10:00\n\nx\n\n## 5. Git"
    )
    place.add()
    assert place.numbers() == [(8, False)]


@pytest.mark.parametrize("last", ["2026-01-31 11:59", "2026-01-31 12:02", "2062-12-31 23:59", "9999-99-99 99:99"])
def test_time_is_now(place: Place, last: str) -> None:
    """A time in the future, or one that is none, is not carried on to the next session."""
    place.fill(log=f"### Session 1 - {last}\n\n{said(1)}\n\n")
    place.add()
    assert read(place, 2).time == "2026-01-31 12:02"


def test_a_renamed_log_is_named_with_the_command_that_renames_it(place: Place) -> None:
    """No second log is begun beside one under another heading, and the fix of the linter is not refused."""
    place.fill(log=f"### Session 1 - 2026-01-29 10:00\n\n{said(1)}\n\n")
    right = place.text
    place.text = right.replace("## 4. Progress Log", "## 4. Work Log")
    error = refusal(place.add)
    assert error.code == "damaged"
    assert "the section Progress Log is missing, and its content is in '4. Work Log'" in error.message
    assert "`taskstate lint --fix --unsafe-fixes .taskstate/tasks/task-101-state.md`" in (error.help or "")
    fix_file(place.checking(), place.path, place.request(), unsafe=True)
    assert "## 4. Progress Log\n\n### Session 1" in place.text
    place.add()
    assert place.numbers() == [(1, False), (2, False)]


@pytest.mark.parametrize(
    ("heading", "cure"),
    [
        ("### Session 2 - 2026-01-30 10:00", "--fix"),
        ("## Session 2 - 2026-01-30 10:00", "--fix"),
        ("#### Session 1 - 2026-01-30 10:00", "--fix --unsafe-fixes"),
    ],
)
def test_nothing_is_added_while_a_session_is_misplaced(place: Place, heading: str, cure: str) -> None:
    """A session outside the log is named with the command that moves it, and the input is kept."""
    place.fill(log=f"### Session 1 - 2026-01-29 10:00\n\n{said(1)}\n\n")
    place.text = place.text.rstrip() + f"\n\n{heading}\n\n{said(2)}\n"
    error = refusal(place.add)
    assert error.code == "session-misplaced"
    assert f"run `taskstate lint {cure}`" in (error.help or "")
    assert "the session is kept" in (error.help or "")


# The status


def test_first_session_takes_a_filled_task_to_work(place: Place) -> None:
    """A created task with description and criteria is in progress once work is recorded."""
    outcome = place.add()
    assert place.state.status == "in_progress"
    assert "the task is now in_progress" in outcome.notes


@pytest.mark.parametrize(
    ("task", "missing"),
    [
        ({"description": ""}, "Task Description"),
        ({"criteria": ()}, "Acceptance Criteria"),
        ({"description": "", "criteria": ()}, "Task Description and Acceptance Criteria"),
    ],
)
def test_task_with_placeholders_stays_created(tmp_path: Path, task: dict[str, Any], missing: str) -> None:
    """A task whose static part is not written yet stays created, which is reported, and the session is recorded."""
    place = Place(tmp_path, **task)
    outcome = place.add()
    assert place.state.status == "created"
    said = f"the status stays `created` until something is written under {missing}: `taskstate "
    assert any(note.startswith(said) for note in outcome.notes)
    assert place.numbers() == [(1, False)]


@pytest.mark.parametrize(
    "part",
    [
        "### Task Description\n\nIssue tokens.\n",
        "### Acceptance Criteria\n\n- [ ] Tokens verify\n- [ ] Tokens expire\n",
    ],
)
def test_task_without_a_part_stays_created(place: Place, part: str) -> None:
    """A missing part counts as not written."""
    assert part in place.text
    place.text = place.text.replace(part, "")
    place.add()
    assert place.state.status == "created"


@pytest.mark.parametrize("status", ["in_progress", "blocked", "complete"])
def test_other_statuses_stay(place: Place, status: str) -> None:
    """Only a created task changes its status by being worked on."""
    place.text = place.text.replace("status: created", f"status: {status}")
    place.add()
    assert place.state.status == status


# What stays as it is


def test_nothing_but_the_session_and_the_marks_changes(place: Place) -> None:
    """Outside the new entry, the status and the tool's marks no byte changes; the first takes the place of the form."""
    before = place.text
    place.add("One.")
    removed, added = changes(before, place.text)
    assert removed == f"status: created\n{ENTRY_FORM}\n"
    assert added == "status: in_progress\n" + read(place, 1).entry + "\n"
    before = place.text
    place.add("Two.")
    assert changes(before, place.text) == ("", read(place, 2).entry + "\n\n")


def by_hand(text: str) -> str:
    """Return the state file as a user might have edited it: odd everywhere, and legal."""
    for old, new in {
        "title: JWT Service": "title:   'JWT Service'   # the name",
        "status: created": "x-mine: {b: 2,   a: [1,2]}\n\n# who\nstatus: in_progress",
        "taskstate: 1": "taskstate: 1   # format",
        "sessions: {total: 0, archived: 0, recent: 0}": (
            "sessions:   # counted\n  recent: 0\n  total:   0\n  x-own: 1\n  archived: 0"
        ),
        "audit:": "audit:   # who wrote",
        "## 1. Static Context": "## Static Context (do not change) ##",
        "- [ ] Tokens verify": "*  [ ] Tokens   verify  ",
        '{"id": "jwt-1",': '{ "id"  :"jwt-1" ,',
        "## 4. Progress Log": (
            "<!-- a remark of mine -->\n\n## 4.  Progress Log   (by agents)\n\nRead this first.\n\n---"
        ),
        "## 5. Git History": "## What we talked about\n\n\tkept\n\n## 5. Git History",
    }.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text + "\n## Notes\n\n```\nopen\n\n### Session 9 - x   \n\n\n~~~\n```   \n\n\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("final", ["as it is", "without final newline"])
def test_hand_edits_survive(place: Place, end: str, bom: str, final: str) -> None:
    """Comments, spacing, order, quoting, odd sections, line ends, BOM, no final newline: all stays byte for byte."""
    text = bom + by_hand(place.text).replace("\n", end)
    text = text.rstrip() if final != "as it is" else text
    place.text = text
    place.add("One.\n\nTwo.")
    removed, added = changes(text, place.text)
    assert removed.replace("recent: 0", "").replace("total:   0", "").strip() == ""
    entry = read(place, 1).entry
    added = added.replace(f"  recent: 1{end}", "").replace(f"  total:   1{end}", "")
    assert added.strip() == entry
    assert added.count(end) == entry.count(end) + 2
    assert place.text.startswith(bom + "---")
    assert with_newlines(entry, end) == entry
    assert place.text.endswith(end) == text.endswith(end)


def test_mixed_line_ends_stay_and_new_text_takes_the_prevailing_one(place: Place) -> None:
    """Each line keeps its own end, and the new lines take the most frequent one."""
    lines = place.text.split("\n")
    text = "".join(line + ("\r\n" if number % 3 else "\n") for number, line in enumerate(lines[:-1]))
    place.text = text
    place.add("One.")
    removed, added = changes(text, place.text)
    assert removed.replace("\r", "").strip() == f"status: created\n{ENTRY_FORM}"
    assert added.count("\r\n") == added.count("\n") - (0 if removed.endswith("\r\n") else 1)


def test_blanks_at_the_end_of_the_last_line_stay_there(place: Place) -> None:
    """An entry's last line keeps its trailing blanks, and the new one gets none of them."""
    place.fill(log="### Session 1 - 2026-01-01 10:00\n\nx  \t\n \n")
    before = place.text
    place.add()
    removed, added = changes(before, place.text)
    assert "x  \t\n\n### Session 2" in place.text
    assert removed in ("", "status: created\n")
    assert added.removeprefix("status: in_progress\n").strip() == read(place, 2).entry


def test_log_at_the_end_of_the_file(place: Place) -> None:
    """Where the Progress Log comes last, the session ends the file, with one line end."""
    head, log = place.text.split("## 4. Progress Log\n", 1)
    place.text = head + log + "\n## 4. Progress Log"
    place.add("One.")
    place.add("Two.")
    assert place.text.endswith("**Next steps:** Go on.\n")
    assert place.numbers() == [(1, False), (2, False)]


# What cannot be appended to


@pytest.mark.parametrize(
    ("log", "what"),
    [
        ("### Session 1 - 2026-01-01 10:00\n\n```python\nx\n\n", "never closes"),
        ("### Session 1 - 2026-01-01 10:00\n\n<!-- x\n\n", "never closes"),
        ("<pre>\n\n", "never closes"),
        ("### Session 1 - 2026-01-01 10:00\n\n<![CDATA[\n\n", "never closes"),
    ],
)
def test_what_never_closes_swallows_no_session(place: Place, log: str, what: str) -> None:
    """A fence or comment that would take the new session in is one clear error, and no byte changes."""
    place.fill(log=log)
    before = place.text
    error = refusal(place.add)
    assert what in error.message
    assert error.help
    assert place.text == before


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("## 4. Progress Log", "## 4. Progress Notes", "section-missing"),
        ("## 4. Progress Log", "- ## 4. Progress Log", "section-missing"),
        ("title: JWT Service", "title: JWT: Service", "damaged"),
        ("title: JWT Service", "title: a\ntitle: b", "damaged"),
        ("---\ntaskstate", "\n---\ntaskstate", "damaged"),
        ("taskstate: 1", "taskstate: 2", "newer-format"),
        ('task_id: "101"', 'task_id: "102"', "file-name"),
        ("audit:", "context: {seal: x}\naudit:", "seal-broken"),
        ("revision: 1", "revision: &r 1\nx-r: *r", "cannot-edit"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(place: Place, old: str, new: str, code: str) -> None:
    """A file that is damaged where the session would touch it is one clear error with advice, and no byte changes."""
    assert old in place.text
    before = place.text = place.text.replace(old, new, 1)
    error = refusal(place.add)
    assert error.code == code
    assert error.help
    assert "\n" not in str(error)
    assert place.text == before


@pytest.mark.parametrize(
    "audit", ["{}", "null", "text", "[1]", "{update_count: many}", "{x-own: 1}", "\n  x-own: 1 # mine"]
)
def test_odd_audit_is_no_obstacle(place: Place, audit: str) -> None:
    """Whatever is under `audit`, without a seal it is brought into order, and a key of one's own stays."""
    place.text = re.sub(r"audit:\n(  .*\n)+", f"audit: {audit}\n", place.text)
    place.add()
    written = place.state.document.front_matter["audit"]
    assert "update_count" not in written
    assert len(written["seal"]) == 64
    assert ("x-own" in written) == ("x-own" in audit)


# Archiving by itself


def test_archives_by_itself_when_the_new_session_passes_the_limit(place: Place) -> None:
    """The limit counts the session just added, so that no file is left over it."""
    place.configure("[size]\nmax-kb = 4\nwarn-kb = 3\nkeep-sessions = 2\n")
    for number in range(1, 9):
        place.add(f"did {number} " + "x" * 300)
        assert len(place.text.encode()) <= 4 * 1024
    assert [number for number, _ in place.numbers()] == list(range(1, 9))
    assert place.numbers()[0] == (1, True)
    assert place.numbers()[-2:] == [(7, False), (8, False)]


def test_a_large_session_is_recorded_though_nothing_can_be_archived(place: Place) -> None:
    """Where only the sessions that are kept make the file too large, that is reported."""
    place.configure("[size]\nmax-kb = 4\nwarn-kb = 3\n")
    outcome = place.add("x" * 5_000)
    assert place.numbers() == [(1, False)]
    assert "nothing to archive; the file still has 6 KB, and the limit is 4 KB" in outcome.notes[-1]
    assert "the largest: session 1 (5 KB)" in outcome.notes[-1]


def test_sessions_out_of_order_are_told_and_the_new_one_is_recorded(place: Place) -> None:
    """What keeps older sessions from being archived does not keep work from being recorded."""
    place.configure("[size]\nmax-kb = 4\nwarn-kb = 3\nkeep-sessions = 1\n")
    place.fill(2, 1)
    outcome = place.add("x" * 5_000)
    assert place.numbers() == [(2, False), (1, False), (3, False)]
    assert "not archived: task 101: session 1 comes after session 2" in outcome.notes[-1]
    assert not place.archive_path.exists()


def test_dry_run_writes_nothing(place: Place) -> None:
    """A dry run gives the diff of the state file, and changes no file."""
    before = place.text
    outcome = place.add("One.", request=place.request(dry_run=True))
    assert outcome.changed
    assert "+### Session 1 - " in outcome.diff
    assert "+**What I did:** One." in outcome.diff
    assert place.text == before


# Reading


def test_real_headings_are_read(place: Place) -> None:
    """Headings as people write them are sessions too."""
    place.fill(
        log="### Session 1 - 2026-01-01\n\na\n\n### session #2: 2026-01-02 10:00 (continued)\n\nb\n\n"
        "###   Session 3 \u2014 2026-01-03T11:00 ###\n\nc\n\n### Session 4\n\nd\n\n"
    )
    result = sessions.all_sessions(place.workspace, TASK)
    assert [(each.number, each.time) for each in result] == [
        (1, None),
        (2, "2026-01-02 10:00"),
        (3, "2026-01-03 11:00"),
        (4, None),
    ]


def test_unknown_session_is_not_found(place: Place) -> None:
    """A number that is nowhere is an error that says how to see those that are."""
    error = refusal(lambda: read(place, 5))
    assert error.code == "not-found"
    assert "session list 101" in error.help


def test_unknown_task_is_not_found(place: Place) -> None:
    """A task that is missing has no sessions."""
    assert refusal(lambda: sessions.all_sessions(place.workspace, "999")).code == "not-found"


def test_entry_form_is_that_of_a_session_written_by_hand() -> None:
    """The sessions that these tests write by hand have the form of the format."""
    assert SESSION.format(1, 2, said(1)).startswith("### Session 1 - 2026-01-02 10:00\n\n**What I did:**\n\n- did 1\n")


def test_the_form_of_a_session_is_no_loss(place: Place) -> None:
    """Who writes a session by hand takes the comment out, and no command misses it."""
    place.text = place.text.replace(f"{ENTRY_FORM}\n\n", "")
    place.check(1)
    assert place.told() == ()


@pytest.mark.parametrize("sessions", [0, 1])
def test_a_placeholder_of_the_log_goes_with_a_session(place: Place, sessions: int) -> None:
    """What an older form has in an empty log, or above its sessions, stands for what is written now."""
    for _ in range(sessions):
        place.add("One.")
    heading = "## 4. Progress Log\n\n"
    place.text = place.text.replace(heading, f"{heading}(Agent will append entries here)\n\n").replace(ENTRY_FORM, "")
    place.add("Two.")
    assert f"{heading}### Session 1" in place.text
    assert place.text.count("### Session") == sessions + 1

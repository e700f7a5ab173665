"""Migrating on disk: the state file with its archive in one write, nothing lost, and again changes nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.migration.test_cases import NAMES, before

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

OLDER = Path("devflow/task-states/task-201-state.md")
ARCHIVE = """\
# Task #201 Archive - Full Session History

## Session 1 - 2024-11-26 14:00
(Complete original entry)

## Session 2 - 2024-11-26 14:30
**What I did:** two

---
Archived on: 2024-11-26 18:30
Reason: Working file exceeded 75 KB threshold
Sessions archived: 1-2
"""
ARCHIVED = """\
# Task #201: Tokens - State

## 0. Metadata

```json
{"task_id": 201, "archive_path": ".specflux/archives/task-201-archive.md"}
```

## 1. Static Context

### Task Description
Sign.

### Acceptance Criteria
- [ ] Signed

## 4. Progress Log

### Archived Summary (Sessions 1-2)

**Duration:** 2024-11-26 14:00 - 2024-11-26 14:30

### Session 3 - 2024-11-26 15:30
**What I did:** three
**Issues:** None
**Current state:** fine
**Next steps:** four
"""


def put(cli: Cli, path: Path | str, text: str) -> Path:
    """Write a file of the repository."""
    full = cli.place.root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(text.encode())
    return full


def commit(cli: Cli) -> None:
    """Commit everything."""
    for command in (["add", "-A"], ["commit", "-qm", "task"]):
        subprocess.run(["git", *command], cwd=cli.place.root, check=True)


@pytest.mark.parametrize("name", NAMES)
def test_every_case_migrates_on_disk_once(cli: Cli, name: str) -> None:
    """The file is written with its metadata; a second run has nothing to migrate and changes no byte."""
    text = before(name).replace("#101", "#201").replace("Task 101", "Task 201")
    path = put(cli, OLDER, text.replace('"task_id": 101', '"task_id": 201').replace('"101"', '"201"'))
    assert cli("migrate").status in {0, 1}
    written = path.read_bytes()
    assert b"revision: 1" in written
    said = cli("migrate")
    assert (said.status, said.out) == (0, "nothing to migrate\n")
    assert path.read_bytes() == written


def test_the_archive_comes_along_with_its_hashes(cli: Cli) -> None:
    """It moves to its place, `archive verify` finds every session whole, and the linter nothing."""
    put(cli, OLDER, ARCHIVED)
    old = put(cli, ".specflux/archives/task-201-archive.md", ARCHIVE)
    said = cli("migrate")
    assert (said.status, said.err) == (0, ""), said.out
    assert not old.exists()
    assert cli("archive", "verify", "201").status == 0
    assert cli("lint").status == 0
    assert "damaged" not in cli("doctor").out


@pytest.mark.parametrize("place", ["", "devflow/task-states/", "devflow/archives/", "archiv/ä b/"])
def test_what_was_moved_from_a_commit_is_not_gone(cli: Cli, place: str) -> None:
    """Of committed files the linter finds nothing either, on disk, staged, against HEAD, and after the commit."""
    place = place or ".specflux/archives/"
    old = put(cli, f"{place}task-201-archive.md", ARCHIVE)
    put(cli, OLDER, ARCHIVED.replace(".specflux/archives/", place))
    commit(cli)
    assert cli("migrate").status == 0
    assert not old.exists()
    root = [".", str(cli.place.root / OLDER.parent), str(cli.place.root / OLDER)]
    for arguments in ([], ["--against", "HEAD"], *([each] for each in root)):
        assert cli("lint", *arguments).out.startswith("No findings"), arguments
    subprocess.run(["git", "add", "-A"], cwd=cli.place.root, check=True)
    assert cli("lint", "--staged").out.startswith("No findings")
    assert "TS012" not in cli("doctor").out
    commit(cli)
    assert cli("lint", "--against", "HEAD~1").out.startswith("No findings")


def test_an_archive_that_lost_sessions_on_its_way_is_told(cli: Cli) -> None:
    """That it stands in its place does not hide that sessions which were committed are not in it."""
    put(cli, ".specflux/archives/task-201-archive.md", ARCHIVE)
    put(cli, OLDER, ARCHIVED)
    commit(cli)
    assert cli("migrate").status == 0
    archive = cli.place.workspace.state_root / "archives/task-201-archive.md"
    text = archive.read_text()
    archive.write_text(text.replace("two", "three"))
    said = cli("lint").out
    assert "session 2 was altered" in said
    cure = "git show HEAD:.specflux/archives/task-201-archive.md > .taskstate/archives/task-201-archive.md"
    assert f"`{cure}`" in said
    subprocess.run(["sh", "-c", cure], cwd=cli.place.root, check=True)
    assert cli("lint").out.startswith("No findings")
    archive.unlink()
    assert "TS012" in cli("lint").out


def test_a_dry_run_shows_the_diff_and_writes_nothing(cli: Cli) -> None:
    """Neither the state file nor the archive changes."""
    path, old = put(cli, OLDER, ARCHIVED), put(cli, ".specflux/archives/task-201-archive.md", ARCHIVE)
    said = cli("migrate", "--dry-run")
    assert "+taskstate: 1" in said.out
    assert said.status == 0
    assert path.read_text() == ARCHIVED
    assert old.read_text() == ARCHIVE


def test_a_file_of_another_task_is_refused(cli: Cli) -> None:
    """Its name and its title disagree, and nobody but a person knows which is right."""
    path = put(cli, OLDER, ARCHIVED.replace("#201", "#202"))
    said = cli("migrate")
    assert said.status == 2
    assert "the file's name says 201, and its text says 202" in said.err
    assert path.read_text() == ARCHIVED.replace("#201", "#202")


def test_a_conflict_is_refused_and_other_files_go_on(cli: Cli) -> None:
    """What can be migrated is, and the rest is named with what to do."""
    put(cli, OLDER, ARCHIVED.replace("Sign.\n", "<<<<<<< a\nSign.\n=======\nSigned.\n>>>>>>> b\n"))
    other = put(cli, "x/task-202-state.md", ARCHIVED.replace("201", "202"))
    said = cli("migrate")
    assert said.status == 2
    assert "a merge conflict is left here: solve it, then run this again" in said.err
    assert other.read_text().startswith("---\n")


def test_what_a_person_must_decide_is_said(cli: Cli) -> None:
    """An upstream task that is not there: the line, the rule, and the cure; exit status 1."""
    head = ARCHIVED.partition("## 4")[0]
    put(cli, OLDER, f"{head}## 2. Chain Inputs\n\n### From Task #77: Schema\n> users\n")
    said = cli("migrate")
    assert said.status == 1
    assert "1 thing for you to decide:\n    line 6: TS902 there is no task 77" in said.out
    assert "`taskstate new 77 --title TITLE`" in said.out


def test_a_path_that_is_not_there_or_is_nothing_older(cli: Cli) -> None:
    """The one is an error, the other a remark."""
    assert cli("migrate", "gone.md").status == 2
    put(cli, "README.md", "# Readme\n\n## Notes\n")
    said = cli("migrate", "README.md")
    assert (said.status, said.out) == (0, "nothing to migrate\n")
    assert "README.md has no older form that is known" in said.err


def test_only_what_is_named_is_migrated(cli: Cli) -> None:
    """A folder and a file as arguments leave the others alone."""
    first, second = put(cli, OLDER, ARCHIVED), put(cli, "x/task-202-state.md", ARCHIVED.replace("201", "202"))
    assert cli("migrate", "x").out.startswith("x/task-202-state.md: migrated\n")
    assert first.read_text() == ARCHIVED
    assert cli("migrate", str(OLDER)).out.startswith(f"{OLDER.as_posix()}: migrated\n")
    assert second.read_text().startswith("---\n")


def test_every_command_names_the_cure_for_an_older_file(cli: Cli) -> None:
    """The linter, `doctor` and a command that would write all say `taskstate migrate` with the path."""
    put(cli, OLDER, ARCHIVED)
    cure = f"`taskstate migrate {OLDER.as_posix()}`"
    assert f"{cure} brings a file of an older form into the present one" in cli("lint").out
    assert cure in cli("doctor").out
    assert cure in cli("session", "add", "201", "--did", "a", "--state", "b", "--next", "c").err
    assert cure in cli("show", "201").err
    assert cli("migrate", OLDER.as_posix()).status in {0, 1}
    assert "no front matter" not in cli("lint").out


@pytest.mark.parametrize("place", ["kept", "committed"])
def test_a_file_that_has_lost_its_front_matter_is_refused(cli: Cli, place: str) -> None:
    """It is of the present form, so nothing is made up for it: `doctor --fix` brings it back."""
    cli("new", "301", "--title", "Keys")
    if place == "committed":
        commit(cli)
        for folder in cli.place.workspace.private.read:
            shutil.rmtree(folder, ignore_errors=True)
    path = cli.place.workspace.locate("301")
    text = path.read_text()
    path.write_text(text.partition("\n---\n")[2])
    said = cli("migrate")
    assert said.status == 2
    assert "had a front matter before, and has lost it: `taskstate doctor --fix`" in said.err
    assert "taskstate migrate" not in cli("lint").err


def test_migrating_a_committed_file_is_no_rewriting(cli: Cli) -> None:
    """The linter compares with what was committed, and an older form is nothing to compare with."""
    head, _, log = ARCHIVED.replace("15:30", "3:30 PM").partition("### Archived Summary")
    put(cli, OLDER, head + "### Session 3" + log.partition("### Session 3")[2].replace("Session 3", "Session 1"))
    commit(cli)
    cli("migrate")
    assert "TS405" not in cli("lint").out

"""What a cure, a restore or a migration replaces is kept, named, noted, shown, and deleted only by its id."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import folders
from tests.support.kept_place import STATE, TASK, Repo, needs_binding, story

if TYPE_CHECKING:
    from pathlib import Path

WORDS = "Nobody but me knows this."
SHOWN = re.compile(r"what it replaced: `taskstate doctor kept show ([0-9a-f]{8,64})`")


def stray_line(text: str) -> str:
    """Put a blank line above the front matter."""
    return f"\n{text}"


def tab(text: str) -> str:
    """Indent a line of the front matter by a tab."""
    return text.replace("\ntitle:", "\n\ttitle:", 1)


def twice(text: str) -> str:
    """Write a key of the front matter twice."""
    return text.replace("\ntitle:", "\ntitle: mine\ntitle:", 1)


def renamed(text: str) -> str:
    """Give the section of the log another heading."""
    return re.sub("(?m)^## .*Progress Log$", "## What I did", text, count=1)


def hand_edited(repo: Repo, damage: object = stray_line) -> bytes:
    """Type a paragraph into the state file and damage it; return its bytes."""
    assert callable(damage)
    repo.text = damage(repo.text.replace("Issue tokens.", f"Issue tokens.\n\n{WORDS}", 1))
    assert WORDS in repo.text
    return repo.state.read_bytes()


def ids(repo: Repo) -> list[str]:
    """Return the ids of what is kept."""
    lines = repo.ok("doctor", "kept", "list").splitlines()
    return [] if lines == ["nothing is kept"] else [line.split()[0] for line in lines]


def bytes_of(repo: Repo, own_id: str) -> bytes:
    """Return what a pipe gets of a text."""
    done = repo.bound("doctor", "kept", "show", own_id)
    assert done.status == 0, done
    return done.out.encode()


@pytest.mark.parametrize("damage", [stray_line, tab, twice, renamed])
def test_a_hand_edit_in_a_damaged_file_outlives_every_command(tmp_path: Path, damage: object) -> None:
    """Where the cure puts the last good text back, it names where the words are, whatever is run afterwards."""
    repo = story(tmp_path / "repository")
    typed = hand_edited(repo, damage)
    fixed = repo.run("doctor", "--fix")
    match = SHOWN.search(fixed.out)
    assert match, fixed
    for command in (("complete", TASK, "--force"), ("purge", TASK), ("drop", TASK, "--note", "not wanted")):
        repo.run(*command)
    repo.ok("doctor", "--let-go", TASK)
    shutil.rmtree(repo.root / ".taskstate" / "artifacts", ignore_errors=True)
    assert "1 text that commands replaced is kept" in repo.run("doctor").out
    assert ids(repo) == [match[1]]
    assert bytes_of(repo, match[1]) == typed
    assert repo.ok("doctor", "kept", "discard", match[1]) == f"discarded {match[1]}: {STATE}\n"
    assert ids(repo) == []
    assert "that commands replaced" not in repo.run("doctor").out


def test_a_file_that_is_no_text_is_kept_byte_for_byte(tmp_path: Path) -> None:
    """So is one that another program wrote in another encoding."""
    repo = story(tmp_path / "repository")
    typed = repo.text.replace("Issue tokens.", "Prüfe Tokens.").encode("latin-1")
    repo.state.write_bytes(typed)
    assert SHOWN.search(repo.ok("doctor", "--fix"))
    (kept,) = repo.common.glob("replaced/*")
    assert kept.read_bytes().partition(b"\n")[2] == typed


def test_a_kept_text_is_a_note(tmp_path: Path) -> None:
    """It is nothing wrong: `doctor` ends with 0, `list` and `lint` say nothing of it."""
    repo = story(tmp_path / "repository")
    hand_edited(repo)
    repo.ok("doctor", "--fix")
    assert repo.ok("doctor").startswith("note  kept          1 text that commands replaced is kept; `taskstate doctor")
    for command in ("list", "lint"):
        assert "replaced" not in "".join(repo.run(command)[1:])


def test_files_of_a_snapshot_name_what_they_replace(tmp_path: Path) -> None:
    """An uncommitted edit of a source file is kept when the snapshot's file is put back; one that is equal is not."""
    repo = story(tmp_path / "repository")
    repo.write("app.py", "print('left')\n")
    repo.ok("snapshot", "take", TASK, "--role", "implementer")
    edit = b"print('mine')\r\n\xff\n"
    repo.write("app.py", edit)
    asked = ("snapshot", "verify", TASK, "--role", "implementer", "--restore", "app.py")
    assert not SHOWN.search(repo.run(*asked, "--dry-run").out)
    done = repo.run(*asked)
    match = SHOWN.search(done.out)
    assert match, done
    assert done.out.startswith(f"put back app.py; what it replaced: `taskstate doctor kept show {match[1]}`\n")
    assert (repo.root / "app.py").read_bytes() == b"print('left')\n"
    assert repo.run(*asked).out.startswith("put back app.py\n")
    (kept,) = repo.common.glob("replaced/*")
    assert kept.read_bytes().partition(b"\n")[2] == edit
    assert ids(repo) == [match[1]]


def test_what_is_written_while_files_are_put_back_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last bytes are, up to the moment at which the file makes way; those of before are, too."""
    repo = story(tmp_path / "repository")
    for name in ("app.py", "bus.py"):
        repo.write(name, "print('left')\n")
    repo.ok("snapshot", "take", TASK, "--role", "implementer")
    for name in ("app.py", "bus.py"):
        repo.write(name, f"{name} edited\n")
    rename = folders.rename

    def while_somebody_writes(old: Path, new: Path) -> None:
        if new.name == "app.py":
            repo.write("app.py", "as it makes way\n")
            repo.write("bus.py", "when it was kept\n")
        rename(old, new)

    monkeypatch.setattr(folders, "rename", while_somebody_writes)
    done = repo.run("snapshot", "verify", TASK, "--role", "implementer", "--restore", "app.py", "bus.py")
    assert [bytes_of(repo, own_id) for own_id in SHOWN.findall(done.out)] == [
        b"as it makes way\n",
        b"when it was kept\n",
    ]
    assert len(ids(repo)) == 4
    assert {(repo.root / name).read_text() for name in ("app.py", "bus.py")} == {"print('left')\n"}


def test_a_reworded_session_is_kept(tmp_path: Path) -> None:
    """`session restore` keeps the words that make way for those of the commit."""
    repo = story(tmp_path / "repository")
    repo.edit("thing-2-end", f"{WORDS}")
    done = repo.ok("session", "restore", TASK, "2", "--from", "HEAD")
    match = SHOWN.search(done)
    assert match, done
    assert WORDS.encode() in bytes_of(repo, match[1])
    assert WORDS not in repo.text


OLDER = """# Task #7: Ledger

**Status**: in_progress
**Created**: 2026-01-05

## Acceptance Criteria

- [ ] entries balance

## Progress Log

### Session 1 - 2026-01-06

- wrote the ledger
"""


def test_a_migrated_file_is_kept(tmp_path: Path) -> None:
    """`migrate` keeps the older text as it was; a dry run keeps nothing."""
    repo = Repo(tmp_path / "repository")
    place = repo.write(".taskstate/tasks/task-7-state.md", OLDER)
    repo.run("migrate", "--dry-run")
    assert ids(repo) == []
    done = repo.run("migrate")
    match = SHOWN.search(done.out)
    assert match, done
    assert bytes_of(repo, match[1]).decode() == OLDER
    assert place.read_text(encoding="utf-8") != OLDER


def test_what_cannot_be_kept_is_not_replaced(tmp_path: Path) -> None:
    """Where nothing private can be written, the words stay where they are, with status 2."""
    needs_binding()
    repo = story(tmp_path / "repository")
    repo.write("app.py", "print('left')\n")
    repo.ok("snapshot", "take", TASK, "--role", "implementer")
    repo.write("app.py", WORDS)
    repo.edit("thing-2-end", WORDS)
    place = repo.common / "replaced"
    place.mkdir(mode=0o500)
    before = repo.tree()
    for command in (
        ("session", "restore", TASK, "2", "--from", "HEAD"),
        ("snapshot", "verify", TASK, "--role", "implementer", "--restore", "app.py"),
    ):
        done = repo.bound(*command)
        assert done.status == 2, done
        assert "permission denied" in done.err
        assert repo.tree() == before
    repo.text = stray_line(repo.text)
    before = repo.tree()
    done = repo.bound("doctor", "--fix")
    assert done.status == 1
    assert "permission denied" in done.out
    assert repo.tree() == before
    place.chmod(0o700)


def test_an_unknown_id_deletes_nothing(tmp_path: Path) -> None:
    """One that is not there refuses the others, too, with status 2 and what to do; so does none at all."""
    repo = story(tmp_path / "repository")
    hand_edited(repo)
    repo.ok("doctor", "--fix")
    (own_id,) = ids(repo)
    for command in (("show", own_id[:7]), ("discard", own_id, "0" * 8), ("discard",), ("discard", "../main")):
        done = repo.run("doctor", "kept", *command)
        assert (done.status, done.out) == (2, "")
        assert "`taskstate doctor kept list`" in done.err
        assert ids(repo) == [own_id]


def test_a_removed_worktree_leaves_what_it_replaced(tmp_path: Path) -> None:
    """The next command elsewhere takes it over, under the same id."""
    repo = story(tmp_path / "repository")
    repo.git("worktree", "add", "-q", "-b", "side", "../side")
    side = Repo(tmp_path / "side", init=False)
    side.text = stray_line(side.text.replace("thing-2-end", f"thing-2-end\n\n{WORDS}", 1))
    side.run("doctor", "--fix")
    kept = ids(side)
    assert kept
    repo.git("worktree", "remove", "--force", "../side")
    assert ids(repo) == kept
    assert WORDS.encode() in bytes_of(repo, kept[0])


def test_what_an_earlier_version_replaced_is_not_purged(tmp_path: Path) -> None:
    """The artifact `replaced-….md` stays where all others of its task are deleted, and is nothing wrong."""
    repo = story(tmp_path / "repository")
    folder = f".taskstate/artifacts/task-{TASK}"
    old = repo.write(f"{folder}/replaced-01234567.md", WORDS)
    other = repo.write(f"{folder}/log.txt", "much")
    repo.ok("drop", TASK, "--note", "not wanted")
    repo.ok("purge", TASK)
    assert (old.exists(), other.exists()) == (True, False)
    assert repo.run("doctor").status == 0

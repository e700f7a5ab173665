"""What a hand put in the place of what git has is no recorded work; what a hand added is, as before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.kept_place import LAST, STATE, TASK, Repo, said, story

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OPEN = '"passes": false,\n      "tested_at": null'
TESTED = '"passes": true,\n      "tested_at": "2026-01-31T12:00:00Z"'
UNTESTED = '"passes": true,\n      "tested_at": null'
WORDS = "A note of some length that somebody typed."
SESSION = """### Session 6 - WHEN

**What I did:** Typed this session.

**Current state:** It stands.

**Next steps:** Go on.

"""

# Each puts something in the place of what was committed: old, new.
FORGED = {
    "a pass without evidence": (OPEN, TESTED),
    "a pass that nobody tested": (OPEN, UNTESTED),
    "a session in other words": (f"{said(2)}\n", "All of it is finished.\n"),
    "a title in one of its places": ("title: JWT Service", "title: Something else"),
    "a status": ("status: in_progress", "status: blocked"),
}

# Each adds something: old, new, and what must be there in the end.
ADDED = {
    "a session": ("## 5. Git", f"{SESSION}## 5. Git", "Typed this session."),
    "a proof": (OPEN, f'{TESTED},\n      "evidence": "{WORDS}"', WORDS),
    "prose": ("## 5. Git History", f"## 5. Git History\n\n{WORDS}", WORDS),
    "a feature": (
        f"{OPEN}\n    }}",
        f'{OPEN}\n    }},\n    {{"id": "jwt-3", "description": "{WORDS}", {OPEN}}}',
        WORDS,
    ),
}


def own(path: Path) -> Repo:
    """Return a repository whose commands wrote all that is committed."""
    repo = story(path)
    repo.commit("all")
    return repo


def fresh(path: Path) -> Repo:
    """Return a clone in which no command has written yet."""
    return own(path.with_name("origin")).clone(path)


@pytest.mark.parametrize("made", [own, fresh])
@pytest.mark.parametrize(("old", "new"), FORGED.values(), ids=FORGED)
def test_an_edit_taken_back_with_git_is_no_loss(
    tmp_path: Path, made: Callable[[Path], Repo], old: str, new: str
) -> None:
    """A command that found the edit does not make it recorded work: only what the command wrote comes back."""
    repo = made(tmp_path / "repository")
    committed = repo.text
    repo.edit(old, new)
    repo.session(LAST + 1)
    repo.git("checkout", "-q", "--", STATE)
    assert f": session {LAST + 1} is gone," in repo.tells()
    repo.ok("doctor", "--fix")
    assert new.strip() not in repo.text
    assert all(line in repo.text for line in committed.splitlines() if line.startswith(("**", "#", "    {")))
    assert [repo.count(what) for what in range(1, LAST + 2)] == [1] * (LAST + 1)
    repo.quiet()


@pytest.mark.parametrize("made", [own, fresh])
@pytest.mark.parametrize(("old", "new", "words"), ADDED.values(), ids=ADDED)
def test_what_a_hand_added_is_recorded_work(
    tmp_path: Path, made: Callable[[Path], Repo], old: str, new: str, words: str
) -> None:
    """From the first command on that finds it, it is told when it goes, and comes back."""
    repo = made(tmp_path / "repository")
    repo.edit(old, new.replace("WHEN", repo.text.partition(f"### Session {LAST} - ")[2][:16]))
    repo.session(LAST + 2)
    repo.git("checkout", "-q", "--", STATE)
    repo.tells()
    repo.ok("doctor", "--fix")
    assert repo.text.count(words) == 1
    repo.quiet()


@pytest.mark.parametrize("made", [own, fresh])
def test_setting_a_pass_back_as_lint_says_is_no_loss(tmp_path: Path, made: Callable[[Path], Repo]) -> None:
    """Who set `passes` by hand, let a command find it, and sets it back loses nothing."""
    repo = made(tmp_path / "repository")
    repo.edit(*FORGED["a pass that nobody tested"])
    repo.session(LAST + 1)
    assert "or set `passes` to false" in repo.run("lint").out
    repo.edit(UNTESTED, OPEN)
    repo.ok("lint", "--fix")
    repo.silent()
    repo.session(LAST + 2)
    repo.quiet()


def test_an_edit_of_an_edit_is_taken_back_too(tmp_path: Path) -> None:
    """However often a hand changed it before a command found it again, what git has is what there was."""
    repo = fresh(tmp_path / "repository")
    repo.edit(*FORGED["a pass without evidence"])
    repo.session(LAST + 1)
    repo.edit("2026-01-31T12:00:00Z", "2026-02-28T12:00:00Z")
    repo.session(LAST + 2)
    repo.git("checkout", "-q", "--", STATE)
    repo.ok("doctor", "--fix")
    assert repo.text.count('"passes": true') == 1
    repo.quiet()


@pytest.mark.parametrize("damage", ["", "---\n: [ }\n"])
def test_a_file_that_is_gone_or_damaged_is_not_forged_again(tmp_path: Path, damage: str) -> None:
    """Where the last text has more errors than the committed one, that one is back, with what commands wrote since."""
    repo = fresh(tmp_path / "repository")
    committed = f"{said(2)}\n"
    repo.edit(*FORGED["a session in other words"])
    repo.session(LAST + 1)
    assert "TS405" in repo.run("lint").out
    if damage:
        repo.text = damage
    else:
        repo.remove(STATE)
    repo.run("doctor", "--fix")
    assert committed in repo.text
    assert "All of it is finished." not in repo.text
    assert [repo.count(what) for what in range(1, LAST + 2)] == [1] * (LAST + 1)
    assert repo.run("lint").status == 0
    assert repo.told() == []


def test_what_a_command_wrote_before_the_edit_is_no_reason(tmp_path: Path) -> None:
    """What stood there by a command's write, and is in no commit, is not what a checkout brings back."""
    repo = own(tmp_path / "repository")
    repo.ok("edit", TASK, "--priority", "P1")
    repo.edit("priority: P1", "priority: P2")
    repo.session(LAST + 1)
    repo.git("checkout", "-q", "--", STATE)
    repo.ok("doctor", "--fix")
    assert "priority: P2" in repo.text
    repo.quiet()


def test_a_title_comes_back_with_its_line(tmp_path: Path) -> None:
    """The cure writes no file in which the title line contradicts the front matter."""
    repo = own(tmp_path / "repository")
    repo.ok("edit", TASK, "--title", "Token service")
    repo.git("checkout", "-q", "--", STATE)
    repo.ok("doctor", "--fix")
    assert "# Task #101: Token service - State" in repo.text
    repo.quiet()


def test_what_lint_refuses_does_not_come_back(tmp_path: Path) -> None:
    """A session of the future is not written again: the cure says so, and where its copy is; the rest is back."""
    repo = own(tmp_path / "repository")
    repo.edit("## 5. Git", SESSION.replace("WHEN", "2999-01-01 10:00") + "## 5. Git")
    repo.session(LAST + 2)
    repo.git("checkout", "-q", "--", STATE)
    done = repo.run("doctor", "--fix")
    refused = (
        f"session {LAST + 2} is back; session {LAST + 1} is not back, since `taskstate lint` would find more errors"
    )
    assert refused in done.out
    copy = done.out.partition("`taskstate doctor kept show ")[2].partition("`")[0]
    assert "Typed this session." in repo.bound("doctor", "kept", "show", copy).out
    assert "Typed this session." not in repo.text
    assert repo.told() == []
    assert repo.run("lint").status == 0

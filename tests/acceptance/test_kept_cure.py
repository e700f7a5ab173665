"""The cure conserves: stale saves and damaged archives are mended without taking an item away."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_damage import OURS, conflict, cut, without
from tests.support.kept_place import (
    ARCHIVE,
    BACK,
    LAST,
    PLAIN,
    STANDARDS,
    STATE,
    TASK,
    Repo,
    Story,
    lines_of_loss,
    story,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.kept_damage import Damage

ALL = range(1, LAST + 1)
TRACKED = Story(tracked=True)


def stale(repo: Repo, *, half: bool = False, more: str = "") -> str:
    """Return the state file as it was two sessions ago, as an editor still holds it."""
    text = repo.git("show", f"HEAD:{STATE}")
    text = text[: text.index("## 5. Git History")] + more + text[text.index("## 5. Git History") :]
    return text[: text.index("thing-2-end")] if half else text


def rename_over(path: Path, data: bytes) -> None:
    """Save a file as editors do that write another one first."""
    other = path.with_name("saved")
    other.write_bytes(data)
    other.replace(path)


SAVES: dict[str, Callable[[Path, bytes], object]] = {
    "in place": lambda path, data: path.write_bytes(data),
    "by rename": rename_over,
}
BY_HAND = "### Session 4 - 2026-01-31 10:00\n\n**What I did:**\n\n- By hand\n\n**Issues encountered:** None\n\n"
BY_HAND += "**Current state:**\n\n- thing-hand-end\n\n**Next steps:**\n\n- Go on.\n\n"


@pytest.mark.parametrize("save", SAVES.values(), ids=SAVES)
@pytest.mark.parametrize("kind", ["whole", "half", "with a session", "CRLF"])
def test_a_stale_save_is_told_and_mended(tmp_path: Path, kind: str, save: Callable[[Path, bytes], object]) -> None:
    """An editor that saves what it read before loses nothing for good: neither what was written since, nor its own."""
    repo = story(tmp_path / "repository")
    text = stale(repo, half=kind == "half", more=BY_HAND if kind == "with a session" else "")
    data = text.replace("\n", "\r\n" if kind == "CRLF" else "\n").encode()
    save(repo.state, data)
    assert BACK in repo.run("list").err
    assert repo.run("doctor").status == 1
    fixed = repo.run("doctor", "--fix")
    assert fixed.status == 0, fixed
    assert [repo.count(number) for number in ALL] == [1] * LAST
    assert repo.count("hand") == (kind == "with a session")
    assert lines_of_loss(repo.run("list")) == []


ARCHIVE_DAMAGES: dict[str, Damage] = {
    "empty": lambda _: "",
    "NUL bytes": lambda text: "\0" * len(text),
    "half": cut("thing-3-end"),
    "a conflict": conflict("**Current state:** thing-2-end\n", "**Current state:** thing-other-end\n"),
    "a session less": without("## Session 2 ", "## Session 3 "),
    "not UTF-8": lambda text: text.encode().replace(b"thing-3-end", b"thing-\xff\xfe-end"),
}


DAMAGED_ARCHIVES = {name: (damage, Story(archived=True)) for name, damage in ARCHIVE_DAMAGES.items()} | {
    f"{name}, tracked": (ARCHIVE_DAMAGES[name], Story(archived=True, tracked=True)) for name in ("half", "a conflict")
}


@pytest.mark.parametrize(("damage", "how"), DAMAGED_ARCHIVES.values(), ids=DAMAGED_ARCHIVES)
def test_a_damaged_archive_is_named_and_mended(tmp_path: Path, damage: Damage, how: Story) -> None:
    """`archive verify` and `doctor` find it, `archive` and `archive restore` leave it alone, and the cure is whole."""
    repo = story(tmp_path / "repository", how)
    repo.session(LAST + 1)
    repo.write(ARCHIVE, damage(repo.archived.read_text(encoding="utf-8")))
    before = repo.tree()
    assert repo.run("archive", "verify", TASK).status == 1
    assert repo.run("doctor").status == 1
    for command in (("archive", TASK, "--force", "--keep", "1"), ("archive", "restore", TASK, "--all")):
        assert repo.run(*command).status == 2
        assert repo.tree() == before
    if OURS.encode() in repo.archived.read_bytes():
        assert repo.run("doctor", "--fix").status in {0, 1}  # whose side is right is not the tool's to say
    else:
        repo.ok("doctor", "--fix")
        repo.quiet()
    assert [repo.count(number) for number in range(1, LAST + 2)] == [1] * (LAST + 1)


def test_another_tasks_archive_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    """A foreign archive in place fails `archive verify`, is not restored from, and the own one comes back."""
    repo = story(tmp_path / "repository", Story(archived=True))
    assert repo.new("7").status == 0
    for number in range(4):
        repo.session(f"foreign-{number}", "7")
    repo.ok("archive", "7", "--force", "--keep", "1")
    foreign = repo.root / ".taskstate/archives/task-7-archive.md"
    repo.archived.write_bytes(foreign.read_bytes())
    before = repo.tree()
    assert repo.run("archive", "verify", TASK).status == 1
    assert repo.run("archive", "restore", TASK, "--all").status == 2
    assert repo.tree() == before
    assert repo.run("doctor").status == 1
    repo.run("doctor", "--fix")
    assert "foreign" not in repo.text
    assert [repo.in_place().count(f"thing-{number}-end") for number in ALL] == [1] * LAST
    assert foreign.read_text(encoding="utf-8") == before[str(foreign.relative_to(repo.root))].decode()


# Sessions stand in the state file and the archive at once, or in neither; then comes the cure.
MIXED: dict[str, tuple[Story, str, tuple[str, ...]]] = {
    "both, from git": (PLAIN, "five", ("session 6", "session 7", "archive", "git reset -q --hard")),
    "both, cleaned": (PLAIN, "five", ("session 6", "session 7", "archive", "git reset -q --hard", "git clean -qfd")),
    "tracked archive": (TRACKED, "five", ("session 6", "session 7", "archive", "git checkout -q -- .")),
    "the state file alone": (TRACKED, "five", ("session 6", "session 7", "archive", f"git checkout -q -- {STATE}")),
    "the archive alone": (TRACKED, "five", ("session 6", "session 7", "archive", f"git checkout -q -- {ARCHIVE}")),
    "a session after the loss": (PLAIN, "", ("session 6", "git reset -q --hard", "session 7")),
    "archived after the loss": (PLAIN, "", ("session 6", "git reset -q --hard", "session 7", "archive")),
    "restored from the archive": (
        TRACKED,
        "five",
        ("session 6", "archive", "taskstate archive restore 101 --all", "session 7", f"git checkout -q -- {STATE}"),
    ),
    "lost twice": (PLAIN, "", ("session 6", "git reset -q --hard", "session 7", "git reset -q --hard")),
}


@pytest.mark.parametrize(("how", "commit", "steps"), MIXED.values(), ids=MIXED)
def test_the_cure_leaves_each_session_exactly_once(
    tmp_path: Path, how: Story, commit: str, steps: tuple[str, ...]
) -> None:
    """Whichever of the two files went back, afterwards every session of either stands once, and nothing is wrong."""
    repo = story(tmp_path / "repository", how)
    if commit:
        repo.commit(commit)
    repo.do(*steps)
    repo.ok("doctor", "--fix")
    assert [repo.count(number) for number in range(1, 8)] == [1] * 7
    repo.quiet()
    repo.ok("archive", "verify", TASK)
    before = repo.tree()
    repo.ok("doctor", "--fix")
    assert repo.tree() == before


HANDOFF = "taskstate handoff new 101 --action Go --file app.py --location here --goal Works --context fact"
# What each leaves goes with a stale save, and comes back with all that belongs to it.
WRITES: dict[str, tuple[str, ...]] = {
    "session": ("session 6",),
    "the first session": ("taskstate session add 7 --did a --state thing-first-end --next c",),
    "feature": ("taskstate feature pass 101 jwt-2 --evidence seen",),
    "a feature of its own": (
        "taskstate feature add 101 jwt-3 more",
        "taskstate feature pass 101 jwt-3 --evidence seen",
    ),
    "criterion": ("taskstate criterion check 101 2",),
    "a criterion of its own": (
        "edit '- [ ] Tokens expire' '- [ ] Tokens expire\n- [ ] By hand'",
        "taskstate criterion check 101 3",
    ),
    "context": ("taskstate context init 101",),
    "role": ("taskstate role set 101 implementer --status in_progress",),
    "snapshot": ("write app.py changed", "taskstate snapshot take 101 --role implementer"),
    "completion": ("taskstate complete 101 --force --note meant",),
    "handoff": (HANDOFF,),
    "accepted handoff": (HANDOFF, "taskstate handoff accept 101"),
    "several": ("session 6", "taskstate role set 101 implementer --status in_progress", "session 7", HANDOFF),
}


BACK_IN_PLACE = {name: (steps, "\n") for name, steps in WRITES.items()} | {
    f"{name}, CRLF": (WRITES[name], "\r\n") for name in ("a criterion of its own", "completion", "several")
}


@pytest.mark.parametrize(("steps", "newline"), BACK_IN_PLACE.values(), ids=BACK_IN_PLACE)
def test_what_any_command_left_comes_back(tmp_path: Path, steps: tuple[str, ...], newline: str) -> None:
    """A stale save over it is told; after the cure nothing is wrong, and the file is as it was but for its metadata."""
    repo = story(tmp_path / "repository")
    repo.write("rules.md", "# Rules\n\n## Tokens\n\nA token expires.\n")
    repo.write("taskstate.toml", (repo.root / "taskstate.toml").read_text(encoding="utf-8") + STANDARDS)
    repo.commit("five")
    assert repo.new("7").status == 0
    task = "7" if " 7 " in steps[0] else TASK
    path = repo.root / f".taskstate/tasks/task-{task}-state.md"
    buffer = path.read_text(encoding="utf-8")
    repo.do(*steps)
    after = path.read_text(encoding="utf-8")
    path.write_bytes(buffer.replace("\n", newline).encode())
    shutil.rmtree(repo.root / f".taskstate/handoffs/task-{task}", ignore_errors=True)
    assert repo.told(task)
    repo.ok("doctor", "--fix")
    repo.quiet()
    wanted = without_metadata(after).replace("\n", newline)
    assert without_metadata(path.read_bytes().decode()).split("\n") == wanted.split("\n")


def test_two_sessions_of_the_same_words_stay_two(tmp_path: Path) -> None:
    """One is archived and the other not: they do not stand twice, and no cure takes one of them away."""
    repo = story(tmp_path / "repository")
    repo.ok("new", "7", "--title", "T", "--description", "d", "--criterion", "c")
    for did in ("the very same", "another", "the very same"):  # within one minute, as a rule
        repo.ok("session", "add", "7", "--did", did, "--state", "s", "--next", "n")
    repo.ok("archive", "7", "--force", "--keep", "1")
    assert "in the log and in the archive" not in repo.run("doctor").out
    path = repo.root / ".taskstate/tasks/task-7-state.md"
    buffer = path.read_text(encoding="utf-8")
    repo.ok("criterion", "check", "7", "1")
    path.write_text(buffer, encoding="utf-8")
    assert repo.told("7")
    repo.ok("doctor", "--fix")
    assert "[x] c" in path.read_text(encoding="utf-8")
    assert repo.ok("session", "list", "7").count("the very same") == 2


def without_metadata(text: str) -> str:
    """Return a state file's text without what every write changes."""
    return re.sub(r"(?m)^ *(revision|updated_at|update_count|file_size_kb|git_head|seal): .*\n", "", text)

"""Nothing is built on a damaged file: reading commands name it, writing ones refuse it, and the cure makes it whole."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_damage import OURS, THEIRS, conflict, cut, without
from tests.support.kept_place import BACK, LAST, PLAIN, STATE, TASK, Repo, Story, story

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.kept_damage import Damage

ALL = range(1, LAST + 1)
ARTIFACTS = f".taskstate/artifacts/task-{TASK}"


CUTS: dict[str, Damage] = {
    "at 1,300 bytes": lambda text: text[:1_300],
    "in the front matter": cut("audit:"),
    "in the checklist": cut('"overall_progress"'),
    "before session 1": cut("### Session 1 "),
    "in session 4": cut("thing-4-end"),
    "before session 4": cut("### Session 4 "),
    "before session 5": cut("### Session 5 "),
    "the first half": lambda text: text[len(text) // 2 :],
    "the front matter": lambda text: text[text.index("# Task #101") :],
    "the middle": without("### Session 2 ", "### Session 4 "),
    "the checklist": without("## 3. Feature Checklist", "## 4. Progress Log"),
    "the end of the front matter": lambda text: text.replace("\n---\n", "\n", 1),
}
RUINS: dict[str, Damage] = {
    "empty": lambda _: "",
    "blank lines": lambda _: "\n \n\t\n" * 9,
    "a byte order mark": lambda _: "\ufeff",
    "NUL bytes": lambda text: "\0" * len(text),
    "NUL bytes at the end": lambda text: text[:1_000] + "\0" * (len(text) - 1_000),
    "a NUL byte": lambda text: text.replace("thing-3-end", "thing-\0-end"),
    "not UTF-8": lambda text: text.encode().replace(b"thing-3-end", b"thing-\xff\xfe-end"),
    "another file": lambda _: "<html><body>502 Bad Gateway</body></html>\n",
    "a blank line before a stale text": lambda text: "\n" + text[: text.index("### Session 5 ")],
}
STOOD = "**Current state:** "
OTHER = "### Session 5 - 2026-01-31 10:00\n\n**What I did:**\n\n- thing-other-end\n\n"
CONFLICTS: dict[str, Damage] = {
    "in a session": conflict(f"{STOOD}thing-1-end\n", f"{STOOD}thing-other-end\n"),
    "in the newest session": conflict(f"{STOOD}thing-5-end\n", f"{STOOD}thing-other-end\n"),
    "in a session, with the base": conflict(
        f"{STOOD}thing-2-end\n", f"{STOOD}thing-other-end\n", f"||||||| base\n{STOOD}thing-base-end\n"
    ),
    "about whole sessions": lambda text: text.replace("## 5. Git", f"=======\n{OTHER}{THEIRS}## 5. Git").replace(
        "### Session 5 ", f"{OURS}### Session 5 ", 1
    ),
    "beside a check by hand": lambda text: str(conflict("status: in_progress\n", "status: blocked\n")(text)).replace(
        "- [ ] Tokens expire", "- [x] Tokens expire"
    ),
    "in the front matter": conflict("status: in_progress\n", "status: blocked\n"),
    "in a criterion": conflict("- [ ] Tokens verify\n", "- [x] Tokens verify\n"),
    "in the checklist": conflict('  "overall_progress": "50%"\n', '  "overall_progress": "100%"\n'),
    "with CRLF": lambda text: str(conflict(f"{STOOD}thing-1-end\n", f"{STOOD}other\n")(text)).replace("\n", "\r\n"),
}
DAMAGES: dict[str, Damage] = {
    **{f"cut: {name}": damage for name, damage in CUTS.items()},
    **{f"ruin: {name}": damage for name, damage in RUINS.items()},
    **{f"conflict: {name}": damage for name, damage in CONFLICTS.items()},
}
BEHIND_A_FAULT = {
    name: DAMAGES[name] for name in ("cut: before session 4", "cut: the checklist", "conflict: in a session")
}
SAMPLES = {name: DAMAGES[name] for name in ("cut: before session 4", "ruin: empty", "conflict: in a session")}
SEALED = Story(sealed=True)
CURED = {name: (damage, PLAIN) for name, damage in (CUTS | RUINS).items()} | {
    f"{name}, sealed": ((CUTS | RUINS)[name], SEALED) for name in ("in the front matter", "the checklist", "empty")
}


def damaged(root: Path, damage: Damage, how: Story = PLAIN, *, committed: bool = False) -> Repo:
    """Return a repository in which a state file was damaged after a story."""
    repo = story(root, how)
    if committed:
        repo.commit("five")
    repo.write(STATE, damage(repo.text))
    return repo


def _filled(text: str) -> str:
    return text.replace("### Summary\n\n*To be completed.*", "### Summary\n\nWritten by hand.")


BY_HAND: dict[str, Damage] = {
    "the optional parts": lambda text: text[: text.index("### API Contract")],
    "an optional section": lambda text: text.replace("## 5. Git History\n\n", ""),
    "a required section": lambda text: text.replace("## 2. Chain Inputs\n\nNone.\n\n", ""),
}


@pytest.mark.parametrize("edit", BY_HAND.values(), ids=BY_HAND)
def test_a_placeholder_that_is_taken_out_is_no_loss(tmp_path: Path, edit: Damage) -> None:
    """Who writes the output by hand takes out what is empty: the next command goes on, and no cure takes words away."""
    repo = story(tmp_path / "repository")
    repo.write(STATE, edit(_filled(repo.text)))
    assert repo.try_session("taken").status == 0
    repo.ok("lint", "--fix")
    repo.ok("doctor", "--fix")
    assert "Written by hand." in repo.text
    assert "thing-taken" in repo.text


@pytest.mark.parametrize("mark", ["### Summary", "## 6. Chain Output"])
def test_an_output_that_is_cut_off_is_a_loss(tmp_path: Path, mark: str) -> None:
    """What the last write left in the output is missed, also where it was not in the last part."""
    repo = story(tmp_path / "repository")
    repo.write(STATE, _filled(repo.text))
    assert repo.try_session("first").status == 0
    repo.write(STATE, cut(mark)(repo.text))
    refused = repo.try_session("refused")
    assert refused.status == 2
    assert "which the last write still had" in refused.err
    repo.ok(*BACK.split())
    assert "Written by hand." in repo.text


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_nothing_is_built_on_a_damaged_file(tmp_path: Path, damage: Damage) -> None:
    """A session is refused with the cure and the file left alone; `list`, `session list` and `doctor` name it."""
    repo = damaged(tmp_path / "repository", damage)
    before = repo.tree()
    refused = repo.try_session("refused")
    assert (refused.status, refused.out) == (2, "")
    assert BACK in refused.err
    assert repo.tree() == before
    for command in (("list",), ("session", "list", TASK)):
        done = repo.run(*command)
        assert done.status == 1, done
        assert "damaged" in done.err
    assert any(TASK in row and "damaged" in row for row in repo.run("list").out.splitlines())
    assert repo.run("doctor").status == 1
    assert repo.tree() == before


@pytest.mark.parametrize(("damage", "how"), CURED.values(), ids=CURED)
def test_a_damaged_file_is_whole_after_the_cure(tmp_path: Path, damage: Damage, how: Story) -> None:
    """`doctor --fix` brings back all that was acknowledged; what was refused meanwhile is recorded by one command."""
    repo = damaged(tmp_path / "repository", damage, how)
    refused = repo.try_session("refused")
    fixed = repo.run("doctor", "--fix")
    assert fixed.status == 0, fixed
    assert [repo.count(number) for number in ALL] == [1] * LAST
    repo.quiet()
    apply_kept(repo, refused.err)
    assert repo.count("refused") == 1
    repo.quiet()


def apply_kept(repo: Repo, said: str) -> None:
    """Run the one command that a refused `session add` named."""
    found = re.search(rf"taskstate (session add {TASK} --from [^`\n]+)", said)
    assert found, said
    repo.ok(*shlex.split(found[1]))


def test_a_damaged_file_that_is_committed_is_whole_after_the_cure(tmp_path: Path) -> None:
    """Where all was committed, and even the damage was, the cure is the same."""
    repo = damaged(tmp_path / "repository", DAMAGES["cut: before session 4"], committed=True)
    repo.commit("half a file")
    assert repo.run("list").status == 1
    repo.ok("doctor", "--fix")
    assert [repo.count(number) for number in ALL] == [1] * LAST
    repo.quiet()


@pytest.mark.parametrize("damage", CONFLICTS.values(), ids=CONFLICTS)
def test_the_cure_of_a_conflict_takes_no_side_away(tmp_path: Path, damage: Damage) -> None:
    """Either all of both sides is in place afterwards, or the file is as it was and a proposal lies beside it."""
    repo = damaged(tmp_path / "repository", damage)
    before = repo.tree()
    fixed = repo.run("doctor", "--fix")
    if fixed.status == 0:
        assert [repo.count(number) for number in ALL] == [1] * LAST
        for piece in ("thing-other-end", "- [x] Tokens expire"):
            assert (piece in repo.text) == (piece.encode() in before[STATE])
        assert OURS.strip() not in repo.text
        repo.quiet()
        return
    assert fixed.status == 1
    assert repo.tree() == before
    proposals = [path for path in (repo.root / ARTIFACTS).rglob("*") if path.is_file()]
    assert proposals, fixed
    assert ARTIFACTS in fixed.out + fixed.err


def merged_without_driver(root: Path, theirs: Callable[[Repo], None], ours: Callable[[Repo], None]) -> Repo:
    """Return a repository in which git itself merged two branches, and left a conflict in the state file."""
    repo = story(root)
    repo.commit("five")
    repo.git("config", "--remove-section", "merge.taskstate")
    repo.git("checkout", "-q", "-b", "theirs")
    theirs(repo)
    repo.commit("theirs")
    repo.git("checkout", "-q", "main")
    ours(repo)
    repo.commit("ours")
    repo.git("merge", "theirs", fails=True)
    assert OURS[:7] in repo.text
    return repo


def test_both_sides_of_a_merge_are_merged_by_the_cure(tmp_path: Path) -> None:
    """Sessions that two branches added both stand there afterwards, as the merge driver would have merged them."""
    repo = merged_without_driver(
        tmp_path / "repository", lambda repo: repo.session("theirs"), lambda repo: repo.session("ours")
    )
    fixed = repo.run("doctor", "--fix")
    assert (fixed.status, "both sides of its conflict are merged" in fixed.out) == (0, True), fixed
    assert [repo.count(what) for what in (*ALL, "ours", "theirs")] == [1] * (LAST + 2)
    repo.commit("merged")
    repo.quiet()


def edited(old: str, side: str) -> Callable[[Repo], None]:
    """Return the edit that puts a word of a side behind a piece of the text."""
    return lambda repo: repo.edit(old, f"{old} {side}")


@pytest.mark.parametrize("is_in_index", [True, False], ids=["in the index", "committed"])
@pytest.mark.parametrize("old", ["Issue tokens.", "Tokens verify", "makes a JWT", "thing-2-end", "title: JWT Service"])
def test_a_conflict_that_has_to_be_decided_is_left(tmp_path: Path, old: str, *, is_in_index: bool) -> None:
    """Where both sides changed the same words, the cure takes neither, and says what is to be done."""
    repo = merged_without_driver(tmp_path / "repository", edited(old, "theirs"), edited(old, "ours"))
    if not is_in_index:
        repo.commit("with markers")
    before = repo.tree()
    fixed = repo.run("doctor", "--fix")
    assert fixed.status == 1
    assert re.search(r"line \d+: which side of the conflict is right is not known: keep", fixed.out), fixed
    assert repo.tree() == before


def test_a_half_resolved_conflict_is_left(tmp_path: Path) -> None:
    """What somebody wrote into the file since the merge is not merged away."""
    repo = merged_without_driver(
        tmp_path / "repository", lambda repo: repo.session("theirs"), lambda repo: repo.session("ours")
    )
    repo.edit("Issue tokens.", "Issue tokens, by hand.")
    before = repo.tree()
    assert repo.run("doctor", "--fix").status == 1
    assert repo.tree() == before


WRITERS = (
    "feature pass 101 jwt-2 --evidence seen",
    "feature fail 101 jwt-1",
    "feature add 101 new-1 more",
    "criterion check 101 1",
    "role set 101 implementer --status in_progress",
    "archive 101 --force --keep 1",
    f"fmt {STATE}",
    "handoff new 101 --action Go --file app.py --location here --goal Works --context fact",
    "complete 101 --force --note meant",
    "snapshot take 101 --role implementer",
    "evidence add 101 --type code --path app.py",
    "context init 101",
    "doctor renumber 101 102",
)
READERS = (
    "show 101",
    "brief 101",
    "session show 101 1",
    "status",
    "next",
    "role show 101",
    "graph",
    "chain output 101",
    "archive verify 101",
    "lint",
    "list --format json",
)


@pytest.mark.parametrize("damage", SAMPLES.values(), ids=SAMPLES)
def test_every_writing_command_refuses_a_damaged_file(tmp_path: Path, damage: Damage) -> None:
    """Each exits with 2 and one line that names the cure, and leaves every file alone."""
    repo = damaged(tmp_path / "repository", damage)
    before = repo.tree()
    for command in WRITERS:
        refused = repo.run(*shlex.split(command))
        assert refused.status == 2, (command, refused)
        assert len([line for line in refused.err.splitlines() if BACK in line]) == 1, (command, refused)
        assert repo.tree() == before, command


@pytest.mark.parametrize("damage", SAMPLES.values(), ids=SAMPLES)
def test_every_reading_command_names_a_damaged_file(tmp_path: Path, damage: Damage) -> None:
    """Each exits with 1 and says on standard error, or `status` in its list, that the file is damaged."""
    repo = damaged(tmp_path / "repository", damage)
    for command in READERS:
        done = repo.run(*shlex.split(command))
        told = done.out if command == "status" else done.err
        assert (done.status, "damaged" in told) == (1, True), (command, done)


@pytest.mark.parametrize("damage", SAMPLES.values(), ids=SAMPLES)
def test_lint_mends_nothing_in_a_damaged_file(tmp_path: Path, damage: Damage) -> None:
    """`lint --fix` leaves the file alone, and does not call it clean."""
    repo = damaged(tmp_path / "repository", damage)
    before = repo.tree()
    assert repo.run("lint", "--fix", "--unsafe-fixes").status in {1, 2}
    assert repo.tree() == before


@pytest.mark.parametrize("damage", BEHIND_A_FAULT.values(), ids=BEHIND_A_FAULT)
@pytest.mark.parametrize("command", ["lint --fix", "lint --fix --unsafe-fixes", "lint --add-ignores"])
def test_a_fault_in_the_front_matter_hides_no_damage(tmp_path: Path, damage: Damage, command: str) -> None:
    """A file that is damaged in two ways is refused with the cure, and its count, which tells what is gone, stays."""
    repo = damaged(tmp_path / "repository", damage)
    repo.edit("title: JWT Service", "title: JWT: Service")
    before = repo.tree()
    assert "can be fixed" not in repo.run("lint").out
    refused = repo.run(*shlex.split(command))
    assert (refused.status, BACK in refused.err) == (2, True), refused
    assert repo.tree() == before
    assert repo.run("doctor", "--fix").status == (1 if OURS in repo.text else 0)


def test_other_tasks_go_on_beside_a_damaged_file(tmp_path: Path) -> None:
    """A damaged file stops nobody who works on another task."""
    repo = story(tmp_path / "repository")
    assert repo.new("7").status == 0
    repo.text = ""
    repo.session("seven", "7")
    assert repo.run("show", "7").status == 0
    assert repo.run("session", "list", "7").status == 0


@pytest.mark.parametrize("source", ["flags", "file"])
def test_a_refused_session_is_kept_word_by_word(tmp_path: Path, source: str) -> None:
    """Its input lies as JSON under `artifacts`, is named, and gives the same session once the file is whole."""
    repo = damaged(tmp_path / "repository", DAMAGES["cut: before session 4"])
    did = "Did \"it\", 'quoted' & naïve; $HOME `ls` \u2603."
    given: tuple[str, ...] = ("--did", did, "--issue", "One.", "--issue", "Two.", "--state", "s", "--next", "n")
    if source == "file":
        text = json.dumps({"did": [did], "issues": ["One.", "Two."], "state": "s", "next": ["n"]})
        given = ("--from", str(repo.write("input.json", text)))
    refused = repo.run("session", "add", TASK, *given)
    assert refused.status == 2
    (kept,) = (repo.root / ARTIFACTS).rglob("*.json")
    assert did in json.dumps(json.loads(kept.read_text(encoding="utf-8")), ensure_ascii=False).replace('\\"', '"')
    (repo.root / "input.json").unlink(missing_ok=True)
    repo.ok("doctor", "--fix")
    apply_kept(repo, refused.err)
    assert did in repo.text
    assert "Two." in repo.text


def test_two_refused_sessions_are_both_kept(tmp_path: Path) -> None:
    """One does not overwrite the other."""
    repo = damaged(tmp_path / "repository", DAMAGES["ruin: empty"])
    said = [repo.try_session(what).err for what in ("first", "second")]
    repo.ok("doctor", "--fix")
    for each in said:
        apply_kept(repo, each)
    assert [repo.count(what) for what in ("first", "second")] == [1, 1]


# Nothing of this is damage.
SOUND: dict[str, Damage] = {
    "markers in a fence": lambda text: text.replace(
        f"{STOOD}thing-5-end\n", f"{STOOD}thing-5-end\n\n```diff\n{OURS}a\n=======\nb\n{THEIRS}```\n"
    ),
    "a line of equals signs": lambda text: text.replace("thing-5-end\n", "thing-5-end\n\nText\n=======\n"),
    "more than it says": lambda text: re.sub(
        r"total: 5, archived: 0, recent: 5", "total: 4, archived: 0, recent: 4", text
    ),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
}


CLOSING = {
    "complete": "complete 101 --force --note meant",
    "drop": "drop 101 --note meant",
    "purge": "purge 101",
}


@pytest.mark.parametrize("command", CLOSING.values(), ids=CLOSING)
def test_a_refused_session_outlives_the_artifacts(tmp_path: Path, command: str) -> None:
    """What deletes a task's artifacts leaves the words that are recorded nowhere, and says so until they are."""
    repo = story(tmp_path / "repository")
    whole = repo.text
    repo.text = ""
    refused = repo.try_session("refused")
    repo.text = whole
    repo.write(f"{ARTIFACTS}/log.txt", "bulky")
    done = repo.run(*shlex.split(command))
    assert (done.status, "is not recorded: `taskstate session add 101" in done.err) == (0, True), done
    assert not (repo.root / ARTIFACTS / "log.txt").exists()
    assert "is not recorded; `taskstate session add 101" in repo.ok("doctor")
    apply_kept(repo, refused.err)
    assert repo.count("refused") == 1
    assert not (repo.root / ARTIFACTS).exists()
    assert "artifacts" not in repo.ok("doctor")


def test_completing_asks_for_a_refused_session(tmp_path: Path) -> None:
    """Its absence is one of the things that are missing."""
    repo = story(tmp_path / "repository")
    whole = repo.text
    repo.text = ""
    repo.try_session("refused")
    repo.text = whole
    done = repo.run("complete", "101")
    assert (done.status, "a session of task 101 was refused" in done.err) == (2, True), done


@pytest.mark.parametrize("change", SOUND.values(), ids=SOUND)
def test_what_only_looks_like_damage_is_none(tmp_path: Path, change: Damage) -> None:
    """Reading and writing go on, and every session is there afterwards."""
    repo = damaged(tmp_path / "repository", change)
    assert repo.run("list").status == 0
    repo.session("later")
    assert [repo.count(number) for number in (*ALL, "later")] == [1] * (LAST + 1)
    assert repo.run("doctor").status == 0


def test_a_session_deleted_on_purpose_can_be_let_go(tmp_path: Path) -> None:
    """Fewer sessions than the count is damage until somebody says that it was meant; then work goes on."""
    repo = damaged(tmp_path / "repository", without("### Session 4 ", "### Session 5 "))
    refused = repo.try_session("later")
    assert refused.status == 2
    assert f"--let-go {TASK}" in refused.err
    repo.ok("doctor", "--let-go", TASK)
    repo.session("later")
    assert [repo.count(4), repo.count(5), repo.count("later")] == [0, 1, 1]
    repo.quiet()


def test_a_count_is_never_lowered_by_the_cure(tmp_path: Path) -> None:
    """Where nothing kept knows the missing sessions, `doctor --fix` does not make the count fit."""
    repo = story(tmp_path / "repository")
    repo.commit("five")
    text = repo.text
    clone = repo.clone(tmp_path / "clone")
    clone.text = text.replace("total: 5, archived: 0, recent: 5", "total: 9, archived: 0, recent: 9")
    assert clone.try_session("later").status == 2
    assert clone.run("doctor", "--fix").status == 1
    assert "total: 9" in clone.text

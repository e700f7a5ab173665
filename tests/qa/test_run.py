from __future__ import annotations

import shutil
import stat
import subprocess
import sys
import time
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import pytest

from taskstate.evidence.process import unfollowed
from taskstate.model.tool_blocks import CheckResult
from taskstate.qa import run as qa_run
from taskstate.qa.results import compare
from taskstate.qa.run import CommandRun, run_commands
from tests.support.place import Place, refusal, tree
from tests.support.processes import is_gone

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

TOKEN = "ghp_" + "Ab1cD2eF3g" * 4
PYTEST = "echo '==== {} in 1.20s ===='"


@pytest.fixture
def place(repository: Path) -> Place:
    """Return a git repository with task 101 and a tracked file."""
    place = Place(repository)
    (place.root / "tracked.txt").write_text("one\n", encoding="utf-8")
    (place.root / ".gitignore").write_text("*.ignored\n", encoding="utf-8")
    commit(place)
    return place


def commit(place: Place) -> None:
    """Commit all there is."""
    for command in (("add", "--all"), ("commit", "--quiet", "--message", "x")):
        subprocess.run(["git", *command], cwd=place.root, check=True)


def run(place: Place, *commands: str, timeout: float = 20) -> CommandRun:
    """Run commands."""
    return run_commands(place.workspace, commands, timeout=timeout, progress=unfollowed)


@pytest.mark.parametrize(
    ("command", "is_ok", "text"),
    [
        ("true", True, "exit status 0"),
        ("exit 3", False, "exit status 3"),
        ("kill -9 $$", False, "exit status 137"),
        ("no-such-program", False, "cannot run, exit status 127"),
        ("a\0b", False, "cannot run, exit status 126"),
        (PYTEST.format("42 passed"), True, "42 passed"),
        (PYTEST.format("1 failed, 41 passed") + "; exit 1", False, "41 passed, 1 failed"),
        (PYTEST.format("42 passed") + "; exit 2", False, "42 passed, exit status 2"),
        (PYTEST.format("1 failed, 41 passed"), True, "41 passed, 1 failed"),
        ("echo 'TOTAL 10 1 90%'", True, "coverage 90%"),
        (PYTEST.format("3 passed") + "; echo 'TOTAL 10 1 90%'", True, "coverage 90%, test 3 passed"),
        (PYTEST.format("1 failed") + "; echo 'TOTAL 10 1 90%'; exit 1", False, "test 1 failed, coverage 90%"),
    ],
)
def test_result_of_a_command(place: Place, command: str, is_ok: object, text: str) -> None:
    """The exit status decides; the text has the figures of a known tool. A command that cannot be started fails."""
    (result,) = run(place, command).results.values()
    assert result == (is_ok, text)


def tell(told: list[str], line: str) -> AbstractContextManager[Callable[[bytes], None]]:
    """Keep what is told of a command, and the pieces of its output."""
    told.append(line)
    return nullcontext(lambda piece: told.extend([piece.decode()] if piece else []))


def test_commands_run_in_the_root_one_after_the_other(place: Place) -> None:
    """Each runs in the repository's root, also after one that failed; progress is told before, and what it prints."""
    told: list[str] = []
    commands = ("pwd > where.ignored; echo no; exit 1", "test -f where.ignored")
    ran = run_commands(place.workspace, commands, timeout=20, progress=partial(tell, told))
    assert [each.ok for each in ran.results.values()] == [False, True]
    assert (place.root / "where.ignored").read_text(encoding="utf-8") == f"{place.root}\n"
    first, second = "running pwd > where.ignored; echo no; exit 1 (1 of 2)", "running test -f where.ignored (2 of 2)"
    assert told == [first, "no\n", second]
    assert run(place) == CommandRun({}, b"")


def test_names_of_results(place: Place) -> None:
    """A result has its command's text on one short line; two of the same name are told apart."""
    long = "true " + "x" * 300
    names = [*run(place, "true\n \x1b[31m", "x-run", long, long, f"echo {TOKEN}").results]
    assert names[:2] == [r"true \x1b[31m", "$ x-run"]
    assert [len(each) <= 200 for each in names] == [True] * 5
    assert names[3].endswith("… (2)")
    assert names[4] == "echo " + "*" * 44


def test_log_tells_what_ran_and_how_it_ended(place: Place) -> None:
    """The log has each command, all that it printed, and its end."""
    log = run(place, "echo out; echo err >&2", "printf '\\033[31mred'; exit 2").log
    assert log.split(b"$ printf ") == [
        b"$ echo out; echo err >&2\nout\nerr\n(exit status 0)\n",
        b"'\\033[31mred'; exit 2\nred\n(exit status 2)\n",
    ]


def test_secrets_are_masked(place: Place) -> None:
    """No credential that a command prints or names is in the log, the results or what is told, coloured or not."""
    told: list[str] = []
    coloured = f"printf '%s\\033[1m%s\\n' ghp_ {TOKEN[4:]}"
    ran = run_commands(place.workspace, (f"echo {TOKEN}", coloured), timeout=20, progress=partial(tell, told))
    assert b"*" * 44 in ran.log.split(b"\n")[1]
    assert ran.log.split(b"\n")[4] == b"*" * 44
    assert TOKEN not in ran.log.decode() + "".join([*ran.results, *told[::2]])
    place.configure('[secrets]\nallow = ["^ghp_Ab1"]\n')
    assert TOKEN.encode() in run(place, f"echo {TOKEN}").log


def test_command_that_hangs(place: Place) -> None:
    """It is ended with its children, which is its result; the commands after it run."""
    begun = time.monotonic()
    ran = run(place, "echo begun; sleep 60 & echo $! > child.ignored; sleep 61", "echo after", timeout=0.5)
    assert [*ran.results.values()] == [(False, "timed out after 0.5 s"), (True, "exit status 0")]
    assert b"begun\n(timed out after 0.5 s)\n" in ran.log
    assert time.monotonic() - begun < 10
    assert is_gone(int((place.root / "child.ignored").read_text()))


def test_flood_of_output(place: Place) -> None:
    """Of 50 MB the beginning and the end are kept, with the figures there, and a line says how much is missing."""
    ran = run(place, "echo first; yes 'a line' | head -c 50000000; echo; " + PYTEST.format("3 passed"), timeout=60)
    assert [*ran.results.values()] == [(True, "3 passed")]
    assert len(ran.log) < qa_run.LOG_LIMIT + 1000
    assert ran.log.split(b"\n")[1] == b"first"
    assert ran.log.endswith(b"==== 3 passed in 1.20s ====\n(exit status 0)\n")
    (line,) = (each for each in ran.log.split(b"\n") if b"left out" in each)
    kept = len(ran.log) - len(ran.log.split(b"\n")[0]) - len(line) - len("\n\n\n(exit status 0)\n")
    assert line == f"[{50_000_035 - kept:,} bytes are left out here]".encode()


def test_flood_is_cut_between_lines(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a credential cannot be recognised, so a line is kept whole or not at all; all commands share the limit."""
    monkeypatch.setattr(qa_run, "LOG_LIMIT", 2000)
    ran = run(place, f"yes {TOKEN} | head -n 999", "yes | tr -d '\\n' | head -c 9999; echo; echo end")
    assert TOKEN[4:12].encode() not in ran.log
    assert {len(each) for each in ran.log.split(b"\n") if each.startswith(b"*")} == {44}
    assert b"bytes are left out here]\nend\n(exit" in ran.log
    assert len(ran.log) < 2300


def test_files_that_commands_change(place: Place) -> None:
    """Tracked files that are changed or deleted are named, and so are untracked ones; ignored ones are not."""
    for name in ("deleted.txt", "same.txt", "mode.txt"):
        (place.root / name).write_text("x\n", encoding="utf-8")
    commit(place)
    (place.root / "dirty.txt").write_text("mine\n", encoding="utf-8")
    ran = run(
        place,
        "echo two >> tracked.txt; rm deleted.txt; touch same.txt; chmod +x mode.txt",
        "echo x > a.ignored; echo x > 'new\n.txt'; echo more >> dirty.txt",
        "echo x >> .taskstate/tasks/task-101-state.md; echo x > .taskstate/new",
    )
    assert ran.changed == ("deleted.txt", "mode.txt", "tracked.txt")
    assert ran.untracked == ("dirty.txt", "new\n.txt")


def test_what_is_dirty_before_is_not_the_commands_doing(place: Place) -> None:
    """Only what changes while they run counts, whatever git's index and HEAD do meanwhile."""
    (place.root / "tracked.txt").write_text("mine\n", encoding="utf-8")
    (place.root / "new.txt").write_text("mine\n", encoding="utf-8")
    ran = run(place, "git add --all && git commit --quiet --message mine", "git reset --quiet --soft HEAD~1")
    assert (all(each.ok for each in ran.results.values()), ran.changed, ran.untracked) == (True, (), ())
    assert run(place, "echo theirs > tracked.txt", "echo mine > tracked.txt").changed == ()
    assert run(place, "git reset --quiet --hard").changed == ("new.txt", "tracked.txt")


def test_the_users_index_is_left_alone(place: Place) -> None:
    """Looking at the working tree stages nothing, and leaves nothing behind."""
    (place.root / "new.txt").write_text("x\n", encoding="utf-8")
    before = tree(place.root), (place.root / ".git" / "index").read_bytes()
    run(place, "true")
    assert (tree(place.root), (place.root / ".git" / "index").read_bytes()) == before
    private = place.workspace.private.write
    assert private
    assert not [each for each in private.iterdir() if each.is_file()]


def test_output_lies_where_only_the_user_reads(place: Place) -> None:
    """While a command runs, its output is in a file without a name in the private folder."""
    private = place.workspace.private.write
    assert private
    shutil.rmtree(private, ignore_errors=True)
    ran = run(place, f"echo x; ls -la {private}")
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert len(ran.log.split(b"\n")) == 7


def test_without_git(tmp_path: Path) -> None:
    """Commands run as well where nothing watches the tree."""
    place = Place(tmp_path / "plain")
    ran = run(place, "touch new")
    assert (ran.changed, ran.untracked, [each.ok for each in ran.results.values()]) == ((), (), [True])


def test_tree_that_git_cannot_read_is_refused_before(place: Place) -> None:
    """Where it could not be seen what a command changes, none runs."""
    subprocess.run(["git", "init", "--quiet", "nested"], cwd=place.root, check=True)
    assert "without a commit" in refusal(lambda: run(place, "touch ran")).message
    assert not (place.root / "ran").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-program-here --all", "cannot run, exit status 127"),
        ("./tracked.txt", "cannot run, exit status 126"),
        (f"{sys.executable} -m no_such_module_here", "cannot run, exit status 1"),
        ("echo python3: No module named x; echo done; exit 1", "exit status 1"),
    ],
)
def test_what_is_not_there_has_not_failed(place: Place, command: str, said: str) -> None:
    """A program or module that is missing is told apart from a check that fails: nothing has become worse."""
    (result,) = run(place, command).results.values()
    assert result.text == said
    passed = {"a": CheckResult(ok=True, text="exit status 0")}
    (worse,) = compare(passed, {"a": result}).regressions
    assert worse.detail == ("passed, and cannot run here" if "cannot" in said else "passed, and now fails")

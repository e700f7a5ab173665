"""What shows that a long run goes on, in a real terminal."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.cli.progress_bar import LastLine
from tests.support.git_place import GitPlace
from tests.support.terminal import seen

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = "ghp_Ab1" + "C2d3E4f5" * 4 + "g"
CHECK = r"""
printf 'collected 2 items\n\033[31mred\033[0m \033[2J\033]0;owned\007line %s %0100d\nhalf of a line' "$TOKEN" 0
sleep 1.6
exit 1
"""

STEPS = """
import sys, time
from taskstate.cli.progress_bar import Bar

with Bar("checking", enabled={enabled}) as bar:
    for done in range(1, 8):
        bar(done, 7)
        time.sleep({pause})
print("taskstate.views.layout" in sys.modules)
"""

IMPATIENT = """
from taskstate.cli import progress_bar
progress_bar.PATIENCE = progress_bar._PAUSE = 0
from taskstate.__main__ import main
raise SystemExit(main({words}))
"""


def command(*, pause: float, enabled: bool = True) -> tuple[str, ...]:
    """Return a command that takes seven steps, and says at its end whether it loaded what draws the bar."""
    return (sys.executable, "-c", STEPS.format(enabled=enabled, pause=pause))


@pytest.mark.slow
def test_a_long_run_shows_how_far_it_is(tmp_path: Path) -> None:
    """After a second a terminal shows what is being done and how much of it, and nothing of it stays behind."""
    status, shown = seen(command(pause=0.25), cwd=tmp_path)
    assert status == 0
    assert "checking" in shown
    assert "7/7" in shown
    assert "2/7" not in shown
    assert shown.replace("\r", "").endswith("\x1b[2KTrue\n"), shown[-80:]


@pytest.mark.slow
@pytest.mark.parametrize(("enabled", "env"), [(False, {}), (True, {"TERM": "dumb"})])
def test_nobody_is_shown_a_bar_that_is_not_wanted(tmp_path: Path, enabled: bool, env: dict[str, str]) -> None:  # noqa: FBT001 - a parameter of the test
    """Where it is refused, or the terminal could not take it back, a long run shows nothing and loads nothing."""
    assert seen(command(pause=0.2, enabled=enabled), cwd=tmp_path, env=env) == (0, "False\n")


def test_a_short_run_shows_nothing(tmp_path: Path) -> None:
    """A run of less than a second shows no bar, and loads nothing that would draw it."""
    assert seen(command(pause=0), cwd=tmp_path) == (0, "False\n")


@pytest.mark.slow
def test_a_pipe_gets_no_bar(tmp_path: Path) -> None:
    """Where standard error is no terminal a long run shows nothing."""
    done = subprocess.run(command(pause=0.2), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.parametrize(
    ("pieces", "line"),
    [
        ((b"one\ntwo\nthr",), "two"),
        ((b"10 %\r20 %\r3",), "20 %"),
        ((b"one\r\n\r\n",), "one"),
        ((b"no line end",), ""),
        ((f"is {TOKEN[:20]}".encode(), f"{TOKEN[20:]}\n".encode()), f"is {'*' * len(TOKEN)}"),
        ((f"old\n{TOKEN[:20]}".encode(),), "old"),
        ((b"\x1b[31mred\x1b[0m\x1b[2J \x1b]0;title\x07\x9b1m\xff\n",), "red \ufffd1m\ufffd"),
        ((b"\xc2\x9b31m \x1b[unfinished\n",), r"\x9b31m nfinished"),
        (("wide \u65e5\u672c \u202e.\n".encode(),), "wide \u65e5\u672c \\u202e."),
        ((b"x" * 70_000 + b"\n",), ""),
        ((b"x" * 70_000 + b"\nlast\n",), "last"),
        ((b"-----BEGIN PRIVATE KEY-----\n" + b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n" * 3,), "*" * 52),
    ],
)
def test_the_last_whole_line_is_fit_to_be_shown(pieces: tuple[bytes, ...], line: str) -> None:
    """Of all that is printed no control reaches a terminal, and no credential, not even a half of one."""
    following = LastLine()
    for piece in pieces:
        following(piece)
    assert following._line() == line  # noqa: SLF001 - what is drawn of it a terminal shows below


@pytest.mark.slow
def test_a_check_shows_how_long_it_runs_and_what_it_said_last(tmp_path: Path) -> None:
    """On a terminal, for as long as it runs; in a pipe nothing is said of it, quietly or in JSON neither."""
    place = GitPlace(tmp_path / "repository")
    place.write("check.sh", CHECK)
    place.configure('[validation]\n"*" = ["sh check.sh"]\n')
    place.commit("a check")
    place.trust()
    baseline = (sys.executable, "-m", "taskstate", "qa", "baseline", "101", "--dry-run")
    status, shown = seen(baseline, cwd=place.root, env={"TOKEN": TOKEN})
    assert status == 0
    assert "running sh check.sh (1 of 1)" in shown
    assert "0:00:01" in shown
    assert f"red line {'*' * len(TOKEN)}" in shown
    assert not [each for each in (TOKEN, "owned", "\x1b[31m", "\x1b[2J", "half of") if each in shown]
    done = subprocess.run(baseline, cwd=place.root, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    for flag in ("--quiet", "--format=json"):
        assert "running" not in seen((*baseline, flag), cwd=place.root)[1]
    proof = (*baseline[:3], "feature", "pass", "101", "jwt-1", "--run", "sh check.sh; true")
    status, shown = seen(proof, cwd=place.root, env={"TOKEN": TOKEN})
    assert (status, "running sh check.sh; true" in shown, "0:00:01" in shown) == (0, True, True)
    assert f"red line {'*' * len(TOKEN)}" in shown


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with three tasks."""
    place = GitPlace(tmp_path_factory.mktemp("tasks") / "repository")
    state = place.root / ".taskstate/tasks/task-101-state.md"
    for task in ("102", "103"):
        text = state.read_text(encoding="utf-8").replace("101", task)
        state.with_name(f"task-{task}-state.md").write_text(text, encoding="utf-8")
    place.commit("tasks")
    return place.root


def cold(root: Path) -> Path:
    """Return a repository without what earlier commands remembered of it."""
    for folder in (root / ".git/taskstate").glob("*/cache"):
        shutil.rmtree(folder)
    return root


@pytest.mark.parametrize(
    ("words", "doing"),
    [
        ("list", "reading tasks"),
        ("status", "reading tasks"),
        ("board", "reading tasks"),
        ("next", "reading tasks"),
        ("graph", "reading tasks"),
        ("chain status", "reading tasks"),
        ("chain pull --all", "reading tasks"),
        ("archive --check", "reading tasks"),
        ("archive --all", "reading tasks"),
        ("fmt --check", "formatting"),
        ("fmt", "formatting"),
        ("migrate", "reading"),
        ("lint", "checking"),
        ("lint --fix", "writing"),
        ("doctor", "checking"),
        ("doctor --fix", "mending"),
        ("search words", "searching"),
        ("report --output report.html", "reporting"),
    ],
)
def test_what_reads_all_tasks_shows_how_many(tasks: Path, words: str, doing: str) -> None:
    """With nothing remembered a command that goes through all tasks counts them on a terminal, and leaves no trace."""
    _, shown = seen((sys.executable, "-c", IMPATIENT.format(words=tuple(words.split()))), cwd=cold(tasks))
    assert re.search(rf"0:00:\d\d {doing} \S+ \d+/\d+", shown), shown
    left = re.sub(r"\r\x1b\[2K[^\x1b]*(?=\r\x1b\[2K)", "", shown)
    assert f" {doing} " not in left


@pytest.mark.parametrize("flags", [("--quiet",), ("--format", "json")])
def test_who_wants_no_words_gets_no_count(tasks: Path, flags: tuple[str, ...]) -> None:
    """Quietly, and in JSON, nothing is counted on a terminal."""
    _, shown = seen((sys.executable, "-c", IMPATIENT.format(words=("list", *flags))), cwd=cold(tasks))
    assert "reading" not in shown
    assert "\x1b" not in shown


def test_a_pipe_gets_no_count(tasks: Path) -> None:
    """Where standard error is no terminal, nothing is said of how far a command is."""
    words = IMPATIENT.format(words=("list",))
    done = subprocess.run((sys.executable, "-c", words), cwd=cold(tasks), capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_problem_stands_on_a_line_of_its_own(tasks: Path, tmp_path: Path) -> None:
    """What is said while a count is shown begins where the count was taken back."""
    root = tmp_path / "damaged"
    shutil.copytree(cold(tasks), root)
    (root / ".taskstate/tasks/task-103-state.md").write_bytes(b"\xff")
    _, shown = seen((sys.executable, "-c", IMPATIENT.format(words=("fmt",))), cwd=root)
    left = re.sub(r"\r\x1b\[2K[^\x1b]*(?=\r\x1b\[2K)", "", shown)
    assert "\x1b[2K.taskstate/tasks/task-103-state.md" in left or "\n.taskstate/tasks/task-103-state.md" in left, left

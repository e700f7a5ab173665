"""A writer that is killed at any instant loses nothing: `doctor --fix` and the same command again make it whole.

One that is told to end, as by Ctrl-C, needs neither.
"""

from __future__ import annotations

import contextlib
import errno
import io
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from taskstate.__main__ import main
from taskstate.setup.repository import RECORD
from taskstate.storage import files
from taskstate.tasks import sessions
from taskstate.workspace.workspace import find_workspace
from tests.support.crashing import KILL_EVERY, fail_from, forks, killed, told_to_end
from tests.support.place import files_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\dZ)?|\b\d{8}T\d{6}Z|\b[0-9a-f]{40,64}\b")
_COUNTS = re.compile(r"^( *(?:revision|update_count|file_size_kb)): \d+$|^Size: \d+ bytes$", re.MULTILINE)
_ADD = ("session", "add", "101", "--did", "work {}", "--issue", "none", "--state", "fine", "--next", "more")

_PHASE = ("phase", "add", "101", "1", "--name", "Tokens", "--objective", "Issue them")
_PLACE = ("--file", "taskstate.toml", "--location", "top", "--goal", "done")
_HANDOFF = ("handoff", "new", "101", "--action", "Go on.", *_PLACE)


class Job(NamedTuple):
    """A command that is killed at each of its steps, and the commands that run `before` it.

    `steps`: how many steps it has at least, so that a shim that no longer sees the disk is noticed. `by_hand` is a
    change of task 101 that no command makes; `stale`: to the text from before the last of those commands. `anew`: in a
    folder that is not set up yet. `work`: in a git repository, on work that nobody has committed. `every`: even where
    every step is asked for, it is killed only at one of so many, since it has very many.
    """

    before: tuple[tuple[str, ...], ...]
    command: tuple[str, ...]
    steps: int
    by_hand: tuple[str, str] = ("", "")
    stale: bool = False
    anew: bool = False
    work: bool = False
    every: int = 1


def _adding(*numbers: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(part.format(number) for part in _ADD) for number in numbers)


_IMPORT = ("import", "checklist", "list.md", "--split")
_LISTED = (
    "## Mill\n\n- [ ] axle\n",
    "## Mill\n\n- [ ] axle\n- [ ] wheel\n\n## Dam\n\n- [ ] gate\n\n## Road\n\n- [ ] sand\n",
)
_TAKE = ("snapshot", "take", "101", "--role", "implementer")
_CITED = '{"file": ".taskstate/tasks/task-102-state.md", "section": "1-static-context", "requirement": "r"}'
_CITING = f"### Standards\n\n```json\n[\n  {_CITED}\n]\n```\n\n"

# A job joins by being listed. What stands in it runs through the real command line.
JOBS = {
    "init": Job((), ("init", "--pre-commit"), 30, anew=True),
    "new": Job((), ("new", "103", "--title", "Third", "--description", "d", "--criterion", "c"), 8),
    "session add": Job(_adding(1), _adding(2)[0], 8),
    "feature pass": Job((), ("feature", "pass", "101", "jwt-1", "--evidence", "seen"), 8),
    "criterion check": Job(_adding(1), ("criterion", "check", "101", "1"), 8),
    "edit": Job((), ("edit", "101", "--title", "Tokens", "--description", "Other words."), 8),
    "first archive": Job(_adding(1, 2, 3), ("archive", "101", "--force", "--keep", "1"), 20),
    "next archive": Job(
        (*_adding(1, 2, 3), ("archive", "101", "--force", "--keep", "2")),
        ("archive", "101", "--force", "--keep", "1"),
        20,
    ),
    "decompose": Job(
        (("feature", "add", "101", "ui-1", "shows a form"), *_adding(1)), ("decompose", "101", "--apply"), 20
    ),
    "archive restore": Job(
        (
            *_adding(1, 2, 3),
            ("archive", "101", "--force", "--keep", "2"),
            ("archive", "101", "--force", "--keep", "1"),
        ),
        ("archive", "restore", "101"),
        20,
    ),
    "archive restore --all": Job(
        (*_adding(1, 2, 3), ("archive", "101", "--force", "--keep", "1")), ("archive", "restore", "101", "--all"), 20
    ),
    "complete": Job(
        (
            *_adding(1),
            ("new", "103", "--title", "Third", "--depends-on", "101", "--description", "d", "--criterion", "c"),
            ("feature", "pass", "101", "jwt-1", "--evidence", "seen"),
            ("criterion", "check", "101", "1"),
        ),
        ("complete", "101"),
        30,
        by_hand=("*To be completed.*", "Done."),
    ),
    "reopen": Job(
        (("complete", "101", "--force", "--note", "as far as it goes"),), ("reopen", "101", "--note", "more to do"), 8
    ),
    "drop": Job((*_adding(1), _TAKE, _HANDOFF), ("drop", "101", "--note", "given up"), 8, work=True),
    "chain pull": Job(
        (
            ("chain", "output", "set", "101", "summary", "--from", "taskstate.toml"),
            ("complete", "101", "--force", "--note", "as far as it goes"),
        ),
        ("chain", "pull", "102"),
        8,
    ),
    "snapshot take": Job((), _TAKE, 50, work=True, every=3),
    "snapshot resolve": Job((_TAKE,), ("snapshot", "resolve", "101", "--note", "meant so"), 50, work=True, every=4),
    "purge": Job((_TAKE,), ("purge", "101"), 8, work=True),
    "role set": Job(
        _adding(1), ("role", "set", "101", "implementer", "--status", "in_progress", "--qa-log", "taskstate.toml"), 16
    ),
    "role unblock": Job(
        (*_adding(1), ("role", "block", "101", "implementer", "--finding", "slow")),
        ("role", "unblock", "101", "implementer", "--all"),
        8,
    ),
    "qa record": Job(
        _adding(1),
        ("qa", "record", "101", "--from", "taskstate.toml", "--result", "test=2 passed, 1 failed", "--note", "late"),
        16,
    ),
    "evidence add": Job(
        _adding(1), ("evidence", "add", "101", "--type", "plan", "--path", "taskstate.toml", "--lines", "1-2"), 16
    ),
    "context init": Job((), ("context", "init", "101"), 20, by_hand=("## 2. Chain", f"{_CITING}## 2. Chain")),
    "import": Job((_IMPORT,), _IMPORT, 30),
    "lint --fix": Job((), ("lint", "--fix"), 8, by_hand=('"0%"', '"50%"')),
    "doctor --fix": Job(
        (*_adding(1, 2, 3), ("archive", "101", "--force", "--keep", "1"), *_adding(4)),
        ("doctor", "--fix"),
        8,
        by_hand=("## 6.", "<!-- by hand -->\n\n## 6."),
        stale=True,
    ),
    "handoff new": Job((_PHASE,), _HANDOFF, 20),
    "handoff accept": Job((_PHASE, _HANDOFF), ("handoff", "accept", "101"), 20),
    "reseal": Job((), ("doctor", "--reseal", "101", "--note", "as meant"), 8),
    "renumber": Job(
        (*_adding(1, 2, 3), ("archive", "101", "--force", "--keep", "1")), ("doctor", "renumber", "101", "7"), 30
    ),
}


def run(*arguments: str) -> tuple[int, str]:
    """Run a command in this process, and return its exit status and standard error."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as stderr:
        status = main([*arguments, "--quiet"] if arguments[0] != "doctor" else arguments)
    return status, stderr.getvalue()


@contextlib.contextmanager
def at(root: Path) -> Iterator[None]:
    """Work in the folder `root`."""
    with contextlib.chdir(root):
        yield


def content(root: Path) -> dict[str, str]:
    """Return the text of every file, with times and counts masked.

    The index saved with a snapshot is left out: it is binary and different each time. So is the record of what `init`
    put in: after a kill `doctor --fix` has put it in, and that is not for `init --remove` to take out.
    """
    return {
        _unmarked(path.relative_to(root).as_posix()): _unmarked(path.read_text(errors="surrogateescape"))
        for path in files_in(root)
        if not path.name.startswith("index-") and path.name != RECORD
    }


def _unmarked(text: str) -> str:
    return _COUNTS.sub(r"\1", _TIMES.sub("T", text))


def numbers(root: Path) -> list[int]:
    """Return the numbers of all sessions of the task that they were recorded in, whatever it is called now."""
    workspace = find_workspace(root, root=str(root))
    return [
        session.number
        for path in workspace.state_files()
        for session in sessions.all_sessions(workspace, path.name.removeprefix("task-").removesuffix("-state.md"))
    ]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a repository with two tasks, one of which depends on the other, and set an actor."""
    root = tmp_path_factory.mktemp("crashes") / "repository"
    root.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TASKSTATE_ACTOR", "somebody")
        patch.setattr("tempfile.tempdir", str(root.parent))  # who is killed leaves something there
        with at(root):
            assert run("init")[0] == 0
            parts = ("--description", "d", "--criterion", "c", "--feature", "jwt-1=makes a token")
            assert run("new", "101", "--title", "First", *parts)[0] == 0
            assert run("new", "102", "--title", "Second", "--depends-on", "101", *parts)[0] == 0
        yield root


@forks
@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_a_kill_at_any_step_is_mended(prepared: Path, tmp_path: Path, name: str) -> None:
    """After the kill, `doctor --fix` and the command again, all files are as after one or two runs, and lint clean."""
    job = JOBS[name]
    origin = tmp_path / "origin"
    make(origin, prepared, job)
    expected = [_after(origin, tmp_path / f"whole-{times}", job.command, times) for times in (1, 2)]
    every = max(job.every, KILL_EVERY)
    number = sorted(JOBS).index(name) % every
    died = True
    while died:
        number += every
        root = tmp_path / str(number)
        shutil.copytree(origin, root)
        with at(root):
            died = killed(lambda: run(*job.command), number, torn=number % 2 == 0)
            status, stderr = run("doctor", "--fix")
            assert status in {0, 1} or job.anew, stderr
            status, stderr = run(*job.command)
            assert status in {0, 1, 2}, stderr  # 2: what can be done once alone is done; 1: doctor, of git
            assert content(root) in expected, (number, stderr)
            assert run("lint")[0] == 0
        assert sorted(numbers(root)) == [*range(1, len(numbers(root)) + 1)]
        assert _unfinished(root) == []
        shutil.rmtree(root)
    assert number > job.steps


@forks
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, job in JOBS.items() if not (job.work or job.anew)])
def test_a_signal_at_any_step_leaves_all_or_nothing(prepared: Path, tmp_path: Path, name: str) -> None:
    """Told to end, a command leaves all of its change or none, nothing unfinished, and no temporary file."""
    job = JOBS[name]
    origin = tmp_path / "origin"
    make(origin, prepared, job)
    expected = [content(origin), _after(origin, tmp_path / "whole", job.command, 1)]
    number, status = sorted(JOBS).index(name) % KILL_EVERY, 143
    while status == 143:
        number += KILL_EVERY
        root = tmp_path / str(number)
        shutil.copytree(origin, root)
        with at(root):
            status = told_to_end(lambda: run(*job.command)[0], number)
        assert content(root) in expected, number
        assert _unfinished(root) == []
        shutil.rmtree(root)
    assert (number > job.steps, status) == (True, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("session add", errno.EROFS),
        ("session add", errno.EACCES),
        ("session add", errno.EIO),
        ("next archive", errno.ENOSPC),
    ],
)
def test_a_disk_that_refuses_is_one_clear_error(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int
) -> None:
    """From whatever step on the disk fails, the command reports it and leaves nothing half done, or was done before."""
    job = JOBS[name]
    origin = tmp_path / "origin"
    make(origin, prepared, job)
    before = content(origin)
    expected = [_after(origin, tmp_path / f"whole-{times}", job.command, times) for times in (1, 2)]
    number, done = 0, False
    while not done:
        number += 1
        root = tmp_path / str(number)
        shutil.copytree(origin, root)
        with at(root):
            with monkeypatch.context() as patch:
                fail_from(number, code, patch)
                status, stderr = run(*job.command)
            assert (status, stderr.count("\n")) in {(2, 1), (0, 0)}, stderr
            done = status == 0
            if done:
                assert content(root) == expected[0]
            elif "the next taskstate command finishes it" not in stderr:
                assert content(root) == before, (number, stderr)
            run("doctor", "--fix")
            run(*job.command)
            assert content(root) in expected, (number, stderr)
        shutil.rmtree(root)
    assert number > job.steps // 2


def _unfinished(root: Path) -> list[Path]:
    """Return the paths of temporary files and of plans that are not carried out."""
    return [path for path in root.rglob("*") if files.is_temporary(path.name) or path.name.startswith("pending-")]


def make(origin: Path, prepared: Path, job: Job) -> None:
    """Create the repository in which a job runs."""
    if job.anew:
        origin.mkdir()
    else:
        shutil.copytree(prepared, origin)
    path = origin / ".taskstate/tasks/task-101-state.md"
    if job.work:
        _work_in(origin)
    if job.command == _IMPORT:
        (origin / "list.md").write_text(_LISTED[0])
    text = ""
    with at(origin):
        for command in job.before:
            text = path.read_text() if path.exists() else ""
            assert run(*command)[0] == 0, command
    if job.command == _IMPORT:  # which adds to one task, and makes two others
        (origin / "list.md").write_text(_LISTED[1])
    if job.command[:2] == ("snapshot", "resolve"):
        (origin / "work.txt").write_text("more work\n")
    if any(job.by_hand):
        text = text if job.stale else path.read_text()
        assert job.by_hand[0] in text
        path.write_text(text.replace(*job.by_hand))


def _work_in(root: Path) -> None:
    """Make a git repository with a commit, and change something in it."""
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    (root / "work.txt").write_text("begun\n")
    for command in (("init", "--quiet"), ("add", "--all"), (*identity, "commit", "--quiet", "--message=begin")):
        subprocess.run(["git", *command], cwd=root, check=True)
    (root / "work.txt").write_text("work\n")


def _after(origin: Path, root: Path, command: tuple[str, ...], times: int) -> dict[str, str]:
    """Return the content after the command ran to its end `times` times."""
    shutil.copytree(origin, root)
    with at(root):
        for _ in range(times):
            run(*command)
    return content(root)

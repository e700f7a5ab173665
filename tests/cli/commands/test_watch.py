"""`lint --watch` as a real process next to a user who edits files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from queue import Empty, Queue
from typing import IO, TYPE_CHECKING, Self

import pytest

from taskstate.cli.commands import watch as watching
from taskstate.operations.result import Result
from tests.support.terminal import seen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.place import Place

TITLE = ("# Task #101: JWT Service", "# Task #101: JWT service")
BACK = (TITLE[1], TITLE[0])
PATIENCE = 30  # seconds within which something is to happen; most takes a tenth of one


class Watch:
    """A process that watches, and what it says."""

    def __init__(self, place: Place, *arguments: str) -> None:
        self.place = place
        self.process = subprocess.Popen(
            [sys.executable, "-m", "taskstate", "lint", "--watch", *arguments],
            cwd=place.root,
            env=os.environ | {"TASKSTATE_ACTOR": "somebody"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        self._lines: Queue[str] = Queue()
        assert self.process.stdout
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(timeout=PATIENCE)
        self._reader.join(timeout=PATIENCE)

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line)

    def round(self) -> str:
        """Return what is said up to the line that says that the next change is waited for."""
        text = ""
        until = time.monotonic() + PATIENCE
        while "Watching; Ctrl-C ends." not in text:
            try:
                text += self._lines.get(timeout=max(0, until - time.monotonic()))
            except Empty:
                pytest.fail(f"nothing more was said than {text!r}")
        return text

    def says(self, what: str) -> bool:
        """Return whether a round says this, at the latest the one after everything else has been seen.

        A machine with much to do may come between two writes of one change, which are two changes then.
        """
        while what not in self.round():
            pass
        return True

    def is_silent(self, seconds: float = 1.0) -> bool:
        """Return whether nothing is printed for a while."""
        try:
            self._lines.get(timeout=seconds)
        except Empty:
            return True
        return False

    def end(self) -> int:
        """End it as Ctrl-C does, and return the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture
def watch(place: Place) -> Iterator[Watch]:
    """Return a process that watches the whole repository."""
    with Watch(place) as one:
        yield one


@pytest.mark.slow
def test_changes_are_linted_until_ctrl_c(watch: Watch) -> None:
    """A finding comes and goes with the edits, a broken configuration and a missing file are survived."""
    place = watch.place
    assert watch.says("No findings in 1 file.")
    place.text = place.text.replace(*TITLE)
    assert watch.says("TS206")
    place.text = place.text.replace(*BACK)
    assert watch.says("No findings in 1 file.")
    place.configure("[lint]\nslect = []\n")
    assert watch.says("did you mean `select`?")
    place.configure('[lint]\nignore = ["TS206"]\n')
    assert watch.says("No findings")
    place.path.write_bytes(b"\xff")
    assert watch.says("TS001")
    place.path.unlink()
    assert watch.says("No findings in 0 files.")
    assert watch.end() == 130
    assert watch.is_silent(0.1), "Ctrl-C says nothing"


@pytest.mark.slow
def test_what_does_not_concern_us_is_not_linted(watch: Watch) -> None:
    """Other files come and go without a word; what linting itself remembers is no change either."""
    watch.round()
    root = watch.place.root
    (root / "main.py").write_text("x", encoding="utf-8")
    (root / ".git").mkdir(exist_ok=True)
    (root / ".git" / "index").write_text("x", encoding="utf-8")
    (root / "node_modules" / "x").mkdir(parents=True)
    assert watch.is_silent()


@pytest.mark.slow
def test_a_folder_that_is_moved_in_counts(watch: Watch, tmp_path: Path) -> None:
    """A folder with task files that arrives or leaves as a whole is seen."""
    watch.round()
    (tmp_path / "new").mkdir()
    text = watch.place.text.replace('task_id: "101"', 'task_id: "7"').replace("#101", "#7")
    (tmp_path / "new" / "task-7-state.md").write_text(text, encoding="utf-8")
    (tmp_path / "new").rename(watch.place.root / "new")
    assert watch.says("No findings in 2 files.")
    (watch.place.root / "new").rename(tmp_path / "new")
    assert watch.says("No findings in 1 file.")


@pytest.mark.slow
def test_a_named_file_is_watched_with_fixes(place: Place) -> None:
    """With --fix each change is fixed, which is no endless loop; a file that is missing is reported and waited for."""
    with Watch(place, "--fix", str(place.path)) as one:
        one.round()
        place.text = place.text.replace(*TITLE)
        assert one.says("fixed TS206")
        assert TITLE[0] in place.text
        while not one.is_silent():
            pass
        text = place.text
        place.path.unlink()
        assert one.says("does not exist")
        place.path.write_text(text, encoding="utf-8")
        assert one.says("No findings in 1 file.")
        assert one.end() == 130


@pytest.mark.slow
def test_a_terminal_is_cleared(place: Place) -> None:
    """On a terminal each round begins on an empty screen; a pipe gets one round below the other."""
    command = f"timeout --signal INT 3 {sys.executable} -m taskstate lint --watch"
    status, shown = seen(("sh", "-c", command), cwd=place.root)
    assert status == 124
    assert "\x1b[2J" in shown
    assert "Watching; Ctrl-C ends." in shown


def test_what_cannot_be_watched_is_told(place: Place) -> None:
    """A folder that is missing is refused with one line."""
    command = [sys.executable, "-m", "taskstate", "lint", "--watch", "nowhere/task-1-state.md"]
    done = subprocess.run(command, cwd=place.root, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "cannot watch" in done.stderr


@pytest.mark.parametrize(
    ("path", "concerns"),
    [
        ("/r/tasks/task-101-state.md", True),
        ("/r/task-101-archive.md", True),
        ("/r/pyproject.toml", True),
        ("/r/taskstate.toml", True),
        ("/r/named.txt", True),
        ("/r/main.py", False),
        ("/r/.taskstate/private/cache/x.json", False),
        ("/r/.taskstate/private", False),
        ("/r/.git/HEAD", False),
        ("/r/gone", True),
    ],
)
def test_what_is_relevant_us(path: str, concerns: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Our own files by name, the configuration, what was named, and folders that come or go."""
    assert watching._is_relevant(path, frozenset({"/r/named.txt"}), "") is concerns  # noqa: SLF001 - what all else needs time for


def test_another_configuration_is_relevant_us(tmp_path: Path) -> None:
    """A configuration that --config names is watched for, if it lies where we look."""
    other = str(tmp_path / "other.toml")
    assert watching._is_relevant(other, frozenset(), other)  # noqa: SLF001 - the same
    assert not watching._is_relevant(other, frozenset(), "")  # noqa: SLF001 - the same


def test_folders_are_watched_once(tmp_path: Path) -> None:
    """Of folders in one another only the outermost is watched."""
    inner = tmp_path / "a" / "b"
    assert watching._outermost([inner, tmp_path, inner]) == [tmp_path]  # noqa: SLF001 - the same


WHOLE = "a\nb\nc\nd"


@pytest.mark.parametrize(("height", "shown"), [(0, WHOLE), (6, WHOLE), (5, "a\nb\n\u2026 2 more lines; ")])
def test_the_head_of_a_view_stays_on_a_screen_us(height: int, shown: str) -> None:
    """A screen of its own cannot be scrolled back: what is too much for it is left out at the end."""
    cut = watching._cut(Result(None, WHOLE), height, 2).text  # noqa: SLF001 - the same
    assert cut.partition("without")[0] == shown

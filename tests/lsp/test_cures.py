"""The cures that are commands, taken in the editor: the files are then what the command line makes of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support.git_place import GitPlace
from tests.support.language_client import LanguageClient

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STATE = ".taskstate/tasks/task-101-state.md"
pytestmark = pytest.mark.slow
# What two runs at different times never share: the moments, and what is computed from them.
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|(?m:^  seal: .*$)|(?<=Archived on: ).*|(?<=\d )\d{4}-\d\d-\d\d \d\d:\d\d"
)


def taskstate(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a repository, under the name of the editor's user."""
    return subprocess.run(
        [sys.executable, "-m", "taskstate", *arguments],
        cwd=root,
        env=os.environ | {"TASKSTATE_ACTOR": "tester"},
        capture_output=True,
        text=True,
        check=False,
    )


def must(root: Path, *arguments: str) -> str:
    """Run a command that succeeds, and return what it prints."""
    done = taskstate(root, *arguments)
    assert done.returncode == 0, done
    return done.stdout


def files(root: Path) -> dict[str, str]:
    """Return the files of a repository by path, without git's own and the moments of the writes."""
    paths = (path for path in sorted(root.rglob("*")) if path.is_file() and ".git" not in path.parts)
    return {
        path.relative_to(root).as_posix(): _MOMENT.sub("TIME", path.read_bytes().decode("latin-1")) for path in paths
    }


def too_large(place: GitPlace) -> None:
    """Let the file be larger than its limit, by sessions that were recorded before there was one."""
    for number in range(12):
        place.add(f"Did {number}")
    place.write("taskstate.toml", "[size]\nmax-kb = 2\nwarn-kb = 1\nkeep-sessions = 2\n")


def nearly_too_large(place: GitPlace) -> None:
    """Let the file be larger than what is worth a warning."""
    for number in range(8):
        place.add(f"Did {number}{' and so on' * 100}")
    place.write("taskstate.toml", "[size]\nmax-kb = 40\nwarn-kb = 7\nkeep-sessions = 2\n")


def without_input(place: GitPlace) -> None:
    """Let the task build on one that is complete, whose output it does not have."""
    must(place.root, "new", "100", "--title", "Schema", "--description", "d", "--criterion", "c")
    must(place.root, "session", "add", "100", "--did", "a", "--state", "fine", "--next", "go on")
    must(place.root, "criterion", "check", "100", "1")
    for part in ("summary", "api"):
        place.write("part.md", f"The {part}.\n")
        must(place.root, "chain", "output", "set", "100", part, "--from", "part.md")
    must(place.root, "complete", "100")
    text = (place.root / STATE).read_text(encoding="utf-8")
    place.write(STATE, text.replace("\ncreated_at", '\ndepends_on: ["100"]\ncreated_at', 1))


def same_id(place: GitPlace) -> None:
    """Let another branch have brought a second file with the id."""
    text = (place.root / STATE).read_text(encoding="utf-8")
    place.write("zold/task-101-state.md", text.replace("JWT Service", "Other"))
    must(place.root, "new", "300", "--title", "Far", "--description", "d", "--criterion", "c")


def not_utf8(place: GitPlace) -> None:
    """Let a file be damaged that a command wrote."""
    place.add("Did 1")
    path = place.root / STATE
    path.write_bytes(path.read_bytes().replace(b"Did 1", b"Did \xff"))


def moved_citation(place: GitPlace) -> None:
    """Let a cited section stand on other lines than when it was cited."""
    place.write("standards/b.md", "# B\n\n## Rule\n\nShort lines.\n")
    place.write("taskstate.toml", '[[standards]]\ncite = ["standards/b.md#rule"]\n')
    must(place.root, "context", "init", "101")
    place.write("standards/b.md", "# B\n\nMore.\n\n## Rule\n\nShort lines.\n")


def archived(place: GitPlace) -> None:
    """Let older sessions be in the archive."""
    for number in range(8):
        place.add(f"Did {number}")
    must(place.root, "archive", "101", "--force", "--keep", "2")


@dataclass(frozen=True)
class Case:
    """A fault, the finding's code, the title of its action, and the command line that does the same."""

    make: Callable[[GitPlace], None]
    code: str
    title: str
    command: tuple[str, ...]
    path: str = STATE


CASES = (
    Case(too_large, "TS502", "Archive older sessions", ("archive", "101")),
    Case(nearly_too_large, "TS501", "Archive older sessions now", ("archive", "101", "--force")),
    Case(without_input, "TS903", "Pull the output of task 100", ("chain", "pull", "101", "--from", "100")),
    Case(
        same_id,
        "TS011",
        "Renumber this task to 301",
        ("doctor", "renumber", "zold/task-101-state.md", "301"),
        "zold/task-101-state.md",
    ),
    Case(moved_citation, "TS603", "Bring the citations up to date", ("lint", "--fix", STATE)),
)


def files_as_bytes(root: Path) -> dict[str, bytes]:
    """Return the bytes of each file, without git's own."""
    paths = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path.resolve() / "editor")


def copied(place: GitPlace) -> Path:
    """Return a copy of a repository, for the command line."""
    other = place.root.parent / "terminal"
    shutil.copytree(place.root, other, symlinks=True)
    return other


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.make.__name__}")
def test_an_action_does_what_its_command_does(place: GitPlace, case: Case) -> None:
    """It is offered at the finding, which it mends; then every file is as the command line leaves it."""
    case.make(place)
    other, damaged = copied(place), files_as_bytes(place.root)
    with LanguageClient(place.root) as client:
        client.open(case.path)
        client.until(lambda: case.code in [each["code"] for each in client.shown(case.path)])
        (finding, *_) = [each for each in client.shown(case.path) if each["code"] == case.code]
        actions = client.actions(case.path, finding["range"]["start"]["line"])
        (action, *_) = [each for each in actions if each["title"].startswith(case.title)]
        assert files_as_bytes(place.root) == damaged, "offering changes nothing"
        answer = client.run(action["command"]["command"], *action["command"]["arguments"])
    assert answer["success"], answer
    must(other, *case.command)
    assert files(place.root) == files(other)
    assert case.code not in taskstate(place.root, "lint").stdout


@pytest.mark.parametrize(
    ("make", "command", "line"),
    [
        (archived, "taskstate.restore", ("archive", "restore", "101")),
        (not_utf8, "taskstate.bringBack", ("doctor", "--fix")),
    ],
    ids=["restore", "bring-back"],
)
def test_a_command_for_a_file_that_is_not_open(
    place: GitPlace, make: Callable[[GitPlace], None], command: str, line: tuple[str, ...]
) -> None:
    """Archived sessions, and the text of a file that no editor can open, come back as on the command line."""
    make(place)
    other, before = copied(place), files_as_bytes(place.root)
    with LanguageClient(place.root) as client:
        answer = client.run(command, client.uri(STATE))
    assert answer["success"], answer
    must(other, *line)
    assert files(place.root) == files(other)
    assert files_as_bytes(place.root) != before
    assert taskstate(place.root, "lint").returncode == 0


# Which repositories a command may write in


def other_place(place: GitPlace) -> GitPlace:
    """Return another repository beside the editor's, with archived sessions."""
    other = GitPlace(place.root.parent / "other")
    archived(other)
    return other


@pytest.mark.parametrize("way", ["closed", "open", "through a link", "with a detour"])
def test_a_command_writes_in_no_other_repository(place: GitPlace, way: str) -> None:
    """A file of a repository that the editor does not work in may be open: no command writes there."""
    other = other_place(place)
    before = files_as_bytes(other.root), files_as_bytes(place.root)
    (place.root / "link").symlink_to(other.root)
    at = {"through a link": place.root / "link", "with a detour": place.root / "../other"}.get(way, other.root)
    with LanguageClient(place.root) as client:
        if way == "open":
            client.open(f"../other/{STATE}")
        answer = client.run("taskstate.restore", f"file://{at}/{STATE}")
        (place.root / "link").unlink()
    assert not answer["success"]
    assert "in no repository that the editor works in" in answer["message"]
    assert (files_as_bytes(other.root), files_as_bytes(place.root)) == before


@pytest.mark.parametrize("folders", [("editor", "other"), ("other/.taskstate/tasks",), (".",)], ids=str)
def test_a_command_serves_every_folder_of_the_editor(place: GitPlace, folders: tuple[str, ...]) -> None:
    """It works in several folders, in a part of a repository, or in one with several repositories in it."""
    other = other_place(place)
    opened = [place.root.parent / name for name in folders]
    with LanguageClient(place.root, folders=opened) as client:
        answer = client.run("taskstate.restore", (other.root / STATE).as_uri())
    assert answer["success"], answer


def test_a_folder_that_is_opened_later_counts(place: GitPlace) -> None:
    """The editor says which folders come and go."""
    other = other_place(place)
    folder = {"uri": other.root.as_uri(), "name": "other"}
    with LanguageClient(place.root) as client:
        client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
        came = client.run("taskstate.restore", (other.root / STATE).as_uri())
        client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
        went = client.run("taskstate.archive", (other.root / STATE).as_uri(), "force")
    assert came["success"], came
    assert not went["success"]


@pytest.mark.parametrize("is_open", [True, False])
def test_an_editor_without_folders_serves_what_it_has_open(place: GitPlace, *, is_open: bool) -> None:
    """Such an editor was started for single files."""
    archived(place)
    with LanguageClient(place.root, folders=()) as client:
        if is_open:
            client.open(STATE)
        answer = client.run("taskstate.restore", client.uri(STATE))
    assert answer["success"] == is_open

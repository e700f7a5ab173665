"""The files of a commit: what is there, how links lead, and that nothing but git's objects is read."""

from __future__ import annotations

import os
import pickle
import shutil
import zlib
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.lint.runner import LintRequest, check_files, open_run
from taskstate.storage import file_state
from taskstate.storage.commit_files import CommitFiles, open_commit
from taskstate.storage.file_sources import DISK
from taskstate.storage.git import client as git
from taskstate.workspace.workspace import find_workspace
from tests.support.git_place import GitPlace
from tests.support.place import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.storage.file_sources import Files

LINKS = {
    "linked": "src",
    "deep/up": "../src/b.py",
    "out": "/etc",
    "above": "../..",
    "circle": "circle",
    "ping": "pong",
    "pong": "ping/x",
    "nowhere": "src/none",
    "dots": "./src/../src/./b.py",
    "far/below/here": "../../src",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> GitPlace:
    """Return a repository with links and a submodule, whose working tree is empty, and a clone beside it."""
    place = GitPlace(tmp_path_factory.mktemp("commit") / "w")
    for name, target in LINKS.items():
        (place.root / name).parent.mkdir(parents=True, exist_ok=True)
        (place.root / name).symlink_to(target)
    place.write(b"f\xff/x", "x")
    place.git("add", "--all")
    place.git("update-index", "--add", "--cacheinfo", f"160000,{place.git('rev-parse', 'HEAD')},module")
    place.git("commit", "--quiet", "--message=links")
    place.clone(place.root.parent / "clone")
    place.git("rm", "-r", "--quiet", "--cached", ".")
    place.git("clean", "-fdxq")
    return place


@pytest.fixture(scope="module")
def commit(place: GitPlace) -> Iterator[CommitFiles]:
    """Yield the files of its commit."""
    found = open_commit(place.root, "HEAD")
    yield found
    found.close()


PATHS = (
    *LINKS,
    *("src", "src/b.py", "src/none", "linked/b.py", "deep", "module", "module/x", "f\udcff/x", "src/../a.txt"),
    *("..", "../x", "circle/x", "nowhere/x", "linked/../a.txt", "src/b.py/x", "deep/up/x", "none/../../x"),
)


def _answers(root: Path, source: Files, path: str) -> list[object]:
    """Return what a source says of a path, where it refuses: code and message."""
    part = partial(source.read_part, length=3)
    asked = (source.exists, source.is_folder, source.size, source.names, source.read, part)
    answers: list[object] = []
    for ask in asked:
        try:
            answers.append(ask(root / path))
        except TaskstateError as error:
            answers.append((error.code, error.message.replace(str(root), "HERE")))
    return answers


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_what_it_is_in_a_clone(place: GitPlace, commit: CommitFiles, path: str) -> None:
    """What is there, its content, and where links lead are those of a clone, and so are the refusals."""
    clone = place.root.parent / "clone"
    if Path(os.path.normpath(clone / path)).is_relative_to(clone):  # beyond, a clone has what a commit does not know
        assert _answers(place.root, commit, path) == _answers(clone, DISK, path)
    real, there = commit.real(str(place.root / path)), os.path.realpath(clone / path)
    is_inside = Path(there).is_relative_to(clone)
    assert Path(real).is_relative_to(place.root) == is_inside
    if is_inside and path not in {"circle", "circle/x", "ping", "pong"}:  # the system stops somewhere on the way
        assert os.path.relpath(real, place.root) == os.path.relpath(there, clone)


PATTERNS = (
    *("src/*.py", "**/*.py", "**", "*", "src/**/x.py", "none/*", "f?/x", "**/deep", "[ab].txt", "src/", "./a*"),
    *("fa?", "fa?/*/here", "**/**/b.py", "src/**/**", "*/**/no-such-name", "src/b.py"),
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_matches_as_on_disk(place: GitPlace, commit: CommitFiles, pattern: str) -> None:
    """A pattern matches what it does in a clone."""
    clone = place.root.parent / "clone"
    assert file_state.exists(place.root, pattern, commit) == file_state.exists(clone, pattern)


def test_a_pattern_of_a_stranger_takes_no_time(tmp_path: Path) -> None:
    """Many `**` over a deep path are gone through once, not in each of their ways."""
    place = GitPlace(tmp_path / "w")
    (place.root / "/".join("d" * 60)).mkdir(parents=True)
    (place.root / "/".join("d" * 60) / "x").touch()
    place.git("add", "--all")
    place.git("commit", "--quiet", "--message=deep")
    with closing(open_commit(place.root, "HEAD")) as commit:
        assert not commit.has_match(place.root, "**/d/" * 30 + "none")
        assert commit.has_match(place.root, "**/d/" * 30 + "x")


def test_another_process_reads_the_same(place: GitPlace, commit: CommitFiles) -> None:
    """The files of a commit can be handed to another process, which starts its own git."""
    with closing(pickle.loads(pickle.dumps(commit))) as other:  # noqa: S301 - our own
        assert other.read(place.root / "a.txt") == commit.read(place.root / "a.txt")


def test_a_mark_is_the_id_of_the_blob(place: GitPlace, commit: CommitFiles) -> None:
    """The mark of a file is the id that git has for its content; there is none for what is not there."""
    assert commit.mark(place.root / "a.txt") == place.git("rev-parse", "HEAD:a.txt")
    assert commit.mark(place.root / "none") == commit.mark("/etc/passwd") == ""


def _loose(place: GitPlace, object_id: str) -> Path:
    return place.root / ".git" / "objects" / object_id[:2] / object_id[2:]


@pytest.mark.parametrize("init", [(), ("--object-format=sha256",)])
def test_content_that_is_not_what_its_id_says_is_refused(tmp_path: Path, init: tuple[str, ...]) -> None:
    """Git gives a loose object with another content without a word; here it is an error, and so is a lost one."""
    place = GitPlace(tmp_path / "w", init=init)
    path, object_id = place.root / "a.txt", place.git("rev-parse", "HEAD:a.txt")
    loose = _loose(place, object_id)
    loose.chmod(0o600)
    loose.write_bytes(zlib.compress(b"blob 14\0one\ntwo\nthred\n"))
    with closing(git.Objects(place.root)) as objects:
        found = CommitFiles(place.root, place.git("rev-parse", "HEAD"), objects)
        assert refusal(lambda: found.read(path)).message == f"the object {object_id} of {path} is corrupt"
    loose.unlink()
    with closing(git.Objects(place.root)) as objects:
        found = CommitFiles(place.root, place.git("rev-parse", "HEAD"), objects)
        assert object_id in refusal(lambda: found.read(path)).message


def test_objects_are_read_from_a_folder_that_is_named(tmp_path: Path) -> None:
    """A whole lint works in an empty git folder of ours, and reads nothing of the repository but its objects."""
    place = GitPlace(tmp_path / "w")
    place.text = place.text.replace("# Task #101: JWT Service", "# Task #101: JWT service")
    commit = place.commit("built")
    empty = tmp_path / "empty"
    for folder in ("refs", "objects"):
        (empty / folder).mkdir(parents=True)
    (empty / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    objects = (place.root / ".git" / "objects").rename(tmp_path / "objects")
    shutil.rmtree(place.root)
    there = {"GIT_DIR": str(empty), "GIT_OBJECT_DIRECTORY": str(objects)}
    source = CommitFiles(Path("/nowhere/x.git"), commit, git.Objects(empty, there))
    workspace = find_workspace(source.root, source=source)
    request = LintRequest("2026-02-01T00:00:00Z", remember=False, jobs=1)
    run, remarks = open_run(workspace, workspace.config, request)
    report = check_files(workspace.own_files(), run)
    run.repository.close()
    assert (remarks, report.unreadable, report.files) == ((), (), 1)
    assert [each.diagnostic.code for each in report.findings] == ["TS206"]

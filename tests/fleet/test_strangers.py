"""A stranger's bare repository harms nobody: each trick is a row that says what is wrong, and the others are read."""

from __future__ import annotations

import os
import shutil
import tempfile
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from taskstate.fleet import heads, manifest, objects, parts, run, sources
from taskstate.model.config import Fleet, Query
from taskstate.query import engine, questions
from taskstate.storage import folders
from tests.support.bare_repositories import NOW, TASKS, TRICKS, bare, loose, replaced_by_fifo, tasks
from tests.support.place import refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CONFIG = "taskstate.toml"
ODD = f"{TASKS}/task-7\n\x1b[31m-state.md"
# What a commit holds, what the row of the repository says, and how many rows in `files` it has.
HELD: dict[str, tuple[dict[str, Any], str, str, int]] = {
    "no-own-files": ({"README.md": b"x"}, "ok", "", 0),
    "not-utf8": ({f"{TASKS}/task-1-state.md": b"\xff\xfe"}, "ok", "", 1),
    "newer": ({f"{TASKS}/task-1-state.md": b"---\ntaskstate: 99\n---\n"}, "ok", "", 1),
    "links": ({f"{TASKS}/task-1-state.md": ("120000", b"/etc/passwd")}, "ok", "", 1),
    "submodule": ({f"{TASKS}/task-1-state.md": ("160000", b"1" * 40)}, "ok", "", 1),
    "odd-names": ({ODD: b"---\n---\n", **tasks(1)}, "ok", "", 2),
    "config-wrong": ({CONFIG: b"root = 3\n", **tasks(1)}, "error", "config: ", 0),
    "config-link": ({CONFIG: ("120000", b"/etc/passwd"), **tasks(1)}, "error", CONFIG, 0),
    "kind-wrong": ({".taskstate/kinds/x.json": b"[", **tasks(1)}, "error", ".taskstate/kinds/x.json", 0),
    "large": ({f"{TASKS}/task-1-state.md": b"x" * 25 * 1024**2}, "ok", "", 1),
    "too-many": (tasks(4), "error", "it has 4 files of taskstate's own, more than 3", 0),
    "sha256": (tasks(1), "ok", "", 1),
}


class Seen(NamedTuple):
    """An index of strangers' repositories."""

    folder: Path
    out: Path
    outcome: run.Outcome
    repos: dict[str, dict[str, Any]]


def rows(out: Path, sql: str) -> list[dict[str, Any]]:
    """Return what an index answers."""
    bounds = engine.Bounds(Query().memory_mb, 1, 30)
    with manifest.asking(str(out), bounds) as connection:
        answer = engine.ask(connection, sql, {}, bounds)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Return the index of all strangers at once, which took no longer than one would."""
    folder = tmp_path_factory.mktemp("strangers")
    mirrors = folder / "m"
    mirrors.mkdir()
    for name, (trick, _, _) in TRICKS.items():
        trick(bare(mirrors / name, tasks(2)))
    for name, (held, *_) in HELD.items():
        bare(mirrors / name, held, *(["--object-format=sha256"] if name == "sha256" else []))
    request = run.Request([str(mirrors)], folder, NOW, jobs=2, keep_errors=True)
    bounds = Fleet(most_files=3, repository_seconds=60)
    outcome = run.index(folder / "out", request, bounds, lambda *_: None)
    repos = {row["repo"]: row for row in rows(folder / "out", "FROM repos")}
    return Seen(folder, folder / "out", outcome, repos)


@pytest.mark.parametrize("name", [*TRICKS, *HELD])
def test_what_is_wrong_is_a_row(seen: Seen, name: str) -> None:
    """The repository has one row with its status, which says in our words what is wrong, and no other rows then."""
    status, says, files = (*TRICKS[name][1:], 2) if name in TRICKS else HELD[name][1:]
    row = seen.repos[name]
    assert (row["status"], row["error"] is None) == (status, status != "error"), row
    assert says in (row["error"] or "")
    assert str(seen.out) not in str(row["error"])
    there = [each for each in rows(seen.out, "SELECT repo FROM files") if each["repo"] == name]
    assert len(there) == row["files"] == (files if status == "ok" else 0)


def test_nothing_of_a_stranger_ran(seen: Seen) -> None:
    """No program that a repository names was started, and nothing is left of the work on it."""
    assert not (seen.folder / "ran").exists()
    assert {path.name for path in seen.folder.iterdir()} <= {
        "m",
        "out",
        "secret",
        "moved-objects-link",
        "moved-pack-link",
    }
    assert [path.name for path in (seen.out / parts.FOLDER).iterdir() if path.name.endswith(".tmp")] == []
    assert {each["status"] for each in seen.outcome.errors} == {"error"}


def test_what_is_no_plain_file_is_not_followed(seen: Seen) -> None:
    """A link and a submodule in the place of a state file are rows that say so, with nothing of what they name."""
    found = rows(seen.out, "SELECT repo, state, is_read, sha256 FROM files WHERE repo IN ('links', 'submodule')")
    assert {(row["repo"], row["state"]) for row in found} == {("links", "is-link"), ("submodule", "not-a-file")}
    assert not any(row["is_read"] or row["sha256"] for row in found)


def test_the_question_for_errors_lists_what_was_not_read(seen: Seen) -> None:
    """Repositories stand in it with their reason, before the files that could not be read."""
    found = rows(seen.out, questions.question("errors").sql)
    broken = {row["repo"]: row["error"] for row in found if row["path"] is None}
    assert broken == {each["repo"]: each["error"] for each in seen.outcome.errors}
    assert {row["state"] for row in found if row["repo"] == "large"} == {"too-large"}


def test_an_index_is_for_its_owner_alone(seen: Seen) -> None:
    """Titles and messages of all repositories stand in it: the folder is for this user."""
    assert seen.out.stat().st_mode & 0o777 == 0o700
    assert (seen.out / parts.FOLDER).stat().st_mode & 0o777 == 0o700


def test_objects_that_may_not_be_read_are_told_in_our_words(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git would say that our own folder is no repository."""
    monkeypatch.setattr(folders, "may", lambda *_: False)
    place = str(seen.folder / "m" / "detached" / "objects")
    told = refusal(lambda: objects.opened(seen.folder, place, "0" * 40, frozenset({str(seen.folder)})))
    assert told.message == f"the objects in {place} may not be read"


@pytest.mark.parametrize("ref", ["main", "refs/heads/main", "COMMIT"])
def test_a_branch_or_a_commit_is_read_in_place_of_head(seen: Seen, ref: str) -> None:
    """What is named in a list of sources is looked up as HEAD is."""
    place = str(seen.folder / "m" / "head-to-nothing")
    commit = seen.repos["detached"]["head"]
    repository = sources.Repository("x", place, place, commit if ref == "COMMIT" else ref)
    assert heads.read(repository, frozenset({str(seen.folder)})).commit == commit


def test_a_branch_that_is_not_there_is_an_error(seen: Seen) -> None:
    """It is told, and no other commit is taken."""
    place = str(seen.folder / "m" / "detached")
    for ref in ("none", "../../x", "-x\x1b"):
        head = heads.read(sources.Repository("x", place, place, ref), frozenset({str(seen.folder)}))
        assert (head.status, head.commit) == ("error", "")
        assert "\x1b" not in head.error


def _leads(to: str) -> Callable[[Path], object]:
    return lambda place: (place / ".git").write_text(f"gitdir: {to}\n", "utf-8")


# What is made in a folder, the status of the repository there, and what is said of it.
GIT_FILES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "inside": (_leads("../detached"), "ok", ""),
    "outside": (_leads("../../../detached"), "error", "lies outside of the sources"),
    "to-itself": (_leads(".git"), "error", "is not a folder"),
    "fifo": (lambda place: os.mkfifo(place / ".git"), "error", "is a FIFO"),
    "link": (lambda place: (place / ".git").symlink_to("../detached"), "error", "is a symbolic link"),
    "empty": (lambda place: (place / ".git").mkdir(), "error", "does not exist"),
    "noise": (lambda place: (place / ".git").write_bytes(b"\0\xff"), "error", "names no git folder"),
}


@pytest.mark.parametrize("name", GIT_FILES)
def test_a_git_file_leads_to_no_place_outside(seen: Seen, tmp_path: Path, name: str) -> None:
    """That of a linked worktree is followed below the sources; what else stands there is said."""
    make, status, says = GIT_FILES[name]
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "detached").symlink_to(seen.folder / "m" / "detached")
    place = tmp_path / "m" / "x"
    place.mkdir()
    make(place)
    (repository,) = sources.find([str(place)], tmp_path).repositories
    head = heads.read(repository, frozenset({str(tmp_path / "m"), str(seen.folder / "m")}))
    assert (head.status, says in head.error) == (status, True), head


def test_packed_references_are_searched_in_time_and_memory(seen: Seen, tmp_path: Path) -> None:
    """The command reads them itself, for all repositories: sixty megabytes of line ends cost what they hold, once."""
    root = tmp_path / "x"
    shutil.copytree(seen.folder / "m" / "packed-only", root)
    packed = (root / "packed-refs").read_bytes()
    (root / "packed-refs").write_bytes(b"\n" * (60 * 1024**2) + packed)
    tracemalloc.start()
    head = heads.read(sources.Repository("x", str(root), str(root)), frozenset({str(tmp_path)}))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (head.status, head.commit) == ("ok", seen.repos["packed-only"]["head"])
    assert most < 200 * 1024**2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user for a while")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        (".", "permission denied"),
        ("HEAD", "permission denied"),
        ("objects", "may not be read"),
        ("objects/pack", "cannot be listed: Permission denied"),
    ],
)
def test_who_has_no_rights_is_told_so(seen: Seen, name: str, says: str) -> None:
    """A git folder, and what is in it, that only its owner may read is an error that says so."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        root = Path(folder, "x")
        shutil.copytree(seen.folder / "m" / "packed-only", root)
        Path(folder).chmod(0o755)
        root.chmod(0o755)
        (root / name).chmod(0o600)
        os.setresuid(65534, 65534, 0)
        try:
            roots = frozenset({folder})
            head = heads.read(sources.Repository("x", str(root), str(root)), roots)
            told = head.error or refusal(lambda: objects.opened(Path(), head.objects, head.commit, roots)).message
        finally:
            os.setresuid(0, 0, 0)
    assert says in told


def hung(folder: Path) -> None:
    """Make a repository on which git waits for ever."""
    bare(folder, tasks(1))
    replaced_by_fifo(loose(folder, f"main:{TASKS}/task-1-state.md"))


def vast(folder: Path) -> None:
    """Make a repository with a file that takes much memory to read."""
    ((name, text),) = tasks(1).items()
    bare(folder, {name: text + b"\n- x `a` **b**\n" * 1_500_000})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "bounds", "error"),
    [
        (hung, Fleet(repository_seconds=2), "it took longer than 2 s"),
        pytest.param(
            vast,
            Fleet(repository_seconds=90, worker_mb=400),
            "it takes more than 400 MB of memory",
            marks=pytest.mark.skipif("FLEET" not in os.environ, reason="`make fleet` runs it"),
        ),
    ],
)
def test_a_repository_that_breaks_its_child_is_named(
    tmp_path: Path, broken: Callable[[Path], None], bounds: Fleet, error: str
) -> None:
    """One that hangs git, or takes too much memory, is given up; all others of its bucket are there."""
    for number in (0, 2):
        bare(tmp_path / f"r{number}", tasks(1))
    broken(tmp_path / "r1")
    request = run.Request([str(tmp_path)], tmp_path, NOW, jobs=1)
    out = tmp_path.with_name("out")
    outcome = run.index(out, request, bounds, lambda *_: None)
    assert outcome.errors == ({"repo": "r1", "status": "crashed", "error": error},)
    assert [row["repo"] for row in rows(out, "FROM files ORDER BY repo")] == ["r0", "r2"]
    there = {each.name for each in (out / parts.FOLDER).iterdir()}
    assert set(outcome.manifest.parts) <= there  # one more where a child was ended as it was done

"""What a commit brings to the places of what is private to the tool."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.storage import transaction
from tests.support.kept_place import LAST, TASK, Repo, story

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ALL = range(1, LAST + 1)
PRIVATE = ".taskstate/private"
SECRET = "what only its owner may read"  # noqa: S105 - a marker, no password
SHORT = hashlib.sha256(SECRET.encode()).hexdigest()[:16]
HANDOFF = ("handoff", "new", TASK, "--action", "Go", "--file", "app.py", "--location", "here", "--goal", "Works")

# A hostile clone

LINKED = (
    ".taskstate/private",
    ".taskstate/private/main",
    ".taskstate/artifacts",
    f".taskstate/artifacts/task-{TASK}",
    ".taskstate/archives",
    ".taskstate/handoffs",
    f".taskstate/handoffs/task-{TASK}",
    ".taskstate/lock",
    ".taskstate/tasks",
)
SWEEP = (
    ("list",),
    ("init",),
    ("session", "add", TASK, "--did", "Did 6.", "--state", "thing-6-end", "--next", "n"),
    ("lint",),
    ("next",),
    ("brief", TASK),
    ("archive", TASK, "--force", "--keep", "1"),
    ("role", "set", TASK, "implementer", "--status", "in_progress"),
    ("snapshot", "take", TASK, "--role", "implementer"),
    HANDOFF,
    ("doctor",),
    ("doctor", "--fix"),
    ("lint", "--fix"),
    ("session", "add", TASK, "--did", "Did 7.", "--state", "thing-7-end", "--next", "n"),
)


def victim(tmp_path: Path) -> tuple[Path, dict[str, tuple[bytes, int, int]]]:
    """Return a folder that is none of the clone's business, and what is in it."""
    folder = tmp_path / "victim"
    for name in (
        "one.txt",
        "deep/two.txt",
        "lint-0123abcd.json",
        "task-101-archive.md",
        "pending-0123456789abcdef.json",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SECRET, encoding="utf-8")
        path.chmod(0o600)
    return folder, contents(folder)


def contents(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return what is in a folder: bytes, modes, and when it was written."""
    found = [(path, path.stat()) for path in sorted(folder.rglob("*"))]
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", status.st_mode, status.st_mtime_ns)
        for path, status in found
    }


def attacker(tmp_path: Path) -> Repo:
    """Return a repository that somebody else prepares, all of it committed."""
    repo = story(tmp_path / "attacker")
    repo.commit("five")
    return repo


def cloned(origin: Repo, place: Path) -> Repo:
    """Commit even what is ignored, and return the clone that somebody makes of it."""
    origin.do("git add -A -f", "git commit -q --no-verify -m hostile")
    origin.git("clone", "-q", str(origin.root), str(place))
    repo = Repo(place, init=False)
    repo.name_author()
    return repo


def unpacked(origin: Repo, place: Path) -> Repo:
    """Return what somebody gets who downloads the files without git."""
    shutil.copytree(origin.root, place, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    return Repo(place, init=False)


WAYS = {"a clone": cloned, "unpacked, without git": unpacked}


def held(root: Path, what: bytes) -> list[Path]:
    """Return the files of a repository that hold something, in git's directory as well."""
    return [path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and what in path.read_bytes()]


# Where there is no git, what is private lies among the files.
UNPACKED = (".taskstate/private", ".taskstate/private/main", ".taskstate/cache", ".taskstate/lock", ".taskstate/tasks")
LINKS = [(name, cloned) for name in LINKED] + [(name, unpacked) for name in UNPACKED]


@pytest.mark.parametrize(("name", "get"), LINKS)
def test_no_link_leads_a_command_out_of_the_repository(
    tmp_path: Path, name: str, get: Callable[[Repo, Path], Repo]
) -> None:
    """A link in a place that commands read, write or clean: nothing outside is written, deleted or copied in."""
    outside, before = victim(tmp_path)
    origin = attacker(tmp_path)
    place = origin.root / name.format(state=hashlib.sha256(origin.state.read_bytes()).hexdigest()[:16])
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    is_file = place.name == "lock"
    place.symlink_to(outside / "one.txt" if is_file else outside)
    repo = get(origin, tmp_path / "clone")
    for command in SWEEP:
        repo.run(*command)
    assert contents(outside) == before
    assert held(repo.root, SECRET.encode()) == []


PLAN = (transaction.Move(".env", "public.txt"), transaction.Create(".vscode/settings.json", b"{}\n"))
PLACES_OF_PLANS = (".taskstate/private", ".taskstate/private/main", ".taskstate/private/journal")


@pytest.mark.parametrize("place", PLACES_OF_PLANS)
@pytest.mark.parametrize("get", WAYS.values(), ids=WAYS)
def test_a_plan_from_somebody_else_is_not_carried_out(
    tmp_path: Path, place: str, get: Callable[[Repo, Path], Repo]
) -> None:
    """Neither is a file of somebody's moved, nor one made, by a plan that came with the files."""
    origin = attacker(tmp_path)
    data = transaction.encode(PLAN)
    name = f"pending-{hashlib.sha256(data).hexdigest()[:16]}.json"
    origin.write(f"{place}/{name}", data)
    repo = get(origin, tmp_path / "clone")
    repo.write(".env", SECRET)
    for command in SWEEP:
        repo.run(*command)
    assert (repo.root / ".env").read_text(encoding="utf-8") == SECRET
    assert not (repo.root / "public.txt").exists()
    assert not (repo.root / ".vscode").exists()


def forged(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return what a cache holds without a finding."""
    if isinstance(value, list):
        found = bool(value) and all('"TS' in json.dumps(each) for each in value)
        return [] if found else [forged(each) for each in value]
    if isinstance(value, dict):
        return {key: forged(each) for key, each in value.items()}
    return value


def test_findings_are_not_hidden_by_a_cache_from_somebody_else(tmp_path: Path) -> None:
    """A cache that says of a faulty file that it is clean counts for nothing in a clone."""
    origin = attacker(tmp_path)
    origin.edit("status: in_progress", "status: unheard-of")
    origin.commit("faulty")
    assert origin.run("lint").status == 1
    caches = [*origin.common.rglob("*lint*")]
    assert caches
    for path in caches:
        data = json.dumps(forged(json.loads(path.read_text(encoding="utf-8"))))
        for place in (PRIVATE, f"{PRIVATE}/main", f"{PRIVATE}/main/cache", f"{PRIVATE}/cache"):
            origin.write(f"{place}/{path.name}", data)
    repo = cloned(origin, tmp_path / "clone")
    assert repo.run("lint").status == 1

"""A snapshot records the exact working tree, whatever is in it, and leaves git as it was."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from taskstate.snapshots.drift import unquoted
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

BYTES = b"caf\xe9 \xff.txt"  # no UTF-8
FILTER = "filter.up.clean=tr a-z A-Z", "filter.up.smudge=tr A-Z a-z", "filter.up.required=true"


class Case(NamedTuple):
    """A way to change a working tree, and what a snapshot then says of the files: path, status, mode."""

    change: Callable[[GitPlace], object]
    files: tuple[tuple[str, str, str | None], ...]
    settings: tuple[str, ...] = ()
    before: Callable[[GitPlace], object] = lambda place: place


def _intent_to_add(place: GitPlace) -> None:
    place.write("new.txt", "soon\n")
    place.git("add", "--intent-to-add", "new.txt")


def _staged_and_changed_again(place: GitPlace) -> None:
    place.write("a.txt", "staged\n")
    place.git("add", "a.txt")
    place.write("a.txt", "changed again\n")


def _with_submodule(place: GitPlace) -> None:
    inner = place.root.with_name("inner")
    GitPlace(inner)
    place.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    place.commit("submodule")


def _move_submodule(place: GitPlace) -> None:
    (place.root / "sub" / "a.txt").write_text("moved\n")
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.invalid")
    place.git("-C", "sub", *identity, "commit", "--quiet", "--all", "--message=on")


def _sparse(place: GitPlace) -> None:
    place.git("sparse-checkout", "set", "--no-cone", "/*", "!/src/")


def _sparse_change(place: GitPlace) -> None:
    place.write("a.txt", "changed\n")
    place.write("src/new.py", "new = 1\n")  # outside of the sparse checkout


def _sparse_index(place: GitPlace) -> None:
    place.write("a.txt", "changed\n")
    blob = place.git("hash-object", "-w", "--stdin", stdin=b"staged = 1\n")
    place.git("update-index", "--cacheinfo", f"100644,{blob},src/b.py")
    place.git("update-index", "--skip-worktree", "src/b.py")


def _all_names(place: GitPlace) -> None:
    for name in (
        b"with space",
        b"new\nline",
        b'quo"te',
        b"back\\slash",
        b'"quoted"',
        "\u00fc\U0001f642".encode(),
        BYTES,
    ):
        place.write(name, name)


def _link(place: GitPlace) -> None:
    (place.root / "link").symlink_to("a.txt")
    (place.root / "src" / "b.py").unlink()
    (place.root / "src" / "b.py").symlink_to("../nowhere")


def _renamed(place: GitPlace) -> None:
    place.git("mv", "src/c.py", "src/d.py")
    (place.root / "a.txt").rename(place.root / "z.txt")


def _folder_for_file(place: GitPlace) -> None:
    (place.root / "a.txt").unlink()
    place.write("a.txt/inside", "in\n")
    shutil.rmtree(place.root / "src")
    place.write("src", "a file now\n")


def _attributes(text: str) -> Callable[[GitPlace], object]:
    def write(place: GitPlace) -> None:
        path = place.root / ".gitattributes"
        path.write_text(path.read_text() + text)
        place.commit("attributes")

    return write


CASES = {
    "modified": Case(lambda p: p.write("a.txt", "one\n2\nthree\n"), (("a.txt", "M", "100644"),)),
    "no newline": Case(lambda p: p.write("a.txt", "one\ntwo"), (("a.txt", "M", "100644"),)),
    "untracked": Case(lambda p: p.write("src/x/new.py", "n\n"), (("src/x/new.py", "?", "100644"),)),
    "empty file": Case(lambda p: p.write("new", ""), (("new", "?", "100644"),)),
    "deleted": Case(lambda p: (p.root / "a.txt").unlink(), (("a.txt", "D", None),)),
    "deleted from the index": Case(
        lambda p: (p.git("rm", "--quiet", "--cached", "a.txt"), p.write("src/b.py", "b = 2\n")),
        (("src/b.py", "M", "100644"),),
    ),
    "staged, then changed": Case(_staged_and_changed_again, (("a.txt", "M", "100644"),)),
    "intent to add": Case(_intent_to_add, (("new.txt", "A", "100644"),)),
    "binary": Case(lambda p: p.write("data.bin", bytes(range(255, -1, -1)) * 9), (("data.bin", "M", "100644"),)),
    "bytes that are no text": Case(lambda p: p.write("a.txt", b"caf\xe9\r\n\xff\rx"), (("a.txt", "M", "100644"),)),
    "mode": Case(lambda p: (p.root / "a.txt").chmod(0o755), (("a.txt", "M", "100755"),)),
    "links": Case(_link, (("link", "?", "120000"), ("src/b.py", "T", "120000"))),
    "renamed": Case(
        _renamed,
        (("a.txt", "D", None), ("src/c.py", "D", None), ("src/d.py", "A", "100644"), ("z.txt", "?", "100644")),
    ),
    "folder for a file": Case(
        _folder_for_file,
        (
            ("a.txt", "D", None),
            ("a.txt/inside", "?", "100644"),
            ("src", "?", "100644"),
            ("src/b.py", "D", None),
            ("src/c.py", "D", None),
        ),
    ),
    "names": Case(
        _all_names,
        (
            ('"\\"quoted\\""', "?", "100644"),
            ('"caf\\351 \\377.txt"', "?", "100644"),
            ("back\\slash", "?", "100644"),
            ("new\nline", "?", "100644"),
            ('quo"te', "?", "100644"),
            ("with space", "?", "100644"),
            ("\u00fc\U0001f642", "?", "100644"),
        ),
    ),
    "submodule": Case(_move_submodule, (("sub", "M", "160000"),), before=_with_submodule),
    "sparse": Case(_sparse_change, (("a.txt", "M", "100644"), ("src/new.py", "?", "100644")), before=_sparse),
    "sparse, staged": Case(_sparse_index, (("a.txt", "M", "100644"), ("src/b.py", "M", "100644")), before=_sparse),
    "autocrlf": Case(
        lambda p: (p.write("a.txt", "one\r\n2\r\nthree\r\n"), p.write("src/b.py", "b = 1\r\n")),
        (("a.txt", "M", "100644"),),
        before=lambda p: (p.git("config", "core.autocrlf", "true"), p.git("config", "core.safecrlf", "true")),
    ),
    "filter": Case(
        lambda p: p.write("x.up", "shout\n"),
        (("x.up", "?", "100644"),),
        settings=FILTER,
        before=_attributes("*.up filter=up\n"),
    ),
    "attributes that hide text": Case(
        lambda p: p.write("a.txt", "changed\n"), (("a.txt", "M", "100644"),), before=_attributes("*.txt -diff\n")
    ),
    "settings of the user's own": Case(
        _renamed,
        (("a.txt", "D", None), ("src/c.py", "D", None), ("src/d.py", "A", "100644"), ("z.txt", "?", "100644")),
        settings=(
            "diff.noprefix=true",
            "diff.renames=copies",
            "diff.external=false",
            "color.ui=always",
            "core.quotePath=true",
            "core.splitIndex=true",
            "core.untrackedCache=true",
            "status.showUntrackedFiles=no",
            "status.renames=copies",
            "status.branch=true",
            "diff.context=9",
            "core.abbrev=4",
            "diff.ignoreSubmodules=all",
            "add.ignoreErrors=true",
            "core.looseCompression=9",
        ),
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    """Return each case in turn."""
    return CASES[request.param]


@pytest.fixture
def place(tmp_path: Path, case: Case) -> GitPlace:
    """Return a repository in which the case's change is made."""
    return _made(tmp_path, case)


def _made(folder: Path, case: Case) -> GitPlace:
    created = GitPlace(folder / "repository", *case.settings)
    case.before(created)
    case.change(created)
    return created


def test_each_changed_file_is_told_exactly(place: GitPlace, case: Case) -> None:
    """Path, status, mode, size and hash of exactly the differing files are recorded; git's own files stay as they are.

    So they do though git could refresh its index, and through the comparisons afterwards.
    """
    os.utime(place.root / "data.bin", (1, 1))
    before = place.kept_by_git()
    place.take()
    changed = place.changed_files()
    assert place.snapshot()["files_changed"] == [f"{each['status']} {each['path']}" for each in changed]
    assert tuple((each["path"], each["status"], each["mode"]) for each in changed) == case.files
    for each in changed:
        data = _on_disk(place.root / os.fsdecode(unquoted(each["path"])))
        arguments = (each["size"], each["sha256"])
        if data is None:
            assert arguments[1] is None or each["path"].startswith("src/")  # outside of a sparse checkout
        else:
            assert arguments == (len(data), hashlib.sha256(data).hexdigest())
        assert (each["previous_sha256"] is None) == (each["status"] in {"A", "?"} or each["mode"] == "160000")
    assert not place.verify().drift
    place.write("more.txt", "more\n")
    assert [each.path for each in place.verify().files] == ["more.txt"]
    assert place.kept_by_git() == before


def _on_disk(path: Path) -> bytes | None:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return path.read_bytes() if path.is_file() else None


def test_tree_and_diff_are_those_that_git_would_make(place: GitPlace) -> None:
    """The tree is the one that git would commit, without our own files, and the diff makes it of the base commit."""
    place.take()
    snapshot, diff = place.snapshot(), place.diff()
    assert place.applied("HEAD", diff) == snapshot["tree"]
    text = diff.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert hashlib.sha256(re.sub(rb"(?m)^index .*\n", b"", text)).hexdigest() == snapshot["diff_sha"]
    count = len(snapshot["files_changed"])
    assert snapshot["diff_stat"].startswith(f"{count} file{'s' if count > 1 else ''} changed")
    sparse = ["--sparse"] if (place.root / ".git/info/sparse-checkout").exists() else []
    place.git("-c", "core.safecrlf=false", "add", "--all", *sparse)
    assert place.applied(place.git("write-tree"), b"") == snapshot["tree"]


@pytest.mark.parametrize("case", [name for name in CASES if name not in {"submodule", "sparse", "sparse, staged"}])
def test_every_file_outlives_reset_and_clean_up(tmp_path: Path, case: str) -> None:
    """After reset, clean and gc each file can be put back, byte for byte, and nothing drifted then."""
    place = _made(tmp_path, CASES[case])
    place.take()
    changed, text = place.changed_files(), place.text
    place.git("reset", "--quiet", "--hard")
    place.git("clean", "--quiet", "-fd", "--exclude=.taskstate")
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "--quiet", "--prune=now")
    place.text = text  # it is tracked, and was reset too
    assert place.verify().drift
    for each in changed:
        if each["status"] == "D":
            (place.root / each["path"]).unlink()
    for folder in (place.root / "src",):
        if not any(folder.iterdir()):
            folder.rmdir()
    assert place.restore(*(each["path"] for each in changed if each["status"] != "D")).notes == ()
    assert not place.verify().drift


def test_what_was_staged_outlives_clean_up(tmp_path: Path) -> None:
    """Content that is staged and nowhere else is packed too: its tree can be read when git has forgotten it."""
    place = GitPlace(tmp_path / "repository")
    _staged_and_changed_again(place)
    place.take()
    index, text = place.snapshot()["index_tree"], place.text
    place.git("reset", "--quiet", "--hard")
    place.git("gc", "--quiet", "--prune=now")
    place.text = text
    (pack,) = place.root.glob(".taskstate/artifacts/*/*/*/pack")
    existing = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(pack.parent)}
    assert place.git("show", f"{index}:a.txt", env=existing) == "staged"
    assert ".taskstate" not in place.git("ls-tree", "-r", "--name-only", index, env=existing)


def test_environment_does_not_change_a_diff(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables by which git's diffs can be changed change none that a snapshot keeps."""
    place = GitPlace(tmp_path / "repository")
    place.write("long.txt", "".join(f"{number}\n" for number in range(40)))
    place.commit("long")
    place.write("long.txt", "".join(f"{number}\n" for number in range(40) if number != 20))
    place.take()
    diff = place.diff()
    for name, value in (("GIT_DIFF_OPTS", "-u9"), ("GIT_EXTERNAL_DIFF", "false"), ("GIT_CONFIG_COUNT", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.noprefix")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    place.take()
    assert place.diff() == diff

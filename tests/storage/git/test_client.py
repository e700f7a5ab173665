from __future__ import annotations

import io
import os
import pickle
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import GitFailed
from taskstate.storage.git import client as git
from taskstate.storage.git import index
from taskstate.storage.git import process as program
from taskstate.storage.private import find_private

if TYPE_CHECKING:
    from collections.abc import Iterator


def call(root: Path, *arguments: str) -> str:
    """Run git without the module under test, and return its output."""
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, encoding="utf-8")
    return done.stdout.strip()


def commit(root: Path, message: str = "work") -> str:
    """Make an empty commit and return its id."""
    call(root, "commit", "--quiet", "--allow-empty", "--message", message)
    return call(root, "rev-parse", "HEAD")


@pytest.fixture
def no_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Take git off the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


@pytest.fixture
def only_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make it a failure to start git."""

    def fail(*_: object, **__: object) -> None:
        pytest.fail("git was started")

    monkeypatch.setattr(git, "run", fail)


def test_run_returns_the_output(repository: Path) -> None:
    """Git's output is returned as bytes, and its standard input is passed on."""
    assert git.run(["hash-object", "--stdin"], repository, stdin=b"") == b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"


def test_run_tells_what_git_said(repository: Path) -> None:
    """A failing command is an error with git's own words, in English, and without control characters."""
    with pytest.raises(GitFailed, match=r"git cat-file failed in .*: fatal: Not a valid object name") as caught:
        git.run(["cat-file", "-p", "no\x1b[31m\nsuch"], repository)
    assert caught.value.message.isprintable()


def test_run_tells_that_git_is_missing(repository: Path, request: pytest.FixtureRequest) -> None:
    """Without git the error says to install it."""
    request.getfixturevalue("no_git")
    with pytest.raises(GitFailed, match="git was not found: install git"):
        git.run(["version"], repository)


def test_run_tells_that_the_folder_is_missing(tmp_path: Path) -> None:
    """A folder that is not there is not mistaken for a missing git."""
    with pytest.raises(GitFailed, match="no such folder"):
        git.run(["version"], tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(GitFailed, match="cannot run git"):
        git.run(["version"], tmp_path / "file")


def test_run_tells_the_status_of_a_silent_failure(repository: Path) -> None:
    """For a command that fails without output the error has its exit status."""
    with pytest.raises(GitFailed, match="exit status 1"):
        git.run(["config", "--get", "no.such-key"], repository)


def test_printable_is_one_short_line() -> None:
    """Escapes, line ends and bidi overrides are removed, words stay, and a long text is cut."""
    assert git.printable("a\x1b[31m\r\n  b\u202ec é") == "a [31m b c é"
    assert len(git.printable("word " * 1000)) == 300


def test_git_sees_its_index_but_no_foreign_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a git hook the commit's index is used, but the repository is that of the folder, not of the hook."""
    call(repository, "init", "--quiet", str(tmp_path / "other"))
    (repository / "a.md").touch()
    call(repository, "add", "a.md")
    (repository / ".git" / "index").rename(repository / ".git" / "other-index")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository / ".git" / "other-index"))
    assert git.run(["rev-parse", "--show-toplevel"], repository).decode().strip() == str(repository.resolve())
    assert git.run(["ls-files"], repository) == b"a.md\n"


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("kind", ["repository", "worktree"])
def test_index_of_a_hook_is_not_that_of_another_working_tree(
    repository: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, *, relative: bool
) -> None:
    """In another repository or worktree than the hook's, git uses the index and the objects of that one."""
    commit(repository)
    other = tmp_path / "other"
    make = ("worktree", "add", "-q") if kind == "worktree" else ("clone", "-q", ".")
    call(repository, *make, str(other))
    (other / "b.md").touch()
    call(other, "add", "b.md")
    own = git.index_path(git.folders(other) or pytest.fail("no working tree"))
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index" if relative else str(repository / ".git" / "index.lock"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(repository / ".git" / "objects"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(repository / ".git" / "more"))
    assert git.run(["ls-files", "b.md"], other) == b"b.md\n"
    assert git.index_path(git.folders(other) or pytest.fail("no working tree")) == own
    assert git.index_of_commit(repository) != ""


def test_merge_that_the_environment_names_may_be_anothers(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit that a merge brings counts where this repository has it, in a hook only if the index is its own."""
    here = commit(repository)
    call(repository, "worktree", "add", "-q", str(tmp_path / "worktree"))
    other = tmp_path / "other"
    call(tmp_path, "init", "--quiet", str(other))
    monkeypatch.setenv(f"GITHEAD_{here}", "main")
    assert git.merge_heads(repository) == (here,)  # as a merge driver sees it
    assert git.merge_heads(other) == ()
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert git.merge_heads(repository) == (here,)
    assert git.merge_heads(other) == git.merge_heads(tmp_path / "worktree") == ()


def test_an_index_in_no_git_folder_is_used_everywhere(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that somebody chose counts for the working tree at hand; an empty name is none."""
    (repository / "a.md").touch()
    call(repository, "add", "a.md")
    (repository / ".git" / "index").rename(tmp_path / "index")
    monkeypatch.setenv("GIT_INDEX_FILE", "../index")
    assert git.run(["ls-files"], repository) == b"a.md\n"
    monkeypatch.setenv("GIT_INDEX_FILE", "")
    assert git.index_path(git.folders(repository) or pytest.fail("no working tree")).name == "index"
    assert git.index_of_commit(repository) == ""


# the root of the working tree


@pytest.mark.usefixtures("only_files")
def test_toplevel_is_found_from_below(repository: Path) -> None:
    """From the root, a folder below and a file in it, also a missing one, the root is found without starting git."""
    (repository / "a" / "b").mkdir(parents=True)
    for path in (repository, repository / "a" / "b", repository / "a" / "b" / "none.md"):
        assert git.toplevel(path) == repository


def test_toplevel_accepts_a_relative_path(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path relative to the current folder works as well."""
    monkeypatch.chdir(repository)
    assert git.toplevel(Path("a.md")) == repository


def test_toplevel_is_none_outside(tmp_path: Path) -> None:
    """Outside of a working tree, in a bare repository, and beside a `.git` that is no repository, there is no root."""
    call(tmp_path, "init", "--quiet", "--bare", "bare.git")
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / ".git").write_text("no repository\n")
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / ".git").write_text("gitdir: ../nowhere\n")
    for name in ("", "bare.git", "empty", "text", "gone"):
        assert git.toplevel(tmp_path / name) is None


@pytest.mark.parametrize("name", ["LITERAL", "GLOB", "NOGLOB", "ICASE"])
def test_environment_does_not_change_what_patterns_mean(
    repository: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's settings for pathspecs do not change the meaning of our patterns."""
    (repository / "A").write_text("a\n")
    (repository / "task-1-state.md").write_text("---\n")
    monkeypatch.setenv(f"GIT_{name}_PATHSPECS", "1")
    assert git.start_listing(repository)() == ("task-1-state.md",)
    assert git.run(["ls-files", "--others", "--", ":(literal)A", "a"], repository) == b"A\n"


def test_toplevel_follows_the_environment(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working tree whose repository only the environment names is found, and a wrong name is no traceback."""
    tree = tmp_path / "tree"
    (tree / "a").mkdir(parents=True)
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tree))
    assert git.toplevel(tree / "a" / "none.md") == tree.resolve()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))
    assert git.toplevel(tree) is None


def test_a_relative_name_of_the_repository_counts_from_here(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `git --git-dir=../x.git --work-tree=. commit` names them to its hooks, also for a root in a folder below."""
    commit(repository)
    tree = tmp_path / "tree"
    (tree / "a").mkdir(parents=True)
    (repository / ".git").rename(tmp_path / "x.git")
    monkeypatch.chdir(tree)
    monkeypatch.setenv("GIT_DIR", "../x.git")
    monkeypatch.setenv("GIT_WORK_TREE", ".")
    for folder in (tree, tree / "a"):
        assert git.toplevel(folder) == tree.resolve()
        assert git.resolve_commit(folder, "HEAD") == git.head(folder)


# HEAD


def test_revision_that_names_no_commit_has_its_own_code(repository: Path, tmp_path: Path) -> None:
    """The error for an unknown revision has a code of its own."""
    commit(repository)
    with pytest.raises(GitFailed, match="there is no commit nowhere here") as caught:
        git.resolve_commit(repository, "nowhere")
    assert caught.value.code == "no-commit"
    with pytest.raises(GitFailed, match="no such folder") as caught:
        git.resolve_commit(tmp_path / "gone", "HEAD")
    assert caught.value.code == "git"


def test_no_commit_is_missed_where_git_does_not_work(repository: Path) -> None:
    """If git cannot read its configuration, that is said, and not that there is no such commit."""
    with (repository / ".git" / "config").open("a") as config:
        config.write("[core\n")
    with pytest.raises(GitFailed, match="bad config line") as failed:
        git.resolve_commit(repository, "HEAD")
    assert failed.value.code != "no-commit"


def test_head_without_a_commit_is_none(repository: Path, tmp_path: Path) -> None:
    """Before the first commit and outside a repository there is no HEAD."""
    assert git.head(repository) is None
    assert git.head(tmp_path) is None


@pytest.mark.parametrize("form", ["loose", "packed", "detached", "subfolder", "newer than packed", "slashes"])
def test_head_is_read_from_files(repository: Path, form: str, request: pytest.FixtureRequest) -> None:
    """In every usual form HEAD is read without starting git, and equals git's answer."""
    commit(repository, "first")
    root = repository
    if form == "slashes":
        call(repository, "checkout", "--quiet", "-b", "feature/a.b/c")
        call(repository, "pack-refs", "--all")
    elif form in {"packed", "newer than packed"}:
        call(repository, "tag", "--annotate", "v1", "--message", "peeled lines stand between the others")
        call(repository, "branch", "main2")
        call(repository, "pack-refs", "--all")
    elif form == "detached":
        call(repository, "checkout", "--quiet", "--detach")
    elif form == "subfolder":
        root = repository / "a"
        root.mkdir()
    if form == "newer than packed":
        commit(repository, "second")
    expected = call(repository, "rev-parse", "HEAD")
    request.getfixturevalue("only_files")
    assert git.head(root) == expected


def test_head_of_a_worktree_is_its_own(repository: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A linked worktree has its own HEAD, loose or packed, and the main one keeps its."""
    main = commit(repository)
    call(repository, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = commit(tmp_path / "side")
    assert side != main
    call(repository, "worktree", "add", "--quiet", "-b", "packed", str(tmp_path / "packed"))
    call(repository, "pack-refs", "--all")
    side_again = commit(tmp_path / "side", "again")
    request.getfixturevalue("only_files")
    assert git.head(repository) == main
    assert git.head(tmp_path / "packed") == main
    assert git.head(tmp_path / "side") == side_again
    assert git.toplevel(tmp_path / "side") == tmp_path / "side"


def test_head_of_a_submodule_is_its_own(repository: Path, tmp_path: Path) -> None:
    """In a submodule the submodule's HEAD counts."""
    commit(repository)
    outer = tmp_path / "outer"
    call(tmp_path, "init", "--quiet", "outer")
    call(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "inner")
    assert git.head(outer / "inner") == call(repository, "rev-parse", "HEAD")
    assert git.head(outer) is None


def test_head_of_sha256_is_read(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Repositories with the longer object ids are read as well."""
    call(tmp_path, "init", "--quiet", "--object-format=sha256", "long")
    root = tmp_path / "long"
    call(root, "config", "user.name", "Somebody")
    call(root, "config", "user.email", "somebody@example.invalid")
    expected = commit(root)
    assert len(expected) == 64
    request.getfixturevalue("only_files")
    assert git.head(root) == expected


def test_head_in_a_strange_form_is_asked_of_git(repository: Path) -> None:
    """A branch that is a symbolic reference to another one is resolved by git."""
    expected = commit(repository)
    call(repository, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    call(repository, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert git.head(repository) == expected


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"ref: refs/../../secret",
        b"ref: \n",
        b"0123",
        b"x" * 100_000,
        b"ref: refs/heads/" + b"x" * 300,
        b"ref: refs/heads/a\0b",
    ],
)
def test_a_broken_head_is_none(repository: Path, content: bytes) -> None:
    """Whatever stands in HEAD, there is no traceback, and nothing outside of git's folder is read."""
    commit(repository)
    (repository / "secret").write_text("0" * 40 + "\n")
    (repository / ".git" / "HEAD").write_bytes(content)
    assert git.head(repository) is None


@pytest.mark.parametrize("content", [b"x" * 300, b"a\0b", b"../" * 100, b"/dev/null"])
def test_a_broken_commondir_is_no_fault(repository: Path, content: bytes) -> None:
    """Whatever the file says where the shared folder is, that one is not used, and questions have an answer."""
    commit(repository)
    (repository / ".git" / "commondir").write_bytes(content)
    assert git.folders(repository) is None
    assert (git.head(repository), git.is_shallow(repository), git.is_partial(repository)) == (None, False, False)
    find_private(repository, repository / ".taskstate")


def test_head_is_known_without_git(repository: Path, request: pytest.FixtureRequest) -> None:
    """The files alone suffice; where they do not, a missing git is no traceback."""
    expected = commit(repository)
    request.getfixturevalue("no_git")
    assert git.head(repository) == expected
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/none\n")
    assert git.head(repository) is None


def test_files_of_gits_that_cannot_be_read_are_asked_of_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When git's own files may not be read, git is asked, and where it knows no more there is no HEAD."""
    expected = commit(repository)
    call(repository, "pack-refs", "--all")

    def refuse(*_: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        assert git.head(repository) == expected
        patch.setattr(Path, "open", refuse)
        assert git.head(repository) == expected


# what is in the working tree


def test_files_are_those_that_git_knows_or_would(repository: Path, tmp_path: Path) -> None:
    """Tracked and new files with our names are listed once each, relative to the folder; ignored ones are not."""
    for name in ("a/task-1-state.md", "a/task-2-state.md", "a/ignored/task-3-state.md", "a/é\n-archive.md", "a/b.md"):
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (repository / ".gitignore").write_text("ignored/\n")
    call(repository, "add", "a/task-1-state.md")
    assert set(git.start_listing(repository / "a")() or ()) == {"task-1-state.md", "task-2-state.md", "é\n-archive.md"}
    assert git.start_listing(tmp_path)() is None


def test_files_of_every_type_are_listed(repository: Path) -> None:
    """Whatever bears the name of one of our own files is listed, in any folder."""
    names = {
        "task-1-state.md",
        "x/task-1-archive.md",
        "x/task-1-impact-map.json",
        "x/task-1/phase-1-handoff-20260131T120000Z.md",
        "x/phase-1-progress.json",
    }
    for name in names:
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert set(git.start_listing(repository)() or ()) == names


def test_files_without_git_are_unknown(repository: Path, request: pytest.FixtureRequest) -> None:
    """Without git there is no list, and no exception."""
    request.getfixturevalue("no_git")
    assert git.start_listing(repository)() is None


# the user and the version


def test_user_name_is_the_configured_one(repository: Path) -> None:
    """The name is git's, on one line, without escapes."""
    assert git.user_name(repository) == "Somebody"
    call(repository, "config", "user.name", "É\x1b[31m  Å\u202e")
    assert git.user_name(repository) == "É [31m Å"


def test_user_name_may_be_unknown(repository: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """No name, an empty one, no such folder and no git all mean None."""
    call(repository, "config", "user.name", "  ")
    assert git.user_name(repository) is None
    assert git.user_name(tmp_path) is None
    assert git.user_name(tmp_path / "none") is None
    request.getfixturevalue("no_git")
    assert git.user_name(repository) is None


@pytest.mark.parametrize(
    ("own", "users"),
    [
        ("[user]\n\tname = Somebody Else\n", ""),
        ("\ufeff[core]\n  bare = false\n[User]\r\n name=Ä B\r\n\temail = a@b\n", ""),
        ("[user]\n\tname = A\n[core]\n\tx = 1\n[user]\n\tNAME = B\n", "[user]\n\tname = C\n"),
        ('[user "x"]\n\tname = A\n', "# mine\n[user]\n\tname = C\n"),
    ],
)
def test_user_name_in_the_usual_form_needs_no_git(
    repository: Path, tmp_path: Path, own: str, users: str, request: pytest.FixtureRequest
) -> None:
    """It is read from the repository's configuration, else the user's, and is what git says."""
    _configure(repository, tmp_path, own, users, request)
    said = call(repository, "config", "--get", "user.name")
    request.getfixturevalue("no_git")
    assert git.user_name(repository) == said


@pytest.mark.parametrize(
    ("own", "users"),
    [
        ('[user]\n\tname = "A B"\n', ""),
        ("[user]\n\tname = A # B\n", ""),
        ("[user]\n\tname = A \\\nB\n", ""),
        ("[user]\n\tname = A\n[user] name = B\n", ""),
        ("[user]\n\tname = A\n[include]\n\tpath = more\n", ""),
        ("[core]\n\tx = 1\n", "[user]\n\tname = A\n[include]\n\tpath = more\n"),
        ("[user]\n\tname = A\n[extensions]\n\tworktreeConfig = true\n", ""),
    ],
)
def test_user_name_in_another_form_is_asked_of_git(
    repository: Path, tmp_path: Path, own: str, users: str, request: pytest.FixtureRequest
) -> None:
    """Quotes, comments, continued lines and other files are understood by git alone."""
    _configure(repository, tmp_path, own, users, request)
    for folder in (repository / ".git", tmp_path):
        (folder / "more").write_text("[user]\n\tname = Included\n", encoding="utf-8")
    (repository / ".git" / "config.worktree").write_text("[user]\n\tname = Of the worktree\n", encoding="utf-8")
    said = call(repository, "config", "--get", "user.name")
    assert git.user_name(repository) == said
    request.getfixturevalue("no_git")
    assert git.user_name(repository) is None


def _configure(repository: Path, folder: Path, own: str, users: str, request: pytest.FixtureRequest) -> None:
    """Write the repository's configuration and the user's."""
    (repository / ".git" / "config").write_bytes(own.encode())
    (folder / "users").write_bytes(users.encode())
    request.getfixturevalue("monkeypatch").setenv("GIT_CONFIG_GLOBAL", str(folder / "users"))


def test_user_name_of_the_environment_counts_most(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `git -c user.name=B` hands it to what it starts."""
    for name, value in (("COUNT", "1"), ("KEY_0", "user.name"), ("VALUE_0", "B")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert git.user_name(repository) == "B"


def test_version_is_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is a tuple of numbers, whatever a vendor adds to it, and None where git is missing or is none."""
    found = git.version()
    assert found is not None
    assert found >= (2,)
    stand_in = tmp_path / "git"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    for output, expected in (
        ("git version 2.39.5 (Apple Git-154)", (2, 39, 5)),
        ("2.50.1.windows.1", None),
        ("", None),
    ):
        stand_in.write_text(f"#!/bin/sh\necho '{output}'\n")
        stand_in.chmod(0o755)
        assert git.version() == expected
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert git.version() is None


# Objects


@pytest.fixture
def objects(repository: Path) -> Iterator[git.Objects]:
    """Give the objects of a repository with one commit of one file."""
    (repository / "a.txt").write_bytes(b"a\n\0b")
    call(repository, "add", "a.txt")
    commit(repository)
    found = git.Objects(repository)
    yield found
    found.close()


def test_objects_are_read_one_after_the_other(repository: Path, objects: git.Objects) -> None:
    """Content comes back byte for byte, whatever was asked before, and an absent object is None."""
    blob = call(repository, "rev-parse", "HEAD:a.txt")
    for _time in range(2):
        assert objects.read(blob) == objects.read("HEAD:a.txt") == b"a\n\0b"
        assert objects.read("HEAD:b.txt") is None
        assert objects.read("0" * 40) is None
    short = call(repository, "rev-parse", "--short", "HEAD")
    names = [blob[:7], "HEAD", "a\nb", short, "abcdef1^{commit}", *["HEAD"] * 1_000]
    assert objects.kinds(names) == ["blob", "commit", None, "commit", None, *["commit"] * 1_000]
    assert objects.kinds([]) == []


@pytest.mark.parametrize(
    "name", ["", " ", "a b c", "--batch-all-objects", "HEAD\nHEAD", "HEAD\0", "\udcff", "HEAD:\x1b"]
)
def test_strange_names_name_no_object(objects: git.Objects, name: str) -> None:
    """A name is never taken for an option or a second query, and the next answer belongs to the next query."""
    assert objects.read(name) is None
    assert objects.read("HEAD:a.txt") == b"a\n\0b"


def test_another_process_has_pipes_of_its_own(objects: git.Objects) -> None:
    """Two processes never share the pipes to git."""
    assert objects.read("HEAD:a.txt") == b"a\n\0b"
    again = pickle.loads(pickle.dumps(objects))  # noqa: S301 - made a moment ago
    assert again.read("HEAD:a.txt") == b"a\n\0b"
    again.close()


def test_without_git_objects_cannot_be_read(objects: git.Objects, request: pytest.FixtureRequest) -> None:
    """Reading objects without git is an error that says what to do."""
    request.getfixturevalue("no_git")
    with pytest.raises(GitFailed, match="git was not found"):
        objects.read("HEAD")


def test_a_shallow_clone_is_known(repository: Path, tmp_path: Path) -> None:
    """A shallow clone is recognised, and a full one is not."""
    commit(repository)
    commit(repository)
    call(tmp_path, "clone", "--quiet", "--depth", "1", repository.as_uri(), "shallow")
    assert git.is_shallow(tmp_path / "shallow")
    assert not git.is_shallow(repository)
    assert not git.is_shallow(tmp_path)


def test_many_objects_are_read_at_once(repository: Path, objects: git.Objects) -> None:
    """Many objects read at once each have their content, and a missing one has none."""
    ids = []
    for number in range(3):
        content = b"%d\n" % number * 40_000
        ids.append(git.run(["hash-object", "-w", "--stdin"], repository, stdin=content).decode().strip())
    names = [*ids, "0" * 40] * 200
    found = list(objects.contents(names))
    assert [content and content[:2] for content in found] == [b"0\n", b"1\n", b"2\n", None] * 200
    assert list(objects.contents([])) == []


def test_started_git_is_waited_for(repository: Path) -> None:
    """The output is returned, and an error raised, when the result is waited for."""
    assert git.start(["rev-parse", "--is-inside-work-tree"], repository)() == b"true\n"
    assert git.start(["hash-object", "--stdin"], repository, stdin=b"x")().startswith(b"c1b0730e")
    answer = git.start(["-c", "a.b=c", "cat-file", "-p", "nothing"], repository)
    with pytest.raises(GitFailed, match="git cat-file failed"):
        answer()


def test_folders_of_gits_are_told(repository: Path, tmp_path: Path) -> None:
    """A linked worktree has a folder of its own and shares the rest."""
    git.run(["commit", "--quiet", "--allow-empty", "--message=x"], repository)
    git.run(["worktree", "add", "--quiet", "--detach", str(tmp_path / "linked")], repository)
    assert git.folders(repository) == (repository, repository / ".git", repository / ".git" / ".")
    found = git.folders(tmp_path / "linked")
    assert found is not None
    assert (found.top, found.git_dir.name) == (tmp_path / "linked", "linked")
    assert found.common_dir.resolve() == (repository / ".git").resolve()
    assert git.folders(tmp_path) is None


def test_an_index_that_is_a_link_is_not_written_through(repository: Path, tmp_path: Path) -> None:
    """Staging would write the file that the link leads to, so it is refused."""
    outside = tmp_path / "outside"
    (repository / "a").write_text("a", encoding="utf-8")
    (repository / ".git" / "index").unlink(missing_ok=True)
    (repository / ".git" / "index").symlink_to(outside)
    with pytest.raises(GitFailed, match="is a link, and git would write where it leads"):
        index.stage(repository, ["a"])
    assert not outside.exists()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("call", ["start", "is_alive"])
def test_ctrl_c_while_git_runs_is_nothing_else(repository: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """It stays what it is, before the threads that read are started and while they are waited for, and git ends."""
    really = getattr(threading.Thread, call)

    def interrupted(_thread: threading.Thread) -> None:
        if call == "is_alive":
            monkeypatch.setattr(threading.Thread, call, really)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        git.run(["log"], repository)


def test_what_git_says_behind_the_end_is_not_read() -> None:
    """A pipe that was closed because of Ctrl-C has no more to say, which is no error of the thread that reads it."""
    stream = io.BytesIO(b"x")
    stream.close()
    program._read_beginning(stream, [])  # noqa: SLF001 - only a thread calls it


def test_a_pipe_in_the_place_of_merge_head_says_nothing(repository: Path) -> None:
    """Who opened it would wait for somebody who writes into it."""
    os.mkfifo(repository / ".git" / "MERGE_HEAD")
    assert git.merge_heads(repository) == ()

"""`make release` refuses or prepares, on a copy of this repository; it neither commits nor uploads."""

from __future__ import annotations

import os
import tarfile
import tomllib
import zipfile
from typing import TYPE_CHECKING

import pytest

from scripts.plugin import plugin_files
from scripts.release.distributions import NotMade
from scripts.release.installs import WAYS, Place
from scripts.release.prepare import PLACES, prepare, refuse_version, released
from taskstate.version import VERSION
from tests.support.checkout import ROOT, copy_to, succeed
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2030-01-02"
OLD = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- `x`\n\n## [1.2.0] - 2029-01-01\n\n- `y`\n"
NEW = "999.0.1"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with one commit of the files of this checkout."""
    folder = copy_to(tmp_path_factory.mktemp("release") / "taskstate")
    succeed("git", "init", "--quiet", cwd=folder)
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    """Commit all that there is."""
    succeed("git", "add", "--all", cwd=folder)
    names = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.invalid", "-c", "core.hooksPath=/dev/null")
    succeed("git", *names, "commit", "--quiet", "--message", "All", cwd=folder)


@pytest.mark.parametrize(
    ("version", "current", "words"),
    [
        ("", "1.0.0", "no version: give three numbers"),
        ("1.3", "1.0.0", "no version"),
        ("v1.3.0", "1.0.0", "no version"),
        ("1.3.0rc1", "1.0.0", "no version"),
        ("1.2.0", "1.0.0", "not newer than 1.2.0"),
        ("1.1.9", "1.0.0", "not newer than 1.2.0"),
        ("1.9.0", "1.10.0", "not newer than"),
    ],
)
def test_a_version_that_is_not_newer_is_refused(version: str, current: str, words: str) -> None:
    """A version is three numbers, higher than all that were released and not lower than the present one."""
    with pytest.raises(NotMade, match=words):
        refuse_version(version, current, OLD)


def test_the_first_version_may_be_the_present_one() -> None:
    """What was never released may be released as it calls itself, and versions are compared as numbers."""
    refuse_version("0.1.0", "0.1.0", "## [Unreleased]\n\n- x\n")
    refuse_version("1.10.0", "1.2.0", OLD)


def test_unreleased_changes_get_a_version_and_a_date() -> None:
    """The section is moved as it is, an empty one comes above it, and what was released before stays."""
    assert released(OLD, "1.3.0", DAY) == OLD.replace(
        "## [Unreleased]\n", f"## [Unreleased]\n\nNothing yet.\n\n## [1.3.0] - {DAY}\n"
    )
    first = released("## [Unreleased]\n\n- x\n", "1.3.0", DAY)
    assert first == f"## [Unreleased]\n\nNothing yet.\n\n## [1.3.0] - {DAY}\n\n- x\n"
    for text, words in ((first, "says nothing"), ("# Changelog\n", "has no section")):
        with pytest.raises(NotMade, match=words):
            released(text, "1.4.0", DAY)


@pytest.mark.slow
@pytest.mark.skipif("INSTALL_CHECK" not in os.environ, reason="`make install-check` runs it, before a release")
def test_what_stands_against_a_release_leaves_the_checkout_as_it_is(checkout: Path) -> None:
    """A changed or new file, a tag, and a source distribution that lacks a file are refused, and nothing is changed."""
    config = checkout / "pyproject.toml"

    def refused(words: str) -> None:
        before = tree(checkout)
        with pytest.raises(NotMade, match=words):
            prepare(checkout, NEW, DAY)
        assert tree(checkout) == before

    (checkout / "stray.md").touch()
    refused(r"not clean \(\?\? stray.md\): commit or remove")
    (checkout / "stray.md").unlink()
    succeed("git", "tag", f"v{NEW}", cwd=checkout)
    refused(f"a tag v{NEW} already")
    succeed("git", "tag", "--delete", f"v{NEW}", cwd=checkout)
    config.write_text(config.read_text("utf-8").replace('"hooks", ', ""), encoding="utf-8")
    commit(checkout)
    refused("hooks")
    succeed("git", "reset", "--quiet", "--hard", "HEAD~1", cwd=checkout)


@pytest.mark.slow
def test_a_release_is_prepared_and_not_made(checkout: Path) -> None:
    """Version and changelog are written, both archives are of that version, and a person is told the commands."""
    head = succeed("git", "rev-parse", "HEAD", cwd=checkout)
    told = prepare(checkout, NEW, DAY)
    changed = succeed("git", "diff", "--name-only", cwd=checkout).splitlines()
    assert {"CHANGELOG.md", *(name for name, _ in PLACES)} == set(changed)
    assert all(name in told for name in changed)
    assert plugin_files()[PLACES[1][0]].replace(VERSION, NEW) == (checkout / PLACES[1][0]).read_text("utf-8")
    assert f"## [{NEW}] - {DAY}" in (checkout / "CHANGELOG.md").read_text("utf-8")
    assert succeed("git", "rev-parse", "HEAD", cwd=checkout) == head
    assert not succeed("git", "tag", cwd=checkout)
    assert not succeed("git", "ls-files", "--others", "--exclude-standard", cwd=checkout)
    with zipfile.ZipFile(checkout / f"dist/taskstate-{NEW}-py3-none-any.whl") as wheel:
        about = wheel.read(f"taskstate-{NEW}.dist-info/METADATA").decode()
    assert "](docs/" not in about, "a link that leads nowhere on an index"
    with tarfile.open(checkout / f"dist/taskstate-{NEW}.tar.gz") as sdist:
        member = sdist.extractfile(f"taskstate-{NEW}/taskstate/version.py")
        assert member is not None
        assert f'"{NEW}"'.encode() in member.read()
    for said in ("no test was run", f"git tag --annotate v{NEW}", f"twine upload dist/taskstate-{NEW}"):
        assert said in told
    succeed("git", "checkout", "--", *changed, cwd=checkout)
    assert VERSION in (checkout / "taskstate/version.py").read_text("utf-8")


def test_installing_is_tried_with_each_extra() -> None:
    """The way with all extras names those of the package that a person may lack, and each other way has none."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (whole,) = (each for each in extras["dev"] if each.startswith("taskstate["))
    assert [whole.removeprefix("taskstate") in way.line for way in WAYS] == [not way.is_bare for way in WAYS]


def test_what_a_message_says_to_run_is_found_in_it(tmp_path: Path) -> None:
    """A cure is what stands in the message; a failure without one, a message without a failure and a success differ."""
    place = Place(tmp_path, {"PATH": "/usr/bin:/bin"}, str(tmp_path / "taskstate"))
    (tmp_path / "repository").mkdir()
    program = tmp_path / "taskstate"
    for said, status, cure in (
        ("it lacks x: run `pip install 'taskstate[mcp]'`", 2, "pip install 'taskstate[mcp]'"),
        ("next: `pre-commit install`, so that git", 0, "pre-commit install"),
        ("see `taskstate init`", 0, ""),
    ):
        program.write_text(f'#!/bin/sh\ncat <<"END"\n{said}\nEND\nexit {status}\n', encoding="utf-8")
        program.chmod(0o755)
        assert place.cure("taskstate mcp") == cure
    program.write_text("#!/bin/sh\necho Traceback\nexit 1\n", encoding="utf-8")
    with pytest.raises(NotMade, match="ended with 1 and names nothing to install: Traceback"):
        place.cure("taskstate mcp")

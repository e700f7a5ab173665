"""The rules of a library beside our own table: here, absent, broken, and the real one where it is installed.

What does not depend on its rules is tested with a stand-in: a package of that name that finds one word.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from taskstate.validation import external_secret_scanner, secrets
from taskstate.validation.external_secret_scanner import find_all, masked
from tests.support.place import Place
from tests.support.secret_lines import negative, positive

if TYPE_CHECKING:
    from pathlib import Path

AWS_ID = "AKIA" + "QWERTYUIOPASDFGH"
WORD = "SWORDFISH-0123456789"
STAND_IN = """
class Finding:
    rule_id, visible = "standin.fish", True
    def __init__(self, start, end):
        self.start, self.end = start, end
    def to_dict(self):
        return {"location": {"start_offset": self.start, "end_offset": self.end}}

class Scanner:
    def scan(self, data):
        import re
        return [Finding(*match.span()) for match in re.finditer(rb"WORD", data)]
"""
BROKEN = """
class Scanner:
    def __init__(self):
        raise RuntimeError("no rules")
"""
is_here = find_spec("kingfisher_sdk") is not None
absent = pytest.mark.skipif(is_here, reason="kingfisher-secret-scanner is installed here")
real = pytest.mark.skipif(not is_here, reason="kingfisher-secret-scanner is not installed: pip install '.[secrets]'")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with a task in whose description the word stands."""
    place = Place(tmp_path / "repository")
    place.text = place.text.replace("Issue tokens.", f"Issue tökens with {WORD}.")
    return place


class Library:
    """A package of the library's name in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, code: str, version: str = "1.0") -> None:
        """Put the package there in this version, in the place of an older one."""
        package, told = self.folder / "kingfisher_sdk", self.folder / "kingfisher_secret_scanner.dist-info"
        for path, text in (
            (package / "__init__.py", code.replace("WORD", WORD)),
            (told / "METADATA", f"Metadata-Version: 2.1\nName: kingfisher-secret-scanner\nVersion: {version}\n"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run(self, place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command that finds the package."""
        command = [sys.executable, "-B", "-m", "taskstate", *arguments]
        path = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        env = {"PYTHONPATH": path, "PATH": "", "TASKSTATE_ACTOR": "somebody"}
        return subprocess.run(command, cwd=place.root, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Return a folder for the package."""
    return Library(tmp_path / "packages")


@absent
def test_without_it_our_own_table_speaks() -> None:
    """What is found and hidden is then the same."""
    text = f"a {AWS_ID} b {WORD}"
    assert external_secret_scanner.version() == ""
    assert find_all(text) == secrets.find(text) != ()
    assert masked(text) == secrets.masked(text)


def test_lint_tells_what_the_library_finds(place: Place, library: Library) -> None:
    """At its exact place, also behind characters of several bytes, by the rule's name, and never the value."""
    library.install(STAND_IN)
    done = library.run(place, "lint", "--format", "json")
    (found,) = json.loads(done.stdout)["data"]["findings"]
    line = place.text[: place.text.index(WORD)].count("\n") + 1
    column = len("Issue tökens with ") + 1
    assert (found["code"], found["line"], found["column"]) == ("TS951", line, column)
    assert found["end_column"] == column + len(WORD)
    assert found["message"] == "this looks like a credential (fish); its value is not shown"
    for arguments in (("lint",), ("lint", "--diff"), ("lint", "--output-format", "sarif", "--no-cache")):
        shown = library.run(place, *arguments)
        assert shown.returncode == 1
        assert WORD not in shown.stdout + shown.stderr


def test_what_is_allowed_is_allowed_there_too(place: Place, library: Library) -> None:
    """The line's own comment and the configuration speak to the library's findings as to ours."""
    library.install(STAND_IN)
    text = place.text
    place.text = text.replace(f"{WORD}.", f"{WORD}. <!-- taskstate: allow secret -->")
    assert library.run(place, "lint").returncode == 0
    place.text = text
    place.configure('[secrets]\nallow = ["^SWORDFISH"]\n')
    assert library.run(place, "lint").returncode == 0


def test_another_version_is_asked_anew(place: Place, library: Library) -> None:
    """What an earlier version found is not remembered for a later one, nor what was found without any."""
    library.install(STAND_IN)
    assert library.run(place, "lint").returncode == 1
    library.install(STAND_IN.replace("WORD", "NOTHING AT ALL"), "1.1")
    assert library.run(place, "lint").returncode == 0
    library.install(STAND_IN, "1.2")
    assert library.run(place, "lint").returncode == 1


def test_a_library_that_does_not_start_is_one_clear_error(place: Place, library: Library) -> None:
    """Lint says so and what to do; no write asks it."""
    library.install(BROKEN)
    done = library.run(place, "lint")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "kingfisher-secret-scanner 1.0 cannot be used (RuntimeError): mend it, or uninstall it" in done.stderr
    library.install("raise ImportError")
    assert library.run(place, "session", "add", "101", "--did", "x", "--state", "s", "--next", "n").returncode == 0


@real
def test_the_real_library_finds_more() -> None:
    """What our own table does not know is found by its rules, at its place, with its name."""
    value = "lsv2_" + "sk_" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9" + "_0a1b2c3d4e"
    adobe = "p8e-" + "8b0e71532c94d1f6a0b3c5e7d9f18246"
    text = f"é {value}\nadobe: '{adobe}'\n"
    assert [each.kind for each in secrets.find(text)] == ["a LangSmith key"]
    more = find_all(text)
    assert [each.span.of(text) for each in more] == [value, adobe]
    assert more[1].kind == "a credential (adobe-client-secret)"
    assert adobe not in masked(text)


@real
def test_the_real_library_loses_nothing_and_adds_no_noise() -> None:
    """With it every positive line is found where it was, and no negative line is."""
    for line in positive():
        assert any(line.span and each.span.start <= line.span.start for each in find_all(line.text)), line
    assert {line.text: find_all(line.text) for line in negative() if find_all(line.text)} == {}

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.autosave import consent
from taskstate.errors import TaskstateError
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the root of a repository, of which nobody has said anything."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return GitPlace(tmp_path / "place").root


def test_nothing_is_kept_until_a_person_says_so(root: Path) -> None:
    """Without a word it is off; what is said counts until something else is said."""
    assert consent.level(root) == "off"
    assert consent.give(root, "facts")
    assert not consent.give(root, "facts")
    assert consent.level(root) == "facts"
    assert consent.give(root, "words")
    assert consent.level(root) == "words"
    assert consent.give(root, "off")
    assert not consent.give(root, "off")
    assert consent.level(root) == "off"


def test_a_session_can_be_left_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment switches it off for what is started with it, and takes nothing back."""
    consent.give(root, "words")
    monkeypatch.setenv("TASKSTATE_AUTOSAVE", "0")
    assert consent.level(root) == "off"
    assert consent.said(root) == ("words", "")
    monkeypatch.setenv("TASKSTATE_AUTOSAVE", "1")
    assert consent.level(root) == "words"


@pytest.mark.parametrize(
    "name", ["CLAUDECODE", "CODEX_THREAD_ID", "CODEX_SANDBOX", "GEMINI_CLI", "CURSOR_AGENT", "AI_AGENT"]
)
def test_an_agent_cannot_say_it_for_a_person(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a client's environment it is refused with what to ask the person for; to say no is anybody's."""
    consent.give(root, "facts")
    monkeypatch.setenv(name, "1")
    with pytest.raises(TaskstateError, match="an agent cannot allow") as refused:
        consent.give(root, "words")
    assert refused.value.code == "not-a-person"
    assert "`taskstate init --autosave words` in a terminal of their own" in refused.value.help
    assert consent.level(root) == "facts"
    assert consent.give(root, "off")


def test_all_worktrees_of_a_repository_are_meant(root: Path, tmp_path: Path) -> None:
    """What is said in one worktree counts in each; a folder that only claims to be one has no part in it."""
    other = tmp_path / "other"
    subprocess.run(["git", "worktree", "add", "--quiet", str(other)], cwd=root, check=True)
    consent.give(other, "facts")
    assert consent.level(root) == consent.level(other) == "facts"
    claims = tmp_path / "claims"
    claims.mkdir()
    (claims / ".git").write_bytes((other / ".git").read_bytes())
    assert consent.level(claims) == "off"
    assert consent.level(root.parent) == "off"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"root": "{root}", "autosave": "everything"}, "is damaged"),
        ({"root": "/elsewhere", "autosave": "words"}, "is damaged"),
        (["words"], "is damaged"),
    ],
)
def test_what_cannot_be_believed_is_no_yes(root: Path, values: object, why: str) -> None:
    """A file of another form, or of another repository, counts as off and says why; the command makes it whole."""
    consent.give(root, "words")
    (file,) = (root.parent / "state" / "taskstate" / "autosave").glob("*.json")
    file.write_text(json.dumps(values).replace("{root}", str(root)))
    level, problem = consent.said(root)
    assert level == consent.level(root) == "off"
    assert why in problem
    assert "`taskstate init --autosave LEVEL`" in problem
    assert consent.give(root, "facts")
    assert consent.said(root) == ("facts", "")


def test_a_state_folder_in_the_repository_holds_no_yes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes by git cannot say it: there it can neither be given nor found, and to say no is no error."""
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "state"))
    assert consent.level(root) == "off"
    assert "lies in the repository" in consent.said(root)[1]
    with pytest.raises(TaskstateError, match="lies in the repository"):
        consent.give(root, "words")
    assert not consent.give(root, "off")

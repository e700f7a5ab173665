"""What is set up for a client and does not reach its agent is told, from what the client itself keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.doctor.reaching import not_reaching
from taskstate.setup.installation import Wanted, install
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

# What Codex 0.171.0 wrote when a person trusted the first hook of /r/.codex/hooks.json; the path is put in its place.
TRUSTED = """
[projects."{root}"]
trust_level = "trusted"
[hooks.state."{root}/.codex/hooks.json:session_start:0:0"]
trusted_hash = "sha256:65dc8250bcc2779ed79332612a47ff80076c136dadcc91a660710f159e8d21d5"
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a repository, and a home in which no client has been at work."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Place(tmp_path / "repository")


def put(place: Place, name: str, text: str) -> None:
    """Write a file of the home."""
    path = place.root.parent / "home" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def told(place: Place) -> list[str]:
    """Return what is told; all of it are notes, with what to do."""
    found = [*not_reaching(place.workspace)]
    assert all(each.note and each.help for each in found)
    return [f"{each.path}: {each.message}" for each in found]


def test_without_clients_nothing_is_told(place: Place) -> None:
    """Nobody is told of a client that is not set up."""
    install(place.workspace, Wanted())
    assert told(place) == []


def test_page_that_is_lacking(place: Place) -> None:
    """What was taken out since, or an earlier version did not put in, is named with its file."""
    install(place.workspace, Wanted(("claude", "gemini", "cursor"), allow=True))
    assert told(place) == []
    (place.root / "CLAUDE.md").unlink()
    path = place.root / ".gemini/settings.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    del values["context"]
    path.write_text(json.dumps(values), encoding="utf-8")
    lacking = "it lacks something that `taskstate init` puts there for the clients"
    assert sorted(told(place)) == [f".gemini/settings.json: {lacking}", f"CLAUDE.md: {lacking}"]


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("claude", ".claude/settings.json", "{"),
        ("gemini", ".gemini/settings.json", "taskstate hook"),
        ("codex", ".codex/config.toml", "[broken\n"),
        ("codex", ".codex/hooks.json", "[" * 100_000),
    ],
)
def test_configuration_that_cannot_be_read_is_wrong(place: Place, client: str, name: str, text: str) -> None:
    """A client that cannot read its file calls nothing of ours: no note, but an error, with the cure."""
    install(place.workspace, Wanted((client,), allow=True))
    (place.root / name).write_text(text, encoding="utf-8")
    assert [(each.path, each.help) for each in not_reaching(place.workspace) if not each.note] == [
        (name, f"fix {name}, then run this again")
    ]


def test_what_is_switched_off(place: Place) -> None:
    """Settings of Claude Code that switch off what is set up are told."""
    install(place.workspace, Wanted(("claude",), allow=True))
    put(place, ".claude/settings.json", '{"disableAllHooks": true, "disabledMcpjsonServers": ["taskstate"]}')
    assert [each.partition("Code, ")[2] for each in told(place)] == [
        "`disableAllHooks`, switches it off",
        "`disabledMcpjsonServers`, switches it off",
    ]


def test_leave_that_is_lacking(place: Place) -> None:
    """Without a person these clients refuse what nobody allowed, and what a folder allows that is not trusted."""
    install(place.workspace, Wanted(("claude", "gemini")))
    assert sorted(each.partition(":")[0] for each in told(place)) == [".claude/settings.json", ".gemini/settings.json"]
    install(place.workspace, Wanted(allow=True))
    assert told(place) == []
    put(place, ".claude.json", "{}")
    (ignored,) = told(place)
    assert "Claude Code ignores what a repository allows" in ignored
    put(place, ".claude.json", json.dumps({"projects": {str(place.root): {"hasTrustDialogAccepted": True}}}))
    assert told(place) == []


def test_hooks_that_codex_was_not_told_to_trust(place: Place) -> None:
    """Codex keeps a hash of each hook that it was told to trust, under its place; it says nothing of others."""
    install(place.workspace, Wanted(("codex",)))
    assert told(place) == []
    put(place, ".codex/config.toml", "broken = \n")
    assert told(place) == []
    put(place, ".codex/config.toml", 'model = "x"\n')
    folder, hooks = told(place)
    assert "to trust this folder: it skips all" in folder
    assert "to trust 7 of the 7 hooks" in hooks
    put(place, ".codex/config.toml", TRUSTED.format(root=place.root))
    (hooks,) = told(place)
    assert "to trust 6 of the 7 hooks" in hooks

"""What must hold of a context is asked in one place, by each command that relies on it, and each cure works."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace
from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path

STANDARD = "# Backend\n\n## Handlers\n\nHandlers are thin.\n"
ASKING = (
    ("start", TASK, "--role", "implementer"),
    ("role", "set", TASK, "implementer", "--status", "in_progress"),
    ("snapshot", "take", TASK, "--role", "implementer"),
    ("context", "export", TASK, "--role", "reviewer"),
)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return the command line in a git repository whose task 101 cites a standard."""
    place = GitPlace(tmp_path / "repository")
    place.write("docs/std.md", STANDARD)
    cited = json.dumps([{"file": "docs/std.md", "section": "handlers", "requirement": "thin"}])
    place.text = place.text.replace(
        "## 2. Chain Inputs", f"### Standards\n\n```json\n{cited}\n```\n\n## 2. Chain Inputs"
    )
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("TASKSTATE_ACTOR", "ann")
    return Cli(place, monkeypatch, capfd)


def _edited(cli: Cli) -> None:
    cli.place.text = cli.place.text.replace("Issue tokens.", "Issue coins.")


def _stale(cli: Cli) -> None:
    (cli.place.root / "docs/std.md").write_text(STANDARD.replace("thin", "thick"))


@pytest.mark.parametrize(
    ("fault", "said"), [(_edited, "not as it was sealed"), (_stale, "docs/std.md#handlers has changed")]
)
def test_each_refuses_what_the_others_refuse(cli: Cli, fault: object, said: str) -> None:
    """With the same words, and with a cure that lets all of them go on."""
    assert callable(fault)
    cli.ok("context", "init", TASK)
    fault(cli)
    for words in ASKING:
        error = cli.refused(*words)
        assert said in error, words
        cure = "start 101 --role implementer --accept-stale" if words[0] == "start" else "context rebuild 101 --note"
        assert f'`taskstate {cure} "WHY"` seals what is there now' in error
    cli.ok("context", "rebuild", TASK, "--note", "read it")
    for words in ASKING[1:]:
        assert cli(*words).err == ""


@pytest.mark.parametrize("sealed", [True, False])
def test_a_citation_that_leads_nowhere_names_where_to_mend_it(cli: Cli, *, sealed: bool) -> None:
    """Not a command that would be refused for the same reason: no advice leads in a circle."""
    if sealed:
        cli.ok("context", "init", TASK)
    (cli.place.root / "docs/std.md").write_text(STANDARD.replace("Handlers\n", "Handler\n"))
    asking = ASKING if sealed else ASKING[:-1]
    for words in (*asking, ("context", "rebuild", TASK), *(() if sealed else [("context", "init", TASK)])):
        error = cli.refused(*words)
        assert "has no heading with the slug 'handlers': did you mean docs/std.md#handler?" in error, words
        assert "correct the citation in section 1, then give the command again" in error
        assert "`taskstate" not in error
    cli.place.text = cli.place.text.replace('"handlers"', '"handler"')
    cli.ok("context", *(("rebuild", TASK, "--note", "fixed") if sealed else ("init", TASK)))
    for words in ASKING[1:]:
        assert cli(*words).err == ""


def test_start_names_one_command_that_passes_all_that_can_be_accepted(cli: Cli) -> None:
    """A cure that would be refused for the next thing in the way is none; what needs another command comes first."""
    cli.ok("context", "init", TASK)
    cli.ok("start", TASK, "--role", "implementer")
    (cli.place.root / "a.txt").write_text("built\n")
    cli.ok("finish", TASK, "--did", "x", "--state", "y", "--next", "z")
    (cli.place.root / "a.txt").write_text("by hand\n")
    _stale(cli)
    error = cli("start", TASK).err
    command = 'taskstate start 101 --role reviewer --accept-stale "WHY" --accept-drift "WHY"'
    assert error.count(f"`{command}`") == 2, error
    refused = cli("start", TASK, "--accept-stale", "read it").err
    assert "`taskstate start 101 --role reviewer --accept-stale 'read it' --accept-drift \"WHY\"`" in refused
    cli.ok("start", TASK, "--role", "reviewer", "--accept-stale", "read it", "--accept-drift", "mine")

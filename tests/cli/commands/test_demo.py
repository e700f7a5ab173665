from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.cli.commands import demo
from taskstate.storage import installed

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def test_missing_program_is_refused(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git or pre-commit the demo says which one is missing and how to get it, and makes no folder."""
    monkeypatch.setattr(demo, "_path", lambda: str(tmp_path))
    assert "the demo needs git, which was not found" in cli.refused("demo")
    (tmp_path / "git").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "git").chmod(0o755)
    said = f"the demo needs pre-commit, which was not found: run `{installed.adding_manager()}`"
    assert said in cli.refused("demo")


@pytest.mark.parametrize("flags", [(), ("--quiet",), ("--format", "json")])
def test_story_does_not_get_in_the_way(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    """The narration goes to standard output, in JSON or with --quiet to standard error, and ends with the folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(demo.Demo, "play", lambda self: self.say("the story"))
    result = cli("demo", *flags)
    narration, other = (result.err, result.out) if flags else (result.out, result.err)
    assert "the story\n" in narration
    assert "the story" not in other
    folder = narration.rstrip("\n").rpartition(" ")[2]
    assert tmp_path in Path(folder).parents
    if "json" in flags:
        assert json.loads(result.out)["data"] == {"folder": folder}

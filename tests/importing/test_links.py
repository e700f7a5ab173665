"""A link among the files of a source is refused by name, and what it leads to is not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

TARGETS = {
    "backlog-md": ("backlog/tasks/task-1 - Well.md", "---\nid: task-1\ntitle: Well\n---\n"),
    "feature-list": ("feature_list.json", '[{"description": "Well"}]'),
    "planning-with-files": ("task_plan.md", "# Plan: Well\n\n- [ ] Dig\n"),
}


@pytest.mark.parametrize("system", TARGETS)
def test_a_link_is_refused(system: str, cli: Cli, tmp_path: Path) -> None:
    """As the whole of a source, or beside others."""
    name, text = TARGETS[system]
    (tmp_path / "outside").write_text(text, encoding="utf-8")
    link = tmp_path / "source" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "outside")
    done = cli.json("import", system, tmp_path / "source", status=1)
    assert (done["counts"]["in"], done["counts"]["refused"]) == (1, 1)
    assert done["records"][0]["why"].startswith("is-link: ")
    assert cli.json("list") == []

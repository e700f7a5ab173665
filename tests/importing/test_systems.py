"""`auto` knows a system by the names of its files, from the repository's root and in the system's own folder."""

from __future__ import annotations

import pytest

from taskstate.importing.systems import systems_in


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("backlog/config.yml", ["backlog-md"]),
        ("tasks/task-1 - Heat-water.md", ["backlog-md"]),
        (".beads/issues.jsonl", ["beads"]),
        ("feature_list.json", ["feature-list"]),
        ("openspec/changes/wider-base/proposal.md", ["openspec"]),
        ("task_plan.md", ["planning-with-files"]),
        ("specs/001-lamp/tasks.md", ["speckit"]),
        (".taskmaster/tasks/tasks.json", ["taskmaster"]),
        ("tasks/readme.md", []),
    ],
)
def test_a_name_shows_its_system(path: str, known: list[str]) -> None:
    """One name is enough, and a name that any repository may have shows none."""
    assert systems_in([path]) == known

"""Sources that cannot be taken as a whole: one clear error says what to name instead, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

TASKS = '{"master": {"tasks": [{"id": 1, "title": "Wheel"}]}}'
CASES = (
    ("taskmaster", {"package.json": "{}"}, ".", "name the file"),
    ("taskmaster", {".vscode/tasks.json": "// of an editor"}, ".", "name the file"),
    ("taskmaster", {"tasks.json": "{}"}, "tasks.json", "tasks.json:1: no tag in it has `tasks`"),
    ("taskmaster", {"tasks.json": "[]"}, "tasks.json", "tasks.json:1: no tag in it has `tasks`"),
    ("taskmaster", {"tasks.json": '{"master":\n <'}, "tasks.json", "tasks.json:2:2"),
    ("taskmaster", {"tasks.json": "{\n<<<<<<< HEAD\n}"}, "tasks.json", "tasks.json:2:1: a merge conflict"),
    ("taskmaster", {"tasks.json": TASKS}, "tasks.json --tag other", "there is no tag 'other': there are master"),
    ("beads", {"beads.db": "SQLite format 3\0"}, "beads.db", "run `bd export -o issues.jsonl`"),
    ("beads", {".beads/beads.db": "SQLite format 3\0"}, ".", "run `bd export -o issues.jsonl`"),
    ("claude-tasks", {"notes.md": "no list"}, ".", "name the folder of one"),
)


@pytest.mark.parametrize(("system", "files", "words", "told"), CASES)
def test_nothing_is_written(system: str, files: dict[str, str], words: str, told: str, cli: Cli) -> None:
    """The message names the place or what to do, the exit status is 2, and no file is new."""
    source = cli.place.root.parent / "source"
    for name, text in files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    given, *options = words.split(" ")
    before = tree(cli.place.root)
    done = cli("import", system, str(source / given), *options)
    assert done.status == 2
    assert told in done.err
    assert tree(cli.place.root) == before


def test_a_link_in_the_place_of_the_file_is_refused(cli: Cli, tmp_path: Path) -> None:
    """What it leads to is not read; the link is named."""
    folder = tmp_path / "source" / ".taskmaster" / "tasks"
    folder.mkdir(parents=True)
    (tmp_path / "elsewhere.json").write_text(TASKS, encoding="utf-8")
    (folder / "tasks.json").symlink_to(tmp_path / "elsewhere.json")
    done = cli("import", "taskmaster", str(tmp_path / "source"))
    assert done.status == 1
    assert "is-link" in done.out
    assert "Wheel" not in done.out

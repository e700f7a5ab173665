"""What stands in folders of documents, as Spec Kit and OpenSpec have them: where they lie, and what lies beside."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.importing import CASES, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli


def test_files_beside_a_feature_stay_where_they_are(cli: Cli) -> None:
    """In the repository, they are named with their hashes; one that changes is told by the next import."""
    shutil.copytree(CASES / "speckit" / "folder" / "specs", cli.place.root / "specs")
    assert [each["system"] for each in cli.json("import", "--list") if each["here"]] == ["speckit"]
    cli.ok("import", "auto")
    text = text_of(cli.place.workspace, "001-mill-wheel")
    assert "- `specs/001-mill-wheel/plan.md` (SHA-256 `" in text
    assert "Oak and iron." not in text
    assert "source: specs/001-mill-wheel/tasks.md" in text
    (cli.place.root / "specs" / "001-mill-wheel" / "plan.md").write_text("# Plan\n\nIron.\n", encoding="utf-8")
    done = cli.json("import", "speckit", cli.place.root, status=1)
    assert [each["id"] for each in done["records"] if each["why"].startswith("changed")] == ["001-mill-wheel"]


@pytest.mark.parametrize("inside", ["openspec", "openspec/changes", "openspec/changes/archive", "."])
def test_a_change_is_found_from_everywhere(inside: str, cli: Cli) -> None:
    """From the repository, its folder, that of the changes and the archive, which also says that it is done."""
    done = cli.json("import", "openspec", CASES / "openspec" / "mill" / inside, "--dry-run")
    assert "2026-02-01-drop-hopper" in [each["id"] for each in done["records"]]
    assert "complete (imported)" in _listed(cli, CASES / "openspec" / "mill" / inside)


def test_a_change_of_the_archive_is_done_wherever_it_is_named(cli: Cli) -> None:
    """Its folder alone, or its tasks."""
    path = CASES / "openspec" / "mill" / "openspec" / "changes" / "archive" / "2026-02-01-drop-hopper"
    assert "complete (imported)" in _listed(cli, path)
    cli.ok("import", "--undo")
    assert "complete (imported)" in _listed(cli, path / "tasks.md")


def test_an_open_change_keeps_a_name_that_an_archived_one_has_too(cli: Cli, tmp_path: Path) -> None:
    """Whichever of them stands first."""
    for folder in ("archive/weir", "weir"):
        (tmp_path / "changes" / folder).mkdir(parents=True)
        (tmp_path / "changes" / folder / "proposal.md").write_text(f"## Why\n\nFor {folder}.\n", encoding="utf-8")
    cli.ok("import", "openspec", tmp_path)
    assert {each["id"]: each["status"] for each in cli.json("list")} == {"weir": "created", "weir-archived": "complete"}


def _listed(cli: Cli, path: Path) -> str:
    cli.ok("import", "openspec", path)
    return cli.ok("list")


def test_a_folder_with_a_long_name_has_its_number_as_id(cli: Cli, tmp_path: Path) -> None:
    """Of a name with a time, the time; with its phases, as far as these need the room."""
    for name in (f"007-{'x' * 70}", f"20260510-091500-{'x' * 70}", f"008-{'x' * 58}"):
        (tmp_path / "specs" / name).mkdir(parents=True)
        text = "# Tasks: Long\n\n## Phase 1: One\n\n- [ ] T001 Do\n"
        (tmp_path / "specs" / name / "tasks.md").write_text(text, encoding="utf-8")
    done = cli.json("import", "speckit", tmp_path, "--split", "--dry-run")
    ids = ["007", "007-p1", f"008-{'x' * 58}", "008-p1", "20260510-091500", "20260510-091500-p1"]
    assert [each["id"] for each in done["records"]] == ids


def test_a_file_beside_that_holds_a_secret_is_named(cli: Cli, tmp_path: Path) -> None:
    """The refusal says which of the files of a folder it is, and about where."""
    shutil.copytree(CASES / "speckit" / "folder", tmp_path / "kit")
    plan = tmp_path / "kit" / "specs" / "001-mill-wheel" / "plan.md"
    plan.write_text("# Plan\n\nkey ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4\n", encoding="utf-8")
    done = cli.json("import", "speckit", tmp_path / "kit", "--dry-run", status=1)
    refused = [each["why"] for each in done["records"] if each["outcome"] == "refused"]
    assert len(refused) == 1
    assert refused[0].startswith("secret: near line 3 of plan.md is something like")


def test_no_link_in_a_folder_is_followed(cli: Cli, tmp_path: Path) -> None:
    """It is refused by name, and the others come in."""
    shutil.copytree(CASES / "speckit" / "folder", tmp_path / "kit")
    (tmp_path / "kit" / "specs" / "002-grain-scale" / "plan.md").symlink_to("/etc/hostname")
    done = cli.json("import", "speckit", tmp_path / "kit", "--dry-run", status=1)
    assert done["counts"]["refused"] == 1
    assert done["counts"]["task"] == 3


def test_lists_that_are_nested_too_deep_are_refused(cli: Cli, tmp_path: Path) -> None:
    """With the line, and the record counts with its boxes."""
    (tmp_path / "specs" / "001-deep").mkdir(parents=True)
    text = "# Tasks: Deep\n\n" + "".join(f"{'  ' * depth}- [ ] T{depth} Do\n" for depth in range(70))
    (tmp_path / "specs" / "001-deep" / "tasks.md").write_text(text, encoding="utf-8")
    done = cli.json("import", "speckit", tmp_path, "--dry-run", status=1)
    assert done["counts"]["refused"] == 71
    assert done["records"][0]["why"].startswith("too-deep")

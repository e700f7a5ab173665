"""Which page holds the block, so that each client's model reads it once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.setup import pages
from taskstate.setup.installation import Wanted, install, remove
from taskstate.setup.merging import BEGIN
from taskstate.syntax.markdown_blocks import prose
from taskstate.workspace.workspace import find_workspace
from tests.support.place import tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def set_up(root: Path, *agents: str) -> None:
    """Set a repository up for clients."""
    install(find_workspace(root, root=str(root)), Wanted(agents))


def read(root: Path, name: str) -> str:
    """Return the text of a page; empty where there is none."""
    path = root / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.parametrize(
    ("page", "is_imported"),
    [
        ("# Mine\n\n@AGENTS.md\n", True),
        ("Read @./AGENTS.md, then go on.\n", True),
        ("(@AGENTS.md)\n", True),
        ("@docs/rules.md\n", True),
        ("Write `@AGENTS.md` into it.\n", False),
        ("```\n@AGENTS.md\n```\n", False),
        ("<!-- @AGENTS.md -->\nme@AGENTS.md\n", False),
        ("<!-- Mine -->\n@AGENTS.md\n", True),
        ("Write `this\n@AGENTS.md` or ``a ` @AGENTS.md``.\n", False),
        ("````\n```\n@AGENTS.md\n```\n````\n", False),
        ("@docs/AGENTS.md @../AGENTS.md @/AGENTS.md\n", False),
    ],
)
def test_block_is_not_put_beside_an_import(repository: Path, page: str, *, is_imported: bool) -> None:
    """Where CLAUDE.md imports AGENTS.md, itself or through a page, it stays as it is; else it gets the block."""
    (repository / "docs").mkdir()
    (repository / "docs/rules.md").write_text("@loop.md\n@../AGENTS.md\n", encoding="utf-8")
    (repository / "docs/loop.md").write_text("@rules.md\n", encoding="utf-8")
    (repository / "CLAUDE.md").write_text(page, encoding="utf-8")
    set_up(repository, "claude")
    assert (BEGIN in read(repository, "CLAUDE.md")) is not is_imported
    assert BEGIN in read(repository, "AGENTS.md")


def test_pages_that_import_each_other_are_read_once(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often pages import one another, each is read once."""
    for name in ("CLAUDE.md", "a.md", "b.md"):
        (repository / name).write_text("@a.md\n@b.md\n" * 12, encoding="utf-8")
    seen: list[str] = []

    def counted(text: str) -> Iterator[str]:
        seen.append(text)
        return prose(text)

    monkeypatch.setattr(pages, "prose", counted)
    set_up(repository, "claude")
    assert len(seen) == 3
    assert BEGIN in read(repository, "CLAUDE.md")


@pytest.mark.parametrize("settings", ['{"context": {"fileName": 3}}', '{"context": {"fileName": true}}', "[" * 100_000])
def test_settings_of_a_strange_form_are_refused(repository: Path, settings: str) -> None:
    """What Gemini CLI could not read either is named, left as it is, and keeps nothing else from being set up."""
    (repository / ".gemini").mkdir()
    (repository / ".gemini/settings.json").write_text(settings, encoding="utf-8")
    done = install(find_workspace(repository, root=str(repository)), Wanted(("gemini",)))
    assert [each.name for each in done.refused] == [".gemini/settings.json"]
    assert BEGIN in read(repository, "AGENTS.md")


def test_claude_alone_gets_a_page_that_imports(repository: Path) -> None:
    """Where there is no CLAUDE.md, one that imports AGENTS.md is made; words that were added to it stay."""
    set_up(repository, "codex", "cursor", "generic")
    assert read(repository, "CLAUDE.md") == ""
    set_up(repository, "claude")
    assert read(repository, "CLAUDE.md") == "@AGENTS.md\n"
    (repository / "CLAUDE.md").write_text("# Mine\n@AGENTS.md\nMore.\n", encoding="utf-8")
    set_up(repository)
    remove(find_workspace(repository, root=str(repository)))
    assert read(repository, "CLAUDE.md") == "# Mine\nMore.\n"


def test_import_that_was_taken_out_keeps_nothing_from_being_taken_out(repository: Path) -> None:
    """Somebody wrote a CLAUDE.md of their own in the place of ours: it stays, and the rest goes."""
    set_up(repository, "claude")
    (repository / "CLAUDE.md").write_text("# Mine\n", encoding="utf-8")
    remove(find_workspace(repository, root=str(repository)))
    assert tree(repository).keys() == {"CLAUDE.md"}


def test_block_beside_an_import_is_taken_out(repository: Path) -> None:
    """Where an import was added after the block, or an earlier version put it beside one, the model reads it once."""
    (repository / "CLAUDE.md").write_text("# Mine", encoding="utf-8")
    set_up(repository, "claude")
    (repository / "CLAUDE.md").write_text("@AGENTS.md\n" + read(repository, "CLAUDE.md"), encoding="utf-8")
    set_up(repository)
    assert read(repository, "CLAUDE.md") == "@AGENTS.md\n# Mine"
    set_up(repository)
    remove(find_workspace(repository, root=str(repository)))
    assert read(repository, "CLAUDE.md") == "@AGENTS.md\n# Mine"


@pytest.mark.parametrize(
    ("settings", "page", "names", "is_in_page"),
    [
        (None, "", ["GEMINI.md", "AGENTS.md"], False),
        ({"context": {"fileName": "MINE.md"}}, "", ["MINE.md", "AGENTS.md"], False),
        ({"context": {"fileName": ["MINE.md", "AGENTS.md"]}}, "# Mine\n", ["MINE.md", "AGENTS.md"], False),
        ({"context": {"fileName": ["MINE.md"]}}, "# Mine\n", ["MINE.md", "AGENTS.md"], False),
        ({"context": {"fileName": "AGENTS.md"}}, "", "AGENTS.md", False),
        (None, "# Mine\n", None, True),
        (None, "@AGENTS.md\n", None, False),
    ],
)
def test_gemini_reads_the_block_once(
    repository: Path, settings: object, page: str, names: object, *, is_in_page: bool
) -> None:
    """Its settings name AGENTS.md where no page that they name is there; a GEMINI.md that it reads gets the block."""
    (repository / ".gemini").mkdir()
    if settings:
        (repository / ".gemini/settings.json").write_text(json.dumps(settings), encoding="utf-8")
    if page:
        (repository / "GEMINI.md").write_text(page, encoding="utf-8")
    set_up(repository, "gemini")
    first = tree(repository)
    set_up(repository)
    assert tree(repository) == first
    assert json.loads(read(repository, ".gemini/settings.json")).get("context", {}).get("fileName") == names
    assert (BEGIN in read(repository, "GEMINI.md")) is is_in_page


def test_page_that_is_a_link_to_the_shared_one_is_no_page_of_its_own(repository: Path) -> None:
    """What Gemini's settings name takes nothing out of AGENTS.md through a link."""
    (repository / "GEMINI.md").symlink_to("AGENTS.md")
    (repository / ".gemini").mkdir()
    (repository / ".gemini/settings.json").write_text('{"context": {"fileName": ["AGENTS.md"]}}', encoding="utf-8")
    set_up(repository, "gemini")
    set_up(repository)
    assert read(repository, "AGENTS.md").count(BEGIN) == 1

"""What the linter must find, and how the benchmark counts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.detection.damages import Damage, changed_lines, swap
from benchmarks.detection.detection import DAMAGES, WAYS, Project, outcomes
from benchmarks.detection.healthy import files
from taskstate.lint.engine import findings
from taskstate.model.config import Config

if TYPE_CHECKING:
    from pathlib import Path


def test_changed_lines_are_those_to_point_at() -> None:
    """A changed and an added line count; where lines are removed, the one that follows them does."""
    assert changed_lines("a\nb\nc\n", "a\nx\nc\n") == range(2, 3)
    assert changed_lines("a\nb\n", "a\nx\ny\nb\n") == range(2, 4)
    assert changed_lines("a\nb\nc\n", "a\nc\n") == range(2, 3)
    assert changed_lines("a\nb\n", "a\n") == range(2, 3)


def test_the_undamaged_repository_has_no_finding(tmp_path: Path) -> None:
    """Nothing is wrong with the files before they are damaged, in whichever way they are linted."""
    project = Project(tmp_path)
    assert {way: project.findings(way) for way in WAYS} == dict.fromkeys(WAYS, ())


def test_an_outcome_tells_a_finding_from_a_missed_damage(tmp_path: Path) -> None:
    """A damage counts as found only with the right code in the right line, and its cure only if it works."""
    damages = (
        Damage("found", "hand", "TS205", swap("## 4. Progress", "## 4. progress")),
        Damage("of another kind", "hand", "TS404", swap("## 4. Progress", "## 4. progress")),
        Damage("no damage", "hand", "TS404", swap("Somebody asked", "Nobody asked")),
    )
    came = {(each.damage.name, each.way): each for each in outcomes(tmp_path, damages)}
    assert {name: each.found for (name, way), each in came.items() if way == "HEAD"} == {
        "found": "at the line",
        "of another kind": "elsewhere",
        "no damage": "missed",
    }
    assert came["found", "HEAD"].cure.startswith("taskstate lint --fix")
    assert came["found", "HEAD"].cured


def test_the_damages_are_many_and_differ() -> None:
    """There are at least 60 classes, of every kind of file, and each damage of a file is there once."""
    assert len({each.name for each in DAMAGES}) >= 60
    assert {each.file for each in DAMAGES} == {"tool", "hand", "phased", "complete", "archive", "handoff", "progress"}
    assert len({(each.name, each.file) for each in DAMAGES}) == len(DAMAGES)


def test_sound_files_have_no_finding() -> None:
    """Foreign Markdown and all legal styles are no fault."""
    found = [
        (name, each.line, each.diagnostic.message)
        for name, data in files(60)
        for each in findings(data, name, Config())
    ]
    assert found == []

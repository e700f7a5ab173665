from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks import counts
from benchmarks.counts import QUESTIONS, UPDATE, Counted, count_all, imported_too, python_version, recorded, worse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ONE = Counted({"calls": 100, "git processes": 0}, frozenset({"taskstate.errors", "json"}))


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Counted]:
    """What each question's command does now."""
    return count_all(tmp_path_factory.mktemp("counted"))


@pytest.mark.slow
def test_no_question_has_become_worse(counted: Mapping[str, Counted]) -> None:
    """No command makes 30 % more calls, starts more processes of git or imports more than when that was recorded."""
    lines = "\n".join(worse(counted, recorded()[0]))
    assert not lines, f"{lines}\nmend it, or if it is worth it: `{UPDATE}`"


@pytest.mark.slow
def test_a_command_imports_what_its_budget_says(counted: Mapping[str, Counted]) -> None:
    """No command imports a module that is not in its list: each start would pay for it."""
    _, imports, version = recorded()
    lines = "\n".join(imported_too(counted, imports, same_python=version == python_version()))
    assert not lines, f"{lines}\nimport it in the function that needs it, or if each start does: `{UPDATE}`"


def test_every_question_is_recorded() -> None:
    """A question has its counts, or a budget of imports alone; nothing is recorded that is not asked."""
    figures, imports, _ = recorded()
    assert [question.name for question in QUESTIONS] == list(imports)
    assert [question.name for question in QUESTIONS if not question.imports_alone] == list(figures)


def test_a_count_that_grew_by_a_third_is_told() -> None:
    """The line has the question, the figure now and the one of the record; a tenth more is no line."""
    assert worse({"next": ONE}, {"next": {"calls": 75, "git processes": 0}}) == [
        "next: 100 calls now, 75 when it was recorded (+33%)"
    ]
    assert worse({"next": ONE}, {"next": {"calls": 91, "git processes": 0}}) == []


def test_the_first_process_of_git_is_told() -> None:
    """Where none was started, one is worse."""
    now = Counted({"git processes": 1}, frozenset())
    assert worse({"next": now}, {"next": {"git processes": 0}}) == ["next: 1 git processes now, 0 when it was recorded"]


def test_a_module_beyond_the_budget_is_told() -> None:
    """One of Python's own counts only in the version of Python that made the record."""
    assert imported_too({"next": ONE}, {"next": ["json", "taskstate.errors"]}, same_python=True) == []
    assert imported_too({"next": ONE}, {"next": ["json"]}, same_python=False) == ["next: imports taskstate.errors"]
    assert imported_too({"next": ONE}, {"next": ["taskstate.errors"]}, same_python=True) == ["next: imports json"]
    assert imported_too({"next": ONE}, {"next": ["taskstate.errors"]}, same_python=False) == []


@pytest.mark.slow
def test_a_command_that_fails_is_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says is in the error."""
    broken = counts.Question("broken", "one", ("next", "--nonsense"))
    monkeypatch.setattr(counts, "QUESTIONS", (broken,))
    with pytest.raises(RuntimeError, match="nonsense"):
        count_all(tmp_path)

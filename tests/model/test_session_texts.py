"""The texts of a session: who it is by."""

from __future__ import annotations

import pytest

from taskstate.model.session_texts import by_of, by_text
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse

SAID = [
    ("ann (reviewer)", "ann", "reviewer"),
    ("ann", "ann", ""),
    ("", "", ""),
    ("Ann Lee (role-2), took over from `.taskstate/handoffs/task-1/x.md`", "Ann Lee", "role-2"),
    ("ann, took over from `x.md`", "ann", ""),
    ("Lee, Ann (on call)", "Lee, Ann (on call)", ""),
]


@pytest.mark.parametrize(("text", "name", "role"), SAID)
def test_the_text_gives_name_and_role(text: str, name: str, role: str) -> None:
    """The role is what stands in parentheses at the end; a remark on a handoff belongs to neither."""
    assert by_of(text) == (name, role)


def test_a_role_is_named_once() -> None:
    """A name that says its role already gets none, other parentheses are part of it, and no role gives none."""
    names = ("ann", "reviewer"), ("ann (reviewer)", "reviewer"), ("ann (reviewer)", "implementer"), ("ann", "")
    texts = [by_text(*each) for each in names]
    assert texts == ["ann (reviewer)", "ann (reviewer)", "ann (reviewer) (implementer)", "ann"]
    assert by_of(texts[2]) == ("ann (reviewer)", "implementer")


@pytest.mark.parametrize("label", ["By", "Agent"])
def test_an_older_label_is_read_as_the_same_text(label: str) -> None:
    """`**Agent:**` of an older session says who it is by, in one line or as a list."""
    for said in (" ann", "\n\n- ann"):
        log = f"# Task #1: T - State\n\n## 4. Progress Log\n\n### Session 1 - 2026-01-31 12:00\n\n**{label}:**{said}\n"
        assert read_state(parse(log)).sessions[0].agent == "ann"

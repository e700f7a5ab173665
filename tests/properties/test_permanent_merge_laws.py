"""Laws of merging two branches of a permanent task, whatever each of them did to it."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from taskstate.lint import engine
from taskstate.merge.merge_files import merge_files
from taskstate.model.config import Config
from taskstate.model.permanent import change_log, decisions, edited_sections, version_of
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.units.three_way import Versions
from tests.support.permanent_text import PERMANENT_TEXT, sealed_version

BASE = sealed_version(PERMANENT_TEXT)
LOG = "## 6. Change Log\n\n"
# Where an item of a section is added: above the heading of the next section.
ENDS = {"User Intent": "\n## 2. ", "Phase Status": "\n## 5. ", "Constraints": "\n## 6. "}


class Step(NamedTuple):
    """A version that a branch gives: what it does, in which section, with which words, and at which minute."""

    act: str
    section: str
    word: str
    minute: int


words = st.text("abcde", min_size=1, max_size=3)
steps = st.builds(
    Step,
    st.sampled_from(["add", "remove", "decide", "module"]),
    st.sampled_from(sorted(ENDS)),
    words,
    st.integers(0, 59),
)
branches = st.lists(steps, min_size=1, max_size=5)


def content(text: str, step: Step, side: str) -> tuple[str, str]:
    """Return the text with a step taken, and the section that it touches."""
    name = f"{step.word}{side}"
    if step.act == "add":
        line = f"- {name}\n"
        return (text if line in text else text.replace(ENDS[step.section], line + ENDS[step.section], 1)), step.section
    if step.act == "remove":
        return text.replace("- No new database\n", "", 1), "Constraints"
    if step.act == "decide":
        number = max(each.number for each in decisions(read_state(parse(text)))) + 1
        added = f"\n### AD-{number}: {name}\n\n**Status:** proposed\n\n**Decision:** AD-{number} it is.\n"
        return text.replace("\n## 4. ", f"{added}\n## 4. ", 1), "Architecture Decisions"
    line = f'    {{"id": "{name}", "paths": ["{name}/**"], "depends_on": ["core"]}},\n'
    at = '    {"id": "api"'
    return (text if line in text else text.replace(at, line + at, 1)), "Codebase Impact Map"


def branch(taken: list[Step], side: str) -> str:
    """Return the permanent task as a branch leaves it, each step that changed something with its version."""
    text = BASE
    for step in taken:
        changed, section = content(text, step, side)
        if changed == text:
            continue
        number = version_of(read_state(parse(text)))
        line = (
            f"- v{number + 1} - 2026-03-01T10:{step.minute:02}:00Z - {side} - {section}: {step.act} {step.word}{side}\n"
        )
        changed = changed.replace(f"version: {number}\n", f"version: {number + 1}\n", 1)
        text = sealed_version(changed.replace(LOG, LOG + line, 1))
    return text


@given(branches, branches)
def test_two_branches_merge_alike_from_either_side(ours: list[Step], theirs: list[Step]) -> None:
    """Nothing conflicts, nothing is lost, every version has its line, and both orders give the same document."""
    one, other = branch(ours, "A"), branch(theirs, "B")
    results = [
        merge_files(Versions(BASE.encode(), *(side.encode() for side in sides)), "task-1-state.md")
        for sides in ((one, other), (other, one))
    ]
    texts = [each.data.decode() for each in results]
    assert [each.conflicts for each in results] == [0, 0]
    assert texts[0].partition("\n# ")[2] == texts[1].partition("\n# ")[2]
    state, base, sides = (
        read_state(parse(texts[0])),
        read_state(parse(BASE)),
        [read_state(parse(each)) for each in (one, other)],
    )
    new = [version_of(side) - version_of(base) for side in sides]
    assert version_of(state) == version_of(base) + sum(new)
    assert [each.number for each in change_log(state)] == list(range(version_of(state), 0, -1))
    assert edited_sections(state) == ()
    assert engine.check(texts[0], "task-1-state.md", Config()) == ()
    for text in (one, other):
        for line in text.splitlines():
            is_new = line not in BASE and ("- " in line[:2] or '"id"' in line or "### AD" in line)
            if is_new and not line.startswith("- v"):
                assert line.partition(": ")[2 if line.startswith("###") else 0].rstrip(",") in texts[0]

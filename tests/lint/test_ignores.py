"""Directives for the findings of an existing text: they silence what there is, and change nothing else."""

from __future__ import annotations

import pytest

from taskstate.lint import engine
from taskstate.lint.ignores import _NEVER, with_ignores
from taskstate.lint.queries.interface import NO_QUERIES
from taskstate.model.config import Config
from tests.support.lint_corpus import cases, one_of_each_rule, varied_cases

STATE = "task-101-state.md"
CASES = [case for case in cases() if case.text is not None and not case.gone]
CLEAN = (next(case for case in CASES if case.id == "TS010-stacked").text or "").replace("JWT service", "JWT Service")
CLEAN = "".join(line for line in CLEAN.splitlines(keepends=True) if "ignore" not in line)


def ignored(text: str) -> tuple[str, list[str]]:
    """Return a text with directives, and what is found in it."""
    new = with_ignores(text, STATE, Config(), NO_QUERIES).text
    return new, [each.code for each in engine.check(new, STATE, Config())]


def test_every_fault_of_the_corpus_is_silenced() -> None:
    """What can be silenced is, by lines of comments alone, and nothing new is found; a second time changes nothing."""
    for case in (*one_of_each_rule(CASES), *varied_cases()):
        if case.text is None or case.gone:
            continue
        before = engine.check(case.text, case.name, case.config, case.queries)
        done = with_ignores(case.text, case.name, case.config, case.queries)
        left = [each.code for each in engine.check(done.text, case.name, case.config, case.queries)]
        assert set(left) == set(done.left) <= {each.code for each in before}, case.id
        added = list(done.text.splitlines())
        for line in case.text.splitlines():
            assert line in added, case.id
            added.remove(line)
        assert all(not line or "taskstate: ignore" in line for line in added), case.id
        if case.text and not case.name.endswith(".json"):  # an empty file has no place for a directive
            mended = "TS105" if "audit:" in case.text or "revision:" in case.text else ""
            assert set(left) <= {*_NEVER, mended}, (case.id, left)
        assert with_ignores(done.text, case.name, case.config, case.queries).text == done.text, case.id


def test_a_directive_stands_above_its_finding() -> None:
    """Above a key, a heading or a fence, so that the next fault of the same kind elsewhere is found."""
    own = "<!-- taskstate: ignore TS204 accepted by --add-ignores -->\n## Ideas\n"
    text = CLEAN.replace("## 2. Chain Inputs", "## Ideas\n\nMine.\n\n## 2. Chain Inputs")
    new, left = ignored(text.replace("status: in_progress", "status: doing"))
    assert left == []
    assert own in new
    assert "\n# taskstate: ignore TS101 accepted by --add-ignores\nstatus: doing\n" in new
    other = new.replace("## 3. Feature", "## More ideas\n\nMine.\n\n## 3. Feature")
    assert [each.code for each in engine.check(other, STATE, Config())] == ["TS204"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_must_not_change_is_covered_from_the_top(newline: str) -> None:
    """A finding in a session has its directive above the first key, so that the session stays to the byte."""
    second = (
        "### Session 2 - 2024-11-27 10:00\n\n**What I did:** More.\n\n**Issues:** None\n\n**Next steps:** Go on.\n\n"
    )
    text = CLEAN.replace("## 5. Git", f"{second}## 5. Git").replace("\n", newline)
    new, left = ignored(text)
    line = f"# taskstate: ignore-file TS404 accepted by --add-ignores{newline}"
    assert (left, new) == ([], text.replace(f"---{newline}", f"---{newline}{line}", 1))


def test_what_cannot_be_read_is_not_silenced() -> None:
    """A fault because of which a part is not checked stays, and so does all that a comment cannot silence."""
    text = CLEAN.replace('"passes": false', '"passes": maybe')
    assert ignored(text) == (text, ["TS005"])
    impact_map = with_ignores('{"modules": 5}', "task-1-impact-map.json", Config(), NO_QUERIES)
    assert (impact_map.text, impact_map.codes) == ('{"modules": 5}', ())

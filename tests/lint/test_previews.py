"""The preview of a fix: the lines of the first place that it changes, as they are and as they will be."""

from __future__ import annotations

import pytest

from taskstate.lint import engine
from taskstate.lint.cache import freeze, thaw
from taskstate.lint.diagnostics import Fix, Preview
from taskstate.lint.previews import preview
from taskstate.model.config import Config
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit
from tests.support.lint_corpus import cases

TEXT = "one\ntwo\nthree\nfour\n"


def shown(*edits: Edit, text: str = TEXT, masked: str = "") -> Preview | None:
    """Return the preview of a fix of a text."""
    return preview(parse(text), Fix(edits=edits), masked or text)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((Edit(4, 7, "2"),), Preview(("two",), ("2",))),
        ((Edit(4, 4, "new\n"),), Preview((), ("new",))),
        ((Edit(4, 8, ""),), Preview(("two",), ())),
        ((Edit(8, 9, "T"), Edit(4, 5, "T"), Edit(6, 7, "O")), Preview(("two",), ("TwO",), 1)),
        ((Edit(2, 5, "x"),), Preview(("one", "two"), ("onxwo",))),
        ((Edit(18, 18, "\nfive"),), Preview((), ("five",))),
        ((Edit(19, 19, "five"),), Preview(("",), ("five",))),
        ((Edit(0, 0, "a\n" * 7),), Preview((), ("a",) * 4, 3)),
        ((), None),
    ],
)
def test_a_preview_has_the_lines_that_change(edits: tuple[Edit, ...], expected: Preview | None) -> None:
    """Lines that stay are left out; other places and lines beyond the first are counted, and without edits is none."""
    assert shown(*edits) == expected
    windows = shown(*(Edit(each.start, each.end, each.new) for each in edits), text=TEXT.replace("\n", "\r"))
    assert windows == expected


def test_a_preview_shows_no_secret() -> None:
    """A secret in the lines that a fix changes, or that it moves, is masked."""
    token = "AKIA" + "QWERTYUIOPASDFGH"
    text = f"one\n{token}\n"
    change = shown(Edit(0, 3, token), Edit(4, 4, "x "), text=text, masked=text.replace(token, "*" * len(token)))
    assert change is not None
    assert token not in str(change)


@pytest.mark.slow
def test_every_fix_has_a_preview_that_is_cached() -> None:
    """Each finding of the corpus whose fix has edits has a preview, and it comes back from the cache as it was."""
    for case in cases():
        if case.gone:
            continue
        found = engine.findings(case.data, case.name, case.config, case.queries)
        assert thaw(freeze(found), case.name) == found
        assert all(
            (each.preview is not None) == bool(each.diagnostic.fix and each.diagnostic.fix.edits) for each in found
        )


def test_a_finding_has_the_lines_around_it() -> None:
    """The line above and the line below come with a finding, masked; at the edges of a file there is none."""
    (only,) = engine.findings(
        b"\xef\xbb\xbfNo front matter.", "task-1-state.md", Config(lint=Config().lint._replace(select=("TS002",)))
    )
    assert (only.before, only.source, only.after) == ("", "No front matter.", "")
    text = next(case.data.decode() for case in cases() if case.id == "TS101-status")
    found = engine.findings(text.encode(), "task-101-state.md", Config())[0]
    lines = text.split("\n")
    assert (found.before, found.source, found.after) == tuple(lines[found.line - 2 : found.line + 1])

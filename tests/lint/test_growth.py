"""Work grows with the size of a file, whatever it repeats: counted in steps or calls, which no other load disturbs."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from benchmarks import repeated
from taskstate.brief.brief import brief
from taskstate.formatting.format_files import format_file
from taskstate.formatting.formatter import format_text
from taskstate.lint.cache import freeze, thaw
from taskstate.lint.diagnostics import MOST_REPORTED, MOST_SHOWN
from taskstate.lint.engine import findings, fix
from taskstate.lint.reporters import Run
from taskstate.lint.reporters.text import report
from taskstate.model.archive_format import find_batches
from taskstate.model.config_reader import read_config
from taskstate.syntax.document import forget_parsed, parse
from tests.support.place import Place
from tests.support.steps import FEW, LEAST, LIMIT, MANY, growth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from taskstate.lint.diagnostics import Finding

pytestmark = pytest.mark.slow  # nine seconds together

# Each of these took quadratic time or memory once.
WORST = (
    "one session",
    "sessions backwards",
    "directives",
    "directives of used codes",
    "directives in front matter",
    "secrets",
    "codes in a directive",
    "one key",
    "invisible",
    "conflict markers",
    "features",
    "proved features",
    "sections",
    "sessions",
    "keys",
    "sessions elsewhere",
    "sessions too deep",
    "criteria without a blank",
    "criteria in no list",
    "dividers",
    "misspelt keys",
    "broken JSON",
)


def counted(action: Callable[[], object]) -> Counter[str]:
    """Return how often an action calls what: functions in Python, those in C as one, generators for a next value."""
    forget_parsed()
    called: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event in {"call", "c_call"}:
            name = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}"
            called[name.removeprefix("taskstate.") if event == "call" else "C"] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return called


def grown(action: Callable[[str], object], name: str) -> float:
    """Return how a construct grows: 1 for as many steps for each, however many of it there are, or less."""
    return growth(action, [repeated.repeated(repeated.CONSTRUCTS[name], count) for count in (LEAST, FEW, MANY)])


@pytest.mark.parametrize("name", WORST)
def test_work_grows_with_the_size(name: str) -> None:
    """Lint takes as many steps for each of a construct, however many there are."""
    config = read_config({}, "the test")

    def lint(text: str) -> None:
        found = findings(text.encode(), "task-1-state.md", config)
        assert thaw(freeze(found), "task-1-state.md") == found

    assert grown(lint, name) < LIMIT


@pytest.mark.parametrize(
    "name",
    ["sections", "sessions", "underlined headings", "features", "keys", "nested keys", "directives", "chain inputs"],
)
def test_formatting_grows_with_the_size(name: str) -> None:
    """The formatter takes as many steps for each of a construct, however many there are."""
    assert grown(lambda text: format_text(text, "task-1-state.md"), name) < LIMIT


@pytest.mark.parametrize("listed", ["{n}", "7"])
def test_damaged_archives_grow_with_the_size(listed: str) -> None:
    """Where no closing lines fit, each batch of an archive is found in as many steps, however many there are."""
    entry = "## Session {n} - 2024-01-02\n\n- a\n\n"
    closing = f"Sessions archived: 1-3\nSize: 5 bytes\nEntries SHA-256:\n\n- {listed}: {'0' * 64}\n\n"
    batch = f"{entry}---\n\nArchived on: 2024\nReason: size\n{closing}"
    title = "# Task #1 Archive\n\n"
    texts = [title + "".join(batch.format(n=n) for n in range(1, count + 1)) for count in (LEAST, FEW, MANY)]
    assert len(find_batches(texts[-1])) == MANY
    assert growth(find_batches, texts) < LIMIT


def many(name: str) -> str:
    """Return a state file with many of a construct."""
    return repeated.repeated(repeated.CONSTRUCTS[name], MANY)


def linted(text: str) -> tuple[Finding, ...]:
    """Return the findings in a state file."""
    return findings(text.encode(), "task-1-state.md", read_config({}, "the test"))


@pytest.mark.parametrize("name", ["sessions", "features", "deep headings"])
def test_formatting_reads_a_text_once(name: str) -> None:
    """The formatter parses each text that it makes once, however many passes look at it."""
    text = many(name)
    called = counted(lambda: format_text(text, "task-1-state.md"))
    texts = 3  # the file, and what each pass that finds something to do makes of it
    assert called["syntax.document._parsed"] <= texts
    assert called["formatting.parts._parts"] <= texts
    assert called["model.task_state._state"] <= texts
    assert called["formatting.fences._format"] <= texts


@pytest.mark.parametrize("name", ["keys", "nested keys"])
def test_front_matter_is_typed_once_for_each_text(name: str) -> None:
    """However many passes look at the values of the front matter, they are read once for each text."""
    text = many(name)
    called = counted(lambda: format_text(text, "task-1-state.md"))
    texts = 3  # as above
    assert called["validation.typed_values.typed_value"] <= texts
    assert called["formatting.key_order._editable_root"] <= texts


@pytest.mark.parametrize("name", ["conflict markers", "carriage returns", "underlined headings", "comments"])
def test_the_fast_scanner_reads_it(name: str) -> None:
    """What takes the reference parser a second in ten thousand is not given to it."""
    called = counted(lambda: parse(many(name)))
    assert called["syntax.markdown_blocks._tokens"] == 0


def test_a_front_matter_is_read_no_further_than_its_limits() -> None:
    """Of hundreds of anchors a hundred are read, and keys that are given twice are found without the reference."""
    assert counted(lambda: parse(many("anchors")))["syntax.yaml_parser._Builder.scalar"] < MANY
    assert counted(lambda: parse(many("one key")))["syntax.yaml_parser.read_yaml"] == 0


def test_a_new_session_reads_the_file_three_times(tmp_path: Path) -> None:
    """As it was, with the session, and with the write metadata; each older session is made an item once."""
    place = Place(tmp_path / "repository")
    place.configure("[size]\nmax-kb = 10000\n")
    place.text = many("session without number").replace('task_id: "1"', 'task_id: "101"')
    called = counted(lambda: place.add("read it"))
    assert called["syntax.document._parsed"] == 3
    assert called["model.task_state._state"] == 3


def test_a_format_under_the_lock_is_not_made_anew(tmp_path: Path) -> None:
    """What was read and formatted without the lock is taken, if the file is the same under the lock."""
    place = Place(tmp_path / "repository")
    place.text = place.text.replace("\n## ", "\n\n\n## ")
    called = counted(lambda: format_file(place.workspace, place.path, place.request()))
    assert "\n\n\n" not in place.text
    assert called["formatting.formatter.format_document"] == 1
    texts = 3  # the file, its format, and that with the write metadata
    assert called["syntax.document._parsed"] == texts


def test_a_report_checks_a_text_once_before_its_fixes_and_once_after() -> None:
    """What is known of a text is not found out again to see whether its fixes will be refused."""
    text = many("one session")
    assert any(each.diagnostic.fix for each in linted(text))
    assert counted(lambda: linted(text))["lint.engine._check"] == 2


@pytest.mark.parametrize("name", ["sessions backwards", "criteria without a blank", "directives"])
def test_what_is_not_reported_is_not_tried(name: str) -> None:
    """A text with more findings of a rule than a report has is checked once: their fixes are tried by `--fix`."""
    text = repeated.repeated(repeated.CONSTRUCTS[name], MOST_REPORTED + 1)
    assert any(each.diagnostic.fix for each in linted(text))
    assert counted(lambda: linted(text))["lint.engine._check"] == 1


def test_a_fix_is_previewed_once() -> None:
    """One fix that hundreds of findings share is previewed once, also where findings of another kind stand between."""
    text = many("one session")
    fixes = [each.diagnostic.fix for each in linted(text)]
    assert sum(fix is not None for fix in fixes) >= MANY - 1
    assert sum(one is not other for one, other in pairwise(fixes)) > MANY
    called = counted(lambda: linted(text))
    assert called["lint.previews.preview"] == len({id(fix) for fix in fixes if fix}) == 1
    assert called["lint.engine._changes_sealed"] < MANY


def test_lines_below_each_other_are_deleted_in_one_round() -> None:
    """Hundreds of directives that silence nothing are gone after one round of fixes."""
    text = many("directives in one run")
    assert counted(lambda: linted(text))["lint.engine._check"] == 2
    assert fix(text, "task-1-state.md", read_config({}, "the test")).text.count("taskstate: ignore") == 0


@pytest.mark.parametrize("name", ["features", "proved features"])
def test_no_feature_is_taken_apart_without_a_finding(name: str) -> None:
    """The parts of a feature are read only for the place of a finding: its values are at hand without that.

    The places in the list as a whole are read twice, in the file and in the one with the right percentage.
    """
    text = many(name)
    assert counted(lambda: linted(text))["syntax.json_parser._Unread._read"] <= 2


def test_a_long_line_is_shown_in_part() -> None:
    """However many findings stand in one line, each shows, keeps and caches only the part around it."""
    found = linted(repeated.repeated(repeated.CONSTRUCTS["secrets in a line"], MANY))
    assert len(found) >= MANY
    assert max(len(each.source) for each in found) < 500
    shown = report(found, Run(files=1))
    assert shown.count("hQ7x9Lm2Tr") == 0
    assert all("^" in each for each in shown.split("TS951 secret")[1:])


def test_a_finding_that_is_not_shown_is_not_worded() -> None:
    """Of thousands of findings of one rule the report for people words the first hundred, and counts the others."""
    found = linted(many("controls"))
    called = counted(lambda: report(found, Run(files=1)))
    assert len(found) >= MANY
    assert called["lint.reporters.text._shown"] < 2 * MOST_SHOWN


@pytest.mark.parametrize("name", ["done items", "comments", "fences", "next steps"])
def test_a_brief_grows_with_the_size(name: str, tmp_path: Path) -> None:
    """A brief looks at each of many units about once, however few of them it holds."""
    place = Place(tmp_path / "repository")

    def told(text: str) -> None:
        place.text = text.replace('task_id: "1"', 'task_id: "101"')
        brief(place.workspace, place.workspace.load(place.path))

    # Of the fewest next steps some fit into the brief still, and take other steps: the rest grow by 255 each.
    assert grown(told, name) < (1.7 if name == "next steps" else LIMIT)


def test_a_shared_fix_is_kept_once() -> None:
    """A fix of many edits that thousands of findings share takes no more room in the cache than one."""
    text = repeated.repeated(repeated.CONSTRUCTS["one session"], MANY)
    frozen = freeze(findings(text.encode(), "task-1-state.md", read_config({}, "the test")))
    fixes = [entry[-1] for entry in frozen if entry[3][0] == "TS402"]
    assert len(fixes) >= MANY - 1
    assert sum(isinstance(fix, list) for fix in fixes) == 1

from __future__ import annotations

import pytest

from taskstate.formatting.formatter import format_text
from taskstate.model.canonical_json import audit_seal
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values, with_event
from taskstate.syntax.document import parse
from tests.support.merging import SAMPLE, edited, merge_texts

BROKEN = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # the sample's seal: it was edited by hand
BASE = SAMPLE.replace(BROKEN, audit_seal(front_matter_values(parse(SAMPLE))))
SESSION = "### Session {} - {}\n\n**What I did:**\n\n- {}\n\n**Current state:** s\n\n**Next steps:**\n\n- n\n\n"
AT_END = "## 5. Git History"
OLDER = '  updated_at: "2026-02-05T16:40:12Z"\n  update_count: 21\n'


def front(text: str, key: str) -> object:
    """Return a value of the front matter."""
    return front_matter_values(parse(text)).get(key)


def front_seal(text: str) -> str:
    """Return the seal of a state file."""
    return blocks_of(parse(text)).audit.seal or ""


def with_session(text: str, number: int, time: str, said: str) -> str:
    """Return a state file with another session at the end of its log."""
    return edited(text, (AT_END, SESSION.format(number, time, said) + AT_END))


def log(text: str) -> list[tuple[int, str]]:
    """Return the numbers of the sessions in the log, and what was done first."""
    return [(session.number, session.did[0].split("\n")[0]) for session in read_state(parse(text)).sessions]


# The front matter


def test_keys_of_both_sides_are_taken_over() -> None:
    """What each side did to a key of its own is in the result, form and comments included."""
    ours = edited(BASE, ("priority: P1\n", "priority:   P0  # now\n"), ("epic: Month-end closing\n", ""))
    theirs = edited(BASE, ("area: backend\n", "area: 'core'\n"), ("x-board: ", "# theirs\nx-new: [a,  b]\nx-board: "))
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 0
    assert text == edited(ours, ("area: backend\n", "area: 'core'\n"), ("x-board", "# theirs\nx-new: [a,  b]\nx-board"))


def test_a_front_matter_that_cannot_be_read_conflicts_once() -> None:
    """Where one side broke a line of it, the line that the other changed is a conflict, and what is equal is none."""
    ours, theirs = edited(BASE, ("epic: Month-end", "epic: Month")), edited(BASE, ("epic: Month-end", 'epic: a: "b'))
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == text.count("<<<<<<< ours\n") == 1
    assert text.partition("=======\n")[2].startswith('epic: a: "b')


def test_conflict_is_around_the_key_alone() -> None:
    """A key that both gave another value has markers around all of its lines, and the rest is merged."""
    ours = edited(BASE, ('seal: "0fd5', 'seal: "0000'), ("priority: P1", "priority: P0"))
    theirs = edited(BASE, ('seal: "0fd5', 'seal: "1111'), ("area: backend", "area: core"))
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 1
    first, rest = text.split("<<<<<<< ours\n")
    kept, other, after = rest.split("=======\n")[0], *rest.split("=======\n")[1].split(">>>>>>> theirs\n")
    assert kept.startswith("context:\n  sealed_at:")
    assert other.startswith("context:\n  sealed_at:")
    assert ('seal: "0000' in kept, 'seal: "1111' in other) == (True, True)
    assert "priority: P0\narea: core\n" in first
    assert after.startswith("baseline:\n")


RESULTS = "results: {test: {ok: true, text: 4 passed}}"
OTHERS = "results: {test: {ok: false, text: 1 failed}}"
CHECKED = (
    """---
taskstate: 1
task_id: "1"
title: T
updated_at: "2026-01-01T00:00:00Z"
revision: 1
baseline: {recorded_at: "2026-01-01T00:00:00Z", RESULTS, log_sha256: "%s"}
coordination:
  implementer: {status: in_progress}
audit: {updated_by: base}
---

# T
""".replace("RESULTS", RESULTS)
    % ("a" * 64)
)
DONE = f'{{status: done, completed_at: "2026-01-02T00:00:00Z", qa_log_sha256: "{"a" * 64}"}}'


@pytest.mark.parametrize("turned", [False, True])
def test_results_outlive_a_baseline_of_the_other_side(turned: bool) -> None:  # noqa: FBT001 - a parameter
    """A role that has the log of the baseline alone gets its results, where the other side has another baseline."""
    done = edited(CHECKED, ("{status: in_progress}", DONE))
    redone = edited(CHECKED, (RESULTS, OTHERS), ("a" * 64, "b" * 64))
    text, conflicts = merge_texts(CHECKED, *((redone, done) if turned else (done, redone)))
    assert conflicts == 0
    blocks = blocks_of(parse(text))
    assert (blocks.baseline.results["test"].ok, blocks.role("implementer").qa["test"].ok) == (False, True)


@pytest.mark.parametrize("turned", [False, True])
def test_the_later_write_says_who_wrote(turned: bool) -> None:  # noqa: FBT001 - a parameter
    """Whichever side has the form of an earlier version, with the time in the audit, the newer one counts."""
    older = edited(
        CHECKED, ("updated_by: base", 'updated_by: zoe, updated_at: "2026-01-02T00:00:00Z", update_count: 2')
    )
    older = edited(older, ('updated_at: "2026-01-01', 'updated_at: "2026-01-02'))
    newer = edited(
        CHECKED, ("updated_by: base", "updated_by: ann"), ('updated_at: "2026-01-01', 'updated_at: "2026-01-03')
    )
    text, conflicts = merge_texts(CHECKED, *((newer, older) if turned else (older, newer)))
    assert conflicts == 0
    assert (front(text, "audit"), front(text, "updated_at")) == ({"updated_by": "ann"}, "2026-01-03T00:00:00Z")


@pytest.mark.parametrize("turned", [False, True])
def test_task_that_one_side_dropped_goes_on_where_the_other_did(turned: bool) -> None:  # noqa: FBT001 - a parameter
    """The status of the side that went on wins, its session is there, events say what happened; the seal is right."""
    event = {"at": "2026-02-07T09:00:00Z", "actor": "a", "event": "dropped", "note": "given up"}
    dropped = with_event(edited(BASE, ("status: in_progress", "status: dropped")), event)
    dropped = edited(dropped, (front_seal(dropped), audit_seal(front_matter_values(parse(dropped)))))
    went_on = with_session(BASE, 9, "2026-02-06 10:00", "Side")
    sides = (went_on, dropped) if turned else (dropped, went_on)
    text, conflicts = merge_texts(BASE, *sides)
    assert conflicts == 0
    assert front(text, "status") == "in_progress"
    assert "Side" in [said for _, said in log(text)]
    events = blocks_of(parse(text)).audit.events
    assert {each.event for each in events} >= {"dropped", "reopened"}
    assert front_seal(text) == audit_seal(front_matter_values(parse(text)))


def test_task_that_one_side_reopened_is_open() -> None:
    """What was dropped before and reopened on one side needs no other event than that side's own."""
    dropped = edited(BASE, ("status: in_progress", "status: dropped"))
    event = {"at": "2026-02-07T09:00:00Z", "actor": "a", "event": "reopened", "note": "still wanted"}
    ours, theirs = with_event(BASE, event), with_session(dropped, 9, "2026-02-06 10:00", "Side")
    text, _ = merge_texts(dropped, ours, theirs)
    assert front(text, "status") == "in_progress"
    assert [each.event for each in blocks_of(parse(text)).audit.events].count("reopened") == 1


def test_task_that_both_sides_dropped_stays_dropped() -> None:
    """One that was dropped before and gets a session stays so, too."""
    dropped = edited(BASE, ("status: in_progress", "status: dropped"))
    ours, theirs = edited(dropped, ("priority: P1", "priority: P0")), with_session(dropped, 9, "2026-02-06 10:00", "x")
    for base in (BASE, dropped):
        text, conflicts = merge_texts(base, ours, theirs)
        assert (front(text, "status"), conflicts) == ("dropped", 0)


def test_flow_values_are_changed_in_place() -> None:
    """A map in braces that both changed keeps its form, and only the values that changed are other ones."""
    ours = edited(BASE, ("implementer: {status: in_progress", "implementer: {status: done"))
    theirs = edited(BASE, ("reviewer: {status: pending", "reviewer: {status: in_progress"))
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 0
    assert "  implementer: {status: done, drift_budget: 0}\n" in text
    assert "  reviewer: {status: in_progress, completed_at: null, drift_budget: 0}\n" in text


def test_seal_is_right_again() -> None:
    """Sealed blocks of both sides are united under a seal that fits."""
    event = '    - {{at: "2026-02-06T0{}:00:00Z", actor: a, event: waived, note: "{}"}}\n  seal: '
    copies = []
    for number in (1, 2):
        text = edited(BASE, ('  seal: "' + audit_seal(front_matter_values(parse(BASE))), '  seal: "X'))
        text = edited(text, ('  seal: "X', event.format(number, number) + '"X'))
        copies.append(edited(text, ('"X"', f'"{audit_seal(front_matter_values(parse(text)))}"')))
    text, conflicts = merge_texts(BASE, *copies)
    document = parse(text)
    assert conflicts == 0
    assert [each["note"] for each in document.front_matter["audit"]["events"]][1:] == ["1", "2"]
    assert not blocks_of(document).edited


@pytest.mark.parametrize("broken_side", [0, 1])
def test_broken_seal_stays_broken(broken_side: int) -> None:
    """A merge does not make a hand edit look as if the tool had made it."""
    copies = [edited(BASE, ("priority: P1", "priority: P0")), edited(BASE, ("area: backend", "area: core"))]
    copies[broken_side] = edited(copies[broken_side], ("drift_budget: 0}", "drift_budget: 3}"))
    text, _ = merge_texts(BASE, *copies)
    blocks = blocks_of(parse(text))
    assert blocks.roles["implementer"].budget == 3
    assert blocks.edited


@pytest.mark.parametrize(("ours", "theirs", "result"), [(22, 24, 25), (22, 22, 23), (21, 24, 24), (21, 21, 21)])
def test_revision(ours: int, theirs: int, result: int) -> None:
    """The revision is the higher one, and one more where both sides wrote."""
    copies = [edited(BASE, ("revision: 21", f"revision: {number}")) for number in (ours, theirs)]
    copies = [edited(copies[0], ("P1", "P2")), edited(copies[1], ("area: backend", "area: core"))]
    text, conflicts = merge_texts(BASE, *copies)
    assert (front(text, "revision"), conflicts) == (result, 0)


def test_acknowledged_is_what_both_know() -> None:
    """Where both sides made a new version, an acknowledgement of either counts for the common version only."""
    base = edited(BASE, ("revision: 21\n", "revision: 21\nversion: 6\nacks: {a: 4}\n"))
    ours = edited(base, ("version: 6\nacks: {a: 4}", "version: 7\nacks: {a: 7}"))
    theirs = edited(base, ("version: 6\nacks: {a: 4}", "version: 8\nacks: {a: 4, b: 8}"))
    text, _ = merge_texts(base, ours, theirs)
    assert (front(text, "version"), front(text, "acks")) == (9, {"a": 6, "b": 6})
    text, _ = merge_texts(base, ours, edited(base, ("acks: {a: 4}", "acks: {a: 4, b: 6}")))
    assert (front(text, "version"), front(text, "acks")) == (7, {"a": 7, "b": 6})


def test_comments_that_both_changed_are_a_conflict() -> None:
    """Where both sides changed the same comment, markers stand around it alone."""
    base = edited(BASE, ("x-board: ", "# board\nx-board: "))
    ours, theirs = (edited(base, ("# board\n", f"# {side} board\n")) for side in ("our", "their"))
    conflict = "<<<<<<< ours\n# our board\n=======\n# their board\n>>>>>>> theirs\n"
    assert merge_texts(base, ours, theirs) == (edited(base, ("# board\n", conflict)), 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x-board: {column: 3, colour: teal}", "x-board: &board {column: 3}\nx-copy: *board"),
        ("status: in_progress", "status: [in_progress"),
        ("---\ntaskstate: 1", "---\n{taskstate: 1}\n---\n---\ntaskstate: 1"),
    ],
    ids=["anchors", "broken", "braces"],
)
def test_other_forms_are_merged_line_by_line(old: str, new: str) -> None:
    """A front matter that cannot be taken apart is merged as text, and the sections still by meaning."""
    base = edited(BASE, (old, new))
    ours = with_session(edited(base, ("priority: P1", "priority: P0")), 6, "2026-02-06 10:00", "ours")
    theirs = with_session(base, 6, "2026-02-06 09:00", "theirs")
    text, conflicts = merge_texts(base, ours, theirs)
    assert conflicts == 0
    assert "priority: P0" in text
    assert log(text)[2:] == [(6, "theirs"), (7, "ours")]


def test_value_that_cannot_be_changed_in_place() -> None:
    """Where the merged value cannot be written into our form, the front matter is merged line by line."""
    base = edited(
        BASE, ("x-board: {column: 3, colour: teal}", "x-board:\n  ? column\n  : 3\n  colour: |+\n    teal\n\n")
    )
    ours = edited(base, ("    teal\n", "    blue\n"))
    theirs = edited(base, ("  : 3\n", "  : 4\n  size: 1\n"))
    text, conflicts = merge_texts(base, ours, theirs)
    assert conflicts == 0
    assert "    blue\n" in text
    assert "  : 4\n  size: 1\n" in text


def test_form_that_nothing_can_be_derived_in_is_left() -> None:
    """Derived values that cannot be brought up to date stay, and the linter tells of them: nothing is raised."""
    base = edited(
        BASE,
        ("sessions: {total: 5, archived: 3, recent: 2}", "x-n: &n 5\nsessions: {total: *n, archived: 3, recent: 2}"),
    )
    ours = with_session(base, 6, "2026-02-06 10:00", "ours")
    text, conflicts = merge_texts(base, ours, with_session(base, 6, "2026-02-06 09:00", "theirs"))
    assert conflicts == 0
    assert "sessions: {total: *n, archived: 3, recent: 2}\n" in text
    assert log(text)[2:] == [(6, "theirs"), (7, "ours")]


# The checklist and the criteria


def test_features_are_changed_in_place() -> None:
    """Of the checklist only the values that a side changed are other ones; what is derived follows."""
    ours = edited(
        BASE,
        (
            '"once", "description": "imports each line once", "passes": false, "tested_at": null',
            '"once", "description": "imports each line once", "passes": true, "tested_at": "2026-02-06T08:00:00Z"',
        ),
    )
    theirs = edited(
        BASE, ('"evidence": "make test: 31 passed"}', '"evidence": "make test: 31 passed", "notes": "slow"}')
    )
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 0
    assert text == edited(ours, ('31 passed"}', '31 passed", "notes": "slow"}'), ('"66%"', '"100%"'))


def test_conflict_in_a_feature_is_at_its_line() -> None:
    """A field that both changed has markers around the line of its feature."""
    ours, theirs = (edited(BASE, ("needs the hash", f"needs {word}")) for word in ("a key", "two keys"))
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 1
    assert text.count("\n") == BASE.count("\n") + 4
    assert '<<<<<<< ours\n    {"id": "once"' in text


def test_unreadable_checklist_is_merged_line_by_line() -> None:
    """JSON that does not parse on one side is text."""
    ours = edited(BASE, ('"overall_progress": "66%"', '"overall_progress": 66%'), ("P1", "P2"))
    theirs = edited(BASE, ('"reads PDF"', '"reads  PDF"'))
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 0
    assert '"overall_progress": 66%' in text
    assert '"reads  PDF"' in text


def test_text_around_a_fence_is_merged_beside_it() -> None:
    """A remark above the fence and a value in it do not touch each other, nor does a reworded remark the fence."""
    base = edited(BASE, ("## 3. Feature Checklist\n", "## 3. Feature Checklist\n\nA remark.\n\nAnother.\n"))
    ours = edited(base, ("A remark.", "A word."), ("reads CSV", "reads any CSV"))
    text, conflicts = merge_texts(base, ours, edited(base, ("Another.", "A third."), ("reads PDF", "reads a PDF")))
    assert conflicts == 0
    assert text == edited(ours, ("Another.", "A third."), ("reads PDF", "reads a PDF"))
    text, conflicts = merge_texts(base, edited(base, ("A remark.", "A word.")), edited(base, ("Another.", "A third.")))
    assert (text, conflicts) == (edited(base, ("A remark.", "A word."), ("Another.", "A third.")), 0)


def test_citations_of_both_sides_are_sorted() -> None:
    """Citations are known by what they cite, and stay in the order of file and section."""
    new = '"requirement": "Parsers name the line that they refuse",\n    "section": "errors"\n  }}{}\n]'
    cited = '"content_sha": "0123456789abcdef", "file": "standards/{}.md", "line_span": "L1-L2"'
    cite = f',\n  {{{{{cited}, "requirement": "r", "section": "s"}}}}'
    ours, theirs = (edited(BASE, (new.format(""), new.format(cite.format(name)))) for name in ("zeal", "prose"))
    text, conflicts = merge_texts(BASE, edited(ours, ("L10-L24", "L11-L25")), theirs)
    assert conflicts == 0
    assert text.index('standards/parsing.md",') < text.index("standards/prose.md") < text.index("standards/zeal.md")
    assert "L11-L25" in text


def test_criteria_are_checked_one_by_one() -> None:
    """Marks on neighbouring lines do not conflict, and a criterion that one side reworded keeps its mark."""
    ours = edited(BASE, ("- [ ] The same file", "- [x] The same file"))
    theirs = edited(BASE, ("- [ ] An unknown currency", "- [X] An unknown currency"), ("- [x] A CSV", "- [ ] A CSV"))
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 0
    assert "- [ ] A CSV statement" in text
    assert "- [x] The same file" in text
    assert "- [X] An unknown currency" in text


def test_phases_and_inputs_of_both_sides_are_kept() -> None:
    """A phase or a chain input that each side added stands once, ours or theirs first."""
    phase = '### Phase {}: Next\n\n```json\n{{"phase": {}}}\n```\n\n'
    upstream = "### From Task #{}: More\n\n> x\n\n"
    copies = [
        edited(
            BASE, ("## 4. Progress", phase.format(n, n) + "## 4. Progress"), ("## 3. F", upstream.format(n) + "## 3. F")
        )
        for n in (2, 3)
    ]
    text, conflicts = merge_texts(BASE, *copies)
    titles = [section.title for section in parse(text).sections if section.level == 3]
    assert conflicts == 0
    assert [title for title in titles if title.startswith(("Phase", "From"))] == [
        "From Task #5: Journal tables",
        "From Task #6a: Currency list",
        "From Task #3: More",
        "From Task #2: More",
        "Phase 1: Readers",
        "Phase 3: Next",
        "Phase 2: Next",
    ]


# The rest of the body


def test_commits_of_both_sides_are_kept() -> None:
    """Lines that both added to the Git History are all there, once."""
    ours, theirs = (
        edited(BASE, ("third bank\n\n## 6", f"third bank\n- `{x}` - {x}\n- `c` - both\n\n## 6")) for x in "ab"
    )
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 0
    assert all(text.count(f"- `{name}` - ") == 1 for name in "abc")


def test_what_both_keep_in_form_stays_so() -> None:
    """Of turns, commits and events of both sides, nothing is left to `fmt` that found nothing on either side."""
    turn = 'delta:\n  turn: {{agent: {0}, started_at: "2026-02-06T1{1}:00:00Z", session: 5}}\naudit:'
    commits = "- `1a2b3c4` - add the CSV reader\n- `9ab3c1d` - read MT940 of the third bank\n\n"
    events = BASE[BASE.index("  events:") : BASE.index("  seal: ", BASE.index("  events:"))]
    base = formatted(edited(BASE, (commits, ""), (events, ""), (OLDER, "")))
    written = ('\nupdated_at: "2026-02-05', '\nupdated_at: "2026-02-1{1}'), ("updated_by: importer", "updated_by: {0}")
    changes = (*written, ("audit:", turn), (AT_END, AT_END + "\n\n- `{0}` - x"))
    sides = [formatted(edited(base, *((old, new.format(*who)) for old, new in changes))) for who in ("a2", "b1")]
    text, conflicts = merge_texts(base, *sides)
    assert ("turn-paused" in text, "- `a` - x\n- `b` - x\n\n" in text, conflicts) == (True, True, 0)
    assert formatted(text) == text


def test_a_block_that_both_changed_is_in_order_and_no_conflict() -> None:
    """Keys come in order though a side is not in canonical form elsewhere; equal values in another order are equal."""
    loose = edited(BASE, ("Whatever is kept", "Whatever is kept  "), (OLDER, ""))
    found = edited(
        loose, ("implementer: {status: in_progress", "implementer: {status: in_progress, findings: [{id: 1, text: a}]")
    )
    checked = edited(
        loose, ("implementer: {status: in_progress", "implementer: {status: in_progress, qa: {t: {ok: true, text: x}}")
    )
    text, conflicts = merge_texts(loose, found, checked)
    assert (conflicts, text.index("qa: {") < text.index("findings: [")) == (0, True)
    swapped = ("  updated_by: importer\n  git_head: null\n", "  git_head: null\n  updated_by: importer\n")
    ours = with_event(loose, {"at": "2026-02-06T09:00:00Z", "event": "e1"})
    theirs = with_event(edited(loose, swapped), {"at": "2026-02-06T10:00:00Z", "event": "e2"})
    assert merge_texts(loose, ours, theirs)[1] == 0


def test_sessions_name_a_finding_by_its_number_after_the_merge() -> None:
    """Both sides sent back with a first finding: what a session did about the one that moves has its new number."""
    base = edited(
        BASE, ("  implementer: {status: in_progress, blocking_findings: []", "  implementer: {status: in_progress")
    )
    said = "did {0}\n- raised 1: by hand\n\n**Findings:**\n\n- raised 1: {0}\n- answered 1 ({0}): 1\n"
    said += "- not settled 1: {0}\n- cleared 2: old"
    sides = []
    for minute, name in enumerate(("aa", "bb")):
        found = (
            "implementer: {status: in_progress",
            f"implementer: {{status: in_progress, findings: [{{id: 1, text: {name}}}]",
        )
        sides.append(with_session(edited(base, found), 6, f"2026-02-06 10:0{minute}", said.format(name)))
    merges = [merge_texts(base, *each) for each in (sides, reversed(sides))]
    for text, conflicts in merges:
        assert (conflicts, "{id: 1, text: aa}, {id: 2, text: bb}" in text, log(text)[-1][0]) == (0, True, 7)
        assert "- raised 1: aa\n- answered 1 (aa): 1\n- not settled 1: aa\n- cleared 2: old" in text
        assert text.count("- raised 1: by hand") == 2  # words of a session's own
        assert "- raised 2: bb\n- answered 2 (bb): 1\n- not settled 2: bb\n- cleared 2: old" in text
    again, conflicts = merge_texts(sides[1], merges[0][0], with_session(sides[1], 7, "2026-02-07 10:00", "more"))
    assert (conflicts, [each[0] for each in log(again)][-3:], again.count("raised")) == (0, [6, 7, 8], 4)


def formatted(text: str) -> str:
    """Return a state file in canonical form."""
    return format_text(text, "task-7-state.md")


def test_other_sections_are_merged_as_text() -> None:
    """Different paragraphs are merged, and a paragraph that both changed has markers around it alone."""
    ours = edited(BASE, ("Whatever is kept", "What is kept"), ("each exactly once", "once each"))
    theirs = edited(BASE, ("Whatever is kept", "All that is kept"), ("| 1 | 2 |", "| 1 | 3 |"))
    text, conflicts = merge_texts(BASE, ours, theirs)
    assert conflicts == 1
    assert "once each" in text
    assert "| 1 | 3 |" in text
    assert "<<<<<<< ours\nWhat is kept here stays as it is.\n=======\nAll that" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Notes\n", "## Notes\n\n```\n"),
        ("## Notes\n", "## 4. Progress Log\n"),
        ("taskstate: 1\n", "taskstate: 99\n"),
        ("## Notes\n", "<<<<<<< a\n=======\n>>>>>>> b\n"),
    ],
    ids=["open fence", "two logs", "newer", "conflicted"],
)
def test_what_is_not_understood_is_merged_as_text(old: str, new: str) -> None:
    """A file whose sections are not certain is merged as git would, and nothing in it is renumbered."""
    base = edited(BASE, (old, new))
    ours = with_session(base, 6, "2026-02-06 10:00", "ours")
    theirs = with_session(base, 6, "2026-02-06 09:00", "theirs")
    text, conflicts = merge_texts(base, ours, theirs)
    assert conflicts
    assert text.count("### Session 6 - 2026") == 2 or text.count("### Session 6") == 1
    assert "- ours\n" in text
    assert "- theirs\n" in text


def test_conflicts_in_the_common_version_are_left_out() -> None:
    """What was in conflict between several common versions conflicts again, and everything else is merged."""
    markers = "<<<<<<< ours\ntitle: One\n=======\ntitle: Two\n>>>>>>> theirs\n"
    base = edited(BASE, ("title: Import of bank statements\n", markers))
    ours, theirs = (edited(BASE, ("title: Import of bank statements", f"title: {name}")) for name in ("One", "Two"))
    ours = with_session(ours, 6, "2026-02-06 10:00", "ours")
    text, conflicts = merge_texts(base, ours, with_session(theirs, 6, "2026-02-06 09:00", "theirs"))
    assert conflicts == 1
    assert markers in text
    assert log(text.replace(markers, "title: One\n"))[2:] == [(6, "theirs"), (7, "ours")]


def test_permanent_versions_are_numbered_anew() -> None:
    """Changes of both sides to a permanent task are listed by time, and the newest version names those of both."""
    base = (
        '---\ntaskstate: 1\nkind: permanent\ntask_id: "7"\ntitle: T\nstatus: in_progress\n'
        'created_at: "2026-01-01T00:00:00Z"\nversion: 1\n---\n\n# [PERMANENT] T - State\n\n## 1. User Intent\n\nx\n\n'
        "## 6. Change Log\n\n- v1 - 2026-01-01T00:00:00Z - a - all: first\n"
    )
    ours = edited(base, ("version: 1", "version: 2"), ("- v1", "- v2 - 2026-01-03T00:00:00Z - a - x: late\n- v1"))
    theirs = edited(base, ("version: 1", "version: 2"), ("- v1", "- v2 - 2026-01-02T00:00:00Z - b - y: soon\n- v1"))
    text, conflicts = merge_texts(base, ours, theirs)
    assert (conflicts, front(text, "version")) == (0, 3)
    newest = "- v3 - 2026-01-03T00:00:00Z - a - x, y: late; merged with v2 (y) [architecture change]"
    assert f"\n\n{newest}\n- v2 - 2026-01-02T00:00:00Z - b - y: soon\n- v1 - " in text


def test_change_log_that_was_reworded_is_text() -> None:
    """Lines of another form in a change log are merged line by line."""
    base = BASE.replace(
        "## 5. Git History", "## 5. Change Log\n\n- v1 - 2026-01-01 - a - all: first\n\nolder ones\n\n## 5. Git History"
    )
    ours = edited(base, ("- v1", "- v2 - 2026-01-03 - a - x: late\n- v1"), ("older ones", "all older ones"))
    text, conflicts = merge_texts(base, ours, edited(base, ("- v1", "- v2 - 2026-01-02 - b - y: soon\n- v1")))
    assert conflicts == 1
    assert "x: late\n=======\n" in text


def test_file_that_both_created() -> None:
    """Without a common version, what both say alike is said once, and sessions of both are kept."""
    ours = with_session(BASE, 6, "2026-02-06 10:00", "ours")
    theirs = with_session(BASE, 6, "2026-02-06 09:00", "theirs")
    text, conflicts = merge_texts("", ours, theirs)
    assert conflicts == 0
    assert [number for number, _ in log(text)] == [4, 5, 6, 7]


@pytest.mark.parametrize("swap", [False, True])
def test_inputs_are_known_by_their_task(swap: bool) -> None:  # noqa: FBT001 - each side in turn
    """A Chain Input whose heading one side has changed is still the one that the other side has pulled anew."""
    titled = edited(BASE, ("### From Task #5: Journal tables\n", "### From Task #5: Journal\n"))
    pulled = edited(BASE, ("has a unique `source_hash`", "has a hash"))
    sides = (pulled, titled) if swap else (titled, pulled)
    assert merge_texts(BASE, *sides) == (edited(titled, ("has a unique `source_hash`", "has a hash")), 0)

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from taskstate.errors import TaskstateError
from taskstate.model.canonical_json import SEALED_KEYS, audit_seal
from taskstate.model.write_metadata import (
    WriteMetadata,
    check_seal,
    set_front_matter,
    timestamp,
    with_event,
    with_write_metadata,
)
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply

STAMP = WriteMetadata(actor="some: body", now=datetime(2026, 1, 31, 12, 5, 7, tzinfo=UTC), git_head="a" * 40)
BODY = """\
# Task #1: T - State

## 3. Feature Checklist

```json
{"features": [{"id": "a", "passes": true}, {"id": "b", "passes": false}], "overall_progress": "0%"}
```

## 4. Progress Log

### Session 1 - 2026-01-01 10:00

x
"""


def file_of(*lines: str) -> str:
    """Return a state file with these lines in its front matter."""
    return "\n".join(["---", "taskstate: 1", 'task_id: "1"', "title: T", *lines, "---", "", BODY])


def marked(*lines: str) -> dict[str, object]:
    """Return the front matter of a file with these lines, after a write."""
    return dict(parse(with_write_metadata(file_of(*lines), STAMP, revision=5)).front_matter)


def test_marks_of_a_write() -> None:
    """A write leaves revision, times, counts, size, progress, and who wrote, under a valid seal."""
    text = with_write_metadata(file_of("status: created", 'created_at: "2026-01-01T00:00:00Z"'), STAMP, revision=5)
    assert text.split("---\n")[1] == (
        'taskstate: 1\ntask_id: "1"\ntitle: T\nstatus: created\ncreated_at: "2026-01-01T00:00:00Z"\n'
        'updated_at: "2026-01-31T12:05:07Z"\nrevision: 5\nsessions: {total: 1, archived: 0, recent: 1}\n'
        "file_size_kb: 1\n"
        'audit:\n  updated_by: "some: body"\n'
        f'  git_head: "{"a" * 40}"\n  seal: "{audit_seal({})}"\n'
    )
    assert '"overall_progress": "50%"' in text


def test_second_write_changes_values_in_place() -> None:
    """What stands there already is changed value by value, whatever its form."""
    lines = (
        "revision: 4   # four",
        "audit: {seal: null,   git_head:  null, x-mine: [ 1 ]}",
        "updated_at:   '2020-01-01T00:00:00Z'",
        "file_size_kb: 9",
        "sessions: {recent: 1,   total: 4, archived: 0}",
    )
    text = with_write_metadata(file_of(*lines), STAMP, revision=5)
    assert "revision: 5   # four\n" in text
    assert f'git_head:  "{"a" * 40}", ' in text
    assert ", x-mine: [ 1 ]}" in text
    assert 'updated_at:   "2026-01-31T12:05:07Z"\n' in text
    assert "sessions: {recent: 1,   total: 1, archived: 0}" in text
    assert "file_size_kb: 1\n" in text


@pytest.mark.parametrize(
    "audit",
    [
        'audit: {updated_at: "2020-01-01T00:00:00Z", update_count: 3}',
        'audit: {x-a: 1, updated_at: "2020-01-01T00:00:00Z", update_count: many, seal: null}',
        'audit:\n  updated_by: me  # once\n  updated_at: "2020-01-01T00:00:00Z"\n  update_count: 3\n  x-a: 1',
        "audit:\n  update_count: 3",
    ],
)
def test_what_the_front_matter_says_above_goes(audit: str) -> None:
    """An audit of an earlier version loses time and number of the write, which `updated_at` and `revision` say."""
    written = marked(audit)["audit"]
    assert isinstance(written, dict)
    assert {*written} == {"updated_by", "git_head", "seal", *(["x-a"] if "x-a" in audit else [])}


@pytest.mark.parametrize("audit", ["audit:", "audit: {}", "audit: ~", "audit: x", "audit: [x]", "x-a: 1"])
def test_audit_of_another_form_is_written_anew(audit: str) -> None:
    """Where there is no map to keep, the audit is written as a whole."""
    written = marked(audit)["audit"]
    assert isinstance(written, dict)
    assert list(written) == ["updated_by", "git_head", "seal"]


def test_stamping_again_changes_nothing() -> None:
    """The same write twice gives the same bytes."""
    once = with_write_metadata(file_of(), STAMP, revision=5)
    assert with_write_metadata(once, STAMP, revision=5) == once


@pytest.mark.parametrize("lines", [("title: U",), ("title: a: b",)])
def test_front_matter_that_cannot_be_read_is_not_stamped(lines: tuple[str, ...]) -> None:
    """Nothing is written into a front matter that cannot be read."""
    with pytest.raises(TaskstateError, match="cannot be read"):
        with_write_metadata(file_of(*lines), STAMP, revision=5)


def test_timestamp_is_utc_to_the_second() -> None:
    """A moment is written as the format wants it."""
    assert timestamp(datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)) == "2026-01-02T03:04:05Z"


def test_key_is_set_at_its_place() -> None:
    """A new key stands where the schema has it."""
    document = parse(file_of("revision: 1"))
    text = apply(document.text, set_front_matter(document, "status", "blocked"))
    assert "title: T\nstatus: blocked\nrevision: 1\n" in text


def test_events_stand_before_the_seal() -> None:
    """An event is put behind those that are there; the first one opens a list at its place in the audit."""
    once = with_event(with_write_metadata(file_of(), STAMP, revision=1), {"event": "waived"})
    audit = parse(with_event(once, {"event": "resealed"})).front_matter["audit"]
    assert [*audit] == ["updated_by", "git_head", "events", "seal"]
    assert audit["events"] == [{"event": "waived"}, {"event": "resealed"}]
    assert parse(with_event(file_of(), {"event": "x"})).front_matter["audit"] == {"events": [{"event": "x"}]}


# The seal


@pytest.mark.parametrize("key", [*SEALED_KEYS, "events"])
def test_changed_block_breaks_the_seal(key: str) -> None:
    """A change in any of the blocks is seen, and one beside them is not."""
    block = "audit:\n  events: [{event: x}]" if key == "events" else f"{key}: {{x-a: 1}}"
    text = with_write_metadata(file_of(block), STAMP, revision=1)
    check_seal(parse(text), "x.md")
    check_seal(parse(text.replace("title: T", "title: U").replace("revision: 1", "revision: 7")), "x.md")
    changed = text.replace("event: x", "event: y") if key == "events" else text.replace("x-a: 1", "x-a: 2")
    assert changed != text
    with pytest.raises(TaskstateError, match=r"x\.md: .* changed by hand") as caught:
        check_seal(parse(changed), "x.md")
    assert caught.value.code == "seal-broken"


@pytest.mark.parametrize("audit", ["", "audit: {}", "audit: {update_count: 3}", "audit: text", "audit: [seal]"])
def test_file_without_a_seal_is_accepted(audit: str) -> None:
    """A file by hand has no seal that could be broken."""
    check_seal(parse(file_of("context: {x-a: 1}", *([audit] if audit else ()))), "x.md")


@pytest.mark.parametrize("form", ['seal: "{}"', "seal: '{}'", "seal: {}", 'seal:   "{}"  # mine'])
def test_seal_does_not_depend_on_form(form: str) -> None:
    """Quoting, spacing and the order of keys are no change."""
    seal = audit_seal({"context": {"x-a": 1, "x-b": "2026-01-01"}})
    lines = ("audit:", "  " + form.format(seal), "context:", '  x-b: "2026-01-01"   # a date', "  x-a:   1")
    check_seal(parse(file_of(*lines)), "x.md")

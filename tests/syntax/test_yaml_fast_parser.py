"""The fast reader: it must not decline what the tool itself writes, and must leave everything odd to the reference."""

from __future__ import annotations

import pytest

from taskstate.syntax.nodes import Node
from taskstate.syntax.yaml_fast_parser import scan_yaml
from taskstate.syntax.yaml_parser import read_yaml
from tests.support.data_strategies import SAMPLE

AS_WRITTEN = """\
taskstate: 1
kind: task
task_id: "31"
title: "Export: tables, \\"quoted\\" cells \\\\ rows"
priority: P1
prd: ../plans/export.md
depends_on: ["29", "30"]
created_at: "2025-03-04T08:00:00Z"
revision: 12
sessions: {total: 4, archived: 2, recent: 2}
archive_path: null
context:
  sealed_at: "2025-03-04T08:00:02Z"
  sources:
    - {path: tasks/export.task.yaml, sha256: "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"}
    - {path: standards/cells.md, sha256: "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"}
  seal: "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
baseline:
  status: recorded
  results:
    lint: {ok: true, text: "0 problems"}
    "unit tests": {ok: false, text: "1 failed, 9 passed"}
coordination:
  implementer:
    status: done
    completed_at: "2025-03-04T09:00:00Z"
    blocking_findings: []
    drift_budget: 0
  reviewer: {status: pending, blocking_findings: [], drift_budget: 0}
delta:
  base_commit: "4f2c1e9a77d0b3c58e6f4a1d2b9c8e7f6a5d4c3b"
  snapshots:
    implementer:
      diff_stat: "2 files changed, 145 insertions(+), 3 deletions(-)"
      files_changed:
        - {path: package.json, status: M, mode: "100644", size: 812, previous_sha256: null}
handoffs: {count: 1, open: handoffs/task-31/phase-1-handoff-20250304T090000Z.md}
audit:
  updated_by: implementer
  events:
    - {at: "2025-03-04T09:00:00Z", actor: implementer, event: "role done", note: "it's \\t done"}
x-owner: Größe & Co, München
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("text", [AS_WRITTEN, SAMPLE], ids=["as written", "by hand"])
def test_the_common_shape_is_read_exactly(text: str, newline: str) -> None:
    """What the tool writes, and ordinary front matter by hand, is not declined and gives the reference's tree."""
    text = text.replace("\n", newline)
    node = scan_yaml(text, 0, len(text))
    assert isinstance(node, Node)
    assert node == read_yaml(text, 0, len(text))


def test_offsets_are_absolute() -> None:
    """A part of a text is read with the offsets of the whole."""
    text = "---\na: [1, x]\n---\n"
    node = scan_yaml(text, 4, 14)
    assert isinstance(node, Node)
    assert node == read_yaml(text, 4, 14)
    assert node.entries[0].value.span.of(text) == "[1, x]"


def test_blanks_in_brackets_are_read() -> None:
    """Blanks around what stands in brackets do not matter."""
    text = "a: [ [x] , { b: c } ]\n"
    node = scan_yaml(text, 0, len(text))
    assert node is not None
    assert node == read_yaml(text, 0, len(text))


def test_a_last_line_without_an_end_is_read() -> None:
    """The text may stop behind the last value."""
    node = scan_yaml("a:\nb:", 0, 5)
    assert isinstance(node, Node)
    assert node.value() == {"a": None, "b": None}


def test_keys_that_are_given_twice_are_faults() -> None:
    """Each further one is a fault, as the reference finds it; a text with another fault is left to the reference."""
    text = "a: 1\nb: 2\na: 3\na:\n- x\nb: 4\n"
    faults = scan_yaml(text, 0, len(text))
    assert isinstance(faults, tuple)
    assert len(faults) == 3
    assert faults == read_yaml(text, 0, len(text))
    assert scan_yaml(f"{text}c: @d\n", 0, len(text) + 6) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only\n",
        "a\n",
        "- a\n",
        " a: 1\n",
        "a:\t1\n",
        "a: 1\n\tb: 2\n",
        "a: &x 1\n",
        "a: *x\n",
        "a: !t 1\n",
        "a: |\n  x\n",
        "a: x\n  y\n",
        "a: x\n  b: y\n",
        "a: [1,\n  2]\n",
        "a: [1, ]\n",
        "a: {b}\n",
        "a: {b: 1, b: 2}\n",
        "a: {b: 1}\nc:\n  d: 1\n  d: 2\n",
        "a: 'x\n",
        'a: "\\u00e9"\n',
        "? a\n: b\n",
        "a: b: c\n",
        "a: @b\n",
        "a: 'x'#c\n",
        "a: [x]#c\n",
        "a: 1\n...\n",
        "a:\n  -\n",
        "a:\n  - b\n    c: 1\n",
        "a:\n  - b\n   - c\n",
        "a:\n    b: 1\n  c: 2\n",
        "a: x\u2028y\n",
        "a: \ufeffx\n",
        "a: x\ry: 1\n",
        "<<: {a: 1}\n",
        f"a:\n{' ' * 40}b: 1\n",
        f"a: {'[' * 12}{']' * 12}\n",
    ],
)
def test_everything_odd_is_declined(text: str) -> None:
    """Faults and uncommon forms are the reference's to read."""
    assert scan_yaml(text, 0, len(text)) is None

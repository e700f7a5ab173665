"""What the documents promise names the tests that hold it: they exist, and each promise names one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = ("docs/security-tests.md", "docs/concurrency.md", "docs/keeping.md")
_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
_ROW = re.compile(r"^\| (?!promise |--- )(.*) \|$", re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_tests_that_are_named_exist(document: str) -> None:
    """A promise whose test was renamed or dropped is noticed."""
    named = _TEST.findall((ROOT / document).read_text(encoding="utf-8"))
    assert named
    for path, test in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert not test or test in functions, f"{document}: there is no {path}::{test}"


def test_every_promise_names_a_test() -> None:
    """A promise that nothing holds is none."""
    rows = _ROW.findall((ROOT / "docs/security-tests.md").read_text(encoding="utf-8"))
    assert len(rows) > 20
    assert [row for row in rows if not _TEST.search(row)] == []

"""The table of error codes, which the type checker holds against every place that raises or compares one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, get_args

from scripts.import_graph import nodes
from taskstate.error_codes import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterator


def others() -> Iterator[ast.AST]:
    """Yield every node of every module but the table's own."""
    for module, each in nodes().items():
        if module != "taskstate.error_codes":
            yield from each


def test_every_code_is_used() -> None:
    """The table names no code that no error has any more."""
    given = [
        node
        for node in others()
        if (isinstance(node, ast.keyword) and node.arg == "code")
        or (isinstance(node, ast.AnnAssign) and "ErrorCode" in ast.unparse(node.annotation))
    ]
    words = {each.value for node in given for each in ast.walk(node) if isinstance(each, ast.Constant)}
    assert sorted(set(get_args(ErrorCode)) - words) == []


def test_codes_are_compared_where_the_type_checker_sees_it() -> None:
    """In a set on the spot a typo would pass the type check; in a constant of type `frozenset[ErrorCode]` it fails."""
    unseen = [
        ast.unparse(node)
        for node in others()
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "code"
        and isinstance(node.comparators[0], ast.Set | ast.Tuple | ast.List)
    ]
    assert unseen == []

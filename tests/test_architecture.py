"""Which package may import from which, that nothing goes in circles, and what is imported only where it is used."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from scripts.import_graph import EDGES, ORDER, TREES, imported, package_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PURE = {"validation", "model"}  # they judge and read texts; only `storage` and what builds on it knows a disk
HEAVY = {"ruamel", "markdown_it", "jsonschema", "jinja2", "rich", "watchfiles", "splintr", "re2", "frontmatter", "yaml"}
BUILT_ON = {"taskstate.frontmatter_handler"}  # defines a class of a heavy library, and is imported where it is used


def at_import_time(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when their module is imported: no function's body, nothing under TYPE_CHECKING."""
    for child in ast.iter_child_nodes(node):
        guarded = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not guarded and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from at_import_time(child)


def test_imports_go_one_way() -> None:
    """A package imports only from those before it in `ORDER`, and a pure one never from `storage`."""
    wrong = [
        f"{module} imports {name}"
        for module, names in EDGES.items()
        for name in sorted(names)
        if ORDER.index(package_of(name)) > ORDER.index(package_of(module))
        or (package_of(module) in PURE and package_of(name) == "storage")
    ]
    assert not wrong, "let the caller pass in what is needed, or move it; see docs/architecture.md"


def test_nothing_imports_in_circles() -> None:
    """No module imports itself through others."""
    try:
        TopologicalSorter(EDGES).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_rules_reach_no_disk() -> None:
    """What a lint rule imports, even through others, lies neither in `storage` nor in `workspace`."""
    todo = [module for module in EDGES if module.startswith("taskstate.lint.rules.")]
    came_from = dict.fromkeys(todo, "")
    while todo:
        module = todo.pop()
        fresh = EDGES[module] - came_from.keys()
        came_from |= dict.fromkeys(fresh, module)
        todo += fresh
    disk = [f"{came_from[name]} imports {name}" for name in came_from if package_of(name) in {"storage", "workspace"}]
    assert not disk, "what a rule asks beyond the text is a question in lint/queries/interface.py"


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    """No module brings in a heavy library by being imported, because start-up time is a target."""
    wrong = [
        f"{module} imports {name} at its top"
        for module, tree in TREES.items()
        for name in sorted(imported(at_import_time(tree)))
        if (name.split(".")[0] in HEAVY and module not in BUILT_ON) or name in BUILT_ON
    ]
    assert not wrong, "import it in the function that uses it"

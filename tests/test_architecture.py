"""Which package may import from which, that nothing goes in circles, and what is imported only where it is used."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# Bottom up: a package imports from those before it. What each one is for stands in its `__init__`.
ORDER = (
    *("errors", "version", "resources"),
    *("syntax", "storage", "validation", "model"),
    *("workspace", "archive", "formatting", "context", "handoff", "verification", "merge", "tasks"),
    *("lint", "workflow", "cli", "__main__"),
)
NEVER = {"validation": {"storage"}, "model": {"storage"}, "storage": {"syntax"}}
# Imports that go the wrong way and are about to end.
ENDING = {
    ("taskstate.handoff.create.create", "taskstate.lint.diagnostics"),
    ("taskstate.handoff.create.create", "taskstate.lint.engine"),
    ("taskstate.model.names", "taskstate.verification.qa.results"),
    ("taskstate.workspace.workspace.run_cache", "taskstate.lint.compared_revision"),
    ("taskstate.workspace.workspace.run_cache", "taskstate.lint.queries.answers"),
    ("taskstate.workspace.workspace.run_cache", "taskstate.lint.queries.interface"),
}
HEAVY = {"ruamel", "markdown_it", "jsonschema", "filelock", "jinja2", "rich", "watchfiles", "splintr"}
PACKAGE = Path(__file__).parent.parent / "taskstate"
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def imports(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Yield the modules that the import statements among `nodes` bring in."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in MODULES else node.module for name in full)


def package_of(module: str) -> str:
    """Return the package of ours that a module stands in, or its own name where it stands beside them."""
    return module.split(".")[1] if "." in module else module


def wrong_imports(module: str) -> Iterator[str]:
    """Yield what a module imports of ours, wherever in it, from a package that is not before its own."""
    here = package_of(module)
    if here not in ORDER or MODULES[module].parent == PACKAGE or here in {"merge", "lint", "cli"}:
        return
    for name in sorted(set(imports(ast.walk(ast.parse(MODULES[module].read_bytes()))))):
        there = package_of(name)
        known = name in MODULES and there in ORDER and (module, name) not in ENDING
        if known and (ORDER.index(there) > ORDER.index(here) or there in NEVER.get(here, ())):
            yield name


def at_import_time(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when their module is imported: no function's body, nothing under TYPE_CHECKING."""
    for child in ast.iter_child_nodes(node):
        guarded = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not guarded and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from at_import_time(child)


def test_imports_go_one_way() -> None:
    """A package imports only from those before it in `ORDER`."""
    wrong = {module: found for module in MODULES if (found := [*wrong_imports(module)])}
    assert not wrong, "let the caller pass in what is needed, or move it; see docs/architecture.md"


@pytest.mark.parametrize("module", MODULES)
def test_heavy_libraries_are_imported_where_they_are_used(module: str) -> None:
    """No module brings in a heavy library by being imported, because start-up time is a target."""
    names = set(imports(at_import_time(ast.parse(MODULES[module].read_bytes()))))
    heavy = sorted(name for name in names if name.split(".")[0] in HEAVY)
    assert not heavy, f"{module} imports {', '.join(heavy)} at its top: move that into the function that uses it"

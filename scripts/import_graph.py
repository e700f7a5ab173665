"""Builds the import graph from the source with `ast`, for the architecture test and the package picture."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Bottom up: a package imports only from those before it. Its `__init__` says what it is for.
ORDER = (
    *("version", "typed", "error_codes", "errors", "resources", "messages"),
    *("syntax", "frontmatter_handler", "validation", "secrets", "model", "units", "storage", "transcripts"),
    *("workspace", "writing", "archive", "formatting", "context"),
    *("handoff", "chain", "evidence", "snapshots", "qa", "roles"),
    *("merge", "recovery", "tasks", "permanent"),
    *(
        "autosave",
        "lint",
        "migration",
        "exporting",
        "importing",
        "brief",
        "views",
        "query",
        "fleet",
        "setup",
        "doctor",
        "turn",
    ),
    *("api", "operations", "loopback", "page", "agents", "lsp", "cli", "mcp_server", "__main__"),
)
PACKAGE = Path(__file__).resolve().parent.parent / "taskstate"


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each module by its name; to parse them all takes seconds."""
    return {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_bytes()
        )
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@cache
def nodes() -> dict[str, tuple[ast.AST, ...]]:
    """Return every node of each module by its name; to walk through them all takes a second."""
    return {module: tuple(ast.walk(tree)) for module, tree in trees().items()}


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the modules that the import statements among `nodes` import."""
    modules: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = (f"{node.module}.{alias.name}" for alias in node.names)
            modules.update(name if name in trees() else node.module for name in full)
    return modules


def package_of(module: str) -> str:
    """Return the package of a module, or the module's own name if it is directly in `taskstate`."""
    return module.split(".")[1]


@cache
def edges() -> dict[str, set[str]]:
    """Return the modules of taskstate that each module imports, inside functions and for type checking, too.

    The root is left out: it is the public API, which refers to all packages and loads them lazily, and none imports it.
    """
    return {
        module: imported(each) & trees().keys() - {module, "taskstate"}
        for module, each in nodes().items()
        if module != "taskstate"
    }


def package_edges() -> dict[str, set[str]]:
    """Return the packages that each package imports."""
    found: dict[str, set[str]] = {package: set() for package in ORDER}
    for module, names in edges().items():
        found[package_of(module)] |= {package_of(name) for name in names} - {package_of(module)}
    return found

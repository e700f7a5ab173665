"""Which module imports which, read from the source with `ast`: for the architecture test and for its picture."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Bottom up: a package imports from those before it. What each one is for stands in its `__init__`.
ORDER = (
    *("errors", "version", "resources", "messages"),
    *("syntax", "storage", "validation", "model"),
    *("workspace", "archive", "formatting", "context", "handoff", "verification", "merge", "tasks"),
    *("lint", "workflow", "cli", "__main__"),
)
PACKAGE = Path(__file__).resolve().parent.parent / "taskstate"
TREES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
        path.read_bytes()
    )
    for path in sorted(PACKAGE.rglob("*.py"))
}


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the modules that the import statements among `nodes` bring in."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = (f"{node.module}.{alias.name}" for alias in node.names)
            found.update(name if name in TREES else node.module for name in full)
    return found


def package_of(module: str) -> str:
    """Return the package of ours that a module stands in, or its own name where it stands beside them."""
    return module.split(".")[1]


# What each module imports of ours, wherever in it: inside functions and for types alone too. The root is the public
# API, which names what lies in all packages and loads it when it is asked for.
EDGES = {
    module: imported(ast.walk(tree)) & TREES.keys() - {module, "taskstate"}
    for module, tree in TREES.items()
    if module != "taskstate"
}


def package_edges() -> dict[str, set[str]]:
    """Return which package imports which others."""
    edges: dict[str, set[str]] = {package: set() for package in ORDER}
    for module, names in EDGES.items():
        edges[package_of(module)] |= {package_of(name) for name in names} - {package_of(module)}
    return edges

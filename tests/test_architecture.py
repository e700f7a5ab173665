"""The import direction of docs/architecture.md, and what must not be imported before it is needed."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = (  # a room may import from its own level and from those above it in this list
    {"errors", "text", "edit", "version"},
    {"data", "data_edits", "json_edits", "blocks", "scan"}
    | {"json_spans", "yaml_spans", "yaml_scan", "yaml_faults", "yaml_file", "yaml_lines", "yaml_write"},
    {"document", "embed", "normalize", "paths", "secret_forms", "secret_library", "secrets"},
    {
        "schema",
        "kinds",
        "state",
        "config",
        "seal",
        "derived",
        "references",
        "limits",
        "stamp",
        "batches",
        "chain",
        "quoting",
        "produced",
        "graph",
        "circles",
        "decomposition",
        "form",
        "renames",
        "scope",
        "roles",
        "tokens",
        "static_part",
        "static_edits",
        "citations",
        "task_file",
        "capture",
        "capture_citations",
        "capture_paths",
        "respan",
        "brief_parts",
        "export_fields",
        "phase_parts",
        "handoff_document",
        "handoff_draft",
        "handoff_input",
        "handoff_places",
        "turns",
        "secret_guard",
        "qa",
        "qa_tools",
        "qa_logs",
        "rendering",
    },
    DISK := {"files", "git", "git_log", "journal", "lock", "plans", "recent", "resources", "source", "swap"}
    | {"git_index", "worktree", "packs"},
    {"workspace", "guards", "lost", "plan_secrets", "rolling", "templates", "writing", "artifacts", "outside_text"},
    MEANS := {"lint", "lint.rules", "create", "sessions", "checklist", "archive", "summary", "taskstate"}
    | {"likeness", "statements", "summarizer"}
    | {
        "brief",
        "check",
        "decompose",
        "evidence",
        "heads",
        "memory",
        "mend",
        "overview",
        "set_up",
        "doctor",
        "renumber",
        "reseal",
        "restore",
        "treatment",
        "reformat",
        "protocol",
    }
    | {"asked", "history", "merge", "surroundings"}
    | {
        "context",
        "context_capture",
        "context_check",
        "context_past",
        "context_readable",
        "context_sources",
        "context_text",
        "context_view",
        "manifest",
    }
    | {"surroundings_context"}
    | {"phases", "handoff", "handoff_files", "handoff_now", "successor", "surroundings_handoffs", "takeover"}
    | {"delta", "ground", "comparing", "listing", "taking", "snapshots", "resolving", "restoring", "purge"}
    | {"submodules"}
    | {"coordination", "status", "surroundings_artifacts"}
    | {"named", "pulling", "completeness", "completion", "handing_down", "glance", "next_task"}
    | {"budget", "exports", "reminder"}
    | {"qa_record", "excerpts", "excerpt_check"}
    | {"archive_check", "unarchive", "history_sync", "restage"},
    DOORS := {"cli", "mcp", "lsp", "agent_hooks", "web"},
)
ONLY = {
    "files": {"errors"},
    "git": {"errors"},
    "git_index": {"errors", "git"},
    "git_log": {"errors", "git"},
    "worktree": {"errors", "files", "git"},
    "packs": {"errors", "files", "git", "worktree"},
    "resources": {"errors"},
    "source": {"errors", "files", "git", "git_index"},
    "lock": {"errors", "files"},
    "swap": {"errors", "files"},
    "recent": {"errors", "files", "swap"},
    "plans": {"errors"},
    "journal": {"errors", "files", "plans", "recent"},
}
ALSO = {"schema": {"resources"}, "kinds": {"resources"}} | {door: {door} for door in DOORS}
NEVER = {"lint.rules": DISK | {"workspace"} | MEANS - {"lint", "lint.rules"}} | dict.fromkeys(DOORS, DOORS)
HEAVY = {"ruamel", "markdown_it", "jsonschema", "filelock", "jinja2", "rich", "watchfiles", "splintr"}
WHERE = "see docs/architecture.md, and LEVELS in tests/test_architecture.py"
PACKAGE = Path(__file__).parent.parent / "taskstate"
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def room_of(module: str) -> str:
    """Return the room that a module of the package belongs to: its first part, but rules stand apart from lint."""
    parts = module.split(".")[1:] or ["taskstate"]
    return {"__main__": "cli"}.get(parts[0], "lint.rules" if parts[:2] == ["lint", "rules"] else parts[0])


def allowed(room: str) -> set[str]:
    """Return the rooms that `room` may import from."""
    level = next((number for number, rooms in enumerate(LEVELS) if room in rooms), None)
    assert level is not None, f"{room} has no room yet: decide what it may know and give it a level; {WHERE}"
    return ONLY.get(room) or set().union(*LEVELS[: level + 1]) - NEVER.get(room, set()) | ALSO.get(room, set())


def imports(nodes: Iterator[ast.AST]) -> Iterator[str]:
    """Yield the full names that the import statements among `nodes` bring in."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "taskstate":
            yield from (f"taskstate.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def at_import_time(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when their module is imported: no function's body, nothing under TYPE_CHECKING."""
    for child in ast.iter_child_nodes(node):
        guarded = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not guarded and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from at_import_time(child)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module: str) -> None:
    """A module imports from its own level and lower ones; rules reach no disk, and doors not each other."""
    may = allowed(room_of(module))
    names = {
        name for name in imports(ast.walk(ast.parse(MODULES[module].read_bytes()))) if name.startswith("taskstate")
    }
    wrong = sorted(name for name in names if room_of(name) not in may)
    assert not wrong, f"{module} must not import {', '.join(wrong)}: let the caller pass in what it needs; {WHERE}"


@pytest.mark.parametrize("module", MODULES)
def test_heavy_libraries_are_imported_where_they_are_used(module: str) -> None:
    """No module brings in a heavy library by being imported, because start-up time is a target."""
    names = set(imports(at_import_time(ast.parse(MODULES[module].read_bytes()))))
    heavy = sorted(name for name in names if name.split(".")[0] in HEAVY)
    assert not heavy, f"{module} imports {', '.join(heavy)} at its top: move that into the function that uses it"

"""Which package may import from which, that nothing goes in circles, and what is imported only where it is used."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from scripts.import_graph import ORDER, PACKAGE, edges, imported, nodes, package_of, trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PURE = {"validation", "model"}  # they judge and read texts; only `storage` and what builds on it knows a disk
HEAVY = {"ruamel", "markdown_it", "jsonschema", "jinja2", "watchfiles", "splintr", "re2", "frontmatter", "yaml"}
BUILT_ON = {"taskstate.frontmatter_handler"}  # defines a class of a heavy library, and is imported where it is used

DOORS = {"cli", "mcp_server", "lsp", "agents"}

CLOCK = r"(?:.*\.)?(?:datetime\.(?:now|utcnow|today)|date\.today|time\.(?:time|time_ns|gmtime|localtime|ctime|asctime))"
# Which module asks for the time below the doors, and why.
CLOCK_EXCEPTIONS = {
    "taskstate.api": "where a program calls, it is the door",
    "taskstate.operations.call": "what all doors derive their calls from",
    "taskstate.storage.lock": "writes down since when it is held, which no caller knows",
    "taskstate.storage.file_sources": "asks whether a file may change again and keep its time stamps",
    "taskstate.workspace.task_index": "as file_sources",
    "taskstate.query.index": "as file_sources",
}


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
        for module, names in edges().items()
        for name in sorted(names)
        if ORDER.index(package_of(name)) > ORDER.index(package_of(module))
        or (package_of(module) in PURE and package_of(name) == "storage")
    ]
    assert not wrong, "let the caller pass in what is needed, or move it; see docs/architecture.md"


def test_nothing_imports_in_circles() -> None:
    """No module imports itself through others."""
    try:
        TopologicalSorter(edges()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_rules_reach_no_disk() -> None:
    """What a lint rule imports, even through others, lies neither in `storage` nor in `workspace`."""
    todo = [module for module in edges() if module.startswith("taskstate.lint.rules.")]
    came_from = dict.fromkeys(todo, "")
    while todo:
        module = todo.pop()
        fresh = edges()[module] - came_from.keys()
        came_from |= dict.fromkeys(fresh, module)
        todo += fresh
    disk = [f"{came_from[name]} imports {name}" for name in came_from if package_of(name) in {"storage", "workspace"}]
    assert not disk, "what a rule asks beyond the text is a question in lint/queries/interface.py"


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    """No module brings in a heavy library by being imported, because start-up time is a target."""
    wrong = [
        f"{module} imports {name} at its top"
        for module, tree in trees().items()
        for name in sorted(imported(at_import_time(tree)))
        if (name.split(".")[0] in HEAVY and module not in BUILT_ON) or name in BUILT_ON
    ]
    assert not wrong, "import it in the function that uses it"


def test_nothing_imports_the_package_itself() -> None:
    """What all modules need lies at the bottom; the package itself is the public API, above all of them."""
    wrong = [module for module, each in nodes().items() if "taskstate" in imported(each)]
    assert not wrong, "import from the module that defines it, such as taskstate.version"


def test_no_door_names_another() -> None:
    """Nobody but `__main__` imports a door from outside, and none is hidden from the imports in a string."""
    pattern = rf"\btaskstate\.({'|'.join(DOORS)})\b"
    named = {
        (module, door)
        for module in edges()
        for text in (*edges()[module], *strings(nodes()[module]))
        for door in re.findall(pattern, text)
        if package_of(module) not in {door, "__main__"}
    }
    assert not named, "what two doors need belongs below them"


def strings(of: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the strings in a module, its docstrings among them."""
    return (node.value for node in of if isinstance(node, ast.Constant) and isinstance(node.value, str))


def test_doors_alone_read_the_clock() -> None:
    """Below the doors the time is an argument: a job does the same whenever it is called with the same."""
    readers = {
        module
        for module, each in nodes().items()
        if any(reads_the_clock(node) for node in each) and package_of(module) not in DOORS
    }
    assert readers == CLOCK_EXCEPTIONS.keys(), "have the time passed in; who has it passed in loses its exception"


def reads_the_clock(node: ast.AST) -> bool:
    """Return whether a node names what tells the time, or imports it under its bare name."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "time" and any(re.fullmatch(CLOCK, f"time.{alias.name}") for alias in node.names)
    return isinstance(node, ast.Attribute) and re.fullmatch(CLOCK, ast.unparse(node)) is not None


def test_modules_and_functions_are_short() -> None:
    """A module has at most 400 lines, and a function at most 50."""
    modules = [str(path) for path in PACKAGE.rglob("*.py") if path.read_bytes().count(b"\n") > 400]
    functions = [
        f"{module}.{node.name}"
        for module, each in nodes().items()
        for node in each
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= 50
    ]
    assert modules + functions == [], "it has more than one subject: part it"

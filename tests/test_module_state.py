"""That no module keeps what belongs to one repository: one process works in several."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from scripts.import_graph import trees

if TYPE_CHECKING:
    from collections.abc import Iterator

# What functions change at the top of their module, and why it says nothing of a repository.
CHANGED = {
    "taskstate.lint.runner._lint_run": "set in a worker process, which lives for one run in one repository",
    "taskstate.storage.git.process._awaited": "the git processes that were started and are still to be ended",
    "taskstate.syntax.document._newest": "the last texts that were parsed; shared is only what their words alone say",
    "taskstate.syntax.markdown_blocks._markdown": "the parser, which is the same for every text",
}
# The cached functions with an argument that is more than a text, a number or bytes, and why that is no more either.
CACHED = {
    "taskstate.archive.external_summarizer._answer": "keyed by the program's values and by all that it is given",
    "taskstate.lint.selection._applicable": "keyed by the names of rules and of kinds of queries",
    "taskstate.storage.kept_records._entry_in": "keyed by its path in full, with its size and time",
    "taskstate.storage.kept_records._record": "keyed by its path in full; such a file is never written again",
    "taskstate.syntax.document._parsed": "keyed by the text and by the kinds that the repository declares",
    "taskstate.writing.ledger._units_in": "keyed by the record, which names its file in full, and by a path",
    "taskstate.writing.ledger.read_entry": "keyed by the record, which names its file in full",
}
PLAIN = {"str", "int", "bytes", "bool", "tuple[str, ...]", "OwnType"}  # the last is a text, too
CHANGES = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove"),
    *("setdefault", "update"),
}


def top_names(tree: ast.Module) -> set[str]:
    """Return the names that a module binds by assignments at its top."""
    targets = (each for node in tree.body for each in targets_of(node))
    return {each.id for each in targets if isinstance(each, ast.Name)}


def targets_of(node: ast.AST) -> list[ast.expr]:
    """Return what a statement assigns to, or deletes."""
    if isinstance(node, (ast.Assign, ast.Delete)):
        return node.targets
    return [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []


def root_of(node: ast.expr) -> str:
    """Return the name in which a chain of attributes and subscripts begins, or an empty text."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def changed_in(node: ast.AST) -> Iterator[str]:
    """Yield the names whose values a node of a function changes, or that it rebinds in its module."""
    if isinstance(node, ast.Global):
        yield from node.names
    yield from (root_of(each) for each in targets_of(node) if not isinstance(each, ast.Name))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
        yield root_of(node.func.value)


def changed(module: str, tree: ast.Module) -> set[str]:
    """Return what functions of a module change at its top."""
    functions = (each for each in ast.walk(tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))
    names = {name for function in functions for node in ast.walk(function) for name in changed_in(node)}
    return {f"{module}.{name}" for name in names & top_names(tree)}


def cached(module: str, tree: ast.Module) -> set[str]:
    """Return the cached functions of a module that are keyed by more than plain values."""
    return {
        f"{module}.{function.name}"
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        and any(ast.unparse(each).startswith(("cache", "lru_cache")) for each in function.decorator_list)
        and not {ast.unparse(each.annotation) for each in function.args.args if each.annotation} <= PLAIN
    }


def test_no_module_keeps_what_a_repository_says() -> None:
    """What functions change at the top of a module, and remember by more than plain values, is written here."""
    found = {name for module, tree in trees().items() for name in changed(module, tree)}
    assert found == CHANGED.keys(), "let the workspace or the document hold it; see `Workspace.kinds`"
    assert {name for module, tree in trees().items() for name in cached(module, tree)} == CACHED.keys()


def test_every_way_to_keep_something_is_seen() -> None:
    """A table at the top of a module is found however a function fills it, and a cache by an object's identity, too."""
    ways = ("t[0] = x", "del t[0]", "t.update(x)", "t[0].add(x)", "t.x = x", "t[0] += x", "global t")
    for way in ways:
        assert changed("m", ast.parse(f"t: dict = {{}}\ndef keep(x):\n    {way}\n")) == {"m.t"}
    assert not changed("m", ast.parse("t = {}\ndef read(x):\n    own = {}\n    own[x] = t[x]\n    return own\n"))
    assert cached("m", ast.parse("@cache\ndef kind(node: Node): ...")) == {"m.kind"}
    assert not cached("m", ast.parse("@lru_cache(maxsize=2)\ndef kind(name: str): ..."))

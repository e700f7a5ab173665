"""Writes the reference of the commands in `docs/commands.md` from the table of operations that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.__main__ import commands
from taskstate.operations.arguments import shown
from taskstate.operations.index import by_group, operations_of
from taskstate.operations.operation import is_required

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taskstate.operations.index import Command
    from taskstate.operations.operation import Field, Operation

BEGIN, END = "<!-- written by `make gen` from the operations -->\n", "<!-- end of what `make gen` writes -->\n"
# Where a command is explained, by its name.
PAGES = {
    "init": "agents/index.md",
    "new": "task-files.md",
    "start": "turn.md",
    "finish": "turn.md",
    "brief": "briefs.md",
    "next": "lifecycle.md#what-to-work-on-now",
    "status": "coordination.md",
    "session": "keeping.md#sessions-that-a-commit-removed",
    "feature": "lifecycle.md#showing-that-a-feature-passes",
    "phase": "handoffs.md",
    "handoff": "handoffs.md",
    "role": "coordination.md",
    "snapshot": "snapshots.md",
    "context": "context.md",
    "qa": "qa.md",
    "trust": "security.md#commands-that-are-run",
    "evidence": "qa.md#evidence",
    "archive": "archiving.md",
    "chain": "chains.md",
    "graph": "chains.md#drawing-them",
    "query": "questions.md",
    "fleet": "scale.md",
    "report": "pull-requests.md",
    "permanent": "permanent.md",
    "impact": "impact-map.md",
    "complete": "lifecycle.md#completing",
    "drop": "lifecycle.md#dropping",
    "decompose": "decomposition.md",
    "lint": "linting.md",
    "fmt": "formatting.md",
    "import": "importing.md",
    "export": "exporting.md",
    "migrate": "migrating.md",
    "protocol": "protocol.md",
    "doctor": "keeping.md",
    "lsp": "editors.md",
    "hook": "agents/hooks.md",
    "mcp": "mcp.md",
    "serve": "page.md",
    "merge-driver": "merging.md",
}


def with_reference(page: str) -> str:
    """Return the page with the reference of all commands between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    table = commands()
    groups = by_group(table)
    every = [each for rows in groups.values() for command in rows for each in operations_of(command, table)]
    overview = "\n".join(
        f"**{group[0].upper()}{group[1:]}**\n\n{_overview(rows, every)}" for group, rows in groups.items()
    )
    return f"{before}{BEGIN}\n{overview}\n{_comparing(every)}\n{reference(every)}{END}{after}"


def _overview(table: Mapping[str, Command], every: Sequence[Operation]) -> str:
    """Return the table of some commands, each with links to its operations."""
    lines = ["| command | what it does |", "| --- | --- |"]
    for name, command in table.items():
        own = [each.name for each in every if each.name.split()[0] == name]
        links = " ".join(f"[{each.removeprefix(f'{name} ')}](#taskstate-{each.replace(' ', '-')})" for each in own)
        more = f": {links}" if len(own) > 1 else ""
        first = f"[`{name}`](#taskstate-{own[0].replace(' ', '-')})"
        lines.append(f"| {first} | {_escaped(command.summary)}{more} |")
    return "\n".join([*lines, ""])


def _comparing(every: Sequence[Operation]) -> str:
    """Return the table of the operations that compare the working tree before they change anything."""
    lines = ["### What compares the working tree first", ""]
    lines += ["Only these commands change roles, results or snapshots; each of them compares first:", ""]
    lines += ["| command | what it compares the tree with |", "| --- | --- |"]
    for each in every:
        if each.compares:
            lines.append(f"| [`{each.name}`](#taskstate-{each.name.replace(' ', '-')}) | {_escaped(each.compares)} |")
    return "\n".join([*lines, ""])


def reference(operations: Iterable[Operation]) -> str:
    """Return the reference of operations: each with its usage, what it does, and its fields."""
    return "".join("\n".join((*_operation(each), "")) + "\n" for each in operations)


def _operation(operation: Operation) -> Iterator[str]:
    page = PAGES.get(operation.name.split()[0])
    yield f"### `taskstate {operation.name}`"
    yield ""
    yield f"`{_usage(operation)}`"
    yield ""
    yield _escaped(operation.about) + (f" [More]({page})." if page else "")
    if operation.fields:
        yield ""
        yield "| argument | what it is |"
        yield "| --- | --- |"
        yield from (f"| `{_argument(field)}` | {_escaped(_help(field))} |" for field in operation.fields)


def _usage(operation: Operation) -> str:
    words = [f"taskstate {operation.name}"]
    for field in operation.fields:
        if field.is_positional:
            word = f"{field.example}…" if field.is_list else field.example
            words.append(word if is_required(field) else f"[{word}]")
        elif field.is_required:
            words.append(_argument(field))
    return " ".join(words)


def _argument(field: Field) -> str:
    values = "\\|".join(field.choices) or field.example
    return shown(field) if field.is_positional or not values else f"{shown(field)} {values}"


def _help(field: Field) -> str:
    if field.by_comma:
        return f"{field.help}; repeatable, or several with commas between them"
    return f"{field.help}; repeatable" if field.is_list and not field.is_positional else field.help


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")

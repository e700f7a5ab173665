"""What the editor shows about the place under the cursor: a rule's page, a key's meaning, a task's title and status."""

from __future__ import annotations

import re

from lsprotocol import types

from taskstate.lint import registry
from taskstate.lint.rule_pages import page, retired_page
from taskstate.lsp import tokens
from taskstate.secrets.mask import masked
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING
from taskstate.validation import schema_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lsp.positions import Positions
    from taskstate.lsp.tasks import TaskIndex


def hover(
    facts: Facts, findings: tuple[Finding, ...], at: int, tasks: TaskIndex, positions: Positions
) -> types.Hover | None:
    """Return what is known about an offset, or None; below it the pages of the rules whose findings are there."""
    parts = [*_about(facts, at, tasks)]
    codes = [each.diagnostic.code for each in findings if each.diagnostic.span.start <= at <= each.diagnostic.span.end]
    named = tokens.code_at(positions.text, at)
    parts += [text for code in dict.fromkeys([*([named] if named else []), *codes]) if (text := rule_page(code))]
    if not parts:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)))


def rule_page(code: str) -> str:
    """Return the page of a rule, also of a retired one; empty for any other code."""
    row = next((row for row in registry.TABLE if row.code == code), None)
    retired = next((each for each in registry.RETIRED if each.code == code), None)
    return page(row.load()) if row else retired_page(retired) if retired else ""


def _about(facts: Facts, at: int, tasks: TaskIndex) -> Iterator[str]:
    value = tokens.value_at(facts, at)
    if value and (value.is_key or value.node.kind == "scalar"):
        meaning = key_page(value.schema, tokens.keys_of(value))
        if meaning:
            yield meaning
    task_id = tokens.task_at(facts, at)
    task = tasks.find(task_id) if task_id else None
    if task:
        title, status, path = map(_as_text, (masked(task.title, facts.config.secrets.allow), task.status, task.path))
        yield f"**Task {task.id}**: {title}\n\n{status}, in {path}"


def _as_text(words: str) -> str:
    """Return words of a file as Markdown that shows them: an editor would load an image that a title names."""
    return re.sub(r"[\\`*\[\]<>&!~|]", r"\\\g<0>", printable(" ".join(words.split())))


def key_page(name: str, keys: tuple[str, ...]) -> str:
    """Return meaning, type and allowed values of a key as the schema has them; empty for an unknown key."""
    found = schema_at(name, keys)
    if not keys or found is None:
        return ""
    root = schema_files.load(name)
    lines = [f"**{keys[-1]}** ({' or '.join(_types(found, root)) or 'any value'})"]
    description = next(
        (each["description"] for each in schema_files.alternatives(found, root) if "description" in each), ""
    )
    allowed = values_of(found, root)
    lines += [description] if description else []
    lines += ["One of " + ", ".join(f"`{each}`" for each in allowed)] if allowed else []
    return "\n\n".join(lines)


def _types(found: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(each for part in schema_files.alternatives(found, root) for each in schema_files.types_of(part))
    )


def values_of(found: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values that a schema allows, where it lists them; of a list those of its items."""
    values: list[str] = []
    for part in schema_files.alternatives(found, root):
        values += [str(each) for each in part.get("enum", ())] + ([str(part["const"])] if "const" in part else [])
        if schema_files.types_of(part) == ("boolean",):
            values += ["true", "false"]
    return tuple(dict.fromkeys(values))


def schema_at(name: str, keys: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return the part of a schema that a value below these keys must meet, through lists; None for unknown keys."""
    root = schema_files.load(name)
    found: Mapping[str, Any] = root
    for key in keys:
        child = next((each for part in _parts(found, root) if (each := _child(part, key)) is not None), None)
        if child is None:
            return None
        found = child
    return found


def _parts(found: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a schema with its alternatives and, for a list, those of its items."""
    for part in schema_files.alternatives(found, root):
        yield part
        if isinstance(part.get("items"), dict):
            yield from _parts(part["items"], root)


def _child(part: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    named = part.get("properties", {}).get(key)
    child = named if named is not None else part.get("additionalProperties")
    return child if isinstance(child, dict) else {} if child is True and named is True else None

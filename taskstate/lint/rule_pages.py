"""Builds a rule's page from its module docstring, for `taskstate rule` and for docs/rules."""

from __future__ import annotations

import inspect

from taskstate.lint.registry import rules
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from taskstate.lint.registry import RetiredRule


def page(rule: ModuleType) -> str:
    """Return a rule's page as Markdown: its heading, severity and fix, and the text of the module docstring."""
    meta = rule.RULE
    _, _, body = inspect.cleandoc(rule.__doc__ or "").partition("\n")
    fix = "`taskstate lint --fix` fixes what it can." if meta.fixable else "There is no automatic fix."
    summary = meta.summary[0].upper() + meta.summary[1:]
    return f"# {meta.code} {meta.name}\n\n{summary}.\n\n{meta.severity.capitalize()}. {fix}\n\n{body.strip()}\n"


def retired_page(rule: RetiredRule) -> str:
    """Return the page of a retired rule as Markdown."""
    stays = "The code stays legal in the configuration, in `--select` and `--ignore` and in comments, without effect."
    return f"# {rule.code} {rule.name}\n\nRetired: nothing is checked any more.\n\n{rule.reason}\n\n{stays}\n"


def listing() -> str:
    """Return all rules as a table, one line for each."""
    width = max(len(rule.RULE.name) for rule in rules())
    return "\n".join(_row(rule, width) for rule in rules())


def _row(rule: ModuleType, width: int) -> str:
    meta = rule.RULE
    return f"{meta.code}  {meta.severity:7}  {'fix' if meta.fixable else '':3}  {meta.name:{width}}  {meta.summary}"


def retired_shape(rule: RetiredRule) -> dict[str, Any]:
    """Return a retired rule as JSON values."""
    return {"code": rule.code, "name": rule.name, "retired": True, "page": retired_page(rule)}


def shape(rule: ModuleType) -> dict[str, Any]:
    """Return a rule as JSON values."""
    meta = rule.RULE
    fields = {key: getattr(meta, key) for key in ("code", "name", "severity", "fixable", "summary")}
    return {**fields, "page": page(rule)}

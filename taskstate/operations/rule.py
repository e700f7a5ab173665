"""`rule`: explains a lint rule, or lists all rules."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.operations.operation import Operation, positional
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

    from taskstate.lint.diagnostics import Rule as LintRule
    from taskstate.lint.registry import RetiredRule
    from taskstate.operations.call import Call


class Rule(NamedTuple):
    """The arguments of `rule`."""

    code: str | None = positional("CODE", "code or name of a rule, such as TS404 (default: list all rules)")


def rule(_: Call, asked: Rule) -> Result:
    """Explain a lint rule, or list all rules."""
    from taskstate.lint.registry import RETIRED, rules
    from taskstate.lint.rule_pages import listing, page, retired_page, retired_shape, shape

    if not asked.code:
        return Result([shape(each) for each in rules()], listing(), is_in_rows=True)
    retired = next((each for each in RETIRED if _is_named(each, asked.code)), None)
    if retired:
        return Result(retired_shape(retired), retired_page(retired), is_verbatim=True)
    found = _find(asked.code)
    return Result(shape(found), page(found), is_verbatim=True)


def _find(code: str) -> ModuleType:
    from taskstate.lint.registry import rules

    for rule in rules():
        if _is_named(rule.RULE, code):
            return rule
    raise TaskstateError(f"there is no lint rule {code}", help="`taskstate rule` lists the rules", code="not-found")


def _is_named(rule: LintRule | RetiredRule, code: str) -> bool:
    return code.upper() == rule.code or code.lower() == rule.name


OPERATIONS = (Operation("rule", "explain a lint rule, or list all rules", rule, Rule),)

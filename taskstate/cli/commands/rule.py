"""`taskstate rule`: explains a lint rule, or lists all rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from types import ModuleType


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "code", metavar="CODE", nargs="?", help="code or name of a rule, such as TS404 (default: list all rules)"
    )
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Show a rule's page, or the list of rules."""
    from taskstate.lint.registry import rules
    from taskstate.lint.rule_pages import listing, page, shape

    if invocation.args.code:
        rule = _find(invocation.args.code)
        return invocation.print_result(shape(rule), page(rule))
    return invocation.print_result([shape(rule) for rule in rules()], listing())


def _find(code: str) -> ModuleType:
    from taskstate.lint.registry import rules

    for rule in rules():
        if code.upper() == rule.RULE.code or code.lower() == rule.RULE.name:
            return rule
    raise TaskstateError(f"there is no lint rule {code}", help="`taskstate rule` lists the rules", code="not-found")

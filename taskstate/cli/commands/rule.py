"""`taskstate rule`: explains a lint rule, or lists all rules."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from taskstate.lint.diagnostics import Rule
    from taskstate.lint.registry import RetiredRule


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "code", metavar="CODE", nargs="?", help="code or name of a rule, such as TS404 (default: list all rules)"
    )
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Show a rule's page, or the list of rules."""
    from taskstate.lint.registry import RETIRED, rules
    from taskstate.lint.rule_pages import listing, page, retired_page, retired_shape, shape

    if invocation.args.code:
        code = invocation.args.code
        retired = next((each for each in RETIRED if _is_named(each, code)), None)
        if retired:
            return invocation.print_result(retired_shape(retired), retired_page(retired))
        rule = _find(code)
        return invocation.print_result(shape(rule), page(rule))
    return invocation.print_result([shape(rule) for rule in rules()], listing())


def _find(code: str) -> ModuleType:
    from taskstate.lint.registry import rules

    for rule in rules():
        if _is_named(rule.RULE, code):
            return rule
    raise TaskstateError(f"there is no lint rule {code}", help="`taskstate rule` lists the rules", code="not-found")


def _is_named(rule: Rule | RetiredRule, code: str) -> bool:
    return code.upper() == rule.code or code.lower() == rule.name

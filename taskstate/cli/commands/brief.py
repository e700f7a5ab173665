"""`taskstate brief`: prints a briefing for an agent that starts on a task."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_task()
    parser.add_argument("--role", default="", metavar="R", help="role to write the brief for")
    parser.add_argument(
        "--budget",
        type=int,
        metavar="TOKENS",
        help="maximum number of tokens (default: `brief.budget` of the configuration, which is 1000 unless set)",
    )
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Print a brief."""
    from taskstate.workflow.brief import brief, shape

    budget = invocation.args.budget
    if budget is not None and budget < 1:
        raise usage_error(f"--budget {budget} is no budget", help="say how many tokens, at least 1")
    loaded = invocation.load_task()
    reader = invocation.reader
    result = brief(invocation.workspace, loaded, role=invocation.args.role, budget=budget, reader=reader)
    return invocation.print_result(shape(loaded, result, invocation.args.role), result.text)

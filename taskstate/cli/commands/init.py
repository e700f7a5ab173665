"""`taskstate init`: sets up a repository."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.workspace.setup import INSTALL_HOOKS


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--pre-commit", action="store_true", help="add the lint and archive hooks to .pre-commit-config.yaml"
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, and write nothing")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Set up the repository, and print what was done."""
    from taskstate.workspace.setup import set_up

    workspace = invocation.any_workspace
    result = set_up(workspace, pre_commit=invocation.args.pre_commit, dry_run=invocation.args.dry_run)
    would = "would be " if invocation.args.dry_run else ""
    lines = [f"{would}created  {name}" for name in result.created] + [
        f"{would}changed  {name}" for name in result.changed
    ]
    if invocation.args.pre_commit and result.created + result.changed:
        lines.append(PRE_COMMIT_STEP)
    text = "\n".join(lines) or "nothing to do: the repository is set up"
    return invocation.print_result(
        {"root": str(workspace.root), "created": result.created, "changed": result.changed, "kept": result.kept}, text
    )


PRE_COMMIT_STEP = f"next: `{INSTALL_HOOKS}` (or `prek …`), so that git runs the hooks, at merges too"

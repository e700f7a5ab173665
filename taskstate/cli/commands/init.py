"""`taskstate init`: sets up a repository, its commit hooks and its agents' clients, and takes that out again."""

from __future__ import annotations

import sys

from taskstate.agents.clients import CLIENTS, GENERIC
from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.cli.terminal import is_terminal
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.setup import GIT_CONFIG, INSTALL_HOOKS

if TYPE_CHECKING:
    from taskstate.agents.installation import Installed, Wanted

_AGENTS = (*CLIENTS, GENERIC)
PRE_COMMIT_STEP = f"next: `{INSTALL_HOOKS}` (or `prek …`), so that git runs the hooks, at merges too"
COMMIT_STEP = "next: commit these changes, so that no task counts them as its work"


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Set up a repository: folders, configuration, git's ignore and attribute files, merge driver; on request "
        "commit hooks, a CI workflow, and the hooks and MCP servers of agents' clients. What is there is kept. "
        "On a terminal it asks for what no flag says."
    )
    parser.add_argument(
        "--pre-commit", action="store_true", help="add the lint and archive hooks to .pre-commit-config.yaml"
    )
    parser.add_list("--agent", "NAME", f"set up a client: {', '.join(_AGENTS)}")
    parser.add_argument("--ci", action="store_true", help="add a workflow for GitHub that runs the linter")
    parser.add_argument(
        "--verification", action="store_true", help="add MCP servers for a browser and for GitHub to the clients"
    )
    parser.add_argument("--remove", action="store_true", help="take out what init put in; tasks stay")
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, as a diff, and write nothing")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Set up the repository, or take that out, and print what was done."""
    from taskstate.agents.installation import install, remove

    workspace, args = invocation.any_workspace, invocation.args
    if args.remove:
        if args.agent or args.pre_commit or args.ci or args.verification:
            raise usage_error("init --remove takes everything out", help="give it without the other flags")
        result = remove(workspace, dry_run=args.dry_run)
        nothing = "nothing to do"
    else:
        result = install(workspace, _wanted(invocation), dry_run=args.dry_run)
        nothing = "nothing to do: the repository is set up"
    data = {"root": str(workspace.root), "created": result.created, "changed": result.changed, "kept": result.kept}
    more = {"removed": result.removed} if args.remove else {}
    return invocation.print_result(data | more, "\n".join(_lines(invocation, result)) or nothing)


def _wanted(invocation: Invocation) -> Wanted:
    from taskstate.agents.installation import Wanted

    args = invocation.args
    unknown = next((each for each in args.agent if each not in _AGENTS), "")
    if unknown:
        raise usage_error(f"init: there is no agent {unknown!r}", help=f"known are {', '.join(_AGENTS)}")
    wanted = Wanted(tuple(args.agent), args.pre_commit, args.ci, args.verification)
    is_asked = wanted == Wanted() and not (args.dry_run or args.quiet or invocation.as_json)
    return _asked() if is_asked and sys.stdin and is_terminal(sys.stdin) and is_terminal(sys.stdout) else wanted


def _asked() -> Wanted:
    """Ask for what no flag said; an empty answer, or the end of the input, means no."""
    from taskstate.agents.installation import Wanted

    try:
        words = input(f"Which agents work here? ({', '.join(_AGENTS)}; none: Enter) ").replace(",", " ").split()
        agents = tuple(each for each in words if each in _AGENTS)
        pre_commit = input("Check state files at each commit, with pre-commit or prek? [y/N] ").strip().lower() in _YES
        tools = bool(agents) and input("Add MCP servers for a browser and GitHub? [y/N] ").strip().lower() in _YES
    except EOFError:
        return Wanted()
    return Wanted(agents, pre_commit, ci=False, verification=tools)


_YES = {"y", "yes"}


def _lines(invocation: Invocation, result: Installed) -> list[str]:
    would = "would be " if invocation.args.dry_run else ""
    done = (("created", result.created), ("changed", result.changed), ("removed", result.removed))
    lines = [f"{would}{what}  {name}" for what, names in done for name in names]
    if invocation.args.dry_run:
        return [*lines, "", result.diff] if result.diff else lines
    if invocation.args.pre_commit and result.created + result.changed:
        lines.append(PRE_COMMIT_STEP)
    if {*result.created, *result.changed} - {GIT_CONFIG} and git.toplevel(invocation.any_workspace.root):
        lines.append(COMMIT_STEP)
    return lines

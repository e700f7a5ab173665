"""`taskstate init`: sets up a repository, its commit hooks and its agents' clients, and takes that out again."""

from __future__ import annotations

import sys

from taskstate.cli.terminal import is_terminal
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, switch
from taskstate.operations.result import Result
from taskstate.setup.clients import CLIENTS, GENERIC
from taskstate.setup.pre_commit import PRE_COMMIT
from taskstate.setup.repository import GIT_CONFIG
from taskstate.storage import installed
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.cli.output import CommandLineCall
    from taskstate.setup.installation import Installed, Wanted

_AGENTS = (*CLIENTS, GENERIC)
PRE_COMMIT_STEP = "next: `{0}`, so that git runs the hooks, at merges too"
LENIENT = (
    "note: in a clone whose owner has no taskstate, the hooks say that nothing was checked, and let the commit pass;",
    "      CI is the gate: `taskstate init --ci`. With `--pre-commit --require` they refuse instead",
)
COMMIT_STEP = "next: commit these changes, so that no task counts them as its work"


class Init(NamedTuple):
    """The arguments of `init`."""

    pre_commit: bool = switch("add the lint and archive hooks to .pre-commit-config.yaml")
    require: bool = switch("with --pre-commit: the hooks refuse each commit where taskstate is missing")
    agents: tuple[str, ...] = option("NAME", f"set up a client: {', '.join(_AGENTS)}", flag="agent", by_comma=True)
    ci: bool = switch("add a workflow for GitHub that runs the linter")
    verification: bool = switch("add MCP servers for a browser and for GitHub to the clients")
    remove: bool = switch("take out what init put in; tasks stay")
    dry_run: bool = switch("print what would be done, as a diff, and write nothing")


def init(call: CommandLineCall, asked: Init) -> Result:
    """Set up a repository: folders, configuration, git's ignore and attribute files, merge driver.

    On request commit hooks, a CI workflow, and the hooks and MCP servers of agents' clients. What is there is kept. On
    a terminal it asks for what no flag says. Who has no taskstate can still commit, and work with an agent: hooks that
    do not find it check nothing. CI is the gate.
    """
    from taskstate.setup.installation import install, remove

    workspace = call.any_workspace
    if asked.remove:
        if asked.agents or asked.pre_commit or asked.require or asked.ci or asked.verification:
            raise usage_error("init --remove takes everything out", help="give it without the other flags")
        done = remove(workspace, dry_run=asked.dry_run)
        nothing = "nothing to do"
    else:
        done = install(workspace, _wanted(call, asked), dry_run=asked.dry_run)
        nothing = "nothing to do: the repository is set up"
    data = {"root": str(workspace.root), "created": done.created, "changed": done.changed, "kept": done.kept}
    more = {"removed": done.removed} if asked.remove else {"lacking": done.lacking} if done.lacking else {}
    return Result(data | more, "\n".join((*(_lines(call, asked, done) or [nothing]), *done.lacking)))


def _wanted(call: CommandLineCall, asked: Init) -> Wanted:
    from taskstate.setup.installation import Wanted

    unknown = next((each for each in asked.agents if each not in _AGENTS), "")
    if unknown:
        raise usage_error(f"init: there is no agent {unknown!r}", help=f"known are {', '.join(_AGENTS)}")
    if asked.require and not asked.pre_commit:
        raise usage_error("init --require is about the commit hooks", help="give it with --pre-commit")
    wanted = Wanted(asked.agents, asked.pre_commit, asked.require, asked.ci, asked.verification)
    is_asked = wanted == Wanted() and not (asked.dry_run or call.output.is_quiet or call.as_data)
    return _asked() if is_asked and sys.stdin and is_terminal(sys.stdin) and is_terminal(sys.stdout) else wanted


def _asked() -> Wanted:
    """Ask for what no flag said; an empty answer, or the end of the input, means no."""
    from taskstate.setup.installation import Wanted

    try:
        words = input(f"Which agents work here? ({', '.join(_AGENTS)}; none: Enter) ").replace(",", " ").split()
        agents = tuple(each for each in words if each in _AGENTS)
        pre_commit = input("Check state files at each commit, with pre-commit or prek? [y/N] ").strip().lower() in _YES
        tools = bool(agents) and input("Add MCP servers for a browser and GitHub? [y/N] ").strip().lower() in _YES
    except EOFError:
        return Wanted()
    return Wanted(agents, pre_commit, ci=False, verification=tools)


_YES = {"y", "yes"}


def _lines(call: CommandLineCall, asked: Init, result: Installed) -> list[str]:
    would = "would be " if asked.dry_run else ""
    done = (("created", result.created), ("changed", result.changed), ("removed", result.removed))
    lines = [f"{would}{what}  {name}" for what, names in done for name in names]
    if asked.dry_run:
        return [*lines, "", result.diff] if result.diff else lines
    if PRE_COMMIT in result.created + result.changed:
        lines += (PRE_COMMIT_STEP.format(installed.hook_manager()), *(() if asked.require else LENIENT))
    if {*result.created, *result.changed}.difference(GIT_CONFIG) and git.toplevel(call.any_workspace.root):
        lines.append(COMMIT_STEP)
    return lines


OPERATIONS = (Operation("init", "set up a repository for taskstate", init, Init),)

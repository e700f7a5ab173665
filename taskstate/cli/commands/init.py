"""`taskstate init`: sets up a repository, its commit hooks and its agents' clients, and takes that out again."""

from __future__ import annotations

import sys
from contextlib import suppress

from taskstate.autosave import consent
from taskstate.cli.terminal import is_terminal
from taskstate.messages import closest
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
_ADDING = (
    "agents",
    "pre_commit",
    "require",
    "ci",
    "install",
    "verification",
    "allow",
    "autosave",
)  # flags that `--remove` excludes
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
    install: str = option("CMD", "command that installs taskstate in that workflow (default: as it was installed here)")
    verification: bool = switch("add MCP servers for a browser and for GitHub to the clients")
    allow: bool = switch("let agents run taskstate's own commands, but not `trust`, without asking")
    autosave: str = option("", "what to record of a session that recorded nothing itself", choices=consent.LEVELS)
    remove: bool = switch("remove what init added, and what autosave keeps; tasks stay")
    dry_run: bool = switch("print what would be done, as a diff, and write nothing")


def init(call: CommandLineCall, asked: Init) -> Result:
    """Set up a repository: folders, configuration, git's ignore and attribute files, merge driver.

    Flags add commit hooks, a CI workflow, and the hooks and MCP servers of agents' clients. What is there stays. On a
    terminal, init asks for what no flag says. With --autosave, taskstate reads the transcripts of clients on this
    machine: if a session recorded nothing, `facts` such as files and commands enter the state file, with `words` also
    quotes; that holds for you alone. Hooks check nothing where taskstate is missing, and stop neither a commit nor an
    agent; so CI has to check.
    """
    from taskstate.setup.installation import install, remove

    workspace, level = call.any_workspace, None
    if asked.remove:
        if any(getattr(asked, name) for name in _ADDING):
            raise usage_error("init --remove takes everything out", help="give it without the other flags")
        done = remove(workspace, dry_run=asked.dry_run)
        nothing = "nothing to do"
    else:
        wanted = _wanted(call, asked)
        done = install(workspace, wanted, dry_run=asked.dry_run)
        nothing = "nothing to do: the repository is set up"
        level = wanted.autosave
    data = {"root": str(workspace.root), "created": done.created, "changed": done.changed, "kept": done.kept}
    more: dict[str, object] = {"removed": done.removed} if asked.remove else {"autosave": level} if level else {}
    if done.lacking:
        more["lacking"] = done.lacking
    if done.staying:
        more["staying"] = done.staying
    if done.refused:
        more["refused"] = [each._asdict() for each in done.refused]
    lines = (*(_lines(call, asked, done) or [nothing]), *_autosave_lines(level), *done.lacking, *done.staying)
    if asked.remove and not asked.dry_run and git.toplevel(workspace.root):
        lines += ("next: commit these changes",)
    return Result(data | more, "\n".join(lines), int(bool(done.refused)), is_document=True)


def _wanted(call: CommandLineCall, asked: Init) -> Wanted:
    from taskstate.setup.installation import Wanted

    unknown = next((each for each in asked.agents if each not in _AGENTS), "")
    if unknown:
        help_ = f"{_meant(unknown, _AGENTS)}choose from {', '.join(_AGENTS)}"
        raise usage_error(f"init: there is no agent {unknown!r}", help=help_)
    if asked.require and not asked.pre_commit:
        raise usage_error("init --require is about the commit hooks", help="give it with --pre-commit")
    if asked.install and not asked.ci:
        raise usage_error("init --install is for the workflow of --ci", help="add --ci")
    is_asked = not (asked.dry_run or call.output.is_quiet or call.as_data) and is_terminal(sys.stdin)
    is_asked = is_asked and is_terminal(sys.stdout)
    ci = _install_command(asked, is_asked=is_asked) if asked.ci else ""
    level = next((each for each in consent.LEVELS if each == asked.autosave), None)
    wanted = Wanted(asked.agents, asked.pre_commit, asked.require, ci, asked.verification, asked.allow, level)
    return _asked() if is_asked and wanted == Wanted() else wanted


def _install_command(asked: Init, *, is_asked: bool) -> str:
    """Return the command that installs taskstate in CI: the one that was given, recorded, or answered."""
    command = asked.install.strip() or installed.elsewhere(by_pip=True)
    if not command and is_asked:
        with suppress(EOFError):
            command = input("Which command installs taskstate in CI? ").strip()
    if not command:
        why = "this installation came from no address that another machine reaches"
        message = f"init --ci: how CI is to install taskstate is not known, for {why}"
        help_ = "name the command: `taskstate init --ci --install CMD`, such as 'pip install git+ADDRESS', with the "
        raise usage_error(message, help=f"{help_}address of taskstate's repository")
    return command


def _asked() -> Wanted:
    """Ask for what no flag said; an empty answer, or the end of the input, means no."""
    from taskstate.setup.installation import Wanted

    agents, pre_commit, tools, level = tuple[str, ...](), False, False, None
    with suppress(EOFError):
        agents = _agents()
        pre_commit = _says_yes("Check state files at each commit, with pre-commit or prek?")
        tools = bool(agents) and _says_yes("Add MCP servers for a browser and GitHub?")
        level = _level() if agents and not consent.is_in_client() else None
    return Wanted(agents, pre_commit, verification=tools, autosave=level)


def _agents() -> tuple[str, ...]:
    question = f"Which agents work here? ({', '.join(_AGENTS)}; none: Enter) "
    words = _words(question)
    while unknown := next((each for each in words if each not in _AGENTS), ""):
        words = _words(f"There is no agent {unknown!r}. {_meant(unknown, _AGENTS).capitalize()}{question}")
    return tuple(dict.fromkeys(words))


def _level() -> consent.Level | None:
    """Return what the person says of autosave; None where they leave it as it is."""
    question = "May taskstate read the sessions of agents, and keep what one did that recorded nothing? "
    question += "(facts: files, commits, commands; words: quotes, too; Enter: no) "
    words = _words(question)
    while words and words != ["no"] and words[0] not in consent.LEVELS:
        words = _words(f"{words[0]!r} is not an answer. {_meant(words[0], consent.LEVELS).capitalize()}{question}")
    return next((each for each in consent.LEVELS if words[:1] == [each]), None)


def _autosave_lines(level: consent.Level | None) -> tuple[str, ...]:
    return (f"autosave {level}: {consent.MEANING[level]}",) if level else ()


def _words(question: str) -> list[str]:
    words = input(question).casefold().replace(",", " ").split()
    return [] if words == ["none"] else words


def _says_yes(question: str) -> bool:
    answer = input(f"{question} [y/N] ").strip().casefold()
    while answer not in {*_YES, *_NO}:
        answer = input(f"{answer!r} is not an answer: y or n? {question} [y/N] ").strip().casefold()
    return answer in _YES


def _meant(word: str, known: tuple[str, ...]) -> str:
    near = closest(word.casefold(), known)
    return f"did you mean {near}? " if near else ""


_YES, _NO = {"y", "yes"}, {"", "n", "no"}


def _lines(call: CommandLineCall, asked: Init, result: Installed) -> list[str]:
    would = "would be " if asked.dry_run else ""
    done = (("created", result.created), ("changed", result.changed), ("removed", result.removed))
    lines = [f"{would}{what}  {name}" for what, names in done for name in names]
    for each in result.refused:
        lines += [f"not added to  {each.name}: {each.why}", f"  {each.help}; or add this to it by hand:"]
        lines += [f"    {line}".rstrip() for line in each.paste.splitlines()]
    if asked.dry_run:
        return [*lines, "", result.diff] if result.diff else lines
    if asked.remove:
        return lines
    if PRE_COMMIT in result.created + result.changed:
        lines += (PRE_COMMIT_STEP.format(installed.hook_manager()), *(() if asked.require else LENIENT))
    if {*result.created, *result.changed}.difference(GIT_CONFIG) and git.toplevel(call.any_workspace.root):
        lines.append(COMMIT_STEP)
    return lines


OPERATIONS = (Operation("init", "set up a repository for taskstate", init, Init),)

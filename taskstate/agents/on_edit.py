"""Before and after an edit of our own files, and before a commit: refuses, or hands back what the linter finds."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.model.names import own_type
from taskstate.storage import files, folders
from taskstate.storage.cache import Cache
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.agents.event import Event
    from taskstate.lint.diagnostics import Finding
    from taskstate.model.names import OwnType
    from taskstate.writing.change import Request

_FINDINGS = 8  # that are handed back
_NOT_COMMITTED = "Not committed: first run `taskstate lint --fix` by itself; nothing of this command has run."
_DERIVED = frozenset({"TS105", "TS304"})  # rules about counts and percentages
_CHECKED: tuple[OwnType, ...] = ("state", "handoff")


def before_edit(event: Event) -> str:
    """Return why an edit is refused."""
    from taskstate.agents import protected

    return "\n".join(
        reason
        for edit in event.call.edits
        for path in _inside(event, edit.path)
        if (reason := protected.refusal(event.workspace, path, edit))
    )


def before_commit(event: Event) -> str:
    """Return why a patch in a shell command is refused, and the errors that its commit here would take along."""
    return "\n".join(filter(None, (before_edit(event), _refused_commit(event))))


def _refused_commit(event: Event) -> str:
    """Return the errors in the state files and handoffs that a commit of this repository would take along."""
    from taskstate.agents.shell_commands import commit_folders

    workspace, committed = event.workspace, [*commit_folders(event.call.command, event.call.command_folder)]
    top = git.toplevel(workspace.root) if committed else None
    if top is None or not any(_is_in(top, each) for each in committed):
        return ""
    changed = (workspace.root / name for name in worktree.dirty_files(workspace.root, lambda _: False))
    found = [each for each in _findings(event, _checked(event, changed)) if each.diagnostic.severity == "error"]
    lines = _lines(found)
    return "\n".join([_NOT_COMMITTED, *lines]) if lines else ""


def _is_in(top: Path, folder: str) -> bool:
    """Return whether a folder is of the working tree `top`, or would be if it were there."""
    real = Path(os.path.realpath(folder))
    return git.toplevel(real) == top if folders.is_folder(real) else real.is_relative_to(top)


def after_edit(event: Event) -> str:
    """Return what the linter finds in the files that were edited; with a request, after its safe fixes."""
    paths = [path for edit in event.call.edits for path in _inside(event, edit.path)]
    own, refused = [*_checked(event, paths)], tuple[str, ...]()
    found = _of_the_agent(_findings(event, own, fresh=True))
    if found and event.request:
        names = {each.path for each in found}
        states = [each for each in own if own_type(each.name) == "state" and event.workspace.relative(each) in names]
        refused = tuple(_fix(event, event.request, states))
        found = _of_the_agent(_findings(event, own, fresh=True))
    new = _new(event, found) if own else found
    lines = [*refused, *_lines(new)]
    if old := len(found) - len(new):
        lines.append(f"- {counted(old, 'finding')} as told before: `taskstate lint`")
    return "\n".join(["taskstate finds in what you edited:", *lines]) if lines else ""


def _new(event: Event, findings: list[Finding]) -> list[Finding]:
    """Return the findings that this agent was not told after its last edit, wherever their lines are now."""
    said: Cache[list[str]] = Cache(event.workspace.private.cache("findings.json"), list)
    who = f"{event.call.session} {event.call.agent_id}"
    told = (event.call.session and said.get(who)) or ()
    keys = [files.digest(f"{each.path} {each.diagnostic.code} {each.diagnostic.message}".encode()) for each in findings]
    if keys or told:
        said.put(who, keys)
        said.keep({who})
        said.save()
    return [each for each, key in zip(findings, keys, strict=True) if key not in told]


def _of_the_agent(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings but for values that follow from the file: the next command puts them right.

    A fix of theirs would change the file under the agent's hands, and its next edit would find another text.
    """
    return [each for each in findings if each.diagnostic.code not in _DERIVED or each.diagnostic.severity == "error"]


def _fix(event: Event, request: Request, paths: Iterable[Path]) -> Iterator[str]:
    """Apply the safe fixes; yield a line for each file that is not to be written."""
    from taskstate.lint.fixer import fix_file
    from taskstate.lint.runner import LintRequest, open_run

    run, _ = open_run(event.workspace, event.workspace.config, LintRequest(event.now))
    with closing(run.repository):
        for path in paths:
            try:
                fix_file(run, path, request)
            except TaskstateError as error:
                yield f"- {error}"


def _inside(event: Event, name: str) -> Iterator[Path]:
    """Yield the path of a file in the repository by the name that a client gives it; nothing for one outside."""
    if not name or "\0" in name:
        return
    folder, base = os.path.split(os.path.join(event.call.folder, name))
    path = Path(os.path.realpath(folder), base)  # a link at the end is refused where it is read
    if path.is_relative_to(event.workspace.root):
        yield path


def _checked(event: Event, paths: Iterable[Path]) -> Iterator[Path]:
    workspace = event.workspace
    for path in dict.fromkeys(paths):
        relative = workspace.relative(path)
        if own_type(relative) in _CHECKED and workspace.is_ours(relative) and folders.is_file(path):
            yield path


def _findings(event: Event, paths: Iterable[Path], *, fresh: bool = False) -> tuple[Finding, ...]:
    from taskstate.lint.runner import LintRequest, check_files, open_run

    own = [*paths]
    if not own:
        return ()
    run, _ = open_run(event.workspace, event.workspace.config, LintRequest(event.now, None, fresh=fresh))
    with closing(run.repository):
        report = check_files(own, run)
    if report.unreadable:
        raise TaskstateError(report.unreadable[0], help="`taskstate lint` shows it", code="input")
    return report.findings


def _lines(findings: Iterable[Finding]) -> list[str]:
    found = [*findings]
    lines = [
        f"- {each.path}:{each.line}: {each.diagnostic.code} {each.diagnostic.message}: {each.diagnostic.help}"
        for each in found[:_FINDINGS]
    ]
    return [*lines, f"- and {len(found) - _FINDINGS} more: `taskstate lint`"] if len(found) > _FINDINGS else lines

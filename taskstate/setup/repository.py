"""Sets up a repository: folders, configuration, git's ignore and attribute files, and what git's configuration names.

Everything that exists is kept, so setting up a second time changes nothing.
"""

from __future__ import annotations

import os
import re
import shlex

from taskstate import resources
from taskstate.errors import GitFailed
from taskstate.messages import decoded
from taskstate.setup.pre_commit import PRE_COMMIT, with_hooks
from taskstate.storage import files, installed, journal
from taskstate.storage.git import client as git
from taskstate.syntax.spans import newline_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taskstate.workspace.workspace import Workspace

FOLDERS = ("tasks", "archives", "handoffs", "templates")
IGNORED_PATHS = ("/artifacts/", "/private/", "/lock")  # in the state folder
TEMPORARY_PATTERN = ".taskstate-*.tmp"  # left by a killed writer beside the file that it was writing
RECORD = "set-up.json"  # in the state folder: what `init` added to which file, and which version did
MERGED_PATTERNS = (
    "task-*-state.md",
    "task-*-archive.md",
    "task-*-impact-map.json",
    "phase-*-handoff-*.md",
)  # without `/`: wherever they stand
# Where git finds the program for hooks and merges, should its PATH be a short one, as in a graphical client.
PROGRAM_KEY = "taskstate.program"
_PLAIN_DRIVER = "taskstate merge-driver -- %O %A %B %P"  # of earlier versions
DRIVER = f'p=$(git config --path {PROGRAM_KEY}); [ -x "$p" ] || p=taskstate; "$p" merge-driver -- %O %A %B %P'
DRIVER_KEY, _DRIVER_NAME = "merge.taskstate.driver", "merge.taskstate.name"
GIT_CONFIG = ("git config merge.taskstate", f"git config {PROGRAM_KEY}")  # named in the output like files


class SetUpResult(NamedTuple):
    """The paths that setting up created, changed, and left as they were."""

    created: tuple[str, ...]
    changed: tuple[str, ...]
    kept: tuple[str, ...]


class MergeDriver(NamedTuple):
    """How far git is set up to merge our files by meaning.

    `command` is what git would run, and `program` what that starts; empty where nothing is configured. `unreached` are
    those of `MERGED_PATTERNS` whose files git would merge by another driver. All are empty outside of a repository;
    `repository` is False then.
    """

    repository: bool
    command: str
    unreached: tuple[str, ...]
    program: str = ""


def set_up(workspace: Workspace, *, pre_commit: bool, dry_run: bool = False) -> SetUpResult:
    """Create what a repository needs and does not have; with `pre_commit` also the entry for the hooks.

    Raises:
        TaskstateError: a file cannot be read or written, git refuses, or the pre-commit configuration has a form that
        cannot be added to.
    """
    result = write_texts(workspace, planned_texts(workspace, pre_commit=pre_commit), dry_run=dry_run)
    return result._replace(created=(*result.created, *configure_git(workspace, dry_run=dry_run)))


def planned_texts(workspace: Workspace, *, pre_commit: bool) -> dict[str, str]:
    """Return, by path, the texts that a repository's files are to have; an empty one stands for an empty file.

    Raises:
        TaskstateError: a file cannot be read, or the pre-commit configuration has a form that cannot be added to.
    """
    steps = planned_steps(workspace, pre_commit=pre_commit)
    return {name: step(text_of(workspace, name)) for name, step in steps.items()}


def planned_steps(workspace: Workspace, *, pre_commit: bool, require: bool = False) -> dict[str, Callable[[str], str]]:
    """Return, by path, the functions that add to the texts of a repository's files.

    What is ignored in the state folder stands in a file of that folder, so it stays ignored for as long as that is
    there; the root's file knows only what a killed writer leaves beside a state file elsewhere. With `require` the
    commit hooks refuse where the program is missing.
    """
    root = workspace.config.root
    attributes = (
        *(f"{pattern} merge=taskstate" for pattern in MERGED_PATTERNS),
        *(f"{_quoted(f'{root}/**/*.{suffix}')} text" for suffix in ("md", "json")),
    )
    steps: dict[str, Callable[[str], str]] = {
        ".gitignore": lambda text: _with_lines(text, (TEMPORARY_PATTERN,)),
        ".gitattributes": lambda text: _with_lines(text, attributes),
        f"{root}/.gitignore": lambda text: _with_lines(text, (*IGNORED_PATHS, TEMPORARY_PATTERN)),
    }
    if not _is_configured(workspace):
        steps["taskstate.toml"] = lambda _: resources.text("templates/taskstate.toml")
    if pre_commit:
        steps[PRE_COMMIT] = lambda text: with_hooks(text, require=require)
    for folder in FOLDERS:
        if not files.names(workspace.state_root / folder):  # git does not track empty folders
            steps[f"{root}/{folder}/.gitkeep"] = lambda _: ""
    return steps


def configure_git(workspace: Workspace, *, dry_run: bool = False) -> tuple[str, ...]:
    """Configure in the repository what is not: our merge driver, and where the program is; return what was set.

    Raises:
        GitFailed: the configuration cannot be written.
    """
    if git.toplevel(workspace.root) is None:
        return ()
    values = _configured(workspace)
    wanted: dict[str, dict[str, str]] = {}
    if values.get(DRIVER_KEY, "") in {"", _PLAIN_DRIVER}:
        wanted[GIT_CONFIG[0]] = {_DRIVER_NAME: "taskstate: by meaning", DRIVER_KEY: DRIVER}
    program = installed.command()
    if program and not _named_program(values):
        wanted[GIT_CONFIG[1]] = {PROGRAM_KEY: program}
    if not wanted:
        return ()
    pairs = [pair for each in wanted.values() for pair in each.items()]
    _require_own_configuration(workspace, f"git config {pairs[-1][0]} {shlex.quote(pairs[-1][1])}")
    if not dry_run:
        git.run(["rev-parse", "--git-dir"], workspace.root)  # where git refuses the repository, this one says why
        for key, value in pairs:
            git.run(["config", "--local", key, value], workspace.root)
    return tuple(wanted)


def unconfigure_git(workspace: Workspace, *, dry_run: bool = False) -> tuple[str, ...]:
    """Take out of the repository's configuration what `configure_git` set, but for a driver with another command.

    Return what that was.

    Raises:
        GitFailed: the configuration cannot be written.
    """
    if git.toplevel(workspace.root) is None:
        return ()
    values = _configured(workspace, "--local")
    ours = (values.get(DRIVER_KEY) in {DRIVER, _PLAIN_DRIVER}, PROGRAM_KEY in values)
    keys = zip(GIT_CONFIG, (DRIVER_KEY, PROGRAM_KEY), ours, strict=True)
    there = {name: key.rpartition(".")[0] for name, key, is_there in keys if is_there}
    for section in () if dry_run else there.values():
        _require_own_configuration(workspace, f"git config --remove-section {section}")
        git.run(["config", "--local", "--remove-section", section], workspace.root)
    return tuple(there)


def _require_own_configuration(workspace: Workspace, command: str) -> None:
    at = git.folders(workspace.root)
    if at is not None:
        git.require_own_file(at.common_dir / "config", command)


def merge_driver_state(workspace: Workspace) -> MergeDriver:
    """Ask git by which driver it would merge our files."""
    if git.toplevel(workspace.root) is None:
        return MergeDriver(repository=False, command="", unreached=())
    names = [f"{workspace.config.root}/{pattern.replace('*', '0')}" for pattern in MERGED_PATTERNS]
    output = git.run(["check-attr", "-z", "merge", "--", *names], workspace.root).decode("utf-8", "replace")
    fields = output.split("\0")  # path, attribute, value
    entries = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    reached = {name for name, _, value in entries if value == "taskstate"}
    unreached = tuple(pattern for pattern, name in zip(MERGED_PATTERNS, names, strict=True) if name not in reached)
    values = _configured(workspace)
    command = values.get(DRIVER_KEY, "")
    is_ours = command in {DRIVER, _PLAIN_DRIVER}
    program = (_named_program(values) or installed.NAME) if is_ours else command.split(maxsplit=1)[0] if command else ""
    return MergeDriver(repository=True, command=command, unreached=unreached, program=program)


def _named_program(values: Mapping[str, str]) -> str:
    """Return the program that git's configuration names, if it can be started."""
    return installed.program(os.path.expanduser(values.get(PROGRAM_KEY, "")))


def _configured(workspace: Workspace, *scope: str) -> dict[str, str]:
    """Return what git's configuration says of the merge driver and the program, by key."""
    keys = "|".join(map(re.escape, (DRIVER_KEY, PROGRAM_KEY)))
    try:
        found = git.run(["config", "-z", *scope, "--get-regexp", f"^({keys})$"], workspace.root)
    except GitFailed:  # also where there is none
        return {}
    pairs = (each.partition("\n") for each in found.decode("utf-8", "replace").split("\0") if each)
    return {key: value.strip() for key, _, value in pairs}


def _quoted(pattern: str) -> str:
    """Return a pattern for `.gitattributes`, where it ends at a blank unless it is quoted."""
    return f'"{pattern}"' if " " in pattern else pattern


def write_texts(workspace: Workspace, texts: dict[str, str], *, dry_run: bool) -> SetUpResult:
    """Write texts by path, all or none; an empty text only creates a file.

    Raises:
        TaskstateError: a file cannot be read or written.
    """
    created, changed, kept, plan = [], [], [], list[journal.Operation]()
    for name, text in texts.items():
        path = files.inside(workspace.root, name)
        old = files.read(path) if files.size(path) is not None else None
        if old is None:
            created.append(name)
            plan.append(journal.Create(name, text.encode()))
        elif old != text.encode() and text:
            changed.append(name)
            plan.append(journal.Replace(name, files.digest(old), text.encode()))
        else:
            kept.append(name)
    if plan and not dry_run:
        with workspace.locked():
            journal.write(workspace.root, workspace.private, tuple(plan))
    return SetUpResult(created=tuple(created), changed=tuple(changed), kept=tuple(kept))


def text_of(workspace: Workspace, name: str) -> str:
    """Return the text of a file that is set up; empty where it is not there.

    Raises:
        TaskstateError: it cannot be read, or is not UTF-8.
    """
    path = files.inside(workspace.root, name)
    if files.size(path) is None:
        return ""
    return decoded(files.read(path), name, advice="convert it to UTF-8, then run this again")


def _is_configured(workspace: Workspace) -> bool:
    from taskstate.workspace.config_files import config_in

    return config_in(workspace.root) is not None


def _with_lines(text: str, lines: tuple[str, ...]) -> str:
    """Append those of `lines` to `text` that it does not contain."""
    missing = [line for line in lines if line not in {line.strip() for line in text.splitlines()}]
    if not missing:
        return text
    newline = newline_of(text)
    joint = "" if not text or text.endswith(("\n", "\r")) else newline
    return text + joint + "".join(line + newline for line in missing)

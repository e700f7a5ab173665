"""Sets a repository up: folders, configuration, lines in git's files, its merge driver, hooks; twice is as once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate import resources
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import decoded
from taskstate.storage import files, journal
from taskstate.storage.git import client as git
from taskstate.syntax.spans import newline_of, with_newlines

if TYPE_CHECKING:
    from taskstate.syntax.nodes import Node
    from taskstate.workspace.workspace import Workspace

FOLDERS = ("tasks", "archives", "handoffs", "templates")
IGNORED_PATHS = ("artifacts/", "cache/", "journal/", "lock")
TEMPORARY_PATTERN = ".taskstate-*.tmp"  # what a killed writer leaves beside the file that it was writing
PRE_COMMIT = ".pre-commit-config.yaml"
_HOOK_ID = "taskstate-lint"
MERGED_PATTERNS = (
    "task-*-state.md",
    "task-*-archive.md",
    "task-*-impact-map.json",
    "phase-*-handoff-*.md",
)  # without `/`: wherever they stand
DRIVER_KEY, DRIVER = "merge.taskstate.driver", "taskstate merge-driver -- %O %A %B %P"
_DRIVER_NAME = "merge.taskstate.name"
_GIT_CONFIG = "git config merge.taskstate"  # how it is told: it is no file of the working tree


class SetUpResult(NamedTuple):
    """What setting up did: the paths it made, changed, and found as they should be."""

    created: tuple[str, ...]
    changed: tuple[str, ...]
    kept: tuple[str, ...]


class MergeDriver(NamedTuple):
    """How far git is set up to merge our files by meaning.

    `command` is what git would run, empty where nothing is configured. `unreached` are those of `MERGED_PATTERNS` whose
    files git would merge by another driver. Both are empty outside of a repository; `repository` is False then.
    """

    repository: bool
    command: str
    unreached: tuple[str, ...]


def set_up(workspace: Workspace, *, pre_commit: bool, dry_run: bool = False) -> SetUpResult:
    """Make what a repository needs, leaving what is there; with `pre_commit` the hooks' entry too.

    Raises:
        TaskstateError: a file cannot be read or written, git refuses, or the pre-commit configuration has a form that
        cannot be added to.
    """
    root = workspace.config.root
    attributes = (
        *(f"{pattern} merge=taskstate" for pattern in MERGED_PATTERNS),
        *(f"{_quoted(f'{root}/**/*.{suffix}')} text" for suffix in ("md", "json")),
    )
    wanted = {
        ".gitignore": _with_lines(
            _read(workspace, ".gitignore"), (*(f"{root}/{name}" for name in IGNORED_PATHS), TEMPORARY_PATTERN)
        ),
        ".gitattributes": _with_lines(_read(workspace, ".gitattributes"), attributes),
    }
    if not _is_configured(workspace):
        wanted["taskstate.toml"] = resources.text("templates/taskstate.toml")
    if pre_commit:
        wanted[PRE_COMMIT] = _with_hooks(_read(workspace, PRE_COMMIT))
    for folder in FOLDERS:
        if not files.names(workspace.state_root / folder):  # git keeps no empty folder
            wanted[f"{root}/{folder}/.gitkeep"] = ""
    done = _write(workspace, wanted, dry_run=dry_run)
    return done._replace(created=(*done.created, *install_merge_driver(workspace, dry_run=dry_run)))


def install_merge_driver(workspace: Workspace, *, dry_run: bool = False) -> tuple[str, ...]:
    """Name our merge driver in the repository's git configuration; return what was set, nothing where one is named.

    Raises:
        GitFailed: the configuration cannot be written.
    """
    if git.toplevel(workspace.root) is None or _configured_driver(workspace):
        return ()
    if not dry_run:
        git.run(["config", "--local", _DRIVER_NAME, "taskstate: by meaning"], workspace.root)
        git.run(["config", "--local", DRIVER_KEY, DRIVER], workspace.root)
    return (_GIT_CONFIG,)


def merge_driver_state(workspace: Workspace) -> MergeDriver:
    """Return how far git would merge our files by meaning, as git itself says."""
    if git.toplevel(workspace.root) is None:
        return MergeDriver(repository=False, command="", unreached=())
    names = [f"{workspace.config.root}/{pattern.replace('*', '0')}" for pattern in MERGED_PATTERNS]
    told = git.run(["check-attr", "-z", "merge", "--", *names], workspace.root).decode("utf-8", "replace").split("\0")
    reached = {name for name, _, value in zip(told[::3], told[1::3], told[2::3], strict=False) if value == "taskstate"}
    unreached = tuple(pattern for pattern, name in zip(MERGED_PATTERNS, names, strict=True) if name not in reached)
    return MergeDriver(repository=True, command=_configured_driver(workspace), unreached=unreached)


def _configured_driver(workspace: Workspace) -> str:
    """Return the command of the merge driver that git's configuration names, in whatever scope; empty without one."""
    try:
        return git.run(["config", "--get", DRIVER_KEY], workspace.root).decode("utf-8", "replace").strip()
    except GitFailed:
        return ""


def _quoted(pattern: str) -> str:
    """Return a pattern as `.gitattributes` reads it, which ends it at a blank unless it is quoted."""
    return f'"{pattern}"' if " " in pattern else pattern


def _write(workspace: Workspace, wanted: dict[str, str], *, dry_run: bool) -> SetUpResult:
    created, changed, kept, plan = [], [], [], list[journal.Operation]()
    for name, text in wanted.items():
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
            journal.write(workspace.root, workspace.journal, tuple(plan))
    return SetUpResult(created=tuple(created), changed=tuple(changed), kept=tuple(kept))


def _read(workspace: Workspace, name: str) -> str:
    path = files.inside(workspace.root, name)
    if files.size(path) is None:
        return ""
    return decoded(files.read(path), name, advice="convert it to UTF-8, then run this again")


def _is_configured(workspace: Workspace) -> bool:
    from taskstate.workspace.workspace import config_in

    return config_in(workspace.root) is not None


def _with_lines(text: str, lines: tuple[str, ...]) -> str:
    """Return `text` with those of `lines` that it lacks at its end."""
    missing = [line for line in lines if line not in {line.strip() for line in text.splitlines()}]
    if not missing:
        return text
    newline = newline_of(text)
    joint = "" if not text or text.endswith(("\n", "\r")) else newline
    return text + joint + "".join(line + newline for line in missing)


def _with_hooks(text: str) -> str:
    """Return a pre-commit configuration with our hooks at the end of its `repos`.

    Raises:
        TaskstateError: `repos` is not a block list at the end of the file, so that adding to it is not safe.
    """
    entry = resources.text("hooks/pre-commit.yaml")
    if _HOOK_ID in text:
        return text
    if not text.strip():
        return "repos:\n" + entry
    root = _yaml(text)
    repos = root.entries[-1] if root and root.entries else None
    if repos and repos.key.text == "repos" and repos.value.items:
        first = repos.value.items[0].span.start
        indent = text[max(text.rfind("\n", 0, first), text.rfind("\r", 0, first)) + 1 : first].partition("-")[0]
        newline = newline_of(text)
        lines = [indent + line[2:] if line else line for line in entry.split("\n")]
        joint = "" if text.endswith(("\n", "\r")) else newline
        longer = text + joint + with_newlines("\n".join(lines), newline)
        if _only_adds(text, longer, f"repos:\n{entry}"):
            return longer
    raise TaskstateError(
        f"{PRE_COMMIT} cannot be added to safely: `repos` must be its last key, and a list over several lines",
        help="give it that form, then run this again",
        code="cannot-edit",
    )


def _yaml(text: str) -> Node | None:
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.yaml_reader import read_yaml_file

    node = read_yaml_file(text)
    return node if isinstance(node, Node) else None


def _only_adds(text: str, longer: str, entry: str) -> bool:
    """Return whether a configuration, once longer, means what it meant, and `entry` besides."""
    before, after, new = _yaml(text), _yaml(longer), _yaml(entry)
    if not (before and after and new):
        return False
    wanted = before.value() | {"repos": [*before.value()["repos"], *new.value()["repos"]]}
    return bool(after.value() == wanted)

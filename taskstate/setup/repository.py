"""Sets up a repository: folders, configuration, git's ignore and attribute files, merge driver, pre-commit hooks.

Everything that exists is kept, so setting up a second time changes nothing.
"""

from __future__ import annotations

from taskstate import resources
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import decoded
from taskstate.storage import files, journal
from taskstate.storage.git import client as git
from taskstate.syntax.spans import line_start, newline_of, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from taskstate.syntax.nodes import Node
    from taskstate.workspace.workspace import Workspace

FOLDERS = ("tasks", "archives", "handoffs", "templates")
IGNORED_PATHS = ("/artifacts/", "/private/", "/lock")  # in the state folder
TEMPORARY_PATTERN = ".taskstate-*.tmp"  # left by a killed writer beside the file that it was writing
PRE_COMMIT = ".pre-commit-config.yaml"
RECORD = "set-up.json"  # in the state folder: what `init` added to which file, and which version did
_HOOK_ID = "taskstate-lint"
HOOK_TYPES = ("pre-commit", "pre-merge-commit")  # a merge that git finishes itself runs only the second
INSTALL_HOOKS = f"pre-commit install {' '.join(f'--hook-type {name}' for name in HOOK_TYPES)}"
MERGED_PATTERNS = (
    "task-*-state.md",
    "task-*-archive.md",
    "task-*-impact-map.json",
    "phase-*-handoff-*.md",
)  # without `/`: wherever they stand
DRIVER_KEY, DRIVER = "merge.taskstate.driver", "taskstate merge-driver -- %O %A %B %P"
_DRIVER_NAME = "merge.taskstate.name"
GIT_CONFIG = "git config merge.taskstate"  # named in the output like a file


class SetUpResult(NamedTuple):
    """The paths that setting up created, changed, and left as they were."""

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
    """Create what a repository needs and does not have; with `pre_commit` also the entry for the hooks.

    Raises:
        TaskstateError: a file cannot be read or written, git refuses, or the pre-commit configuration has a form that
        cannot be added to.
    """
    result = write_texts(workspace, planned_texts(workspace, pre_commit=pre_commit), dry_run=dry_run)
    return result._replace(created=(*result.created, *install_merge_driver(workspace, dry_run=dry_run)))


def planned_texts(workspace: Workspace, *, pre_commit: bool) -> dict[str, str]:
    """Return, by path, the texts that a repository's files are to have; an empty one stands for an empty file.

    Raises:
        TaskstateError: a file cannot be read, or the pre-commit configuration has a form that cannot be added to.
    """
    steps = planned_steps(workspace, pre_commit=pre_commit)
    return {name: step(text_of(workspace, name)) for name, step in steps.items()}


def planned_steps(workspace: Workspace, *, pre_commit: bool) -> dict[str, Callable[[str], str]]:
    """Return, by path, the functions that add to the texts of a repository's files.

    What is ignored in the state folder stands in a file of that folder, so it stays ignored for as long as that is
    there; the root's file knows only what a killed writer leaves beside a state file elsewhere.
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
        steps[PRE_COMMIT] = _with_hooks
    for folder in FOLDERS:
        if not files.names(workspace.state_root / folder):  # git does not track empty folders
            steps[f"{root}/{folder}/.gitkeep"] = lambda _: ""
    return steps


def install_merge_driver(workspace: Workspace, *, dry_run: bool = False) -> tuple[str, ...]:
    """Configure our merge driver in the repository unless one is configured; return what was set.

    Raises:
        GitFailed: the configuration cannot be written.
    """
    if git.toplevel(workspace.root) is None or _configured_driver(workspace):
        return ()
    _require_own_configuration(workspace, f"git config {DRIVER_KEY} '{DRIVER}'")
    if not dry_run:
        git.run(["rev-parse", "--git-dir"], workspace.root)  # where git refuses the repository, this one says why
        git.run(["config", "--local", _DRIVER_NAME, "taskstate: by meaning"], workspace.root)
        git.run(["config", "--local", DRIVER_KEY, DRIVER], workspace.root)
    return (GIT_CONFIG,)


def remove_merge_driver(workspace: Workspace) -> None:
    """Take our merge driver out of the repository's configuration, unless somebody gave it another command.

    Raises:
        GitFailed: the configuration cannot be written.
    """
    if git.toplevel(workspace.root) is not None and _configured_driver(workspace) == DRIVER:
        section = DRIVER_KEY.rpartition(".")[0]
        _require_own_configuration(workspace, f"git config --remove-section {section}")
        git.run(["config", "--local", "--remove-section", section], workspace.root)


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
    return MergeDriver(repository=True, command=_configured_driver(workspace), unreached=unreached)


def _configured_driver(workspace: Workspace) -> str:
    """Return the command of the merge driver in git's configuration of any scope; empty if there is none."""
    try:
        return git.run(["config", "--get", DRIVER_KEY], workspace.root).decode("utf-8", "replace").strip()
    except GitFailed:
        return ""


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
    from taskstate.workspace.workspace import config_in

    return config_in(workspace.root) is not None


def _with_lines(text: str, lines: tuple[str, ...]) -> str:
    """Append those of `lines` to `text` that it does not contain."""
    missing = [line for line in lines if line not in {line.strip() for line in text.splitlines()}]
    if not missing:
        return text
    newline = newline_of(text)
    joint = "" if not text or text.endswith(("\n", "\r")) else newline
    return text + joint + "".join(line + newline for line in missing)


def _with_hooks(text: str) -> str:
    """Append our hooks to the `repos` of a pre-commit configuration.

    The text is extended and not written anew from the parsed YAML, which would lose comments and layout.

    Raises:
        TaskstateError: `repos` is not a block list, so that adding to it is not safe.
    """
    entry = resources.text("hooks/pre-commit.yaml")
    if _HOOK_ID in text:
        return text
    if not text.strip():
        return f"default_install_hook_types: [{', '.join(HOOK_TYPES)}]\nrepos:\n{entry}"
    root = _yaml(text)
    repos = next((each for each in root.entries if each.key.text == "repos"), None) if root else None
    if repos and repos.value.items:
        first, last = repos.value.items[0].span.start, repos.value.items[-1].span.end
        indent = text[line_start(text, first) : first].partition("-")[0]
        newline = newline_of(text)
        lines = [indent + line[2:] if line else line for line in entry.split("\n")]
        added = with_newlines("\n".join(lines), newline)
        for at in (len(text), _line_after(text, last)):  # behind all comments, else before the keys that follow
            joint = "" if text[:at].endswith(("\n", "\r")) else newline
            longer = text[:at] + joint + added + text[at:]
            if _only_adds(text, longer, f"repos:\n{entry}"):
                return longer
    raise TaskstateError(
        f"{PRE_COMMIT} cannot be added to safely: `repos` must be a list over several lines",
        help="give it that form, then run this again",
        code="cannot-edit",
    )


def _line_after(text: str, at: int) -> int:
    """Return where the line after the one that ends a part begins; `at` is the end of that part."""
    if text[:at].endswith(("\n", "\r")):
        return at
    return next((each + 1 for each in range(at, len(text)) if text[each] == "\n"), len(text))


def _yaml(text: str) -> Node | None:
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.yaml_reader import read_yaml_file

    node = read_yaml_file(text)
    return node if isinstance(node, Node) else None


def _only_adds(text: str, longer: str, entry: str) -> bool:
    """Return whether the `longer` configuration means the same as `text` with `entry` appended to its `repos`."""
    before, after, new = _yaml(text), _yaml(longer), _yaml(entry)
    if not (before and after and new):
        return False
    expected = before.value() | {"repos": [*before.value()["repos"], *new.value()["repos"]]}
    return bool(after.value() == expected)

"""Adds our hooks to the configuration of pre-commit, which prek reads, too.

The text is extended and not written anew from the parsed YAML, which would lose comments and layout.
"""

from __future__ import annotations

import re

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.storage import files, installed
from taskstate.storage.git import client as git
from taskstate.syntax.spans import line_start, newline_of, with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.syntax.nodes import Node

PRE_COMMIT = ".pre-commit-config.yaml"
HOOK_TYPES = ("pre-commit", "pre-merge-commit")  # a merge that git finishes itself runs only the second
_HOOK_ID = "taskstate-lint"
_TYPES_KEY = "default_install_hook_types"
_TYPES_LINE = f"{_TYPES_KEY}: [{', '.join(HOOK_TYPES)}]\n"  # so that a plain `pre-commit install` installs both
_README = f"who set it up knows how: git log -- {PRE_COMMIT}"

# How a hook calls the program. One of a graphical client has a short PATH, so git's configuration may name it. A
# program that the system cannot start, as after an update of Python (126, 127), counts as one that is not there.
_ENTRY = """\
entry: >-
  sh -c 'p=$(git config --path taskstate.program); [ -x "$p" ] || p=$(command -v taskstate) &&
  { "$p" "$@"; s=$?; [ $s = 126 ] || [ $s = 127 ] || exit $s; };
  echo "taskstate $*: not checked, since taskstate is not found here. Install it (INSTALL),
  or name it: git config taskstate.program /path/to/taskstate";
  PASSES'
  sh ARGUMENTS
"""
# A contributor who knows nothing of it is let through, and whoever once had it is not.
_PASSES = """! git config --local --get-regexp "^(taskstate[.]program|merge[.]taskstate[.]driver)$" >/dev/null 2>&1"""
_REFUSES = "exit 1"
_PLAIN = re.compile(
    r"^(?P<indent> +)entry: taskstate (?P<arguments>lint --staged|archive --check)(?P<newline>\r?\n)"
    r"(?= +language: system)",
    re.MULTILINE,
)


def with_hooks(text: str, *, require: bool) -> str:
    """Return a pre-commit configuration with our hooks in its `repos`, which need the program if it is to `require` it.

    Hooks that are there stay, but for how those that `init` wrote call the program.

    Raises:
        TaskstateError: `repos` is not a block list, so that adding to it is not safe.
    """
    entry = _guarded(resources.text("hooks/pre-commit.yaml"), require=require)
    if _HOOK_ID in text:
        return _guarded(text, require=require)
    if not text.strip():
        return f"{_TYPES_LINE}repos:\n{entry}"
    root = _yaml(text)
    repos = next((each for each in root.entries if each.key.text == "repos"), None) if root else None
    if root and repos and repos.value.items:
        first, last = repos.value.items[0].span.start, repos.value.items[-1].span.end
        indent = text[line_start(text, first) : first].partition("-")[0]
        newline = newline_of(text)
        lines = [indent + line[2:] if line else line for line in entry.split("\n")]
        types = "" if root.get(_TYPES_KEY) else _TYPES_LINE
        added = with_newlines("\n".join(lines) + types, newline)
        for at in (len(text), _line_after(text, last)):  # behind all comments, else before the keys that follow
            joint = "" if text[:at].endswith(("\n", "\r")) else newline
            longer = text[:at] + joint + added + text[at:]
            if _only_adds(text, longer, f"{types}repos:\n{entry}"):
                return longer
    raise TaskstateError(
        f"{PRE_COMMIT} cannot be added to safely: `repos` must be a list over several lines",
        help="give it that form, then run this again",
        code="cannot-edit",
    )


def has_hooks(text: str) -> bool:
    """Return whether a configuration has our hooks, from wherever they are."""
    return _HOOK_ID in text


def how_to_install(text: str, missing: str) -> str:
    """Return how a type of hooks that is `missing` comes to a clone: the one line, after a change if it needs one."""
    root = _yaml(text)
    types = root.value().get(_TYPES_KEY) if root and root.kind == "mapping" else None
    run = f"run `{installed.hook_manager()}`"
    if missing in (types if isinstance(types, list) else HOOK_TYPES[:1]):
        return run
    add = f"add {missing} to its `{_TYPES_KEY}`" if types else f"add `{_TYPES_LINE.strip()}` to it"
    return f"{add}, then {run}"


def how_to_uninstall(root: Path) -> str:
    """Return the command that takes the hooks of a manager out of a clone, where it has some; else nothing.

    Without a configuration they let no commit through, and the types are not known to the manager any more.
    """
    hooks = {name: path for name in HOOK_TYPES if (path := git.hook(root, name)) and files.size(path) is not None}
    texts = {name: files.read(path).decode("utf-8", "replace") for name, path in hooks.items()}
    for manager in ("prek", "pre-commit"):  # in this order: what the first one wrote names the type `pre-commit`
        types = [name for name, text in texts.items() if f"generated by {manager}" in text]
        if types:
            return " ".join((installed.of_manager(manager), "uninstall", *(f"-t {each}" for each in types)))
    return ""


def _guarded(text: str, *, require: bool) -> str:
    """Return a configuration in which those of our hooks that call the program as such look for it first."""
    how = (installed.elsewhere() or _README).replace('"', '\\"')

    def looking(match: re.Match[str]) -> str:
        lines = _ENTRY.replace("INSTALL", how).replace("ARGUMENTS", match["arguments"]).replace("PASSES", _PASSES)
        return "".join(f"{match['indent']}{line}{match['newline']}" for line in lines.splitlines())

    text = _PLAIN.sub(looking, text)
    return text.replace(_PASSES, _REFUSES) if require else text


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
    """Return whether the `longer` configuration means the same as `text` with `entry` appended to it."""
    before, after, new = _yaml(text), _yaml(longer), _yaml(entry)
    if not (before and after and new):
        return False
    expected = before.value() | new.value() | {"repos": [*before.value()["repos"], *new.value()["repos"]]}
    return bool(after.value() == expected)

"""Says where the versions of the command line, of the hooks of clients and of pre-commit's hooks differ."""

from __future__ import annotations

import json

from taskstate.errors import TaskstateError
from taskstate.setup.pre_commit import PRE_COMMIT
from taskstate.setup.repository import RECORD
from taskstate.storage import files, installed, programs
from taskstate.syntax.nodes import Node
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.workspace.workspace import Workspace

_SECONDS = 10


class Difference(NamedTuple):
    """A part with another version than this command line: where it stands, what it is, and what to do."""

    path: str
    message: str
    help: str


def differences(workspace: Workspace) -> Iterator[Difference]:
    """Yield the parts whose version differs from the one that is running."""
    record = f"{workspace.config.root}/{RECORD}"
    values = _json(workspace, record)
    if values:
        version = str(values.get("version"))
        if version != VERSION:
            message = f"the hooks were set up by version {version}, this is {VERSION}"
            yield Difference(record, message, "run `taskstate init`, which brings them up to date")
        if values.get("agents"):
            yield from _on_the_path()
    yield from _pre_commit(workspace)


def _on_the_path() -> Iterator[Difference]:
    """Yield whether the command that clients call, for hooks and for the MCP server, is another one than this."""
    program = installed.program()
    if not program:
        return  # the check of the clients tells of it
    try:
        done = programs.run((program, "--version"), stdin=b"", timeout=_SECONDS)
    except OSError:  # also where it took too long
        done = None
    said = done.stdout.decode("utf-8", "replace").split()[-1:] if done else []
    if said != [VERSION]:
        message = (
            f"the agents' clients call {files.shown(program)}, of version {''.join(said) or 'unknown'}, not {VERSION}"
        )
        yield Difference("", message, "install the same version where both are found")


def _pre_commit(workspace: Workspace) -> Iterator[Difference]:
    """Yield whether pre-commit fetches our hooks in another version."""
    from taskstate.syntax.yaml_reader import read_yaml_file

    path = workspace.root / PRE_COMMIT
    try:
        text = files.read(path).decode("utf-8", "replace") if files.size(path) is not None else ""
    except TaskstateError:
        return  # the check of the hooks tells of it
    if "taskstate-" not in text:
        return
    node = read_yaml_file(text)
    repos = node.value().get("repos") if isinstance(node, Node) and node.kind == "mapping" else None
    for repo in repos if isinstance(repos, list) else []:
        rev = str(repo.get("rev") or "") if isinstance(repo, dict) else ""
        ours = rev and any("taskstate-" in str(hook) for hook in repo.get("hooks") or [])
        if ours and rev.removeprefix("v") != VERSION:
            message = f"its hooks are of version {rev}, this is {VERSION}"
            yield Difference(PRE_COMMIT, message, f"set `rev: v{VERSION}`, or run the hooks' manager with `autoupdate`")


def _json(workspace: Workspace, name: str) -> dict[str, object]:
    try:
        path = files.inside(workspace.root, name)
        values = json.loads(files.read(path)) if files.size(path) is not None else {}
    except (TaskstateError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}

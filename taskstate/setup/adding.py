"""Works out what files of the repository are to say, one by one: one that cannot be added to keeps no other from it.

A link that stays inside the repository is followed, so a file with two names is added to once. Nothing is written here.
"""

from __future__ import annotations

import os

from taskstate.errors import TaskstateError
from taskstate.setup.repository import text_of
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from taskstate.workspace.workspace import Workspace


class Refused(NamedTuple):
    """A file that cannot be added to: why, what to do, and what is to be added by hand."""

    name: str
    why: str
    help: str
    paste: str


class Added(NamedTuple):
    """The `texts` of files by where they lie; by name, their text before and after each step; and what is `refused`."""

    texts: dict[str, str]
    stages: dict[str, tuple[str | None, list[str]]]
    refused: tuple[Refused, ...]


def add(workspace: Workspace, steps: Mapping[str, Sequence[Callable[[str], str]]]) -> Added:
    """Return what files say after steps have added to them, by the names of the files."""
    texts: dict[str, str] = {}
    all_stages: dict[str, tuple[str | None, list[str]]] = {}
    refused: list[Refused] = []
    for name, functions in steps.items():
        try:
            place = place_of(workspace, name)
            before = texts[place] if place in texts else text_before(workspace, place)
            stages = _stages(before or "", functions)
        except TaskstateError as error:
            refused.append(Refused(name, error.message, error.help, _stages("", functions)[-1]))
            continue
        texts[place] = stages[-1]
        all_stages[name] = before, stages
    return Added(texts, all_stages, tuple(refused))


def _stages(text: str, functions: Sequence[Callable[[str], str]]) -> list[str]:
    stages: list[str] = []
    for function in functions:
        text = function(text)
        stages.append(text)
    return stages


def place_of(workspace: Workspace, name: str) -> str:
    """Return where a file really lies, from the root: elsewhere than its name says where there is a link.

    Raises:
        TaskstateError: it lies outside of the repository, in git's folder, or a link leads into the state folder.
    """
    own = f"{workspace.config.root}/"
    if name.startswith(own):
        return name  # no link is followed there
    real = files.resolved(workspace.root, name).relative_to(os.path.realpath(workspace.root)).as_posix()
    if real.startswith(own):
        message = f"{name} is a link into {workspace.config.root}, where only commands write"
        raise TaskstateError(message, help=f"replace {name} by a plain file", code="path-escapes")
    return real


def text_before(workspace: Workspace, place: str) -> str | None:
    """Return the text of a file, or None where there is none."""
    return None if files.size(files.inside(workspace.root, place)) is None else text_of(workspace, place)

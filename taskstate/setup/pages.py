"""Says which pages hold our block, so that each client's model reads it, and none reads it twice.

Every client but two reads AGENTS.md. Claude Code reads CLAUDE.md instead, newer versions only where there is one, and
follows its imports, `@AGENTS.md`. Gemini CLI reads the pages that its settings name, GEMINI.md if they name none.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.setup import adding, merging, permissions
from taskstate.setup.clients import CLIENTS
from taskstate.storage import folders
from taskstate.syntax.json_comments import loose_values
from taskstate.syntax.markdown_blocks import prose
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from taskstate.setup.merging import Piece
    from taskstate.workspace.workspace import Workspace

SHARED, OF_CLAUDE, OF_GEMINI = "AGENTS.md", "CLAUDE.md", "GEMINI.md"
_GEMINI = CLIENTS["gemini"]
_IMPORT = re.compile(r"(?:^|[\s(])@([^\s`()]+)")
_DEEPEST = 5  # as Claude Code


def steps(
    workspace: Workspace, agents: Sequence[str], noted: Mapping[str, Sequence[Piece]]
) -> dict[str, list[Callable[[str], str]]]:
    """Return, by file, what adds our block, or has a client read the page that holds it.

    `noted` are the pieces that were put into each file before.
    """
    block = resources.text("templates/agents/block.md")
    is_named = _is_named(workspace, agents)

    def page(name: str) -> Callable[[str], str]:
        def step(text: str) -> str:
            if name != SHARED and ((name == OF_GEMINI and is_named) or imports_shared(workspace, name, text)):
                ours = [each for each in noted.get(name, ()) if merging.BEGIN in each.new]
                return merging.without(text, ours, name) if merging.BEGIN in text else text
            return merging.with_block(text, block) if text or name != OF_CLAUDE else f"@{SHARED}\n"

        return step

    there = {name for name in (OF_CLAUDE, OF_GEMINI) if folders.exists(workspace.root / name)}
    wanted = there | ({OF_CLAUDE} if "claude" in agents else set())
    found = {name: [page(name)] for name in (SHARED, *sorted(wanted)) if name == SHARED or _is_own(workspace, name)}
    if is_named and "gemini" in agents:
        found[_GEMINI.hook_file] = [
            lambda text: merging.with_name(text, _GEMINI.names, (OF_GEMINI, SHARED), _GEMINI.hook_file)
        ]
    return found


def imports_shared(workspace: Workspace, name: str, text: str) -> bool:
    """Return whether a page imports AGENTS.md, itself or through others."""
    found, pages = {name}, {name: text}
    for depth in range(_DEEPEST + 1):
        named = {each for page, below in pages.items() for each in _imports(page, below)} - found
        if SHARED in named:
            return True
        found |= named
        pages = {}
        for path in named if depth < _DEEPEST else ():
            with suppress(TaskstateError):  # it leads out, or is no text
                pages[path] = adding.text_before(workspace, path) or ""
    return False


def _imports(name: str, text: str) -> Iterator[str]:
    """Yield the pages that a page imports, by their paths."""
    for line in prose(text):
        for target in _IMPORT.findall(line):
            yield os.path.normpath(os.path.join(os.path.dirname(name), target.rstrip(".,;:!?")))


def _is_named(workspace: Workspace, agents: Sequence[str]) -> bool:
    """Return whether Gemini's settings name AGENTS.md, or are to: no page that they name is there."""
    text: str | None = None
    with suppress(TaskstateError):  # told of where it is added to, as other values
        text = adding.text_before(workspace, adding.place_of(workspace, _GEMINI.hook_file))
    named = permissions.value_at(loose_values(text or "{}"), *_GEMINI.names) or [OF_GEMINI]
    named = named if isinstance(named, list) else [named]
    is_there = OF_GEMINI in named and folders.exists(workspace.root / OF_GEMINI)
    return SHARED in named or ("gemini" in agents and not is_there)


def _is_own(workspace: Workspace, name: str) -> bool:
    """Return whether a page is another file than AGENTS.md, and no link to it."""
    with suppress(TaskstateError):  # told of where it is added to
        return adding.place_of(workspace, name) != adding.place_of(workspace, SHARED)
    return True

"""The prompt that a successor starts with: what to do now, and little else, however large the handoff document is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.handoff import token_count
from taskstate.handoff.accept import find_handoff
from taskstate.handoff.document import OPEN
from taskstate.model.phases import phases_in
from taskstate.syntax.nodes import Node
from taskstate.workspace import templates

if TYPE_CHECKING:
    from taskstate.handoff.document_files import HandoffFile
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Workspace

TEMPLATE = "successor.md.j2"
MOST_TOKENS = 650  # 700 is what is promised
_EAST_ASIAN = "\u2e80"  # the first letter of these scripts
# How much is kept, the first that fits: characters of the next action, of any other text, and entries of a list.
_LEVELS = ((600, 300, 8), (480, 240, 6), (400, 180, 5), (300, 120, 4), (200, 80, 3), (120, 60, 2), (60, 30, 1))


class Prompt(NamedTuple):
    """The prompt, about how many tokens it has, and the document that it comes from."""

    text: str
    tokens: int
    file: HandoffFile
    path: str


def prompt(workspace: Workspace, task_id: str) -> Prompt:
    """Return the prompt for whoever takes over from a task's open handoff, or from the newest one.

    Raises:
        TaskstateError: code "not-found": there is none; code "template".
    """
    loaded, file = find_handoff(workspace, task_id)
    path = f"{workspace.config.root}/{file.path}"
    text = ""
    for level in _LEVELS:
        text = templates.filled(workspace, TEMPLATE, _parts(loaded.state, file, path, level))
        if tokens_of(text) <= MOST_TOKENS:
            break
    return Prompt(text, tokens_of(text), file, path)


def tokens_of(text: str) -> int:
    """Return how many tokens a text has, rather too many than too few; East Asian writing is counted where it can be.

    The estimate leans upwards for other writing, so that no tokenizer has to be loaded for that.
    """
    estimate, far = token_count.estimate(text), sum(char >= _EAST_ASIAN for char in text)
    if not far:
        return estimate
    return max(estimate, token_count.count(text)) if token_count.counter().is_exact else estimate + 2 * far


class _Cutter:
    """Cuts texts, and remembers whether it had to."""

    def __init__(self, longest: int, most: int) -> None:
        self.longest, self.most = longest, most
        self.was_cut = False
        self.left_out = 0

    def line(self, text: str, longest: int = 0) -> str:
        """Return a text in one line, cut where it is long."""
        line, longest = " ".join(text.split()), longest or self.longest
        self.was_cut |= len(line) > longest
        return line if len(line) <= longest else line[: longest - 1] + "\u2026"

    def lines(self, texts: tuple[str, ...]) -> list[str]:
        """Return the first of some texts, each in one line."""
        self.left_out += max(0, len(texts) - self.most)
        return [self.line(text) for text in texts[: self.most]]


def _parts(state: TaskState, file: HandoffFile, path: str, level: tuple[int, int, int]) -> dict[str, Any]:
    action, longest, most = level
    cutter, handoff = _Cutter(longest, most), file.reading.handoff
    name = file.text("phase")
    parts = {
        "id": state.id,
        "title": cutter.line(state.title),
        "phase": name,
        "objective": _objective(state, name),
        "action": cutter.line(handoff.action, action),
        "file": cutter.line(f"`{handoff.file}`" if handoff.file else "not said"),
        "location": cutter.line(handoff.location or "not said"),
        "goal": cutter.line(handoff.goal or "not said"),
        "avoid": cutter.lines(handoff.avoid),
        "do_not_reread": cutter.lines(handoff.do_not_reread),
        "path": path,
        "is_open": file.status == OPEN,
    }
    return {**parts, "was_cut": cutter.was_cut or cutter.left_out > 0, "left_out": cutter.left_out}


def _objective(state: TaskState, name: str) -> str:
    """Return the id of the current objective of a phase, or nothing."""
    part = next((each for each in phases_in(state) if each.name == name), None)
    root = state.document.json(part.fences[0]) if part and part.fences else None
    current = root.get("current_objective") if isinstance(root, Node) else None
    return current.text if current is not None and current.value() is not None else ""

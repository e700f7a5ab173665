"""Makes the prompt with which a successor starts: the next action and little else, at most 700 tokens long."""

from __future__ import annotations

from taskstate.handoff import token_count
from taskstate.handoff.accept import find_handoff
from taskstate.handoff.document import OPEN
from taskstate.handoff.references import TO_BE_CREATED
from taskstate.messages import one_line
from taskstate.model.phases import phases_in
from taskstate.model.write_metadata import blocks_of
from taskstate.syntax.escaping import is_none
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import templates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from taskstate.handoff.document_files import HandoffFile
    from taskstate.handoff.invalid import Validator
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Workspace

TEMPLATE = "successor.md.j2"
MOST_TOKENS, MOST_LINES = 650, 60  # 700 tokens are promised: the rest is a margin for the estimate
_EAST_ASIAN = "\u2e80"  # the first character of the CJK blocks


# The first level that fits counts: characters of the next action, of other texts and of each thing to be met; items.
_LEVELS = (
    *((600, 300, 100, 10), (480, 240, 80, 10), (400, 180, 60, 8), (300, 120, 60, 6)),
    *((200, 80, 50, 5), (120, 60, 40, 4), (60, 30, 30, 2), (60, 30, 30, 1)),
)
_FLAGS = {"finding": "--answer N=T", "criterion": "--check N", "feature": "--pass FID"}


class Prompt(NamedTuple):
    """The prompt, its approximate number of tokens, and the handoff document that it comes from."""

    text: str
    tokens: int
    file: HandoffFile
    path: str


def prompt(workspace: Workspace, task_id: str, *, errors_in: Validator, shared: str = "") -> Prompt:
    """Return the prompt for the successor on a task, from its open handoff or else the newest one.

    `shared` says in a line which context all tasks share, and what is to be done about it.

    Raises:
        TaskstateError: as `find_handoff`; code "template".
    """
    loaded, file = find_handoff(workspace, task_id, errors_in=errors_in)
    path = f"{workspace.config.root}/{file.path}"
    text = ""
    for level in _LEVELS:
        values = {**_template_values(loaded.state, file, path, level), "shared": shared}
        text = printable(templates.fill(workspace, TEMPLATE, values))
        if tokens_of(text) <= MOST_TOKENS and text.count("\n") <= MOST_LINES:
            break
    return Prompt(text, tokens_of(text), file, path)


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text, rather too high than too low.

    The estimate is close for all but East Asian scripts. Only those are counted with the tokenizer, if it is installed,
    since loading it takes long.
    """
    estimate, east_asian = token_count.estimate(text), sum(char >= _EAST_ASIAN for char in text)
    if not east_asian:
        return estimate
    return max(estimate, token_count.count(text)) if token_count.counter().is_exact else estimate + 2 * east_asian


class _Shortener:
    """Shortens texts and lists, and records whether it had to."""

    def __init__(self, limit: int, max_items: int) -> None:
        self.limit, self.max_items = limit, max_items
        self.was_cut = False
        self.left_out = 0

    def line(self, text: str, limit: int = 0) -> str:
        """Return a text as one line of at most `limit` characters; nothing of one that says that there is none."""
        line = "" if is_none(text) else one_line(text, limit or self.limit)
        self.was_cut |= line.endswith("\u2026") and line.split() != text.split()
        return line

    def lines(self, texts: Sequence[str]) -> list[str]:
        """Return the first `max_items` texts, each as one line, and how many more there are."""
        more = max(0, len(texts) - self.max_items)
        self.left_out += more
        return [*map(self.line, texts[: self.max_items]), *([f"and {more} more"] if more else [])]

    def named(self, what: str, texts: Sequence[tuple[str, str]]) -> list[str]:
        """Return the first words of the first things of a kind, with their names, and the names of the others."""
        others = [name for name, _ in texts[self.max_items :]]
        self.left_out += len(others)
        shown = [f"{what} {name}: {text}" for name, text in texts[: self.max_items]]
        return [*map(self.line, [*shown, *([f"{len(others)} more: {what} {', '.join(others)}"] if others else [])])]


def _template_values(
    state: TaskState, file: HandoffFile, path: str, level: tuple[int, int, int, int]
) -> dict[str, Any]:
    action_limit, limit, words, max_items = level
    shortener, first_words, handoff = _Shortener(limit, max_items), _Shortener(words, max_items), file.reading.handoff
    name, to_meet = file.text("phase"), _to_meet(state)
    mark = TO_BE_CREATED if file.reading.file_is_new else ""
    values = {
        "id": state.id,
        "title": shortener.line(state.title),
        "phase": name if phases_in(state) else "",
        "objective": _current_objective_id(state, name),
        "action": shortener.line(handoff.action, action_limit),
        "state": shortener.line(state.sessions[-1].state) if state.sessions else "",
        "file": shortener.line(handoff.file) and shortener.line(f"`{handoff.file}`{mark}"),
        "location": shortener.line(handoff.location),
        "goal": shortener.line(handoff.goal),
        "avoid": shortener.lines(handoff.avoid),
        "do_not_reread": shortener.lines(handoff.do_not_reread),
        "to_meet": [line for what, texts in to_meet.items() for line in first_words.named(what, texts)],
        "flags": "".join(f" {_FLAGS[what]}" for what, texts in to_meet.items() if texts),
        "path": path,
        "is_open": file.status == OPEN,
    }
    cut = {"was_cut": shortener.was_cut or shortener.left_out > 0, "left_out": shortener.left_out}
    return {**values, **cut, "more_to_meet": first_words.was_cut or first_words.left_out > 0}


def _to_meet(state: TaskState) -> dict[str, list[tuple[str, str]]]:
    """Return the names and texts of what is to be answered, met and passed, by its kind."""
    findings = [each for role in blocks_of(state.document).roles.values() for each in role.open_findings]
    return {
        "finding": [(str(each.number), each.text) for each in findings],
        "criterion": [(str(each.number), each.text) for each in state.criteria if not each.checked],
        "feature": [(each.id, each.description) for each in state.open_features],
    }


def _current_objective_id(state: TaskState, name: str) -> str:
    """Return the id of the current objective of a phase, empty where it has none or cannot be read."""
    part = next((each for each in phases_in(state) if each.name == name), None)
    root = state.document.json(part.fences[0]) if part and part.fences else None
    current = root.get("current_objective") if isinstance(root, Node) else None
    return current.text if current is not None and current.value() is not None else ""

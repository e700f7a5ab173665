"""The steps that are editors, formatters and hands. A step that does not fit where it stands does nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.kept_git import GitCommands
from tests.support.kept_model import HAND, SESSIONS
from tests.support.kept_world import PERMANENT, TASK, TASKS, archive_name, state_name, task_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.kept_model import Model
    from tests.support.kept_world import World

_TOKEN = re.compile(r"item-\d+-end")
# Slight faults that a hand makes, beside a line that it types.
_SLIPS: tuple[Callable[[str], str], ...] = (
    lambda text: f"\n{text}",
    lambda text: text.replace("\naudit:\n  ", "\naudit:\n\t", 1),
    lambda text: text.replace("\n", "\r\n", 9),
    lambda text: text.replace("\nrevision:", "\nrevision: 1\nrevision:", 1),
    lambda text: text.replace("\n## 5. Git History\n", "\n## 5. The History\n", 1),
    lambda text: text,
)


class Steps(GitCommands):
    """Whoever works in the repository with editors, with git, and with our commands."""

    def __init__(self, world: World, model: Model) -> None:
        super().__init__(world, model)
        self._loaded: list[tuple[str, str]] = []

    def load(self, n: int) -> None:
        """Open a state file in an editor."""
        task = self._of(n)
        state = self.world.state(task)
        if state is not None:
            self._loaded.append((task, state))
            self.world.note(f"an editor loads {task} at revision {_revision(state)}")

    def save(self, n: int) -> None:
        """Save the text that an editor loaded: in place or by rename, with an edit of its own or without."""
        if not self._loaded:
            return
        task, text = self._loaded.pop()
        if n % 2:
            text = self._typed(text)
        how = "by rename" if n // 2 % 2 else "in place"
        self.world.note(f"an editor saves {task} {how}{', with an edit' if n % 2 else ''}: {_revision(text)}")
        path = self.world.here / state_name(task)
        if how == "in place":
            self._put(state_name(task), text)
        else:
            self._put(f"{state_name(task)}~", text)
            path.with_name(f"{path.name}~").replace(path)
        self._acknowledge_hand(task, text)

    def half(self, n: int) -> None:
        """Save a part of the file: up to the last session, or some sixths of it."""
        state = self.world.state(TASK) or ""
        cut = state.rfind("\n### Session ") + 1 if n == 0 else len(state) * n // 6
        if state:
            self._put(state_name(TASK), state[: max(cut, 0)])
            self.world.note(f"an editor saves {cut} of {len(state)} characters")

    def crlf(self, n: int) -> None:
        """Save the file with other ends of lines."""
        state = self.world.state(self._of(n))
        if state is not None:
            self._put(state_name(self._of(n)), state.replace("\n", "\r\n"))
            self.world.note(f"an editor saves {self._of(n)} with CRLF")

    def slip(self, n: int) -> None:
        """Type a line into the file, and make a slight fault beside it."""
        state = self.world.state(TASK)
        if state is not None:
            text = self._typed(state)
            self._put(state_name(TASK), _SLIPS[n](text))
            self.world.note(f"by hand: a line, and fault {n}")
            self._acknowledge_hand(TASK, text)

    def edit(self, n: int) -> None:
        """Change a text that a command wrote by hand."""
        task = self._of(n)
        state = self.world.state(task) or ""
        items = [i for i in self.model.mine(self.world.family(task)) if not i.ended and i.token in state]
        items = [i for i in items if _TOKEN.search(i.token)]
        if items:
            item, token = items[n % len(items)], self._hand()
            item.doubt, item.ended = True, "edited"
            self._put(state_name(task), state.replace(item.token, _TOKEN.sub(token, item.token)))
            self.world.note(f"by hand: {item.token!r} is now {token}")
            self.model.acknowledge(HAND, item.family, token)

    def cut(self, n: int) -> None:
        """Delete a session, a feature or a decision by hand."""
        for task in (self._of(n), PERMANENT):
            state = self.world.state(task) or ""
            blocks = [
                block
                for item in self.model.mine(self.world.family(task))
                if (block := _unit(item.kind, item.token, state))
            ]
            if blocks:
                block = blocks[n % len(blocks)]
                text = state.replace(block, "", 1)
                self._put(state_name(task), re.sub(r",(\n  \])", r"\1", text) if block.startswith("    {") else text)
                self.model.cuts.append((self.world.family(task), block))
                self.world.note(f"by hand: {block.strip()[:60]!r} of {task} goes")
                return

    def format(self, n: int) -> None:
        """Let a formatter of Markdown pass over the state file or the archive: other bullets, fewer blank lines."""
        name = archive_name(TASK) if n % 3 == 2 else state_name(TASK)
        path = self.world.here / name
        if path.is_file():
            self._put(name, _formatted(path.read_bytes().decode().replace("\r\n", "\n"), "+" if n % 2 else "*"))
            self.world.note(f"a formatter passes over {name}")

    def remove(self, n: int) -> None:
        """Delete a state file."""
        path = self.world.here / state_name(self._of(n))
        if path.exists():
            path.unlink()
            self.world.note(f"rm {path.name}")

    def _of(self, n: int) -> str:
        return self._task(n) if n < 4 else (TASKS[1], PERMANENT)[n % 2]

    def _hand(self) -> str:
        return self.token().replace("-end", "-hand")

    def _typed(self, text: str) -> str:
        return re.sub(r"\n(## 5\. .*\n)", rf"\n\1\n<!-- {self._hand()} -->\n", text, count=1)

    def _acknowledge_hand(self, task: str, text: str) -> None:
        for token in re.findall(r"<!-- (item-\d+-hand) -->", text):
            self.model.acknowledge(HAND, self.world.family(task), token)

    def _put(self, name: str, text: str) -> None:
        path = self.world.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        self.model.by_hand.add(self.world.family(task_of(name)))


def _revision(text: str) -> str:
    found = re.search(r"^revision: \d+", text, re.MULTILINE)
    return found[0] if found else "no revision"


def _unit(kind: str, token: str, text: str) -> str:
    """Return the whole unit in the text that holds a token, if it is one that a hand would delete."""
    if kind in SESSIONS:
        found = (
            block for block in re.findall(r"^### Session .*?(?=^##)", text, re.MULTILINE | re.DOTALL) if token in block
        )
        return next(found, "")
    if kind == "feature add":
        return next((line for line in text.splitlines(keepends=True) if token in line and line.startswith("    {")), "")
    if kind == "permanent decide":
        return next(
            (block for block in re.findall(r"^### AD-.*?(?=^##)", text, re.MULTILINE | re.DOTALL) if token in block), ""
        )
    return ""


def _formatted(text: str, bullet: str) -> str:
    head, fence, body = text.partition("\n---\n") if text.startswith("---\n") else ("", "", text)
    parts = re.split(r"(^```.*?^```$)", body, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [
        re.sub(r"\n{3,}", "\n\n", re.sub(r"^- ", f"{bullet} ", part, flags=re.MULTILINE)) for part in parts[::2]
    ]
    return head + fence + "".join(parts)

"""What the forms of the page send back, and why a write was refused at one: what an answer shows, and actions read."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup


_DONE = {"drift": "The drift of {task} is accepted.", "finding": "Finding {number} of {task} is withdrawn."}


class Form(NamedTuple):
    """What the forms of a task send back: the task, and what the page shows of it.

    `expect` is the token of the state file that was read, `tree` the working tree that was compared, for drift, and
    `worktree` the name of the worktree that has both, empty for the one in which the page is served. `branch` is what
    addresses call that version of the task.
    """

    task: str
    expect: str
    tree: str = ""
    worktree: str = ""
    branch: str = ""

    @property
    def quoted(self) -> str:
        """The task, as a part of an address."""
        return quote(self.task, safe="")

    @property
    def query(self) -> str:
        """What an address says of the version."""
        return f"?{urlencode({'branch': self.branch})}" if self.branch else ""

    @property
    def page(self) -> str:
        """The address of the task's page."""
        return f"/tasks/{self.quoted}{self.query}"

    @property
    def hidden(self) -> tuple[tuple[str, str], ...]:
        """The fields that nobody sees, by name."""
        fields = (("expect", self.expect), ("tree", self.tree), ("worktree", self.worktree))
        return tuple((name, value) for name, value in fields if value)


class Refused(NamedTuple):
    """Why a write was refused, at which form of which task, and what had been typed.

    It `is_stale` where the file or the tree changed since the page was shown: the `sentences` say what is different,
    or, where they have no words for it, lines of the file do, the `changes`.
    """

    task: str
    place: str
    message: str
    help: str = ""
    note: str = ""
    is_stale: bool = False
    sentences: tuple[str, ...] = ()
    changes: str = ""

    @property
    def status(self) -> int:
        """The status of the answer: changed meanwhile, or refused otherwise."""
        return 409 if self.is_stale else 422

    @property
    def typed(self) -> Markup:
        """What had been typed, as it was: who typed it gets it back, and with a mask in it nobody could mend it."""
        from markupsafe import escape

        return escape(self.note)


def after(page: str, place: str, task: str) -> str:
    """Return where a form leads when it has written: to the page that it stood on, which says what is done."""
    if place.partition("-")[0] not in _DONE:
        return f"{page}#{place}"
    return f"{page}{'&' if '?' in page else '?'}{urlencode({'done': place, 'of': task})}"


def done(asked: Mapping[str, str]) -> str:
    """Return what an address says that was done, in words; empty where it says nothing of the kind."""
    said = re.fullmatch(r"(drift|finding)(?:-([1-9][0-9]{0,5}))?", asked.get("done", ""))
    return _DONE[said[1]].format(number=said[2], task=asked.get("of", "")) if said else ""

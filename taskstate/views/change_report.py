"""Renders what changed in the tasks of a pull request as Markdown, for a comment or the summary of a job. Pure.

Nothing from a file can act there: `escaping.inert` makes words of each text. What is too long is cut: sessions go
first, then other texts, then tasks.
"""

from __future__ import annotations

from taskstate.messages import counted, first_of, one_line
from taskstate.secrets.mask import masked
from taskstate.syntax.escaping import inert
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.changes import CHANGED, NEW, REMOVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.views.changes import Progress, TaskChange
    from taskstate.views.pull_request import PullRequest

MOST = 60_000  # bytes: GitHub takes 65,536 characters
_BEGIN, _END = "<!-- taskstate:begin -->", "<!-- taskstate:end -->"
_TEXT = 160  # characters of one text
_IDS = 50  # tasks in a list
_LIMITS = ((20, 20), (5, 20), (0, 20), (0, 5), (0, 0))  # of sessions, and of other texts, in one list: tried in turn
_NAMED = 5  # checks
_SESSIONS, _TEXTS = 0, 1


class _List(NamedTuple):
    """Texts with the words before them, or those that stand `alone` without them; `kind` says which limit holds."""

    words: str
    texts: Sequence[str]
    alone: str
    kind: int = _TEXTS

    def within(self, limits: tuple[int, int]) -> str:
        """Return it with no more texts than a limit allows, and the number of the others."""
        most = limits[self.kind]
        return f"{self.words}: {first_of(self.texts, most, separator='; ')}" if most else self.alone


class _Line(NamedTuple):
    """A line of parts, without any that is empty."""

    parts: Sequence[_List | str]
    separator: str = ". "

    def within(self, limits: tuple[int, int]) -> str:
        """Return it with no more texts than the limits allow."""
        parts = (each if isinstance(each, str) else each.within(limits) for each in self.parts)
        return f"- {self.separator.join(parts)}"


def markdown(found: PullRequest, *, allow: tuple[str, ...] = ()) -> str:
    """Return what changed as Markdown; what `allow` matches is not masked as a credential."""
    words = _Words(allow)
    blocks = [(words.heading(each), [each for each in words.lines(each) if each.parts]) for each in found.tasks]
    ids, files = first_of([*map(inert, found.named)], _IDS), len(found.unnamed_files)
    tail = [f"Tasks without a change of their own, named by commits or the branch: {ids}."] if ids else []
    tail += [f"Changed files that no task names: {files}."] if files else []
    rest = " ".join(tail)
    room = MOST - sum(map(_size, (_BEGIN, _END, rest, f"And {len(blocks)} more tasks.")))
    texts: list[str] = []
    for limits in _LIMITS:
        texts = ["\n".join((head, *(each.within(limits) for each in lines))).rstrip() for head, lines in blocks]
        if sum(map(_size, texts)) <= room:
            break
    kept = 0
    while kept < len(texts) and (room := room - _size(texts[kept])) >= 0:
        kept += 1
    more = f"And {counted(len(texts) - kept, 'more task')}." if kept < len(texts) else ""
    said = (*texts[:kept], more or ("" if texts else "No task changed."), rest)
    body = "\n\n".join(filter(None, said))
    return f"{_BEGIN}\n{body}\n{_END}"


def _size(text: str) -> int:
    return len(text.encode()) + 2  # with what stands between it and the next one


class _Words:
    """Makes words of texts from files."""

    def __init__(self, allow: tuple[str, ...]) -> None:
        self._allow = allow

    def _plain(self, text: str) -> str:
        return inert(one_line(masked(text, self._allow), _TEXT))

    def _said(self, text: str) -> str:
        return f"*{self._plain(text)}*" if text.strip() else "(no text)"

    def _list(self, words: str, texts: Sequence[str]) -> _List:
        return _List(words, [*map(self._said, texts)], f"{words}: {len(texts)}")

    def heading(self, task: TaskChange) -> str:
        """Return the heading of a task: its id, title and status."""
        before, now = (self._plain((each or "unknown").replace("_", " ")) for each in (task.status_before, task.status))
        words = {NEW: f"new, {now}", REMOVED: f"its file was removed, was {before}"}
        status = words.get(task.change, now if before == now else f"{before} \u2192 {now}")
        status = "cannot be read" if task.unread else status
        former = f", was {self._plain(task.former_id)}" if task.former_id else ""
        title = self._plain(task.title) or "(no title)"
        return f"### Task {self._plain(task.id)}{former}: {title} \u2013 {status}\n"

    def lines(self, task: TaskChange) -> Iterator[_Line]:
        """Yield the lines about a task, in the order of what a reviewer asks."""
        if task.unread:
            yield _Line([*map(self._plain, task.unread), "The rest is not compared"])
        yield self._progress("criteria", task.criteria, now="also")
        yield self._progress("features", task.features, now="passing")
        yield _Line([*self._sessions(task)], separator="; ")
        worse = first_of([*map(self._plain, task.worse)], _NAMED)
        checks = [f"checks: {len(task.worse)} worse than the baseline ({worse})"] if worse else []
        handoff = [f"handoff {task.handoff}"] if task.handoff else []
        yield _Line([*self._findings(task), *checks, *handoff], separator=" \u00b7 ")
        yield _Line([self._list("waived", task.waived)] if task.waived else [])
        if task.change == CHANGED and not (task.unread or task.criteria or task.features or task.sessions):
            yield _Line(["criteria and features as before, no new session"])

    def _progress(self, what: str, progress: Progress | None, *, now: str) -> _Line:
        if progress is None:
            return _Line([])
        head = f"{what} {progress.reached} of {progress.all}"
        reached = [
            f"{self._plain(text)} ({self._plain(proof)})" if proof else self._said(text) for text, proof in progress.now
        ]
        first = _List(f"{head}, now {now}", reached, f"{head}, now {now}: {len(reached)}") if reached else head
        lists = (("No longer", progress.no_longer), ("Removed", progress.removed), ("Open", progress.open))
        return _Line([first, *(self._list(words, texts) for words, texts in lists if texts)])

    def _sessions(self, task: TaskChange) -> Iterator[_List | str]:
        head = counted(len(task.sessions), "session")
        if task.sessions:
            yield _List(head, [self._said(each.did) for each in task.sessions], head, _SESSIONS)
        for words, numbers in (("rewritten", task.sessions_rewritten), ("gone", task.sessions_gone)):
            if numbers:
                yield f"{counted(len(numbers), 'session')} {words}: {first_of([*map(str, numbers)], _IDS)}"

    def _findings(self, task: TaskChange) -> Iterator[_List]:
        for role in dict.fromkeys(each.role for each in task.findings):
            own = [each for each in task.findings if each.role == role]
            new = sum(each.is_new for each in own)
            head = f"{self._plain(role)}: {counted(len(own), 'finding')} open"
            head += f", {new} of them new" if new < len(own) else ""
            yield _List(head, [self._said(each.text) for each in own], head)

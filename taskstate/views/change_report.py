"""Renders what changed in the tasks of a pull request as Markdown, for a comment or the summary of a job. Pure.

Nothing from a file can act there: `escaping.inert` makes words of each text. What is too long is cut: sessions go
first, then other texts, then tasks.
"""

from __future__ import annotations

from taskstate.messages import counted, first_of, one_line
from taskstate.secrets.mask import masked
from taskstate.syntax.escaping import inert
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.changes import NEW, REMOVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.views.changes import OpenFinding, Progress, TaskChange
    from taskstate.views.pull_request import PullRequest

MOST = 60_000  # bytes: GitHub takes 65,536 characters
_BEGIN, _END = "<!-- taskstate:begin -->", "<!-- taskstate:end -->"
_NOTHING = "No task changed."
_TEXT = 160  # characters of one text
_IDS = 50  # tasks in a list
_LIMITS = ((20, 20), (5, 20), (0, 20), (0, 5), (0, 0))  # of sessions, and of other texts, in one list: tried in turn
_SESSIONS, _TEXTS = 0, 1


class _List(NamedTuple):
    """Texts with the words before them, or those that stand `alone` without them; `kind` says which limit holds."""

    words: str
    texts: tuple[str, ...]
    alone: str
    kind: int = _TEXTS

    def within(self, limits: tuple[int, int]) -> str:
        """Return it with no more texts than a limit allows, and the number of the others."""
        most = limits[self.kind]
        return f"{self.words} {first_of(self.texts, most, separator='; ')}" if most and self.texts else self.alone


class _Line(NamedTuple):
    parts: tuple[_List | str, ...]
    separator: str = ". "


def markdown(found: PullRequest, *, allow: tuple[str, ...] = ()) -> str:
    """Return what changed as Markdown; what `allow` matches is not masked as a credential."""
    words = _Words(allow)
    blocks = [(words.heading(each), tuple(words.lines(each))) for each in found.tasks]
    tail = _tail(found)
    room = MOST - sum(map(_size, (_BEGIN, _END, tail, f"And {len(blocks)} more tasks.")))
    texts: list[str] = []
    for limits in _LIMITS:
        texts = ["\n".join((head, "", *_rendered(lines, limits))).rstrip("\n") for head, lines in blocks]
        if sum(map(_size, texts)) <= room:
            break
    kept = 0
    while kept < len(texts) and (room := room - _size(texts[kept])) >= 0:
        kept += 1
    more = [f"And {counted(len(texts) - kept, 'more task')}."] if kept < len(texts) else []
    said = "\n\n".join(each for each in (*texts[:kept], *more, "" if texts else _NOTHING, tail) if each)
    return f"{_BEGIN}\n{said}\n{_END}"


def _size(text: str) -> int:
    return len(text.encode()) + 2  # with what stands between it and the next one


def _rendered(lines: Iterable[_Line], limits: tuple[int, int]) -> Iterator[str]:
    for each in lines:
        parts = (part if isinstance(part, str) else part.within(limits) for part in each.parts)
        yield f"- {each.separator.join(parts)}"


def _tail(found: PullRequest) -> str:
    """Return the line about what is there besides the changed tasks; empty where nothing is."""
    lists = (
        ("Tasks without a change of their own, named by commits or the branch", found.named),
        ("Tasks without a change", found.unchanged),
    )
    said = [f"{words}: {first_of([*map(inert, ids)], _IDS)}." for words, ids in lists if ids]
    files = f"Changed files that no task names: {len(found.unnamed_files)}."
    return " ".join([*said, files] if found.unnamed_files else said)


class _Words:
    """Makes words of texts from files."""

    def __init__(self, allow: tuple[str, ...]) -> None:
        self._allow = allow

    def _plain(self, text: str) -> str:
        return inert(one_line(masked(text, self._allow), _TEXT))

    def _said(self, text: str) -> str:
        plain = self._plain(text)
        return f"*{plain}*" if plain else "(no text)"

    def heading(self, task: TaskChange) -> str:
        """Return the heading of a task: its id, title and status."""
        before, now = (self._plain((each or "unknown").replace("_", " ")) for each in (task.status_before, task.status))
        words = {NEW: f"new, {now}", REMOVED: f"its file was removed, was {before}"}
        status = words.get(task.change, now if before == now else f"{before} \u2192 {now}")
        status = "cannot be read" if task.unread else status
        former = f", was {self._plain(task.former_id)}" if task.former_id else ""
        return f"### Task {self._plain(task.id)}{former}: {self._plain(task.title) or '(no title)'} \u2013 {status}"

    def lines(self, task: TaskChange) -> Iterator[_Line]:
        """Yield the lines about a task, in the order of what a reviewer asks."""
        if task.unread:
            yield _Line((*map(self._plain, task.unread), "The rest is not compared"))
            return
        lines = (
            _Line((f"version {task.version}",) if task.version else ()),
            self._progress("criteria", task.criteria),
            self._progress("features", task.features, now="passing"),
            _Line(tuple(self._sessions(task)), separator="; "),
            _Line((*self._findings(task.findings), *self._checks(task)), separator=" \u00b7 "),
            _Line((self._list("waived:", task.waived),) if task.waived else ()),
        )
        told = [each for each in lines if each.parts]
        yield from told or (_Line(("other parts of its file alone",)) for _ in range(task.change != REMOVED))

    def _list(self, words: str, texts: Sequence[str], alone: str = "", kind: int = _TEXTS) -> _List:
        return _List(words, tuple(map(self._said, texts)), alone or f"{words} {len(texts)}", kind)

    def _progress(self, what: str, progress: Progress | None, *, now: str = "also") -> _Line:
        if progress is None:
            return _Line(())
        head = f"{what} {progress.reached} of {progress.all}"
        if progress.now:
            proofs = (f" ({self._plain(each.proof)})" if each.proof else "" for each in progress.now)
            names = (self._plain(each.text) if each.proof else self._said(each.text) for each in progress.now)
            texts = tuple(f"{name}{proof}" for name, proof in zip(names, proofs, strict=True))
            first: _List | str = _List(f"{head}, now {now}:", texts, f"{head}, now {now}: {len(texts)}")
        else:
            first = head
        lists = (("No longer:", progress.no_longer), ("Removed:", progress.removed), ("Open:", progress.open))
        return _Line((first, *(self._list(words, texts) for words, texts in lists if texts)))

    def _sessions(self, task: TaskChange) -> Iterator[_List | str]:
        if task.sessions:
            head = counted(len(task.sessions), "session")
            yield self._list(f"{head}:", [each.did for each in task.sessions], head, _SESSIONS)
        for words, numbers in (("rewritten", task.sessions_rewritten), ("gone", task.sessions_gone)):
            if numbers:
                yield f"{counted(len(numbers), 'session')} {words}: {first_of([*map(str, numbers)], _IDS)}"

    def _findings(self, findings: Sequence[OpenFinding]) -> Iterator[_List]:
        for role in dict.fromkeys(each.role for each in findings):
            own = [each for each in findings if each.role == role]
            new = sum(each.is_new for each in own)
            of_them = f", {new} of them new" if 0 < new < len(own) else "" if new else ", none of them new"
            head = f"{self._plain(role)}: {counted(len(own), 'finding')} open{of_them}"
            yield self._list(f"{head}:", [each.text for each in own], head)

    def _checks(self, task: TaskChange) -> Iterator[_List | str]:
        if task.worse:
            head = f"checks: {len(task.worse)} worse than the baseline"
            yield _List(head, (f"({', '.join(map(self._plain, task.worse[:5]))})",), head)
        if task.handoff:
            yield f"handoff {task.handoff}"

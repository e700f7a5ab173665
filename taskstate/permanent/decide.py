"""Adds, accepts and supersedes the Architecture Decisions of the permanent task."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.model import permanent
from taskstate.model.permanent import ACCEPTED, DECISIONS, PROPOSED, SUPERSEDED, Decision
from taskstate.permanent.consolidate import consolidated, require_embeddable
from taskstate.permanent.find import require
from taskstate.permanent.update import level_of_change, require_open, require_writer, with_section
from taskstate.permanent.versions import Revision, raised
from taskstate.syntax import escaping
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_STATUS_LINE = re.compile(r"(?mi)^([ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)Status:?(?:\*\*|__):?)[^\r\n]*")
_SUPERSEDES_LINE = re.compile(r"(?mi)^([ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)Supersedes:?(?:\*\*|__):?)[^\r\n]*")


class Choice(NamedTuple):
    """A decision to add (`title`, `decision`, `rationale`), or the number of one to accept; what it supersedes, if any.

    A new one is proposed unless it is `accepted`, or supersedes another. With `rejects` the new one says why a proposed
    one is not taken up, and takes its place: a file knows no rejected ones.
    """

    title: str = ""
    decision: str = ""
    rationale: str = ""
    accepted: bool = False
    number: int = 0
    supersedes: int = 0
    rejects: bool = False


def decide(workspace: Workspace, task_id: str, choice: Choice, request: Request) -> Outcome[int]:
    """Record a decision as a new version of the permanent task; the result is its number.

    Raises:
        TaskstateError: code "no-permanent", "writer", "not-found" (there is no such decision), "superseded", "usage".
    """
    found = require(workspace, task_id)
    require_writer(workspace, request)

    def job(loaded: Loaded) -> Change[int]:
        require_open(loaded)
        made = _rejecting(loaded.state, choice) if choice.rejects else choice
        number, texts = _texts(loaded.state, made)
        old = permanent.content_of(loaded.state, DECISIONS)
        text = with_section(loaded, DECISIONS, consolidated(old, "\n\n".join(texts)).text)
        after = loaded.with_text(text).state  # what was only proposed asked nothing of anybody
        level = permanent.COSMETIC if choice.rejects else level_of_change(loaded.state, after, DECISIONS)
        changed = raised(workspace, loaded, text, Revision((DECISIONS,), _summary(made, number), level), request)
        return Change(text=changed.text, before=changed.before, notes=changed.notes, result=number)

    outcome = change(workspace, found.id, job, request)
    return outcome._replace(notes=(*found.notes, *outcome.notes))


def _rejecting(state: TaskState, choice: Choice) -> Choice:
    """Return the decision that takes the place of a proposed one, with the reason."""
    found = _found({each.number: each for each in permanent.decisions(state)}, choice.supersedes)
    if found.status != PROPOSED:
        message = f"AD-{found.number} is {found.status or 'without a status'}, and no proposal"
        help_ = f"decide again: --title T --decision T --supersedes {found.number}"
        raise TaskstateError(message, help=help_, code="usage")
    return choice._replace(title=f"Rejected: {found.title}", decision=f"AD-{found.number} is not taken up.")


def _summary(choice: Choice, number: int) -> str:
    status = ACCEPTED if choice.accepted or choice.number or choice.supersedes else PROPOSED
    title = f": {' '.join(choice.title.split())}" if choice.title else ""
    parts = [f"AD-{number}{title} ({status})"]
    parts += [f"AD-{choice.supersedes} superseded by AD-{number}"] if choice.supersedes else []
    return "; ".join(parts)


def _texts(state: TaskState, choice: Choice) -> tuple[int, list[str]]:
    """Return the number of the decision, and the new texts of those that change."""
    present = {each.number: each for each in permanent.decisions(state)}
    ancestor = _found(present, choice.supersedes) if choice.supersedes else None
    if choice.number:
        heir = _found(present, choice.number)
        number, own = heir.number, _accepted(state, heir)
    else:
        number, own = _added(state, present, choice)
    if ancestor is None:
        return number, [own]
    if ancestor.number == number:
        raise TaskstateError(f"AD-{number} cannot supersede itself", help="name another one", code="usage")
    if ancestor.status == SUPERSEDED and ancestor.heir != number:
        message = f"AD-{ancestor.number} is superseded by AD-{ancestor.heir} already"
        raise TaskstateError(message, help=f"supersede AD-{ancestor.heir}", code="superseded")
    older = _with_line(_text_of(state, ancestor), _STATUS_LINE, "Status", f"{SUPERSEDED} by AD-{number}")
    return number, [older, _with_line(own, _SUPERSEDES_LINE, "Supersedes", f"AD-{ancestor.number}")]


def _found(present: dict[int, Decision], number: int) -> Decision:
    if number not in present:
        known = ", ".join(f"AD-{each}" for each in present) or "there are none yet"
        raise TaskstateError(f"there is no decision AD-{number}", help=f"known: {known}", code="not-found")
    return present[number]


def _accepted(state: TaskState, decision: Decision) -> str:
    if decision.status == SUPERSEDED:
        message = f"AD-{decision.number} is superseded by AD-{decision.heir}"
        raise TaskstateError(message, help="add a new decision that supersedes that one", code="superseded")
    return _with_line(_text_of(state, decision), _STATUS_LINE, "Status", ACCEPTED)


def _added(state: TaskState, present: dict[int, Decision], choice: Choice) -> tuple[int, str]:
    """Return the number and the text of a new decision; the same one again keeps its number."""
    title = escaping.one_line(choice.title, what="the title")
    same = next((each for each in present.values() if each.title.casefold() == title.casefold()), None)
    number = same.number if same else max(present, default=0) + 1
    status = ACCEPTED if choice.accepted or choice.supersedes else PROPOSED
    if same and same.status == SUPERSEDED:
        status = f"{SUPERSEDED} by AD-{same.heir}"
    elif same and same.status == ACCEPTED:
        status = ACCEPTED
    parts = [f"### AD-{number}: {title}", f"**Status:** {status}"]
    for label, text in _labels(choice):
        require_embeddable(text)
        parts.append(f"**{label}:** {escaping.paragraphs(text, what=f'the {label.lower()}')}")
    earlier = _SUPERSEDES_LINE.search(_text_of(state, same)) if same else None
    return number, "\n\n".join([*parts, earlier[0]] if earlier else parts)


def _labels(choice: Choice) -> Iterator[tuple[str, str]]:
    yield "Decision", choice.decision
    if choice.rationale:
        yield "Rationale", choice.rationale


def _text_of(state: TaskState, decision: Decision) -> str:
    return decision.section.span.of(state.document.text).rstrip()


def _with_line(text: str, pattern: re.Pattern[str], label: str, value: str) -> str:
    """Return the text of a decision with a labelled line set, below its heading's status if it is new."""
    if pattern.search(text):
        return pattern.sub(lambda match: f"{match[1]} {value}", text, count=1)
    nl = "\r\n" if "\r\n" in text else "\n"
    head, _, rest = text.partition(nl)
    status = _STATUS_LINE.search(text)
    if status is None or label == "Status":
        return f"{head}{nl}{nl}**{label}:** {value}{nl}{rest}"
    return f"{text[: status.end()]}{nl}{nl}**{label}:** {value}{text[status.end() :]}"

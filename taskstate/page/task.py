"""One task: what it is about, what it needs, what is proved, what happened, and its file itself."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import groupby

from taskstate.chain.inputs import upstream_ids
from taskstate.errors import TaskstateError
from taskstate.handoff import token_count
from taskstate.model import chain, roles
from taskstate.model.derived_values import session_counts, shown_kb
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.names import hashed_artifact
from taskstate.model.session_texts import VERIFICATION, by_of
from taskstate.model.statuses import DONE, PENDING
from taskstate.model.task_state import KB
from taskstate.model.write_metadata import blocks_of
from taskstate.page import markdown
from taskstate.page.versions import Said, asked_task, said
from taskstate.snapshots.verify import newest_role
from taskstate.storage import files
from taskstate.syntax.spans import printable, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views import history, history_text, needs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from markupsafe import Markup
    from starlette.requests import Request

    from taskstate.model.criteria import Criterion
    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import Feature, TaskState
    from taskstate.model.tool_blocks import Role
    from taskstate.page.forms import Form
    from taskstate.page.reading import Reading
    from taskstate.page.versions import ShownTask
    from taskstate.workspace.open_turns import OpenTurn
    from taskstate.workspace.task_index import IndexedTask

_MET = r"\bcriterion (\d{1,9}) is met\b"  # as a session tells it
_STATES = {DONE: "done", PENDING: ""}
_DOTS = {history.DRIFT: "bad", history.FINDING: "warn", history.ROLE: "good", history.TURN: "run"}
_DOTS |= {"sent-back": "warn", "role-reopened": "warn"}  # by the event, before its kind
_FIELDS = ("issues", "state", "next", "commits", "verification", "findings", "outcome")
_MOST_DRIFT = 3  # files that are drawn
_MOST_TEXT = 500_000  # characters of a file that are shown line by line
_WIDTH, _TOP, _BOTTOM = 320, 10, 78  # of the plot


class Stage(NamedTuple):
    """A role in the pipeline: its look, who did it last, what that changed, its open turn, and whether it `is_adrift`.

    It is if the working tree is not what it left. One that has had turns before is there `again`.
    """

    role: Role
    look: str
    by: str
    changed: str
    turn: OpenTurn | None
    is_adrift: bool
    again: bool

    @property
    def words(self) -> str:
        """How far it is."""
        if self.role.status != PENDING:
            return self.role.status.replace("_", " ")
        return "at work" if self.turn else "to do again" if self.again else "not begun"


class Checked(NamedTuple):
    """A criterion, and the session that tells that it is met, if one does."""

    criterion: Criterion
    session: Session | None

    @property
    def by(self) -> str:
        """Who checked it."""
        return by_of(self.session.agent).name if self.session else ""


class Proved(NamedTuple):
    """A feature with its proof: that as a map, whether its log is kept here, and why it is stale, if it is."""

    feature: Feature
    proof: Mapping[str, object]
    is_kept: bool
    stale: str


class Happened(NamedTuple):
    """An entry of the history, the look of its dot, its kind in words, and of a session what it `did` and says `more`.

    There is no `did` where it is one thing, which the entry's text says.
    """

    entry: Mapping[str, str]
    dot: str
    label: str
    did: Sequence[str]
    more: Sequence[tuple[str, Sequence[str]]]


def values(reading: Reading, request: Request) -> Mapping[str, object]:
    """Return what the template of a task shows."""
    asked = request.query_params
    kinds = tuple(each for each in asked.getlist("kind") if each in history.KINDS)
    number = {"number": 0} if asked.get("entries") == "all" else {}
    shown, branch = asked_task(reading, request), asked.get("branch", "")
    found = of_task(reading, shown, {"kind": kinds, **number})
    return {**found, "no_branch": branch if branch != shown.version.branch else ""}


def of_task(
    reading: Reading, task: ShownTask, asked: Mapping[str, Any], *, lint: Said | None = None, is_file: bool = False
) -> Mapping[str, object]:
    """Return what the template shows of a version of a task, with this part of its history, in a page or a file.

    What the linter says of its file is asked, unless it is given.
    """
    state = task.loaded.state
    sessions = _sessions(task)
    own = [
        each
        for each in reading.needs
        if task.id in {each.task, *each.others} and each.branch in {task.version.branch, ""}
    ]
    drifted = [each.paths for each in own if each.kind == needs.DRIFT]
    prefix = f"task-{task.id}/" if is_file else ""
    output = chain.output_of(task.loaded.document)
    return {
        "title": f"{task.id} {state.title}".strip(),
        "task": task,
        "state": state,
        "no_branch": "",
        "form": _form(reading, task) if drifted and not is_file else task.form,
        "problems": [(state.document.position(each.span.start).line, each.message) for each in state.problems],
        "at": prefix,
        "is_work": state.kind != PERMANENT,
        "goal": _goal(state),
        "counts": session_counts(state),
        "builds_on": [_named(reading, each) for each in state.depends_on],
        "waiting": [each for each in _newest(reading) if task.id.casefold() in map(str.casefold, each.depends_on)],
        "stages": [*_stages(task, sessions, _left(task) if drifted else "")],
        "findings": [each for role in blocks_of(task.loaded.document).roles.values() for each in role.findings],
        "needs": [each for each in own if each.is_listed],
        "also": [each for each in own if not each.is_listed],
        **drift_of(task, () if is_file else drifted),
        "criteria": [*_criteria(state, sessions)],
        "features": [*_features(task, matches=not drifted)],
        **_history(task, sessions, asked),
        "chain": said(task.call, "chain status", ids=(task.id,)) if upstream_ids(state) else None,
        "output": _rendered(output, f"{prefix}output-", is_file=is_file),
        "lint": Said(None, task.fault) if task.fault else lint or said(task.call, "lint", paths=(task.path,)),
        **_size(task, state),
        "curve": _curve(state, sessions),
        **_file(task, prefix, is_file=is_file),
    }


def _form(reading: Reading, task: ShownTask) -> Form:
    """Return what forms send back, with the working tree that was compared, if there is one."""
    with suppress(TaskstateError):
        tree = next(each for each in reading.repository.trees if each.name == task.version.root)
        return task.form._replace(tree=tree.now.tree)
    return task.form


def _goal(state: TaskState) -> str:
    """Return the first paragraph of the description."""
    return " ".join((state.description or "").strip().partition("\n\n")[0].split())


def _newest(reading: Reading) -> Iterator[IndexedTask]:
    return (each.task for each in reading.repository.tasks if each.is_first)


def _named(reading: Reading, task_id: str) -> object:
    """Return another task as the index has it, or its id alone where there is none."""
    known = {each.task.id.casefold(): each.task for each in reading.repository.tasks if each.is_first}
    return known.get(task_id.casefold(), {"id": task_id})


def _sessions(task: ShownTask) -> tuple[Session, ...]:
    """Return all sessions, archived ones first."""
    from taskstate.archive.archiver import sessions_in
    from taskstate.archive.verify import archive_text

    archived: tuple[Session, ...] = ()
    with suppress(TaskstateError):  # what is wrong with the archive is told of the file
        archived = sessions_in(archive_text(task.workspace, task.id) or "")
    return *archived, *task.loaded.state.sessions


def _stages(task: ShownTask, sessions: Sequence[Session], adrift: str) -> Iterator[Stage]:
    from taskstate.workspace.open_turns import of_document

    blocks, turn = blocks_of(task.loaded.document), of_document(task.loaded.document, task.id)
    drifted, pipeline = {*roles.unresolved(blocks), adrift}, roles.pipeline(blocks, task.workspace.config.roles)
    # A turn without a role does what comes next.
    at_work = (turn.role or next((each.name for each in pipeline if each.status != DONE), "")) if turn else ""
    for role in pipeline:
        told = [each.name for each in map(by_of, (each.agent for each in reversed(sessions))) if each.role == role.name]
        snapshot = role.snapshot if history.is_as_handed_on(role) else None
        by = (told or [(snapshot and snapshot.actor) or ""])[0]
        own = turn if role.name == at_work else None
        look = (
            "stuck" if role.name in drifted or role.open_findings else "now" if own else _STATES.get(role.status, "now")
        )
        changed = history.short((snapshot and snapshot.diff_stat) or "")
        yield Stage(role, look, by, changed, own, role.name in drifted, bool(told))


def drift_of(task: ShownTask, drifted: Sequence[Sequence[str]]) -> Mapping[str, object]:
    """Return how the files differ whose paths `drifted` names, from what was left, and by which role; else None.

    A drift that names no path means all files.
    """
    from taskstate.page.diff import files_of

    role = _left(task)
    found = said(task.call, "snapshot diff", id=task.id, role=role, type="now") if drifted else None
    files = files_of(found.data["diff"], place=f"drift-{task.id}-") if found and found.data else ()
    shown = [each for each in files if any(not paths or each.path in paths for paths in drifted)]
    more = len(shown[_MOST_DRIFT:])
    return {"drift": shown[:_MOST_DRIFT] if drifted else None, "drift_more": more, "drift_role": role}


def _left(task: ShownTask) -> str:
    """Return the role with whose work the working tree is compared; empty where it is a turn without a role."""
    blocks = blocks_of(task.loaded.document)
    return next(iter(roles.unresolved(blocks)), newest_role(blocks.delta, task.workspace.config.roles) or "")


def _criteria(state: TaskState, sessions: Sequence[Session]) -> Iterator[Checked]:
    told = {
        int(number): session
        for session in sessions
        for text in session.values(VERIFICATION)
        for number in re.findall(_MET, text)
    }
    for each in state.criteria:
        yield Checked(each, told.get(each.number) if each.checked else None)


def _features(task: ShownTask, *, matches: bool) -> Iterator[Proved]:
    from taskstate.evidence.command_evidence import log_stem
    from taskstate.tasks import evidence_age

    checklist, stale = task.loaded.state.checklist, dict[str, str]()
    with suppress(TaskstateError):  # without git nothing is known of the ages of files
        stale = {each.key: each.words for each in evidence_age.gaps(task.workspace, task.loaded, matches=matches)}
    for each in checklist.features if checklist else ():
        proof = each.evidence if isinstance(each.evidence, dict) else {"text": each.evidence} if each.evidence else {}
        log, is_kept = proof.get("log_sha256"), False
        if isinstance(log, str):
            path = hashed_artifact(task.id, log_stem(each.id), log, ".log")
            is_kept = files.size(task.workspace.state_root / path) is not None
        yield Proved(each, proof, is_kept, stale.get(f"age:{each.id}", ""))


def _history(task: ShownTask, sessions: Sequence[Session], asked: Mapping[str, Any]) -> Mapping[str, object]:
    """Return what happened, as `log` tells it where it is asked for that, by day."""
    found = said(task.call, "log", ids=(task.id,), **asked)
    entries = found.data["entries"] if found.data else []
    by_text = {f"{each.number}. {' '.join(each.did) or each.state}": each for each in sessions}
    shown = [_happened(each, by_text) for each in entries]
    days = groupby(shown, key=lambda each: (each.entry["at"] or "")[:10])
    return {
        "days": [(history_text.day_of(day), [*of_day]) for day, of_day in days],
        "number": len(entries),
        "has_more": bool(found.data and found.data["more"]),
        "log_error": found.error,
        "kinds": asked.get("kind", ()),
        "all_kinds": history.KINDS,
    }


def _happened(entry: Mapping[str, str], sessions: Mapping[str, Session]) -> Happened:
    session = sessions.get(entry["text"]) if entry["kind"] == history.SESSION else None
    texts = session.texts() if session else {}
    given = {key: texts.get(key) or () for key in _FIELDS}
    more = [(key, (told,) if isinstance(told, str) else told) for key, told in given.items() if told]
    did = session.did if session and len(session.did) > 1 else ()
    dot = _DOTS.get(entry["event"], _DOTS.get(entry["kind"], ""))
    return Happened(entry, dot, history_text.label_of(entry["kind"], entry["event"]), did, more)


def _size(task: ShownTask, state: TaskState) -> Mapping[str, object]:
    """Return how large the file is and may become, and after how many sessions it is to be archived."""
    limit = task.workspace.config.size.max_kb * KB
    archive = files.size(task.workspace.state_root / task.workspace.archive_path(task.id)) or 0
    each = sum(len(session.entry) for session in state.sessions) // max(len(state.sessions), 1)
    return {
        "size": state.size,
        "limit": limit,
        "share": min(round(100 * state.size / max(limit, 1), 1), 100.0),
        "shown_size": shown_kb(state.size),
        "shown_limit": shown_kb(limit),
        "tokens": token_count.estimate(state.document.text),
        "archive": shown_kb(archive) if archive else "",
        "each_kb": f"{round(each / KB, 1)} KB" if each else "",
        "most_sessions": task.workspace.config.size.max_sessions,
        "sessions_left": max(limit - state.size, 0) // each if each else 0,
    }


class Curve(NamedTuple):
    """How many features passed after each session, and that as the path of a plot."""

    passing: Sequence[int]
    all: int
    path: str


def _curve(state: TaskState, sessions: Sequence[Session]) -> Curve | None:
    """Return how features came to pass, session by session; None where that is no line."""
    features = state.checklist.counted if state.checklist else ()
    times = [each.time for each in sessions if each.time]
    tested = [(each.tested_at or "")[:16].replace("T", " ") for each in features if each.passes]
    if len(times) < 2 or not tested:  # noqa: PLR2004 - of one point there is no line
        return None
    passing = [sum(each <= time for each in tested) for time in times]
    passing[-1] = len(tested)
    step, height = _WIDTH / (len(times) - 1), (_BOTTOM - _TOP) / len(features)
    points = (f"{round(at * step, 1)} {round(_BOTTOM - each * height, 1)}" for at, each in enumerate(passing))
    return Curve(passing, len(features), "M" + "L".join(points))


def _file(task: ShownTask, prefix: str, *, is_file: bool) -> Mapping[str, object]:
    """Return the file rendered, and line by line; a document that is a file itself has only the former."""
    document = task.loaded.document
    text = with_newlines(document.text, "\n")
    cut = text[: text.rfind("\n", 0, _MOST_TEXT) + 1] if len(text) > _MOST_TEXT else text
    front = document.front_matter.span
    body = text[len(with_newlines(document.text[: front.end], "\n")) :] if front else text
    return {
        "rendered": _rendered(body, f"{prefix}file-", is_file=is_file),
        "lines": "" if is_file else _lines(cut),
        "line_count": text.count("\n"),
        "is_cut": cut is not text,
    }


def _rendered(text: str, prefix: str, *, is_file: bool) -> Markup | str:
    """Return Markdown as HTML, below the headings of a page or of a report."""
    return markdown.rendered(text, prefix, depth=3 if is_file else 2, is_file=is_file) if text else ""


def _lines(text: str) -> Markup:
    """Return a text with the number and the anchor of each line."""
    from markupsafe import Markup, escape

    from taskstate.secrets.mask import masked

    lines = str(escape(printable(masked(text)))).removesuffix("\n").split("\n")
    rows = (f'<span class="l" id="L{number}" data-n="{number}">{line}</span>' for number, line in enumerate(lines, 1))
    return Markup("".join(rows))  # noqa: S704 - escaped just now

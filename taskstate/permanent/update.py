"""Updates a section of the permanent task: reads what is there, consolidates the new content with it, writes a version.

An update never appends blindly: what is there already stays, what contradicts it by its key is replaced, and the Change
Log names what was replaced.
"""

from __future__ import annotations

from collections import Counter

from taskstate.context.past_versions import earlier_versions
from taskstate.errors import TaskstateError
from taskstate.messages import closest, first_of, typed_path
from taskstate.model import permanent
from taskstate.model.document_kinds import built_in, section_key
from taskstate.model.entries import entries
from taskstate.model.permanent import (
    ACCEPTED,
    ARCHITECTURE,
    CONTENT,
    COSMETIC,
    DECISIONS,
    IMPACT_MAP,
    PERMANENT,
    SUPERSEDED,
    level_named,
    shown_version,
)
from taskstate.model.statuses import CLOSED
from taskstate.model.task_state import read_state
from taskstate.permanent.consolidate import Consolidated, consolidated
from taskstate.permanent.find import require, require_permanent
from taskstate.permanent.impact.changes import with_entries, written
from taskstate.permanent.versions import Revision, raised
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_LINES_SHOWN = 3


class Update(NamedTuple):
    """New content for a section, entries to drop from it, and a level that is not the derived one, with the reason.

    Without a section, what was edited by hand gets its version. `merge` plans on the newest version although the
    expected revision is an older one.
    """

    section: str = ""
    content: str = ""
    drop: tuple[str, ...] = ()
    level: str = ""
    note: str = ""
    merge: bool = False


class Updated(NamedTuple):
    """The version after an update, and what became of the entries."""

    version: int
    plan: Consolidated | None


def update(workspace: Workspace, task_id: str, asked: Update, request: Request) -> Outcome[Updated]:
    """Consolidate a section of the permanent task with new content, as a new version if anything changes.

    Raises:
        TaskstateError: code "no-permanent", "writer", "section", "structure", "ambiguous", "not-found", "usage", or
            "revision": the message says what changed meanwhile.
    """
    found = require(workspace, task_id)
    require_writer(workspace, request)
    section = require_section(asked.section) if asked.section else ""
    if asked.level and not asked.note:
        message = "a level that is not the derived one needs a reason"
        raise TaskstateError(message, help="add `--note WHY`", code="usage")
    request = request._replace(expect="") if asked.merge else request
    try:
        outcome = change(workspace, found.id, _updating(workspace, section, asked, request), request)
    except TaskstateError as error:
        if error.code == "revision":
            raise _stale(workspace, found.id, request.expect, error) from error
        raise
    return outcome._replace(notes=(*found.notes, *outcome.notes))


def _updating(
    workspace: Workspace, section: str, asked: Update, request: Request
) -> Callable[[Loaded], Change[Updated]]:
    def job(loaded: Loaded) -> Change[Updated]:
        require_open(loaded)
        if section == IMPACT_MAP:
            return _with_map(workspace, loaded, asked, request)
        plan = _planned(loaded.state, section, asked) if section else None
        text = with_section(loaded, section, plan.text) if plan else loaded.document.text
        after = loaded.with_text(text).state
        level = level_named(asked.level) or (level_of_change(loaded.state, after, section) if section else "")
        summary = "; ".join(filter(None, (plan.summary if plan else "", _reason(asked))))
        changed = raised(workspace, loaded, text, Revision((section,), summary, level), request)
        version = permanent.version_of(loaded.with_text(changed.text).state)
        notes = (*changed.notes, *_notes(loaded, version, plan, level))
        return Change(text=changed.text, before=changed.before, notes=notes, result=Updated(version, plan))

    return job


def _with_map(workspace: Workspace, loaded: Loaded, asked: Update, request: Request) -> Change[Updated]:
    """Return the change that joins a map with the present one, entry by entry."""
    if asked.drop:
        help_ = "`taskstate impact remove module|interface|ripple ID` removes an entry of the map"
        raise TaskstateError("--drop is for the sections in Markdown", help=help_, code="usage")
    new = with_entries(workspace, loaded, asked.content)
    summary = "; ".join(filter(None, (new.summary, _reason(asked))))
    new = new._replace(summary=summary, level=level_named(asked.level) or new.level)
    changed = written(workspace, loaded, new, request)
    return Change(
        changed.text, changed.before, changed.notes, after=changed.after, result=Updated(changed.result, None)
    )


def _planned(state: TaskState, section: str, asked: Update) -> Consolidated:
    content = escaping.clean(asked.content, what="the content") if asked.content or not asked.drop else ""
    plan = consolidated(permanent.content_of(state, section), content, asked.drop)
    require_conserved(permanent.content_of(state, section), plan)
    return plan


def _reason(asked: Update) -> str:
    return escaping.one_line(asked.note, what="the note") if asked.note else ""


def _notes(loaded: Loaded, version: int, plan: Consolidated | None, level: str) -> tuple[str, ...]:
    before, by_hand = permanent.version_of(loaded.state), permanent.sections_by_hand(loaded.state)
    told = (f"edited by hand before, now a version of its own: {', '.join(by_hand)}",) if by_hand else ()
    if version == before:
        return told
    what = f": {plan.summary}" if plan and plan.summary else ""
    asks = f" ({level})" if level else ""
    return (*told, f"{shown_version(before)} is now {shown_version(version)}{asks}{what}")


# What is refused


def require_writer(workspace: Workspace, request: Request) -> None:
    """Refuse an actor that the configuration does not name among those who may update the permanent task.

    Raises:
        TaskstateError: code "writer".
    """
    writers, actor = workspace.config.permanent.writers, request.metadata.actor
    if writers and actor not in writers:
        message = f"{actor} may not update the permanent task: its writers are {', '.join(writers)}"
        raise TaskstateError(message, help="ask one of them, or add `--actor NAME` if you are one", code="writer")


def require_open(loaded: Loaded) -> None:
    """Refuse a task of another kind, and one that is closed.

    Raises:
        TaskstateError: code "no-permanent" or "task-closed".
    """
    require_permanent(loaded)
    if loaded.state.status in CLOSED:
        message = f"the permanent task {loaded.state.id} is closed"
        help_ = f'`taskstate reopen {loaded.state.id} --note "WHY"` opens it again'
        raise TaskstateError(message, help=help_, code="task-closed")


def require_section(name: str) -> str:
    """Return the section that a name means.

    Raises:
        TaskstateError: code "section": there is none, or nobody updates it.
    """
    spec = built_in(PERMANENT).section(name)
    if spec and spec.name in CONTENT:
        return spec.name
    known = ", ".join(CONTENT)
    if spec:
        message = f"no command updates the section {spec.name}"
        raise TaskstateError(message, help=f"the sections with content are {known}", code="section")
    near = closest(section_key(name), [section_key(each) for each in CONTENT])
    hint = next((f"did you mean {each}? " for each in CONTENT if section_key(each) == near), "")
    message = f"a permanent task has no section {name!r}"
    raise TaskstateError(message, help=f"{hint}the sections are {known}", code="section")


def require_conserved(old: str, plan: Consolidated) -> None:
    """Refuse a plan that loses an entry which it does not name: a bug of ours must not reach the disk.

    Raises:
        TaskstateError: code "unsafe".
    """
    gone = Counter(each.same for each in entries(old)) - Counter(each.same for each in entries(plan.text))
    if gone.total() > len(plan.replaced) + len(plan.dropped):
        lost = first_of([repr(each) for each in gone], _LINES_SHOWN)
        help_ = "change the section by hand, and give that its version with `taskstate permanent update`"
        raise TaskstateError(f"nothing is written, since {lost} would get lost", help=help_, code="unsafe")


def _stale(workspace: Workspace, task_id: str, expected: str, error: TaskstateError) -> TaskstateError:
    """Return the error for an older revision, with what changed since."""
    loaded = workspace.load(workspace.locate(task_id))
    number = expected.partition("-")[0]
    texts = (data.decode("utf-8", "replace") for data in earlier_versions(workspace, loaded.relative))
    earlier = (read_state(parse(text, workspace.kinds)) for text in texts)
    then = next((state for state in earlier if str(state.revision) == number), None)
    log = permanent.change_log(loaded.state)
    since = [each for each in log if then is None or each.number > permanent.version_of(then)]
    lines = [each.line.removeprefix("- ") for each in since[:_LINES_SHOWN]]
    meanwhile = f"; meanwhile: {'; '.join(lines)}" if lines else "; no section changed meanwhile"
    help_ = "read it again, or plan on top of it with `--merge`"
    return TaskstateError(f"{error.message}{meanwhile}", help=help_, code=error.code)


# The new text


def with_section(loaded: Loaded, name: str, content: str) -> str:
    """Return the text of a permanent task with the content of a section replaced; untouched parts keep their bytes.

    Raises:
        TaskstateError: code "unreadable": the section is missing.
    """
    document, section = loaded.document, loaded.state.section(name)
    if section is None:
        help_ = f"run `taskstate lint {typed_path(loaded.relative)}`"
        raise TaskstateError(f"task {loaded.state.id} has no section {name}", help=help_, code="unreadable")
    if content == permanent.content_of(loaded.state, name):
        return document.text
    nl = document.newline
    before = "" if content.startswith(("\r", "\n")) else nl
    is_last = section.body.end == len(document.text)
    return apply(document.text, [Edit(*section.body, f"{before}{content.rstrip()}{nl}{'' if is_last else nl}")])


# The level


def level_of_change(before: TaskState, after: TaskState, section: str) -> str:
    """Return what a change of a section asks of who works on the older version."""
    if section == DECISIONS:
        return _level_of_decisions(before, after)
    return permanent.level_of_sections((section,))


def _level_of_decisions(before: TaskState, after: TaskState) -> str:
    """Return the level of a change of decisions: one that is only proposed asks nothing of anybody yet."""
    old, new = _decision_texts(before), _decision_texts(after)
    changed = [key for key in {*old, *new} if old.get(key) != new.get(key)]
    binding = [key for key in changed if {ACCEPTED, SUPERSEDED} & {old.get(key, ("",))[0], new.get(key, ("",))[0]}]
    return ARCHITECTURE if binding else COSMETIC


def _decision_texts(state: TaskState) -> dict[int, tuple[str, str]]:
    text = state.document.text
    return {each.number: (each.status, each.section.span.of(text).strip()) for each in permanent.decisions(state)}

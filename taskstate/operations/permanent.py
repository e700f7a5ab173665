"""`permanent`: the shared, versioned context that all agents read by its id and version."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result, changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import TaskId, Text
    from taskstate.workspace.workspace import Loaded

LEVELS = ("cosmetic", "interface", "architecture")
_PERMANENT = positional("ID", "permanent task (default: the one of the repository)")


class Update(NamedTuple):
    """The arguments of `permanent update`."""

    id: TaskId | None = _PERMANENT
    section: str = option("S", "section to update, such as Constraints")
    source: Source | None = option("F", "file with the content; - reads standard input", flag="from")
    drop: tuple[str, ...] = option("ENTRY", "remove an entry, by its bold label or its whole text")
    level: str = option("", "what the change asks of others (default: derived from it)", choices=LEVELS)
    note: str = option("T", "reason, for the Change Log")
    merge: bool = switch("if the file is newer than --expect-revision, update the newest version")


class Decide(NamedTuple):
    """The arguments of `permanent decide`."""

    id: TaskId | None = _PERMANENT
    title: str = option("T", "title of a new decision")
    decision: Text = option("T", "what is decided; - reads standard input")
    rationale: str = option("T", "why")
    accepted: bool = switch("the new decision is accepted, not only proposed")
    accept: str = option("N", "accept this decision, such as 3 or AD-3")
    supersedes: str = option("N", "decision that it replaces")
    reject: str = option("N", "reject this proposed decision (requires --rationale)")


class Notify(NamedTuple):
    """The arguments of `permanent notify`."""

    id: TaskId | None = _PERMANENT
    since: str = option("V", "version that the agent has read, such as 7 or PT-v7", is_required=True)
    agent: str = option("A", "agent that is told")
    lost: bool = switch("the agent has lost its context, and reads everything again")


class Ack(NamedTuple):
    """The arguments of `permanent ack`."""

    id: TaskId | None = _PERMANENT
    agent: str = option("A", "name of the agent", is_required=True)
    version: str = option("V", "version that it has read, such as 7 or PT-v7", is_required=True)


class Status(NamedTuple):
    """The arguments of `permanent status`."""

    id: TaskId | None = _PERMANENT


class Recover(NamedTuple):
    """The arguments of `permanent recover`."""

    agent: str = option("A", "name of the agent (default: the actor)")


class Close(NamedTuple):
    """The arguments of `permanent close`."""

    id: TaskId | None = _PERMANENT
    note: str = option("T", "reason, for the summary")


class Import(NamedTuple):
    """The arguments of `permanent import`."""

    file: Source = positional("FILE", "the document; - reads standard input")
    id: TaskId = option("ID", "id (default: the next number)")


def _named(call: Call, value: str | None) -> str:
    return call.task_id(value) if value is not None else ""


def update(call: Call, asked: Update) -> Result:
    """Merge new content into a section: equal entries are joined, one with the same bold label is replaced.

    Without --section, give edits by hand a version.
    """
    from taskstate.permanent.update import Update as Content
    from taskstate.permanent.update import update as consolidate

    if asked.section and asked.source is None and not asked.drop:
        raise usage_error("update: --from is missing", help="name the file with the content, or - for standard input")
    if not asked.section and (asked.source is not None or asked.drop):
        raise usage_error("update: --section is missing", help="say which section, such as --section Constraints")
    text = asked.source.text() if asked.source else ""
    content = Content(asked.section, text, asked.drop, asked.level, asked.note, asked.merge)
    outcome = consolidate(call.workspace, _named(call, asked.id), content, call.request())
    if call.dry_run:
        call.notes(outcome.notes)
    return changed(call, outcome, "updated", version=outcome.result.version)


def decide(call: Call, asked: Decide) -> Result:
    """Add an Architecture Decision, accept or reject one, or let one supersede another."""
    from taskstate.permanent.decide import Choice
    from taskstate.permanent.decide import decide as record

    if asked.title and not asked.decision:
        raise usage_error("decide: --decision is missing", help="say what is decided, or - for standard input")
    choice = Choice(
        title=asked.title,
        decision=asked.decision,
        rationale=asked.rationale,
        accepted=asked.accepted,
        number=_number(asked.accept, "--accept"),
        supersedes=_number(asked.supersedes, "--supersedes") or _number(asked.reject, "--reject"),
        rejects=bool(asked.reject),
    )
    outcome = record(call.workspace, _named(call, asked.id), choice, call.request())
    done = "accepted" if asked.accept else f"says why {asked.reject} is rejected" if asked.reject else "recorded"
    return changed(call, outcome, f"AD-{outcome.result} {done}", decision=outcome.result)


def _number(text: str, flag: str) -> int:
    digits = text.upper().removeprefix("AD-")
    if text and not (digits.isascii() and digits.isdigit() and int(digits)):
        raise usage_error(f"decide: {flag} {text!r} is not a decision", help="write its number, such as 3 or AD-3")
    return int(digits) if text else 0


def _document(call: Call, task_id: str) -> Loaded:
    """Return the permanent task; the call ends with status 1 where its file, or its Impact Map, is damaged."""
    from taskstate.permanent.impact.storage import load_map

    loaded = call.load_found(task_id)
    try:
        load_map(call.workspace, loaded, even_edited=True)
    except TaskstateError as error:
        call.report_found((str(error),) if error.code == "impact-map" else ())
    return loaded


def notify(call: Call, asked: Notify) -> Result:
    """Print what changed since a version, for an agent that has read that one."""
    from taskstate.permanent import notify as notices
    from taskstate.permanent.acknowledge import parse_version
    from taskstate.permanent.find import require

    found = require(call.workspace, _named(call, asked.id))
    loaded = _document(call, found.id)
    told = notices.notice(call.workspace, loaded, parse_version(asked.since), agent=asked.agent, lost=asked.lost)
    call.notes(found.notes)
    return Result(notices.shape(told), notices.text_of(told))


def ack(call: Call, asked: Ack) -> Result:
    """Record that an agent has read a version."""
    from taskstate.permanent.acknowledge import acknowledge, parse_version

    version = parse_version(asked.version)
    outcome = acknowledge(call.workspace, _named(call, asked.id), asked.agent, version, call.request())
    done = f"{asked.agent} has confirmed PT-v{version}"
    return changed(call, outcome, done, agent=asked.agent, version=version)


def status(call: Call, asked: Status) -> Result:
    """Show which version each agent has confirmed, also those at work that have confirmed none."""
    from taskstate.permanent import readers
    from taskstate.permanent.find import require

    found = require(call.workspace, _named(call, asked.id))
    state, at_work = _document(call, found.id).state, readers.agents_at_work(call.workspace)
    call.notes(found.notes)
    return Result(readers.shape(state, at_work), readers.table(state, at_work))


def recover(call: Call, asked: Recover) -> Result:
    """Print what an agent that has lost its context reads and does, in order."""
    from taskstate.permanent import recover as recovery

    request = call.request()
    found = recovery.recover(call.workspace, asked.agent or request.metadata.actor, request)
    _document(call, found.document.state.id)
    if found.own:
        call.load_found(found.own.loaded.state.id)
    call.notes(found.notes)
    return Result(recovery.shape(found), recovery.text_of(found))


def close(call: Call, asked: Close) -> Result:
    """Complete the permanent task: archive its full text, and put a summary of one page under its Notes."""
    from taskstate.permanent.close import close as close_permanent

    outcome = close_permanent(call.workspace, _named(call, asked.id), call.request(), note=asked.note)
    return changed(call, outcome, f"PT-v{outcome.result} closed", version=outcome.result)


def import_(call: Call, asked: Import) -> Result:
    """Create the permanent task from a Markdown document with `version: GC-v3` in its front matter.

    The version stays, sections are mapped by title, and the rest goes under Notes.
    """
    from taskstate.permanent.import_document import import_document

    file = asked.file
    name = "standard input" if file.name == "-" else file.name.replace("\\", "/").rpartition("/")[2]
    task_id = call.task_id(asked.id) if asked.id else ""
    outcome, taken = import_document(call.workspace, name, file.text(), call.request(), task_id=task_id)
    lines = [f"\n  {title} -> {place}" for title, place in taken.places]
    done = f"imported, PT-v{taken.version}{''.join(lines)}"
    places = [{"title": title, "section": place} for title, place in taken.places]
    return changed(call, outcome, done, id=taken.id, version=taken.version, places=places)


OPERATIONS = (
    Operation("permanent update", "merge new content into a section", update, Update, writes=True),
    Operation(
        "permanent decide",
        "add, accept, reject or supersede an Architecture Decision",
        decide,
        Decide,
        writes=True,
        one_of=("--title", "--accept", "--reject"),
        apart=(("--reject", "--supersedes"),),
        together=(("--reject", "--rationale", 'say why: --rationale "WHY"'),),
    ),
    Operation("permanent notify", "print what changed since a version", notify, Notify),
    Operation("permanent ack", "record that an agent has read a version", ack, Ack, writes=True),
    Operation("permanent status", "show which agents are behind", status, Status),
    Operation("permanent recover", "print what to do after losing the context", recover, Recover, writes=True),
    Operation("permanent close", "archive the permanent task, and close it with a summary", close, Close, writes=True),
    Operation("permanent import", "take over an older shared context", import_, Import, writes=True),
)

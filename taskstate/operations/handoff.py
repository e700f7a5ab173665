"""`handoff`: hands a phase over to another agent; shows and accepts handoffs."""

from __future__ import annotations

from taskstate.operations.operation import TASK, OfTask, Operation, option, switch
from taskstate.operations.result import Result, changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from taskstate.handoff.create import HandoffResult
    from taskstate.handoff.document import Handoff
    from taskstate.handoff.document_files import HandoffDocuments
    from taskstate.handoff.invalid import InvalidHandoff
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import TaskId, Text
    from taskstate.workspace.workspace import Workspace


class New(NamedTuple):
    """The arguments of `handoff new`; those from `phase` to `do_not_reread` are what a handoff says."""

    id: TaskId = TASK
    phase: Text = option("P", "phase to hand over (default: the current one)")
    action: Text = option("TEXT", "the next step, in one paragraph")
    file: Text = option(
        "PATH", "file to work on, from the root of the repository; one that does not exist is marked so"
    )
    location: Text = option("TEXT", "location in the file, such as `line 88, after the signature check`")
    goal: Text = option("TEXT", "condition that holds when the step is done")
    decisions: tuple[Text, ...] = option("D: R", "decision and its rationale", flag="decision")
    avoid: tuple[Text, ...] = option("A: W", "approach to avoid, and why it failed")
    context: tuple[Text, ...] = option("TEXT", "fact that is needed to continue; at most 5")
    references: tuple[Text, ...] = option(
        "PATH", "file to read when stuck: `PATH`, or `PATH, what to look for`, also `LABEL: PATH`", flag="ref"
    )
    do_not_reread: tuple[Text, ...] = option("PATH", "large file that need not be read again")
    source: Source | None = option(
        "FILE",
        "read the handoff from JSON or a completed draft; flags override its texts and add to its lists",
        flag="from",
    )
    draft: bool = switch("take missing values from the state file; if that is not enough, print a draft to complete")
    force: bool = switch("write even if nothing has changed since the last handoff, or the open one is lost")


class Accept(NamedTuple):
    """The arguments of `handoff accept`."""

    id: TaskId = TASK
    agent: str = option("NAME", "name of the accepting agent (default: the actor)")


def new(call: Call, asked: New) -> Result:
    """Write a handoff document of at most one screen."""
    from taskstate.handoff.create import HandoffRequest
    from taskstate.turn.hand_over import hand_over

    source = _in_state_folder(call.workspace, asked.source)
    request = HandoffRequest(_given(asked), draft=asked.draft, force=asked.force, source=source)
    written = hand_over(call.workspace, call.task_id(asked.id), request, call.request())
    if written.outcome is None:
        return _draft(call, asked, written)
    outcome, metadata = written.outcome, written.metadata
    if call.dry_run:
        return changed(call, outcome, handoff_path=written.path, **metadata)
    data = {
        "path": outcome.path,
        "revision": outcome.revision,
        "changed": True,
        "handoff_path": written.path,
        **metadata,
        "notes": [*outcome.notes, *outcome.warnings],
    }
    call.problems(outcome.warnings)
    said = (
        f"{written.path}: handed over",
        *outcome.notes,
        f"next, for the successor: `taskstate start {call.task_id(asked.id)}`",
    )
    return Result(data, "\n".join(said), is_verbatim=True)


def _draft(call: Call, asked: New, written: HandoffResult) -> Result:
    """Return a draft that is incomplete."""
    missing, force = ", ".join(written.missing), " --force" if asked.force else ""
    _aside(
        call,
        f"nothing is written yet: {missing} {'is' if len(written.missing) == 1 else 'are'} still missing",
        f"give it, or complete this draft for `taskstate handoff new {call.task_id(asked.id)} --from FILE{force}`",
    )
    data = {"path": None, "revision": None, "changed": False, "handoff_path": None}
    return Result(data | {"draft": written.text, "missing": list(written.missing)}, written.text, is_verbatim=True)


def _aside(call: Call, *lines: str) -> None:
    """Say notes to people; the data contains them already."""
    if not call.as_data:
        call.notes(lines)


def _in_state_folder(workspace: Workspace, source: Source | None) -> str:
    """Return the path from the state folder of the file that a handoff is read from; empty for any outside of it."""
    from pathlib import Path

    if source is None or source.name == "-":
        return ""
    path, root = Path(source.name).resolve(), workspace.state_root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""


def _given(asked: New) -> Handoff:
    """Return the handoff from the fields and the file given."""
    from taskstate.handoff.document import Handoff
    from taskstate.handoff.input import merge_handoffs, read_input

    given = Handoff(
        phase=asked.phase,
        action=asked.action,
        file=asked.file,
        location=asked.location,
        goal=asked.goal,
        decisions=asked.decisions,
        avoid=asked.avoid,
        context=asked.context,
        references=asked.references,
        do_not_reread=asked.do_not_reread,
    )
    if asked.source is None:
        return given
    return merge_handoffs(read_input(asked.source.text(), asked.source.name), given)


def show(call: Call, asked: OfTask) -> Result:
    """Show the open handoff, and which of its facts have changed since."""
    from taskstate.handoff.accept import fields_of
    from taskstate.handoff.accept import show as show_open
    from taskstate.handoff.invalid import pending
    from taskstate.turn.hand_over import handoff_errors

    task = call.load(asked.id).state.id
    unresolved = pending(*_listed(call.workspace, task))  # a document that is not valid comes before all others
    if unresolved:
        return _invalid(call, task, unresolved)
    shown = show_open(call.workspace, task, errors_in=handoff_errors(call.workspace))
    body = shown.file.reading.body.of(shown.file.document.text)
    notes = [f"! {note}" for note in shown.notes] or ["everything that was verified is still true"]
    path = f"{call.workspace.config.root}/{shown.file.path}"
    data = fields_of(shown.file) | {"handoff_path": path, "holds": not shown.notes, "notes": list(shown.notes)}
    data |= {"valid": True, "findings": []}
    lines = [body, "", f"{path}: {shown.file.status or 'without a status'}", *notes]
    return Result(data, "\n".join(lines), is_verbatim=True)


def _listed(workspace: Workspace, task: str) -> tuple[HandoffDocuments, tuple[InvalidHandoff, ...]]:
    """Return the documents of the task, and those of them that are not valid."""
    from taskstate.handoff.document_files import list_documents
    from taskstate.handoff.invalid import invalid_documents
    from taskstate.turn.hand_over import handoff_errors

    documents = list_documents(workspace, task)
    return documents, invalid_documents(workspace, task, documents, handoff_errors(workspace))


def _invalid(call: Call, task: str, invalid: tuple[InvalidHandoff, ...]) -> Result:
    """Return documents that are not valid, with what is wrong with each; the status is that of a finding."""
    from taskstate.handoff.accept import fields_of
    from taskstate.handoff.invalid import cure

    root, lines = call.workspace.config.root, list[str]()
    for each in invalid:
        path, document = f"{root}/{each.file.path}", each.file.document
        lines += [each.file.reading.body.of(document.text), "", f"{path}: not valid"]
        lines += [*(f"! error: {finding}" for finding in each.findings), cure(task, path)]
    data = fields_of(invalid[0].file) | {"handoff_path": f"{root}/{invalid[0].file.path}", "valid": False}
    data |= {"holds": False, "notes": [], "findings": list(invalid[0].findings)}
    return Result(data, "\n".join(lines), status=1, is_verbatim=True)


def accept(call: Call, asked: Accept) -> Result:
    """Accept the open handoff, and archive it."""
    from taskstate.handoff.accept import accept as accept_open
    from taskstate.syntax.escaping import one_line
    from taskstate.turn.hand_over import handoff_errors

    request = call.request()
    agent = one_line(asked.agent, what="--agent") if asked.agent else request.metadata.actor
    errors_in = handoff_errors(call.workspace)
    accepted = accept_open(call.workspace, call.task_id(asked.id), agent, request, errors_in=errors_in)
    text = f"{accepted.path}: accepted by {agent}"
    return changed(call, accepted.outcome, text=text, handoff_path=accepted.path, agent=agent)


def list_(call: Call, asked: OfTask) -> Result:
    """List all handoffs of a task."""
    from taskstate.handoff.document import OPEN
    from taskstate.handoff.verified_facts import newer_sessions

    workspace, state = call.workspace, call.load(asked.id).state
    documents, invalid = _listed(workspace, state.id)
    wrong = {each.file.path: each for each in invalid}
    valid = [each for each in documents.read if each.path not in wrong]
    keys = ("status", "phase", "created_at", "from_agent", "accepted_by")
    data: list[dict[str, Any]] = [
        {
            "handoff_path": f"{workspace.config.root}/{each.path}",
            **{key: each.values.get(key) for key in keys},
            "action": each.reading.handoff.action,
            "fault": None,
            "newer_sessions": newer_sessions(each, state, valid) if each.status == OPEN else "",
        }
        for each in valid
    ]
    lines = [
        f"{each['status'] or '?':8}  {each['created_at']}  phase {each['phase']}  {each['handoff_path']}"
        for each in data
    ]
    lines += [f"! {each['newer_sessions']}" for each in data if each["newer_sessions"]]
    faults = [("invalid", path, "; ".join(each.findings)) for path, each in wrong.items()]
    for word, path, fault in (*faults, *(("unread", *each) for each in documents.unreadable)):
        where = f"{workspace.config.root}/{path}"
        data.append({"handoff_path": where, **dict.fromkeys((*keys, "action")), "fault": fault, "newer_sessions": ""})
        lines.append(f"{word:8}  {where}: {fault}")
    text = "\n".join(lines) or f"task {state.id} has no handoffs"
    return Result(data, text, status=1 if wrong else 0, is_in_rows=True)


def successor(call: Call, asked: OfTask) -> Result:
    """Print the prompt for the next agent."""
    from taskstate.turn.hand_over import successor_prompt

    written = successor_prompt(call.workspace, call.task_id(asked.id))
    if written.file.status != "open":
        _aside(call, f"nothing is handed over at the moment; this is from {written.path}, which was accepted")
    data = {
        "prompt": written.text,
        "tokens": written.tokens,
        "handoff_path": written.path,
        "status": written.file.status,
    }
    return Result(data, written.text, is_verbatim=True)


OPERATIONS = (
    Operation("handoff new", "hand over a phase", new, New, writes=True),
    Operation("handoff show", "show the open handoff", show, OfTask),
    Operation("handoff accept", "accept the open handoff", accept, Accept, writes=True),
    Operation("handoff list", "list the handoffs", list_, OfTask),
    Operation("handoff successor", "print the prompt for the next agent", successor, OfTask),
)

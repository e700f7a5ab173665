"""`taskstate handoff`: hands a phase over to another agent; shows and accepts handoffs."""

from __future__ import annotations

import json

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from taskstate.handoff.create import HandoffResult
    from taskstate.handoff.document import Handoff
    from taskstate.handoff.document_files import HandoffDocuments
    from taskstate.handoff.invalid import InvalidHandoff
    from taskstate.workspace.workspace import Workspace

_TEXTS = (
    ("--phase", "phase", "P", "phase to hand over (default: the current one)"),
    ("--action", "action", "TEXT", "the next step, in one paragraph"),
    (
        "--file",
        "file",
        "PATH",
        "file to work on, from the root of the repository; one that does not exist is marked so",
    ),
    ("--location", "location", "TEXT", "location in the file, such as `line 88, after the signature check`"),
    ("--goal", "goal", "TEXT", "condition that holds when the step is done"),
)
_LISTS = (
    ("--decision", "decisions", "D: R", "decision and its rationale"),
    ("--avoid", "avoid", "A: W", "approach to avoid, and why it failed"),
    ("--context", "context", "TEXT", "fact that is needed to continue; at most 5"),
    ("--ref", "references", "PATH", "file to read when stuck: `PATH`, or `PATH, what to look for`, also `LABEL: PATH`"),
    ("--do-not-reread", "do_not_reread", "PATH", "large file that need not be read again"),
)


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    _configure_new(parser.add_action("new", "hand over a phase", "Write a handoff document of at most one screen."))
    show = parser.add_action(
        "show", "show the open handoff", "Show the open handoff, and which of its facts have changed since."
    )
    show.add_common(run=run_show)
    accept = parser.add_action("accept", "accept the open handoff", "Accept the open handoff, and archive it.")
    accept.add_argument("--agent", default="", metavar="NAME", help="name of the accepting agent (default: the actor)")
    accept.add_writing(run=run_accept)
    listing = parser.add_action("list", "list the handoffs", "List all handoffs of a task.")
    listing.add_common(run=run_list)
    successor = parser.add_action(
        "successor", "print the prompt for the next agent", "Print the prompt for the next agent."
    )
    successor.add_common(run=run_successor)


def _configure_new(parser: Parser) -> None:
    for flag, name, metavar, text in _TEXTS:
        parser.add_argument(flag, dest=name, default="", metavar=metavar, help=text)
    for flag, name, metavar, text in _LISTS:
        parser.add_repeatable(flag, metavar, text, dest=name)
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="read the handoff from JSON or a completed draft; flags override its texts and add to its lists",
    )
    parser.add_argument(
        "--draft",
        action="store_true",
        help="take missing values from the state file; if that is not enough, print a draft to complete",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write even if nothing has changed since the last handoff, or the open one is lost",
    )
    parser.add_writing(run=run_new)


def run_new(invocation: Invocation) -> int:
    """Hand over a phase."""
    from taskstate.handoff.create import HandoffRequest
    from taskstate.workflow.hand_over import hand_over

    args = invocation.args
    handoff_request = HandoffRequest(
        _given(invocation), draft=args.draft, force=args.force, source=_source(invocation.workspace, args.source)
    )
    written = hand_over(invocation.workspace, invocation.task, handoff_request, invocation.request())
    if written.outcome is None:
        return _print_draft(invocation, written)
    metadata = written.metadata
    if args.dry_run:
        return invocation.print_outcome(written.outcome, handoff_path=written.path, **metadata)
    outcome = written.outcome
    data = {
        "path": outcome.path,
        "revision": outcome.revision,
        "changed": True,
        "handoff_path": written.path,
        **metadata,
    }
    invocation.print_problems(outcome.warnings)
    _aside(invocation, f"{written.path}: handed over", *outcome.notes)
    return invocation.print_result(
        data | {"notes": [*outcome.notes, *outcome.warnings]}, json.dumps(metadata, ensure_ascii=False, indent=2)
    )


def _print_draft(invocation: Invocation, written: HandoffResult) -> int:
    """Print a draft that is incomplete."""
    missing = ", ".join(written.missing)
    _aside(
        invocation,
        f"nothing is written yet: {missing} {'is' if len(written.missing) == 1 else 'are'} still to be said",
        f"say it, or complete this draft for `taskstate handoff new {invocation.args.id} --from FILE`",
    )
    data = {"path": None, "revision": None, "changed": False, "handoff_path": None}
    return invocation.print_result(data | {"draft": written.text, "missing": list(written.missing)}, written.text)


def _aside(invocation: Invocation, *lines: str) -> None:
    """Print notes for people; JSON output contains them already."""
    if not invocation.as_json:
        invocation.print_notes(lines)


def _source(workspace: Workspace, name: str | None) -> str:
    """Return the path from the state folder of the file that a handoff is read from; empty for any outside of it."""
    from pathlib import Path

    if name in (None, "-"):
        return ""
    path, root = Path(str(name)).resolve(), workspace.state_root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""


def _given(invocation: Invocation) -> Handoff:
    """Return the handoff from the flags and the file given."""
    from taskstate.handoff.document import Handoff
    from taskstate.handoff.input import merge_handoffs, read_input

    args = invocation.args
    values: dict[str, Any] = {name: invocation.text_of(getattr(args, name)) for _, name, _, _ in _TEXTS}
    values |= {name: tuple(invocation.text_of(text) for text in getattr(args, name)) for _, name, _, _ in _LISTS}
    flags = Handoff(**values)
    if args.source is None:
        return flags
    return merge_handoffs(read_input(invocation.read(args.source), args.source), flags)


def run_show(invocation: Invocation) -> int:
    """Show the open handoff, or the newest one; a document that is not valid comes before all others."""
    from taskstate.handoff.accept import fields_of, show
    from taskstate.handoff.invalid import pending
    from taskstate.workflow.hand_over import handoff_errors

    documents, invalid = _listed(invocation)
    unresolved = pending(documents, invalid)
    if unresolved:
        return _show_invalid(invocation, unresolved)
    shown = show(invocation.workspace, invocation.task, errors_in=handoff_errors(invocation.workspace))
    document = shown.file.document
    body = shown.file.reading.body.of(document.text)
    notes = [f"! {note}" for note in shown.notes] or ["all that was verified still holds"]
    path = f"{invocation.workspace.config.root}/{shown.file.path}"
    data = fields_of(shown.file) | {"handoff_path": path, "holds": not shown.notes, "notes": list(shown.notes)}
    data |= {"valid": True, "findings": []}
    return invocation.print_result(
        data, "\n".join([body, "", f"{path}: {shown.file.status or 'without a status'}", *notes])
    )


def _listed(invocation: Invocation) -> tuple[HandoffDocuments, tuple[InvalidHandoff, ...]]:
    """Return the documents of the task, and those of them that are not valid."""
    from taskstate.handoff.document_files import list_documents
    from taskstate.handoff.invalid import invalid_documents
    from taskstate.workflow.hand_over import handoff_errors

    workspace, task = invocation.workspace, invocation.load_task().state.id
    documents = list_documents(workspace, task)
    return documents, invalid_documents(workspace, task, documents, handoff_errors(workspace))


def _show_invalid(invocation: Invocation, invalid: tuple[InvalidHandoff, ...]) -> int:
    """Print documents that are not valid, with what is wrong with each; the exit status is that of a finding."""
    from taskstate.handoff.accept import fields_of
    from taskstate.handoff.invalid import cure

    root, lines = invocation.workspace.config.root, list[str]()
    for each in invalid:
        path, document = f"{root}/{each.file.path}", each.file.document
        lines += [each.file.reading.body.of(document.text), "", f"{path}: not valid"]
        lines += [*(f"! error: {finding}" for finding in each.findings), cure(invocation.task, path)]
    data = fields_of(invalid[0].file) | {"handoff_path": f"{root}/{invalid[0].file.path}", "valid": False}
    data |= {"holds": False, "notes": [], "findings": list(invalid[0].findings)}
    return invocation.print_result(data, "\n".join(lines), status=1)


def run_accept(invocation: Invocation) -> int:
    """Accept the open handoff."""
    from taskstate.handoff.accept import accept
    from taskstate.syntax.escaping import one_line
    from taskstate.workflow.hand_over import handoff_errors

    args, request = invocation.args, invocation.request()
    agent = one_line(args.agent, what="--agent") if args.agent else request.metadata.actor
    errors_in = handoff_errors(invocation.workspace)
    accepted = accept(invocation.workspace, invocation.task, agent, request, errors_in=errors_in)
    return invocation.print_outcome(
        accepted.outcome, text=f"{accepted.path}: accepted by {agent}", handoff_path=accepted.path, agent=agent
    )


def run_list(invocation: Invocation) -> int:
    """List the handoffs of a task."""
    from taskstate.handoff.document import OPEN
    from taskstate.handoff.verified_facts import newer_sessions

    workspace, state = invocation.workspace, invocation.load_task().state
    documents, invalid = _listed(invocation)
    wrong = {each.file.path: each for each in invalid}
    valid = [each for each in documents.read if each.path not in wrong]
    keys = ("status", "phase", "created_at", "from_agent", "accepted_by")
    data: list[dict[str, Any]] = [
        {
            "handoff_path": f"{workspace.config.root}/{each.path}",
            **{key: each.values.get(key) for key in keys},
            "action": each.reading.handoff.action,
            "fault": None,
            "newer_sessions": newer_sessions(each.verified, state) if each.status == OPEN else "",
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
    return invocation.print_result(data, text, status=1 if wrong else 0)


def run_successor(invocation: Invocation) -> int:
    """Print the prompt for the next agent."""
    from taskstate.handoff.prompt import prompt
    from taskstate.workflow.hand_over import handoff_errors

    errors_in = handoff_errors(invocation.workspace)
    prompt_result = prompt(invocation.workspace, invocation.task, errors_in=errors_in)
    if prompt_result.file.status != "open":
        _aside(
            invocation, f"nothing is handed over at the moment; this is from {prompt_result.path}, which was accepted"
        )
    data = {
        "prompt": prompt_result.text,
        "tokens": prompt_result.tokens,
        "handoff_path": prompt_result.path,
        "status": prompt_result.file.status,
    }
    return invocation.print_result(data, prompt_result.text)

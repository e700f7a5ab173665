"""`taskstate handoff`: hands a phase over to another agent; shows and accepts handoffs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation

if TYPE_CHECKING:
    from taskstate.handoff.create import HandoffResult
    from taskstate.handoff.document import Handoff

_TEXTS = (
    ("--phase", "phase", "P", "phase to hand over (default: the current one)"),
    ("--action", "action", "TEXT", "the next step, in one paragraph"),
    ("--file", "file", "PATH", "file to work on, from the root of the repository"),
    ("--location", "location", "TEXT", "location in the file, such as `line 88, after the signature check`"),
    ("--goal", "goal", "TEXT", "condition that holds when the step is done"),
)
_LISTS = (
    ("--decision", "decisions", "D: R", "decision and its rationale"),
    ("--avoid", "avoid", "A: W", "approach to avoid, and why it failed"),
    ("--context", "context", "TEXT", "fact that is needed to continue; at most 5"),
    ("--ref", "references", "PATH", "file to read when stuck: `PATH`, or `PATH, what to look for`"),
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
    handoff_request = HandoffRequest(_given(invocation), draft=args.draft, force=args.force)
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
    """Show the open handoff, or the newest one."""
    from taskstate.handoff.accept import fields_of, show

    shown = show(invocation.workspace, invocation.task)
    document = shown.file.document
    body = shown.file.reading.body.of(document.text)
    notes = [f"! {note}" for note in shown.notes] or ["all that was verified still holds"]
    path = f"{invocation.workspace.config.root}/{shown.file.path}"
    data = fields_of(shown.file) | {"handoff_path": path, "holds": not shown.notes, "notes": list(shown.notes)}
    return invocation.print_result(
        data, "\n".join([body, "", f"{path}: {shown.file.status or 'without a status'}", *notes])
    )


def run_accept(invocation: Invocation) -> int:
    """Accept the open handoff."""
    from taskstate.handoff.accept import accept
    from taskstate.syntax.escaping import one_line

    args, request = invocation.args, invocation.request()
    agent = one_line(args.agent, what="--agent") if args.agent else request.metadata.actor
    accepted = accept(invocation.workspace, invocation.task, agent, request)
    return invocation.print_outcome(
        accepted.outcome, text=f"{accepted.path}: accepted by {agent}", handoff_path=accepted.path, agent=agent
    )


def run_list(invocation: Invocation) -> int:
    """List the handoffs of a task."""
    from taskstate.handoff.document_files import list_documents

    workspace = invocation.workspace
    task = invocation.load_task().state.id
    documents, unreadable = list_documents(workspace, task)
    keys = ("status", "phase", "created_at", "from_agent", "accepted_by")
    data: list[dict[str, Any]] = [
        {
            "handoff_path": f"{workspace.config.root}/{each.path}",
            **{key: each.values.get(key) for key in keys},
            "action": each.reading.handoff.action,
            "fault": None,
        }
        for each in documents
    ]
    lines = [
        f"{each['status'] or '?':8}  {each['created_at']}  phase {each['phase']}  {each['handoff_path']}"
        for each in data
    ]
    for path, fault in unreadable:
        where = f"{workspace.config.root}/{path}"
        data.append({"handoff_path": where, **dict.fromkeys((*keys, "action")), "fault": fault})
        lines.append(f"unread    {where}: {fault}")
    return invocation.print_result(data, "\n".join(lines) or f"task {task} has no handoffs")


def run_successor(invocation: Invocation) -> int:
    """Print the prompt for the next agent."""
    from taskstate.handoff.prompt import prompt

    prompt_result = prompt(invocation.workspace, invocation.task)
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

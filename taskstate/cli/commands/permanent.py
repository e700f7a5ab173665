"""`taskstate permanent`: the shared, versioned context that all agents read by its id and version."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Loaded

LEVELS = ("cosmetic", "interface", "architecture")


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    _configure_update(parser)
    _configure_decide(parser)
    notify = parser.add_action(
        "notify",
        "print what changed since a version",
        "Print what changed since a version, for an agent that has read that one.",
        task=False,
    )
    _add_permanent(notify)
    notify.add_argument(
        "--since", metavar="V", required=True, help="version that the agent has read, such as 7 or PT-v7"
    )
    notify.add_argument("--agent", metavar="A", default="", help="agent that is told")
    notify.add_argument("--lost", action="store_true", help="the agent has lost its context: it reads everything anew")
    notify.add_common(run=run_notify)
    ack = parser.add_action(
        "ack", "record that an agent has read a version", "Record that an agent has read a version.", task=False
    )
    _add_permanent(ack)
    ack.add_argument("--agent", metavar="A", required=True, help="name of the agent")
    ack.add_argument("--version", metavar="V", required=True, help="version that it has read, such as 7 or PT-v7")
    ack.add_writing(run=run_ack)
    status = parser.add_action(
        "status", "show which agents are behind", "Show which version each agent has confirmed.", task=False
    )
    _add_permanent(status)
    status.add_common(run=run_status)
    recover = parser.add_action(
        "recover",
        "print what to do after losing the context",
        "Print what an agent reads and does, in order, that has lost its context.",
        task=False,
    )
    recover.add_argument("--agent", metavar="A", default="", help="name of the agent (default: the actor)")
    recover.add_writing(run=run_recover)
    _configure_close(parser)
    _configure_import(parser)


def _configure_close(parser: Parser) -> None:
    close = parser.add_action(
        "close",
        "archive the permanent task, and close it with a summary",
        "Put the full text into the archive file and a summary of one page under its Notes, and set it complete.",
        task=False,
    )
    _add_permanent(close)
    close.add_argument("--note", default="", metavar="T", help="reason, for the summary")
    close.add_writing(run=run_close)


def _configure_import(parser: Parser) -> None:
    import_ = parser.add_action(
        "import",
        "take over an older shared context",
        "Create the permanent task from a Markdown document with `version: GC-v3` in its front matter: the version "
        "stays, sections are mapped by title, and the rest goes under Notes.",
        task=False,
    )
    import_.add_argument("file", metavar="FILE", help="the document; - reads standard input")
    import_.add_argument(
        "--id", dest="new_id", default="", metavar="ID", help="id (default: the first free of 1, 2, …)"
    )
    import_.add_writing(run=run_import)


def _configure_update(parser: Parser) -> None:
    update = parser.add_action(
        "update",
        "consolidate a section with new content",
        "Consolidate a section with new content: the same is joined, what contradicts by its bold label is replaced. "
        "Without --section, give what was edited by hand its version.",
        task=False,
    )
    _add_permanent(update)
    update.add_argument("--section", default="", metavar="S", help="section to update, such as Constraints")
    update.add_argument("--from", dest="source", metavar="F", help="file with the content; - reads standard input")
    update.add_repeatable("--drop", "ENTRY", "remove an entry, by its bold label or its whole text")
    update.add_argument("--level", default="", choices=LEVELS, help="what the change asks of others, if not as derived")
    update.add_argument("--note", default="", metavar="T", help="reason, for the Change Log")
    update.add_argument("--merge", action="store_true", help="plan on the newest version if the expected one is older")
    update.add_writing(run=run_update)


def _configure_decide(parser: Parser) -> None:
    decide = parser.add_action(
        "decide",
        "add, accept or supersede an Architecture Decision",
        "Add an Architecture Decision, accept one, or let one supersede another.",
        task=False,
    )
    _add_permanent(decide)
    decide.add_argument("--title", default="", metavar="T", help="title of a new decision")
    decide.add_argument("--decision", default="", metavar="T", help="what is decided; - reads standard input")
    decide.add_argument("--rationale", default="", metavar="T", help="why")
    decide.add_argument("--accepted", action="store_true", help="the new decision is accepted, not only proposed")
    decide.add_argument("--accept", default="", metavar="N", help="accept this decision, such as 3 or AD-3")
    decide.add_argument("--supersedes", default="", metavar="N", help="decision that it takes the place of")
    decide.add_writing(run=run_decide)


def _add_permanent(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", nargs="?", help="permanent task (default: the one of the repository)")


def _id(invocation: Invocation) -> str:
    return invocation.task if invocation.args.id is not None else ""


def run_update(invocation: Invocation) -> int:
    """Consolidate a section with new content."""
    from taskstate.permanent.update import Update, update

    args = invocation.args
    if args.section and args.source is None and not args.drop:
        raise usage_error("update: --from is missing", help="name the file with the content, or - for standard input")
    if not args.section and (args.source is not None or args.drop):
        raise usage_error("update: --section is missing", help="say which section, such as --section Constraints")
    content = invocation.read(args.source) if args.source is not None else ""
    asked = Update(args.section, content, tuple(args.drop), args.level, args.note, args.merge)
    outcome = update(invocation.workspace, _id(invocation), asked, invocation.request())
    if args.dry_run:
        invocation.print_notes(outcome.notes)
    return invocation.print_outcome(outcome, "updated", version=outcome.result.version)


def run_decide(invocation: Invocation) -> int:
    """Add, accept or supersede an Architecture Decision."""
    from taskstate.permanent.decide import Choice, decide

    args = invocation.args
    if bool(args.title) == bool(args.accept):
        help_ = "`--title T --decision T --rationale T` adds one, `--accept N` accepts one"
        raise usage_error("decide: give either --title or --accept", help=help_)
    if args.title and not args.decision:
        raise usage_error("decide: --decision is missing", help="say what is decided, or - for standard input")
    choice = Choice(
        title=args.title,
        decision=invocation.text_of(args.decision),
        rationale=args.rationale,
        accepted=args.accepted,
        number=_number(args.accept, "--accept"),
        supersedes=_number(args.supersedes, "--supersedes"),
    )
    outcome = decide(invocation.workspace, _id(invocation), choice, invocation.request())
    done = "accepted" if args.accept else "recorded"
    return invocation.print_outcome(outcome, f"AD-{outcome.result} {done}", decision=outcome.result)


def _number(text: str, flag: str) -> int:
    digits = text.upper().removeprefix("AD-")
    if text and not (digits.isascii() and digits.isdigit() and int(digits)):
        raise usage_error(f"decide: {flag} {text!r} is no decision", help="write its number, such as 3 or AD-3")
    return int(digits) if text else 0


def _document(invocation: Invocation, task_id: str) -> Loaded:
    """Return the permanent task; the command ends with status 1 where its file, or its Impact Map, is damaged."""
    from taskstate.permanent.impact.storage import load_map

    loaded = invocation.load_found(task_id)
    try:
        load_map(invocation.workspace, loaded, even_edited=True)
    except TaskstateError as error:
        invocation.report_found((str(error),) if error.code == "impact-map" else ())
    return loaded


def run_notify(invocation: Invocation) -> int:
    """Print what changed since a version."""
    from taskstate.permanent import notify
    from taskstate.permanent.acknowledge import parse_version
    from taskstate.permanent.find import require

    args, workspace = invocation.args, invocation.workspace
    found = require(workspace, _id(invocation))
    loaded = _document(invocation, found.id)
    told = notify.notice(workspace, loaded, parse_version(args.since), agent=args.agent, lost=args.lost)
    invocation.print_notes(found.notes)
    return invocation.print_result(notify.shape(told), notify.text_of(told))


def run_ack(invocation: Invocation) -> int:
    """Record that an agent has read a version."""
    from taskstate.permanent.acknowledge import acknowledge, parse_version

    args = invocation.args
    version = parse_version(args.version)
    outcome = acknowledge(invocation.workspace, _id(invocation), args.agent, version, invocation.request())
    done = f"{args.agent} has confirmed PT-v{version}"
    return invocation.print_outcome(outcome, done, agent=args.agent, version=version)


def run_status(invocation: Invocation) -> int:
    """Show which version each agent has confirmed."""
    from taskstate.permanent import readers
    from taskstate.permanent.find import require

    workspace = invocation.workspace
    found = require(workspace, _id(invocation))
    state = _document(invocation, found.id).state
    invocation.print_notes(found.notes)
    return invocation.print_result(readers.shape(state), readers.table(state))


def run_recover(invocation: Invocation) -> int:
    """Print what an agent reads and does that has lost its context."""
    from taskstate.permanent import recover

    request = invocation.request()
    result = recover.recover(invocation.workspace, invocation.args.agent or request.metadata.actor, request)
    _document(invocation, result.document.state.id)
    if result.own:
        invocation.load_found(result.own.loaded.state.id)
    invocation.print_notes(result.notes)
    return invocation.print_result(recover.shape(result), recover.text_of(result))


def run_close(invocation: Invocation) -> int:
    """Close the permanent task."""
    from taskstate.permanent.close import close

    outcome = close(invocation.workspace, _id(invocation), invocation.request(), note=invocation.args.note)
    return invocation.print_outcome(outcome, f"PT-v{outcome.result} closed", version=outcome.result)


def run_import(invocation: Invocation) -> int:
    """Create the permanent task from an older shared context."""
    from taskstate.permanent.import_document import import_document

    args = invocation.args
    name = "standard input" if args.file == "-" else args.file.replace("\\", "/").rpartition("/")[2]
    task_id = invocation.task_id(args.new_id) if args.new_id else ""
    text = invocation.read(args.file)
    outcome, taken = import_document(invocation.workspace, name, text, invocation.request(), task_id=task_id)
    lines = [f"\n  {title} -> {place}" for title, place in taken.places]
    done = f"imported, PT-v{taken.version}{''.join(lines)}"
    places = [{"title": title, "section": place} for title, place in taken.places]
    return invocation.print_outcome(outcome, done, id=taken.id, version=taken.version, places=places)

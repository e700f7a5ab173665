"""`taskstate evidence`: records cited excerpts, and shows whether their sources still contain them."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.verification.excerpts import ExcerptStatus


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    add = parser.add_action(
        "add", "record an excerpt", "Record an excerpt of a file and its hash, under an id for citing it in prompts."
    )
    add.add_argument("--type", metavar="T", required=True, help="type in one word: plan, standard, log, design, …")
    add.add_argument("--path", metavar="P", required=True, help="path of the file, from the root of the repository")
    add.add_argument("--lines", metavar="A-B", default="", help="first and last line (default: the whole file)")
    add.add_writing(run=run_add)
    show = parser.add_action(
        "show",
        "show an excerpt, or list all",
        "Show an excerpt, or without an id all; exit with status 1 if a source no longer holds its excerpt.",
    )
    show.add_argument("evidence", metavar="EID", nargs="?", default="", help="id of the excerpt, such as plan-1")
    show.add_common(run=run_show)


def run_add(invocation: Invocation) -> int:
    """Record an excerpt."""
    from taskstate.verification.excerpts import Source, add, citation

    args = invocation.args
    source = Source(args.type, args.path, args.lines)
    outcome = add(invocation.workspace, invocation.task, source, invocation.request())
    excerpt, line = outcome.result, citation(outcome.result, invocation.task)
    text = f"{excerpt.id}\n{line}"
    return invocation.print_outcome(outcome, text=text, id=excerpt.id, citation=line, evidence=excerpt._asdict())


def run_show(invocation: Invocation) -> int:
    """Show an excerpt compared with its source."""
    from taskstate.verification.excerpts import SAME, show

    task = invocation.load_parsed_task().state.id
    if not invocation.args.evidence:
        return _print_all(invocation, task)
    shown = show(invocation.workspace, task, invocation.args.evidence)
    data = {
        **shown.excerpt._asdict(),
        "citation": shown.citation,
        "matches": shown.state == SAME,
        "state": shown.state,
        "text": shown.text,
        "lines_now": shown.lines,
        "text_now": shown.now,
        "notes": list(shown.notes),
    }
    return invocation.print_result(data, "\n".join(_lines(shown)), status=0 if shown.state == SAME else 1)


def _print_all(invocation: Invocation, task: str) -> int:
    """Print all excerpts, and of each whose source no longer holds it at its place what has become of that."""
    from taskstate.verification.excerpts import SAME, show_all

    compared = show_all(invocation.workspace, task)
    lines = [each.citation if each.state == SAME else f"{each.citation}\n  {_state_line(each)}" for each in compared]
    data = [{**each.excerpt._asdict(), "state": each.state, "lines_now": each.lines} for each in compared]
    is_stale = any(each.state != SAME for each in compared)
    return invocation.print_result(data, "\n".join(lines) or "no evidence yet", status=1 if is_stale else 0)


def _lines(shown: ExcerptStatus) -> Iterator[str]:
    yield shown.citation
    yield _state_line(shown)
    yield from (f"  {note}" for note in shown.notes)
    yield ""
    yield shown.text if shown.text is not None else "(its text is not kept here; only its hash is)"
    if shown.now is not None:
        yield f"\nWhat stands there now:\n\n{shown.now}"


def _state_line(shown: ExcerptStatus) -> str:
    from taskstate.verification.excerpts import CHANGED, GONE, MOVED, SAME

    path, lines = shown.excerpt.path, shown.lines
    return {
        SAME: f"{path} still holds it",
        MOVED: f"{path} holds it at lines {lines} now, and no longer at {shown.excerpt.lines}",
        CHANGED: f"{path} changed: it no longer holds it",
        GONE: f"{path} cannot be read any more" if shown.notes else f"{path} is gone",
    }[shown.state]

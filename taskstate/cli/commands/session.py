"""`taskstate session`: appends sessions to a task's Progress Log, shows them, and puts lost ones back."""

from __future__ import annotations

import sys

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from taskstate.tasks.sessions import NewSession, SessionView

_MAX_SUMMARY = 80  # characters of a session in a list
_LISTS = ("did", "issues", "next", "commits", "verification")
_TEXTS = ("state", "agent")


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    _configure_add(parser.add_action("add", "add a session", "Append a session to the Progress Log."))
    listing = parser.add_action("list", "list all sessions", "List all sessions, including archived ones.")
    listing.add_common(run=run_list)
    show = parser.add_action("show", "show a session", "Show a session from the state file or the archive.")
    show.add_argument("number", metavar="N", type=int, help="number of the session")
    show.add_common(run=run_show)
    restore = parser.add_action(
        "restore",
        "put a session back",
        "Put sessions back into the log as a commit has them, removed or reworded since.",
    )
    restore.add_argument("numbers", metavar="N", type=int, nargs="+", help="number of the session (repeatable)")
    restore.add_argument(
        "--from",
        dest="revision",
        metavar="REV",
        required=True,
        help="commit that has the session, or COMMIT:PATH where the file had another path",
    )
    restore.add_writing(run=run_restore)


def _configure_add(parser: Parser) -> None:
    add_words(parser)
    parser.add_argument("--agent", default="", metavar="NAME", help="name of the agent")
    parser.add_writing(run=run_add)


def add_words(parser: Parser) -> None:
    """Add the flags that give the words of a session."""
    parser.add_repeatable("--did", "TEXT", "work done")
    parser.add_repeatable("--issue", "TEXT", "issue encountered", dest="issues")
    parser.add_argument("--state", default="", metavar="TEXT", help="current state of the work")
    parser.add_repeatable("--next", "TEXT", "next step")
    parser.add_list("--commit", "SHA", "commit made, which must exist here; recorded by its full id", dest="commits")
    parser.add_repeatable("--verified", "TEXT", "what was verified, and how", dest="verification")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="read the session from JSON with the keys did, issues, state, next, commits, …",
    )


def run_add(invocation: Invocation) -> int:
    """Append a session."""
    from taskstate.tasks.sessions import add
    from taskstate.tasks.size_warning import warning

    outcome = add(invocation.workspace, invocation.task, words_of(invocation), invocation.request())
    status = invocation.print_outcome(outcome, "session added")
    size = invocation.workspace.config.size._replace(max_kb=sys.maxsize, max_tokens=0)  # the write has told of these
    invocation.print_warning(warning(outcome.state, size))
    return status


def words_of(invocation: Invocation) -> NewSession:
    """Return the session that the flags give, or the file of --from, to which they add.

    Raises:
        TaskstateError: one of what every session says is missing.
    """
    words = given_words(invocation)
    if words is None:
        raise usage_error("session add: --did is missing", help="say what was done, the state, and the next step")
    return words


def given_words(invocation: Invocation) -> NewSession | None:
    """Return the session that the flags give, or None where none of them is given.

    Raises:
        TaskstateError: one of what every session says is missing.
    """
    from taskstate.tasks.sessions import NewSession

    args = invocation.args
    values = {} if args.source is None else _from_json(invocation.read(args.source), args.source)
    for key in _LISTS:
        values[key] = (*values.get(key, ()), *(invocation.text_of(text) for text in getattr(args, key)))
    for key in _TEXTS:
        values[key] = invocation.text_of(getattr(args, key, "") or "") or values.get(key, "")
    if not any(values.values()):
        return None
    for key, flag in (("did", "--did"), ("state", "--state"), ("next", "--next")):
        if not values[key]:
            raise usage_error(f"{flag} is missing", help="say what was done, the state, and the next step")
    return NewSession(**values)


def _from_json(text: str, name: str) -> dict[str, Any]:
    from taskstate.syntax.json_input import read_object, unknown_key, wrong_value

    values = read_object(text, name, '{"did": [..], "state": "..", "next": [..]}')
    for key, value in values.items():
        if key not in (*_LISTS, *_TEXTS):
            raise unknown_key(name, key, (*_LISTS, *_TEXTS))
        if key in _TEXTS and not isinstance(value, str):
            raise wrong_value(name, key, "a text")
        if key in _LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise wrong_value(name, key, "a list of texts")
    return values


def run_list(invocation: Invocation) -> int:
    """List all sessions."""
    from taskstate.tasks.sessions import all_sessions

    sessions = all_sessions(invocation.workspace, invocation.task)
    lines = [
        f"{each.number:>4}  {each.time or '?':16}  {'archived' if each.archived else '':8}  {_summary(each)}"
        for each in sessions
    ]
    return invocation.print_result(
        [{"number": s.number, "time": s.time, "archived": s.archived} for s in sessions],
        "\n".join(lines) or "no sessions yet",
    )


def _summary(session: SessionView) -> str:
    line = session.did[0].split("\n")[0] if session.did else ""
    return line if len(line) <= _MAX_SUMMARY else line[: _MAX_SUMMARY - 1] + "\u2026"


def run_show(invocation: Invocation) -> int:
    """Show a session."""
    from taskstate.tasks.sessions import find_session

    session = find_session(invocation.workspace, invocation.task, invocation.args.number)
    shape = session._asdict()
    text = shape.pop("entry")
    return invocation.print_result(shape, text)


def run_restore(invocation: Invocation) -> int:
    """Put sessions back as a commit has them."""
    from taskstate.tasks.session_restore import restore

    args = invocation.args
    outcome = restore(invocation.workspace, invocation.task, args.numbers, args.revision, invocation.request())
    return invocation.print_outcome(outcome, "restored")

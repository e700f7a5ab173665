"""`taskstate session`: appends sessions to a task's Progress Log and reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.cli.invocation import add_common, add_task, add_writing
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation
    from taskstate.tasks.sessions import NewSession, SessionView

_BRIEF = 80  # characters of a session in a list
_LISTS = ("did", "issues", "next", "commits", "verification")
_TEXTS = ("state", "agent")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _configure_add(actions.add_parser("add", help="append the next session", description="Append the next session."))
    listing = actions.add_parser(
        "list", help="list all sessions", description="List all sessions, archived ones included."
    )
    add_task(listing)
    add_common(listing)
    listing.set_defaults(run=run_list)
    show = actions.add_parser(
        "show", help="show one session", description="Show one session, from the state file or the archive."
    )
    add_task(show)
    show.add_argument("number", metavar="N", type=int, help="the session's number")
    add_common(show)
    show.set_defaults(run=run_show)


def _configure_add(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument(
        "--did", action="append", default=[], metavar="TEXT", help="something that was done (again for more)"
    )
    parser.add_argument(
        "--issue", action="append", default=[], dest="issues", metavar="TEXT", help="an issue met (again for more)"
    )
    parser.add_argument("--state", default="", metavar="TEXT", help="the state that the work is in")
    parser.add_argument("--next", action="append", default=[], metavar="TEXT", help="a next step (again for more)")
    parser.add_argument(
        "--commit", action="append", default=[], dest="commits", metavar="SHA", help="a commit made (again for more)"
    )
    parser.add_argument(
        "--verified", action="append", default=[], dest="verification", metavar="TEXT", help="what was checked, and how"
    )
    parser.add_argument("--agent", default="", metavar="NAME", help="who worked")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="read the session as JSON with the keys did, issues, state, next, commits, …",
    )
    add_writing(parser)
    parser.set_defaults(run=run_add)


def run_add(invocation: Invocation) -> int:
    """Append a session."""
    from taskstate.tasks.overview import warning
    from taskstate.tasks.sessions import add

    outcome = add(
        invocation.workspace, invocation.task_id(invocation.args.id), _entry(invocation), invocation.request()
    )
    status = invocation.print_outcome(outcome, f"{outcome.path}: session added")
    invocation.print_warning(warning(outcome.state, invocation.workspace.config.size))
    return status


def _entry(invocation: Invocation) -> NewSession:
    from taskstate.tasks.sessions import NewSession

    said = (
        {}
        if invocation.args.source is None
        else _from_json(invocation.read(invocation.args.source), invocation.args.source)
    )
    for key in _LISTS:
        said[key] = (*said.get(key, ()), *(invocation.text_of(text) for text in getattr(invocation.args, key)))
    for key in _TEXTS:
        said[key] = invocation.text_of(getattr(invocation.args, key)) or said.get(key, "")
    for key, flag in (("did", "--did"), ("state", "--state"), ("next", "--next")):
        if not said[key]:
            raise TaskstateError(
                f"session add: {flag} is missing", help="say what was done, the state, and the next step", code="usage"
            )
    return NewSession(**said)


def _from_json(text: str, name: str) -> dict[str, Any]:
    from taskstate.syntax.json_input import read_object, unknown_key, wrong_value

    said = read_object(text, name, '{"did": [..], "state": "..", "next": [..]}')
    for key, value in said.items():
        if key not in (*_LISTS, *_TEXTS):
            raise unknown_key(name, key, (*_LISTS, *_TEXTS))
        if key in _TEXTS and not isinstance(value, str):
            raise wrong_value(name, key, "a text")
        if key in _LISTS and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise wrong_value(name, key, "a list of texts")
    return said


def run_list(invocation: Invocation) -> int:
    """List all sessions."""
    from taskstate.tasks.sessions import all_sessions

    told = all_sessions(invocation.workspace, invocation.task_id(invocation.args.id))
    lines = [
        f"{session.number:>4}  {session.time or '?':16}  {'archived' if session.archived else '':8}  {_brief(session)}"
        for session in told
    ]
    return invocation.print_result(
        [{"number": s.number, "time": s.time, "archived": s.archived} for s in told],
        "\n".join(lines) or "no sessions yet",
    )


def _brief(session: SessionView) -> str:
    line = session.did[0].split("\n")[0] if session.did else ""
    return line if len(line) <= _BRIEF else line[: _BRIEF - 1] + "\u2026"


def run_show(invocation: Invocation) -> int:
    """Show one session."""
    from taskstate.tasks.sessions import find_session

    session = find_session(invocation.workspace, invocation.task_id(invocation.args.id), invocation.args.number)
    shape = session._asdict()
    text = shape.pop("entry")
    return invocation.print_result(shape, text)

"""`session`: appends sessions to a task's Progress Log, shows them, and puts lost ones back."""

from __future__ import annotations

from functools import partial, update_wrapper

from taskstate.errors import TaskstateError
from taskstate.model.session_texts import DID, SESSION_TEXTS, agent_last
from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Field, OfTask, Operation, group, option, positional
from taskstate.operations.result import Result, changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from taskstate.model.session_texts import SessionText
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import Fields, TaskId
    from taskstate.tasks.new_session import NewSession
    from taskstate.tasks.sessions import SessionView

FROM = option("FILE", "read the session from JSON with the keys did, issues, state, next, commits, …", flag="from")


class Add(NamedTuple):
    """The arguments of `session add`."""

    id: TaskId = TASK
    words: Fields = group()
    source: Source | None = FROM


class Show(NamedTuple):
    """The arguments of `session show`."""

    id: TaskId = TASK
    number: int = positional("N", "number of the session")


class Restore(NamedTuple):
    """The arguments of `session restore`."""

    id: TaskId = TASK
    numbers: tuple[int, ...] = positional("N", "number of the session (repeatable)", is_required=True)
    revision: str = option(
        "REV",
        "commit that has the session, or COMMIT:PATH where the file had another path",
        flag="from",
        is_required=True,
    )


def text_fields(texts: Sequence[SessionText]) -> tuple[Field, ...]:
    """Return the fields that ask for the texts of a session, the agent's name last."""
    return tuple(
        Field(
            each.help,
            each.example,
            flag=each.flag,
            name=each.key,
            kind="Text",
            is_list=each.repeated,
            by_comma=each.commits,
        )
        for each in agent_last(texts)
        if each.flag
    )


def add(call: Call, asked: Add, texts: Sequence[SessionText] = SESSION_TEXTS) -> Result:
    """Append a session to the Progress Log."""
    from taskstate.autosave import consent
    from taskstate.model.write_metadata import timestamp
    from taskstate.tasks.sessions import JUST_NOW
    from taskstate.tasks.sessions import add as add_session
    from taskstate.tasks.size_warning import suggestion

    task = call.task_id(asked.id)
    words = given_words(asked.words, asked.source, texts)
    if words is None:
        raise usage_error("session add: --did is missing", help="say what was done, the state, and the next step")
    request = call.request()
    outcome = add_session(call.workspace, task, words, request, since=JUST_NOW)
    if not request.dry_run and consent.is_given(call.workspace.root):
        from taskstate.autosave.catch_up import told_itself

        told_itself(call.workspace, outcome.state, timestamp(request.metadata.now))
    # of a file that is too large the write has told
    told = suggestion(call.workspace, outcome.state, added=1) if outcome.changed else ()
    return changed(call, outcome, "session added")._replace(warning=told)


def given_words(words: Mapping[str, Any], source: Source | None, texts: Sequence[SessionText]) -> NewSession | None:
    """Return the session that fields give, and the file of --from, to which they add; None where neither says a word.

    Raises:
        TaskstateError: one of what every session says is missing.
    """
    from taskstate.syntax.escaping import in_one, listed
    from taskstate.tasks.new_session import NewSession

    values = {} if source is None else _from_json(_text(source), source.name, texts)
    for text in texts:
        if text.repeated:
            said = (*values.get(text.key, ()), *words.get(text.key, ()))
            values[text.key] = said if text.commits else listed(said)
        else:
            values[text.key] = in_one(words.get(text.key) or values.get(text.key, ""))
    if not any(values.values()):
        return None
    for text in texts:
        if text.required and not values[text.key]:
            raise usage_error(f"--{text.flag} is missing", help="say what was done, the state, and the next step")
    return NewSession(texts, **values)


def _text(source: Source) -> str:
    from taskstate.workspace.artifacts import is_refused_session

    try:
        return source.text()
    except TaskstateError as error:
        if error.code != "not-found" or not is_refused_session(source.name.rpartition("/")[2]):
            raise
        help_ = "its session was recorded, or the file was deleted; leave --from out where the session is there"
        raise TaskstateError(error.message, help=help_, code=error.code) from error


def _from_json(text: str, name: str, texts: Sequence[SessionText]) -> dict[str, Any]:
    from taskstate.syntax.json_input import read_object, unknown_key, wrong_value

    rows = {each.key: each for each in agent_last(texts) if each.flag}
    values = read_object(text, name, '{"did": [..], "state": "..", "next": [..]}')
    for key, value in values.items():
        if key not in rows:
            raise unknown_key(name, key, tuple(rows))
        if not rows[key].repeated and not isinstance(value, str):
            raise wrong_value(name, key, "a text")
        if rows[key].repeated and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise wrong_value(name, key, "a list of texts")
    return values


def list_(call: Call, asked: OfTask) -> Result:
    """List all sessions, including archived ones."""
    from taskstate.tasks.sessions import all_sessions

    sessions = all_sessions(call.workspace, call.task_id(asked.id))
    lines = [_row(each, call.width) for each in sessions]
    data = [{"number": each.number, "time": each.time, "archived": each.archived} for each in sessions]
    return Result(data, "\n".join(lines) or "no sessions yet")


def _row(session: SessionView, width: int) -> str:
    from taskstate.views.layout import fit

    begin = f"{session.number:>4}  {session.time or '?':16}  {'archived' if session.archived else '':8}  "
    return begin + fit(next(iter(session.texts[DID.key]), "").split("\n")[0], width - len(begin)).rstrip()


def show(call: Call, asked: Show) -> Result:
    """Show a session from the state file or the archive."""
    from taskstate.tasks.sessions import find_session

    shown = find_session(call.workspace, call.task_id(asked.id), asked.number)
    data = {"number": shown.number, "time": shown.time, **shown.texts, "archived": shown.archived}
    return Result(data, shown.entry, is_verbatim=True)


def restore(call: Call, asked: Restore) -> Result:
    """Put back sessions that were removed or reworded, as a commit has them."""
    from taskstate.tasks.session_restore import restore as restore_sessions

    task = call.task_id(asked.id)
    return changed(
        call, restore_sessions(call.workspace, task, asked.numbers, asked.revision, call.request()), "restored"
    )


def session_operations(texts: Sequence[SessionText] = SESSION_TEXTS) -> tuple[Operation, ...]:
    """Return the operations of `session`, with a field for each text."""
    add_texts = update_wrapper(partial(add, texts=texts), add)
    return (
        Operation("session add", "add a session", add_texts, Add, writes=True, groups={"words": text_fields(texts)}),
        Operation("session list", "list all sessions", list_, OfTask),
        Operation("session show", "show a session", show, Show),
        Operation("session restore", "put a session back", restore, Restore, writes=True),
    )


OPERATIONS = session_operations()

"""The three writes of the page, through the operations."""

from __future__ import annotations

import re

from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.model.write_metadata import blocks_of
from taskstate.operations import arguments, index
from taskstate.operations.errors import in_one
from taskstate.page.forms import Refused
from taskstate.page.guard import FORM
from taskstate.page.meanwhile import differences, wrote
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.repository import trees_of
from taskstate.writing.preconditions import require_revision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from taskstate.page.reading import Site
    from taskstate.workspace.workspace import Loaded

_STALE = frozenset({"revision", "stale", "tree-changed"})  # codes of what changed since it was shown
_NUMBER = r"[1-9][0-9]{0,5}"


class Action(NamedTuple):
    """A write: the place of its form, what one presses, what it asks of which operation, and if it shows a tree."""

    place: str
    button: str
    asks: Callable[[Loaded, str, Mapping[str, str]], tuple[str, Mapping[str, object]]]
    needs_tree: bool = False


def attempt(site: Site, request: Request, action: Action) -> tuple[str, Refused | None]:
    """Write what a form asks for; return the place of the form, and why it was refused, if it was.

    Raises:
        TaskstateError: code "not-found": there is no such task, nor ever such a form.
    """
    sent: Mapping[str, str] = request.scope[FORM]
    number, expect = request.path_params.get("number", "1"), sent.get("expect", "")
    if not re.fullmatch(_NUMBER, number):
        raise TaskstateError(f"{number!r} is not a number", help="they are counted from 1", code="not-found")
    place = action.place.format(number=number)
    call = _site_of(site, sent.get("worktree", "")).call(writes=True, expect=expect)
    loaded = call.load(request.path_params["id"])
    try:
        _require_shown(loaded, action, sent)
        name, given = action.asks(loaded, number, sent)
        operation = index.operation(name)
        operation.run(call, arguments.make(operation, {"id": loaded.state.id, **given}, lambda _field, value: value))
    except TaskstateError as error:
        told = in_one(error) if isinstance(error, SeveralReasons) else error
        refused = Refused(loaded.state.id, place, told.message, told.help, sent.get("note", ""), error.code in _STALE)
        again = f"Nothing was written. If it is still right, press {action.button} again."
        if error.code == "revision":
            sentences, changes = differences(call.workspace, loaded, expect)
            refused = refused._replace(message=wrote(loaded), sentences=sentences, changes=changes, help=again)
        elif error.code == "tree-changed":
            refused = refused._replace(message="files were edited after the page showed the difference", help=again)
        return place, refused
    return place, None


def _require_shown(loaded: Loaded, action: Action, sent: Mapping[str, str]) -> None:
    """Refuse a form that does not say what its page showed, or that shows an older state of the task."""
    digits, whole = (each.partition("-")[2] for each in (sent.get("expect", ""), loaded.token))
    if len(digits) < len(whole) or (action.needs_tree and not sent.get("tree")):
        raise TaskstateError("the form does not say what its page showed", help="load the page again", code="usage")
    require_revision(loaded, sent["expect"])


def _site_of(site: Site, worktree: str) -> Site:
    """Return the site as the commands in a worktree see it: only in one that belongs to the repository is written."""
    if not worktree:
        return site
    for each in trees_of(site.call().workspace)[0]:
        if each.name == worktree:
            return site._replace(root=each.workspace.root, config="")
    raise TaskstateError(f"there is no worktree {worktree}", help="load the page again", code="not-found")


# What a form asks for


def _criterion(_loaded: Loaded, number: str, sent: Mapping[str, str]) -> tuple[str, Mapping[str, object]]:
    return f"criterion {'check' if sent.get('checked') else 'uncheck'}", {"number": int(number)}


def _drift(_loaded: Loaded, _number: str, sent: Mapping[str, str]) -> tuple[str, Mapping[str, object]]:
    return "snapshot resolve", {"note": _note(sent), "expect_tree": sent["tree"]}


def _finding(loaded: Loaded, number: str, sent: Mapping[str, str]) -> tuple[str, Mapping[str, object]]:
    roles = blocks_of(loaded.document).roles.values()
    role = next((each.name for each in roles if any(str(one.number) == number for one in each.findings)), None)
    if role is None:
        raise TaskstateError(f"task {loaded.state.id} has no finding {number}", help="load the page again")
    return "role unblock", {"role": role, "finding": number, "note": _note(sent)}


def _note(sent: Mapping[str, str]) -> str:
    if not sent.get("note", "").strip():
        raise TaskstateError("the reason is missing", help="say why, for the record", code="empty")
    return sent["note"]


ACTIONS: Mapping[str, Action] = {
    "/tasks/{id}/criteria/{number}": Action("criterion-{number}", "the criterion", _criterion),
    "/tasks/{id}/drift/accept": Action("drift", "Accept as it is", _drift, needs_tree=True),
    "/tasks/{id}/findings/{number}/withdraw": Action("finding-{number}", "Withdraw", _finding),
}
"""What is written by a form, by the address that it is sent to."""

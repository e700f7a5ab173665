"""Which address shows what, and how a document becomes an answer."""

from __future__ import annotations

from urllib.parse import urlsplit

from taskstate.errors import TaskstateError
from taskstate.operations.errors import our_fault
from taskstate.page import board, html, lint, overview, rules, search, task
from taskstate.page import changes as role_changes
from taskstate.page.actions import ACTIONS, attempt
from taskstate.page.events import Changes
from taskstate.page.forms import Form, after, done
from taskstate.page.reading import Reading
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from taskstate.page.forms import Refused
    from taskstate.page.reading import Site

    View = Callable[[Reading, Request], Mapping[str, object]]

_ASSETS = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "idiomorph.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
# By address: the template, and what gives its values.
_VIEWS: Mapping[str, tuple[str, View]] = {
    "/": ("overview", lambda reading, _request: overview.values(reading)),
    "/board": ("board", lambda reading, request: board.values(reading, request.query_params.multi_items())),
    "/search": ("search", lambda reading, request: search.values(reading, request.query_params)),
    "/lint": ("lint", lambda reading, request: lint.values(reading, request.query_params)),
    "/rules": ("rules", lambda reading, _request: rules.listed(reading)),
    "/rules/{code}": ("rule", lambda reading, request: rules.values(reading, request.path_params["code"])),
    "/tasks/{id}": ("task", task.values),
    "/tasks/{id}/changes": ("changes", role_changes.changes),
    "/tasks/{id}/brief": ("brief", role_changes.brief),
}
_OVERVIEW, _TASK = "/", "/tasks/{id}"
# What an address names that is not there; all other refusals are of what is there.
_NOT_THERE = frozenset({"not-found", "bad-id", "control-characters", "ambiguous", "path", "empty", "too-long"})


def application(site: Site, live: Changes | None = None) -> Starlette:
    """Return the application that serves a repository; who may ask it is the guard's to say."""
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse, Response, StreamingResponse
    from starlette.routing import Route

    live = live or Changes(site)
    shown = _Shown(site, live)

    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        if not live.is_open:
            return PlainTextResponse("the page is not live at the moment\n", 503)
        return StreamingResponse(live.stream(), media_type="text/event-stream")

    made = Starlette(
        routes=[
            *(Route(path, shown.view(path)) for path in _VIEWS),
            *(Route(path, shown.action(path), methods=["GET", "POST"]) for path in ACTIONS),
            Route("/assets/{name}", _asset),
            Route("/events", events),
        ],
        exception_handlers={404: _not_there, 405: _not_there},
    )
    made.router.redirect_slashes = False
    return made


class _Shown:
    """Makes the answers of a site. They read files, so each is made in a thread, and one at a time."""

    def __init__(self, site: Site, live: Changes) -> None:
        self._site, self._live = site, live
        self._reading = live.reading

    def view(self, path: str) -> Callable[[Request], Response]:
        """Return what answers with a view."""
        return self._safe(lambda request: self._document(path, request))

    def action(self, path: str) -> Callable[[Request], Response]:
        """Return what answers a form; its address alone, as of a refusal that is read again, leads to the task."""

        def act(request: Request) -> Response:
            from starlette.responses import RedirectResponse

            task = request.path_params["id"]
            page = Form(task, "", branch=request.query_params.get("branch", "")).page
            if request.method != "POST":
                return RedirectResponse(page, 303)
            view = _OVERVIEW if urlsplit(request.headers.get("referer", "/tasks")).path == _OVERVIEW else _TASK
            page = page if view == _TASK else _OVERVIEW
            place, refused = attempt(self._site, request, ACTIONS[path])
            if refused:
                return self._document(view, request, refused, here=page)
            return RedirectResponse(after(page, place, task), 303)

        return self._safe(act)

    def _safe(self, make: Callable[[Request], Response]) -> Callable[[Request], Response]:
        """Return what makes an answer, alone at its time; an error is told, and the server lives on."""

        def made(request: Request) -> Response:
            try:
                with self._reading:
                    return make(request)
            except TaskstateError as error:
                return _told(error)
            except Exception as error:  # noqa: BLE001 - the server lives on
                return _told(our_fault(error))

        return made

    def _document(self, path: str, request: Request, refused: Refused | None = None, *, here: str = "") -> Response:
        from starlette.responses import HTMLResponse

        template, view = _VIEWS[path]
        reading = Reading(self._site, refused)
        more = {"here": here, "done": done(request.query_params)}
        text = html.document(template, reading, {**view(reading, request), **more})
        if refused and f'id="{refused.place}-refused"' not in text:  # its form is not there any more
            gone = "Nothing was written, and there is nothing to press any more."
            reading = Reading(self._site, refused._replace(place="", help=gone if refused.is_stale else refused.help))
            text = html.document(template, reading, {**view(reading, request), **more})
        self._live.has_read(reading)
        return HTMLResponse(text, refused.status if refused else 200)


def _told(error: TaskstateError) -> Response:
    """Return the page of an error; it stands alone, since there may be nothing to read for the frame of a page."""
    from starlette.responses import HTMLResponse

    status = 404 if error.code in _NOT_THERE else 500 if error.code == "fault" else 503
    return HTMLResponse(html.filled("error", message=error.message, help=error.help, status=status), status)


async def _not_there(_request: Request, error: Exception) -> Response:
    from starlette.responses import HTMLResponse

    status = getattr(error, "status_code", 404)
    text = html.filled("error", message="there is no such page", help="", status=status)
    return HTMLResponse(text, status, headers=getattr(error, "headers", None))


def _asset(request: Request) -> Response:
    from starlette.exceptions import HTTPException
    from starlette.responses import Response

    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404)
    return Response(html.asset(name), media_type=_ASSETS[name])

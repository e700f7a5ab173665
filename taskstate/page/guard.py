"""Lets only those through who name this machine, come from its own pages, and have the token.

Who may look has the cookie, which the printed address gives; who writes sends the token once more, as a header or a
hidden field, since a cookie goes along with what other pages of this machine ask. What fits is in tables and small
checks, each of which returns why a request is refused, or nothing.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from html import escape
from urllib.parse import parse_qsl, quote, urlencode

from taskstate.loopback import server as loopback
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.loopback.server import App, Headers, Receive, Scope, Send

    Refusal = tuple[int, str] | None

FORM = "taskstate.form"  # where the guard leaves what a form has sent, in the scope of the request
NAMES = frozenset({loopback.LOOPBACK, "localhost", f"[{loopback.LOOPBACK_6}]"})
MOST_CONNECTIONS = 32
_MOST_BYTES, _MOST_FIELDS = 64 * 1024, 20  # of a form
_READ, _WRITE = ("GET", "HEAD"), "POST"
_NO_DOCUMENTS = ("/assets/", "/events")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Headers = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),  # under no-referrer a browser says of a form that its origin is null
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_TEXT, _HTML = (b"content-type", b"text/plain; charset=utf-8"), (b"content-type", b"text/html; charset=utf-8")
TOO_MANY = loopback.as_bytes(503, (*HEADERS, _TEXT), b"there are too many connections; close a page, and try again\n")


class Gate(NamedTuple):
    """Who may pass: the token, the port that the cookie is named by, other names of this machine, and if any writes."""

    token: str
    port: int
    names: frozenset[str] = frozenset()
    is_read_only: bool = False

    @property
    def cookie(self) -> str:
        """The cookie as a browser sends it; cookies do not know ports, so its name has it."""
        return f"taskstate-{self.port}={self.token}"

    def has_token(self, given: str) -> bool:
        """Return whether a text is the token."""
        return hmac.compare_digest(given.encode(), self.token.encode())


def guarded(app: App, gate: Gate) -> App:
    """Return an application that answers only who may pass; who brings the token in the address gets the cookie."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers = loopback.headers_of(scope)
        refused = _of_another_machine(scope, headers, gate) or _method(scope, gate)
        if not refused and _brings_token(scope, headers, gate):
            await _let_in(scope, headers, gate, send)
            return
        refused = refused or _from_elsewhere(scope, headers) or _unknown(headers, gate)
        if not refused and scope["method"] == _WRITE:
            refused = _form(headers) or await _sent(scope, receive, headers, gate)
        if refused:
            await loopback.answer(send, refused[0], [_TEXT, *_allowed(refused[0])], f"{refused[1]}\n".encode())
        else:
            await app(scope, receive, send)

    return guard


# What can be wrong with a request


def _of_another_machine(scope: Scope, headers: Mapping[str, str], gate: Gate) -> Refusal:
    """Refuse who names another host, or more than one: a name of somebody's that leads to this machine, for example."""
    hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
    name = re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[^:\[\]]+)(:[0-9]{1,5})?", headers.get("host", ""))
    if len(hosts) != 1 or name is None or name[1].lower() not in NAMES | gate.names:
        return (
            421,
            "the Host header names another machine; for the name of a tunnel: `taskstate serve --allow-host NAME`",
        )
    if not scope["raw_path"].startswith(b"/"):
        return 400, "a path is expected, and no address in full"
    return None


def _method(scope: Scope, gate: Gate) -> Refusal:
    if scope["method"] == _WRITE and gate.is_read_only:
        return 405, "nothing is written here: the page is served with --read-only"
    return None if scope["method"] in (*_READ, _WRITE) else (405, "only GET, HEAD and POST are answered")


def _allowed(status: int) -> list[tuple[bytes, bytes]]:
    return [(b"allow", ", ".join(_READ).encode())] if status == 405 else []  # noqa: PLR2004 - the protocol's own number


def _from_elsewhere(scope: Scope, headers: Mapping[str, str]) -> Refusal:
    """Refuse what another page has a browser ask; a proxy of an allowed name may speak https to it."""
    host, given = headers["host"], [name.lower() for name, _ in scope["headers"]]
    if max(given.count(b"origin"), given.count(b"sec-fetch-site")) > 1:
        return 403, "the Origin or Sec-Fetch-Site header is there twice"
    ours = {f"http://{host}"} | ({f"https://{host}"} if host.partition(":")[0] not in NAMES else set())
    if headers.get("origin", f"http://{host}") not in ours:
        return 403, "the Origin header names another page"
    if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        return 403, "another page leads here; open the address that `taskstate serve` printed"
    return None


def _unknown(headers: Mapping[str, str], gate: Gate) -> Refusal:
    """Refuse who has no cookie; another server of this machine may have set one of the same name besides."""
    given = [each.strip() for each in headers.get("cookie", "").split(";")]
    if any(hmac.compare_digest(each.encode(), gate.cookie.encode()) for each in given):
        return None
    return 401, "the token is missing or out of date; open the address that `taskstate serve` printed"


def _form(headers: Mapping[str, str]) -> Refusal:
    """Refuse what is no form of a size that it says; the body is not read yet."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        return 415, "a form is expected: application/x-www-form-urlencoded"
    if "transfer-encoding" in headers:
        return 411, "a form has to say its length"
    if not loopback.is_bounded(headers, _MOST_BYTES):
        return 413, f"a form has at most {_MOST_BYTES // 1024} KB"
    return None


async def _sent(scope: Scope, receive: Receive, headers: Mapping[str, str], gate: Gate) -> Refusal:
    """Read a form into the scope, and refuse it without the token."""
    try:
        async with asyncio.timeout(loopback.PATIENCE):
            body = await _body(receive)
        sent = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except TimeoutError:
        return 408, "the form did not arrive in time"
    except ValueError:
        return 400, "the form cannot be read"
    scope[FORM] = dict(sent)
    if gate.has_token(headers.get("x-taskstate-token") or scope[FORM].get("token", "")):
        return None
    return 403, "the token is missing: send it in the header X-Taskstate-Token, or in the field `token`"


async def _body(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


# The first look


def _brings_token(scope: Scope, headers: Mapping[str, str], gate: Gate) -> bool:
    """Return whether a document is asked for with the token in its address; then it may come from elsewhere."""
    is_document = headers.get("sec-fetch-dest", "document") == "document"
    if scope["method"] not in _READ or not is_document or scope["path"].startswith(_NO_DOCUMENTS):
        return False
    return any(name == "token" and gate.has_token(value) for name, value in _query(scope))


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


async def _let_in(scope: Scope, headers: Mapping[str, str], gate: Gate, send: Send) -> None:
    """Give the cookie, and lead to the same address without the token.

    A page elsewhere that leads here would be held responsible for a redirect, too, and the browser would keep the
    cookie back. A page of our own goes on as from here.
    """
    rest = urlencode([each for each in _query(scope) if each[0] != "token"])
    target = "/" + quote(scope["path"].lstrip("/\\")) + (f"?{rest}" if rest else "")
    cookie = (b"set-cookie", f"{gate.cookie}; HttpOnly; Path=/; SameSite=strict".encode())
    if _from_elsewhere(scope, headers) is None:
        await loopback.answer(send, 303, [cookie, (b"location", target.encode())], b"")
        return
    where = escape(target)
    page = f'<!doctype html><title>taskstate</title><meta http-equiv="refresh" content="0;url={where}">'
    await loopback.answer(send, 200, [cookie, _HTML], f'{page}<a href="{where}">The tasks</a>\n'.encode())

from __future__ import annotations

import http.client
import json
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp_server.conftest import MODES, TOKEN
from tests.support.place import tree

if TYPE_CHECKING:
    from tests.mcp_server.conftest import Agent
    from tests.support.place import Place

_CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
_HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("mode", MODES)
def test_a_session_over_http(agent: Agent, place: Place, mode: str) -> None:
    """The official client works over HTTP with the token."""

    async def say(client: Client) -> None:
        words = {"do": "add", "id": "101", "did": ["Wrote it."], "state": "x", "next": ["y"]}
        assert not (await client.call_tool("session", words)).is_error
        assert (await client.read_resource("taskstate://task/101")).contents

    async def main(url: str) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as own,
            Client(streamable_http_client(url, http_client=own), mode=mode) as client,
        ):
            await say(client)

    with agent.http() as url:
        anyio.run(main, url)
    assert "Wrote it." in place.text


def test_who_does_not_belong_here_is_refused(agent: Agent, place: Place) -> None:
    """A wrong token, a foreign Host and a foreign Origin get code, message and cure; the server lives on."""
    before = tree(place.root)
    right = {"authorization": f"Bearer {TOKEN}"}
    with agent.http() as url:
        own = urlsplit(url).netloc
        foreign: tuple[tuple[dict[str, str], int, str], ...] = (
            ({}, 401, "token"),
            ({"authorization": "Bearer wrong"}, 401, "token"),
            ({"authorization": TOKEN}, 401, "token"),
            ({"authorization": "Bearer t\xf6ken"}, 401, "token"),
            ({**right, "host": "evil.example"}, 421, "host"),
            ({**right, "host": f"evil.example:{own.split(':')[1]}"}, 421, "host"),
            ({**right, "host": "127.0.0.1:1"}, 421, "host"),
            ({**right, "host": ""}, 421, "host"),
            ({**right, "origin": "https://evil.example"}, 403, "origin"),
            ({**right, "origin": "null"}, 403, "origin"),
            ({**right, "origin": f"http://{own}.evil.example"}, 403, "origin"),
            ({**right, "origin": f"https://{own}"}, 403, "origin"),
        )
        for headers, status, code in foreign:
            got, body = _post(own, headers)
            assert (got, body["code"]) == (status, code), headers
            assert body["message"]
            assert body["cure"]
        assert _post(own, {**right, "origin": f"http://{own}"})[0] not in {401, 403, 421}
        assert _post(own, right)[0] not in {401, 403, 421}
    assert tree(place.root) == before


@pytest.mark.parametrize(
    "said", [{"content-length": "8388609"}, {"content-length": "9" * 4300}, {"transfer-encoding": "chunked"}]
)
def test_a_body_beyond_all_bounds_is_refused_before_it_is_read(agent: Agent, said: dict[str, str]) -> None:
    """A request whose body is too large, or does not say how large it is, gets code, message and cure at once."""
    with agent.http() as url:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        connection.putrequest("POST", "/mcp")
        for name, value in {"authorization": f"Bearer {TOKEN}", **_HEADERS, **said}.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status in {400, 413}, body  # 400: uvicorn itself refuses what is no length at all
        assert answer.status == 400 or json.loads(body)["code"] == "too-large"
        connection.close()
        assert _post(urlsplit(url).netloc, {"authorization": f"Bearer {TOKEN}"})[0] != 413


def _post(address: str, headers: dict[str, str]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(address, timeout=30)
    body = json.dumps(_CALL).encode()
    connection.putrequest("POST", "/mcp", skip_host="host" in headers)
    for name, value in {**_HEADERS, "content-length": str(len(body)), **headers}.items():
        connection.putheader(name, value.encode("latin-1"))
    connection.endheaders(body)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    is_json = response.headers.get_content_type() == "application/json"
    return response.status, json.loads(data) if is_json else None


def test_a_client_that_breaks_off_leaves_no_traceback(agent: Agent) -> None:
    """The server goes on, and says nothing of a half message or of a second origin, whatever is in it."""
    with agent.http() as url:
        own = urlsplit(url).netloc
        lines = [f"POST /mcp HTTP/1.1\r\nHost: {own}", f"Authorization: Bearer {TOKEN}"]
        lines += [f"{name}: {value}" for name, value in _HEADERS.items()]
        for more in (
            ["Content-Length: 1000"],
            ["Origin: http://\x9b31m", f"Origin: http://{own}", "Content-Length: 1"],
        ):
            with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port)) as client:
                client.sendall("\r\n".join([*lines, *more, "", "{"]).encode("latin-1"))
                client.shutdown(socket.SHUT_WR)
                client.recv(1024)
        answer = httpx2.post(url, json=_CALL, headers={**_HEADERS, "authorization": f"Bearer {TOKEN}"})
        assert answer.status_code < 500
    assert agent.said == ""


def test_connections_have_a_bound(agent: Agent) -> None:
    """Who opens connections without end, and asks nothing, loses the oldest; nobody else has to wait for that one."""
    right = {"authorization": f"Bearer {TOKEN}"}
    with agent.http() as url:
        address = urlsplit(url).netloc
        host, port = address.split(":")
        silent = [socket.create_connection((host, int(port)), timeout=30) for _ in range(101)]
        silent[1].sendall(b"GET /mcp HTTP/1.1\r\nhost: ")  # never to its end
        answer = http.client.HTTPResponse(silent[0])
        answer.begin()
        assert (answer.status, json.loads(answer.read())["code"]) == (503, "busy")
        assert _post(address, right)[0] != 503
        for each in silent[3:]:
            assert each.recv(1) == b""  # closed, since it is silent
        assert _post(address, right)[0] != 503
        refused = http.client.HTTPConnection(address, timeout=30)
        refused.request("POST", "/mcp", body=b"{}", headers=_HEADERS)
        assert (refused.getresponse().status, refused.sock) == (401, None)  # nor does who is refused keep a connection
    for each in silent:
        each.close()

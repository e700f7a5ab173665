"""The door of the page: who is let in, who is refused and how, and how the server begins and ends."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import pytest

from taskstate.__main__ import main
from taskstate.errors import TaskstateError
from taskstate.loopback import server as loopback
from taskstate.page.guard import HEADERS
from tests.page.conftest import PATIENCE, Site, serving
from tests.support.place import Place, tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import RunCli

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
FORM = "application/x-www-form-urlencoded"


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    headers: http.client.HTTPMessage
    text: str


def ask(site: Site, path: str = "/", method: str = "GET", body: str = "", **headers: str | None) -> Answer:
    """Ask as a browser that has the cookie; headers of None are left out."""
    connection = http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=PATIENCE)
    given = {"Cookie": cookie(site), **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.putrequest(method, path, skip_host="Host" in given)
    if body and "Content-Length" not in given:
        given["Content-Length"] = str(len(body))
    for name, value in given.items():
        if value is not None:
            connection.putheader(name, value)
    connection.endheaders(body.encode())
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return Answer(answer.status, answer.headers, text)


def cookie(site: Site) -> str:
    """Return the cookie that the address of a site gives."""
    return f"taskstate-{urlsplit(site.url).port}={site.token}"


def raw(site: Site, *lines: str) -> bytes:
    """Send lines as they are, and return all that comes back until the connection is closed."""
    at = urlsplit(site.url)
    with socket.create_connection((at.hostname, at.port), timeout=PATIENCE) as connection:
        connection.sendall("".join(f"{line}\r\n" for line in lines).encode("latin-1"))
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a repository with a task, without git."""
    return Place(tmp_path_factory.mktemp("served") / "shop")


@pytest.fixture(scope="module")
def shop(place: Place) -> Iterator[Site]:
    """Return a server that is only looked at."""
    with serving(place.root) as site:
        yield site


def test_the_address_gives_a_cookie_and_nothing_is_read_without(shop: Site) -> None:
    """Reads need the token too; the address leads to the same one without it, in this site and nowhere else."""
    assert ask(shop, Cookie=None).status == 401
    assert ask(shop, Cookie=cookie(shop)[:-1]).status == 401
    assert ask(shop, "/?token=wrong", Cookie=None).status == 401
    assert ask(shop, f"/assets/page.css?token={shop.token}", Cookie=None).status == 401
    for path, leads in (
        ("/", "/"),
        ("/board?status=blocked", "/board?status=blocked"),
        ("//evil.example", "/evil.example"),
    ):
        let_in = ask(shop, f"{path}{'&' if '?' in path else '?'}token={shop.token}", Cookie=None)
        assert (let_in.status, let_in.headers["location"]) == (303, leads)
        first, *how = let_in.headers["set-cookie"].split("; ")
        assert (first, {*how}) == (cookie(shop), {"HttpOnly", "SameSite=strict", "Path=/"})
    assert ask(shop, Cookie=f"other=1; {cookie(shop)[:-3]}x; {cookie(shop)}").status == 200


def test_a_first_click_may_come_from_elsewhere(shop: Site) -> None:
    """With the token in its address a document opens from any page, by a step that is a browser's own."""

    def come(path: str, destination: str) -> Answer:
        return ask(shop, path, Cookie=None, Sec_Fetch_Site="cross-site", Sec_Fetch_Dest=destination)

    step = come(f"/tasks/101?x=%22&token={shop.token}", "document")
    assert (step.status, step.headers["set-cookie"].split(";")[0]) == (200, cookie(shop))
    assert 'content="0;url=/tasks/101?x=%22"' in step.text
    assert come(f"/?token={shop.token}", "image").status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "127.0.0.1@evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "localhost:1"}, 200),  # as through a tunnel
        ({"Host": "LOCALHOST"}, 200),
        ({"Host": "[::1]:9"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:2"}, 403),
        ({"Host": "localhost:1", "Origin": "https://localhost:1"}, 403),
        ({"Host": "localhost:1", "Origin": "http://localhost:1"}, 200),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Sec_Fetch_Site": "same-origin"}, 200),
    ],
)
def test_who_comes_from_elsewhere_is_refused(shop: Site, headers: dict[str, str], status: int) -> None:
    """A foreign name of this machine and a page elsewhere are refused, for reading and for writing."""
    assert ask(shop, **headers).status == status
    if status != 200:
        assert (
            ask(shop, "/tasks/101/criteria/1", "POST", f"token={shop.token}", Content_Type=FORM, **headers).status
            == status
        )


def test_what_is_no_request_of_a_browser_is_refused(shop: Site) -> None:
    """No host, two of them, an address in full, no HTTP at all: a refusal with all headers, and the server lives on."""
    for lines in (
        ("GET / HTTP/1.0", ""),
        ("GET / HTTP/1.1", ""),
        ("GET / HTTP/1.1", "Host: localhost", "Host: evil.example", ""),
        ("GET http://localhost/ HTTP/1.1", "Host: localhost", f"Cookie: {cookie(shop)}", ""),
        ("OPTIONS * HTTP/1.1", "Host: localhost", ""),
        ("\x16\x03\x01 hello", ""),
    ):
        said = raw(shop, *lines)
        assert said.startswith(b"HTTP/1.1 4"), lines
        assert all(b"%b: %b\r\n" % header in said for header in HEADERS), said
    assert ask(shop).status == 200


# What is asked, and the status of the refusal.
NO_FORMS: tuple[tuple[str, str, dict[str, str | None], int], ...] = (
    ("POST", "checked=1", {"Content-Type": FORM}, 403),
    ("POST", "checked=1&token=wrong", {"Content-Type": FORM}, 403),
    ("POST", "checked=1", {"Content-Type": FORM, "X-Taskstate-Token": "wr\xf6ng"}, 403),
    ("POST", "{}", {"Content-Type": "application/json"}, 415),
    ("POST", "a=b", {"Content-Type": "text/plain"}, 415),
    ("POST", "a=b", {}, 415),
    ("POST", "", {"Content-Type": FORM, "Content-Length": "65537"}, 413),
    ("POST", "0\r\n\r\n", {"Content-Type": FORM, "Content-Length": None, "Transfer-Encoding": "chunked"}, 411),
    ("POST", "a=%ff", {"Content-Type": FORM}, 400),
    ("POST", "a&" * 30, {"Content-Type": FORM}, 400),
    ("PUT", "", {}, 405),
    ("DELETE", "", {}, 405),
    ("OPTIONS", "", {}, 405),
)


@pytest.mark.parametrize("asked", NO_FORMS)
def test_what_is_no_form_of_ours_writes_nothing(
    shop: Site, place: Place, asked: tuple[str, str, dict[str, str | None], int]
) -> None:
    """A cookie alone writes nothing, nor does what is no small form; nothing on the disk changes."""
    method, body, headers, status = asked
    before = tree(place.root)
    assert ask(shop, "/tasks/101/criteria/1", method, body, **headers).status == status
    assert tree(place.root) == before


@pytest.mark.parametrize(
    "path",
    [
        *("/assets/..%2f..%2fpyproject.toml", "/assets/%2e%2e/%2e%2e/x", "/assets/", "/assets/x.css", "//etc/passwd"),
        *("/tasks/%00", "/tasks/..%2f..", "/tasks/%ff", "/tasks/999", "/tasks/", "/tasks/.", "/tasks/" + "9" * 3000),
        *("/taskstate.toml", "/.taskstate/tasks/task-101-state.md", "/board/", "/\\evil", "/%0d%0aX:%20y", "/events/"),
    ],
)
def test_no_path_leads_to_a_file(shop: Site, path: str) -> None:
    """Whatever a path looks like, it is a page of ours or none, and never a fault."""
    answer = ask(shop, path)
    assert answer.status == 404
    assert "<h1>" in answer.text
    assert "task_id" not in answer.text


def test_every_answer_has_the_headers(shop: Site) -> None:
    """Refusals and what is not there have the policy as well, and no answer says what serves it."""
    asked = [ask(shop, path) for path in ("/", "/assets/page.js", "/tasks/101", "/none", "/lint?code=x&code=y")]
    asked += [ask(shop, path) for path in ("/board", "/search?q=keys", "/tasks/101/changes", "/assets/page.css")]
    asked += [ask(shop, "/", "PUT"), ask(shop, Cookie=None), ask(shop, Host="x"), ask(shop, "/", "HEAD")]
    asked += [ask(shop, f"/?token={shop.token}"), ask(shop, "/tasks/101/criteria/1")]
    assert {each.status for each in asked} == {200, 303, 401, 404, 405, 421}
    for each in asked:
        for name, value in HEADERS:
            assert each.headers.get_all(name.decode()) == [value.decode()], each
        assert "server" not in each.headers
        assert {*each.headers["content-security-policy"].split("; ")} == {*POLICY.split("; ")}
        assert each.headers["x-content-type-options"] == "nosniff"


def test_connections_and_streams_have_a_bound(shop: Site) -> None:
    """Who opens streams without end leaves room for pages; of too many connections the oldest silent one ends."""
    at = urlsplit(shop.url)
    address = (str(at.hostname), int(at.port or 0))
    with ExitStack() as stack:
        streams = [http.client.HTTPConnection(*address, timeout=PATIENCE) for _ in range(21)]
        statuses = []
        for each in streams:
            stack.callback(each.close)
            each.request("GET", "/events", headers={"Cookie": cookie(shop)})
            statuses.append(each.getresponse().status)
        assert statuses == [200] * 20 + [503]
        assert ask(shop).status == 200
        streams[-1].close()
        silent = [stack.enter_context(socket.create_connection(address, timeout=PATIENCE)) for _ in range(13)]
        answer = http.client.HTTPResponse(silent[0])
        answer.begin()
        assert answer.status == 503
        assert b"too many connections" in answer.read()
        assert ask(shop).status == 200
    assert ask(shop).status == 200


def test_it_listens_on_this_machine_alone(shop: Site) -> None:
    """Another address, even of this machine, has no such port; both that `localhost` may mean do."""
    port = int(urlsplit(shop.url).port or 0)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", port), timeout=PATIENCE)
    if socket.has_ipv6:
        try:
            socket.create_connection(("::1", port), timeout=PATIENCE).close()
        except OSError as error:
            pytest.skip(f"this machine has no ::1: {error}")


def test_a_port_is_taken_or_the_next_one_is(shop: Site) -> None:
    """A port that was asked for and is in use is an error in one line; else the next free one is taken."""
    port = urlsplit(shop.url).port or 0
    said = subprocess.run(
        [sys.executable, "-m", "taskstate", "serve", "--port", str(port)],
        cwd=shop.root,
        capture_output=True,
        check=False,
    )
    assert (said.returncode, said.stdout, said.stderr.count(b"\n")) == (2, b"", 1)
    assert f"port {port}: Address already in use".encode() in said.stderr
    both = loopback.listen_from(port, 20)
    assert both[0].getsockname()[1] > port
    for each in both:
        each.close()
    with pytest.raises(TaskstateError, match="in use"):
        loopback.listen_from(port, 1)


def test_what_cannot_be_served_is_said(run_cli: RunCli, tmp_path: Path) -> None:
    """No set-up, no port and no name of a host are the usual errors."""
    (tmp_path / "empty").mkdir()
    for words, told in (
        (("serve",), "taskstate init"),
        (("serve", "--port", "70000"), "give 0 to 65535"),
        (("serve", "--allow-host", "http://box"), "is not a name of a host"),
    ):
        done = run_cli(*words, cwd=tmp_path / "empty")
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_with_pages_open(place: Place, number: int) -> None:
    """Ctrl-C, or the system, ends it within two seconds with three pages that listen, and nothing is said."""
    assert any(_ended_within(place, number) < 2 for _ in range(3))  # a busy machine has its pauses


def _ended_within(place: Place, number: int) -> float:
    """Return how many seconds a server takes to end with pages open, about which it says nothing."""
    site = Site(place.root)
    pages = [http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=PATIENCE) for _ in range(3)]
    for each in pages:
        each.request("GET", "/events", headers={"Cookie": cookie(site)})
        assert each.getresponse().status == 200
    begin = time.monotonic()
    site.process.send_signal(number)
    _, said = site.process.communicate(timeout=PATIENCE)
    took = time.monotonic() - begin
    assert (site.process.returncode, said) == (0, b"")
    for each in pages:
        each.close()
    return took


def test_it_says_how_to_come_through_ssh(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a session of ssh the line for the tunnel is printed, with the address and the port of the machine."""
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.5 50000 10.0.0.7 2222")
    monkeypatch.setenv("USER", "maria")
    with serving(place.root, "--read-only", "--allow-host", "box.example") as site:
        port = urlsplit(site.url).port
        assert f"ssh -N -L {port}:127.0.0.1:{port} -p 2222 maria@10.0.0.7\n" in site.said
        assert ask(site, Host="box.example", Origin="https://box.example").status == 200
        _writes_nothing(site)


def _writes_nothing(site: Site) -> None:
    """Check that a page that is only to be looked at has no form, and takes none."""
    assert 'method="post"' not in ask(site, "/tasks/101").text
    assert site.token not in ask(site, "/tasks/101").text
    refused = ask(site, "/tasks/101/criteria/1", "POST", f"token={site.token}", Content_Type=FORM)
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


def test_it_ends_without_a_word_about_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is damaged was told in the page."""
    damaged = Place(tmp_path / "shop")
    damaged.add("First.")
    damaged.text = damaged.text.replace("status: created", "status: [created", 1)
    monkeypatch.chdir(damaged.root)
    monkeypatch.setattr(loopback, "run", lambda _app, listening, _bounds: [each.close() for each in listening])
    assert main(["serve", "--port", "0"]) == 0
    assert capfd.readouterr().err == ""


def test_a_stream_is_not_asked_for_its_head_alone(shop: Site) -> None:
    """It is answered at once, and no stream is taken."""
    head = ask(shop, "/events", "HEAD")
    assert (head.status, head.headers.get_content_type()) == (200, "text/event-stream")


@pytest.mark.parametrize("name", ["Origin", "Sec-Fetch-Site"])
def test_where_a_request_comes_from_is_said_once(shop: Site, name: str) -> None:
    """Of two headers one could be believed, and the other true."""
    host = urlsplit(shop.url).netloc
    values = {"Origin": ("http://evil.example", f"http://{host}"), "Sec-Fetch-Site": ("cross-site", "none")}[name]
    twice = (f"{name}: {each}" for each in values)
    answer = raw(shop, "GET / HTTP/1.1", f"Host: {host}", f"Cookie: {cookie(shop)}", *twice, "")
    assert answer.startswith(b"HTTP/1.1 403")

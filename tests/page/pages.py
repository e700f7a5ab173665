"""A page as it is answered, without a browser and a socket: its elements, read by `html.parser`."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from taskstate.page import routes
from taskstate.page.reading import Site

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping
    from pathlib import Path

EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


class Element:
    """An element with its attributes, and what is in it."""

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag, self.attributes = tag, attributes
        self.inside: list[Element | str] = []

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)

    @property
    def words(self) -> str:
        """All text in it, with single blanks."""
        return " ".join(self.text.split())

    def all(self, tag: str = "", **wanted: str) -> Iterator[Element]:
        """Yield the elements in it of a tag, or any, with these attributes; of a class, one among several will do."""
        for each in self.inside:
            if isinstance(each, Element):
                known = {**each.attributes, "class_": each.attributes.get("class", "")}
                classes = wanted.get("class_", "") in {"", *known["class_"].split(), known["class_"]}
                rest = {key: value for key, value in wanted.items() if key != "class_"}
                if (not tag or each.tag == tag) and classes and rest.items() <= known.items():
                    yield each
                yield from each.all(tag, **wanted)

    def one(self, tag: str = "", **wanted: str) -> Element:
        """Return the first of them."""
        found = next(self.all(tag, **wanted), None)
        assert found, f"there is no {tag} {wanted} in {self.words[:500]}"
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].inside.append(made)
        if tag not in EMPTY:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].inside.append(Element(tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in {each.tag for each in self.open[1:]}:
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read(html: str) -> Element:
    """Return the elements of a text."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.open[0]


def answer(root: Path, address: str, **site: Any) -> tuple[int, str]:  # noqa: ANN401 - fields of a site
    """Return what is answered to a GET: status and text."""
    parts, said = urlsplit(address), dict[str, Any](body=b"")

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        said["status"] = message.get("status", said.get("status"))
        said["body"] += message.get("body", b"")

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": parts.path,
        "raw_path": quote(parts.path).encode(),
        "root_path": "",
        "query_string": parts.query.encode(),
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    application = routes.application(Site(root, **{"token": "t", **site}))
    with ThreadPoolExecutor(1) as thread:  # the one of a browser may have a loop already
        thread.submit(lambda: asyncio.run(application(scope, receive, send))).result()
    return said["status"], said["body"].decode()


def page(root: Path, address: str, **site: Any) -> Element:  # noqa: ANN401 - fields of a site
    """Return the page at an address."""
    status, html = answer(root, address, **site)
    assert status == 200, html
    return read(html)

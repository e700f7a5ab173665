"""A document of the page without a server and a browser: what an address shows of a repository, and its words."""

from __future__ import annotations

import html as markup
import json
import re
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request

from taskstate.__main__ import main
from taskstate.page import html
from taskstate.page.reading import Reading, Site
from taskstate.page.routes import _VIEWS

if TYPE_CHECKING:
    from pathlib import Path

RULES = "/rules/{code}"


def site_of(root: Path, *, is_read_only: bool = False) -> Site:
    """Return what a server would show of a repository."""
    return Site(root, "", "", is_read_only, "of-this-test")


def look(shown: Path | Site, address: str = "/", **named: str) -> str:
    """Return the document of an address; `named` are the parts of it that have names."""
    site = shown if isinstance(shown, Site) else site_of(shown)
    path, query = urlsplit(address).path, urlsplit(address).query
    request = Request({"type": "http", "query_string": query.encode(), "path_params": named, "headers": []})
    template, view = _VIEWS[path]
    reading = Reading(site)
    return html.document(template, reading, view(reading, request))


def main_of(document: str) -> str:
    """Return what stands in a document besides its frame."""
    return document.partition("<main")[2].partition("</main>")[0]


def section(document: str, name: str) -> str:
    """Return the section whose heading has an id."""
    return document.partition(f'id="h-{name}"')[2].partition("</section>")[0]


def words(text: str) -> str:
    """Return what a reader of HTML sees, in one line."""
    return " ".join(markup.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def cards(document: str) -> dict[str, list[str]]:
    """Return the ids of the cards in each column."""
    columns = re.findall(r'(?s)<details class="column".*?id="c-(\w+)"(.*?)</details>', document)
    return {
        name: re.findall(r'class="box card"><span class="soft"><span class="id">([^<]*)<', text)
        for name, text in columns
    }


def said(root: Path, *command: str) -> Any:  # noqa: ANN401 - JSON
    """Return what a command says to a program."""
    out = StringIO()
    with chdir(root), redirect_stdout(out), redirect_stderr(StringIO()):
        main([*command, "--format", "json"])
    return json.loads(out.getvalue())["data"]

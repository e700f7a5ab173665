"""The page as one file, for those who have neither the repository nor this program: no network, no server, no actions.

It names nothing of the machine on which it was made: neither its paths nor the addresses of people.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import defaultdict
from datetime import UTC, datetime
from urllib.parse import unquote

from taskstate.errors import TaskstateError
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.names import parse_task_id
from taskstate.model.statuses import CLOSED
from taskstate.model.write_metadata import moment, timestamp
from taskstate.page import board, html, overview, task, versions
from taskstate.page.links import Links
from taskstate.page.reading import Reading
from taskstate.storage.git import client as git
from taskstate.storage.git import discovery
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views import needs
from taskstate.workspace.workspace import unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from taskstate.page.reading import Site
    from taskstate.views.repository import Shown
    from taskstate.workspace.task_index import IndexedTask

    ShowsHowFar = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]

_MONTH = 30 * 24 * 60 * 60  # seconds
# Where people live on a machine, as paths and as addresses of files; addresses that a text names, and links to them.
_HOME = (
    r"(?<![\w./-])(?:file://)?(?:(?:/var|/mnt/\w)?/(?:home|Users)/|/root(?![\w.-])|[A-Za-z]:[\\/]{1,2}Users[\\/]{1,2})"
    r"(?:(?<=/|\\)[\w.-]{0,63}\w)?"
)
_ADDRESS = r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,63}\b"
_TO_ADDRESS = r"\shref=\"mailto:[^\"]*\""
_TO_TASK = r"href=\"#task-([^\"/]+)"
# How a character of a path stands in HTML: templates and Markdown escape it differently, or not.
_SPELLED = {"'": "&#39;|&#x27;|'", '"': '&#34;|&quot;|"', "&": "&amp;|&", "<": "&lt;|<", ">": "&gt;|>"}


class Made(NamedTuple):
    """A report: its text, how many tasks it tells whole, and what could not be read."""

    text: str
    tasks: int
    unread: tuple[str, ...]


def report(site: Site, ids: Sequence[str] = (), since: str = "", *, bar: ShowsHowFar = unseen) -> Made:
    """Return the page of a site as one file, or of some of its tasks alone.

    Told whole are the tasks that are named; else the open ones, and those that were closed `since` a time, or in the
    last 30 days. A `bar` shows how far it is.

    Raises:
        TaskstateError: there is no such task.
    """
    from markupsafe import Markup, escape

    def ours(text: str) -> Markup:
        return Markup(_without_places(text, roots))  # noqa: S704 - escaped, or made by templates

    reading = Reading(site)
    reading.call.any_workspace.bar = bar
    roots = _roots(reading)
    known = {"level": 2, "links": Links(is_file=True), "reading": reading}
    named = {shown.task.id: shown for shown in (_named(reading, each) for each in ids)}
    told = [*named.values()] or [*_told(reading, since or _month_before(reading.now))]
    views = [] if ids else [("overview", overview.values(reading)), ("board", board.values(reading))]
    made = [(name, html.filled(name, **{**known, **values})) for name, values in views]
    unread = [f"task {each.task}: {each.text}" for each in reading.needs if each.kind == needs.DAMAGED]
    shown = [*_bodies(reading, told, since, unread)]
    bodies = [(id_, bool(values["is_work"]), html.filled("task", **{**known, **values})) for id_, values in shown]
    style, script = html.asset("page.css"), html.asset("report.js")
    text = html.filled(
        "report",
        **known,
        since=since,
        unread=[ours(escape(each)) for each in unread],
        views=[(name, ours(view)) for name, view in made],
        bodies=[(id_, is_work, ours(body)) for id_, is_work, body in bodies],
        others=_others(
            reading, [id_ for id_, _, _ in bodies], [*(text for _, text in made), *(text for _, _, text in bodies)]
        ),
        style=Markup(style),  # noqa: S704 - a file of ours
        script=Markup(script),  # noqa: S704 - a file of ours
        shas=[base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (style, script)],
    )
    counted = {id_ for id_, _, _ in bodies} - {each.task.id for each in told if each.task.kind == PERMANENT}
    return Made(text, len(counted), tuple(unread))


def _bodies(
    reading: Reading, told: Sequence[Shown], since: str, unread: list[str]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield what the template of each task shows in a file, and say of which nothing can be shown.

    The linter looks once, and not at each by itself.
    """
    lint = versions.said(reading.site.call(), "lint")
    found = defaultdict[str, list[object]](list)
    for each in lint.data["findings"] if lint.data else ():
        found[each["path"]].append(each)
    asked = {"number": 0, **({"since": since} if since else {})}
    for shown in reading.call.any_workspace.counted("reporting", told):
        try:
            wanted = versions.shown_task(reading, shown.task.id)
        except TaskstateError as error:  # a link, a folder, or a name that is none of a task
            if not any(each.startswith(f"task {shown.task.id}: ") for each in unread):
                unread.append(f"{shown.task.path}: {error.message}")
            continue
        own = None if wanted.version.root else lint._replace(data={"findings": found[wanted.loaded.relative]})
        yield shown.task.id, task.of_task(reading, wanted, asked, lint=own, is_file=True)


def _others(reading: Reading, told: Sequence[str], made: Sequence[str]) -> Sequence[IndexedTask]:
    """Return the tasks that are named in what is made and have no place in it yet."""
    named = {unquote(each).casefold() for text in made for each in re.findall(_TO_TASK, text)}
    named -= {*map(str.casefold, told)}
    return [each.task for each in reading.repository.tasks if each.is_first and each.task.id.casefold() in named]


def _named(reading: Reading, given: str) -> Shown:
    """Return the newest version of the task that somebody names."""
    wanted = parse_task_id(given).casefold()
    found = [each for each in reading.repository.tasks if each.is_first and each.task.id.casefold() == wanted]
    if not found:
        reading.call.load_parsed(given)  # says what is near
    return found[0]


def _told(reading: Reading, begin: str) -> Iterator[Shown]:
    """Yield the tasks that are open, and those that were closed since a time."""
    for each in reading.repository.tasks:
        if each.is_first and (each.status not in CLOSED or (each.task.closed or each.task.updated) >= begin):
            yield each


def _month_before(now: str) -> str:
    end = moment(now)
    return "" if end is None else timestamp(datetime.fromtimestamp(end - _MONTH, UTC))


def _without_places(text: str, roots: Mapping[str, str]) -> str:
    """Return a text without what names the machine or a person; a worktree is named by what stands for its root."""
    for root, name in roots.items():
        spelled = "".join(f"(?:{_SPELLED[each]})" if each in _SPELLED else re.escape(each) for each in root)
        plain = name.replace("\\", r"\\")  # of a replacement
        text = re.sub(f"(?<![\\w./-])(?:file://)?{spelled}/", f"{plain}:" if plain else "", text)
        text = re.sub(f"(?<![\\w./-])(?:file://)?{spelled}(?![\\w.-])", plain or ".", text)
    text = re.sub(_TO_ADDRESS, "", re.sub(_HOME, "~", text))
    return re.sub(_ADDRESS, "(address)", text)


def _roots(reading: Reading) -> Mapping[str, str]:
    """Return the root of each worktree, with the branch of another as HTML has it, or its folder where it is unread."""
    from markupsafe import escape

    at = git.folders(reading.call.workspace.root)
    linked = [path for _, path, _ in discovery.linked_worktrees(at.common_dir)] if at else []
    found = {path: os.path.basename(path) for path in (*linked, *([str(at.common_dir.parent)] if at else []))}
    found |= {str(each.workspace.root): each.branch if each.name else "" for each in reading.repository.trees}
    longest = sorted(found.items(), key=lambda each: -len(each[0]))  # one may lie in another
    return {root: str(escape(name)) for root, name in longest}

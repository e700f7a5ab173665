"""The task files as resources: their addresses, and their texts.

`taskstate://task/101` is a state file, `…/section/NAME` one of its sections, `…/archive` its archive, and
`…/handoff/FILE` a handoff document; `?page=2` is the next page of a long one.
"""

from __future__ import annotations

from urllib.parse import parse_qs, quote, unquote, urlsplit

from taskstate.errors import TaskstateError
from taskstate.mcp_server.pages import RESOURCE, number_of, page_of
from taskstate.messages import decoded
from taskstate.model.document_kinds import section_key
from taskstate.model.names import own_file, parse_task_id
from taskstate.model.statuses import CLOSED, IN_PROGRESS
from taskstate.model.task_state import SECTION_LEVEL
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

TEMPLATES = (
    ("task", "taskstate://task/{id}", "State file of a task"),
    ("section", "taskstate://task/{id}/section/{name}", "Section of a state file"),
    ("archive", "taskstate://task/{id}/archive", "Archived sessions of a task"),
    ("handoff", "taskstate://task/{id}/handoff/{file}", "Handoff document of a task"),
)
_SCHEME, _HOST = "taskstate", "task"
_MOST_AT_WORK = 10  # tasks whose sections are listed: the list is read as a whole, also by models


class Resource(NamedTuple):
    """A file as a resource: its address, its path from the root as its name, and what it is."""

    uri: str
    name: str
    description: str


def resources(workspace: Workspace) -> tuple[Resource, ...]:
    """Return the state files, archives and handoffs of the repository, and the sections of what is worked on."""
    from taskstate.views.task_list import list_tasks

    names = {"state": "state file", "archive": "archive", "handoff": "handoff"}
    open_tasks = [each for each in list_tasks(workspace).tasks if each.status not in CLOSED]
    open_tasks.sort(key=lambda task: task.status != IN_PROGRESS)
    at_work = {task.path for task in open_tasks[:_MOST_AT_WORK]}
    found: list[Resource] = []
    for path in workspace.own_files():
        name, uri = workspace.relative(path), uri_of(workspace, path)
        own = own_file(name)
        if uri and own:
            found.append(Resource(uri, printable(name), f"{names[own.type]} of task {own.id}"))
            # One by one, too, since there are clients that read only what is listed, and nothing by a template.
            sections = section_uris(workspace, path) if name in at_work else ()
            found += (
                Resource(each, printable(unquote(each.rpartition("/")[2])), f"section of task {own.id}")
                for each in dict.fromkeys(sections)
            )
    return tuple(found)


def uri_of(workspace: Workspace, path: Path) -> str:
    """Return the address of a file; empty for a file that is no resource."""
    own = own_file(workspace.relative(path))
    if own is None or not own.id:
        return ""
    base = f"{_SCHEME}://{_HOST}/{quote(own.id, safe='')}"
    forms = {"state": base, "archive": f"{base}/archive", "handoff": f"{base}/handoff/{quote(path.name, safe='')}"}
    return forms.get(own.type, "")


def section_uris(workspace: Workspace, path: Path) -> Iterator[str]:
    """Yield the addresses of the sections of a state file."""
    base = uri_of(workspace, path)
    for section in workspace.load(path).document.sections:
        if section.level == SECTION_LEVEL:
            yield f"{base}/section/{quote(section_key(section.title), safe='')}"


def read(workspace: Workspace, uri: str) -> str:
    """Return the text of a resource, or of the page of it that is asked for.

    Raises:
        TaskstateError: code "not-found": there is no such resource; or it cannot be read.
    """
    try:
        parts = urlsplit(uri)
    except ValueError as error:  # such as a host in brackets
        raise _unknown(uri) from error
    words = tuple(unquote(word) for word in parts.path.strip("/").split("/"))
    if parts.scheme != _SCHEME or parts.netloc != _HOST or not words[0]:
        raise _unknown(uri)
    text = printable(_text(workspace, uri, words))  # as commands print it: a model reads hidden text like any other
    asked = parse_qs(parts.query).get("page", ["1"])[0]
    page = page_of(text, number_of(asked), RESOURCE)
    more = f"\n(page {page.number} of {page.of}: {uri.partition('?')[0]}?page=N)\n" if page.of > 1 else ""
    return page.text + more


def _text(workspace: Workspace, uri: str, words: tuple[str, ...]) -> str:
    task = parse_task_id(words[0]) if "/" not in words[0] else ""
    if not task:
        raise _unknown(uri)
    path = workspace.locate(task)
    match words[1:]:
        case ():
            return workspace.load(path).document.text
        case ("section", name):
            return _section(workspace, path, name, uri)
        case ("archive",) | ("handoff", _):
            wanted = uri.partition("?")[0]
            files = (each for each in workspace.own_files() if uri_of(workspace, each).casefold() == wanted.casefold())
            file = next(files, None)
            if file is not None:
                return decoded(workspace.read(file), workspace.relative(file))
    raise _unknown(uri)


def _section(workspace: Workspace, path: Path, name: str, uri: str) -> str:
    document = workspace.load(path).document
    for section in document.sections:
        if section.level == SECTION_LEVEL and section_key(section.title) == section_key(name):
            return section.span.of(document.text)
    raise _unknown(uri)


def _unknown(uri: str) -> TaskstateError:
    return TaskstateError(f"there is no resource {uri[:200]}", help="`resources/list` names them", code="not-found")

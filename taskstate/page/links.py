"""Where the links of a document lead: to other pages where it is served, to places in itself where it is one file."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from taskstate.typed import NamedTuple


class Links(NamedTuple):
    """The addresses that templates use. A file has everything in itself."""

    is_file: bool = False

    def view(self, name: str = "", **query: str) -> str:
        """Return the address of a view, with what is asked for; nothing asked for is left out."""
        if self.is_file:
            return f"#{name or 'overview'}"
        wanted = urlencode({key: value for key, value in query.items() if value})
        return f"/{name}?{wanted}" if wanted else f"/{name}"

    def task(self, task: str, place: str = "", branch: str = "") -> str:
        """Return the address of a task, or of a place in its page; as a branch has it, else as it is newest."""
        if self.is_file:
            return f"#task-{quote(task)}{f'/{place}' if place else ''}"  # no id has a slash
        asked = f"?{urlencode({'branch': branch})}" if branch else ""
        return f"/tasks/{quote(task, safe='')}{asked}{f'#{place}' if place else ''}"

    def asset(self, name: str) -> str:
        """Return the address of a style sheet or a script."""
        return f"/assets/{name}"

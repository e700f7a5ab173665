"""What a tool is about to make of a file: from a replacement, a whole new text, or a patch in the form of Codex."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN = "*** Begin Patch"
_MARKS = {"*** Add File: ": "add", "*** Update File: ": "update", "*** Delete File: ": "delete"}
_MOVE = "*** Move to: "


class Edit(NamedTuple):
    """An edit of one file: a whole new `content`, texts `replaced` by others, or that it `goes`; else it is unknown."""

    path: str
    content: str | None = None
    replaced: tuple[tuple[str, str], ...] = ()
    everywhere: bool = False
    goes: bool = False

    def applied(self, text: str) -> str | None:
        """Return the file's text after the edit; None where it is not known, or the tool itself will refuse."""
        if self.goes:
            return ""
        if self.content is not None:
            return self.content
        for old, new in self.replaced:
            if not old or old not in text:
                return None
            text = text.replace(old, new, -1 if self.everywhere else 1)
        return text if self.replaced else None


def edits_in_patch(patch: str) -> Iterator[Edit]:
    """Yield the edits of a patch between `*** Begin Patch` and `*** End Patch`, one for each file."""
    kind, path, body = "", "", list[str]()
    for line in [*patch.splitlines(), "*** End Patch"]:
        mark = next((each for each in _MARKS if line.startswith(each)), "")
        if mark or line.startswith("*** End Patch"):
            if kind:
                yield from _edit(kind, path, body)
            kind, path, body = (_MARKS[mark], line.removeprefix(mark).strip(), []) if mark else ("", "", [])
        else:
            body.append(line)


def _edit(kind: str, path: str, body: list[str]) -> Iterator[Edit]:
    if kind == "add":
        yield Edit(path, content="".join(f"{line[1:]}\n" for line in body if line.startswith("+")))
    elif kind == "delete" or any(line.startswith(_MOVE) for line in body):
        yield Edit(path, goes=True)
    else:
        yield Edit(path, replaced=tuple(_hunks(body)))


def _hunks(body: list[str]) -> Iterator[tuple[str, str]]:
    """Yield, for each hunk, the lines that it expects and those that it leaves; each begins with its mark."""
    hunk: list[str] = []
    for line in [*body, "@@"]:
        if not line.startswith("@@"):
            hunk.append(line)
            continue
        old = "\n".join(each[1:] for each in hunk if each[:1] in {"", " ", "-"})
        new = "\n".join(each[1:] for each in hunk if each[:1] in {"", " ", "+"})
        if hunk and old != new:
            yield old, new
        hunk = []

"""Shows what a fix changes: the first lines that it removes and adds, and how many other places it changes.

A preview is made with its finding, since the whole text is not at hand when findings are reported. It is short, however
much a fix moves; `taskstate lint --diff` shows everything.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Preview
from taskstate.secrets.mask import masked
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Fix
    from taskstate.syntax.document import Document

_MAX_LINES = 4


def preview(document: Document, fix: Fix | None, shown: str) -> Preview | None:
    """Return the preview of a fix, or None for one that has no edits; `shown` is the text with secrets masked."""
    if fix is None or not fix.edits:
        return None
    edits = sorted(fix.edits)
    first, stop = document.position(edits[0].start).line, document.position(edits[0].end).line
    here = 1
    while here < len(edits) and document.position(edits[here].start).line <= stop:
        stop = max(stop, document.position(edits[here].end).line)
        here += 1
    start = document.starts[first]
    end = document.starts[stop + 1] if stop + 1 < len(document.starts) else len(document.text)
    old = shown[start:end]
    new = apply(old, [Edit(edit.start - start, edit.end - start, edit.new) for edit in edits[:here]])
    new = masked(new)  # a fix may move a secret, or bring one from another file
    removed, added = _differing(_lines(old), _lines(new))
    cut = max(len(removed) - _MAX_LINES, 0) + max(len(added) - _MAX_LINES, 0)
    return Preview(tuple(removed[:_MAX_LINES]), tuple(added[:_MAX_LINES]), cut + len(edits) - here)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def _differing(old: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the lines without those that both begin and end with."""
    shorter = min(len(old), len(new))
    first = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    last = next((at for at in range(shorter - first) if old[-1 - at] != new[-1 - at]), shorter - first)
    return old[first : len(old) - last], new[first : len(new) - last]

"""Tells whether the source of a cited excerpt still holds it, and if not, what became of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.excerpts import artifact_of, citation, hash_of, lines_of, listed, range_of, read_text
from taskstate.storage import files
from taskstate.validation import secrets
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.excerpts import Excerpt
    from taskstate.workspace.workspace import Workspace

SAME, MOVED, CHANGED, GONE = "same", "moved", "changed", "gone"
_MOST_HASHED = 256 * 1024**2  # characters: half a second


class Shown(NamedTuple):
    """An excerpt beside its source: `text` is None where it is not kept here, and the source holds it no longer.

    `state` says whether the source still holds it where it was; `lines` and `now` are what stands there now: where it
    moved to, or what took its place.
    """

    excerpt: Excerpt
    citation: str
    text: str | None
    state: str
    lines: str | None
    now: str | None
    notes: tuple[str, ...]


def show(workspace: Workspace, task_id: str, excerpt_id: str) -> Shown:
    """Return an excerpt beside what its source holds now. What looks like a credential is masked in both.

    Raises:
        TaskstateError: code "not-found": the task has no such excerpt.
    """
    excerpt = _find(listed(workspace, task_id), excerpt_id, task_id)
    kept, notes = _kept(workspace, task_id, excerpt)
    source, why = _source(workspace, excerpt)
    notes = (*notes, *why)
    lines, now = excerpt.lines, _now(source, excerpt.lines)
    if now is not None and hash_of(now) == excerpt.sha256:
        kept, state, now = now, SAME, None
    elif source is None:
        state = GONE
    else:
        place = _moved(source, kept, excerpt) if excerpt.lines else None
        kept = _now(source, place) if place else kept
        state, lines, now = (MOVED, place, None) if place else (CHANGED, lines, now)
    return Shown(excerpt, citation(excerpt, task_id), _masked(kept), state, lines, _masked(now), notes)


def _masked(text: str | None) -> str | None:
    return None if text is None else secrets.masked(text)


def _find(known: Sequence[Excerpt], excerpt_id: str, task_id: str) -> Excerpt:
    found = [each for each in known if each.id.casefold() == excerpt_id.casefold()]
    if found:
        return found[0]
    from difflib import get_close_matches

    ids = [each.id for each in known]
    near = get_close_matches(excerpt_id, ids, n=1, cutoff=0.4)
    has = f"it has {', '.join(ids)}" if ids else f"`taskstate evidence add {task_id} --type T --path P` adds one"
    what = f"task {task_id} has no evidence {files.shown(excerpt_id)}"
    raise TaskstateError(what, help=f"did you mean {near[0]}?" if near else has, code="not-found")


def _kept(workspace: Workspace, task_id: str, excerpt: Excerpt) -> tuple[str | None, tuple[str, ...]]:
    """Return the text that was kept of an excerpt, where it is here and is what the hash says."""
    name = artifact_of(task_id, excerpt)
    try:
        packed = artifacts.read(workspace, name)
        data = None if packed is None else artifacts.gunzipped(packed, name)
    except TaskstateError as error:
        return None, (error.message,)
    if data is not None and files.digest(data) != excerpt.sha256:
        return None, (f"{name} does not hold what was recorded",)
    return (None if data is None else data.decode("utf-8", "replace")), ()


def _source(workspace: Workspace, excerpt: Excerpt) -> tuple[str | None, tuple[str, ...]]:
    """Return the text of an excerpt's source, or None and why there is none."""
    try:
        if not os.path.lexists(files.inside(workspace.root, excerpt.path)):
            return None, ()
        return read_text(workspace, excerpt.path), ()
    except TaskstateError as error:
        return None, (error.message,)


def _now(source: str | None, lines: str | None) -> str | None:
    """Return what stands at an excerpt's lines now: as many of them as there are."""
    if source is None or not lines:
        return source
    first, last = range_of(lines)
    return "\n".join(lines_of(source)[first - 1 : last])


def _moved(source: str, kept: str | None, excerpt: Excerpt) -> str | None:
    """Return the lines at which an excerpt stands now, the first such place, or None.

    Where its text is not kept here, as in another clone, its hash tells it among as many lines that follow each other.
    """
    if not kept:
        return _found_by_hash(source, excerpt)
    at = f"\n{source}\n".find(f"\n{kept}\n")
    if at < 0:
        return None
    first = source.count("\n", 0, at) + 1
    last = first + kept.count("\n")
    return f"{first}-{last}" if last > first else f"{first}"


def _found_by_hash(source: str, excerpt: Excerpt) -> str | None:
    first, last = range_of(excerpt.lines or "1")
    lines, count = lines_of(source), last - first + 1
    places = max(len(lines) - count + 1, 0)
    if len(source) * min(count, places) > _MOST_HASHED:
        return None
    for start in range(places):
        if hash_of("\n".join(lines[start : start + count])) == excerpt.sha256:
            return f"{start + 1}-{start + count}" if count > 1 else f"{start + 1}"
    return None

"""Cited excerpts: records lines of a file as evidence, and tells whether the file still holds them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.messages import closest, decoded
from taskstate.model.write_metadata import front_matter_values, set_front_matter, timestamp
from taskstate.storage import files
from taskstate.syntax.edits import apply
from taskstate.syntax.spans import with_newlines
from taskstate.validation import secrets
from taskstate.validation.paths import escape_reason
from taskstate.workspace import artifacts, secret_check
from taskstate.workspace.change import Change
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace


KEY = "evidence"
_MAX_TYPE = 32  # characters
_TYPE = r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*"
_LINES = r"L?(\d{1,9})(?:-L?(\d{1,9}))?"
_SHOWN_SHA = 16  # digits
_ENDING = ".txt"


class Source(NamedTuple):
    """What is cited: a kind of thing in one word, a path from the repository's root, and lines; none for all."""

    type: str
    path: str
    lines: str = ""


class Excerpt(NamedTuple):
    """A cited excerpt as the front matter holds it; no lines are the whole file."""

    id: str
    type: str
    path: str
    lines: str | None
    sha256: str
    added_at: str


class AddedExcerpt(NamedTuple):
    """What adding an excerpt did; `citation` is the line that a prompt holds."""

    outcome: Outcome
    excerpt: Excerpt
    citation: str


def add(workspace: Workspace, task_id: str, source: Source, request: Request) -> AddedExcerpt:
    """Record an excerpt of a file; one that is recorded already keeps its id.

    Raises:
        TaskstateError: the path leads out of the repository, the file is none, holds no text or fewer lines, or the
            excerpt holds what looks like a credential.
    """
    source = _required(source)
    text = _cut(read_text(workspace, source.path), source.lines, source.path)
    what = citation_place(source.path, source.lines)
    if not text.strip():
        raise TaskstateError(f"{what} holds nothing but blanks", help="cite lines that say something", code="empty")
    checked = secret_check.check(workspace, [text], request, what=what)

    def job(loaded: Loaded) -> Change[Excerpt]:
        told = _told(front_matter_values(loaded.document), loaded.state.id)
        new = _entry(told, source, hash_of(text), timestamp(request.stamp.now))
        kept = (artifacts.packed(loaded.state.id, _stem_of(new.id), text.encode(), _ENDING),)
        known = any(isinstance(each, dict) and each.get("id") == new.id for each in told)
        entries = [*told, *([] if known else [new._asdict()])]
        if len(entries) == len(told):
            return Change(text=loaded.document.text, kept=kept, result=new)
        longer = apply(loaded.document.text, set_front_matter(loaded.document, KEY, entries))
        longer, rolled = checked.remembered(workspace, longer)
        return Change(text=longer, before=rolled, kept=kept, result=new)

    outcome = change(workspace, task_id, job, request)
    added = outcome.result
    told = citation(added, task_id)
    notes = outcome.notes if outcome.changed else (f"{added.id} holds it already", told, *outcome.notes)
    return AddedExcerpt(outcome._replace(notes=notes, warnings=(*checked.warnings, *outcome.warnings)), added, told)


def _required(source: Source) -> Source:
    """Return a source in its plain form.

    Raises:
        TaskstateError: code "usage" or "path-escapes".
    """
    if len(source.type) > _MAX_TYPE or not re.fullmatch(_TYPE, source.type):
        help_ = f"one word that begins with a letter, such as plan, standard or log, of at most {_MAX_TYPE} characters"
        raise TaskstateError(f"{files.shown(source.type)!r} is no type of evidence", help=help_, code="usage")
    path = source.path.removeprefix("./")
    leads = escape_reason(path)
    if leads or not path.strip():
        what = f"the path {files.shown(path)!r} {leads or 'names no file'}"
        raise TaskstateError(
            what, help="write it from the repository's root, with / between parts", code="path-escapes"
        )
    return Source(source.type, path, _plain_lines(source.lines))


def _plain_lines(lines: str) -> str:
    if not lines:
        return ""
    match = re.fullmatch(_LINES, lines)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        what = f"{files.shown(lines)!r} is no range of lines"
        raise TaskstateError(what, help="write the first and the last, such as 5-7, counted from 1", code="usage")
    return f"{first}-{last}" if last > first else f"{first}"


def read_text(workspace: Workspace, relative: str) -> str:
    """Return the text of a file of the repository, its line ends as LF.

    Raises:
        TaskstateError: it leads out of the repository, is none, or holds no text.
    """
    path = files.inside(workspace.root, relative)
    if not os.path.lexists(path):
        what = f"there is no file {files.shown(relative)} in the repository"
        raise TaskstateError(what, help="write its path from the repository's root", code="not-found")
    data = files.read(path)
    text = decoded(data, files.shown(relative), advice="an excerpt is text: cite a text file, or convert it")
    if "\0" in text:
        what = f"{files.shown(relative)} holds zero bytes, so it is no text"
        raise TaskstateError(what, help="an excerpt is text: cite a text file", code="binary")
    return with_newlines(text, "\n")


def _cut(text: str, lines: str, path: str) -> str:
    """Return the lines of a text, joined by LF; without a range the whole of it.

    Raises:
        TaskstateError: code "lines": it has fewer.
    """
    if not lines:
        return text
    there = lines_of(text)
    first, last = range_of(lines)
    if last > len(there):
        what = f"{files.shown(path)} has {len(there)} lines, so there are no lines {lines}"
        raise TaskstateError(what, help="look at the file again", code="lines")
    return "\n".join(there[first - 1 : last])


def lines_of(text: str) -> list[str]:
    """Return the lines of a text; what follows its last line end is none if it is empty."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def range_of(lines: str) -> tuple[int, int]:
    """Return the first and the last of some lines, counted from 1."""
    first, last = lines.replace("L", "").partition("-")[::2]
    return int(first), int(last or first)


def hash_of(text: str) -> str:
    """Return the SHA-256 of an excerpt."""
    return files.digest(text.encode())


def _told(values: Mapping[str, object], task_id: str) -> list[object]:
    told = values.get(KEY)
    if told is not None and not isinstance(told, list):
        what = f"task {task_id}: `{KEY}` is no list"
        raise TaskstateError(what, help="mend it; `taskstate lint` says how", code="unreadable")
    return told or []


def _entry(told: Sequence[object], source: Source, sha256: str, now: str) -> Excerpt:
    """Return the entry that holds this excerpt already, or a new one with the next number of its type."""
    known = [each for each in map(_excerpt, told) if each]
    for each in known:
        if (each.type, each.path, each.lines or "", each.sha256) == (*source, sha256):
            return each
    numbers = (re.fullmatch(rf"(?i){re.escape(source.type)}-(\d{{1,9}})", each.id) for each in known)
    number = 1 + max((int(match[1]) for match in numbers if match), default=0)
    return Excerpt(f"{source.type}-{number}", source.type, source.path, source.lines or None, sha256, now)


def _excerpt(told: object) -> Excerpt | None:
    """Return an entry of the front matter; one that lacks its id, its path or its hash is none."""
    if not isinstance(told, dict):
        return None
    texts = {key: value if isinstance(value, str) else "" for key, value in told.items()}
    if not all(texts.get(key) for key in ("id", "path", "sha256")):
        return None
    lines = texts.get("lines") or None
    return Excerpt(texts["id"], texts.get("type", ""), texts["path"], lines, texts["sha256"], texts.get("added_at", ""))


def artifact_of(task_id: str, excerpt: Excerpt) -> str:
    """Return the path of the artifact that keeps the text of an excerpt, from the state folder."""
    return artifacts.path_for(task_id, _stem_of(excerpt.id), excerpt.sha256, _ENDING)


def _stem_of(excerpt_id: str) -> str:
    return f"evidence-{excerpt_id}"


def citation_place(path: str, lines: str | None) -> str:
    """Return a place as people write it, such as `docs/plan.md:5-7`."""
    return files.shown(f"{path}:{lines}" if lines else path)


def citation(excerpt: Excerpt, task_id: str) -> str:
    """Return the line by which a prompt cites an excerpt instead of holding it."""
    place = citation_place(excerpt.path, excerpt.lines)
    sha = excerpt.sha256[:_SHOWN_SHA]
    return f"[{excerpt.id}] {place} sha256:{sha} (`taskstate evidence show {task_id} {excerpt.id}`)"


# Those of a task


def listed(workspace: Workspace, task_id: str) -> tuple[Excerpt, ...]:
    """Return the excerpts of a task in the order in which they were added."""
    loaded = workspace.load(workspace.locate(task_id))
    told = _told(front_matter_values(loaded.document), loaded.state.id)
    return tuple(each for each in map(_excerpt, told) if each)


SAME, MOVED, CHANGED, GONE = "same", "moved", "changed", "gone"
_MOST_HASHED = 256 * 1024**2  # characters: half a second


class ExcerptStatus(NamedTuple):
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


def show(workspace: Workspace, task_id: str, excerpt_id: str) -> ExcerptStatus:
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
    return ExcerptStatus(excerpt, citation(excerpt, task_id), _masked(kept), state, lines, _masked(now), notes)


def _masked(text: str | None) -> str | None:
    return None if text is None else secrets.masked(text)


def _find(known: Sequence[Excerpt], excerpt_id: str, task_id: str) -> Excerpt:
    found = [each for each in known if each.id.casefold() == excerpt_id.casefold()]
    if found:
        return found[0]
    ids = [each.id for each in known]
    near = closest(excerpt_id, ids, cutoff=0.4)
    has = f"it has {', '.join(ids)}" if ids else f"`taskstate evidence add {task_id} --type T --path P` adds one"
    what = f"task {task_id} has no evidence {files.shown(excerpt_id)}"
    raise TaskstateError(what, help=f"did you mean {near}?" if near else has, code="not-found")


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

"""Cited excerpts: records lines of a file as evidence, and checks whether the file still contains them."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.messages import closest, counted, decoded
from taskstate.model.names import hashed_artifact
from taskstate.model.write_metadata import front_matter_values, set_front_matter, timestamp
from taskstate.secrets.mask import masked
from taskstate.storage import files, folders
from taskstate.syntax.edits import apply
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.paths import escape_reason
from taskstate.workspace import artifacts
from taskstate.writing import secret_check
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request


KEY = "evidence"
_MAX_TYPE = 32  # characters
_TYPE = r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*"
_LINES = r"L?(\d{1,9})(?:-L?(\d{1,9}))?"
_SHOWN_SHA = 16  # digits
_ENDING = ".txt"


class Source(NamedTuple):
    """What is cited: a type in one word, a path from the repository's root, and a line range (empty: all lines)."""

    type: str
    path: str
    lines: str = ""


class Excerpt(NamedTuple):
    """A cited excerpt as the front matter stores it; `lines` is None for the whole file."""

    id: str
    type: str
    path: str
    lines: str | None
    sha256: str
    added_at: str


def add(workspace: Workspace, task_id: str, source: Source, request: Request) -> Outcome[Excerpt]:
    """Record an excerpt of a file; one that is already recorded keeps its id.

    Raises:
        TaskstateError: the path leads out of the repository, there is no such file, it is not text or has fewer lines,
            or the excerpt contains what looks like a credential.
    """
    source = _checked_source(source)
    text = _cut(read_text(workspace, source.path), source.lines, source.path)
    place = citation_place(source.path, source.lines)
    if not text.strip():
        raise TaskstateError(f"{place} is empty", help="cite lines that say something", code="empty")
    checked = secret_check.check_text(workspace, [text], request, name=place)

    def job(loaded: Loaded) -> Change[Excerpt]:
        entries = _recorded_entries(front_matter_values(loaded.document), loaded.state.id)
        new = _entry(entries, source, hash_of(text), timestamp(request.metadata.now))
        artifact_files = (artifacts.content_addressed(loaded.state.id, _stem_of(new.id), text.encode(), _ENDING),)
        if any(isinstance(each, dict) and each.get("id") == new.id for each in entries):
            return Change(text=loaded.document.text, artifacts=artifact_files, result=new)
        changed = apply(loaded.document.text, set_front_matter(loaded.document, KEY, [*entries, new._asdict()]))
        changed, archive_plan = checked.with_event(workspace, changed)
        return Change(text=changed, before=archive_plan, artifacts=artifact_files, result=new)

    outcome = change(workspace, task_id, job, request)
    known = () if outcome.changed else (f"{outcome.result.id} holds it already", citation(outcome.result, task_id))
    return outcome._replace(notes=(*known, *outcome.notes), warnings=(*checked.warnings, *outcome.warnings))


def _checked_source(source: Source) -> Source:
    """Return the source in canonical form: no leading `./`, lines as `5` or `5-7`.

    Raises:
        TaskstateError: code "usage" or "path-escapes".
    """
    if len(source.type) > _MAX_TYPE or not re.fullmatch(_TYPE, source.type):
        help_ = f"one word that begins with a letter, such as plan, standard or log, of at most {_MAX_TYPE} characters"
        raise TaskstateError(f"{files.shown(source.type)!r} is not a type of evidence", help=help_, code="usage")
    path = source.path.removeprefix("./")
    problem = escape_reason(path)
    if problem or not path.strip():
        message = f"the path {files.shown(path)!r} {problem or 'names no file'}"
        raise TaskstateError(
            message, help="write it from the repository's root, with / between parts", code="path-escapes"
        )
    return Source(source.type, path, _canonical_lines(source.lines))


def _canonical_lines(lines: str) -> str:
    """Return a line range in canonical form: `5`, or `5-7`."""
    if not lines:
        return ""
    match = re.fullmatch(_LINES, lines)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        message = f"{files.shown(lines)!r} is not a range of lines"
        raise TaskstateError(message, help="write the first and the last, such as 5-7, counted from 1", code="usage")
    return _range(first, last)


def _range(first: int, last: int) -> str:
    return f"{first}-{last}" if last > first else f"{first}"


def read_text(workspace: Workspace, relative: str) -> str:
    """Return the text of a file of the repository, with LF line ends.

    Raises:
        TaskstateError: the path leads out of the repository, there is no such file, or it is not text.
    """
    path = files.resolved(workspace.root, relative)
    if not folders.exists(path):
        message = f"there is no file {files.shown(relative)} in the repository"
        raise TaskstateError(message, help="write its path from the repository's root", code="not-found")
    data = files.read(path, files.MAX_BYTES)
    text = decoded(data, files.shown(relative), advice="an excerpt is text: cite a text file, or convert it")
    if "\0" in text:
        message = f"{files.shown(relative)} holds zero bytes, so it is not a text file"
        raise TaskstateError(message, help="an excerpt is text: cite a text file", code="binary")
    return with_newlines(text, "\n")


def _cut(text: str, lines: str, path: str) -> str:
    """Return the given lines of a text, joined by LF; the whole text without a range.

    Raises:
        TaskstateError: code "lines": the text has fewer lines.
    """
    if not lines:
        return text
    text_lines = lines_of(text)
    first, last = range_of(lines)
    if last > len(text_lines):
        message = f"{files.shown(path)} has {counted(len(text_lines), 'line')}, so there are no lines {lines}"
        raise TaskstateError(message, help="look at the file again", code="lines")
    return "\n".join(text_lines[first - 1 : last])


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, without an empty one after the last line end."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def range_of(lines: str) -> tuple[int, int]:
    """Return the first and last line number of a range, counted from 1."""
    first, last = lines.replace("L", "").partition("-")[::2]
    return int(first), int(last or first)


def is_range(lines: str) -> bool:
    """Return whether a text is a range of lines, such as `5-7` or `L5-L7`."""
    return re.fullmatch(r"L?[1-9]\d{0,8}(?:-L?[1-9]\d{0,8})?", lines) is not None


def hash_of(text: str) -> str:
    """Return the SHA-256 of an excerpt's text."""
    return files.digest(text.encode())


def _recorded_entries(values: Mapping[str, object], task_id: str) -> list[object]:
    """Return the recorded excerpts of a front matter, as they stand there."""
    entries = values.get(KEY)
    if entries is not None and not isinstance(entries, list):
        message = f"task {task_id}: `{KEY}` is not a list"
        raise TaskstateError(message, help="fix it; `taskstate lint` says how", code="unreadable")
    return entries or []


def _entry(entries: Sequence[object], source: Source, sha256: str, now: str) -> Excerpt:
    """Return the recorded entry of this excerpt, or a new one with the next number of its type."""
    excerpts = [each for each in map(_excerpt, entries) if each]
    for each in excerpts:
        if (each.type, each.path, each.lines or "", each.sha256) == (*source, sha256):
            return each
    numbers = (re.fullmatch(rf"(?i){re.escape(source.type)}-(\d{{1,9}})", each.id) for each in excerpts)
    number = 1 + max((int(match[1]) for match in numbers if match), default=0)
    return Excerpt(f"{source.type}-{number}", source.type, source.path, source.lines or None, sha256, now)


def _excerpt(entry: object) -> Excerpt | None:
    """Return an entry of the front matter as a record, or None where its id, path or hash is missing."""
    if not isinstance(entry, dict):
        return None
    texts = {key: value if isinstance(value, str) else "" for key, value in entry.items()}
    if not all(texts.get(key) for key in ("id", "path", "sha256")):
        return None
    lines = texts.get("lines") or None
    return Excerpt(texts["id"], texts.get("type", ""), texts["path"], lines, texts["sha256"], texts.get("added_at", ""))


def artifact_of(task_id: str, excerpt: Excerpt) -> str:
    """Return the path, from the state folder, of the artifact that keeps an excerpt's text."""
    return hashed_artifact(task_id, _stem_of(excerpt.id), excerpt.sha256, _ENDING)


def _stem_of(excerpt_id: str) -> str:
    return f"evidence-{excerpt_id}"


def citation_place(path: str, lines: str | None) -> str:
    """Return a location as people write it, such as `docs/plan.md:5-7`."""
    return files.shown(f"{path}:{lines}" if lines else path)


def citation(excerpt: Excerpt, task_id: str) -> str:
    """Return the line that cites an excerpt in a prompt, in place of its text."""
    place = citation_place(excerpt.path, excerpt.lines)
    sha = excerpt.sha256[:_SHOWN_SHA]
    return f"[{excerpt.id}] {place} sha256:{sha} (`taskstate evidence show {task_id} {excerpt.id}`)"


# The excerpts of a task


def listed(workspace: Workspace, task_id: str) -> tuple[Excerpt, ...]:
    """Return the excerpts of a task, in the order in which they were added."""
    loaded = workspace.load(workspace.locate(task_id))
    entries = _recorded_entries(front_matter_values(loaded.document), loaded.state.id)
    return tuple(each for each in map(_excerpt, entries) if each)


SAME, MOVED, CHANGED, GONE = "same", "moved", "changed", "gone"
_MAX_HASHED = 256 * 1024**2  # characters, about half a second of hashing


class ExcerptStatus(NamedTuple):
    """An excerpt compared with its source.

    `state` is one of SAME, MOVED, CHANGED, GONE. `text` is None where no artifact keeps it here and the source no
    longer contains it. `lines` and `now` are the lines and the text at which the source is compared: the new lines of a
    moved excerpt, or the text that replaced it.
    """

    excerpt: Excerpt
    citation: str
    text: str | None
    state: str
    lines: str | None
    now: str | None
    notes: tuple[str, ...]


def show(workspace: Workspace, task_id: str, excerpt_id: str) -> ExcerptStatus:
    """Return an excerpt compared with its source; what looks like a credential is masked in both.

    Raises:
        TaskstateError: code "not-found": the task has no such excerpt.
    """
    return _compared(workspace, task_id, _find(listed(workspace, task_id), excerpt_id, task_id))


def show_all(workspace: Workspace, task_id: str) -> tuple[ExcerptStatus, ...]:
    """Return all excerpts of a task, each compared with its source, as `show` returns one."""
    return tuple(_compared(workspace, task_id, each) for each in listed(workspace, task_id))


def _compared(workspace: Workspace, task_id: str, excerpt: Excerpt) -> ExcerptStatus:
    text, notes = _kept(workspace, task_id, excerpt)
    source, source_notes = _source(workspace, excerpt)
    notes = (*notes, *source_notes)
    state, lines = state_in(source, excerpt, text)
    now = _now(source, lines)
    if state in {SAME, MOVED}:
        text, now = now, None
    return ExcerptStatus(excerpt, citation(excerpt, task_id), _masked(text), state, lines, _masked(now), notes)


def state_in(source: str | None, excerpt: Excerpt, kept: str | None = None) -> tuple[str, str | None]:
    """Return how an excerpt compares with the text of its source (None: it is gone), and the lines that hold it now.

    `kept` is the text of the excerpt, where it is known.
    """
    if source is None:
        return GONE, excerpt.lines
    now = _now(source, excerpt.lines)
    if now is not None and hash_of(now) == excerpt.sha256:
        return SAME, excerpt.lines
    moved_to = _moved(source, kept, excerpt) if excerpt.lines else None
    return (MOVED, moved_to) if moved_to else (CHANGED, excerpt.lines)


def _masked(text: str | None) -> str | None:
    return None if text is None else masked(text)


def _find(excerpts: Sequence[Excerpt], excerpt_id: str, task_id: str) -> Excerpt:
    matches = [each for each in excerpts if each.id.casefold() == excerpt_id.casefold()]
    if matches:
        return matches[0]
    ids = [each.id for each in excerpts]
    near = closest(excerpt_id, ids, cutoff=0.4)
    hint = f"it has {', '.join(ids)}" if ids else f"`taskstate evidence add {task_id} --type T --path P` adds one"
    message = f"task {task_id} has no evidence {files.shown(excerpt_id)}"
    raise TaskstateError(message, help=f"did you mean {near}?" if near else hint, code="not-found")


def _kept(workspace: Workspace, task_id: str, excerpt: Excerpt) -> tuple[str | None, tuple[str, ...]]:
    """Return the text of the excerpt's artifact, or None with a note where it is missing or does not match the hash."""
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
    """Return the text of the excerpt's source file, or None with the reason why it cannot be read."""
    try:
        if not folders.exists(files.resolved(workspace.root, excerpt.path)):
            return None, ()
        return read_text(workspace, excerpt.path), ()
    except TaskstateError as error:
        return None, (error.message,)


def _now(source: str | None, lines: str | None) -> str | None:
    """Return the text that the source has at the excerpt's lines, as many as there are."""
    if source is None or not lines:
        return source
    first, last = range_of(lines)
    return "\n".join(lines_of(source)[first - 1 : last])


def _moved(source: str, kept: str | None, excerpt: Excerpt) -> str | None:
    """Return the first lines of the source that hold the excerpt, or None.

    Where its text is not kept here, as in another clone, every run of as many lines is compared by hash.
    """
    if not kept:
        return _found_by_hash(source, excerpt)
    start = f"\n{source}\n".find(f"\n{kept}\n")
    if start < 0:
        return None
    first = source.count("\n", 0, start) + 1
    return _range(first, first + kept.count("\n"))


def _found_by_hash(source: str, excerpt: Excerpt) -> str | None:
    """Return the first lines of the source whose hash is the excerpt's, or None."""
    first, last = range_of(excerpt.lines or "1")
    lines, count = lines_of(source), last - first + 1
    places = max(len(lines) - count + 1, 0)
    # Hashing every window costs about length * windows; beyond the limit the excerpt counts as not found.
    if len(source) * min(count, places) > _MAX_HASHED:
        return None
    for start in range(places):
        if hash_of("\n".join(lines[start : start + count])) == excerpt.sha256:
            return _range(start + 1, start + count)
    return None

"""Finds state files that are damaged: nothing is built on them, and nobody reads them as if they were whole.

A file is damaged if it cannot be parsed, holds merge conflicts, or holds less than it says: fewer sessions than it
counts, an archive that is gone, a section gone that the last write still had.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from contextlib import closing, suppress
from functools import lru_cache

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import counted, first_of, typed_path
from taskstate.model.derived_values import COUNTS, session_counts
from taskstate.model.document_kinds import kind_of, section_key
from taskstate.model.names import own_id
from taskstate.model.progress_log import session_number
from taskstate.syntax.conflict_markers import OURS, find_conflicts
from taskstate.syntax.escaping import is_blank, is_none
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from taskstate.error_codes import ErrorCode
    from taskstate.model.task_state import TaskState
    from taskstate.storage.kept_records import KeptRecord
    from taskstate.syntax.document import Document, Section
    from taskstate.workspace.task_index import IndexedTask
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.ledger import Entry

CODE: ErrorCode = "damaged"
CODES: frozenset[ErrorCode] = frozenset({CODE, "not-utf8"})  # of errors about a damaged file
# A heading in a fence counts, too: this finds what is missing, and never more than is.
_TITLE = r"\ufeff?# Task #(\S+) Archive\b"
_NOT_UTF8 = "\ufffe"
# Looked for in an archive with a line end before it: one begins with its title, and `(?m)^` takes ten times as long.
_LISTED = r"\n- (\d{1,9}): [0-9a-f]{64}(?=\r?(?:\n|\Z))"
_ARCHIVED = r"\n## Session (\d{1,9})\b"


def damage_of(workspace: Workspace, loaded: Loaded, *, alone: bool = False) -> str:
    """Return in one line how a state file is damaged, with its path; empty if it is whole.

    `alone` judges it by itself, for commands that read all tasks: what the archive and the last write show is told of
    the tasks that commands have written here in any case (`told`).
    """
    # A conflict in the front matter makes it unreadable: what is to be done is to resolve it.
    found = next(iter([*_conflicts(loaded), *_unreadable(loaded)] or _shortened(workspace, loaded, alone=alone)), "")
    return f"{loaded.relative} is damaged: {found}" if found else ""


def damage_at(workspace: Workspace, path: Path) -> str:
    """Return how the state file at `path` is damaged, with the ways out; empty if it is whole or is not there."""
    try:
        loaded = workspace.load(path)
    except TaskstateError as error:
        return str(error) if error.code in CODES else ""
    found = damage_of(workspace, loaded)
    return f"{found}: {advice(workspace, loaded)}" if found else ""


def why_unread(workspace: Workspace, tasks: Iterable[IndexedTask]) -> tuple[str, ...]:
    """Return why state files of which the index has nothing could not be read, with the ways out."""
    return tuple(damage_at(workspace, workspace.root / each.path) or each.problem for each in tasks if each.problem)


def require_undamaged(workspace: Workspace, loaded: Loaded) -> None:
    """Refuse to change a damaged state file.

    Raises:
        TaskstateError: code "damaged".
    """
    damage = damage_of(workspace, loaded)
    if damage:
        raise TaskstateError(damage, help=advice(workspace, loaded), code=CODE)


def require_readable(workspace: Workspace, loaded: Loaded) -> None:
    """Refuse to answer out of a state file of which nothing can be counted.

    Raises:
        TaskstateError: code "damaged".
    """
    if is_unreadable(loaded):
        raise TaskstateError(damage_of(workspace, loaded), help=advice(workspace, loaded), code=CODE)


def advice(workspace: Workspace, loaded: Loaded) -> str:
    """Return the ways out for a damaged file; one that cannot be parsed cannot be accepted as it is."""
    from taskstate.model.older_sections import is_older

    is_kept = had_front_matter(workspace, loaded.relative, loaded.state.id)
    if is_older(loaded.document) and not is_kept:
        return f"`taskstate migrate {typed_path(loaded.relative)}` brings a file of an older form into the present one"
    if conflict_line(loaded):
        decide = "keep the right lines, and delete the markers"
        if OURS.rstrip() in loaded.document.text:  # our merge has left only what has to be decided
            return decide
        return f"{decide}, or run `taskstate doctor --fix`, which merges both sides where nothing has to be decided"
    if is_unreadable(loaded):
        more = "which brings the last good text back"
        return (
            f"fix it by hand, or run `taskstate doctor --fix`, {more}"
            if is_kept
            else "fix it; `taskstate lint` says how"
        )
    if next(_without_heading(loaded), ""):
        return f"`taskstate lint --fix --unsafe-fixes {typed_path(loaded.relative)}` writes the heading as it has to be"
    back = "`taskstate doctor --fix` brings back what is missing, " if is_kept else ""
    return f"{back}`taskstate doctor --let-go {loaded.state.id}` accepts the file as it is"


def had_front_matter(workspace: Workspace, relative: str, task_id: str) -> bool:
    """Return whether a file had a readable front matter before: one that a command wrote here, or that HEAD has."""
    from taskstate.storage import kept_records
    from taskstate.syntax.document import parse_head
    from taskstate.writing.ledger import newest_entry

    if newest_entry(kept_records.records(workspace.private)[0], task_id.casefold()):
        return True
    from taskstate.workspace.git_past import head_of, name_at, objects_of

    with suppress(GitFailed), objects_of(workspace) as objects:
        committed = objects.read(name_at(workspace, head_of(workspace), relative)) or b""
        return "taskstate" in parse_head(committed.decode("utf-8", "replace")).front_matter
    return False


def is_unreadable(loaded: Loaded) -> bool:
    """Return whether a state file cannot be parsed, or holds merge conflicts: then nothing in it can be counted."""
    return bool(_unreadable(loaded) or _conflicts(loaded))


def unread_part(loaded: Loaded) -> str:
    """Return in one line what part of a state file does not parse, with the way out; empty where all of it does."""
    if not loaded.state.problems:
        return ""
    problem = loaded.state.problems[0]
    line = loaded.document.position(problem.span.start).line + 1
    return f"{loaded.relative}, line {line}: {problem.message}: fix it; `taskstate lint` says how"


def _unreadable(loaded: Loaded) -> list[str]:
    document = loaded.document
    if not document.text.strip(" \t\r\n\0\ufeff"):
        return ["it is empty"]
    if document.front_matter and "\0" not in document.text:
        return []
    problems = [problem for problem in document.problems if problem.kind.startswith("front-matter-")]
    line = document.position(problems[0].span.start).line + 1 if problems else 1
    if "\0" in document.text:
        return ["it holds NUL characters"]
    return [f"line {line}: {problems[0].message if problems else 'the front matter is empty'}"]


def conflict_line(loaded: Loaded) -> int:
    """Return the line of a merge conflict outside of code fences, or in one that holds data of ours; 0 if none is."""
    document = loaded.document
    fences = [block for block in document.blocks if block.kind == "fence" and block.text.strip().lower() != "json"]
    for conflict in find_conflicts(document.text):
        index = bisect_right(fences, conflict.span.start, key=lambda block: block.span.start) - 1
        if index < 0 or fences[index].span.end <= conflict.span.start:
            return document.position(conflict.span.start).line + 1
    return 0


def _conflicts(loaded: Loaded) -> list[str]:
    line = conflict_line(loaded)
    return [f"line {line}: it holds a merge conflict"] if line else []


def _shortened(workspace: Workspace, loaded: Loaded, *, alone: bool) -> Iterator[str]:
    """Yield in what the file, with its archive, holds less than it says."""
    state, values = loaded.state, loaded.document.front_matter
    yield from _without_heading(loaded)
    if own_id(loaded.relative) not in {"", state.id.casefold()}:  # whose the archive is, is not known
        return
    said, is_short = _counted(loaded), needs_archive(loaded)
    path = workspace.archive_path(state.id)
    try:
        archive = _read(workspace, path) if is_short or (state.archived and not alone) else ""
    except TaskstateError as error:  # it is a link, a folder or a FIFO, or the system refuses
        yield f"its archive cannot be read: {error.message}"
        return
    if state.archived and not alone and values.get("archive_path"):
        yield from _archive_faults(path, archive, state, "" if archive else _absence(workspace, path))
    yield from _archive_gaps(path, archive, state)
    if is_short:
        yield from _sessions_missing(said, archive, state)
    if not alone:
        yield from _sections_missing(workspace, loaded)


def needs_archive(loaded: Loaded) -> bool:
    """Return whether a state file counts more sessions than it accounts for: its archive shows if they are there."""
    return _counted(loaded) > session_counts(loaded.state).total


def _counted(loaded: Loaded) -> int:
    """Return how many sessions a state file says there are, 0 where it does not say."""
    counts = loaded.document.front_matter.get(COUNTS)
    said = counts.get("total") if isinstance(counts, dict) else None
    return said if isinstance(said, int) else 0


def _without_heading(loaded: Loaded) -> Iterator[str]:
    """Yield which required sections stand there under another heading, or under none."""
    if all(spec.key in loaded.state.parts for spec in kind_of(loaded.document).sections if spec.required):
        return
    from taskstate.model.lost_headings import lost_contents

    for each in lost_contents(loaded.document, kind_of(loaded.document)):
        at = each.section.span.start if each.is_renamed else each.at
        what = f"{each.spec.name} is missing, and its content is in {each.section.title!r}"
        yield f"line {loaded.document.position(at).line + 1}: the section {what}"


def is_foreign(archive: bytes, task_id: str) -> bool:
    """Return whether the title of an archive file names another task."""
    title = re.match(_TITLE, archive.decode("utf-8", "replace"))
    return title is not None and title[1].casefold() != task_id.casefold()


def _absence(workspace: Workspace, path: str) -> str:
    """Return why there is no archive file."""
    is_left_out = f"{workspace.config.root}/{path}" in workspace.left_out
    return "is left out of this sparse checkout" if is_left_out else "is gone"


def _archive_faults(path: str, archive: str, state: TaskState, absence: str) -> Iterator[str]:
    """Yield why the text of a task's archive cannot be that of a whole one."""
    faults = {
        "is another task's": is_foreign(archive.encode(), state.id),
        absence: not archive,
        "holds NUL characters": "\0" in archive,
        "is not UTF-8": _NOT_UTF8 in archive,
        "holds a merge conflict": _signs_of(archive).conflict,
    }
    what_for = f"and its summary covers the sessions up to {state.archived}"
    yield from (f"its archive {path} {fault}, {what_for}" for fault, is_there in faults.items() if is_there)


def _archive_gaps(path: str, archive: str, state: TaskState) -> Iterator[str]:
    """Yield which sessions an archive lacks that it, or the task's summary, says it holds."""
    held, listed, _ = _signs_of(archive)
    if listed - held:
        from taskstate.model.archive_format import batch_contents

        batches = (set(batch.numbers) - {each.number for each in batch.entries} for batch in batch_contents(archive))
        yield from (f"its archive {path} lacks session {number}" for number in sorted(set().union(*batches)))
    if held and max(held) < state.archived:
        yield f"its archive {path} ends with session {max(held)}"


def _sessions_missing(said: int, archive: str, state: TaskState) -> Iterator[str]:
    """Yield that fewer sessions are there than the file counts."""
    held = len(_signs_of(archive).held.union(session.number for session in state.sessions))
    if said > held:
        yield missing_sessions(said, held)


def missing_sessions(said: int, held: int) -> str:
    """Return the words for a file that counts more sessions than there are."""
    missing = said - held
    return f"{missing} of the {counted(said, 'session')} that it counts {'is' if missing == 1 else 'are'} missing"


class _Signs(NamedTuple):
    """What the text of an archive shows: the sessions that it has, those that it lists, and if it is in conflict."""

    held: frozenset[int]
    listed: frozenset[int]
    conflict: bool


@lru_cache(maxsize=4)  # each write asks for them, and few of many in a process change the archive
def _signs_of(archive: str) -> _Signs:
    held, listed = (frozenset(map(int, re.findall(each, f"\n{archive}"))) for each in (_ARCHIVED, _LISTED))
    return _Signs(held, listed, bool(find_conflicts(archive)))


def _read(workspace: Workspace, relative: str) -> str:
    """Return a text; a character stands for bytes that are not UTF-8 which no file of ours may contain."""
    path = workspace.state_root / relative
    data = workspace.source.read(path) if workspace.source.size(path) else b""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace") + _NOT_UTF8


def _sections_missing(workspace: Workspace, loaded: Loaded) -> Iterator[str]:
    """Yield that sections are gone."""
    gone = _sections_gone(workspace, loaded)
    if gone:
        yield f"{first_of(gone, 3)} {'is' if len(gone) == 1 else 'are'} gone, which the last write still had"


def _sections_gone(workspace: Workspace, loaded: Loaded) -> list[str]:
    """Return the sections that the last write of this text had and that are not there any more."""
    from taskstate.storage import kept_records
    from taskstate.writing.ledger import read_entry, stamp_of

    task_id, stamp = loaded.state.id.casefold(), stamp_of(loaded.state)
    present = {section_key(section.title) for section in loaded.document.sections}
    own = [each for each in reversed(kept_records.records(workspace.private)[0]) if task_id in each.ids]
    read = ((entry, record) for record in own if (entry := read_entry(record, task_id)))
    same = ((entry, record) for entry, record in read if entry.stamp == stamp)
    newest = next(same, None)
    if newest is None:
        return _sections_only_in_head(workspace, loaded, stamp)
    if present.issuperset(newest[0].sections):
        return []
    # Two writes of one second, on two branches, may have one stamp: the file is of the one of which it has most.
    lines = set(loaded.document.text.splitlines())
    texts = [(entry, _text_of(record, entry)) for entry, record in (newest, *same)]
    entry, text = max(texts, key=lambda each: len(lines.intersection(each[1].splitlines())))
    return [name for name in _said_in(loaded, text, entry) if name not in present]


def _text_of(record: KeptRecord, entry: Entry) -> str:
    """Return the state file that a write left, as its record has it; empty where it cannot be read."""
    from taskstate.writing.ledger import written

    with suppress(TaskstateError, ValueError):
        texts = (data for path, _, data in written(record.plan()) if path == entry.path and data)
        return next(texts, b"").decode("utf-8", "replace")
    return ""


def _said_in(loaded: Loaded, text: str, entry: Entry) -> tuple[str, ...]:
    """Return the sections that a write left with words in them, and the last such part: a placeholder is no loss.

    It is the last part that a file which is cut off lacks.
    """
    from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL

    document = loaded.document.with_text(text)
    if not document.sections:
        return entry.sections
    said = [each for each in document.sections if _says_something(document, each)]
    parts = [each for each in said if each.level == PART_LEVEL][-1:]
    last = [section_key(each.title) for each in parts if session_number(each.title) is None]
    return (*dict.fromkeys(section_key(each.title) for each in said if each.level == SECTION_LEVEL), *last)


def _says_something(document: Document, section: Section) -> bool:
    """Return whether a section, or a part of it, holds more than a placeholder."""
    kind = kind_of(document)
    texts = [each.own.of(document.text) for each in (section, *document.children(section))]
    return not all(is_blank(text) or is_none(text) or kind.is_placeholder(text) for text in texts)


def _sections_only_in_head(workspace: Workspace, loaded: Loaded, stamp: str) -> list[str]:
    """Return the required sections that HEAD has after the same write, where no command has written here yet."""
    from taskstate.model.task_state import read_state
    from taskstate.storage.git import client as git
    from taskstate.writing.ledger import stamp_of

    state = loaded.state
    required = (each.key for each in kind_of(state.document).sections if each.required)
    gone = [key for key in required if key not in state.parts]
    if not gone:
        return []
    with suppress(GitFailed), closing(git.Objects(workspace.root)) as objects:
        before = read_state(
            loaded.document.with_text((objects.read(f"HEAD:./{loaded.relative}") or b"").decode("utf-8", "replace"))
        )
        held = [key for key in gone if key in before.parts and stamp_of(before) == stamp]
        return [key for key in held if _says_something(before.document, before.parts[key])]
    return []

"""Moves older sessions of a task into its archive file, each in full, and leaves a summary in their place.

The archive only grows, batch by batch, and only its last lines are read for that. Before anything is written it is
checked that every session stands in exactly one of the two files afterwards, with the same text.
"""

from __future__ import annotations

import posixpath
from contextlib import suppress
from itertools import pairwise

from taskstate.errors import TaskstateError
from taskstate.messages import counted, one_line
from taskstate.model.archive_format import ENTRY_LEVEL, entry_hash, layout_lines, read_batches
from taskstate.model.derived_values import exceeded, how_to_shorten, is_too_large, largest_parts
from taskstate.model.progress_log import session_of
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter, timestamp
from taskstate.storage import files, journal
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span, size_in_bytes, trimmed, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.archive_file import ArchiveFile, read_archive
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from taskstate.error_codes import ErrorCode
    from taskstate.model.config import Config
    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

# Codes of what keeps sessions from the archive, and nothing else.
NOT_ARCHIVABLE: frozenset[ErrorCode] = frozenset({"session-order", "unsafe"})


class Summarizing(NamedTuple):
    """Which program writes the summary, "" for the built-in one, and notes on why it is that one."""

    command: str = ""
    notes: tuple[str, ...] = ()


BUILT_IN = Summarizing()


def configured_summarizing(workspace: Workspace, *, dry_run: bool) -> Summarizing:
    """Return the program of the configuration, or the built-in summary where it may not run, as in a dry run."""
    command = workspace.config.archive.summarizer
    if not command:
        return BUILT_IN
    if dry_run:
        return Summarizing(notes=("a dry run does not start the configured summarizer: this is the built-in summary",))
    from taskstate.workspace import allowed_commands

    granted = allowed_commands.read_grants(workspace.root)
    if granted.allows(allowed_commands.Command("program", command)):
        return Summarizing(command)
    why = f" ({granted.problem})" if granted.problem else ""
    note = (
        f"warning: the summarizer {files.shown(one_line(command, 80))!r} of the configuration was not run: nobody has "
        f"allowed it here{why}; the built-in summary was used, and `taskstate trust` allows it"
    )
    return Summarizing(notes=(note,))


def archive_sessions(  # noqa: PLR0913 - which task, who, how much, how, by which program
    workspace: Workspace,
    task_id: str,
    request: Request,
    *,
    keep: int,
    force: bool = False,
    summarizing: Summarizing | None = None,
) -> Outcome:
    """Archive all but the newest `keep` sessions of a task that is over the limit, or with `force` of any task.

    Without `summarizing` the configuration names the program that writes the summary.
    """
    reason = f"asked for (--force --keep {keep})" if force else limit_reason(workspace.config)
    summarizing = summarizing or configured_summarizing(workspace, dry_run=request.dry_run)

    def job(loaded: Loaded) -> Change:
        text = loaded.document.text
        if not force and not is_too_large(text, workspace.config.size):
            note = f"task {loaded.state.id} is within the limit; --force archives anyway"
            return Change(text=text, notes=(note,))
        return plan_archive(
            workspace, loaded.relative, text, request, keep=keep, reason=reason, summarizing=summarizing
        )

    if summarizing.command:
        rehearse(workspace, task_id, job)
    return change(workspace, task_id, job, request._replace(even_dropped=True))


def limit_reason(config: Config) -> str:
    """Return the reason that the archive file records when a state file was over the limit."""
    tokens = f" or {config.size.max_tokens} tokens" if config.size.max_tokens else ""
    return f"over {config.size.max_kb} KB{tokens}"


def plan_archive(  # noqa: PLR0913 - what, where, when, how much, why, by which program
    workspace: Workspace,
    relative: str,
    text: str,
    request: Request,
    *,
    keep: int,
    reason: str,
    summarizing: Summarizing = BUILT_IN,
) -> Change:
    """Return the change that moves all but the newest `keep` sessions of the state file `text` into the archive."""
    state = read_state(parse(text, workspace.kinds))
    archived = state.sessions[:-keep] if keep else state.sessions
    if not archived:
        return Change(text=text, notes=(nothing_to_archive(state, workspace.config, keep),))
    archive = read_archive(workspace, state.id)
    _require_order(state, archive)
    link = link_to(archive.path, relative)
    now = timestamp(request.metadata.now)
    entries = _entries(state, archived)
    newline = state.document.newline
    hashes = {each.number: entry_hash(each.section.span.of(each.document.text)) for each in archived}
    closing = trailer(
        entries, hashes, reason=reason, now=now, newline=newline, more=_layout_lines(state, archived, entries)
    )
    batch = entries.rstrip("\r\n") + newline * 2 + closing
    if summarizing.command:
        from taskstate.archive.external_summarizer import Summarizer

        summary, warnings = Summarizer(summarizing.command, workspace.root).summary(state, archived, link)
    else:
        from taskstate.archive.summary import summarise  # most writes archive nothing

        summary, warnings = summarise(state, archived, link), summarizing.notes
    remaining = _without(state, archived, summary)
    archive_path = workspace.archive_path(state.id)
    remaining = apply(remaining, set_front_matter(parse(remaining, workspace.kinds), "archive_path", archive_path))
    _require_complete(state, archived, remaining, entries)
    head = newline if archive.size else f"# Task #{state.id} Archive - Full Session History{newline}{newline}"
    data = (head + batch).encode()
    operation = (
        journal.Create(archive.path, data) if archive.size is None else journal.Append(archive.path, archive.size, data)
    )
    note = f"{named_sessions(archived[0].number, archived[-1].number)} went into {archive.path}"
    return Change(
        text=remaining,
        before=(operation,),
        notes=(note, *warnings, *_still_over(read_state(parse(remaining, workspace.kinds)), workspace.config)),
    )


def link_to(archive: str, relative: str) -> str:
    """Return the link by which the state file at a path names its archive."""
    return posixpath.relpath(archive, posixpath.dirname(relative)).replace(" ", "%20")


def named_sessions(first: int, last: int) -> str:
    """Return words for the sessions between two numbers."""
    return f"session {first}" if first == last else f"sessions {first}-{last}"


def rehearse(workspace: Workspace, task_id: str, job: Callable[[Loaded], Change]) -> None:
    """Run a job once without the lock, for one that has an external program write the summary.

    Its answer is cached, so that the job under the lock does not make other writers wait for the program.
    """
    with suppress(TaskstateError):  # the job under the lock raises it again
        job(workspace.load(workspace.locate(task_id)))


def nothing_to_archive(state: TaskState, config: Config, keep: int) -> str:
    """Return the message for a task in which no session can be archived."""
    kept = f"{keep} {'is' if keep == 1 else 'are'} kept"
    message = f"task {state.id} has {counted(len(state.sessions), 'session')}, and {kept}: nothing to archive"
    less = f"`taskstate archive {state.id} --force --keep 1` leaves only the newest here"
    shorter = (less,) if min(len(state.sessions), keep) > 1 else ()
    return "; ".join((message, *(_still_over(state, config) or shorter)))


def _still_over(state: TaskState, config: Config) -> tuple[str, ...]:
    """Return a note where a file is still over the limit after archiving, else nothing."""
    excess = exceeded(state.size, kb=config.size.max_kb, tokens=config.size.max_tokens)
    if not excess:
        return ()
    left = f"the file still has {excess}: what is left is too large to archive; the largest: {largest_parts(state)}"
    return (f"{left}; {how_to_shorten(state, state.id)}",)


def _require_order(state: TaskState, archive: ArchiveFile) -> None:
    """Refuse sessions whose numbers do not rise above the archived ones: a number must never name two sessions."""
    numbers = [max(archive.last, state.archived), *(session.number for session in state.sessions)]
    for before, after in pairwise(numbers):
        if after <= before:
            raise TaskstateError(
                f"task {state.id}: session {after} comes after session {before}",
                help="run `taskstate lint` and give the sessions rising numbers first",
                code="session-order",
            )


def _entries(state: TaskState, archived: tuple[Session, ...]) -> str:
    """Return the replaced summary and the sessions for the archive, byte for byte but for the level of headings."""
    sections = ([state.summary.section] if state.summary else []) + [session.section for session in archived]
    return "".join(section.span.of(state.document.text).replace("###", "##", 1) for section in sections)


def _layout_lines(state: TaskState, archived: tuple[Session, ...], entries: str) -> list[str]:
    """Return the trailer lines that record where the sessions stood, unless they followed the summary in a row."""
    spans = [session.section.span for session in archived]
    summary = state.summary.section.span if state.summary else Span(spans[0].start, spans[0].start)
    origin = summary.start - sum(span.end - span.start for span in spans if span.start < summary.start)
    offsets, removed = [], 0
    for span in spans:
        offsets.append(span.start - removed - origin)
        removed += span.end - span.start
    return layout_lines(entries, offsets, usual=summary.end - summary.start, newline=state.document.newline)


def trailer(  # noqa: PLR0913 - the lines of a trailer
    entries: str, hashes: Mapping[int, str], *, reason: str, now: str, newline: str, more: Sequence[str] = ()
) -> str:
    """Return the trailer of a batch: its sessions, the size of its entries in bytes, and a hash of each entry."""
    numbers = list(hashes)
    lines = [
        "---",
        "",
        f"Archived on: {now}",
        f"Reason: {reason}",
        f"Sessions archived: {numbers[0]}-{numbers[-1]}",
        f"Size: {size_in_bytes(entries)} bytes",
        *more,
        "Entries SHA-256:",
        "",
        *(f"- {number}: {sha}" for number, sha in hashes.items()),
        "",
    ]
    return newline.join(lines)


def _without(state: TaskState, archived: tuple[Session, ...], summary: str) -> str:
    """Return the state file with `summary` in place of the archived sessions and the earlier summary."""
    newline = state.document.newline
    at = state.summary.section.span.start if state.summary else archived[0].section.span.start
    edits = [Edit(session.section.span.start, session.section.span.end, "") for session in archived]
    edits.append(
        Edit(at, state.summary.section.span.end if state.summary else at, with_newlines(summary, newline) + newline * 2)
    )
    return apply(state.document.text, edits)


def _require_complete(state: TaskState, archived: tuple[Session, ...], remaining: str, entries: str) -> None:
    """Check that every session would stand in exactly one of the two files, with the same text.

    Raises:
        TaskstateError: code "unsafe".
    """
    before = ([state.summary.span.of(state.document.text)] if state.summary else []) + [
        session.entry for session in archived
    ]
    in_archive = [
        trimmed(entries, section.span).of(entries)
        for section in parse(entries).sections
        if section.level == ENTRY_LEVEL
    ]
    expected = [(session.number, session.entry) for session in state.sessions[len(archived) :]]
    after = read_state(state.document.with_text(remaining))
    stays = after.summary is not None and [(session.number, session.entry) for session in after.sessions] == expected
    if not stays or [entry.replace("##", "###", 1) for entry in in_archive] != before:
        raise TaskstateError(
            f"task {state.id} cannot be archived safely: its sessions would not read the same afterwards",
            help="run `taskstate lint` on the file and fix what it finds first",
            code="unsafe",
        )


def archived_sessions(workspace: Workspace, task_id: str) -> tuple[Session, ...]:
    """Return the sessions in a task's archive file, oldest first; none where there is no file."""
    path = workspace.state_root / workspace.archive_path(task_id)
    if files.size(path) is None:
        return ()
    return sessions_in(files.read(path).decode("utf-8", errors="replace"))


def sessions_in(text: str) -> tuple[Session, ...]:
    """Return the sessions in the text of an archive file, oldest first."""
    documents = map(parse, read_batches(text))
    entries = ((each, section) for each in documents for section in each.sections if section.level == ENTRY_LEVEL)
    return tuple(session for entry in entries if (session := session_of(*entry)))


class OverLimit(NamedTuple):
    """Tasks over the limit: the ids of those that archiving makes smaller, notes on the others, and reading errors."""

    ids: list[str]
    notes: list[str]
    errors: tuple[str, ...]


def tasks_over_limit(workspace: Workspace, paths: Collection[Path], *, keep: int = 0, force: bool = False) -> OverLimit:
    """Return the tasks over the limit, or with `force` all, of which those with more than `keep` sessions are named."""
    over, notes, errors = list[str](), list[str](), []
    for path in workspace.counted("reading tasks", paths):
        try:
            state = workspace.load(path).state
        except TaskstateError as error:
            errors.append(str(error))
            continue
        is_large = is_too_large(state.document.text, workspace.config.size)
        if (force or is_large) and len(state.sessions) > keep:
            over.append(state.id)
        elif is_large:
            notes.append(nothing_to_archive(state, workspace.config, keep))
    return OverLimit(over, notes, tuple(errors))

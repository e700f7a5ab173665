"""archive-mismatch: the state file and its archive disagree, or the archive disagrees with itself.

## What

The Archived Summary names the sessions that it replaces. Each of them must be in the archive file exactly once, with a
text that matches the SHA-256 in the closing lines of its batch, and must not be in the Progress Log as well, under the
same number or, as after a merge, under another one. Here the archive file or sessions in it are missing, it has
sessions that no summary names, an entry was changed or deleted by hand, or `archive_path` is null or not
`archives/task-<id>-archive.md`. With `--against`, an entry that the archive had at that revision and that neither file
has now is reported too, whatever its number. In the archive file its title must name the task that the file is of.

What is wrong is said once, in the file that is wrong. In the archive file there is a finding for each entry that does
not match its hash, that is named but missing, or that is outside of every batch; for closing lines that are gone or
damaged; and for a batch of which the compared revision had another summary, or other closing lines. The others are in
the state file.

## Why

The archive has the only copy of those sessions. Nobody reads it often enough to notice that a part of it is missing or
was changed.

## Example

```markdown
### Archived Summary (Sessions 1-7)
```

and the archive ends with session 5.

## Instead

Take the archive file back: the finding names the command. `taskstate doctor --fix` brings back sessions that are gone
from it, puts back its text after a formatter went over it, and takes out of the log what the archive says, too; `git
restore --source REV -- FILE` takes back the file as it was. To get a session back into the log, restore it from the
archive by command (`taskstate archive restore`), not by hand. Never edit an entry: write additions into the next
session.
"""

from __future__ import annotations

import re

from taskstate.archive.doubled import doubled, is_archived_as, take_out
from taskstate.archive.integrity import (
    ArchiveContents,
    describe_runs,
    from_git,
    missing_ends,
    not_archived,
    not_summarised,
    runs_of,
)
from taskstate.lint.diagnostics import Diagnostic, Diagnostics, Rule
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.model import names
from taskstate.model.archive_format import content_hash
from taskstate.model.derived_values import COUNTS
from taskstate.model.progress_log import session_number
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule.of("TS407", __name__, "the state file and its archive disagree, or the archive disagrees with itself")

_ARCHIVED = 2  # the level of an archived session's heading
_PATH, _FOLDER = "archive_path", "archives"
_LOG = "Progress Log"
_LINK = r"\]\(([^()\s]+)\)"
_TITLE = r"(?i)task #(\S+) archive\b"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault of an archive file, or of the archive of a state file."""
    document = facts.document
    if not facts.has_archive:
        return
    if facts.file_type == "archive":
        yield from _title(document, facts)
        wrong_level = _wrong_level(document)
        if wrong_level:
            yield wrong_level
            return
        archive = ArchiveContents(document.text)
        edited = (fault for then in facts.past or () for fault in archive.edited(ArchiveContents(then.document.text)))
        for fault in (*archive.findings, *edited):
            yield RULE.at(
                first_line_of(document, Span(fault.at, len(document.text))), fault.message, help=_take_back(facts)
            )
    elif facts.unreadable_body is None and facts.kind.section(_LOG):
        yield from _path(facts)
        yield from _link(facts)
        archives = facts.queries.archive()
        if archives:
            yield from _archive(facts, ArchiveContents(archives[0].text))
        elif archives is not None:
            yield from _missing(facts)


def _wrong_level(document: Document) -> Diagnostic | None:
    """Return the finding for the one heading whose level is all that is wrong in an archive."""
    if not ArchiveContents(document.text).faults:
        return None
    for section in document.sections:
        number = session_number(section.title)
        edits = (Edit(*section.heading, f"## {section.title}"),)
        if number and section.level != _ARCHIVED and not ArchiveContents(apply(document.text, edits)).faults:
            message = (
                f"the heading of session {number} has level {section.level}, and so is none of an archived session"
            )
            return RULE.at(first_line_of(document, section.heading), message, help=f"write `{edits[0].new}`")
    return None


def _span(facts: Facts) -> Span:
    """Return the place of findings about the whole archive: the summary, or else the log, or the first line."""
    log = facts.summary.section if facts.summary else facts.state.section(_LOG)
    return first_line_of(facts.document, log.heading) if log else facts.first_line


def _file(facts: Facts) -> str:
    return f"{_FOLDER}/task-{facts.task_id}-archive.md"


def _correct_summary(facts: Facts, archive: ArchiveContents) -> str:
    """Return what to do where the summary is wrong and the archive is whole."""
    if not archive.numbers:  # it holds no session that could be read
        return _take_back(facts)
    return facts.queries.damage() or f"the summary has to begin with `{_heading(archive)}`"


def _heading(archive: ArchiveContents) -> str:
    return f"### Archived Summary (Sessions {archive.numbers[0]}-{archive.numbers[-1]})"


def _take_back(facts: Facts) -> str:
    """Return the command that takes the archive file back from git.

    It does not where the committed file is not whole, or lacks sessions that were archived since: these would get lost.
    """
    import shlex

    is_archive = facts.file_type == "archive"
    if is_archive and (put_back := facts.queries.damage()):
        return put_back
    path = f"{facts.folder}/{facts.name}".lstrip("/") if is_archive else f"{facts.config.root}/{_file(facts)}"
    earlier = facts.queries.earlier() if is_archive else facts.queries.earlier_archive()
    name = (facts.queries.earlier_names() or ("",))[0]
    revision, _, old = name.partition(":")
    if is_archive and revision and not old.endswith(path):  # it has moved since
        return f"`git show {shlex.quote(name)} > {shlex.quote(path)}` takes the committed text back"
    if earlier and revision and _is_whole(ArchiveContents(earlier[0].text), facts):
        return f"`git restore --source {shlex.quote(revision)} -- {shlex.quote(path)}` takes the committed file back"
    return facts.queries.damage() or from_git(path)


def _is_whole(committed: ArchiveContents, facts: Facts) -> bool:
    return not committed.faults and max(committed.numbers, default=0) >= _needed(facts)


def _needed(facts: Facts) -> int:
    """Return the highest session that an archive must hold: those that closing lines name, or a summary stands for."""
    if facts.file_type != "archive":
        return facts.state.archived
    batches = ArchiveContents(facts.document.text).batches
    return max((number for batch in batches if batch.trailer is not None for number in batch.numbers), default=0)


def _recorded_path(facts: Facts) -> str:
    path = facts.values.get(_PATH)
    return path if isinstance(path, str) else ""


def _path(facts: Facts) -> Diagnostics:
    """Yield a finding for an `archive_path` that is not the path of the task's archive."""
    folder, _, name = _recorded_path(facts).rpartition("/")
    own = names.own_file(name)
    fits = own is not None and own.type == "archive" and (own.id or "").casefold() == (facts.task_id or "").casefold()
    if _is_denied(facts):
        message = f"`{_PATH}` is null, and there is an archive, {_file(facts)}"
        yield RULE.at(facts.value_span(_PATH), message, help=f"write `{_PATH}: {_file(facts)}`")
    if name and not (fits and folder == _FOLDER):
        message = f"`{_PATH}` says {shown(_recorded_path(facts))}, and the place of the archive is {_file(facts)}"
        yield RULE.at(facts.value_span(_PATH), message, help="correct it; every archiving writes it anew")


def _is_denied(facts: Facts) -> bool:
    """Return whether the file says that there is no archive, and its summary is of sessions in one."""
    if facts.summary is None or facts.values.get(_PATH, "") is not None:
        return False
    return bool(facts.queries.archive())


def _link(facts: Facts) -> Diagnostics:
    """Yield a finding where the summary links to the archive of another task."""
    summary, text = facts.summary, facts.document.text
    for match in re.compile(_LINK).finditer(text, *summary.span) if summary else ():
        own = names.own_file(match[1])
        if own and own.type == "archive" and (own.id or "").casefold() != (facts.task_id or "").casefold():
            message = f"the summary links to {shown(match[1])}, and the archive of this task is {_file(facts)}"
            yield RULE.at(Span(*match.span(1)), message, help=f"link to `../{_file(facts)}`")


def _title(document: Document, facts: Facts) -> Diagnostics:
    """Yield a finding where the title of an archive file names another task."""
    title = document.sections[0] if document.sections else None
    match = re.compile(_TITLE).match(title.title) if title and title.level == 1 else None
    if title and match and match[1].casefold() != (facts.task_id or "").casefold():
        message = (
            f"the title names task {shown(match[1])}, and the file is the archive of task {shown(facts.task_id or '')}"
        )
        yield RULE.at(first_line_of(document, title.heading), message, help=_take_back(facts))


def _missing(facts: Facts) -> Diagnostics:
    """Yield a finding if the state file refers to an archive file that never existed (TS012 reports a removed one)."""
    if facts.state.archived and facts.queries.earlier_archive():
        return
    if facts.summary:
        message = f"there is no archive file {_file(facts)} with the sessions of this summary"
        yield RULE.at(_span(facts), message, help=_take_back(facts))
    elif _recorded_path(facts) and not any(_path(facts)):
        message = f"`{_PATH}` says {_file(facts)}, and there is no such file"
        help_ = f"{_take_back(facts)}; if nothing is archived, remove the key"
        yield RULE.at(facts.value_span(_PATH), message, help=help_)


def _archive(facts: Facts, archive: ArchiveContents) -> Diagnostics:
    """Yield findings about the content of an existing archive."""
    told = list(_against_summary(facts, archive))
    yield from told
    if told or archive.faults:  # the faults are said where the archive file is linted
        return
    changed = list(_changed(facts, archive))
    if changed:
        numbers = describe_runs(*runs_of(changed))
        message = f"since the compared revision {numbers} changed in the archive file, or went from it"
        yield RULE.at(_span(facts), message, help=_take_back(facts))


def _against_summary(facts: Facts, archive: ArchiveContents) -> Diagnostics:
    """Yield findings where the sessions in the summary and in the archive differ."""
    summary, numbers = facts.summary, archive.numbers
    if summary and not summary.last:
        counts = facts.values.get(COUNTS)  # where people wrote the file, it may stand for any sessions
        if numbers and counts and counts.get("archived"):
            message = "the summary does not say which sessions it stands for"
            yield RULE.at(_span(facts), message, help=f"write `{_heading(archive)}`")
        return
    first, last = (summary.first, summary.last) if summary else (0, 0)
    missing = _missing_runs(range(first, last + 1), archive) if summary else ()
    if any(missing) and not archive.faults:  # those are said in the archive file
        whole = any(then.text == archive.text for then in facts.queries.earlier_archive() or ())
        help_ = _correct_summary(facts, archive) if whole else _take_back(facts)
        yield RULE.at(_span(facts), not_archived(missing), help=help_)
    yield from _beyond_summary(facts, archive, range(first, last + 1))


def _beyond_summary(facts: Facts, archive: ArchiveContents, summed: range) -> Diagnostics:
    """Yield findings for archived sessions that the summary does not stand for."""
    in_log = {session.number: session for session in facts.sessions}
    beyond = [each for each in archive.numbers if each not in summed]
    for number in beyond:
        told = any(number in fault.numbers for fault in archive.faults)  # in the archive file
        if number in in_log and number >= summed.stop and not told:  # TS402 reports lower ones
            heading = first_line_of(facts.document, in_log[number].section.heading)
            help_ = "delete it here if the archive says the same; else give it the next free number"
            yield RULE.at(heading, f"session {number} is in the archive too", help=help_)
    for session, number in doubled(facts.sessions, archive):
        if number != session.number:
            heading = first_line_of(facts.document, session.section.heading)
            yield RULE.at(heading, is_archived_as(session.number, number), help=take_out(facts.state, archive))
    alone = [each for each in beyond if each not in in_log]
    if alone and facts.sessions_known:  # an unknown heading may be that of the summary or of a session
        yield RULE.at(_span(facts), not_summarised(alone), help=_correct_summary(facts, archive))


def _missing_runs(expected: range, archive: ArchiveContents) -> tuple[range, ...]:
    """Return the expected sessions that are missing before and behind those of the archive."""
    runs = missing_ends(expected, archive.numbers)
    # If the first batch records how far the summary before it reached, `archive.faults` has the gap before it already.
    return runs if not archive.numbers or archive.batches[0].before is None else runs[1:]


def _changed(facts: Facts, archive: ArchiveContents) -> Iterator[int]:
    """Yield the numbers of sessions in the archive at the compared revision that neither file has now."""
    earlier = [
        entry
        for document in facts.queries.earlier_archive() or ()
        if document.text != archive.text
        for entry in ArchiveContents(document.text).entries
    ]
    if earlier:
        text = facts.document.text
        present = {entry.content_sha for entry in archive.entries}
        present.update(content_hash(session.section.span.of(text)) for session in facts.sessions)
        yield from dict.fromkeys(entry.number for entry in earlier if entry.content_sha not in present)

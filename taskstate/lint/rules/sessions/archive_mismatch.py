"""archive-mismatch: the state file and its archive disagree, or the archive disagrees with itself.

## What

The Archived Summary says for which sessions it stands. Each of them is in the archive file, once, with the text whose
SHA-256 the closing lines of its batch hold, and none of them is in the Progress Log too. Here the archive file is
missing, sessions are missing in it or are in it that no summary stands for, an entry was altered or deleted by hand,
or `archive_path` names another file than `archives/task-<id>-archive.md`. With `--against`, an entry that the archive
had at that revision and that neither file has any more is told too, numbers aside.

The finding stands in the state file. Where the archive file itself is linted, each entry that does not match its hash,
that is named and gone, or that stands outside every batch is a finding at its place.

## Why

The archive is the only copy of what was done in those sessions. Nobody reads it often enough to notice that a part of
it is gone, or says something else than it did.

## Example

```markdown
### Archived Summary (Sessions 1-7)
```

and the archive ends with session 5.

## Instead

Take the archive file back from git: `git log -p -- .taskstate/archives/task-101-archive.md` shows who changed it, and
`git checkout REV -- FILE` brings an older one back. A session that belongs into the log again is brought back by a
restore of the archive, not by hand. Never edit an entry: write what there is to add into the next session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.archive.integrity import ArchiveContents, describe_runs, runs_of
from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.model import names
from taskstate.model.archive_format import content_hash
from taskstate.syntax.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS407",
    name="archive-mismatch",
    summary="the state file and its archive disagree, or the archive disagrees with itself",
)

_PATH, _FOLDER = "archive_path", "archives"
_LOG = "Progress Log"
_HELP = "take the archive file back from git: `git log -p` shows what became of it"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield what is wrong with an archive file, or with the archive of a state file."""
    if facts.file_type == "archive":
        for fault in ArchiveContents(document.text).faults:
            yield RULE.at(first_line_of(document, Span(fault.at, len(document.text))), fault.message, help=_HELP)
    elif facts.unreadable_body is None and facts.kind.section(_LOG):
        yield from _path(facts)
        found = facts.queries.archive()
        if found:
            yield from _archive(facts, ArchiveContents(found[0].text))
        elif found is not None:
            yield from _missing(facts)


def _place(facts: Facts) -> Span:
    """Return where to tell what concerns all of the archive: at the summary, or where it would stand."""
    log = facts.summary.section if facts.summary else facts.state.section(_LOG)
    return first_line_of(facts.document, log.heading) if log else facts.first_line


def _file(facts: Facts) -> str:
    return f"{_FOLDER}/task-{facts.task_id}-archive.md"


def _told_path(facts: Facts) -> str:
    told = facts.values.get(_PATH)
    return told if isinstance(told, str) else ""


def _path(facts: Facts) -> Iterator[Diagnostic]:
    """Yield an `archive_path` that is not the place of the task's archive."""
    folder, _, name = _told_path(facts).rpartition("/")
    own = names.own_file(name)
    fits = own is not None and own.type == "archive" and (own.id or "").casefold() == (facts.task_id or "").casefold()
    if name and not (fits and folder == _FOLDER):
        what = f"`{_PATH}` says {shown(_told_path(facts))}, and the place of the archive is {_file(facts)}"
        yield RULE.at(facts.value_span(_PATH), what, help="correct it; every archiving writes it anew")


def _missing(facts: Facts) -> Iterator[Diagnostic]:
    """Yield that there is no archive file, where the state file speaks of one."""
    if facts.summary:
        what = f"there is no archive file {_file(facts)} with the sessions of this summary"
        yield RULE.at(_place(facts), what, help=_HELP)
    elif _told_path(facts) and not any(_path(facts)):
        what = f"`{_PATH}` says {_file(facts)}, and there is no such file"
        yield RULE.at(facts.value_span(_PATH), what, help=f"{_HELP}; if nothing is archived, remove the key")


def _archive(facts: Facts, archive: ArchiveContents) -> Iterator[Diagnostic]:
    """Yield what is wrong with an archive that is there."""
    faults = archive.faults
    if faults:
        more = f"; lint the archive file for {len(faults) - 1} more" if len(faults) > 1 else ""
        yield RULE.at(_place(facts), f"in the archive file, {faults[0].message}{more}", help=_HELP)
    yield from _against_summary(facts, archive)
    changed = [number for number in _changed(facts, archive) if not any(number in fault.numbers for fault in faults)]
    if changed:
        numbers = describe_runs(*runs_of(changed))
        what = f"since the compared revision {numbers} changed in the archive file, or went from it"
        yield RULE.at(_place(facts), what, help=_HELP)


def _against_summary(facts: Facts, archive: ArchiveContents) -> Iterator[Diagnostic]:
    """Yield where the sessions that the summary stands for are not those of the archive."""
    summary, numbers = facts.summary, archive.numbers
    if summary and not summary.last:
        return  # it names no numbers, and may stand for any
    first, last = (summary.first, summary.last) if summary else (0, 0)
    if summary:
        missing = _missing_runs(range(first, last + 1), archive)
        if any(missing):
            it = "it" if sum(map(len, missing)) == 1 else "them"
            what = f"the summary stands for {describe_runs(*missing)} too, and the archive does not have {it}"
            yield RULE.at(_place(facts), what, help=_HELP)
    kept = {session.number: session for session in facts.sessions}
    beyond = [each for each in numbers if not first <= each <= last]
    for number in beyond:
        if number in kept and number > last:  # a lower one is TS402's
            heading = first_line_of(facts.document, kept[number].section.heading)
            yield RULE.at(heading, f"session {number} is in the archive too", help="it belongs into one of the two")
    alone = [each for each in beyond if each not in kept]
    if alone and facts.sessions_known:  # a heading that is none may be the summary's, or that of a session
        verb = "is" if len(alone) == 1 else "are"
        what = f"{describe_runs(*runs_of(alone))} {verb} in the archive, and no Archived Summary stands for "
        yield RULE.at(_place(facts), what + ("it" if len(alone) == 1 else "them"), help="take it back from git")


def _missing_runs(told: range, archive: ArchiveContents) -> tuple[range, ...]:
    """Return which sessions are missing before and behind those of the archive."""
    if not archive.numbers:
        return (told,)
    begin, end = archive.numbers[0], archive.numbers[-1]
    known = archive.batches[0].before is not None  # what is missing before the first batch is told already
    before = range(0) if known else range(told.start, min(told.stop, begin))
    return before, range(max(told.start, end + 1), told.stop)


def _changed(facts: Facts, archive: ArchiveContents) -> Iterator[int]:
    """Yield the sessions that the archive had at the compared revision, and that neither file has any more."""
    earlier = [
        entry for document in facts.queries.earlier_archive() or () for entry in ArchiveContents(document.text).entries
    ]
    if earlier:
        text = facts.document.text
        there = {entry.content_sha for entry in archive.entries}
        there.update(content_hash(session.section.span.of(text)) for session in facts.sessions)
        yield from dict.fromkeys(entry.number for entry in earlier if entry.content_sha not in there)

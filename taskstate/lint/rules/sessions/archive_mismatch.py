"""archive-mismatch: the state file and its archive disagree, or the archive disagrees with itself.

## What

The Archived Summary names the sessions that it replaces. Each of them must be in the archive file exactly once, with a
text that matches the SHA-256 in the closing lines of its batch, and must not be in the Progress Log as well, under the
same number or, as after a merge, under another one. Here the archive file or sessions in it are missing, it has
sessions that no summary names, an entry was changed or deleted by hand, or `archive_path` is null, gone or not
`archives/task-<id>-archive.md`. A summary that lost a line which was committed for the same sessions, unless it was too
long, or that stands behind a session is a finding too. With `--against`, an entry that the archive had at that revision
and that neither file has now is reported too, whatever its number. In the archive file its title must name the task
that the file is of.

What is wrong is said once, in the file that is wrong. In the archive file there is a finding for each entry that does
not match its hash, that is named but missing, or that is outside of every batch; for closing lines that are gone or
damaged; for sessions that were committed and are gone, or changed with their hashes, while the state file is as it was;
for a batch of which the compared revision had another summary, or other closing lines; for a line of a list
that was moved there (`## Events`) and is gone; and for a title line that is gone. The others are in the state file.

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
from it, puts back its text after a formatter went over it, and deletes from the log what the archive has, too; `git
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
from taskstate.lint.facts.session_history import comparable, new_among
from taskstate.lint.facts.wording import first_change, first_line_of, shown, shown_by
from taskstate.model import names
from taskstate.model.archive_format import content_hash
from taskstate.model.derived_values import COUNTS
from taskstate.model.progress_log import session_number
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span, filled_lines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.progress_log import Session, Summary
    from taskstate.syntax.document import Document

RULE = Rule.of("TS407", __name__, "the state file and its archive disagree, or the archive disagrees with itself")

_ARCHIVED = 2  # the level of an archived session's heading
_PATH, _FOLDER = "archive_path", "archives"
_LOG = "Progress Log"
_LINK = r"\]\(([^()\s]+)\)"
_TITLE = r"(?i)task #(\S+) archive\b"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each fault of an archive file, or of the archive of a state file."""
    if not facts.has_archive:
        return
    if facts.file_type == "archive":
        yield from _of_archive_file(facts)
    elif facts.unreadable_body is None and facts.kind.section(_LOG):
        yield from _of_state_file(facts)


def _of_archive_file(facts: Facts) -> Diagnostics:
    """Yield findings in an archive file: its title, its form, and what changed in it since it was committed."""
    document = facts.document
    yield from _title(document, facts)
    wrong_level = _wrong_level(document)
    if wrong_level:
        yield wrong_level
        return
    archive, committed = (
        ArchiveContents(document.text),
        [ArchiveContents(then.document.text) for then in facts.past or ()],
    )
    edited = [fault for each in committed for fault in archive.edited(each)]
    lost = [] if edited or not _is_alone(facts) else [fault for each in committed for fault in archive.lost(each)]
    faults, past = (*archive.findings, *edited, *lost[:1]), [each.text for each in committed]
    for fault in faults:
        at = archive.edited_at(past, fault.at) if len(faults) == 1 else fault.at
        yield RULE.at(first_line_of(document, Span(at, len(document.text))), fault.message, help=_take_back(facts))


def _of_state_file(facts: Facts) -> Diagnostics:
    """Yield findings in a state file: the path, the link and the summary of its archive, and what that holds."""
    yield from _denied(facts)
    yield from _path(facts)
    yield from _link(facts)
    yield from _summary(facts)
    archives = facts.queries.archive()
    if archives:
        yield from _archive(facts, ArchiveContents(archives[0].text))
    elif archives is not None:
        yield from _missing(facts)


def _is_alone(facts: Facts) -> bool:
    """Return whether an archive changed without its state file, and so by no command."""
    changed = facts.queries.changed_paths()
    return changed is not None and not any(each.endswith(f"/task-{facts.task_id}-state.md") for each in changed)


def _wrong_level(document: Document) -> Diagnostic | None:
    """Return the finding for the one heading whose level is all that is wrong in an archive."""
    if not ArchiveContents(document.text).faults:
        return None
    for section in document.sections:
        number = session_number(section.title)
        edits = (Edit(*section.heading, f"## {section.title}"),)
        if number and section.level != _ARCHIVED and not ArchiveContents(apply(document.text, edits)).faults:
            level = f"the heading of session {number} has level {section.level}"
            message = f"{level}, so it is not read as an archived session"
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
    if any(then.summary for then in facts.past or ()):
        return f"put the summary back{shown_by(facts.queries)}: it begins with `{_heading(archive)}`"
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
        return f"`git show {shlex.quote(name)} > {shlex.quote(path)}` restores the committed text"
    committed = ArchiveContents(earlier[0].text if earlier else "")
    is_whole = not committed.faults and max(committed.numbers, default=0) >= _needed(facts)
    if earlier and revision and is_whole:
        return f"`git restore --source {shlex.quote(revision)} -- {shlex.quote(path)}` restores the committed file"
    return facts.queries.damage() or from_git(path)


def _needed(facts: Facts) -> int:
    """Return the highest session that an archive must hold: those that closing lines name, or a summary stands for."""
    if facts.file_type != "archive":
        return facts.state.archived
    batches = ArchiveContents(facts.document.text).batches
    return max((number for batch in batches if batch.trailer is not None for number in batch.numbers), default=0)


def _recorded_path(facts: Facts) -> str:
    path = facts.values.get(_PATH)
    return path if isinstance(path, str) else ""


def _denied(facts: Facts) -> Diagnostics:
    """Yield a finding where `archive_path` says that there is no archive, and there is."""
    if _is_denied(facts):
        is_null = _PATH in facts.values
        message = f"`{_PATH}` is {'null' if is_null else 'gone'}, and there is an archive, {_file(facts)}"
        place = facts.value_span(_PATH) if is_null else facts.first_line
        below = "" if is_null else " below `file_size_kb`"
        yield RULE.at(place, message, help=f"write `{_PATH}: {_file(facts)}`{below}")


def _path(facts: Facts) -> Diagnostics:
    """Yield a finding for an `archive_path` that is not the path of the task's archive."""
    folder, _, name = _recorded_path(facts).rpartition("/")
    if name and not (folder == _FOLDER and _is_archive_of(facts, name)):
        message = f"`{_PATH}` says {shown(_recorded_path(facts))}, and the place of the archive is {_file(facts)}"
        yield RULE.at(facts.value_span(_PATH), message, help="correct it; every archiving writes it again")


def _is_archive_of(facts: Facts, name: str) -> bool:
    """Return whether a file name is that of the task's archive."""
    own = names.own_file(name)
    return own is not None and own.type == "archive" and (own.id or "").casefold() == (facts.task_id or "").casefold()


def _is_denied(facts: Facts) -> bool:
    """Return whether the file says that there is no archive, and its summary is of sessions in one."""
    is_null = facts.values.get(_PATH, "") is None
    node = facts.front_matter.get(_PATH) if facts.front_matter else None
    is_gone = bool(facts.values) and node is None and _PATH not in facts.renamed_keys
    is_gone = is_gone and any(then.values.get(_PATH) for then in facts.past or ())
    return facts.summary is not None and (is_null or is_gone) and bool(facts.queries.archive())


def _link(facts: Facts) -> Diagnostics:
    """Yield a finding where the summary links to the archive of another task."""
    summary, text = facts.summary, facts.document.text
    for match in re.compile(_LINK).finditer(text, *summary.span) if summary else ():
        own = names.own_file(match[1])
        if own and own.type == "archive" and not _is_archive_of(facts, match[1]):
            message = f"the summary links to {shown(match[1])}, and the archive of this task is {_file(facts)}"
            yield RULE.at(Span(*match.span(1)), message, help=f"link to `../{_file(facts)}`")


def _summary(facts: Facts) -> Diagnostics:
    """Yield a finding where the summary lost what it has to say of the same sessions, or came behind a session."""
    summary = facts.summary
    past = [(then, then.summary) for then in comparable(facts) if then.summary]
    if summary is None or not past:
        return
    then, before = past[0]
    span = first_line_of(facts.document, summary.section.heading)
    if _is_behind(facts.sessions, summary) and not _is_behind(then.sessions, before):
        message = f"the Archived Summary is below session {facts.sessions[0].number}"
        yield RULE.at(span, message, help="move it to the top of the Progress Log")
    if (before.first, before.last) != (summary.first, summary.last):
        return
    gone, lost = _gone_lines(facts, summary, then, before)
    if lost:
        is_emptied = len(filled_lines(facts.document.text, summary.span)) <= 1
        old = before.span.of(then.document.text)
        at = span if is_emptied else first_change(facts.document, summary.span, old)
        what = "was emptied" if is_emptied else f"no longer says {shown(lost[0])}"
        help_ = f"write `{lost[0]}` again" if len(gone) == 1 else f"put back what is gone{shown_by(facts.queries)}"
        yield RULE.at(at, f"the Archived Summary {what}", help=help_)


def _is_behind(sessions: Sequence[Session], summary: Summary) -> bool:
    """Return whether a summary stands below a session."""
    return bool(sessions) and sessions[0].section.span.start < summary.span.start


def _gone_lines(facts: Facts, summary: Summary, then: Facts, before: Summary) -> tuple[list[str], list[str]]:
    """Return the lines of an earlier summary that are gone, and those of them that had to stay."""
    old, now = filled_lines(then.document.text, before.span), filled_lines(facts.document.text, summary.span)
    present = {_said(line) for _, line in now}
    gone = [line for _, line in old if _said(line) not in present]
    lost = [line for line in gone if line.startswith(("**", "["))]
    return gone, gone if not lost and len(now) < len(old) and not then.long_summary else lost


def _said(line: str) -> str:
    """Return what a line of a summary must go on saying: of what a person may write, and of a link, only its name."""
    return line if line.startswith("**Duration") else re.sub(r"(?<=:\*\*).*|(?<=^\[)([^\]]*\]\().*", r"\1", line)


def _title(document: Document, facts: Facts) -> Diagnostics:
    """Yield a finding where the title of an archive file names another task."""
    title = next((each for each in document.sections[:1] if each.level == 1), None)
    match = re.compile(_TITLE).match(title.title) if title else None
    first = (each for then in facts.past or () for each in then.document.sections[:1])
    titles = [each for each in first if re.match(_TITLE, each.title)]
    if titles and not match and document.text.strip():
        at = first_line_of(document, title.heading) if title else facts.first_line
        message = "the title line, which was committed, is gone"
        yield RULE.at(at, message, help=f"write `# {titles[0].title}` again")
    elif title and match and match[1].casefold() != (facts.task_id or "").casefold():
        own = shown(facts.task_id or "")
        message = f"the title names task {shown(match[1])}, and the file is the archive of task {own}"
        yield RULE.at(first_line_of(document, title.heading), message, help=_take_back(facts))


def _missing(facts: Facts) -> Diagnostics:
    """Yield a finding if the state file refers to an archive file that never existed (TS012 reports a removed one)."""
    if facts.state.archived and facts.queries.earlier_archive():
        return
    if facts.summary:
        message = f"there is no archive file {_file(facts)} with the sessions of this summary"
        yield RULE.at(_span(facts), message, help=_take_back(facts))
    elif _recorded_path(facts) and not (any(_denied(facts)) or any(_path(facts))):
        message = f"`{_PATH}` says {_file(facts)}, and there is no such file"
        help_ = f"{_take_back(facts)}; if nothing is archived, remove the key"
        yield RULE.at(facts.value_span(_PATH), message, help=help_)


def _archive(facts: Facts, archive: ArchiveContents) -> Diagnostics:
    """Yield findings about the content of an existing archive."""
    committed = [ArchiveContents(each.text) for each in facts.queries.earlier_archive() or ()]
    is_same = all(then.document.text == facts.document.text for then in facts.past or ())
    if facts.past and is_same and any(True for each in committed for _ in archive.lost(each)):
        return  # it is said in the archive file, which alone has changed
    told = list(_against_summary(facts, archive))
    yield from told
    if told or archive.faults:  # the faults are said where the archive file is linted
        return
    changed = list(_changed(facts, archive))
    if changed:
        numbers = describe_runs(*runs_of(changed))
        message = f"{numbers} changed in the archive file, or went from it, since the compared revision"
        yield RULE.at(_span(facts), message, help=_take_back(facts))


def _against_summary(facts: Facts, archive: ArchiveContents) -> Diagnostics:
    """Yield findings where the sessions in the summary and in the archive differ."""
    summary, numbers = facts.summary, archive.numbers
    if summary and not summary.last:
        counts = facts.values.get(COUNTS)  # where people wrote the file, it may stand for any sessions
        if numbers and counts and counts.get("archived"):
            message = "the summary does not say which sessions it covers"
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
    in_log, same = {session.number for session in facts.sessions}, doubled(facts.sessions, archive)
    for session in _in_both(facts, archive, summed, {session.number for session, _ in same}):
        help_ = "delete it here if the archive says the same; else give it the next free number"
        heading = first_line_of(facts.document, session.section.heading)
        yield RULE.at(heading, f"session {session.number} is in the archive too", help=help_)
    for session, number in same:
        if number != session.number or number < summed.stop:
            heading = first_line_of(facts.document, session.section.heading)
            yield RULE.at(heading, is_archived_as(session.number, number), help=take_out(facts.state, archive))
    alone = [each for each in archive.numbers if each not in summed and each not in in_log]
    if alone and facts.sessions_known:  # an unknown heading may be that of the summary or of a session
        yield RULE.at(_span(facts), not_summarised(alone), help=_correct_summary(facts, archive))


def _in_both(facts: Facts, archive: ArchiveContents, summed: range, taken: Collection[int]) -> Iterator[Session]:
    """Yield the sessions of the log that the archive has, too, but for those whose numbers are `taken` as the same."""
    in_log = {session.number: session for session in facts.sessions}
    for number in archive.numbers:
        told = any(number in fault.numbers for fault in archive.faults)  # in the archive file
        if number in in_log and number >= summed.stop and not told:  # TS402 reports lower ones
            yield in_log[number]
    for each in archive.entries:  # a number alone may be a slip, a number and a time are a copy that was changed
        session, title = in_log.get(each.number), archive.text[each.start : each.end].partition("\n")[0].strip("# \r")
        is_known = each.number not in summed or each.number in taken
        if session and not is_known and session.section.title == title and new_among(facts, [session]):
            yield session


def _missing_runs(expected: range, archive: ArchiveContents) -> tuple[range, ...]:
    """Return the expected sessions that are missing before and behind those of the archive."""
    runs = missing_ends(expected, archive.numbers)
    # If the first batch records how far the summary before it reached, `archive.faults` has the gap before it already.
    return runs if not archive.numbers or archive.batches[0].before is None else runs[1:]


def _changed(facts: Facts, archive: ArchiveContents) -> Iterator[int]:
    """Yield the numbers of sessions in the archive at the compared revision that neither file has now."""
    texts = [each.text for each in facts.queries.earlier_archive() or () if each.text != archive.text]
    earlier = [entry for each in map(ArchiveContents, texts) for entry in each.sound]
    if earlier:
        text = facts.document.text
        present = {entry.content_sha for entry in archive.entries}
        present.update(content_hash(session.section.span.of(text)) for session in facts.sessions)
        yield from dict.fromkeys(entry.number for entry in earlier if entry.content_sha not in present)

"""Merges lists that both sides append to: the Git History, and the Change Log of a permanent task."""

from __future__ import annotations

from taskstate.merge.lines import lines_of, merge_lines, merge_text
from taskstate.model.document_kinds import built_in
from taskstate.model.permanent import highest_level, read_version_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.model.permanent import LoggedVersion
    from taskstate.units.three_way import Prefer, Versions


def merge_commits(versions: Versions[str], prefer: Prefer) -> str:
    """Return the merged list of commits: lines that either side added are kept, each once."""
    return "".join(merge_lines(versions.each(_commits), prefer, union=True))


def _commits(text: str) -> list[str]:
    """Return the lines of a list of commits, without a placeholder."""
    return [line for line in lines_of(text) if not built_in("task").is_placeholder(line)]


def merge_versions(versions: Versions[str], prefer: Prefer) -> str:
    """Return the merged Change Log: the versions that either side added, in order of time, numbered anew.

    The newest one joins what both sides added: it names what the other side did, with its number there.
    """
    lines = versions.each(lines_of)
    other_lines = lines.each(lambda side: [line for line in side if _version(line) is None])
    read = lines.each(lambda side: [version for line in side if (version := _version(line))])
    before = {_identity(each) for each in read.base}
    new = read.each(lambda side: [each for each in side if _identity(each) not in before])
    if not other_lines.base == other_lines.ours == other_lines.theirs or not _are_next(read.base, new):
        return merge_text(versions, prefer)
    kept = [each.line for each in read.base if each in read.ours and each in read.theirs]
    added = [each.line for each in _numbered(new, max((each.number for each in read.base), default=0))]
    at = next(index for index, line in enumerate(lines.ours) if _version(line))
    rest = [line for line in lines.ours[at:] if _version(line) is None]
    return "".join((*lines.ours[:at], *(f"{line}\n" for line in (*added, *kept)), *rest))


def last_version(text: str) -> int:
    """Return the highest version that a Change Log lists; 0 where it lists none."""
    return max((version.number for line in lines_of(text) if (version := _version(line))), default=0)


def _version(line: str) -> LoggedVersion | None:
    return read_version_line(line.rstrip("\n"))


def _identity(version: LoggedVersion) -> LoggedVersion:
    """Return a version without its number, which a merge gives anew."""
    return version._replace(number=0)


def _are_next(base: Sequence[LoggedVersion], new: Versions[list[LoggedVersion]]) -> bool:
    """Return whether each side has all the versions that it added; it may have moved some into the archive already."""
    last = max((each.number for each in base), default=0)
    sides = ([each.number for each in side] for side in (new.ours, new.theirs))
    return all(side and min(side) == last + 1 and len(side) == max(side) - last for side in sides)


def _numbered(new: Versions[list[LoggedVersion]], last: int) -> list[LoggedVersion]:
    """Return the versions that the sides added after `last`, newest first."""
    ours = {_identity(each) for each in new.ours}
    theirs = [each for each in new.theirs if _identity(each) not in ours]
    in_order = [each for _, each in sorted((*_timed(new.ours), *_timed(theirs)))]
    numbered = [each._replace(number=number) for number, each in enumerate(in_order, last + 1)]
    newest, side = in_order[-1], new.ours if in_order[-1] in new.ours else new.theirs
    others = [each for each in in_order if each not in side]
    if not others:
        return numbered[::-1]
    return [_joined(numbered[-1], [newest, *others]), *numbered[-2::-1]]


def _timed(side: Sequence[LoggedVersion]) -> Iterator[tuple[str, LoggedVersion]]:
    """Yield the versions of a side, each with its time, or with that of an earlier one if a clock ran behind."""
    at = ""
    for each in sorted(side, key=lambda version: version.number):
        at = max(at, each.at)
        yield at, each


def _joined(newest: LoggedVersion, joined: Sequence[LoggedVersion]) -> LoggedVersion:
    """Return the newest version as the one that joins its own change with those of the other side."""
    sections = dict.fromkeys(name for each in joined for name in each.sections)
    named = ", ".join(f"v{each.number} ({', '.join(each.sections)})" for each in joined[1:])
    summary = f"{newest.summary}; merged with {named}".removeprefix("; ")
    return newest._replace(sections=tuple(sections), summary=summary, level=highest_level(tuple(joined)))

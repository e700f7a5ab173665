"""version-missing: the Change Log lacks a version, or has a malformed line.

## What

The Change Log of a permanent task has one line for each version, newest first, without gaps, and the newest is the
`version` of the front matter. Findings are: a line that is not a version, a version that is missing, one that is there
twice, in the wrong place, or reworded or renumbered since the compared revision, a `version` that the Change Log does
not have, and one that is gone from the front matter. The newest 50 lines stay in the document, and older ones are in
the archive file; the line that begins a document, with `all` as its sections, may have any number.

## Why

Everybody who confirmed a version, and works on by it, learns from the Change Log what has changed since. A version
without its line is a change that nobody is told of.

## Example

```markdown
- v7 - 2026-02-08T12:00:00Z - lead - Constraints: latency 100 ms instead of 200 ms [interface change]
- v5 - 2026-02-08T10:00:00Z - lead - Phase Status: design done [cosmetic]
```

## Instead

Take the line back as it was (`git log -p` shows it). Versions are given by commands alone, which add the line
themselves; one that gives a change by hand its version:

```console
$ taskstate permanent update
```
"""

from __future__ import annotations

from itertools import pairwise

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.wording import shown
from taskstate.model.archive_format import rolled_items
from taskstate.model.permanent import (
    ALL_SECTIONS,
    CHANGE_LOG,
    VERSION_SEAL,
    change_log,
    content_of,
    read_version_line,
    shown_version,
)
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.permanent import LoggedVersion
    from taskstate.syntax.document import Section

RULE = Rule.of("TSP03", __name__, "the Change Log lacks a version, or has a malformed line")

_FORM = "`- {} - <time> - <actor> - <sections>: <summary>`"


class _Line(NamedTuple):
    version: LoggedVersion
    span: Span


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each line that is no version, each gap, and a `version` that the Change Log lacks."""
    section = facts.state.section(CHANGE_LOG)
    if not facts.is_permanent or section is None or facts.outline.repeated:
        return
    lines = [(read_version_line(text), span) for text, span in _lines(content_of(facts.state, CHANGE_LOG), section)]
    damaged = [span for version, span in lines if version is None]
    for (before, _), (version, span) in pairwise([(True, section.heading), *lines]):
        if version is not None or before is None:  # lines in a row have one cause
            continue
        help_ = f"write it as {_FORM.format('v<number>')}, or restore it from git; other remarks belong under Notes"
        yield RULE.at(span, "this line of the Change Log is not a version", help=help_)
    if damaged:
        return  # it may be that of the version that is missing
    sound = [_Line(version, span) for version, span in lines if version]
    edited = [*_reworded(sound, facts)]
    if edited:
        yield from edited
        return
    yield from _gaps(sound)
    yield from _difference(sound, section.heading, facts)
    yield from _missing_end(sound, facts)


def _lines(content: str, section: Section) -> Iterator[tuple[str, Span]]:
    """Yield the lines that are not blank, without their ends."""
    start = section.body.start
    for raw in content.splitlines(keepends=True):
        line = raw.rstrip("\r\n")
        if line.strip():
            yield line, Span(start, start + len(line))
        start += len(raw)


def _gaps(lines: list[_Line]) -> Diagnostics:
    numbers = [line.version.number for line in lines]
    ordered = sorted(numbers, reverse=True)
    if ordered == [*range(max(ordered, default=0), max(ordered, default=0) - len(ordered), -1)]:
        moved = [(line, number) for line, number in zip(lines, ordered, strict=True) if line.version.number != number]
        for line, number in moved[:1]:
            message = f"v{line.version.number} is where v{number} belongs"
            yield RULE.at(line.span, message, help="sort the lines: the newest version is on top")
        return
    twice = next((above for above, number in pairwise(numbers) if above == number and number - 1 not in numbers), 0)
    for above, line in pairwise(lines):
        number, expected = line.version.number, above.version.number - 1
        if number == expected or (twice and above.version.number == twice != number):
            continue
        if number > expected:
            is_twice = number == above.version.number
            message = f"v{number} is there twice" if is_twice else f"v{number} is below v{above.version.number}"
            help_ = "delete one of the two" if is_twice else "sort the lines: the newest version is on top"
            if number == twice:
                message, help_ = (
                    f"{message}, and v{twice - 1} is missing",
                    f"write v{twice - 1} in the one that is older",
                )
        else:
            gone = f"v{expected}" if number == expected - 1 else f"v{number + 1} to v{expected}"
            message = f"{gone} {'is' if ' ' not in gone else 'are'} missing above v{number}"
            help_ = _take_back(expected)
        yield RULE.at(line.span, message, help=help_)


def _reworded(lines: list[_Line], facts: Facts) -> Diagnostics:
    """Yield a finding for each line that has another number, or says something else, than when it was committed."""
    past = [each for then in facts.past or () for each in change_log(then.state)]
    numbers = {each._replace(number=0): each.number for each in past}
    present = {line.version.number for line in lines}
    for version, span in lines:
        number = numbers.get(version._replace(number=0), version.number)
        then = [each.line for each in past if each.number == version.number] or [version.line]
        if number not in present:
            message = f"v{version.number} was v{number} when it was committed"
            yield RULE.at(span, message, help=f"write `{version._replace(number=number).line}` again")
        elif version.line not in then:
            message = f"the line of v{version.number} was reworded; committed was {shown(then[0])}"
            yield RULE.at(span, message, help=f"write `{then[0]}` again")


def _difference(lines: list[_Line], heading: Span, facts: Facts) -> Diagnostics:
    version = facts.values.get("version")
    newest = max((line.version.number for line in lines), default=0)
    if (
        VERSION_SEAL in facts.values
        and "version" not in facts.document.front_matter
        and "version" not in facts.renamed_keys
    ):
        message = f"`version` is gone, and the Change Log goes up to v{newest}"
        yield RULE.at(facts.value_span(VERSION_SEAL), message, help=f"write `version: {newest}` again")
    if not isinstance(version, int):
        return
    if newest < version:
        message = f"the Change Log has no line for version {version}" + (f"; its newest is v{newest}" if newest else "")
        is_sealed = str(facts.values.get(VERSION_SEAL, "")).partition("-")[0] == str(newest)
        help_ = f"write `version: {newest}` again" if is_sealed else _take_back(version)
        yield RULE.at(facts.value_span("version") if lines else heading, message, help=help_)
    elif newest > version:
        message = f"`version` is {version}, and the Change Log goes up to v{newest}"
        yield RULE.at(facts.value_span("version"), message, help=f"write `version: {newest}`")


def _missing_end(lines: list[_Line], facts: Facts) -> Diagnostics:
    """Yield a finding where neither the Change Log nor the archive file has the versions below the lowest one."""
    lowest = min(lines, key=lambda line: line.version.number, default=None)
    if lowest is None or lowest.version.number == 1 or lowest.version.sections == (ALL_SECTIONS,):
        return
    archive = facts.queries.archive()
    if archive is None:
        return
    archived = [read_version_line(f"- {item}") for each in archive for item in rolled_items(each.text, CHANGE_LOG)]
    if not any(each and each.number == lowest.version.number - 1 for each in archived):
        message = f"the versions below {shown_version(lowest.version.number)} are neither here nor in the archive file"
        yield RULE.at(lowest.span, message, help=_take_back(lowest.version.number - 1))


def _take_back(number: int) -> str:
    return f"restore the line from git, or write it as {_FORM.format(f'v{number}')}"

"""Reads the results of checks out of a log: what tools say at their end, by a table of patterns.

Pure. A log may be large, hold several tools, and be coloured; it is read piece by piece, and a pattern looks only at
short lines in which a word of its tool stands, so that the time grows with the length alone. The table is `TOOLS`: a
tool is added by adding its lines.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

from taskstate.model.tool_blocks import CheckResult
from taskstate.verification.qa.log_patterns import COVERAGE, EXITS, TOOLS, WORDS
from taskstate.verification.qa.results import result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from taskstate.model.config import QaReader
    from taskstate.verification.qa.log_patterns import Line, Tool

    _Match: TypeAlias = re.Match[str]
    _Told: TypeAlias = tuple[Tool | None, Line, _Match]  # no tool: it tells how the one that spoke last has ended
    _Entry: TypeAlias = tuple[int, Tool | None, Line, Callable[[str], _Match | None]]

_PIECE = 1024 * 1024  # bytes
_LONGEST = 1000  # characters of a line that can be a summary
_UTF16 = (b"\xff\xfe", b"\xfe\xff")  # what PowerShell writes
# Control sequences of terminals: colours and cursor movements, titles and links, and single ones.
_ESCAPES = r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\^_]|[()][A-Z0-9])"
_COUNT = r"(\d{1,9}) ([a-z]+)"


def read_log(log: bytes, readers: Sequence[QaReader] = ()) -> dict[str, CheckResult]:
    """Return the results that a log tells, by name.

    A result is called after what its tool does (lint, format, typecheck, test, coverage); where several tools of a log
    do the same, their names are added (test-jest). A reader of the configuration gives the result of its own name, by
    the last line that it matches, in the place of a built-in one.
    """
    reading = _Reading(tuple((reader.name, re.compile(reader.pattern)) for reader in readers))
    for text in text_chunks(log):
        reading.take(text)
    return reading.results()


def text_chunks(log: bytes) -> Iterator[str]:
    """Yield the text of a log by whole lines, about a megabyte at a time, without what is meant for terminals."""
    if log[:2] in _UTF16:
        log = log.decode("utf-16", "replace").encode("utf-8", "replace")
    start = 0
    while start < len(log):
        end = log.find(b"\n", start + _PIECE)
        end = len(log) if end < 0 else end + 1
        text = log[start:end].decode("utf-8", "replace")
        if "\x1b" in text:
            text = re.sub(_ESCAPES, "", text)
        yield text.replace("\r\n", "\n").replace("\r", "\n")
        start = end


class _Spoken:
    """What a tool has said so far: counts by kind of thing, percentages, and what failed beyond any count."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.percent: Decimal | None = None
        self.percents: list[Decimal] = []  # of parts, where nobody tells the whole
        self.fails: dict[str, None] = {}
        self.exit_status = 0

    def take(self, line: Line, match: re.Match[str]) -> None:
        """Take in a line that a tool says."""
        told = {key: value for key, value in match.groupdict().items() if value is not None}
        limit = told.pop("limit", "")
        if line.fails:
            self.fails[f"{line.fails} {limit} percent" if limit else line.fails] = None
        if "percent" in told:
            self.percent = Decimal(told.pop("percent"))
        if "part_percent" in told:
            self.percents.append(Decimal(told.pop("part_percent")))
        for number, word in re.findall(_COUNT, told.pop("counts", "")):
            if word in WORDS:
                self.counts[WORDS[word]] += int(number)
        for key, count in (*line.adds, *((key.replace("_", " "), int(number)) for key, number in told.items())):
            self.counts[key] += count


class _Reading:
    """The reading of one log, piece by piece."""

    def __init__(self, readers: tuple[tuple[str, re.Pattern[str]], ...]) -> None:
        self.readers = readers
        self.own: dict[str, CheckResult] = {}
        self.spoken: dict[Tool, _Spoken] = {}
        self.last: _Spoken | None = None

    def take(self, text: str) -> None:
        """Take in some lines."""
        for tool, line, match in _told(text):
            if tool:
                self._said(tool, line, match)
            elif self.last:
                self.last.exit_status = self.last.exit_status or int(match["status"])
        for name, pattern in self.readers:
            for each in text.split("\n"):
                found = pattern.search(each) if len(each) <= _LONGEST else None
                if found:
                    self._own(name, found)

    def _said(self, tool: Tool, line: Line, match: re.Match[str]) -> None:
        if line.restarts:
            self.spoken.pop(tool, None)
        spoken = self.spoken.setdefault(tool, _Spoken())
        spoken.take(line, match)
        if tool.kind != COVERAGE:
            self.last = spoken

    def _own(self, name: str, match: re.Match[str]) -> None:
        result, failed = result_of(match["text"] or ""), match.groupdict().get("failed")
        if result.text:
            self.own[name] = CheckResult(ok=result.ok and not (failed or "").strip("0"), text=result.text)

    def results(self) -> dict[str, CheckResult]:
        """Return what the log told, by name."""
        told = {tool: result for tool, spoken in self.spoken.items() if (result := _result(tool, spoken))}
        kinds = Counter(tool.kind for tool in told)
        named = {tool.kind if kinds[tool.kind] == 1 else f"{tool.kind}-{tool.name}": told[tool] for tool in told}
        return named | self.own


def _told(text: str) -> list[_Told]:
    """Return the lines of a text that the table knows, in their order, each with the tool that says it.

    A word is looked for in the whole text at once, which is a hundred times as fast as asking every line.
    """
    found: dict[tuple[int, int], _Told] = {}  # by the place in the text, and in the table
    for word, lines in _by_word().items():
        at = text.find(word)
        while at >= 0:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            start = text.rfind("\n", 0, at) + 1
            if end - start <= _LONGEST:
                whole = text[start:end]
                for number, tool, line, search in lines:
                    match = search(whole)
                    if match:
                        found[start, number] = (tool, line, match)
            at = text.find(word, end)
    return [found[place] for place in sorted(found)]


@cache
def _by_word() -> Mapping[str, Sequence[_Entry]]:
    """Return the lines of the table by the words that stand in them, with their patterns compiled."""
    known = [*((tool, line) for tool in TOOLS for line in tool.lines), *((None, line) for line in EXITS)]
    found: dict[str, list[_Entry]] = {}
    for number, (tool, line) in enumerate(known):
        search = re.compile(line.pattern).search
        for word in line.words:
            found.setdefault(word, []).append((number, tool, line, search))
    return found


def _result(tool: Tool, spoken: _Spoken) -> CheckResult | None:
    """Return what a tool said, as one line; None where that is nothing but the failing of something else."""
    said = _coverage(spoken) if tool.kind == COVERAGE else _counts(tool, spoken)
    said += [f"failed: {each}" for each in spoken.fails]
    return result_of(", ".join(said), spoken.exit_status or None) if said else None


def _counts(tool: Tool, spoken: _Spoken) -> list[str]:
    ranks = {key: rank for rank, key in enumerate(dict.fromkeys((tool.first, *WORDS.values())))}
    keys = sorted(spoken.counts, key=lambda key: (ranks.get(key, len(ranks)), key))
    return [_number(spoken.counts[key], key) for key in keys if spoken.counts[key] or key == tool.first]


def _number(number: int, key: str) -> str:
    """Return a count with its word, of which the first one that has a plural takes the number's."""
    if number == 1:
        key = {"errors": "error", "warnings": "warning"}.get(key, key)
        key = re.sub(r"\A(package|suite|test|file)s\b", r"\1", key)
    return f"{number} {key}"


def _coverage(spoken: _Spoken) -> list[str]:
    if spoken.percent is not None:
        return [f"{spoken.percent}%"]
    if not spoken.percents:
        return []
    mean = sum(spoken.percents, Decimal(0)) / len(spoken.percents)
    parts = len(spoken.percents)
    return [f"{mean.quantize(Decimal('0.1'))}%" + (f" on average of {parts} packages" if parts > 1 else "")]

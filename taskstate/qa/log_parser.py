"""Reads the results of checks from a log by a table of patterns for the summary lines of known tools.

Pure. A log may be large, contain several tools, and be coloured. It is read in chunks, and a pattern is tried only on
short lines that contain one of its words, so that the time is linear in the size of the log. To support a tool, add its
lines to `TOOLS` in `log_patterns`.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from functools import cache

from taskstate.model.tool_blocks import CheckResult
from taskstate.qa.log_patterns import COVERAGE, EXITS, TOOLS, WORDS
from taskstate.qa.results import result_of
from taskstate.typed import TYPE_CHECKING
from taskstate.validation import linear_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from taskstate.model.config import QaReader
    from taskstate.qa.log_patterns import Line, Tool

    _Match: TypeAlias = re.Match[str]
    _MatchedLine: TypeAlias = tuple[Tool | None, Line, _Match]  # without a tool: the exit status of the latest one
    _Candidate: TypeAlias = tuple[int, Tool | None, Line, Callable[[str], _Match | None]]

_CHUNK = 1024 * 1024  # bytes
_LONGEST = 1000  # characters of a summary line; longer lines are skipped
_UTF16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks: PowerShell redirects output as UTF-16
# Terminal control sequences: colours and cursor movements, titles and links, and single characters. All repetitions
# are bounded, so that an unterminated sequence cannot swallow the log or cost quadratic time.
_ESCAPES = r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\^_]|[()][A-Z0-9])"
_COUNT = r"(\d{1,9}) ([a-z]+)"


def read_log(log: bytes, readers: Sequence[QaReader] = ()) -> dict[str, CheckResult]:
    """Return the results found in a log, by name.

    A result is named after what its tool does (lint, format, typecheck, test, coverage), with the tool's name added
    where several tools of the log do the same (test-jest). Each reader of the configuration gives the result of its own
    name, from the last line that it matches; it overrides a built-in result.
    """
    parser = _LogParser(tuple((reader.name, linear_patterns.compiled(reader.pattern)) for reader in readers))
    for text in text_chunks(log):
        parser.feed(text)
    return parser.results()


def text_chunks(log: bytes) -> Iterator[str]:
    """Yield the text of a log in chunks of whole lines, about a megabyte each, without terminal sequences."""
    if log[:2] in _UTF16:
        log = log.decode("utf-16", "replace").encode("utf-8", "replace")
    start = 0
    while start < len(log):
        end = log.find(b"\n", start + _CHUNK)
        end = len(log) if end < 0 else end + 1
        text = log[start:end].decode("utf-8", "replace")
        if "\x1b" in text:
            text = re.sub(_ESCAPES, "", text)
        yield text.replace("\r\n", "\n").replace("\r", "\n")
        start = end


class _ToolOutput:
    """What a tool has reported so far: counts by kind, percentages, and failures that have no count."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.percent: Decimal | None = None
        self.percents: list[Decimal] = []  # of parts, such as packages, where no total is reported
        self.fails: dict[str, None] = {}
        self.exit_status = 0

    def add(self, line: Line, match: re.Match[str]) -> None:
        """Add a line of the tool."""
        groups = {key: value for key, value in match.groupdict().items() if value is not None}
        limit = groups.pop("limit", "")
        if line.fails:
            self.fails[f"{line.fails} {limit} percent" if limit else line.fails] = None
        if "percent" in groups:
            self.percent = Decimal(groups.pop("percent"))
        if "part_percent" in groups:
            self.percents.append(Decimal(groups.pop("part_percent")))
        for number, word in re.findall(_COUNT, groups.pop("counts", "")):
            if word in WORDS:
                self.counts[WORDS[word]] += int(number)
        for key, count in (*line.adds, *((key.replace("_", " "), int(number)) for key, number in groups.items())):
            self.counts[key] += count


class _LogParser:
    """Collects the results of one log, chunk by chunk."""

    def __init__(self, readers: tuple[tuple[str, re.Pattern[str]], ...]) -> None:
        self.readers = readers
        self.own_results: dict[str, CheckResult] = {}
        self.outputs: dict[Tool, _ToolOutput] = {}
        self.last: _ToolOutput | None = None

    def feed(self, text: str) -> None:
        """Parse a chunk of whole lines."""
        for tool, line, match in _matched_lines(text):
            if tool:
                self._add_line(tool, line, match)
            elif self.last:
                self.last.exit_status = self.last.exit_status or int(match["status"])
        for name, pattern in self.readers:
            for line_text in text.split("\n"):
                own = pattern.search(line_text) if len(line_text) <= _LONGEST else None
                if own:
                    self._add_own(name, own)

    def _add_line(self, tool: Tool, line: Line, match: re.Match[str]) -> None:
        if line.restarts:
            self.outputs.pop(tool, None)
        output = self.outputs.setdefault(tool, _ToolOutput())
        output.add(line, match)
        if tool.kind != COVERAGE:
            self.last = output

    def _add_own(self, name: str, match: re.Match[str]) -> None:
        result, failed = result_of(match["text"] or ""), match.groupdict().get("failed")
        if result.text:
            self.own_results[name] = CheckResult(ok=result.ok and not (failed or "").strip("0"), text=result.text)

    def results(self) -> dict[str, CheckResult]:
        """Return all results, by name."""
        results = {tool: result for tool, output in self.outputs.items() if (result := _result(tool, output))}
        kinds = Counter(tool.kind for tool in results)
        by_name = {
            tool.kind if kinds[tool.kind] == 1 else f"{tool.kind}-{tool.name}": results[tool] for tool in results
        }
        return by_name | self.own_results


def _matched_lines(text: str) -> list[_MatchedLine]:
    """Return the lines of a text that match the table, in order, each with the tool that prints it.

    Each word is searched for in the whole text at once, which is a hundred times as fast as testing every line.
    """
    matches: dict[tuple[int, int], _MatchedLine] = {}  # by position in the text, then in the table
    for word, lines in _by_word().items():
        position = text.find(word)
        while position >= 0:
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            start = text.rfind("\n", 0, position) + 1
            if end - start <= _LONGEST:
                full_line = text[start:end]
                for number, tool, line, search in lines:
                    match = search(full_line)
                    if match:
                        matches[start, number] = (tool, line, match)
            position = text.find(word, end)
    return [matches[key] for key in sorted(matches)]


@cache
def _by_word() -> Mapping[str, Sequence[_Candidate]]:
    """Return the table's lines by the words they contain, with their patterns compiled."""
    entries = [*((tool, line) for tool, lines in TOOLS.items() for line in lines), *((None, line) for line in EXITS)]
    by_word: dict[str, list[_Candidate]] = {}
    for number, (tool, line) in enumerate(entries):
        search = re.compile(line.pattern).search
        for word in line.words:
            by_word.setdefault(word, []).append((number, tool, line, search))
    return by_word


def _result(tool: Tool, output: _ToolOutput) -> CheckResult | None:
    """Return the result of a tool as one line, or None where only its exit status is known."""
    parts = _coverage(output) if tool.kind == COVERAGE else _counts(tool, output)
    parts += [f"failed: {each}" for each in output.fails]
    return result_of(", ".join(parts), output.exit_status or None) if parts else None


def _counts(tool: Tool, output: _ToolOutput) -> list[str]:
    ranks = {key: rank for rank, key in enumerate(dict.fromkeys((tool.first, *WORDS.values())))}
    keys = sorted(output.counts, key=lambda key: (ranks.get(key, len(ranks)), key))
    return [_number(output.counts[key], key) for key in keys if output.counts[key] or key == tool.first]


def _number(number: int, key: str) -> str:
    """Return a count with its noun, singular for one: `1 error`, `2 test files failed`."""
    if number == 1:
        key = {"errors": "error", "warnings": "warning"}.get(key, key)
        key = re.sub(r"\A(package|suite|test|file)s\b", r"\1", key)
    return f"{number} {key}"


def _coverage(output: _ToolOutput) -> list[str]:
    if output.percent is not None:
        return [f"{output.percent}%"]
    if not output.percents:
        return []
    mean = sum(output.percents, Decimal(0)) / len(output.percents)
    count = len(output.percents)
    return [f"{mean.quantize(Decimal('0.1'))}%" + (f" on average of {count} packages" if count > 1 else "")]

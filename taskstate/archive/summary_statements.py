"""Extracts statements from sessions: one line each, with the numbers of the sessions that contain it.

Two statements are the same if their words are, regardless of case, spacing and end punctuation.
"""

from __future__ import annotations

import re

from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_LINE = 160
MORE = "\u2026"
_END_PUNCTUATION = " .,;:!?\u3002\uff01\uff1f"  # without the mark of a shortened line: the part that was cut may differ
_MAX_RUNS = 5  # of sessions behind a line; more are written as the first and the last
_LISTED = 3  # so many sessions in a row are written as a range
_MIN_SENTENCE = 40  # characters; where a cut at a sentence's end would leave less, it is made at a word

_SUFFIX = re.compile(r"\(S\d{1,9}(?:-S\d{1,9})?(?:, S\d{1,9}(?:-S\d{1,9})?)*\)\Z")
_RUN = re.compile(r"S(\d{1,9})(?:-S(\d{1,9}))?")
_MARKER = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t]+|\Z)|>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+|\[[ xX]\][ \t]+)+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_COMMENT = re.compile(r"^[ \t]*<!--.*?(?:-->|\Z)", re.DOTALL | re.MULTILINE)
_RULE = re.compile(r"[ \t]*(?:[-=*_][ \t]*)+\Z")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]`*_]*(?= [A-Z`\"'(\[*_])|(?<=[\u3002\uff01\uff1f])")
_NOT_AN_END = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|[A-Z])\.\Z", re.IGNORECASE)
_RESOLVED_WORD = "(?:resolved|fixed|solved)"
_RESOLUTION = re.compile(
    rf"{_RESOLVED_WORD}(?::| -)? (?P<after>.+)|(?P<before>.+?)(?::| -| is| was)? \(?{_RESOLVED_WORD}\)?", re.IGNORECASE
)
_NEGATED = re.compile(r"not\b", re.IGNORECASE)
_NOTHING = frozenset(
    {"", "-", "\u2013", "\u2014", "none", "no", "nothing", "n/a", "n.a", "na", "nil", "no issue", "no issues"}
    | {"none so far", "none known", "none encountered", "no issues encountered", "no problems", "nothing to report"}
)


class Statement(NamedTuple):
    """A statement in one line, and its sessions as runs, each with its first and last number."""

    text: str
    runs: tuple[tuple[int, int], ...]

    @property
    def first(self) -> int:
        """The first session."""
        return self.runs[0][0]

    @property
    def last(self) -> int:
        """The last session."""
        return self.runs[-1][1]

    def __str__(self) -> str:
        return f"{self.text} ({_shown(self.runs)})"

    def with_sessions_of(self, *others: Statement) -> Statement:
        """Return the statement with the sessions of `others` added."""
        return self._replace(runs=merge_runs((*self.runs, *(run for other in others for run in other.runs))))


def comparison_key(text: str) -> str:
    """Return the form in which two statements are compared: without case, extra spaces and end punctuation."""
    return " ".join(text.split()).casefold().rstrip(_END_PUNCTUATION) or text


def without_duplicates(statements: Iterable[Statement]) -> list[Statement]:
    """Return the statements in order, duplicates joined: the first one gets the sessions of all."""
    by_key: dict[str, Statement] = {}
    for each in statements:
        key = comparison_key(each.text)
        by_key[key] = by_key[key].with_sessions_of(each) if key in by_key else each
    return list(by_key.values())


def resolved_issue(text: str) -> str:
    """Return the issue that a text calls resolved ("Resolved: X", "Fixed X", "X: resolved"), or "".

    "Not verified: X is fixed" says that nobody knows, so a text that begins with "Not" resolves nothing.
    """
    if _NEGATED.match(text):
        return ""
    match = _RESOLUTION.fullmatch(text.rstrip(" .!"))
    return shorten_line(match["after"] or match["before"]) if match else ""


def merge_runs(runs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return runs of sessions in order, adjacent and overlapping ones joined."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(runs):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


def _shown(runs: Sequence[tuple[int, int]]) -> str:
    parts: list[str] = []
    for first, last in runs:
        if first != last and last - first < _LISTED - 1:
            parts += [f"S{number}" for number in range(first, last + 1)]
        else:
            parts.append(f"S{first}" if first == last else f"S{first}-S{last}")
    return ", ".join(parts) if len(parts) <= _MAX_RUNS else f"S{runs[0][0]}-S{runs[-1][1]}"


def read_statement(line: str, first: int, last: int) -> Statement | None:
    """Return the statement in a line of a summary; a line without sessions stands for those from `first` to `last`."""
    line = " ".join(printable(line).split())
    suffix = _SUFFIX.search(line)
    runs = [(int(run[1]), int(run[2] or run[1])) for run in _RUN.finditer(suffix[0])] if suffix else [(first, last)]
    text = line[: suffix.start()].rstrip() if suffix else line
    if says_nothing(text):
        return None
    return Statement(shorten_line(text), merge_runs((min(run), max(run)) for run in runs))


def statements_in(text: str, number: int) -> list[Statement]:
    """Return the statements in a text of session `number`."""
    return [Statement(shorten_line(line), ((number, number),)) for line in statement_lines(text)]


def statement_lines(text: str) -> list[str]:
    """Return the statements in a text, not shortened: its first paragraph, or the list that it announces."""
    paragraphs = _paragraphs(text)
    announced = len(paragraphs) > 1 and paragraphs[0].endswith(":")
    return [line for line in (paragraphs[1:] if announced else paragraphs[:1]) if not says_nothing(line)]


def says_nothing(text: str) -> bool:
    """Return whether a text only says that there is nothing to report."""
    return text.strip(" \t*_.").lower() in _NOTHING or bool(_RULE.match(text))


def shorten_line(line: str) -> str:
    """Return a line of at most `MAX_LINE` characters, cut after a sentence, or after a word with the mark `MORE`."""
    if len(line) <= MAX_LINE:
        return line
    ends = [end for match in _SENTENCE.finditer(line[: MAX_LINE + 2]) if (end := match.end()) <= MAX_LINE]
    sentence_ends = [end for end in ends if end >= _MIN_SENTENCE and not _NOT_AN_END.search(line[:end])]
    if sentence_ends:
        return line[: sentence_ends[-1]]
    room = MAX_LINE - len(" " + MORE)
    words = line[:room].rpartition(" ")[0] if line[room] != " " else ""
    return (words or line[:room]).rstrip(" ,;:.-") + " " + MORE


def _paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, each in one line, without the markers of lists, headings and quotes."""
    paragraphs: list[list[str]] = [[]]
    open_fence, code = "", []
    for line in _COMMENT.sub("", printable(text)).split("\n"):
        fence = _FENCE.match(line)
        if open_fence:
            open_fence = "" if line.strip().startswith(open_fence) else open_fence
            code += [" ".join(line.split())] if open_fence and line.strip() else []
        elif fence:
            open_fence = fence[0].strip()
            paragraphs.append([])
        else:
            marker = _MARKER.match(line)
            bare = " ".join(line[marker.end() if marker else 0 :].split())
            if marker or not bare or _RULE.match(line):
                paragraphs.append([])
            if bare and not _RULE.match(line):
                paragraphs[-1].append(bare)
    texts = [" ".join(lines) for lines in paragraphs if lines]
    return texts or code[:1]

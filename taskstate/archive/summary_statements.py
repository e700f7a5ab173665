"""Extracts statements from sessions: one line each, with the numbers of the sessions that contain it.

Two statements are the same if their words are, regardless of case, spacing and end punctuation.
"""

from __future__ import annotations

import re
from itertools import pairwise

from taskstate.archive.summary_words import RESOLVED, says
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_LINE = 160
MORE = "\u2026"
SEPARATOR = " \u00b7 "  # between the statements of a line that tells several
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
_SENTENCE = re.compile(r"[.!?][\"')\]`*_]*(?= \S)|[\u3002\uff01\uff1f]")
_NOT_AN_END = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|nr|ca|bzw|\w)\.\Z", re.IGNORECASE)
_OPEN, _CLOSE = r"[*_`(\[\u2705\u2714]*", r"[*_`)\]]*"
_MARK, _ARTICLE = r"[:\uff1a]|[ \u3000]?[-\u2013\u2014](?= )", r"(?= (?:the|a|an|this|that|der|die|das|le|la|el|los) )"
_RESOLVED = rf"(?:{'|'.join(RESOLVED)})\w*"
_RESOLVED_FIRST = re.compile(
    rf"{_OPEN}(?:(?:issue|bug) )?{_RESOLVED}(?!-\w)(?P<mark>{_CLOSE}(?:{_MARK}){_CLOSE}|[)\]*_]+:?|{_ARTICLE})? *"
    r"(?P<issue>(?<=[ :\uff1a]).+)",
    re.IGNORECASE,
)
_RESOLVED_WORD = re.compile(rf"(?<!\w){_RESOLVED}", re.IGNORECASE)
_BEFORE_WORD = (",", " is", " was", " are", ":", "\uff1a", " -", " \u2013", " \u2014")
_BEHIND_WORD = re.compile(
    r"[)\]*_`]*(?:\Z|[,;.] | (?:by|in|with|since|via|through|now|durch|mit|seit|par|avec|por|con)\b)"
)
_HOW = re.compile(r" [-\u2013\u2014] | \(|[;:.,] | (?:by|with|in|since|via|through) ")
_LONGEST_END = 10  # characters, for `_NOT_AN_END`
_CLAUSE = re.compile(
    r"[,;:.](?= )|[\uff0c\u3001\uff1b\uff1a]| (?:[-\u2013\u2014]|because|since|so that|which|while|weil) "
)
_NEGATED = re.compile(r"not\b", re.IGNORECASE)
_START = 12  # characters by which texts are found that may be the same
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


class LastNamed:
    """The last session that names each of several statements; a shortened text is known by what is left of it."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self._last: dict[str, dict[str, int]] = {}
        for each in statements:
            key = comparison_key(each.text)
            alike = self._last.setdefault(key[:_START], {})
            alike[key] = max(each.last, alike.get(key, each.last))

    def of(self, text: str) -> int:
        """Return the last session that names a text, or -1."""
        key = comparison_key(text)
        alike = self._last.get(key[:_START], {})
        return max((last for each, last in alike.items() if _is_same(each, key)), default=-1)

    def has_any(self, texts: Iterable[str]) -> bool:
        """Return whether one of the texts is named."""
        return any(self.of(each) >= 0 for each in texts)


def _is_same(one: str, other: str) -> bool:
    shortened = next((each for each in (one, other) if each.endswith(MORE)), "")
    known = shortened.removesuffix(MORE).rstrip()
    is_known = len(known.encode()) >= _MIN_SENTENCE and one.startswith(known) and other.startswith(known)
    return one == other or is_known


def own_resolution(text: str, *, plainly: bool = False) -> str:
    """Return the issue that a text calls resolved so clearly that nobody need have reported it, or "".

    "Fixed: X" and "X (fixed)" do, and unless `plainly` "Fixed the X"; "Fixed width columns" and "X was never fixed" do
    only where X was reported.
    """
    issue, mark = _resolution(text)
    return shorten_line(issue.strip()) if mark or (mark is not None and not plainly) else ""


def resolved_issues(text: str) -> list[str]:
    """Return what a text may call resolved: the issue as it says it, and without the end that says how.

    "Not verified: X is fixed" says that nobody knows, so a text that begins with "Not" resolves nothing.
    """
    issue = _resolution(text)[0].strip()
    ends = [len(issue), *(how.start() for how in _HOW.finditer(issue))] if issue else []
    return [shorten_line(issue[:end]) for end in ends if end]


def _resolution(text: str) -> tuple[str, str | None]:
    """Return what a text calls resolved, and the mark that makes it clear: "" for an article, None for no mark."""
    text = text.rstrip(" .!\u3002\uff01")
    if not says(text, RESOLVED) or _NEGATED.match(text):
        return "", None
    if match := _RESOLVED_FIRST.fullmatch(text):
        return match["issue"], match["mark"]
    for word in _RESOLVED_WORD.finditer(text):
        issue = text[: word.start()].rstrip(" *_`([\u2705\u2714")
        for end in _BEFORE_WORD:
            issue = issue.removesuffix(end).rstrip()
        gap = text[len(issue) : word.start()]
        mark = gap if re.search(r"[:\uff1a\u2013\u2014(\[]| - ", gap) else None
        behind = text[word.end() :]
        if issue and gap and _BEHIND_WORD.match(behind) and (mark or not behind.strip(")]*_`")):
            return issue, mark
    return "", None


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
    text = SEPARATOR.join(map(shorten_line, text.split(SEPARATOR)))
    return Statement(text, merge_runs((min(run), max(run)) for run in runs))


def statements_in(text: str, number: int, *, whole: bool = True) -> list[Statement]:
    """Return the statements in a text of session `number`; unless `whole`, a long one as its sentences."""
    lines = statement_lines(text)
    parts = [part for line in lines for part in ([line] if whole or len(line) <= MAX_LINE else sentences(line))]
    return [Statement(shorten_line(part), ((number, number),)) for part in parts]


def statement_lines(text: str) -> list[str]:
    """Return the statements in a text, not shortened: its first paragraph, or the list that it announces."""
    paragraphs = _paragraphs(text)
    announced = len(paragraphs) > 1 and paragraphs[0].endswith(":")
    return [line for line in (paragraphs[1:] if announced else paragraphs[:1]) if not says_nothing(line)]


def sentences(line: str) -> list[str]:
    """Return the sentences of a line."""
    ends = [0, *_sentence_ends(line), len(line)]
    return [sentence for start, end in pairwise(ends) if (sentence := line[start:end].strip())]


def _sentence_ends(line: str) -> list[int]:
    """Return where the sentences of a line end: not before a small letter or a digit, which go on with it."""
    ends = [match.end() for match in _SENTENCE.finditer(line)]
    return [
        end
        for end in ends
        if not (line[end : end + 2].strip()[:1].islower() or line[end : end + 2].strip()[:1].isdigit())
        and not _NOT_AN_END.search(line, max(end - _LONGEST_END, 0), end)
    ]


def says_nothing(text: str) -> bool:
    """Return whether a text only says that there is nothing to report."""
    return text.strip(" \t*_.").lower() in _NOTHING or bool(_RULE.match(text))


def shorten_line(line: str, most: int = MAX_LINE) -> str:
    """Return a line of at most `most` characters, cut after a sentence, or after a word with the mark `MORE`."""
    if len(line) <= most:
        return line
    ends = [end for end in _sentence_ends(line[: most + 2]) if _MIN_SENTENCE <= end <= most]
    if ends:
        return line[: ends[-1]]
    return shorten_words(line, most)


def shorten_words(line: str, most: int, latest: int = 0) -> str:
    """Return a line of at most `most` characters, cut after a word with the mark `MORE`.

    Where a clause ends near, up to `latest`, it is cut there.
    """
    if len(line) <= most:
        return line
    line = line.removesuffix(MORE).rstrip()
    if ends := [*_CLAUSE.finditer(line, most * 3 // 4, max(latest, most - len(MORE)))]:
        return line[: ends[-1].start()].rstrip(" ,;:.-\u2013\u2014") + " " + MORE
    room = most - len(" " + MORE)
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

"""Reports findings for people: each with its line, a marker under the fault, help and what a fix changes; a summary.

The marker is placed in terminal columns: a tab reaches to the next tab stop, a wide character takes two columns, a
combining one none. Of a long line only the part with the fault is shown, and of the findings of one rule in one file
the first hundred. How many more there are is said.
"""

from __future__ import annotations

from collections import Counter

from taskstate.lint.diagnostics import ERROR, MOST_REPORTED, MOST_SHOWN, WARNING, cut_off
from taskstate.lint.reporters import colors, nothing_found
from taskstate.lint.reporters.colors import Painter
from taskstate.lint.reporters.concise import headline
from taskstate.messages import counted
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run

WIDTH = 100  # columns of a source line that are shown
_BEFORE = 40  # columns shown before a fault that stands far to the right
_TAB = 4
_CUT = "…"


def report(findings: Sequence[Finding], run: Run) -> str:
    """Return the findings in full, and a summary line."""
    colours = Painter(run.colour)
    shown = "".join(f"{block}\n\n" for block in _blocks(findings, colours))
    if not run.summarised:
        return shown
    return f"{shown}{colours(summary(findings, files=run.files), colors.STRONG)}\n"


def _blocks(findings: Sequence[Finding], colours: Painter) -> Iterator[str]:
    """Yield the findings in full, and behind them how many more there are of a rule in a file."""
    counts = Counter[tuple[str, str]]()
    for finding in findings:
        kind = finding.path, finding.diagnostic.code
        counts[kind] += 1
        if counts[kind] <= MOST_SHOWN:
            yield _shown(finding, colours)
    for (path, code), count in counts.items():
        if count > MOST_SHOWN:
            place = colours(one_line(path), colors.STRONG)
            rest = "shows all" if count < MOST_REPORTED else f"shows {count:,}; there may be others"
            yield f"{place}: … and {count - MOST_SHOWN} more of {code} (`--output-format concise` {rest})"


def summary(findings: Sequence[Finding], *, files: int) -> str:
    """Return the number of findings in words, and how many of them can be fixed."""
    if not findings:
        return nothing_found(files)
    errors = sum(finding.diagnostic.severity == ERROR for finding in findings)
    kinds = [counted(errors, "error")] if errors else []
    kinds += [counted(len(findings) - errors, "warning")] if errors < len(findings) else []
    affected = len({finding.path for finding in findings})
    found = "Found at least" if cut_off(findings) else "Found"
    return f"{found} {' and '.join(kinds)} in {affected} of {counted(files, 'file')}.{_fixable_note(findings)}"


def _fixable_note(findings: Sequence[Finding]) -> str:
    fixes = [finding.diagnostic.fix for finding in findings if finding.diagnostic.fix]
    safe = sum(fix.safe for fix in fixes)
    if not fixes:
        return ""
    if safe == len(fixes):
        return f" {safe} can be fixed with --fix."
    unsafe = f"{len(fixes) - safe} with --fix --unsafe-fixes"
    return f" {safe} can be fixed with --fix, {unsafe}." if safe else f" {unsafe.replace(' ', ' can be fixed ', 1)}."


def _shown(finding: Finding, colours: Painter) -> str:
    source, marker = _marked(finding)
    width = len(str(finding.line + bool(finding.after)))
    fault = colors.WARNING if finding.diagnostic.severity == WARNING else colors.ERROR

    def numbered(number: int | str, text: str) -> str:
        return f"{colours(f' {number:>{width}} |', colors.GUTTER)} {text}"

    lines = [
        headline(finding, colours),
        *([numbered(finding.line - 1, _cut(finding.before))] if finding.before.strip() else ()),
        numbered(finding.line, source),
        numbered("", colours(marker.rstrip(), fault)),
        *([numbered(finding.line + 1, _cut(finding.after))] if finding.after.strip() else ()),
        f" {'':{width}} = {colours('help:', colors.HELP)} {one_line(finding.diagnostic.help)}",
        *(f" {'':{width}} {line}" for line in _change(finding, colours)),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _change(finding: Finding, colours: Painter) -> Iterator[str]:
    """Yield what the fix of a finding changes, as lines of a diff below a label."""
    fix, change = finding.diagnostic.fix, finding.preview
    if fix is None or change is None:
        return
    yield f"= {colours('fix:' if fix.safe else 'unsafe fix:', colors.HELP)}"
    for sign, color, lines in (("-", colors.REMOVED, change.removed), ("+", colors.ADDED, change.added)):
        yield from (f"  {colours(f'{sign} {_cut(line)}'.rstrip(), color)}" for line in lines)
    if change.more:
        yield f"  … and {change.more} more (`--diff` shows all)"


def _cut(line: str) -> str:
    """Return the beginning of a line as it is printed."""
    if _is_plain(line):
        return line if len(line) <= WIDTH else line[:WIDTH] + _CUT
    cells = _cells(line[: WIDTH + 1])
    first, last = _window(cells, 0)
    cut = _CUT if last < len(cells) or len(line) > WIDTH + 1 else ""
    return "".join(cell.text for cell in cells[first:last]) + cut


def _is_plain(line: str) -> bool:
    """Return whether each character of a line takes one column, as it is: a report may show ten thousand such lines."""
    return line.isascii() and line.isprintable()


class _Cell(NamedTuple):
    """A character as printed, and its width in terminal columns."""

    text: str
    width: int


def _marked(finding: Finding) -> tuple[str, str]:
    """Return the part of the source line with the fault, and the marker line for below it."""
    end = finding.end_column - 1 - finding.cut if finding.end_line == finding.line else len(finding.source)
    start, stop = (min(at, len(finding.source)) for at in (finding.column - 1 - finding.cut, end))
    if _is_plain(finding.source):
        first, last = _plain_window(len(finding.source), start)
        shown, blank, marks = finding.source[first:last], start - first, min(stop, last) - start
    else:
        cells = _cells(finding.source)
        first, last = _window(cells, start)
        shown = "".join(cell.text for cell in cells[first:last])
        blank, marks = _width(cells[first:start]), _width(cells[start : min(max(stop, start), last)])
    before, behind = (_CUT if is_cut else "" for is_cut in (first, last < len(finding.source)))
    return before + shown + behind, " " * (len(before) + blank) + "^" * max(marks, 1)


def _plain_window(length: int, start: int) -> tuple[int, int]:
    """Return the range of a line to show, as `_window` does where each character takes one column."""
    if length <= WIDTH:
        return 0, length
    first = max(start - (_BEFORE if start >= WIDTH - _BEFORE else WIDTH), 0)
    return first, min(first + WIDTH, length)


def _cells(line: str) -> list[_Cell]:
    cells: list[_Cell] = []
    column = 0
    for char in line:
        cell = _cell(char, column)
        cells.append(cell)
        column += cell.width
    return cells


def _cell(char: str, column: int) -> _Cell:
    if char == "\t":
        width = _TAB - column % _TAB
        return _Cell(" " * width, width)
    if " " <= char <= "~":
        return _Cell(char, 1)
    safe = one_line(char)
    if safe != char:
        return _Cell(safe, len(safe))
    import unicodedata  # only for characters outside ASCII, which most lines do not have

    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return _Cell(char, 0)
    return _Cell(char, 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1)


def _window(cells: Sequence[_Cell], start: int) -> tuple[int, int]:
    """Return the range of cells to show: all, or as many as fit, with the fault among them."""
    if _width(cells) <= WIDTH:
        return 0, len(cells)
    first = start
    before = _BEFORE if _width(cells[:start]) >= WIDTH - _BEFORE else WIDTH
    while first and _width(cells[first - 1 : start]) <= before:
        first -= 1
    last, shown = first, 0
    while last < len(cells) and shown + cells[last].width <= WIDTH:
        shown += cells[last].width
        last += 1
    return first, last


def _width(cells: Sequence[_Cell]) -> int:
    return sum(cell.width for cell in cells)

"""Checks one text: runs the selected rules over it, and applies their fixes to it.

Text in, findings out: the engine reads and writes no file. `runner` decides which files are checked and reads them
(from disk or the git index), with cache and processes; `fixer` writes the fixed text. What rules need to know beyond
the text is answered by `Queries`. The name of a file is its path from the repository's root where it has one, since the
path patterns of the configuration match on it.
"""

from __future__ import annotations

import sys
from bisect import bisect_right, insort
from collections import Counter
from functools import cache
from itertools import groupby

from taskstate.lint.diagnostics import ERROR, MOST_REPORTED, MOST_SHOWN, Diagnostic, Finding
from taskstate.lint.facts.file_facts import Facts
from taskstate.lint.queries.interface import NO_QUERIES
from taskstate.lint.redaction import redactor
from taskstate.lint.registry import known_codes
from taskstate.lint.selection import rules_for, selected_rules, weighted
from taskstate.lint.suppressions import GUARDS, apply_directives, directives
from taskstate.model import names
from taskstate.secrets import scan
from taskstate.secrets.mask import masked
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply, in_order
from taskstate.typed import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import ModuleType

    from taskstate.lint.diagnostics import Fix
    from taskstate.lint.queries.interface import Queries
    from taskstate.lint.registry import Row
    from taskstate.lint.suppressions import Directive
    from taskstate.model.config import Config
    from taskstate.model.names import FileType
    from taskstate.syntax.document import Document
    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span

_T = TypeVar("_T")
MAX_ROUNDS = 10  # ruff's own figure; a fix that needs more than a few is at odds with another

_LONGEST = 400  # characters of a line that are kept with a finding

_PARSING = "TS00"  # the codes of faults because of which a part cannot be read
# Once one of these is fixed, other rules can check what could not be read before: a part, a key, or a section.
_REVEALING = (_PARSING, "TS102", "TS201", "TS209", "TS411")


class Fixed(NamedTuple):
    """A text after fixing: `applied` holds the codes of the applied fixes, `diagnostics` the remaining findings."""

    text: str
    applied: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def decode(data: bytes) -> str | Diagnostic:
    """Return the text of `data`, or the finding that it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        from taskstate.lint.rules.file.not_utf8 import not_utf8

        return not_utf8(error)


def findings(data: bytes, name: str, config: Config, queries: Queries = NO_QUERIES) -> tuple[Finding, ...]:
    """Return the findings in a file that holds `data`, with lines and columns; that it is not UTF-8 is one finding."""
    text = decode(data)
    if isinstance(text, Diagnostic):
        document = parse(data.decode("utf-8", errors="replace"), queries.kinds)
        selected = any(row.code == text.code for row in selected_rules(config.lint, name))
        shown = masked(document.text, config.secrets.allow)
        return _located(document, name, [weighted(text, config.lint)], shown) if selected else ()
    document = parse(text, queries.kinds)
    queries.begin(document)
    diagnostics = _check(document, name, config, queries, most=MOST_REPORTED)
    diagnostics = _with_true_fixes(diagnostics, document, name, config, queries)
    shown = masked(text, config.secrets.allow) if diagnostics else text
    found = _located(document, name, diagnostics, shown)
    document.forget_derived()
    return found


def _with_true_fixes(
    diagnostics: tuple[Diagnostic, ...], document: Document, name: str, config: Config, queries: Queries
) -> tuple[Diagnostic, ...]:
    """Return the findings, without the fixes that `--fix` would refuse: a report announces what will happen.

    Refused are those that would leave the file with another error, and those of a damaged file, unless they mend it.
    That is tried, but where not all findings are reported: fixing a part of them would not show it, and all take long.
    """
    if not any(each.fix for each in diagnostics):
        return diagnostics
    damage = queries.damage()
    is_cut = max(Counter(each.code for each in diagnostics).values()) >= MOST_REPORTED

    def checked(text: str) -> tuple[Diagnostic, ...]:
        return check(text, name, config, queries)

    def happens(*, safe: bool) -> bool:
        if is_cut:
            return not damage
        done = _fixed(document.text, diagnostics, checked, unsafe=not safe)
        return bool(done.applied) and not (damage and queries.is_damaged(done.text))

    kinds = {each.fix.safe for each in diagnostics if each.fix and each.fix.edits}
    happening = {safe for safe in kinds if happens(safe=safe)}
    return tuple(
        each._replace(fix=None, help=damage or each.help)
        if each.fix and (each.fix.safe not in happening if each.fix.edits else damage)
        else each
        for each in diagnostics
    )


def findings_as(
    file_type: FileType, document: Document, name: str, config: Config, queries: Queries
) -> tuple[Finding, ...]:
    """Return the findings about a state file that cannot be read as one: it was removed, or has only a near name.

    Of a removed one `document` is the last committed content.
    """
    facts = facts_of(document, name, config, queries)._replace(file_type=file_type)
    rules = [row.load() for row in selected_rules(config.lint, name) if file_type in row.files]
    diagnostics = [diagnostic for rule in rules for diagnostic in rule.check(facts)]
    shown = masked(document.text, config.secrets.allow)
    weighed = [weighted(each, config.lint) for each in _without_secrets(diagnostics, document, config)]
    return _located(document, name, weighed, shown)


def check(text: str, name: str, config: Config, queries: Queries = NO_QUERIES) -> tuple[Diagnostic, ...]:
    """Return the findings of the rules in `text`, in the order of its lines; the path `name` tells the type of file."""
    document = parse(text, queries.kinds)
    found = _check(document, name, config, queries)
    document.forget_derived()
    return found


def _check(
    document: Document, name: str, config: Config, queries: Queries, *, most: int = sys.maxsize
) -> tuple[Diagnostic, ...]:
    facts = facts_of(document, name, config, queries)
    checked = rules_for(config.lint, name, facts.file_type, queries.answerable)
    rules = (row.load() for row in checked if row.looks_at(facts))
    in_file = directives(document)
    wanted = sys.maxsize if in_file else most  # a directive may silence the first ones, and not the others
    found = [each for rule in rules for each in _first(wanted, _findings_of_rule(rule, facts))]
    if not found and not in_file:
        return ()
    from taskstate.lint.precedence import without_consequences  # only for findings

    diagnostics = without_consequences(_without_uncertain_fixes(found, facts))
    if in_file:
        diagnostics = _apply_directives(diagnostics, in_file, facts, checked, most=most)
    return _reported(diagnostics, facts)


def _reported(found: list[Diagnostic], facts: Facts) -> tuple[Diagnostic, ...]:
    """Return findings as they are reported: without secrets, with the configured severity, in the order of lines."""
    lint = facts.config.lint
    diagnostics: Iterable[Diagnostic] = _without_secrets(found, facts.document, facts.config)
    if lint.severity:
        diagnostics = (weighted(diagnostic, lint) for diagnostic in diagnostics)
    return tuple(sorted(diagnostics, key=lambda diagnostic: (diagnostic.span, diagnostic.code)))


def _without_secrets(diagnostics: list[Diagnostic], document: Document, config: Config) -> list[Diagnostic]:
    """Return the findings with secrets masked in message and help, whichever rule quotes them, from whichever file.

    A message may quote a part of a value, and a value as it reads and not as it is written.
    """
    allow, text = config.secrets.allow, document.text
    values = [each.span.of(text) for each in scan.find(text, allow)] if diagnostics else []
    redact = redactor([*values, *map(scan.unescaped, values)])
    without = cache(lambda words: masked(redact(words), allow))  # many findings say the same
    return [each._replace(message=without(each.message), help=without(each.help)) for each in diagnostics]


def _findings_of_rule(rule: ModuleType, facts: Facts) -> Iterator[Diagnostic]:
    """Yield the findings of a rule, but for those in a part of the file that cannot be read."""
    for diagnostic in rule.check(facts):
        if facts.is_read(rule.RULE.reads, diagnostic.span):
            yield diagnostic


def _first(most: int, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the first findings of a rule: `most` errors, and until then as many warnings, which hide no error."""
    counts = Counter[str]()
    for diagnostic in diagnostics:
        counts[diagnostic.severity] += 1
        if counts[diagnostic.severity] <= most:
            yield diagnostic
        elif diagnostic.severity == ERROR:
            return


def _without_uncertain_fixes(diagnostics: Iterable[Diagnostic], facts: Facts) -> Iterator[Diagnostic]:
    """Yield the findings, without fixes that would change the sealed static part, or rest on a kind that is wrong."""
    is_sealed = _each_once(lambda fix: _changes_sealed(fix, facts.sealed))
    for diagnostic in diagnostics:
        is_held = diagnostic.fix and (facts.is_kind_doubtful or is_sealed(diagnostic.fix))
        yield diagnostic._replace(fix=None) if is_held else diagnostic


def _each_once(action: Callable[[Fix], _T]) -> Callable[[Fix], _T]:
    """Return a function that does something with a fix, but for each fix only once.

    Thousands of findings may share one fix with thousands of edits, alone or in turn with others.
    """
    done: dict[int, tuple[Fix, _T]] = {}  # by identity, which a fix keeps as long as it is in here

    def once(fix: Fix) -> _T:
        if id(fix) not in done:
            done[id(fix)] = fix, action(fix)
        return done[id(fix)][1]

    return once


def _changes_sealed(fix: Fix, sealed: Span | None) -> bool:
    return sealed is not None and any(edit.start < sealed.end and sealed.start < edit.end for edit in fix.edits)


def _apply_directives(
    diagnostics: Iterable[Diagnostic],
    in_file: tuple[Directive, ...],
    facts: Facts,
    checked: tuple[Row, ...],
    *,
    most: int,
) -> list[Diagnostic]:
    """Return the findings that no directive silences, and one for each directive with a code that silences nothing.

    `checked` are the rules that were run: only of those is it known that a directive for them is unused. The findings,
    which come rule by rule, are the first `most` of each.
    """
    from taskstate.lint.rules.file import unused_ignore

    unsilenced, used = apply_directives(diagnostics, in_file)
    by_rule = groupby(unsilenced, key=lambda each: each.code)
    left = [each for _, of_rule in by_rule for each in _first(most, of_rule)]
    codes = {row.code for row in checked}
    if unused_ignore.RULE.code not in codes:
        return left
    existing = known_codes()
    unused = []
    for directive, silenced in zip(in_file, used, strict=True):
        idle = [code for code, _ in directive.codes if code in GUARDS or (code in codes and code not in silenced)]
        unknown = [code for code, _ in directive.codes if code not in existing]
        if (idle or unknown or not directive.codes) and facts.is_read(unused_ignore.RULE.reads, directive.span):
            unused.append(unused_ignore.Unused(directive, idle, unknown))
    return [*left, *unused_ignore.findings(facts.document, unused[:most])]


def facts_of(document: Document, name: str, config: Config, queries: Queries = NO_QUERIES) -> Facts:
    """Return the facts about `document` that the rules share."""
    own, path = names.own_file(name), name.replace("\\", "/")
    return Facts(
        document=document,
        config=config,
        name=path.rpartition("/")[2],
        file_type=own.type if own else "state",
        task_id=own.id if own else None,
        queries=queries,
        folder=path.rpartition("/")[0],
    )


class _Locator:
    """Turns the findings of one text into those of the file `path`, with lines, columns and previews of their fixes.

    `shown` is the document's text with secrets masked, offsets unchanged; findings quote their lines from there.
    """

    def __init__(self, document: Document, path: str, shown: str) -> None:
        from taskstate.lint.previews import preview  # only for findings

        self.document, self.path, self.shown = document, path, shown
        self.preview = _each_once(lambda fix: preview(document, fix, shown))
        self.lines: dict[int, str] = {}  # findings in lines below each other quote each line three times
        self.counts = Counter[str]()

    def finding(self, diagnostic: Diagnostic) -> Finding:
        """Return a finding located in the file."""
        start, end = map(self.document.position, diagnostic.span)
        self.counts[diagnostic.code] += 1
        is_shown = self.counts[diagnostic.code] <= MOST_SHOWN
        cut = max(start.column - _LONGEST // 2, 0)
        return Finding(
            path=self.path,
            line=start.line + 1,
            column=start.column + 1,
            end_line=end.line + 1,
            end_column=end.column + 1,
            diagnostic=diagnostic,
            source=self._part(start.line, cut) if cut else self._line(start.line),
            before=self._line(start.line - 1) if is_shown and start.line else "",
            after=self._line(start.line + 1) if is_shown and start.line + 1 < len(self.document.starts) else "",
            preview=self.preview(diagnostic.fix) if is_shown and diagnostic.fix else None,
            cut=cut,
        )

    def _line(self, number: int) -> str:
        """Return a line without its end, or the beginning of a long one."""
        if number not in self.lines:
            self.lines[number] = self._part(number, 0)
        return self.lines[number]

    def _part(self, number: int, cut: int) -> str:
        """Return a line without its end, or the part of a long one that begins at `cut`."""
        starts, shown = self.document.starts, self.shown
        first = starts[number] + cut
        stop = starts[number + 1] if number + 1 < len(starts) else len(shown)
        first += shown.startswith("\ufeff", first)
        return shown[first : min(stop, first + _LONGEST)].rstrip("\r\n")


def _located(document: Document, path: str, diagnostics: Sequence[Diagnostic], shown: str) -> tuple[Finding, ...]:
    """Return the findings for `diagnostics`, as `_Locator` does."""
    if not diagnostics:
        return ()
    return tuple(map(_Locator(document, path, shown).finding, diagnostics))


def fix(text: str, name: str, config: Config, queries: Queries = NO_QUERIES, *, unsafe: bool = False) -> Fixed:
    """Return `text` with the safe fixes (with `unsafe` all fixes) applied, in rounds until no fix is left.

    The text stays as it was where the result has an error that the text had not, or where fixes undo each other. An
    error in a part that could only be read after a fix does not count as new.
    """

    def checked(text: str) -> tuple[Diagnostic, ...]:
        return check(text, name, config, queries)

    return _fixed(text, checked(text), checked, unsafe=unsafe)


def _fixed(
    text: str, before: tuple[Diagnostic, ...], checked: Callable[[str], tuple[Diagnostic, ...]], *, unsafe: bool
) -> Fixed:
    """Return a text with the findings `before` fixed, as `fix` does; `checked` finds what is left."""
    current, applied, diagnostics, allowed = text, list[str](), before, _count_errors(before)
    for _round in range(MAX_ROUNDS):
        edits, codes = _compatible_edits(diagnostics, unsafe=unsafe)
        if not edits:
            return Fixed(text=current, applied=tuple(applied), diagnostics=diagnostics)
        fixed = apply(current, edits)
        diagnostics = checked(fixed)
        now = _count_errors(diagnostics)
        if any(code.startswith(_REVEALING) for code in codes):
            allowed |= Counter({code: count for code, count in now.items() if not code.startswith(_PARSING)})
        if fixed == current or now - allowed:
            break
        current = fixed
        applied += codes
    return Fixed(text=text, applied=(), diagnostics=before)


def _count_errors(diagnostics: Iterable[Diagnostic]) -> Counter[str]:
    return Counter(diagnostic.code for diagnostic in diagnostics if diagnostic.severity == ERROR)


def _compatible_edits(diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> tuple[list[Edit], list[str]]:
    """Return the edits of fixes that do not overlap, and the codes of their findings; the others wait for a round."""
    taken: list[Edit] = []  # in order, without overlaps
    codes: list[str] = []
    seen: set[int] = set()
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or id(fix) in seen or not fix.edits or not (fix.safe or unsafe):
            continue
        seen.add(id(fix))
        if not any(_overlaps(edit, taken) for edit in fix.edits):
            for edit in fix.edits:
                insort(taken, edit)
            codes.append(diagnostic.code)
    return in_order(taken), codes


def _overlaps(edit: Edit, taken: list[Edit]) -> bool:
    """Return whether an edit overlaps or touches one of the sorted edits, of which none overlaps another.

    What is only deleted may touch: of a thousand lines below each other, each round would delete every other one.
    """
    index = bisect_right(taken, edit.end, key=lambda each: each.start) - 1
    while index >= 0 and taken[index].end >= edit.start:
        other = taken[index]
        if edit.new or other.new or (edit.start < other.end and other.start < edit.end):
            return True
        index -= 1
    return False

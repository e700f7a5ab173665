"""Runs the rules over a text, and applies their fixes.

Text in, findings out: the engine reads no file. Where a text comes from (disk, the index, standard input, an editor) is
the caller's business, and what rules may ask beyond it is answered by `Queries`. The name of a file is its path from
the repository's root where it has one: what the configuration says of paths is measured on it.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from taskstate.lint.diagnostics import ERROR, Diagnostic, Finding
from taskstate.lint.facts.file_facts import Facts
from taskstate.lint.queries.interface import NO_QUERIES
from taskstate.lint.registry import TABLE
from taskstate.lint.rules.file import unused_ignore
from taskstate.lint.rules.file.not_utf8 import not_utf8
from taskstate.lint.suppressions import apply_directives, directives
from taskstate.model import names
from taskstate.model.config import matches
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply, in_order
from taskstate.validation import secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from taskstate.lint.queries.interface import Queries
    from taskstate.lint.registry import Row
    from taskstate.lint.suppressions import Directive
    from taskstate.model.config import Config, Lint
    from taskstate.syntax.document import Document

MAX_ROUNDS = 10  # ruff's own figure; a fix that needs more than a few is at odds with another

_PARSING = "TS00"  # the codes of what keeps a part from being read
_REVEALING = (_PARSING, "TS102")  # mending one of these lets other rules speak: of a part, or of a key's value


class Fixed(NamedTuple):
    """A text after fixing: `applied` are the codes of the fixes made, `diagnostics` what is left."""

    text: str
    applied: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def decode(data: bytes) -> str | Diagnostic:
    """Return the text of `data`, or the finding that it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return not_utf8(error)


def findings(data: bytes, name: str, config: Config, queries: Queries = NO_QUERIES) -> tuple[Finding, ...]:
    """Return what is found in a file that holds `data`, each at its place; no more is said of what is not UTF-8."""
    text = decode(data)
    if isinstance(text, Diagnostic):
        document = parse(data.decode("utf-8", errors="replace"))
        chosen = any(row.code == text.code for row in _selected_rules(config.lint, name))
        shown = secrets.masked(document.text, config.secrets.allow)
        return (locate(document, name, _weighted(text, config.lint), shown),) if chosen else ()
    document = parse(text)
    found = _check(document, name, config, queries)
    shown = secrets.masked(text, config.secrets.allow) if found else text
    return tuple(locate(document, name, diagnostic, shown) for diagnostic in found)


def findings_of_removed(document: Document, name: str, config: Config, queries: Queries) -> tuple[Finding, ...]:
    """Return what is found about a state file that is there no more; `document` is what it was."""
    facts = facts_of(document, name, config, queries)._replace(file_type="gone")
    asked = [row.load() for row in _selected_rules(config.lint, name) if "gone" in row.files]
    found = _without_secrets(
        [diagnostic for rule in asked for diagnostic in rule.check(document, facts)], document, config
    )
    shown = secrets.masked(document.text, config.secrets.allow)
    return tuple(locate(document, name, _weighted(diagnostic, config.lint), shown) for diagnostic in found)


def check(text: str, name: str, config: Config, queries: Queries = NO_QUERIES) -> tuple[Diagnostic, ...]:
    """Return what the rules find in `text`, in the order of its lines; `name` is the path that says what file it is."""
    return _check(parse(text), name, config, queries)


def _check(document: Document, name: str, config: Config, queries: Queries) -> tuple[Diagnostic, ...]:
    facts = facts_of(document, name, config, queries)
    chosen = _selected_rules(config.lint, name)
    asked = [row for row in chosen if facts.file_type in row.files and row.needs <= queries.answerable]
    speaking = (row.load() for row in asked if row.applies_to(document))
    found: Iterable[Diagnostic] = (diagnostic for rule in speaking for diagnostic in _findings_of_rule(rule, facts))
    told = directives(document)
    if told:
        found = _apply_directives(found, told, facts, asked)
    found = _without_secrets(list(found), document, config)
    if config.lint.severity:
        found = (_weighted(diagnostic, config.lint) for diagnostic in found)
    return tuple(sorted(found, key=lambda diagnostic: (diagnostic.span, diagnostic.code)))


def _without_secrets(found: list[Diagnostic], document: Document, config: Config) -> list[Diagnostic]:
    """Return the findings without the secrets of the text in their words, whichever rule they are of."""
    values = (
        [each.span.of(document.text) for each in secrets.find(document.text, config.secrets.allow)] if found else ()
    )
    if not values:
        return found
    return [
        each._replace(message=secrets.redact(each.message, values), help=secrets.redact(each.help, values))
        for each in found
    ]


def _findings_of_rule(rule: ModuleType, facts: Facts) -> Iterator[Diagnostic]:
    """Yield what a rule says of the parts that can be read."""
    for diagnostic in rule.check(facts.document, facts):
        if facts.is_read(rule.RULE.reads, diagnostic.span):
            yield _without_sealed_fix(diagnostic, facts)


def _without_sealed_fix(diagnostic: Diagnostic, facts: Facts) -> Diagnostic:
    """Return a finding without a fix that would reach into the sealed static part."""
    fix, sealed = diagnostic.fix, facts.sealed if diagnostic.fix else None
    reaching = fix and sealed and any(edit.start < sealed.end and sealed.start < edit.end for edit in fix.edits)
    return diagnostic._replace(fix=None) if reaching else diagnostic


def _apply_directives(
    found: Iterable[Diagnostic], told: tuple[Directive, ...], facts: Facts, asked: list[Row]
) -> list[Diagnostic]:
    """Return the findings that no directive silences, and one for each directive that says too much."""
    left, used = apply_directives(found, told)
    checked = {row.code for row in asked}
    if unused_ignore.RULE.code not in checked:
        return left
    existing = {row.code for row in TABLE}
    for directive in told:
        idle = [code for code, _ in directive.codes if code in checked - used[directive]]
        unknown = [code for code, _ in directive.codes if code not in existing]
        if (idle or unknown or not directive.codes) and facts.is_read(unused_ignore.RULE.reads, directive.span):
            left.append(unused_ignore.unused(facts.document, directive, idle, unknown))
    return left


def _weighted(diagnostic: Diagnostic, lint: Lint) -> Diagnostic:
    """Return a finding with the severity that the configuration gives to its rule; the longest prefix decides."""
    longest = _longest_prefix(diagnostic.code, lint.severity)
    return diagnostic._replace(severity=lint.severity[diagnostic.code[:longest]]) if longest else diagnostic


def facts_of(document: Document, name: str, config: Config, queries: Queries = NO_QUERIES) -> Facts:
    """Return what the rules know of `document`."""
    own = names.own_file(name)
    return Facts(
        document=document,
        config=config,
        name=name.replace("\\", "/").rsplit("/", 1)[-1],
        file_type=own.type if own else "state",
        task_id=own.id if own else None,
        queries=queries,
    )


def _selected_rules(lint: Lint, name: str) -> tuple[Row, ...]:
    """Return the rules selected for the file `name`."""
    selected, ignored = (*lint.select, *lint.extend_select), (*lint.ignore, *_ignored_codes(name, lint))
    return _select(tuple(TABLE), selected, ignored)


@lru_cache(maxsize=64)
def _select(table: tuple[Row, ...], selected: tuple[str, ...], ignored: tuple[str, ...]) -> tuple[Row, ...]:
    """Return the rules that are selected: the longest prefix decides, and of equal ones the one that leaves out."""
    return tuple(row for row in table if _longest_prefix(row.code, selected) > _longest_prefix(row.code, ignored))


def _ignored_codes(name: str, lint: Lint) -> Iterator[str]:
    for pattern, codes in lint.per_file_ignores.items():
        if matches(name, pattern):
            yield from codes


def _longest_prefix(code: str, prefixes: Iterable[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


def locate(document: Document, path: str, diagnostic: Diagnostic, shown: str) -> Finding:
    """Return `diagnostic` at its place in the file `path`; `shown` is its text as it may be seen, offsets unchanged."""
    start, end = document.position(diagnostic.span.start), document.position(diagnostic.span.end)
    first = document.starts[start.line]
    stop = document.starts[start.line + 1] if start.line + 1 < len(document.starts) else len(document.text)
    return Finding(
        path=path,
        line=start.line + 1,
        column=start.column + 1,
        end_line=end.line + 1,
        end_column=end.column + 1,
        diagnostic=diagnostic,
        source=shown[first:stop].rstrip("\r\n").removeprefix("\ufeff"),
    )


def fix(text: str, name: str, config: Config, queries: Queries = NO_QUERIES, *, unsafe: bool = False) -> Fixed:
    """Return `text` with the safe fixes (or all) applied until nothing changes any more.

    The whole result is thrown away where a part can no longer be read, where it has an error that the text had not, or
    where it would change again. An error that stood in a part which could not be read before is no new one.
    """
    before = check(text, name, config, queries)
    current, applied, diagnostics, known = text, list[str](), before, _count_errors(before)
    for _round in range(MAX_ROUNDS):
        edits, codes = _compatible_edits(diagnostics, unsafe=unsafe)
        if not edits:
            return Fixed(text=current, applied=tuple(applied), diagnostics=diagnostics)
        fixed = apply(current, edits)
        diagnostics = check(fixed, name, config, queries)
        now = _count_errors(diagnostics)
        if any(code.startswith(_REVEALING) for code in codes):
            known |= Counter({code: count for code, count in now.items() if not code.startswith(_PARSING)})
        if fixed == current or now - known:
            break
        current = fixed
        applied += codes
    return Fixed(text=text, applied=(), diagnostics=before)


def _count_errors(diagnostics: Iterable[Diagnostic]) -> Counter[str]:
    return Counter(diagnostic.code for diagnostic in diagnostics if diagnostic.severity == ERROR)


def _compatible_edits(diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> tuple[list[Edit], list[str]]:
    """Return the edits of the fixes that do not touch one another, and the codes that they mend."""
    edits: list[Edit] = []
    codes: list[str] = []
    for diagnostic in diagnostics:
        if diagnostic.fix is None or not diagnostic.fix.edits or not (diagnostic.fix.safe or unsafe):
            continue
        if not any(_overlap(new, old) for new in diagnostic.fix.edits for old in edits):
            edits += diagnostic.fix.edits
            codes.append(diagnostic.code)
    return in_order(edits), codes


def _overlap(one: Edit, other: Edit) -> bool:
    return one.start <= other.end and other.start <= one.end

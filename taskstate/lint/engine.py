"""Runs the rules over a text, and applies their fixes.

Text in, findings out: the engine reads no file. Where a text comes from (disk, standard input, an editor) is the
caller's business.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from taskstate import kinds
from taskstate.document import parse
from taskstate.edit import Edit, apply, in_order
from taskstate.lint.diagnostic import ERROR, Diagnostic
from taskstate.lint.facts import Facts
from taskstate.lint.registry import RULES
from taskstate.lint.rules.file.not_utf8 import not_utf8

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from taskstate.config import Config
    from taskstate.document import Document

MAX_ROUNDS = 10  # ruff's own figure; a fix that needs more than a few is at odds with another

_PARSING = "TS00"  # the codes of what keeps a part from being read
_REVEALING = (_PARSING, "TS102")  # mending one of these lets other rules speak: of a part, or of a key's value


class Finding(NamedTuple):
    """A diagnostic at its place in a file.

    Lines and columns are counted from 1, the end stands behind the last character. `source` is the line of the begin.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    diagnostic: Diagnostic
    source: str = ""


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


def findings(data: bytes, path: str, config: Config) -> tuple[Finding, ...]:
    """Return what is found in a file that holds `data`, each at its place; no more is said of what is not UTF-8."""
    text = decode(data)
    if isinstance(text, Diagnostic):
        chosen = any(rule.RULE.code == text.code for rule in _chosen(config))
        return (locate(parse(data.decode("utf-8", errors="replace")), path, text),) if chosen else ()
    document = parse(text)
    return tuple(locate(document, path, diagnostic) for diagnostic in _check(document, path, config))


def check(text: str, name: str, config: Config) -> tuple[Diagnostic, ...]:
    """Return what the rules find in `text`, in the order of its lines; `name` is the path that says what file it is."""
    return _check(parse(text), name, config)


def _check(document: Document, name: str, config: Config) -> tuple[Diagnostic, ...]:
    facts = facts_of(document, name, config)
    found = [diagnostic for rule in _chosen(config) for diagnostic in _said_by(rule, facts)]
    return tuple(sorted(found, key=lambda diagnostic: (diagnostic.span, diagnostic.code)))


def _said_by(rule: ModuleType, facts: Facts) -> Iterator[Diagnostic]:
    """Yield what a rule says of the parts that can be read."""
    if facts.file_type in rule.RULE.files:
        for diagnostic in rule.check(facts.document, facts):
            if facts.is_read(rule.RULE.reads, diagnostic.span):
                yield diagnostic


def facts_of(document: Document, name: str, config: Config) -> Facts:
    """Return what the rules know of `document`."""
    own = kinds.own_file(name)
    return Facts(
        document=document,
        config=config,
        name=name.replace("\\", "/").rsplit("/", 1)[-1],
        file_type=own.type if own else "state",
        task_id=own.id if own else None,
    )


def _chosen(config: Config) -> list[ModuleType]:
    """Return the rules that the configuration selects; the longest prefix decides, and of equal ones `ignore`."""
    selected, ignored = (*config.lint.select, *config.lint.extend_select), config.lint.ignore
    return [rule for rule in RULES if _longest(rule.RULE.code, selected) > _longest(rule.RULE.code, ignored)]


def _longest(code: str, prefixes: Iterable[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


def locate(document: Document, path: str, diagnostic: Diagnostic) -> Finding:
    """Return `diagnostic` at its place in the file `path`."""
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
        source=document.text[first:stop].rstrip("\r\n").removeprefix("\ufeff"),
    )


def fix(text: str, name: str, config: Config, *, unsafe: bool = False) -> Fixed:
    """Return `text` with the safe fixes (or all) applied until nothing changes any more.

    The whole result is thrown away where a part can no longer be read, where it has an error that the text had not, or
    where it would change again. An error that stood in a part which could not be read before is no new one.
    """
    before = check(text, name, config)
    current, applied, diagnostics, known = text, list[str](), before, _errors(before)
    for _round in range(MAX_ROUNDS):
        edits, codes = _edits(diagnostics, unsafe=unsafe)
        if not edits:
            return Fixed(text=current, applied=tuple(applied), diagnostics=diagnostics)
        fixed = apply(current, edits)
        diagnostics = check(fixed, name, config)
        now = _errors(diagnostics)
        if any(code.startswith(_REVEALING) for code in codes):
            known |= Counter({code: count for code, count in now.items() if not code.startswith(_PARSING)})
        if fixed == current or now - known:
            break
        current = fixed
        applied += codes
    return Fixed(text=text, applied=(), diagnostics=before)


def _errors(diagnostics: Iterable[Diagnostic]) -> Counter[str]:
    return Counter(diagnostic.code for diagnostic in diagnostics if diagnostic.severity == ERROR)


def _edits(diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> tuple[list[Edit], list[str]]:
    """Return the edits of the fixes that do not touch one another, and the codes that they mend."""
    edits: list[Edit] = []
    codes: list[str] = []
    for diagnostic in diagnostics:
        if diagnostic.fix is None or not diagnostic.fix.edits or not (diagnostic.fix.safe or unsafe):
            continue
        if not any(_touch(new, old) for new in diagnostic.fix.edits for old in edits):
            edits += diagnostic.fix.edits
            codes.append(diagnostic.code)
    return in_order(edits), codes


def _touch(one: Edit, other: Edit) -> bool:
    return one.start <= other.end and other.start <= one.end

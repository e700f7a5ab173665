"""Every regular expression that meets a file's text takes time in proportion to it: found in the source, measured."""

# ruff: noqa: SLF001 - the patterns are private to their modules

from __future__ import annotations

import ast
import json
import re
import signal
from collections import defaultdict
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from scripts.import_graph import nodes
from taskstate.views import board, glance
from tests.support.worst_texts import worst_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SEARCHES = {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
ANCHORED = {"match", "fullmatch"}  # which do not begin anew at each character
WHOLE = "search"  # for a pattern of which the source does not say how it is used
# In characters, and in seconds of the processor. Each bound is far from both sides: other load disturbs even these.
SIZE, QUICK = 3_000, 0.001  # a quadratic pattern takes seven times as long; what only may be one is measured again
LARGE, TIMES, GROWTH, LEAST = 16_000, 4, 8, 0.06  # a quadratic one takes 16 times as long for 4 times as many
LIMIT = 1  # for all runs on one repetition; where it is linear they take a tenth of that
SCHEMAS = Path(__file__).parent.parent / "schemas"


def _patterns_in(value: object) -> Iterator[str]:
    """Yield the patterns of a schema, or of a kind of document."""
    if isinstance(value, dict):
        own = value.get("pattern")
        yield from [own] if isinstance(own, str) else []
        yield from value.get("patternProperties", ())
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _patterns_in(each)


def _declared(folder: Path) -> list[str]:
    return [
        each
        for path in folder.glob("*.json")
        if path.name != "files.json"
        for each in _patterns_in(json.loads(path.read_bytes()))
    ]


# Arguments that the source puts together as it runs, by module: what they are, or like what they look.
COMPOSED: dict[str, Callable[[Any], Iterable[str]]] = {
    "evidence.excerpts: f'(?i){re.escape(source.type)}-(\\\\d{{1,9}})'": lambda _: [r"(?i)test-(\d{1,9})"],
    "frontmatter_handler: '|'.join(map(re.escape, dates))": lambda _: [r"2024\-01\-02|2024\-01\-03"],
    "handoff.token_count: pattern": lambda module: [pattern for pattern, _ in module._COSTS],
    "lint.facts.section_facts: f'(?m)^#*[ \\\\t]*{re.escape(section.title)}[ \\\\t]*$'": lambda _: [
        r"(?m)^#*[ \t]*Scope[ \t]*$"
    ],
    "lint.rules.checklist.criterion_rewritten: item": lambda _: [r"(?m)^[ \t]+[-*+] \[[ xX]\][ \t]+two[ \t]*$"],
    "lint.facts.outline: f'{re.escape(number[1])}\\\\b'": lambda _: [r"12\b"],
    "lint.rules.sessions.session_field_missing: pattern": lambda module: [module._words(("a", "b"))[0].pattern],
    "lint.reporters.colors: pattern": lambda _: [text for text, _ in (*board.HIGHLIGHTS, *glance.HIGHLIGHTS)],
    "lint.suppressions: pattern": lambda module: [
        *(module._HASH, module._COMMENT, module._ALIKE_IN_BODY, module._ALIKE_IN_FRONT_MATTER)
    ],
    "lsp.links: pattern": lambda _: [r"(?<![\w./-])a(?![\w/-])"],
    "model.chain_quotes: pattern": lambda module: [pattern for pattern, _ in module._ENDS],
    "model.document_kinds: pattern": lambda _: _declared(SCHEMAS / "kinds"),
    "model.session_texts: self.parted": lambda module: [each.parted for each in module.SESSION_TEXTS if each.parted],
    "model.names: pattern": lambda module: [row[-1] for row in module._own_files()],
    "permanent.notify: f'(?m)^version:[ \\\\t]*{version}[ \\\\t]*\\\\r?$'": lambda _: [
        r"(?m)^version:[ \t]*12[ \t]*\r?$"
    ],
    "qa.results: pattern": lambda module: [module._COUNTED, module._LABELLED, module._NONE],
    "secrets.prefixes: f'{_WORD_START}(?:{row.regex})'": lambda module: [
        f"{module._WORD_START}(?:{row.regex})" for _, row in module._by_mark()
    ],
    "secrets.prefixes: row.regex": lambda module: [
        module._row(line).regex for line in module._PREFIXES.strip().splitlines()
    ],
    "secrets.scan: pattern": lambda module: [
        *(module._BEGIN_KEY + module._REST_OF_KEY, module._PUTTY_KEY, module._JWK)
    ],
    "secrets.scan: regex": lambda module: [module._AUTHORITY, module._OPTION],
    "secrets.values: each": lambda _: ["[a-z]", "[^A-Za-z0-9_-]"],
    "storage.git.client: f'^({_OBJECT_ID}) {re.escape(reference)}\\\\r?$'": lambda module: [
        rf"(?m)^({module._OBJECT_ID}) refs/heads/main\r?$"
    ],
    "syntax.invisible: f'[{characters}]'": lambda _: ["[ab]"],
    "syntax.invisible: f'[{signs}]'": lambda _: ["[ab]"],
    "syntax.invisible: f'[{selectors}]'": lambda _: ["[ab]"],
    "syntax.invisible: f'[{bases}]'": lambda _: ["[ab]"],
    "syntax.markdown_fast_scanner: _closing_line(marks)": lambda module: [module._closing_line("```")],
    "syntax.markdown_fast_scanner: _closing_line(line[:len(line) - len(info)])": lambda module: [
        module._closing_line("~~~")
    ],
    "syntax.markdown_fast_scanner: f'\\\\n {{0,{column - 1}}}[^ {tab}\\\\r\\\\n]'": lambda _: [r"\n {0,3}[^ \t\r\n]"],
    "syntax.markdown_fast_scanner: opening": lambda module: [opening for opening, _ in module._HTML],
    "syntax.markdown_fast_scanner: end_of": lambda module: [end for _, end in module._HTML],
    "syntax.yaml_line_faults: each.pattern": lambda module: [each.pattern for each in module._SHAPES],
    "tasks.renumber: f'(<!-- taskstate: input ){re.escape(renaming.old)}(?= )'": lambda _: [
        r"(<!-- taskstate: input )12(?= )"
    ],
    "tasks.renumber: pattern": lambda _: [r"\btask-12(?=/|-(?:state|archive)\.md|-impact-map\.json)"],
    "tasks.renumber: f'(?i)(?<=task #){re.escape(self.old)}(?![A-Za-z0-9]|[._-][A-Za-z0-9])'": lambda _: [
        r"(?i)(?<=task #)12(?![A-Za-z0-9]|[._-][A-Za-z0-9])"
    ],
    "validation.schema_compiler: pattern": lambda _: _declared(SCHEMAS),
    "workspace.archive_file: BATCH_LINE": lambda _: [import_module("taskstate.model.archive_format").BATCH_LINE],
    "writing.damage: each": lambda module: [module._ARCHIVED, module._LISTED],
    "page.report: f'(?<![\\\\w./-])(?:file://)?{spelled}/'": lambda _: [
        r"(?<![\w./-])(?:file://)?/home/a(?:&amp;|&)b/"
    ],
    "page.report: f'(?<![\\\\w./-])(?:file://)?{spelled}(?![\\\\w.-])'": lambda _: [
        r"(?<![\w./-])(?:file://)?/home/a(?:&amp;|&)b(?![\w.-])"
    ],
}
# What is not measured, and why.
EXEMPT = {
    "importing.text: _DOUBLE_QUOTED": "runs on YAML of our own, in which each quote that begins also ends",
    "lint.rules.sections.title_mismatch: form": "meets a title, which is one line: there its first try succeeds",
    "context.normalization: _HTML_COMMENT": "runs only up to the last end of a comment, so that each that begins ends",
    "migration.import_handoffs: 'phase-(?P<phase>.+?)-handoff-(?P<time>.+)\\\\.md'": "runs on the name of a file",
    "model.permanent: _VERSION_LINE": "runs on one line, with bounds; what stands behind its colon always fits",
    "qa.log_parser: line.pattern": "runs on lines with a bound (`_LONGEST`), by the table's own test",
    "storage.git.index: '|'.join(map(translate, OWN_PATTERNS))": "runs on names that git lists, each a file's",
    "validation.linear_patterns: pattern": "RE2, which has no pattern that takes longer",
    "validation.schema_compiler: key": "the keys of patterns, of which `pattern` has all",
    "validation.schema_errors: pattern": "as in `schema_compiler`",
    "validation.typed_values: pattern": "as in `schema_compiler`",
}


class Pattern(NamedTuple):
    """A regular expression with its flags."""

    text: str
    flags: int


class Found:
    """The patterns of the source by how they are used, and the arguments that no table knows."""

    def __init__(self) -> None:
        self.uses: dict[Pattern, set[str]] = defaultdict(set)
        self.places: dict[Pattern, str] = {}
        self.unknown: list[str] = []
        self.met: set[str] = set()  # rows of the tables
        self.attributes = self._attributes()
        for name, of_module in nodes().items():
            calls = {node: method for node in of_module if isinstance(node, ast.Call) and (method := _method(node))}
            parents = {child: node for node in of_module if calls for child in ast.iter_child_nodes(node)}
            for node, method in calls.items():
                self._add(name, node, method, parents[node])

    def _attributes(self) -> dict[tuple[str, str], set[str]]:
        """Return the methods that are called on a name of a module, wherever it is imported."""
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for name, of_module in nodes().items():
            origin = {
                alias.name: node.module
                for node in of_module
                if isinstance(node, ast.ImportFrom) and node.module
                for alias in node.names
            }
            values = {node.value: node.attr for node in of_module if isinstance(node, ast.Attribute)}
            for node in of_module:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    found[origin.get(node.id, name), node.id].update(filter(None, [values.get(node)]))
        return found

    def _add(self, name: str, call: ast.Call, method: str, parent: ast.AST) -> None:
        module = import_module(name)
        key = f"{name.removeprefix('taskstate.')}: {ast.unparse(call.args[0])}"
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        assigned = target.id if isinstance(target, ast.Name) else ""
        exempt = {key, f"{name.removeprefix('taskstate.')}: {assigned}"} & EXEMPT.keys()
        self.met |= exempt
        uses = {method}
        if method == "compile":
            uses = {parent.attr} if isinstance(parent, ast.Attribute) else self.attributes[name, assigned] or {WHOLE}
        texts = list(_texts(call.args[0], module))
        if not texts and key in COMPOSED:
            self.met.add(key)
            texts = list(COMPOSED[key](module))
        if not texts and not exempt:
            self.unknown.append(key)
        for text in texts if not exempt else ():
            pattern = Pattern(text, _flags(call, method))
            self.uses[pattern] |= uses
            self.places[pattern] = key


def _method(node: ast.AST) -> str:
    """Return the function of `re` that a node calls, `compile` for the helper that does this; empty for none."""
    if not isinstance(node, ast.Call):
        return ""
    called = node.func
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "re":
        return called.attr if called.attr in {"compile", *SEARCHES} else ""
    return "compile" if isinstance(called, ast.Name) and called.id == "compiled" else ""


def _texts(node: ast.expr, module: object) -> list[str]:
    """Return the values that an argument may have, as far as the source alone tells them."""
    if isinstance(node, ast.Constant):
        return [node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)]
    if isinstance(node, ast.Name):
        value = getattr(module, node.id, None)
        value = value.pattern if isinstance(value, re.Pattern) else value
        return (
            [value.decode("latin-1") if isinstance(value, bytes) else value] if isinstance(value, (str, bytes)) else []
        )
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body, module), *_texts(node.orelse, module)]
    parts = (node.left, node.right) if isinstance(node, ast.BinOp) else getattr(node, "values", ())
    found = [_texts(part.value if isinstance(part, ast.FormattedValue) else part, module) for part in parts]
    return ["".join(each[0] for each in found)] if found and all(found) else []


def _flags(call: ast.Call, method: str) -> int:
    """Return the flags that a call names."""
    given = call.args[1 if method == "compile" else 2 :] if method not in {"sub", "subn", "split"} else []
    named = [each.value for each in call.keywords if each.arg == "flags"]
    names = [node.attr for each in (*given, *named) for node in ast.walk(each) if isinstance(node, ast.Attribute)]
    return sum(int(re.RegexFlag[each]) for each in dict.fromkeys(names))


@contextmanager
def limited() -> Iterator[None]:
    """End what takes too much time of the processor with a `TimeoutError`; `re` looks for signals as it goes."""

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def run(pattern: re.Pattern[str], uses: set[str], text: str) -> None:
    """Run a pattern on a text as it is used."""
    for each in uses & ANCHORED:
        getattr(pattern, each)(text)
    if not uses <= ANCHORED:
        for _ in pattern.finditer(text):
            pass


def seconds(pattern: re.Pattern[str], uses: set[str], text: str) -> float:
    """Return the time of the processor that a run takes."""
    begun = process_time()
    run(pattern, uses, text)
    return process_time() - begun


def slow_text(pattern: Pattern, uses: set[str]) -> str:
    """Return what to repeat for a pattern to take more than linear time, or nothing."""
    compiled = re.compile(*pattern)
    for worst in worst_texts(*pattern):
        small, large = worst.of_size(LARGE), worst.of_size(LARGE * TIMES)
        try:
            with limited():
                is_quick = seconds(compiled, uses, worst.of_size(SIZE)) < QUICK
                if not is_quick and seconds(compiled, uses, large) > LEAST:
                    least = min(seconds(compiled, uses, small) for _ in range(3))
                    most = min(seconds(compiled, uses, large) for _ in range(3))
                    if most > least * GROWTH:
                        return worst.of_size(1)
        except TimeoutError:
            return worst.of_size(1)
    return ""


@pytest.mark.slow
def test_every_pattern_is_linear() -> None:
    """No pattern of the source takes more than linear time for a repetition of its own pieces."""
    found = Found()
    assert not found.unknown, "put a row into COMPOSED, or the reason why not into EXEMPT"
    assert found.met == {*COMPOSED, *EXEMPT}
    slow = {found.places[each]: text for each, uses in found.uses.items() if (text := slow_text(each, uses))}
    assert not slow


@pytest.mark.parametrize(
    "pattern", [r"(?s)<!--.*?-->", r"[ \t]+\Z", r"(?:\r\n?|\n)*x", r"(`+)(.+?)\1(?!`)", r"\s+#", r"(?m)^\s*a"]
)
def test_a_quadratic_pattern_is_found(pattern: str) -> None:
    """Patterns that once hung a command, or are like those, are found by the texts that the test makes of them."""
    assert slow_text(Pattern(pattern, 0), {WHOLE})

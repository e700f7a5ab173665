"""The outline of a file for the editor: its sections with sessions, phases and features, and what can be folded."""

from __future__ import annotations

from lsprotocol import types

from taskstate.model.progress_log import session_number
from taskstate.model.task_state import read_state
from taskstate.secrets.mask import masked
from taskstate.syntax.document import parse
from taskstate.syntax.spans import Span, printable, trimmed
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lsp.positions import Positions
    from taskstate.syntax.document import Document, Section

_TOP, _SECTION = 1, 2
_KINDS = {_TOP: types.SymbolKind.File, _SECTION: types.SymbolKind.Namespace}


def symbols(positions: Positions) -> list[types.DocumentSymbol]:
    """Return the sections of a text as a tree; a feature stands below the section of its checklist."""
    document = parse(positions.text)
    found = list(_symbols(document, positions))
    roots: list[types.DocumentSymbol] = []
    above: list[tuple[Span, types.DocumentSymbol]] = []
    for span, symbol in sorted(found, key=lambda each: (each[0].start, -each[0].end)):
        while above and above[-1][0].end <= span.start:
            above.pop()
        siblings = above[-1][1].children if above else roots
        if siblings is None:
            siblings = above[-1][1].children = []
        if isinstance(siblings, list):
            siblings.append(symbol)
        above.append((span, symbol))
    return roots


def _symbols(document: Document, positions: Positions) -> Iterator[tuple[Span, types.DocumentSymbol]]:
    front_matter = document.front_matter.span
    if front_matter:
        span = trimmed(document.text, front_matter)
        yield span, _symbol("Front matter", types.SymbolKind.Object, span, span, positions)
    for section in document.sections:
        span = _whole(document, section)
        kind = _KINDS.get(section.level, types.SymbolKind.Field)
        if session_number(section.title) is not None:
            kind = types.SymbolKind.Event
        yield section.span, _symbol(section.title, kind, span, section.heading, positions)
    checklist = read_state(document).checklist
    for feature in checklist.features if checklist else ():
        mark = "passes" if feature.passes else "open"
        symbol = _symbol(feature.id, types.SymbolKind.Boolean, feature.node.span, feature.node.span, positions)
        symbol.detail = printable(masked(f"{mark}: {feature.description}"))
        yield feature.node.span, symbol


def _symbol(
    name: str, kind: types.SymbolKind, span: Span, selection: Span, positions: Positions
) -> types.DocumentSymbol:
    # An empty name is an error in the protocol, and an editor may drop the whole outline because of it.
    return types.DocumentSymbol(
        printable(masked(name.strip())) or "(no title)", kind, positions.range(span), positions.range(selection)
    )


def _whole(document: Document, section: Section) -> Span:
    end = max(trimmed(document.text, section.span).end, section.heading.end)
    return Span(section.span.start, end)


def folds(positions: Positions) -> list[types.FoldingRange]:
    """Return the parts of a text that can be folded: the front matter, sections, and code fences."""
    document = parse(positions.text)
    front_matter = document.front_matter.span
    spans = [_whole(document, section) for section in document.sections]
    spans += [trimmed(document.text, block.span) for block in document.blocks if block.kind == "fence"]
    if front_matter:
        spans.append(trimmed(document.text, front_matter))
    lines = sorted({(document.position(span.start).line, document.position(span.end).line) for span in spans})
    return [
        types.FoldingRange(first, last, kind=types.FoldingRangeKind.Region) for first, last in lines if last > first
    ]
